"""Sums over the stored entries of many rows: reassociated by SIMD where rows are long, in order where they are short.

In a sum in order each addition waits for the one before. Several partial sums do not wait, but take longer to begin and
to end. The mean length of the rows decides which way is taken, once for all rows.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir import nodes as ir
from ..ir import used_names, walk
from ..ir.builder import block, ge, if_, lit, mul, sub
from ..ir.passes.adjacent_ranges import adjoin, put
from ..ir.traversal import statements
from ..records import replace

SHORT = 32
"""Number of entries from which on a sum is reassociated."""


def _many(begin: ir.Expr, end: ir.Expr, segments: ir.Expr) -> ir.Expr:
    return ge(sub(end, begin), mul(lit(SHORT), segments))


def in_any_order(loop: ir.For, simd: tuple[tuple[str, str], ...] | None) -> ir.For:
    """Return a loop whose reductions may be in any order, if no loop is inside it."""
    inside = any(isinstance(n, ir.For | ir.While) for n in statements(loop.body))
    return loop if inside or simd is None else replace(loop, simd=simd)


def split_by_row_length(
    loop: ir.Stmt, simd: tuple[tuple[str, str], ...] | None, name: Callable[[str], ir.Var]
) -> ir.Stmt:
    """Return a loop that sums many entries reassociated and few entries in order."""
    if simd is None or not isinstance(loop, ir.For) or any(isinstance(n, ir.For) for n in walk(loop.body)):
        return loop
    # Branches and calls in the body, other than the reduction itself, keep compilers from vectorizing it.
    reduces = {op for op, _ in simd}
    branches = [n for n in walk(loop) if isinstance(n, ir.If | ir.Call | ir.While | ir.Select)]
    if any(not (isinstance(n, ir.Call) and n.name in reduces) for n in branches):
        return loop
    begin, end = (name(f"{loop.var.name}_{which}") for which in ("from", "to"))
    few = replace(loop, start=begin, stop=end)
    return block(
        ir.Declare(begin, loop.start),
        ir.Declare(end, loop.stop),
        if_(_many(begin, end, lit(1)), replace(few, simd=simd), few),
    )


def split_by_mean_length(loop: ir.For, limits: tuple[ir.Expr, ir.Expr]) -> ir.Stmt:
    """Return a loop in which the branch between long and short sums is taken once, by the mean length of segments.

    ``limits`` are the bounds of the loop before threads share it, since the order of summation depends on the branch.
    Segments must adjoin: each must begin where the one before ends, so that the first and last edge tell the number of
    entries. Otherwise the branch remains in each segment.
    """
    stmts = list(loop.body.stmts) if isinstance(loop.body, ir.Block) else [loop.body]
    declared = {s.var.name: s.value for s in stmts if isinstance(s, ir.Declare)}
    for k, s in enumerate(stmts):
        match s:
            case ir.If(
                cond=cond, then=ir.For(start=ir.Var() as begin, stop=ir.Var() as end) as many, orelse=ir.For() as few
            ):
                first, last = declared.get(begin.name), declared.get(end.name)
                if many.simd is None or first is None or last is None or cond != _many(begin, end, lit(1)):
                    continue
                made_here = used_names(first) & (declared.keys() | {loop.var.name})
                if made_here != {loop.var.name} or not adjoin(first, last, loop.var):
                    continue
                long, short = (replace(loop, body=block(*stmts[:k], way, *stmts[k + 1 :])) for way in (many, few))
                lowest, highest = (put(first, loop.var, edge) for edge in limits)
                return if_(_many(lowest, highest, sub(limits[1], limits[0])), long, short)
    return loop
