"""Fusion of adjoining segments.

Segments adjoin if each begins where the segment before it ends, as those of a compressed level do.
"""

from __future__ import annotations

from ...records import replace
from .. import nodes as ir
from ..builder import add, lit
from ..traversal import rewrite, used_names
from .simplify import simplify_expression


def put(expr: ir.Expr, var: ir.Var, value: ir.Expr) -> ir.Expr:
    """Return an expression, simplified, in which a value replaces a variable."""
    found = rewrite(expr, lambda n: value if type(n) is ir.Var and n == var else None)
    assert isinstance(found, ir.Expr)
    return simplify_expression(found)


def adjoin(begin: ir.Expr, end: ir.Expr, var: ir.Var, after: ir.Expr | None = None) -> bool:
    """Return whether the segment of each value of ``var`` ends where that of the next, ``after``, begins."""
    after = add(var, lit(1)) if after is None else after
    return var.name in used_names(begin) and put(begin, var, after) == simplify_expression(end)


def fuse_adjacent_ranges(loop: ir.For) -> ir.For:
    """Return a loop over adjoining segments as one loop over all their positions."""
    stmts = loop.body.stmts if isinstance(loop.body, ir.Block) else (loop.body,)
    if not stmts:
        return loop
    # The declarations are dropped, so that the inner loop must not use them.
    *before, inner = stmts
    declared = {s.var.name for s in before if isinstance(s, ir.Declare)}
    if len(declared) < len(before) or not isinstance(inner, ir.For) or declared & used_names(inner):
        return loop
    if not adjoin(inner.start, inner.stop, loop.var) or loop.var.name in used_names(inner.body):
        return loop
    begin, end = (put(inner.start, loop.var, edge) for edge in (loop.start, loop.stop))
    return replace(inner, start=begin, stop=end)
