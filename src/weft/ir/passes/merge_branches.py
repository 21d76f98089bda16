"""Merges of two lists with branches where these are predicted, and without where they are not.

A merge asks at each step which list is behind. Lists that have nothing to do with each other give answers that a
processor mispredicts every other time. Lists of which one is the other moved take turns in patterns that it learns.
"""

from __future__ import annotations

from typing import Any

from ...records import replace
from .. import nodes as ir
from ..builder import add, block, cast, eq, ge, gt, increment, land, le, lit, lt, mul, ne, sub
from ..traversal import declared_names, rewrite, rewrite_statements, statements, used_names, walk, with_body

ROWS, AMONG = 64, 4096
"""How many rows are walked beforehand, and among how many at least: a processor learns the answers of small inputs."""
LEAST, MOST = 256, 1024
"""How many steps must be walked beforehand to tell anything, and after how many it is enough."""


def merge_branches(function: ir.Function) -> ir.Function:
    """Return the function with a second loop for each merge inside one of its outermost loops."""
    stmts = statements(function.body)
    if not any(isinstance(n, ir.For) and _merge_of(n) for n in stmts):
        return function
    shared = {n.loop.var for n in stmts if isinstance(n, ir.Parallel)}  # the variables of loops over chunks
    loops = [n for n in stmts if isinstance(n, ir.For | ir.While) and getattr(n, "var", None) not in shared]
    inside = {below for n in loops for below in statements(n.body) if isinstance(below, ir.For) and _merge_of(below)}

    def change(node: Any) -> ir.Stmt | None:
        if not isinstance(node, ir.For) or (parts := _merge_of(node)) is None or node in inside or node.var in shared:
            return None
        return _either(node, *parts)

    return with_body(function, rewrite_statements(function.body, change))


def _merge_of(rows: ir.For) -> tuple[tuple[ir.Stmt, ...], ir.While, tuple[ir.Stmt, ...]] | None:
    """Return what is declared before a merge in a loop over rows, the merge, and what comes after it."""
    before, rest = _declarations(rows.body.stmts if isinstance(rows.body, ir.Block) else ())
    if rows.simd is None and rows.step is None and rest and isinstance(rest[0], ir.While):
        return before, rest[0], rest[1:]
    return None


def _declarations(stmts: tuple[ir.Stmt, ...]) -> tuple[tuple[ir.Stmt, ...], tuple[ir.Stmt, ...]]:
    """Return the declarations with which statements begin, and the rest."""
    n = next((n for n, s in enumerate(stmts) if not isinstance(s, ir.Declare)), len(stmts))
    return stmts[:n], stmts[n:]


def _either(rows: ir.For, before: tuple[ir.Stmt, ...], merge: ir.While, after: tuple[ir.Stmt, ...]) -> ir.Stmt:
    """Return the loop over rows once with branches and once without, and what finds out which one is to run."""
    reads, step = _declarations(merge.body.stmts if isinstance(merge.body, ir.Block) else ())
    match step:
        case (
            ir.If(cond=ir.Binary(op="==", a=ir.Var() as a, b=ir.Var() as b), then=both, orelse=None),
            ir.Update(target=ir.Var() as pa) as next_a,
            ir.Update(target=ir.Var() as pb) as next_b,
        ) if (next_a, next_b) == (increment(pa, le(a, b)), increment(pb, le(b, a))):
            ahead = ir.If(lt(a, b), increment(pa), increment(pb))
            other: ir.Stmt | None = ir.If(eq(a, b), block(both, increment(pa), increment(pb)), ahead)
            word, often = "predicted", "<"
        case (
            ir.If(
                cond=ir.Binary(op="==", a=ir.Var() as a, b=ir.Var() as b),
                then=ir.Block(stmts=(*equal, ir.Update(target=ir.Var() as pa) as next_a, ir.Update() as next_b)),
                orelse=ir.If(cond=order, then=ir.Block(stmts=(*one, last_a)), orelse=ir.Block(stmts=(*two, last_b))),
            ),
        ) if order == le(a, b) and next_a == last_a == increment(pa) and next_b == last_b == increment(next_b.target):
            pb = next_b.target  # type: ignore[assignment]
            other = _without_branches((block(*equal), block(*one), block(*two)), a, b, pa.name)
            other = other and block(other, increment(pa, le(a, b)), increment(pb, le(b, a)))
            word, often = "unpredicted", ">="
        case _:
            return rows
    steps, missed, past, middle, answer, q = (
        ir.Var(f"{pa.name}_{what}") for what in ("steps", "missed", "past", "middle", "answer", "q")
    )
    guess, flag = ir.Var(f"{pa.name}_guess", "uint8*"), ir.Var(f"{pa.name}_{word}", "bool")
    walked = block(
        *reads,
        ir.Declare(answer, add(cast(le(a, b), "int64"), mul(lit(2), cast(le(b, a), "int64")))),
        increment(missed, ne(cast(ir.Load(guess, past), "int64"), answer)),
        ir.Store(guess, past, cast(answer, "uint8")),
        increment(steps),
        ir.Set(past, ir.Binary("&", add(mul(past, lit(4)), answer), lit(255))),  # the last four answers
        increment(pa, le(a, b)),
        increment(pb, le(b, a)),
    )
    walk_some = block(*before, ir.While(land(lt(steps, lit(MOST)), merge.cond), walked))
    if other is None or (_written(rows.body) - {*declared_names(rows.body)}) & used_names(walk_some):
        return rows  # where rows lie may depend on the rows before
    count = sub(rows.stop, rows.start)
    some = ir.Select(ge(count, lit(AMONG)), lit(ROWS), lit(0))
    return block(
        *(ir.Declare(v, lit(0)) for v in (steps, missed, past)),
        ir.Array(guess, 256),
        ir.For(q, lit(0), lit(256), ir.Store(guess, q, lit(0, "uint8"))),
        ir.Declare(middle, add(rows.start, ir.Binary("/", count, lit(2)))),
        replace(rows, start=middle, stop=add(middle, some), body=walk_some),
        ir.Declare(flag, land(ge(steps, lit(LEAST)), ir.Binary(often, mul(missed, lit(8)), mul(steps, lit(3))))),
        # Two loops over rows, since compilers keep fewer variables in registers if both merges are in one.
        ir.If(flag, replace(rows, body=block(*before, replace(merge, body=block(*reads, other)), *after)), rows),
    )


