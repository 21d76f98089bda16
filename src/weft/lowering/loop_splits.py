"""Split loops: into blocks of iterations, tiles of the result, and register strips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..concrete_notation.nodes import Forall, RegisterStrips, Split, Stmt
from ..concrete_notation.traversal import foralls_of
from ..errors import ScheduleError
from ..ir import nodes as ir
from ..ir.builder import add, block, gt, le, lit, maximum, minimum, mul, product, sub
from ..records import replace
from ..remapping.emit_ir import emit
from .environment import Environment, Strip
from .thread_partials import THREADS

if TYPE_CHECKING:
    from .lowerer import Lowerer

Bounds = tuple[ir.Expr, ir.Expr]


def block_loop(
    owner: Lowerer, cut: Split | RegisterStrips, stmt: Forall, env: Environment, bounds: Bounds | None
) -> ir.Stmt:
    """Return the loop over the blocks, tiles or register strips of a split loop."""
    if isinstance(cut, RegisterStrips):
        return _over_strips(owner, cut, stmt, env)
    # The chunked outermost loop has already declared the size, outside the parallel region.
    sized = block() if cut.outer in owner.blocks else size_of_blocks(owner, cut, stmt)
    size = owner.blocks[cut.outer]
    begin, end = bounds or (lit(0), block_count(owner, cut, stmt, env))
    number = ir.Var(owner.names[cut.outer])
    inner = replace(env, coords={**env.coords, cut.outer: number})
    decls: list[ir.Stmt] = []
    if cut.tiles is not None:
        lo, hi = (owner.name(f"{owner.names[cut.tiles]}_{which}") for which in ("low", "high"))
        last = add(lo, size)
        decls = [
            ir.Declare(lo, mul(number, size)),
            ir.Declare(hi, minimum(last, owner.extents[cut.tiles])),
        ]
        inner = replace(inner, tiles={**env.tiles, cut.tiles: (lo, hi)})
    return block(sized, ir.For(number, begin, end, block(*decls, owner.statement(stmt.body, inner))))


def inside_block_loop(owner: Lowerer, cut: Split | RegisterStrips, stmt: Forall, env: Environment) -> ir.Stmt:
    """Return the loop inside one block, tile or register strip: the split loop over part of its range."""
    if isinstance(cut, RegisterStrips):
        return owner.forall(Forall(cut.var, stmt.body), env)
    begin, end = _range(owner, cut, stmt.body, env)
    start, stop = owner.name(f"{owner.names[cut.inner]}begin"), owner.name(f"{owner.names[cut.inner]}end")
    decls: list[ir.Stmt] = []
    if cut.tiles is None:
        size = owner.blocks[cut.outer]
        first = add(begin, mul(env.coords[cut.outer], size))
        last: ir.Expr = add(start, size)
    else:
        # The tile is an interval of the tiled variable; moved by the difference, it is one of the loop's own variable.
        lo, hi = env.tiles[cut.tiles]
        by = _ahead(owner, cut, env)
        whole = owner.name(f"{owner.names[cut.var]}_begin"), owner.name(f"{owner.names[cut.var]}_end")
        decls = [ir.Declare(v, e) for v, e in zip(whole, (begin, end), strict=True)]
        begin, end = whole
        first, last = maximum(begin, sub(lo, by)), sub(hi, by)
    body = owner.forall(Forall(cut.var, stmt.body), env, (start, stop))
    return block(*decls, ir.Declare(start, first), ir.Declare(stop, minimum(last, end)), body)


def block_count(owner: Lowerer, cut: Split, stmt: Forall, env: Environment) -> ir.Expr:
    """Return the number of blocks or tiles."""
    begin, end = (lit(0), owner.extents[cut.tiles]) if cut.tiles else _range(owner, cut, stmt.body, env)
    size = owner.blocks[cut.outer]
    # The last block may be partial, so the quotient is rounded up.
    return ir.Binary("/", add(sub(end, begin), sub(size, lit(1))), size)


def size_of_blocks(owner: Lowerer, cut: Split, stmt: Forall) -> ir.Stmt:
    """Return the declaration of the number of iterations in a block, or of coordinates in a tile."""
    owner.blocks[cut.outer] = lit(cut.factor)
    if cut.sweep is None or cut.tiles is None:
        return block()
    sweep, all = cut.sweep, owner.extents[cut.tiles]
    across = product(owner.extents[v] for v in sweep.across)
    most: ir.Expr = lit(sweep.room)
    if sweep.across:
        # One coordinate of the tiled variable takes ``across`` elements of the result.
        most = maximum(ir.Binary("/", most, maximum(across, lit(1))), lit(cut.factor))
    # A thread has about four tiles, so that all threads end at about the same time.
    share = add(ir.Binary("/", all, mul(THREADS, lit(4))), lit(1))
    most = ir.Select(gt(THREADS, lit(1)), minimum(share, most), most)
    size = owner.name(f"{owner.names[cut.outer]}size")
    owner.blocks[cut.outer] = size
    swept = next(f for f in foralls_of(stmt.body) if f.var == sweep.var)
    driver = owner.driver_of(swept, Environment()) if sweep.few else None
    # Above the tiles only the length of a loop over an outermost level is known; without it, the tile is large.
    if driver is None or driver.level:
        return ir.Declare(size, most)
    begin, end = owner.bounds_of(driver, swept.var, Environment())
    return ir.Declare(size, ir.Select(le(sub(end, begin), lit(sweep.few)), lit(cut.factor), most))


def _range(owner: Lowerer, cut: Split, stmt: Stmt, env: Environment) -> Bounds:
    """Return the bounds of the loop that is split, or raise ``ScheduleError`` if it merges several operands."""
    driver = owner.driver_of(Forall(cut.var, stmt), env)
    if driver is None or not (driver.certain or driver.format.unique):
        raise ScheduleError(f"the loop over {cut.var} merges several operands and cannot be split")
    return owner.bounds_of(driver, cut.var, env)


def _ahead(owner: Lowerer, cut: Split, env: Environment) -> ir.Expr:
    """Return the difference between the tiled variable and the variable of the split loop."""
    if cut.tiles == cut.var:
        return lit(0)
    # The tiled variable is a sum with the loop's own variable, which is set to 0 to get the rest.
    d = next(d for d in (*owner.derived, *owner.computed) if d.var == cut.tiles)
    coords = {n: lit(0) if v == cut.var else env.coords[v] for n, v in enumerate(d.of) if v in d.needs}
    return emit(d.value, coords, owner.sizes(d))


def _over_strips(owner: Lowerer, cut: RegisterStrips, stmt: Forall, env: Environment) -> ir.Stmt:
    """Return one loop over register strips for each width, with as many strips as fit into the remaining range."""
    name, all = owner.names[cut.var], owner.extents[cut.var]
    stmts: list[ir.Stmt] = []
    done: ir.Expr = lit(0)
    for width in cut.widths:
        number, low, end = owner.name(f"{name}_strip"), owner.name(f"{name}_low"), owner.name(f"{name}_next")
        inner = replace(env, strips={**env.strips, cut.var: Strip(cut.inner, low, width)})
        count = ir.Binary("/", sub(all, done), lit(width))
        at = ir.Declare(low, add(done, mul(number, lit(width))))
        stmts.append(ir.For(number, lit(0), count, block(at, owner.statement(stmt.body, inner))))
        stmts.append(ir.Declare(end, add(done, mul(count, lit(width)))))
        done = end
    return block(*stmts)
