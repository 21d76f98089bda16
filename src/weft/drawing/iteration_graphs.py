"""Drawings of iteration graphs (2017 paper, section 4): variables from the outermost loop down, and a path per access.

Each variable is a bar, and each access a column. The path of an access goes through the variables of its levels, and
each stop names the level that is iterated or located there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..concrete_notation.traversal import assignments, foralls_of
from ..formats import TensorType
from ..formats.format import level_variables
from ..index_notation.nodes import Access
from ..index_notation.printer import expression_text
from ..index_notation.traversal import accesses
from ..lowering.context import LoweringContext
from ..records import record
from .scene import COLORS, Arrow, Box, Item, Label, Scene, text_width

_PITCH = 58.0
_BAR = 34.0
_STOP = 11.0


@record
class Path:
    """Path of one access through the variables of its levels."""

    access: str  # the access in index notation
    note: str  # the format of the tensor, or its part in the expression
    stops: tuple[tuple[str, str], ...]  # the variable and the text of each level


@record
class IterationGraph:
    """Loops of a kernel, and the paths of its accesses."""

    assignment: str  # the assignment in index notation
    loops: tuple[tuple[str, str], ...]  # the variables, outermost first, each with a note on its loop
    paths: tuple[Path, ...]  # the paths: operands, workspaces, and last the result


def iteration_graph(context: LoweringContext, assignment: str) -> IterationGraph:
    """Return the iteration graph of the loops of a program."""
    program = context.program
    # A loop that is cut into blocks, or by tiles of another variable, stands for the variable that it is over.
    variable_of = {split.inner: split.var for split in program.splits}
    blocks = {split.outer: getattr(split, "tiles", None) or split.var for split in program.splits}
    all_loops = foralls_of(program.stmt)
    loops: dict[str, list[str]] = {
        variable_of.get(loop.var, loop.var): [] for loop in all_loops if loop.var not in blocks
    }
    for loop in all_loops:
        notes = loops.setdefault(blocks.get(loop.var, variable_of.get(loop.var, loop.var)), [])
        if loop.var in blocks:
            notes.append("in tiles")
        if loop.parallel:
            notes.append("parallel")
    found = dict.fromkeys(a for s in assignments(program.stmt) for a in accesses(s.value) if a.indices)
    paths = [_path(access, context.types, context.names, access.tensor in context.workspaces) for access in found]
    target = context.target
    if target.indices:
        paths.append(_path(target, context.types, context.names, False))
    for path in paths:
        for v, _ in path.stops:
            loops.setdefault(v, ["follows from the others"])
    shown = tuple((v, ", ".join(dict.fromkeys(notes))) for v, notes in loops.items())
    return IterationGraph(assignment, shown, tuple(dict.fromkeys(paths)))


def _path(access: Access, types: Mapping[str, TensorType], names: Mapping[str, str], is_workspace: bool) -> Path:
    type = types[access.tensor]
    variables = level_variables(access, type.format)
    name = names[access.tensor]
    levels = enumerate(zip(variables, type.format.levels, strict=True), 1)
    stops = tuple((v, f"{name}{k} {level}") for k, (v, level) in levels)
    return Path(expression_text(access), "workspace" if is_workspace else str(type.format).partition(":(")[0], stops)


def graph_scene(graph: IterationGraph) -> Scene:
    """Return the scene of an iteration graph."""
    names = max(
        [text_width(v, "level") for v, _ in graph.loops] + [text_width(n, "note") for _, n in graph.loops] + [0]
    )
    margin = names + 34
    widths = [max(text_width(t, "note") for t in _texts(path)) + 44 for path in graph.paths]
    lanes = [margin + sum(widths[:n]) + 10 for n in range(len(widths))]
    width = margin + sum(widths) + 6
    rows = {v: 58.0 + n * _PITCH for n, (v, _) in enumerate(graph.loops)}
    items: list[Item] = [Label(0, -16, graph.assignment, "title")]
    for v, note in graph.loops:
        items.append(Box(0, rows[v], width, _BAR, style="bar", tip=f"loop over {v}"))
        items.append(Label(12, rows[v] + (15 if note else 21), v, "level"))
        if note:
            items.append(Label(12, rows[v] + 28, note, "note"))
    for n, (path, x) in enumerate(zip(graph.paths, lanes, strict=True)):
        items += _lane(path, rows, x, n % len(COLORS))
    if not graph.loops:
        items.append(Label(0, 20, "no loops: the expression has no index variables", "note"))
    described = "; ".join(f"{p.access} passes {', '.join(f'{v} as {t}' for v, t in p.stops)}" for p in graph.paths)
    order = ", ".join(v for v, _ in graph.loops) or "none"
    return Scene(
        f"iteration graph of {graph.assignment}", f"loops from the outermost: {order}. {described}", tuple(items)
    )


def _by_variable(path: Path) -> dict[str, str]:
    """Return the text of each variable's stop, which names several levels for an access such as ``A(i,i)``."""
    stops: dict[str, list[str]] = {}
    for v, text in path.stops:
        stops.setdefault(v, []).append(text)
    return {v: ", ".join(texts) for v, texts in stops.items()}


def _texts(path: Path) -> tuple[str, ...]:
    return path.access + "  ", path.note, *_by_variable(path).values()


def _lane(path: Path, rows: Mapping[str, float], x: float, color: int) -> Iterator[Item]:
    """Yield the path of an access, from its name at the top."""
    yield Label(x - _STOP / 2, 14, path.access, "code")
    yield Label(x - _STOP / 2, 29, path.note, "note")
    # A level that is located may come before those above it; the path is drawn from the top down.
    above = 36.0
    for v, text in sorted(_by_variable(path).items(), key=lambda stop: rows[stop[0]]):
        y = rows[v] + (_BAR - _STOP) / 2
        yield Arrow(x, above, x, y, color)
        yield Box(x - _STOP / 2, y, _STOP, _STOP, style="stop", color=color, tip=text)
        yield Label(x + _STOP, y + 9.5, text, "note")
        above = y + _STOP