def _without_branches(cases: tuple[ir.Stmt, ...], a: ir.Var, b: ir.Var, name: str) -> ir.Stmt | None:
    """Return what does the work of three cases: equal coordinates, ``a`` alone, ``b`` alone.

    None if they differ in more than a coordinate and one value, which can be computed in all cases.
    """
    values: list[tuple[ir.Expr, ...]] = []
    stores = [[n for n in statements(case) if isinstance(n, ir.Store)] for case in cases]
    replaced: list[dict[Any, ir.Expr]] = [{}, {}, {}]
    for three in zip(*stores, strict=False):
        both, one, two = (store.value for store in three)
        if both == one == two:
            continue
        if both != one:
            values.append((both, one, two))
        value = ir.Select(le(a, b), one, two) if both == one else ir.Var(f"{name}_value", both.ty)
        for old, new in zip((both, one, two), replaced, strict=True):
            new[old] = value
    step, *others = (rewrite(case, new.get) for case, new in zip(cases, replaced, strict=True))
    constants = any(isinstance(n, ir.Store) and isinstance(n.value, ir.Const) for n in walk(cases[0]))
    # Constants compare as numbers do, -0.0 and 0.0 among them.
    if others != [step, step] or not isinstance(step, ir.Stmt) or constants or len({*values}) > 1:
        return None
    if not all(_is_harmless(value) and not used_names(value) & _written(step) for value in sum(values, ())):
        return None
    if not values:
        return step
    # A table, since compilers make branches of selected floats.
    ty = values[0][0].ty
    table, case = ir.Var(f"{name}_values", f"{ty}*"), add(cast(ne(a, b), "int64"), cast(gt(a, b), "int64"))
    fill = (ir.Store(table, lit(k), value) for k, value in enumerate(values[0]))
    return block(ir.Array(table, 3), *fill, ir.Declare(ir.Var(f"{name}_value", ty), ir.Load(table, case)), step)


def _written(stmt: ir.Stmt) -> set[str]:
    """Return the names of the variables and arrays that a statement declares or changes."""
    changed = [n.__dict__.get("target") or n.__dict__.get("array") or n.__dict__.get("var") for n in statements(stmt)]
    return {getattr(x.array if isinstance(x, ir.Load) else x, "name", "") for x in changed}


def _is_harmless(value: ir.Expr) -> bool:
    """Return whether an expression can be computed at the positions of both lists though only one is asked for."""
    return all(
        isinstance(n, ir.Var | ir.Unary | ir.Cast)
        or (isinstance(n, ir.Load) and isinstance(n.index, ir.Var))
        or (isinstance(n, ir.Binary) and n.op in "+-*")
        for n in walk(value)
    )
