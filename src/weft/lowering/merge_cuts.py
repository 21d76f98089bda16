"""Merges that threads share: ranges of coordinates, at the ends of which each operand has a position of its own.

Each operand gives samples of its coordinates, at positions that are equally far apart in all operands. A range ends
after as many samples of all operands together as there are operands, so that ranges are about equally long, also where
operands have nearly the same coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..analysis.iteration_graph import share_interval
from ..analysis.merge_lattice import LevelIterator
from ..concrete_notation.nodes import Forall
from ..formats.capabilities import PositionIteration
from ..ir import nodes as ir
from ..ir.builder import add, block, cast, eq, if_, increment, lit, lt, minimum, mul, sub, total
from ..records import record
from .bisection import move_forward
from .environment import Environment
from .function_state import FunctionState
from .positions import bounds_of, coordinate

_LAST = lit(int(np.iinfo(np.int64).max))

_MOST_OPERANDS = 8
"""Operands of a merge that is cut; each takes a search of its own in the text."""


@record
class MergeCuts:
    """The ranges of coordinates into which a merge is cut."""

    search: ir.Stmt  # fills ``edges``
    edges: ir.Var  # the array of the positions of all iterators at which ranges begin and end
    ranges: Mapping[LevelIterator, tuple[ir.Var, ir.Var]]  # the variables of one range

    def range_of(self, number: ir.Expr) -> ir.Stmt:
        """Return the declarations of the variables of a range."""
        numbers, count = (number, add(number, lit(1))), lit(len(self.ranges))
        return block(
            *(
                ir.Declare(v, ir.Load(self.edges, add(mul(at, count), lit(k))))
                for k, edges in enumerate(self.ranges.values())
                for v, at in zip(edges, numbers, strict=True)
            )
        )


def merge_cuts(f: FunctionState, loop: Forall, ranges: ir.Expr, chunk: tuple[ir.Var, ir.Var]) -> MergeCuts | None:
    """Return how a merge is cut into a number of ranges, or None if threads cannot share it.

    The variables of a ``chunk`` are the coordinates of a range, if an iterator visits all of them.
    """
    iterators = list(dict.fromkeys(it for point in f.context.lattice(loop) for it in point.coiterate))
    options = f.context.options
    if not 2 <= len(iterators) <= _MOST_OPERANDS or options.target == "cuda" or not options.enabled("merge-cuts"):
        return None
    full = [it for it in iterators if it.format.iteration == "value"]
    if share_interval(iterators, f.context.types) or not all(map(_can_be_cut, iterators)) or len(full) > 1:
        return None
    limits = {it: bounds_of(f, it, loop.var, Environment()) for it in iterators}
    edges = ir.Var(f.name("cuts").name, "int64*")
    words = "cut_number", f"{f.context.names[loop.var]}_cut", "cut_step", "cut_sample"
    number, coord, step, sample = map(f.name, words)
    # The last edge of each iterator, the position of its next sample, and the coordinate there.
    edge, ahead, here = (
        {it: f.name(f"p{it.name}_{word}") for it in iterators} for word in ("edge", "ahead", "ahead_coordinate")
    )

    def coordinate_at(it: LevelIterator, p: ir.Expr) -> ir.Expr:
        return p if it in full else cast(coordinate(f, it, p, Environment()), "int64")

    def forward(it: LevelIterator) -> ir.Stmt:
        """Return code that moves an edge to the first position with the coordinate, which is not behind the next."""
        if it in full:
            return ir.Set(edge[it], coord)
        end = minimum(ahead[it], limits[it][1])
        return move_forward(edge[it], end, lambda p: lt(coordinate_at(it, p), coord))

    def stored(at: ir.Expr, values: Mapping[LevelIterator, ir.Expr]) -> ir.Stmt:
        return block(*(ir.Store(edges, add(mul(at, count), lit(k)), values[it]) for k, it in enumerate(iterators)))

    count, last = lit(len(iterators)), limits[full[0]][1] if full else _LAST
    advance = block()
    for it in reversed(iterators):
        advance = if_(eq(here[it], coord), increment(ahead[it], step), advance)
    next_sample = block(
        *(
            ir.Declare(here[it], ir.Select(lt(ahead[it], limits[it][1]), coordinate_at(it, ahead[it]), last))
            for it in iterators
        ),
        ir.Set(coord, minimum(*here.values())),
        advance,
    )
    each = block(
        ir.Declare(coord, lit(0)),
        ir.For(sample, lit(0), count, next_sample),
        *map(forward, iterators),
        stored(number, edge),
    )
    positions = total(sub(end, begin) for begin, end in limits.values())
    search = block(
        ir.Declare(step, add(ir.Binary("/", positions, mul(ranges, count)), lit(1))),
        ir.Allocate(edges, mul(add(ranges, lit(1)), count)),
        *(ir.Declare(edge[it], limits[it][0]) for it in iterators),
        *(ir.Declare(ahead[it], add(limits[it][0], step)) for it in iterators),
        stored(lit(0), edge),
        ir.For(number, lit(1), ranges, each),
        stored(ranges, {it: end for it, (_, end) in limits.items()}),
    )
    within = {it: chunk if it in full else (f.name(f"p{it.name}_begin"), f.name(f"p{it.name}_end")) for it in iterators}
    return MergeCuts(search, edges, within)


def _can_be_cut(it: LevelIterator) -> bool:
    """Return whether the position at which an iterator reaches a coordinate can be searched for."""
    if it.format.iteration == "value":
        return it.access is None or it.certain
    by_position = it.format.capability(PositionIteration)
    return it.level == 0 and it.format.ordered and by_position is not None and by_position.gapless
