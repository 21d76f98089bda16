"""Drawings of merge lattices (2017 paper, section 5.1): points, and the points that remain as operands run out.

Each point names the levels that are merged, those that are located, and the assignments that are computed where all of
them have values. Larger points are above the points that they dominate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..analysis.merge_lattice import Point
from ..concrete_notation import to_text as statement_text
from ..concrete_notation.nodes import Forall, Stmt
from ..concrete_notation.traversal import assignments, foralls_of
from ..index_notation.traversal import accesses
from ..lowering.context import LoweringContext
from ..lowering.loop_cases import statement_at
from ..records import record
from .scene import Arrow, Box, Item, Label, Scene, text_width

_LAYER = 52.0  # between layers of points
_BOX = 42.0
_SPACE = 22.0
_LONGEST = 46
_LABELED = 3  # points of the largest lattice whose arrows have labels


@record
class LatticePoint:
    """Texts of a lattice point: the merged levels, the located levels, and the statement that is computed."""

    merged: tuple[str, ...]
    located: tuple[str, ...]
    computed: str


@record
class Lattice:
    """Merge lattice of one loop."""

    var: str  # the variable of the loop
    points: tuple[LatticePoint, ...]  # the points, largest first

    @property
    def merges(self) -> bool:
        """True if the loop walks several levels at once, or has several cases."""
        return len(self.points) > 1 or any(len(point.merged) > 1 for point in self.points)

    @property
    def text(self) -> str:
        """Sentence on the loop: the levels that it walks and locates."""
        if not self.points:
            return f"loop over {self.var}: nothing to compute"
        first = self.points[0]
        locates = f", and locates {', '.join(first.located)}" if first.located else ""
        if not self.merges:
            return f"loop over {self.var}: walks {first.merged[0]} alone, so that nothing is merged{locates}"
        if len(self.points) == 1:
            return f"loop over {self.var}: an intersection, which ends with the first level that ends{locates}"
        return f"loop over {self.var}: a merge of {len(self.points)} cases{locates}"


def lattices(context: LoweringContext, built: Iterable[tuple[str, tuple[Point, ...]]]) -> tuple[Lattice, ...]:
    """Return the merge lattices of a function's loops, each once."""
    # The loops inside a case have the statement of the case, which is found beside those of the program.
    loops = foralls_of(context.program.stmt)
    distinct: dict[Lattice, None] = {}
    for var, points in built:
        loop = _loop_of(context, var, points, loops)
        cases = [None if loop is None else _case(context, loop, point) for point in points]
        loops += [inner for case in cases if case is not None for inner in foralls_of(case) if inner not in loops]
        texts = [
            LatticePoint(tuple(map(str, p.coiterate)), tuple(map(str, p.located)), _text(case, loop is not None))
            for p, case in zip(points, cases, strict=True)
        ]
        distinct[Lattice(var, tuple(texts))] = None
    return tuple(distinct)


def _loop_of(context: LoweringContext, var: str, points: Sequence[Point], loops: Sequence[Forall]) -> Forall | None:
    """Return the loop that has a lattice: over its variable, with exactly its operands."""
    operands = {it.access for point in points for it in point.iterators if it.access is not None}
    variable_of = {split.inner: split.var for split in context.program.splits}
    for loop in loops:
        if var in (loop.var, variable_of.get(loop.var)):
            walked = {a for a in accesses(context.view(loop.body)) if context.iterators(a, var)}
            if walked == operands:
                return loop
    return None


def _case(context: LoweringContext, loop: Forall, point: Point) -> Stmt | None:
    """Return the statement that is computed where the levels of a point have values, or None if nothing is."""
    original = {split.inner: split.var for split in context.program.splits}
    return statement_at(context, loop, original.get(loop.var, loop.var), point)


def _text(case: Stmt | None, known: bool) -> str:
    if case is None:
        return "nothing" if known else ""
    text = "; ".join(statement_text(s) for s in assignments(case))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def lattice_scene(lattice: Lattice) -> Scene:
    """Return the scene of one merge lattice."""
    items: tuple[Item, ...] = (Label(0, 0, lattice.text, "level"),)
    if lattice.merges:
        items += tuple(_points(lattice))
    else:
        items += tuple(Label(0, 17, point.computed, "code") for point in lattice.points if point.computed)
    described = "; ".join(f"{_merged(p)} computes {p.computed}" for p in lattice.points) or "no points"
    return Scene(f"merge lattice of the loop over {lattice.var}", described, items)


def _points(lattice: Lattice) -> Iterator[Item]:
    points = lattice.points
    covers = list(_covers(points))
    depths = [0] * len(points)
    for a, b in covers:  # larger points come first, so that the depth of each is known when it is used
        depths[b] = max(depths[b], depths[a] + 1)
    layers: dict[int, list[int]] = {}
    for n, depth in sorted(enumerate(depths), key=lambda each: each[1]):
        layers.setdefault(depth, []).append(n)
    widths = [max(text_width(_merged(p), "code"), text_width(p.computed, "note")) + 24 for p in points]
    lines = [sum(widths[n] for n in layer) + _SPACE * (len(layer) - 1) for layer in layers.values()]
    boxes: dict[int, Box] = {}
    for depth, (layer, line) in enumerate(zip(layers.values(), lines, strict=True)):
        x = (max(lines) - line) / 2
        for n in layer:
            boxes[n] = Box(x, 16 + depth * (_BOX + _LAYER), widths[n], _BOX, style="node", tip=points[n].computed)
            x += widths[n] + _SPACE
    for n, box in boxes.items():
        yield box
        yield Label(box.middle, box.y + 18, _merged(points[n]), "code", "middle")
        yield Label(box.middle, box.y + 33, points[n].computed, "note", "middle")
    for a, b in covers:
        start, end = boxes[a], boxes[b]
        x = start.middle + (end.middle - start.middle) * min(
            0.35, start.width / 2 / (abs(end.middle - start.middle) + 1)
        )
        yield Arrow(x, start.bottom + 1, end.middle, end.y)
        lost = [it for it in points[a].merged if it not in (*points[b].merged, *points[b].located)]
        if lost and len(points) <= _LABELED:
            middle, y = (x + end.middle) / 2, (start.bottom + end.y) / 2 + 3
            text = f"{', '.join(lost)} ends"
            left = end.middle < x - 1  # on the outer side of the arrow
            yield Label(middle - 8, y, text, "note", "end") if left else Label(middle + 8, y, text, "note")


def _merged(point: LatticePoint) -> str:
    located = f" | {', '.join(point.located)}" if point.located else ""
    return " ∧ ".join(point.merged) + located


def _covers(points: Sequence[LatticePoint]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of points of which the first dominates the second, with no point between them."""
    sets = [{*p.merged, *p.located} for p in points]
    for a, larger in enumerate(sets):
        for b, smaller in enumerate(sets):
            if smaller < larger and not any(smaller < other < larger for other in sets):
                yield a, b
