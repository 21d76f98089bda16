"""Bands: scatters whose iterations reach one narrow range of a vector after another, as those of banded matrices do.

Threads share pieces of the loop, and add to the result itself. Terms that a piece has below the reach of the pieces
before it are added afterwards, on one thread, so that each element is added up in the order of one thread.
"""

from __future__ import annotations

from ..analysis.merge_lattice import LevelIterator
from ..concrete_notation.nodes import Forall, Positions
from ..concrete_notation.traversal import assignments, foralls_of
from ..formats.capabilities import PositionIteration
from ..formats.format import level_variables
from ..ir import nodes as ir
from ..ir.builder import add, block, eq, gt, if_, increment, le, lit, lor, lt, maximum, minimum, mul, sub
from .bisection import move_forward
from .cuts import Cut
from .emitter import Emitter
from .environment import Environment
from .positions import bounds_of, coordinate
from .thread_partials import THREADS

PIECES = 4
"""Number of pieces for each thread."""
BLOCKS = 32
"""Number of blocks in a piece, of each of which it is known which coordinates it reaches."""
PER_HEAD = 8
"""Least number of blocks for each one that reaches below the pieces before its own."""
SAMPLES = 64
"""Number of iterations that are looked at first. All but one in ``PER_HEAD`` must be narrow, and in ascending order."""
NARROW = 16
"""Least number of elements of the result for each one between the first and last coordinate of a narrow iteration."""


