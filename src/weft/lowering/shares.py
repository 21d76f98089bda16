"""Shares: sums cut by the positions of an operand, which threads add up apart, and which are joined in order.

The ends of a share follow from the operand alone, so that a sum has the same bits on any number of threads.
"""

from __future__ import annotations

from functools import partial

from ..concrete_notation.nodes import Forall, Positions, Where
from ..concrete_notation.traversal import assignments, result_of
from ..formats.adjoining import counts_coordinates, first_below
from ..index_notation.operator_table import OPERATORS
from ..ir import nodes as ir
from ..ir.builder import add, block, gt, if_, lit, lt, maximum, minimum, mul, sub
from .bands import in_bands
from .bisection import move_forward
from .cuts import Cut
from .duplicates import behind_run, may_revisit
from .emitter import Emitter
from .environment import Environment
from .implicit_entries import add_implicit
from .operand_values import scalar
from .positions import bounds_of, coordinate
from .result_writer import LocatedWriter
from .scalar_expressions import update
from .thread_partials import THREADS
from .workspace_types import neutral_of

MOST_PARTS = 8
"""Largest number of parts in which a result with axes is summed."""
PER_ELEMENT = 32
"""Number of entries in a part for each element of the result, so that filling and joining parts takes little time."""


def shared_scalar(emitter: Emitter, stmt: Where) -> ir.Stmt | None:
    """Return the code that sums a scalar workspace by shares, or None if its loop is not cut."""
    f, loop = emitter.state, stmt.producer
    if not isinstance(loop, Forall) or loop.positions is None or not f.holds_values:
        return None
    if (cut := _cut(emitter, loop, loop.positions)) is None:
        return None
    w, share = f.context.workspaces[result_of(loop).target.tensor], lit(loop.positions.share)
    absences = f.context.implicit_entries.get(w.name)
    sums = [(scalar(f, w), neutral_of(w), w.op)]
    if absences is not None:
        sums.append((absences.visited, 0, "add"))
    starts = [ir.Declare(v, lit(start, v.ty)) for v, start, _ in sums]
    parts = [ir.Var(f.name(f"{v.name}_shares").name, f"{v.ty}*") for v, *_ in sums]
    stores = [ir.Store(part, cut.share, v) for part, (v, *_) in zip(parts, sums, strict=True)]
    joins = [update(op, v, ir.Load(part, cut.share)) for part, (v, _, op) in zip(parts, sums, strict=True)]
    rest = block() if absences is None else add_implicit(f, absences, scalar(f, w), absences.visited)
    bounds = cut.bounds(lambda number: mul(number, share))
    work = block(bounds, *starts, emitter.forall(loop, Environment(), bounds=cut.edges), *stores)
    return block(
        cut.counted,
        ir.Declare(cut.shares, ir.Binary("/", add(maximum(cut.entries, lit(0)), sub(share, lit(1))), share)),
        *(ir.Allocate(part, cut.shares) for part in parts),
        _region(emitter, cut, work),
        *starts,
        ir.For(cut.share, lit(0), cut.shares, block(*joins)),
        *map(ir.Free, parts),
        rest,
    )


def shared_result(emitter: Emitter, loop: Forall) -> ir.Stmt | None:
    """Return the code that adds to a result in parts if each gets many entries, or None if the loop is not cut."""
    f, writer, positions = emitter.state, emitter.writer, loop.positions
    if positions is None or not isinstance(writer, LocatedWriter) or not f.kind.values:
        return None
    if (cut := _cut(emitter, loop, positions)) is None:
        return None
    vals, size, q = writer.vars.vals, f.name("size"), writer.index
    op = next(a.op for a in assignments(loop) if a.target == writer.access)
    assert op is not None
    parts = ir.Var(f.name(f"{vals.name}_shares").name, vals.ty)
    part = add(parts, mul(cut.share, size))
    start = ir.Store(part, q, lit(OPERATORS[op].start(vals.ty[:-1]), vals.ty[:-1]))
    serial = block(*f.scratch, emitter.forall(loop, Environment()), *f.release)
    bounds = cut.bounds(lambda number: ir.Binary("/", mul(cut.entries, number), cut.shares))
    with writer.into(part):
        work = emitter.forall(loop, Environment(), bounds=cut.edges)
    shared = block(
        ir.Allocate(parts, mul(cut.shares, size)),
        _region(emitter, cut, block(bounds, ir.For(q, lit(0), size, start), work)),
        ir.For(cut.share, lit(0), cut.shares, ir.For(q, lit(0), size, update(op, ir.Load(vals, q), ir.Load(part, q)))),
        ir.Free(parts),
    )
    least = maximum(mul(lit(PER_ELEMENT), size), lit(positions.share))
    return block(
        ir.Declare(size, writer.values_below(0)),
        cut.counted,
        # Two threads take as long for three parts of equal size as for four.
        ir.Declare(cut.shares, minimum(lit(MOST_PARTS), mul(lit(2), ir.Binary("/", cut.entries, mul(lit(2), least))))),
        if_(gt(cut.shares, lit(1)), shared, in_bands(emitter, loop, positions, cut, serial)),
    )


def _region(emitter: Emitter, cut: Cut, work: ir.Stmt) -> ir.Stmt:
    """Return the parallel region in which threads take shares."""
    f = emitter.state
    f.chunked = True
    return ir.Parallel(THREADS, block(*f.scratch), ir.For(cut.share, lit(0), cut.shares, work), block(*f.release))


def _cut(emitter: Emitter, loop: Forall, positions: Positions) -> Cut | None:
    """Return how a loop is cut, or None if it is no plain loop over the outermost level of the operand."""
    f, access = emitter.state, positions.access
    driver, tensor = f.driver_of(loop), f.tensors[access.tensor]
    if driver is None or any(cut.outer == loop.var for cut in f.context.program.splits):
        return None
    if driver.access != access and not (driver.certain and counts_coordinates(tensor)):
        return None
    begin, end = limits = bounds_of(f, driver, loop.var, Environment())
    inside = positions.level > (driver.level if driver.access == access else 0)  # entries are counted, not iterations

    def entries(p: ir.Expr) -> ir.Expr:
        # Iterations count, too, since they may have no entries.
        if not inside:
            return sub(p, begin)
        here, first = (first_below(tensor, positions.level, each) for each in (p, begin))
        return add(sub(here, first), sub(p, begin))

    def edge(cut: ir.Var, goal: ir.Expr) -> ir.Stmt:
        if not inside:
            return ir.Declare(cut, minimum(end, add(begin, goal)))
        before = ir.Var(f"{cut.name}_entries")
        search = move_forward(cut, end, lambda p: lt(entries(p), before))
        return block(ir.Declare(before, goal), ir.Declare(cut, begin), search)

    def moved(cut: ir.Var) -> ir.Stmt:
        if driver.certain or driver.format.unique or may_revisit(emitter, loop, driver):
            return block()
        return behind_run(cut, limits, partial(coordinate, f, driver, env=Environment()))

    share, shares, number, first, last = map(f.name, ("share", "shares", "entries", "share_begin", "share_end"))
    return Cut(share, shares, number, (first, last), ir.Declare(number, entries(end)), edge, moved)
