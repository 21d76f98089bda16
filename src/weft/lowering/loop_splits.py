"""Split loops: into blocks of iterations, tiles of the result, and register strips."""

from __future__ import annotations

from ..analysis.merge_lattice import LevelIterator
from ..concrete_notation.nodes import Forall, RegisterStrips, Split, Stmt
from ..concrete_notation.traversal import foralls_of
from ..errors import ScheduleError
from ..formats.adjoining import first_below
from ..ir import nodes as ir
from ..ir.builder import add, block, gt, le, lit, maximum, minimum, mul, product, sub
from ..records import replace
from ..remapping.emit_ir import emit
from .derived_coordinates import sizes
from .emitter import Emitter
from .environment import Environment, Strip
from .function_state import FunctionState
from .positions import bounds_of, tile_bounds_of
from .thread_partials import THREADS

Bounds = tuple[ir.Expr, ir.Expr]
RUN = 16
"""Least mean number of positions that a tile has below each parent: fewer would take less time than their bounds."""


def block_loop(
    emitter: Emitter, cut: Split | RegisterStrips, stmt: Forall, env: Environment, bounds: Bounds | None
) -> ir.Stmt:
    """Return the loop over the blocks, tiles or register strips of a split loop."""
    if isinstance(cut, RegisterStrips):
        return _over_strips(emitter, cut, stmt, env)
    # The chunked outermost loop has already declared the size, outside the parallel region.
    f = emitter.state
    sized = block() if cut.outer in f.blocks else size_of_blocks(f, cut, stmt)
    size = f.blocks[cut.outer]
    begin, end = bounds or (lit(0), block_count(f, cut, stmt, env))
    number = ir.Var(f.context.names[cut.outer])
    inner = replace(env, coords={**env.coords, cut.outer: number})
    decls: list[ir.Stmt] = []
    if cut.tiles is not None:
        lo, hi = (f.name(f"{f.context.names[cut.tiles]}_{which}") for which in ("low", "high"))
        last = add(lo, size)
        decls = [
            ir.Declare(lo, mul(number, size)),
            ir.Declare(hi, minimum(last, f.context.extents[cut.tiles])),
        ]
        inner = replace(inner, tiles={**env.tiles, cut.tiles: (lo, hi)})
    return block(sized, ir.For(number, begin, end, block(*decls, emitter.statement(stmt.body, inner))))


def inside_block_loop(emitter: Emitter, cut: Split | RegisterStrips, stmt: Forall, env: Environment) -> ir.Stmt:
    """Return the loop inside one block, tile or register strip: the split loop over part of its range."""
    if isinstance(cut, RegisterStrips):
        return emitter.forall(Forall(cut.var, stmt.body), env)
    f = emitter.state
    start, stop = f.name(f"{f.context.names[cut.inner]}begin"), f.name(f"{f.context.names[cut.inner]}end")
    decls: list[ir.Stmt] = []
    if (it := _numbered(f, cut, stmt.body)) is not None:
        first, stopped = tile_bounds_of(f, it, env.tiles[cut.var], env)
    elif cut.tiles is None:
        begin, end = _range(f, cut, stmt.body, env)
        size = f.blocks[cut.outer]
        first, stopped = add(begin, mul(env.coords[cut.outer], size)), minimum(add(start, size), end)
    else:
        begin, end = _range(f, cut, stmt.body, env)
        # The tile is an interval of the tiled variable; moved by the difference, it is one of the loop's own variable.
        lo, hi = env.tiles[cut.tiles]
        by = _ahead(f, cut, env)
        limits = f.name(f"{f.context.names[cut.var]}_begin"), f.name(f"{f.context.names[cut.var]}_end")
        decls = [ir.Declare(v, e) for v, e in zip(limits, (begin, end), strict=True)]
        begin, end = limits
        first, stopped = maximum(begin, sub(lo, by)), minimum(sub(hi, by), end)
    body = emitter.forall(Forall(cut.var, stmt.body), env, (start, stop))
    return block(*decls, ir.Declare(start, first), ir.Declare(stop, stopped), body)


def block_count(f: FunctionState, cut: Split, stmt: Forall, env: Environment) -> ir.Expr:
    """Return the number of blocks or tiles."""
    begin, end = (lit(0), f.context.extents[cut.tiles]) if cut.tiles else _range(f, cut, stmt.body, env)
    size = f.blocks[cut.outer]
    # The last block may be partial, so the quotient is rounded up.
    return ir.Binary("/", add(sub(end, begin), sub(size, lit(1))), size)


