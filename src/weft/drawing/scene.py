"""Scenes: boxes with text, labels and arrows at their places, and the SVG text of a scene.

A layout makes a scene and knows nothing of SVG. ``paint`` knows SVG and nothing of tensors. Colors are named by their
use, and one style sheet says what they are on light and on dark pages. The background is a panel, so that a drawing is
legible also on a page that is dark without saying so to its pictures.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from ..records import record, replace

BoxStyle: TypeAlias = Literal["stored", "index", "computed", "padding", "absent", "node", "bar", "stop", "panel"]
"""A box: of an entry, of an index array, of a computed coordinate, of padding, of an element that is not stored, of a
graph, of its loops and of the stops of its paths, or around other boxes."""
LabelStyle: TypeAlias = Literal["title", "level", "role", "axis", "note", "code"]

COLORS = ("#cfe3fb", "#ffdcb8", "#cdeecb", "#f8cfdf", "#e4d7f7", "#fdf0ac", "#c3ecec", "#e9dccb")
"""Fills of the boxes of entries, light enough for dark text."""
_EDGES = ("#3b78bd", "#c9711a", "#3c9144", "#bd4a7c", "#7a56b5", "#a98a10", "#25898a", "#8c6a42")
TEXT_HEIGHT = 12
_WIDE, _NARROW, _BOLD = 0.61, 0.56, 0.66  # widths of a character of each kind of text, in heights of the text
_SIZES: dict[str, tuple[float, float]] = {
    "title": (13, _BOLD), "level": (12.5, _BOLD), "role": (11.5, _WIDE), "axis": (11, _WIDE),
    "note": (11, _NARROW), "code": (12, _WIDE),
}  # fmt: skip
_MARGIN = 14
_HEAD = 4.0

_STYLE = Path(__file__).with_name("scene.css").read_text(encoding="utf-8")


@record
class Box:
    """A rectangle with text in its middle."""

    x: float  # of the left upper corner
    y: float
    width: float
    height: float
    text: str = ""
    style: BoxStyle = "index"  # the kind of box
    color: int | None = None  # the number of the color of an entry. None for the color of the style.
    tip: str = ""  # Text that is shown while a pointer is over the box

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


@record
class Label:
    """Text outside boxes; ``y`` is its baseline."""

    x: float
    y: float
    text: str
    style: LabelStyle = "note"
    anchor: Literal["start", "middle", "end"] = "start"


@record
class Arrow:
    """A curve that leaves ``(x1, y1)`` and reaches ``(x2, y2)`` vertically, with a head at its end."""

    x1: float
    y1: float
    x2: float
    y2: float
    color: int | None = None  # the number of the color of an entry. None for gray.


@record
class Line:
    """A line through some points."""

    points: tuple[tuple[float, float], ...]


Item: TypeAlias = Box | Label | Arrow | Line


@record
class Scene:
    """Items at their places, with a title and a description for readers who do not see them."""

    title: str
    description: str
    items: tuple[Item, ...]


class Drawing(str):
    """A drawing as SVG text, which notebooks show as a picture.

    Examples
    --------
    >>> import weft
    >>> drawing = weft.eye(2, format="csr").draw()
    >>> drawing.svg[:4], drawing.svg == drawing._repr_svg_()
    ('<svg', True)
    """

    __slots__ = ()

    @property
    def svg(self) -> str:
        """The SVG text."""
        return str(self)

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str | Path) -> None:
        """Write the SVG text to a file."""
        Path(path).write_text(f"{self}\n", encoding="utf-8")

    def __str__(self) -> str:
        return str.__str__(self)

    def __repr__(self) -> str:
        return f"<drawing, {len(self)} characters of SVG; save(path) writes it to a file>"


def text_width(text: str, style: LabelStyle = "code") -> float:
    """Return an estimate of the width of a text, which is rarely too small."""
    size, share = _SIZES[style]
    return len(text) * size * share


def extent(items: Iterable[Item]) -> tuple[float, float, float, float]:
    """Return the smallest and the largest x and y of some items, as ``(left, top, right, bottom)``.

    Examples
    --------
    >>> extent([Box(0, 0, 10, 20), Box(30, 5, 10, 20)])
    (0, 0, 40, 25)
    """
    lefts, tops, rights, bottoms = zip(*map(_sides, items), strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _sides(item: Item) -> tuple[float, float, float, float]:
    match item:
        case Box(x=x, y=y, width=width, height=height):
            return x, y, x + width, y + height
        case Label(x=x, y=y, text=text, style=style, anchor=anchor):
            width, size = text_width(text, style), _SIZES[style][0]
            left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
            return left, y - size, left + width, y + size / 3
        case Arrow(x1=x1, y1=y1, x2=x2, y2=y2):
            return min(x1, x2 - _HEAD), min(y1, y2), max(x1, x2 + _HEAD), max(y1, y2)
        case Line(points=points):
            xs, ys = zip(*points, strict=True)
            return min(xs), min(ys), max(xs), max(ys)


def moved(items: Iterable[Item], dx: float, dy: float) -> tuple[Item, ...]:
    """Return items at places that are moved to the right and down."""
    return tuple(_moved(item, dx, dy) for item in items)


def _moved(item: Item, dx: float, dy: float) -> Item:
    match item:
        case Box() | Label():
            return replace(item, x=item.x + dx, y=item.y + dy)
        case Arrow():
            return replace(item, x1=item.x1 + dx, y1=item.y1 + dy, x2=item.x2 + dx, y2=item.y2 + dy)
        case Line(points=points):
            return Line(tuple((x + dx, y + dy) for x, y in points))


def beside(first: Sequence[Item], second: Sequence[Item], space: float) -> tuple[Item, ...]:
    """Return two groups of items beside each other, with their tops at one height."""
    a, b = extent(first), extent(second)
    return (*first, *moved(second, a[2] + space - b[0], a[1] - b[1]))


def below(top: Sequence[Item], bottom: Sequence[Item], space: float) -> tuple[Item, ...]:
    """Return two groups of items below each other, with their left sides at one place."""
    a, b = extent(top), extent(bottom)
    return (*top, *moved(bottom, a[0] - b[0], a[3] + space - b[1]))


def paint(scene: Scene) -> str:
    """Return the SVG text of a scene. Equal scenes have equal text."""
    left, top, right, bottom = extent(scene.items)
    x, y = left - _MARGIN, top - _MARGIN
    width, height = right - left + 2 * _MARGIN, bottom - top + 2 * _MARGIN
    size = f'width="{_number(width)}" height="{_number(height)}"'
    shapes = "\n".join(map(_painted, sorted(scene.items, key=_depth)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="weft-drawing" role="img" {size} '
        f'viewBox="{_number(x)} {_number(y)} {_number(width)} {_number(height)}" style="max-width:100%;height:auto">\n'
        f"<title>{html.escape(scene.title)}</title>\n<desc>{html.escape(scene.description)}</desc>\n"
        f"<style>{_STYLE.strip()}</style>\n"
        f'<rect class="panel" x="{_number(x + 0.5)}" y="{_number(y + 0.5)}" width="{_number(width - 1)}" '
        f'height="{_number(height - 1)}" rx="8"/>\n{shapes}\n</svg>'
    )


def _depth(item: Item) -> int:
    """Return a number that is higher for items that are painted later, above others: panels, wires, boxes, text."""
    match item:
        case Box(style="panel" | "bar"):
            return 0
        case Arrow() | Line():
            return 1
        case Box(style="absent" | "padding"):
            return 2
        case Box():
            return 3
    return 4


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def _painted(item: Item) -> str:
    match item:
        case Box():
            return _box(item)
        case Label(x=x, y=y, text=text, style=style, anchor=anchor):
            place = f'x="{_number(x)}" y="{_number(y)}"'
            side = "" if anchor == "start" else f' text-anchor="{anchor}"'
            return f'<text class="{style}" {place}{side}>{html.escape(text)}</text>'
        case Arrow():
            return _arrow(item)
        case Line(points=points):
            path = "L".join(f"{_number(x)} {_number(y)}" for x, y in points)
            return f'<path class="wire" d="M{path}"/>'


def _box(box: Box) -> str:
    place = f'x="{_number(box.x)}" y="{_number(box.y)}" width="{_number(box.width)}" height="{_number(box.height)}"'
    kind = "group" if box.style == "panel" else box.style
    round_by = {"node": "6", "panel": "6", "bar": "6", "stop": "5.5"}.get(box.style, "2")
    color = "" if box.color is None else f' style="fill:{COLORS[box.color]};stroke:{_EDGES[box.color]}"'
    shape = f'<rect class="{kind}" {place} rx="{round_by}"{color}/>'
    if box.text:
        middle = f'x="{_number(box.middle)}" y="{_number(box.y + box.height / 2 + TEXT_HEIGHT * 0.35)}"'
        shape += f'<text class="t-{box.style}" {middle} text-anchor="middle">{html.escape(box.text)}</text>'
    return f"<g>{shape}<title>{html.escape(box.tip)}</title></g>" if box.tip else shape


def _stroke(color: int | None) -> str:
    return "" if color is None else f' style="stroke:{_EDGES[color]}"'


def _arrow(arrow: Arrow) -> str:
    x1, y1, x2, y2 = arrow.x1, arrow.y1, arrow.x2, arrow.y2
    end = y2 - _HEAD  # the line ends inside the head
    bend = (end - y1) * 0.55
    curve = f"M{_number(x1)} {_number(y1)}"
    if abs(x1 - x2) < 0.05:
        curve += f"V{_number(end)}"
    else:
        points = ((x1, y1 + bend), (x2, end - bend), (x2, end))
        curve += "C" + " ".join(f"{_number(x)} {_number(y)}" for x, y in points)
    head = (
        f"M{_number(x2 - _HEAD * 0.7)} {_number(y2 - _HEAD * 1.4)}h{_number(_HEAD * 1.4)}L{_number(x2)} {_number(y2)}z"
    )
    fill = "" if arrow.color is None else f' style="fill:{_EDGES[arrow.color]}"'
    return f'<path class="wire" d="{curve}"{_stroke(arrow.color)}/><path class="head" d="{head}"{fill}/>'
