"""Loops that are cut: into blocks of iterations, tiles of the result, and strips that stand in registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..concrete_notation.nodes import Forall, RegisterStrips, Split, Stmt, foralls_of
from ..errors import ScheduleError
from ..ir import nodes as ir
from ..ir.builder import add, block, gt, le, lit, maximum, minimum, mul, product, sub
from ..records import replace
from ..remapping.emit_ir import emit
from .environment import Environment, Strip
from .thread_partials import THREADS

if TYPE_CHECKING:
    from .lowerer import Lowerer

__all__ = ["block_count", "block_loop", "inside_block_loop", "size_of_blocks"]

Bounds = tuple[ir.Expr, ir.Expr]


def block_loop(
    owner: Lowerer, cut: Split | RegisterStrips, stmt: Forall, env: Environment, bounds: Bounds | None
) -> ir.Stmt:
    """The loop over the blocks, tiles or strips of a loop that is cut."""
    if isinstance(cut, RegisterStrips):
        return _over_strips(owner, cut, stmt, env)
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
    """The loop inside one block, tile or strip: the loop that is cut, over part of its range."""
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
        lo, hi = env.tiles[cut.tiles]
        by = _ahead(owner, cut, env)
        whole = owner.name(f"{owner.names[cut.var]}_begin"), owner.name(f"{owner.names[cut.var]}_end")
        decls = [ir.Declare(v, e) for v, e in zip(whole, (begin, end), strict=True)]
        begin, end = whole
        first, last = maximum(begin, sub(lo, by)), sub(hi, by)
    body = owner.forall(Forall(cut.var, stmt.body), env, (start, stop))
    return block(*decls, ir.Declare(start, first), ir.Declare(stop, minimum(last, end)), body)


def block_count(owner: Lowerer, cut: Split, stmt: Forall, env: Environment) -> ir.Expr:
    """How many blocks or tiles there are."""
    begin, end = (lit(0), owner.extents[cut.tiles]) if cut.tiles else _range(owner, cut, stmt.body, env)
    size = owner.blocks[cut.outer]
    return ir.Binary("/", add(sub(end, begin), sub(size, lit(1))), size)


def size_of_blocks(owner: Lowerer, cut: Split, stmt: Forall) -> ir.Stmt:
    """Declare how many iterations a block has, or coordinates a tile."""
    owner.blocks[cut.outer] = lit(cut.factor)
    if cut.sweep is None or cut.tiles is None:
        return block()
    sweep, all = cut.sweep, owner.extents[cut.tiles]
    across = product(owner.extents[v] for v in sweep.across)
    most: ir.Expr = lit(sweep.room)
    if sweep.across:
        most = maximum(ir.Binary("/", most, maximum(across, lit(1))), lit(cut.factor))
    # Each thread has a few, so that all end at the same time.
    share = add(ir.Binary("/", all, mul(THREADS, lit(4))), lit(1))
    most = ir.Select(gt(THREADS, lit(1)), minimum(share, most), most)
    size = owner.name(f"{owner.names[cut.outer]}size")
    owner.blocks[cut.outer] = size
    swept = next(f for f in foralls_of(stmt.body) if f.var == sweep.var)
    driver = owner._driver(swept, Environment()) if sweep.few else None
    if driver is None or driver.level:
        return ir.Declare(size, most)
    begin, end = owner._bounds(driver, swept.var, Environment())
    return ir.Declare(size, ir.Select(le(sub(end, begin), lit(sweep.few)), lit(cut.factor), most))


def _range(owner: Lowerer, cut: Split, stmt: Stmt, env: Environment) -> Bounds:
    """Where the loop that is cut begins and ends."""
    driver = owner._driver(Forall(cut.var, stmt), env)
    if driver is None or not (driver.certain or driver.format.unique):
        raise ScheduleError(f"the loop over {cut.var} merges several operands and cannot be split")
    return owner._bounds(driver, cut.var, env)


def _ahead(owner: Lowerer, cut: Split, env: Environment) -> ir.Expr:
    """By how much the variable that is tiled is ahead of the loop's own."""
    if cut.tiles == cut.var:
        return lit(0)
    d = next(d for d in (*owner.derived, *owner.computed) if d.var == cut.tiles)
    coords = {n: lit(0) if v == cut.var else env.coords[v] for n, v in enumerate(d.of) if v in d.needs}
    return emit(d.value, coords, owner.sizes(d))


def _over_strips(owner: Lowerer, cut: RegisterStrips, stmt: Forall, env: Environment) -> ir.Stmt:
    """Strips of each width in turn, as many as fit into what is left."""
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