def size_of_blocks(f: FunctionState, cut: Split, stmt: Forall) -> ir.Stmt:
    """Return the declaration of the number of iterations in a block, or of coordinates in a tile."""
    f.blocks[cut.outer] = lit(cut.factor)
    if cut.sweep is None or cut.tiles is None:
        return block()
    sweep, all = cut.sweep, f.context.extents[cut.tiles]
    across = product(f.context.extents[v] for v in sweep.across)
    most: ir.Expr = lit(sweep.room)
    if sweep.across:
        # One coordinate of the tiled variable takes ``across`` elements of the result.
        most = maximum(ir.Binary("/", most, maximum(across, lit(1))), lit(cut.factor))
    # A thread has about four tiles, so that all threads end at about the same time.
    share = add(ir.Binary("/", all, mul(THREADS, lit(4))), lit(1))
    most = ir.Select(gt(THREADS, lit(1)), minimum(share, most), most)
    size = f.name(f"{f.context.names[cut.outer]}size")
    f.blocks[cut.outer] = size
    swept, inside = (next(loop for loop in foralls_of(stmt.body) if loop.var == v) for v in (sweep.var, cut.inner))
    if (it := _numbered(f, cut, inside.body)) is not None:
        return ir.Declare(size, maximum(most, _least_numbers(f, it, swept, all)))
    driver = f.driver_of(swept) if sweep.few else None
    # Above the tiles only the length of a loop over an outermost level is known; without it, the tile is large.
    if driver is None or driver.level:
        return ir.Declare(size, most)
    begin, end = bounds_of(f, driver, swept.var, Environment())
    return ir.Declare(size, ir.Select(le(sub(end, begin), lit(sweep.few)), lit(cut.factor), most))


def _numbered(f: FunctionState, cut: Split, body: Stmt) -> LevelIterator | None:
    """Return the iterator of a loop over positions that is cut by the numbers of their coordinates, or None."""
    it = f.driver_of(Forall(cut.var, body)) if cut.tiles == cut.var else None
    return it if it is not None and it.format.iteration == "position" else None


def _least_numbers(f: FunctionState, it: LevelIterator, swept: Forall, all: ir.Expr) -> ir.Expr:
    """Return the least size of a tile, so that the loop above finds ``RUN`` positions in it each time, on average."""
    above = f.driver_of(swept)
    assert above is not None
    assert it.access is not None
    _, end = bounds_of(f, above, swept.var, Environment())
    positions = first_below(f.tensors[it.access.tensor], it.level, end)
    tiles = ir.Binary("/", positions, mul(lit(RUN), maximum(end, lit(1))))
    return ir.Binary("/", all, maximum(tiles, lit(1)))


def _range(f: FunctionState, cut: Split, stmt: Stmt, env: Environment) -> Bounds:
    """Return the bounds of the loop that is split, or raise ``ScheduleError`` if it merges several operands."""
    driver = f.driver_of(Forall(cut.var, stmt))
    if driver is None or not (driver.certain or driver.format.unique):
        raise ScheduleError(f"the loop over {cut.var} merges several operands and cannot be split")
    return bounds_of(f, driver, cut.var, env)


def _ahead(f: FunctionState, cut: Split, env: Environment) -> ir.Expr:
    """Return the difference between the tiled variable and the variable of the split loop."""
    if cut.tiles == cut.var:
        return lit(0)
    # The tiled variable is a sum with the loop's own variable, which is set to 0 to get the rest.
    d = next(d for d in (*f.context.derived, *f.context.computed) if d.var == cut.tiles)
    coords = {n: lit(0) if v == cut.var else env.coords[v] for n, v in enumerate(d.of) if v in d.needs}
    return emit(d.value, coords, sizes(f.context, d))


def _over_strips(emitter: Emitter, cut: RegisterStrips, stmt: Forall, env: Environment) -> ir.Stmt:
    """Return one loop over register strips for each width, with as many strips as fit into the remaining range."""
    f = emitter.state
    name, all = f.context.names[cut.var], f.context.extents[cut.var]
    stmts: list[ir.Stmt] = []
    first: ir.Expr = lit(0)
    for width in cut.widths:
        number, low, end = f.name(f"{name}_strip"), f.name(f"{name}_low"), f.name(f"{name}_next")
        short = cut.ends_short and width == cut.widths[-1]
        length = minimum(lit(width), sub(all, low)) if short else lit(width)
        inner = replace(env, strips={**env.strips, cut.var: Strip(cut.inner, low, width, length)})
        rest = sub(all, first)
        count = ir.Binary("/", add(rest, lit(width - 1)) if short else rest, lit(width))
        at = ir.Declare(low, add(first, mul(number, lit(width))))
        stmts.append(ir.For(number, lit(0), count, block(at, emitter.statement(stmt.body, inner))))
        stmts.append(ir.Declare(end, add(first, mul(count, lit(width)))))
        first = end
    return block(*stmts)