def in_bands(emitter: Emitter, loop: Forall, positions: Positions, cut: Cut, serial: ir.Stmt) -> ir.Stmt:
    """Return the code that adds to a vector in pieces if they reach narrow ranges, and else ``serial``."""
    f, access = emitter.state, positions.access
    driver, m = f.driver_of(loop), f.tensors[access.tensor].levels[1:2]
    if driver is None or not m or not _reaches_ranges(emitter, loop, positions, driver):
        return serial
    level = f.context.types[access.tensor].format.levels[1].require(PositionIteration)
    blocks, pieces, row, first, last, reach, least, tail, heads, split, wide = map(
        f.name, ("blocks", "pieces", "row", "first", "last", "reach", "least", "tail", "heads", "split", "wide")
    )
    reaches, leasts, tails = (ir.Var(f.name(name).name, "int64*") for name in ("reached", "lowest", "tails"))
    (begin, end), number, all = cut.edges, cut.share, bounds_of(f, driver, loop.var, Environment())
    size, some = f.context.extents[emitter.writer.access.indices[0]], lt(first, last)
    block_of_piece = mul(number, lit(BLOCKS))
    low = ir.Load(reaches, block_of_piece)

    def before(block: ir.Expr) -> ir.Expr:
        return ir.Binary("/", mul(cut.entries, block), blocks)

    def at(p: ir.Expr) -> ir.Expr:
        above = row if driver.format.iteration == "value" else coordinate(f, driver, row, Environment())
        return level.pos_access(m[0], p, row, (above,))

    def segment() -> list[ir.Stmt]:
        return [*map(ir.Declare, (first, last), level.pos_bounds(m[0], row))]

    def cut_rows(limits: tuple[ir.Expr, ir.Expr]) -> ir.Stmt:
        work = emitter.forall(loop, Environment(limits={(access, 1): limits}), bounds=(row, add(row, lit(1))))
        search = block(ir.Declare(split, first), move_forward(split, last, lambda p: lt(at(p), low)))
        return ir.For(row, begin, tail, block(*segment(), search, work))

    def each_piece(*stmts: ir.Stmt) -> ir.For:
        edges = cut.bounds(lambda piece: before(mul(piece, lit(BLOCKS))))
        return ir.For(number, lit(0), pieces, block(edges, cut.edge(tail, before(ir.Load(tails, number))), *stmts))

    # Which coordinates each block reaches, and then, whether few blocks of a piece reach below the pieces before it.
    farthest_and_least = block(
        ir.Set(reach, maximum(reach, add(at(sub(last, lit(1))), lit(1)))), ir.Set(least, minimum(least, at(first)))
    )
    looked_at = block(
        cut.bounds(before),
        ir.Declare(reach, lit(0)),
        ir.Declare(least, size),
        ir.For(row, begin, end, block(*segment(), if_(some, farthest_and_least))),
        ir.Store(reaches, add(number, lit(1)), reach),
        ir.Store(leasts, number, least),
    )
    here = ir.Load(reaches, add(number, lit(1)))
    farthest = ir.Store(reaches, add(number, lit(1)), maximum(here, ir.Load(reaches, number)))
    inside = f.name("inside")
    head = block(
        ir.Declare(tail, block_of_piece),
        ir.For(
            inside,
            block_of_piece,
            mul(add(number, lit(1)), lit(BLOCKS)),
            if_(lt(ir.Load(leasts, inside), low), ir.Set(tail, add(inside, lit(1)))),
        ),
        ir.Store(tails, number, tail),
        increment(heads, sub(tail, block_of_piece)),
    )
    main = each_piece(cut_rows((split, last)), emitter.forall(loop, Environment(), bounds=(tail, end)))
    shared = block(
        ir.Declare(pieces, mul(THREADS, lit(PIECES))),
        ir.Declare(blocks, mul(pieces, lit(BLOCKS))),
        ir.Allocate(reaches, add(blocks, lit(1))),
        ir.Allocate(leasts, blocks),
        ir.Allocate(tails, pieces),
        ir.Parallel(THREADS, block(), ir.For(number, lit(0), blocks, looked_at), block()),
        ir.Store(reaches, lit(0), lit(0)),
        ir.For(number, lit(0), blocks, farthest),
        ir.Declare(heads, lit(0)),
        ir.For(number, lit(0), pieces, head),
        if_(
            le(mul(heads, lit(PER_HEAD)), blocks),
            block(
                ir.Parallel(THREADS, block(*f.scratch), main, block(*f.release)),
                *f.scratch,
                each_piece(cut_rows((first, split))),
                *f.release,
            ),
            serial,
        ),
        *map(ir.Free, (reaches, leasts, tails)),
    )
    f.chunked = True
    # A few iterations tell most matrices that have no band.
    sample, previous = f.name("sample"), f.name("previous")
    far = lor(gt(mul(sub(at(sub(last, lit(1))), at(first)), lit(NARROW)), size), lt(at(first), previous))
    step = ir.Binary("/", mul(sub(all[1], all[0]), sample), lit(SAMPLES))
    seen = block(
        ir.Declare(row, add(all[0], step)),
        *segment(),
        if_(some, block(if_(far, increment(wide)), ir.Set(previous, at(first)))),
    )
    return block(
        ir.Declare(
            wide, ir.Select(lor(le(THREADS, lit(1)), lt(cut.entries, lit(positions.share))), lit(SAMPLES), lit(0))
        ),
        if_(
            eq(wide, lit(0)),
            block(ir.Declare(previous, lit(0)), ir.For(sample, lit(0), lit(SAMPLES), seen)),
        ),
        if_(le(mul(wide, lit(PER_HEAD)), lit(SAMPLES)), shared, serial),
    )


def _reaches_ranges(emitter: Emitter, loop: Forall, positions: Positions, driver: LevelIterator) -> bool:
    """Return whether each iteration adds to the coordinates of one segment, whose ends tell how far it reaches."""
    f, access, target = emitter.state, positions.access, emitter.writer.access
    variables, levels = level_variables(access, f.context.types[access.tensor].format), f.tensors[access.tensor]
    level = levels.type.format.levels[1]
    v = variables[1]
    if positions.level != 1 or f.context.derived or target.indices != (v,) or v in variables[2:] or loop.var == v:
        return False
    if not (driver.certain or driver.format.unique) or not (level.ordered and level.iteration == "position"):
        return False
    inner = [f.driver_of(each) for each in foralls_of(loop.body) if each.var == v]
    added = [a for a in assignments(loop.body) if a.target == target]
    return len(inner) == len(added) == 1 and inner[0] is not None and inner[0].access == access
