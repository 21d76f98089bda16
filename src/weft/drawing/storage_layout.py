"""Places of everything in the drawing of a stored tensor: elements on the left, levels and values on the right.

Each level has a *strip*: a place for each of its positions, in one line or, if there are too many, in several. Arrays
that have an element for each position lie on the strip of their level, one below the other, and so do the values. An
array of edges lies below the strip of the level above, its elements between the positions whose segments they bound.
Arrows lead from there, or from positions, to the segments.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..records import cached, record, replace
from .scene import COLORS, Arrow, Box, BoxStyle, Item, Label, Line, Scene, below, beside, extent, moved, text_width
from .stored_levels import Position, StoredTensor
from .value_text import value_text

HEIGHT = 24.0
_SQUARE = 26.0
_GAP = 7.0  # between segments
_ACROSS = 420.0  # of a line of boxes
_FALL = 30.0  # of an arrow
_STEP = 15.0  # of a short arrow
_NARROW = 3  # positions of a segment that has a line of its own
_SHORT = 4  # elements of an array that may stand at the side
_TEXT = 180.0  # of the column of text
_LETTERS = 29
_LEADING = 13.5
_INSET = 9.0
_WIDEST = 900.0  # of elements and levels beside each other


@record
class Strip:
    """Places of the positions of one level."""

    width: float  # the width of a box
    lefts: tuple[float, ...]  # the left side of each position
    lines: tuple[int, ...]  # the number of the line of each position
    heads: tuple[int, ...]  # the first position of each line
    # The name of each line: the coordinate above it if a line is all that lies below one position, or the number of its
    # first position.
    names: tuple[str, ...] = ()

    @property
    def folded(self) -> bool:
        return len(self.heads) > 1

    def middle(self, q: int) -> float:
        return self.lefts[q] + self.width / 2

    def edge(self, n: int) -> float:
        """Return the place between the positions ``n - 1`` and ``n``."""
        if not self.lefts:
            return 0.0
        if n <= 0:
            return self.lefts[0]
        before = self.lefts[min(n, len(self.lefts)) - 1] + self.width
        return (before + self.lefts[n]) / 2 if n < len(self.lefts) else before


def storage_scene(tensor: StoredTensor, name: str) -> Scene:
    """Return the scene of a stored tensor whose format is called ``name``."""
    storage = tensor.storage
    colors = _Colors(tensor)
    elements = tuple(_elements(tensor, colors))
    panels = tuple(_Levels(tensor, colors).items())
    wide = extent(elements)[2] - extent(elements)[0] + extent(panels)[2] - extent(panels)[0] > _WIDEST
    items = below(elements, panels, 26) if wide else beside(elements, panels, 34)
    size = " x ".join(map(str, storage.shape)) or "one number"
    title = f"{name}: how a tensor of shape {size} is stored"
    levels = "; ".join(
        f"level {level.name} is {level.kind}"
        + "".join(f", {role} = {array.tolist()}" for role, array in level.arrays.items())
        for level in tensor.levels
    )
    values = ", ".join(map(value_text, storage.vals))
    description = f"{storage.format.remapping}. {levels + '; ' if levels else ''}vals = [{values}]"
    left_side, top, _, _ = extent(items)
    heading = Label(left_side, top - 16, name, "title")
    remapping = Label(left_side + text_width(name, "title") + 12, top - 16, str(storage.format.remapping), "axis")
    return Scene(title, description, (heading, remapping, *items))


class _Colors:
    """Colors of entries: one for each coordinate of the first axis along which entries differ."""

    def __init__(self, tensor: StoredTensor) -> None:
        entries = {q: axes for q, axes in tensor.elements.items() if q not in tensor.filled}
        ndim = len(tensor.storage.shape)
        axis = next((a for a in range(ndim) if len({axes[a] for axes in entries.values()}) > 1), 0)
        self.of_value = {q: axes[axis] % len(COLORS) if axes else 0 for q, axes in entries.items()}
        # Positions above the values have a color if all values below them have it.
        self.of_level: list[Mapping[int, int]] = []
        below: Mapping[int, int] = self.of_value
        for level in reversed(tensor.levels):
            self.of_level.insert(0, below)
            parents: dict[int, set[int]] = {}
            for q, at in level.positions.items():
                if q in below:
                    parents.setdefault(at.parent, set()).add(below[q])
                elif at.holds and q not in tensor.filled:
                    parents.setdefault(at.parent, set()).add(-1)  # has values of several colors
            below = {p: min(found) for p, found in parents.items() if len(found) == 1 and min(found) >= 0}


# -- elements --------------------------------------------------------------------------------------------------------
def _elements(tensor: StoredTensor, colors: _Colors) -> Iterator[Item]:
    """Yield the elements of the tensor: a matrix for each combination of the coordinates of all but two axes."""
    shape, vals = tensor.storage.shape, tensor.storage.vals
    texts: dict[tuple[int, ...], list[str]] = {}
    stored: dict[tuple[int, ...], int] = {}
    for q, axes in sorted(tensor.elements.items()):
        texts.setdefault(axes, []).append(value_text(vals[q]))
        stored[axes] = q
    shown = {axes: "+".join(found) for axes, found in texts.items()}
    width = max([_SQUARE, *(text_width(text) + 10 for text in shown.values())])
    rows, columns = (1, 1, *shape)[-2:] if shape else (1, 1)
    names = _axis_names(tensor)
    y = 0.0
    for above in np.ndindex(*shape[:-2]):
        if shape[:-2]:
            caption = ", ".join(f"{name} = {c}" for name, c in zip(names, above, strict=False))
            yield Label(0, y, caption, "axis")
            y += 8
        yield from _headings(shape, names, y, width)
        for i, j in np.ndindex(rows, columns):
            axes = (*above, i, j)[-len(shape) :] if shape else ()
            box = (j * width, y + 14 + i * _SQUARE, width, _SQUARE)
            q = stored.get(axes, -1)
            tip = f"element {axes}: " + (f"vals[{q}]" if q >= 0 else "not stored")
            if q < 0:
                yield Box(*box, "·", "absent", tip=tip)
            elif q in tensor.filled:
                yield Box(*box, shown[axes], "padding", tip=tip)
            else:
                yield Box(*box, shown[axes], "stored", colors.of_value[q], tip)
        y += 14 + rows * _SQUARE + 38
    if 0 in shape:
        yield Label(0, 0, f"no elements: shape {shape}", "note")


def _axis_names(tensor: StoredTensor) -> list[str]:
    text = str(tensor.storage.format.remapping).partition("->")[0].strip()
    return [name for name in text[1:-1].split(",") if name]


def _headings(shape: Sequence[int], names: Sequence[str], y: float, width: float) -> Iterator[Item]:
    """Yield the coordinates along the sides of a matrix, and the names of its axes."""
    if not shape or 0 in shape:
        return
    for j in range(shape[-1]):
        yield Label((j + 0.5) * width, y + 9, str(j), "axis", "middle")
    yield Label(shape[-1] * width + 8, y + 9, f"{names[-1]} →", "axis")
    if len(shape) > 1:
        for i in range(shape[-2]):
            yield Label(-7, y + 14 + (i + 0.5) * _SQUARE + 4, str(i), "axis", "end")
        yield Label(-7, y + 14 + shape[-2] * _SQUARE + 14, f"{names[-2]} ↓", "axis", "end")


# -- levels ----------------------------------------------------------------------------------------------------------
class _Levels:
    """Layout of levels and values, from the top down."""

    def __init__(self, tensor: StoredTensor, colors: _Colors) -> None:
        self.tensor, self.colors = tensor, colors
        self.y = 0.0
        self.low = 0.0  # the bottom of arrays at the side
        self.width = max(HEIGHT, *(text_width(text) + 9 for text in self._texts()))
        self.strips = self._all_strips()

    def _texts(self) -> Iterator[str]:
        yield "0"
        for level in self.tensor.levels:
            for array in level.arrays.values():
                yield from map(str, array.tolist())
            yield from (str(at.coordinate) for at in level.positions.values())
        yield from map(value_text, self.tensor.storage.vals)

    def _all_strips(self) -> list[Strip]:
        strips: list[Strip] = []
        for k, level in enumerate(self.tensor.levels):
            if strips and level.is_chain:
                strips.append(strips[-1])
                continue
            gaps = sorted({begin for begin, end in level.segments if 0 < begin < end})
            across = max(int(_ACROSS // self.width), 2)
            if level.size <= across:
                strips.append(_placed(level.size, gaps, {0: ""}, self.width))
            else:
                lines = self._lines_by_parent(k, across) or _filled_lines(level.size, gaps, across)
                strips.append(_placed(level.size, gaps, lines, self.width))
        return strips or [_placed(1, (), {0: ""}, self.width)]

    def _lines_by_parent(self, k: int, across: int) -> dict[int, str]:
        """Return lines that have one width, each with all that lies below one position of a level above; or none.

        The first position of each line comes with the coordinate above it.
        """
        levels = self.tensor.levels
        for above in range(k - 1, -1, -1):
            segments = self._segments(above, k)
            widths = {end - begin for begin, end in segments if begin < end}
            whole = sum(end - begin for begin, end in segments) == levels[k].size
            if len(widths) == 1 and whole and _NARROW <= max(widths) <= across:
                coords = {p: at.coordinate for p, at in levels[above].positions.items()}
                return {
                    begin: f"{levels[above].name}={coords[p]}" if p in coords else f"{begin}:"
                    for p, (begin, end) in enumerate(segments)
                    if begin < end
                }
        return {}

    def items(self) -> Iterator[Item]:
        """Yield everything on the right-hand side: a panel for each level, and one for the values."""
        blocks: list[tuple[float, float, tuple[Item, ...]]] = []
        link = _Link(None, 0.0, None)
        for k, level in enumerate(self.tensor.levels):
            top = self.y
            items, link = self._level(k, link)
            blocks.append(self._block(top, level.name, (level.kind, *level.rules), items))
        top, storage = self.y, self.tensor.storage
        last = (*self._links(len(self.tensor.levels), link), *self._values())
        fill = value_text(storage.dtype.type(storage.type.fill))
        blocks.append(self._block(top, "values", (storage.dtype.name, f"fill value {fill}"), last))
        right = max(extent(items)[2] for _, _, items in blocks)
        left = -self._gutter - _TEXT - _INSET
        for top, bottom, items in blocks:
            yield Box(left, top - _INSET, right - left + _INSET, bottom - top + 2 * _INSET, style="panel")
            yield from items

    def _level(self, k: int, link: _Link) -> tuple[tuple[Item, ...], _Link]:
        """Return the items of a level, and what leads from it to the next boxes."""
        level, strip, items = self.tensor.levels[k], self.strips[k], list[Item]()
        free = [role for role in level.arrays if role not in (*level.aligned, *level.edges, *level.starts)]
        # Arrows from the boxes above must not cross arrays that have no place on the strip.
        crossed = link.level is not None and level.positions and not (level.edges or level.starts or strip.folded)
        if crossed and free and max(len(level.arrays[role]) for role in free) <= _SHORT:
            items += self._at_the_side(k, free)
        else:
            items += [item for role in free for item in self._free(k, role)]
        for role in (*level.starts, *level.edges):
            drawn = self._beside_parents(k, role)
            items += drawn.items
            if drawn.centers:
                ends = _Ends(k, tuple(level.arrays[role].tolist()), drawn.centers, role in level.starts)
                link = replace(link, bottom=self.y, ends=ends)
            self.y += 6
        rows = [(role, level.arrays[role].tolist()) for role in level.aligned]
        if not rows and level.positions and not strip.folded:
            rows = [("", [level.positions[q].coordinate if q in level.positions else "" for q in range(level.size)])]
        if rows:
            items += self._links(k, link)
            for n, (role, values) in enumerate(rows):
                self.y += 4 if n else 0
                items += self._row(k, role, values)
            link = _Link(k, self.y, None)
        return tuple(items), link

    def _block(
        self, top: float, name: str, lines: Sequence[str], items: Sequence[Item]
    ) -> tuple[float, float, tuple[Item, ...]]:
        """Return the top, the bottom and the items of a panel, with its text on the left, and go on below it."""
        margin = -self._gutter - _TEXT
        text: list[Item] = [Label(margin, top + 12, name, "level")]
        wrapped = [part for line in lines for part in textwrap.wrap(line, _LETTERS, subsequent_indent="  ")]
        text += [Label(margin, top + 12 + _LEADING * n, line, "note") for n, line in enumerate(wrapped, 1)]
        bottom = max(self.y, self.low, top + 16 + _LEADING * len(wrapped))
        self.y = bottom + 2 * _INSET + 6
        return top, bottom, (*text, *items)

    @cached
    def _gutter(self) -> float:
        """Return the width of the names of arrays and of lines, on the left of the boxes."""
        roles = [
            "vals",
            *(level.name for level in self.tensor.levels),
            *(role for level in self.tensor.levels for role in level.arrays),
        ]
        names = [
            text_width(strip.names[n], "axis") + 14
            for k, strip in enumerate(self.strips)
            for n in range(len(strip.heads) if strip.folded else 0)
        ]
        return max(text_width(role, "role") for role in roles) + max([self.width / 2 + 10, *names])

    def _role(self, role: str) -> Item:
        return Label(-self._gutter, self.y + HEIGHT / 2 + 4, role, "role")

    def _at_the_side(self, k: int, roles: Sequence[str]) -> list[Item]:
        """Return short arrays on the right of the strip of their level."""
        strip, items, top = self.strips[k], list[Item](), self.y
        for role in roles:
            items += self._free(k, role)
        self.low = max(self.low, self.y)
        self.y = top
        right = max(strip.lefts, default=0.0) + strip.width
        return list(moved(items, right + self._gutter + 20, 0))

    def _free(self, k: int, role: str) -> Iterator[Item]:
        """Yield an array that has an element neither for each position nor for each parent."""
        values = self.tensor.levels[k].arrays[role].tolist()
        yield self._role(role)
        colors = self._read_colors(role, k)
        across = max(int(_ACROSS // self.width), 1)
        for begin in range(0, max(len(values), 1), across):
            for n, value in enumerate(values[begin : begin + across], begin):
                box = ((n - begin) * self.width, self.y, self.width, HEIGHT)
                style: BoxStyle = "stored" if n in colors else "index"
                yield Box(*box, str(value), style, colors.get(n), f"{role}[{n}] = {value}")
            self.y += HEIGHT
        self.y += 6
        if not values:
            yield Label(0, self.y - HEIGHT / 2 - 2, "no elements", "note")

    def _read_colors(self, role: str, owner: int) -> Mapping[int, int]:
        """Return the colors of elements from which the coordinates of entries of one color are read."""
        colors_of: dict[int, set[int]] = {}
        for k, level in enumerate(self.tensor.levels):
            for q, at in level.positions.items():
                for n, name, index in at.read:
                    if (n, name) == (owner, role) and at.holds:
                        colors_of.setdefault(index, set()).add(self.colors.of_level[k].get(q, -1))
        return {index: min(colors) for index, colors in colors_of.items() if len(colors) == 1 and min(colors) >= 0}

    def _beside_parents(self, k: int, role: str) -> _Drawn:
        """Return an array with an element for each parent, or for each end of a segment, below the parents."""
        level, values = self.tensor.levels[k], self.tensor.levels[k].arrays[role].tolist()
        parents = self.strips[k - 1] if k else None
        if parents is not None and parents.folded:
            return _Drawn(tuple(self._free(k, role)), ())
        between = role in level.edges
        if parents is None:  # the root has one position
            centers = [(n + (0 if between else 0.5)) * self.width for n in range(len(values))]
        else:
            centers = [parents.edge(n) if between else parents.middle(n) for n in range(len(values))]
        boxes = tuple(
            Box(x - self.width / 2, self.y, self.width, HEIGHT, str(value), "index", tip=f"{role}[{n}] = {value}")
            for n, (x, value) in enumerate(zip(centers, values, strict=True))
        )
        drawn = (self._role(role), *boxes)
        self.y += HEIGHT
        return _Drawn(drawn, () if self.strips[k].folded else tuple(centers))

    def _links(self, k: int, link: _Link) -> Iterator[Item]:
        """Yield the arrows that lead to the strip of a level, or to the values, whose boxes come next."""
        strip = self.strips[min(k, len(self.strips) - 1)]
        if link.ends is not None:
            self.y = max(self.y, link.bottom + _FALL)
            yield from self._from_ends(link.bottom, link.ends)
        elif link.level is None:
            return
        elif strip is self.strips[link.level]:
            if not strip.folded:
                self.y = max(self.y, link.bottom + _STEP)
                for q, color in self._linked(link.level):
                    yield Arrow(strip.middle(q), link.bottom + 1, strip.middle(q), self.y, color)
        elif not (strip.folded or self.strips[link.level].folded):
            self.y = max(self.y, link.bottom + _FALL + 4)
            yield from self._to_segments(link.level, k, strip, link.bottom)

    def _from_ends(self, bottom: float, ends: _Ends) -> Iterator[Item]:
        """Yield an arrow from each element of an array to the end of a segment that it holds."""
        # Levels between that of the segments and the next boxes have one position for each of their positions.
        target, segments = self.strips[ends.level], self.tensor.levels[ends.level].segments
        if not target.lefts:
            return
        for p, (end, center) in enumerate(zip(ends.values, ends.centers, strict=True)):
            if not ends.are_starts:
                yield Arrow(center, bottom + 1, target.edge(end), self.y)
            elif segments[p][0] < segments[p][1]:
                yield Arrow(center, bottom + 1, target.middle(end), self.y)

    def _to_segments(self, level: int, k: int, strip: Strip, bottom: float) -> Iterator[Item]:
        """Yield an arrow from each position of a level to its segment, and a bracket over the segment."""
        for p, (begin, end) in enumerate(self._segments(level, k)):
            if begin < end:
                start, stop = strip.lefts[begin] + 1, strip.lefts[end - 1] + strip.width - 1
                y = self.y - 5
                yield Arrow(self.strips[level].middle(p), bottom + 1, (start + stop) / 2, y)
                yield Line(((start, y + 3), (start, y), (stop, y), (stop, y + 3)))

    def _linked(self, level: int) -> Iterator[tuple[int, int | None]]:
        found = self.tensor.levels[level].positions
        for q, at in found.items():
            if at.holds:
                yield q, self.colors.of_level[level].get(q)

    def _segments(self, level: int, k: int) -> list[tuple[int, int]]:
        """Return the positions of level ``k`` below each position of a level above it."""
        spans = [(q, q + 1) for q in range(self.tensor.levels[level].size)]
        for between in self.tensor.levels[level + 1 : k + 1]:
            inner = between.segments
            parts = [[inner[q] for q in range(*each) if inner[q][0] < inner[q][1]] for each in spans]
            spans = [(min(b for b, _ in part), max(e for _, e in part)) if part else (0, 0) for part in parts]
        return spans

    def _row(self, k: int, role: str, values: Sequence[Any]) -> Iterator[Item]:
        """Yield an array on the strip of its level, or the coordinates that the level computes."""
        level, strip, colors = self.tensor.levels[k], self.strips[k], self.colors.of_level[k]
        name = role or level.name
        yield self._role(role) if role else Label(-self._gutter, self.y + HEIGHT / 2 + 4, level.name, "axis")
        yield from self._line_names(k, strip)
        for q in range(len(values)):
            if q >= len(strip.lefts):
                break
            at = level.positions.get(q)
            holds = at is not None and at.holds
            style: BoxStyle = "padding" if not holds else ("index" if role else "computed")
            color = colors.get(q) if holds else None
            if color is not None and role:
                style = "stored"
            place = strip.lefts[q], self.y + strip.lines[q] * (HEIGHT + 4), strip.width, HEIGHT
            tip = f"{name}[{q}] = {values[q]}" if role else f"{name} = {values[q]} at position {q}, {_origin(at)}"
            yield Box(*place, str(values[q]), style, color if role else None, tip)
        self.y += max(len(strip.heads), 1) * (HEIGHT + 4) - 4
        if not values:
            yield Label(0, self.y - HEIGHT / 2 + 4, "no elements", "note")

    def _values(self) -> Iterator[Item]:
        storage, strip = self.tensor.storage, self.strips[-1]
        yield self._role("vals")
        yield from self._line_names(len(self.tensor.levels) - 1, strip)
        for q, value in enumerate(storage.vals):
            if q >= len(strip.lefts):
                break
            place = strip.lefts[q], self.y + strip.lines[q] * (HEIGHT + 4), strip.width, HEIGHT
            color = self.colors.of_value.get(q)
            axes = self.tensor.elements.get(q)
            tip = f"vals[{q}] = {value_text(value)}" + (f" at {axes}" if axes is not None else ", padding")
            yield Box(*place, value_text(value), "padding" if color is None else "stored", color, tip)
        self.y += max(len(strip.heads), 1) * (HEIGHT + 4) - 4
        if not len(storage.vals):
            yield Label(0, self.y - HEIGHT / 2 + 4, "no values", "note")

    def _line_names(self, k: int, strip: Strip) -> Iterator[Item]:
        """Yield the parent, or the first position, of each line of a strip that has several."""
        if not strip.folded:
            return
        for n in range(len(strip.heads)):
            yield Label(-7, self.y + n * (HEIGHT + 4) + HEIGHT / 2 + 4, strip.names[n], "axis", "end")


def _origin(at: Position | None) -> str:
    """Return the elements from which a coordinate was read, or that it was computed, in words."""
    read = sorted(at.read) if at is not None else []
    return "read from " + ", ".join(f"{role}[{n}]" for _, role, n in read) if read else "computed"


@record
class _Ends:
    """An array of ends of segments: the level of the segments, its elements, and the middles of their boxes."""

    level: int  # the level of the segments
    values: tuple[int, ...]  # the elements of the array
    centers: tuple[float, ...]  # the middle of the box of each element
    # True if each element is the beginning of a segment. False if neighboring elements are both ends of one.
    are_starts: bool


@record
class _Link:
    """The boxes from which arrows lead to the next boxes."""

    level: int | None  # the last level whose positions have boxes
    bottom: float  # the bottom of the boxes
    ends: _Ends | None  # an array of ends of segments below these boxes, from which the arrows lead instead


@record
class _Drawn:
    """Items of an array, and the middles of its boxes if arrows lead from them."""

    items: tuple[Item, ...]
    centers: tuple[float, ...]


def _filled_lines(size: int, gaps: Sequence[int], across: int) -> dict[int, str]:
    """Return the first position of each line, so that lines break between segments where they can."""
    heads = [0]
    for begin, end in zip([0, *gaps], [*gaps, size], strict=True):
        if end - heads[-1] > across and begin > heads[-1]:
            heads.append(begin)
        while end - heads[-1] > across:
            heads.append(heads[-1] + across)
    return {head: f"{head}:" for head in heads}


def _placed(size: int, gaps: Sequence[int], lines: Mapping[int, str], width: float) -> Strip:
    """Return the places of positions in lines with these first positions and names."""
    lefts, numbers = [], []
    x, line = 0.0, -1
    for q in range(size):
        if q in lines:
            x, line = 0.0, line + 1
        elif q in gaps:
            x += _GAP
        lefts.append(x)
        numbers.append(line)
        x += width
    return Strip(width, tuple(lefts), tuple(numbers), tuple(lines), tuple(lines.values()))
