"""Loops that are cut: into blocks of iterations, tiles of the result, and strips that stand in registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..concrete_notation.nodes import Forall, Split, Stmt, Strips
from ..errors import ScheduleError
from ..ir import nodes as ir
from ..ir.builder import add, block, lit, maximum, minimum, mul, sub
from ..records import replace
from ..remapping.emit import emit
from .env import Env, Strip

if TYPE_CHECKING:
    from .lower import Lowerer

__all__ = ["block_count", "inner_loop", "outer_loop"]

Bounds = tuple[ir.Expr, ir.Expr]


def outer_loop(owner: Lowerer, cut: Split | Strips, stmt: Forall, env: Env, bounds: Bounds | None) -> ir.Stmt:
    """The loop over the blocks, tiles or strips of a loop that is cut."""
    if isinstance(cut, Strips):
        return _over_strips(owner, cut, stmt, env)
    begin, end = bounds or (lit(0), block_count(owner, cut, stmt, env))
    number = ir.Var(owner.names[cut.outer])
    inner = replace(env, coords={**env.coords, cut.outer: number})
    decls: list[ir.Stmt] = []
    if cut.tiles is not None:
        lo, hi = (owner.name(f"{owner.names[cut.tiles]}_{which}") for which in ("low", "high"))
        last = add(lo, lit(cut.factor))
        decls = [
            ir.Declare(lo, mul(number, lit(cut.factor))),
            ir.Declare(hi, minimum(last, owner.extents[cut.tiles])),
        ]
        inner = replace(inner, tiles={**env.tiles, cut.tiles: (lo, hi)})
    return ir.For(number, begin, end, block(*decls, owner.statement(stmt.body, inner)))


def inner_loop(owner: Lowerer, cut: Split | Strips, stmt: Forall, env: Env) -> ir.Stmt:
    """The loop inside one block, tile or strip: the loop that is cut, over part of its range."""
    if isinstance(cut, Strips):
        return owner.forall(Forall(cut.var, stmt.body), env)
    begin, end = _range(owner, cut, stmt.body, env)
    start, stop = owner.name(f"{owner.names[cut.inner]}begin"), owner.name(f"{owner.names[cut.inner]}end")
    decls: list[ir.Stmt] = []
    if cut.tiles is None:
        first = add(begin, mul(env.coords[cut.outer], lit(cut.factor)))
        last: ir.Expr = add(start, lit(cut.factor))
    else:
        lo, hi = env.tiles[cut.tiles]
        by = _ahead(owner, cut, env)
        whole = owner.name(f"{owner.names[cut.var]}_begin"), owner.name(f"{owner.names[cut.var]}_end")
        decls = [ir.Declare(v, e) for v, e in zip(whole, (begin, end), strict=True)]
        begin, end = whole
        first, last = maximum(begin, sub(lo, by)), sub(hi, by)
    body = owner.forall(Forall(cut.var, stmt.body), env, (start, stop))
    return block(*decls, ir.Declare(start, first), ir.Declare(stop, minimum(last, end)), body)


def block_count(owner: Lowerer, cut: Split, stmt: Forall, env: Env) -> ir.Expr:
    """How many blocks or tiles there are."""
    begin, end = (lit(0), owner.extents[cut.tiles]) if cut.tiles else _range(owner, cut, stmt.body, env)
    return ir.Binary("/", add(sub(end, begin), lit(cut.factor - 1)), lit(cut.factor))


def _range(owner: Lowerer, cut: Split, stmt: Stmt, env: Env) -> Bounds:
    """Where the loop that is cut begins and ends."""
    driver = owner._driver(Forall(cut.var, stmt), env)
    if driver is None or not (driver.certain or driver.format.unique):
        raise ScheduleError(f"the loop over {cut.var} merges several operands and cannot be split")
    return owner._bounds(driver, cut.var, env)


def _ahead(owner: Lowerer, cut: Split, env: Env) -> ir.Expr:
    """By how much the variable that is tiled is ahead of the loop's own."""
    if cut.tiles == cut.var:
        return lit(0)
    d = next(d for d in (*owner.definitions, *owner.computed) if d.var == cut.tiles)
    coords = {n: lit(0) if v == cut.var else env.coords[v] for n, v in enumerate(d.of) if v in d.needs}
    return emit(d.value, coords, owner.sizes(d))


def _over_strips(owner: Lowerer, cut: Strips, stmt: Forall, env: Env) -> ir.Stmt:
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
