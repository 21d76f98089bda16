"""Segments that adjoin, each beginning where the one before ended, as those of a compressed level do."""

from __future__ import annotations

from ...records import replace
from .. import nodes as ir
from ..builder import add, lit
from ..traversal import rewrite, used_names
from .simplify import simplify_expression

__all__ = ["adjoin", "fuse_adjacent_ranges", "put"]


def put(expr: ir.Expr, var: ir.Var, value: ir.Expr) -> ir.Expr:
    """An expression with a value in the place of a variable."""
    found = rewrite(expr, lambda n: value if n == var else None)
    assert isinstance(found, ir.Expr)
    return simplify_expression(found)


def adjoin(begin: ir.Expr, end: ir.Expr, var: ir.Var) -> bool:
    """Whether the segment of ``var`` ends where that of the next value of ``var`` begins."""
    return var.name in used_names(begin) and put(begin, var, add(var, lit(1))) == simplify_expression(end)


def fuse_adjacent_ranges(loop: ir.For) -> ir.For:
    """One loop over all positions, where a loop visits adjoining segments and nothing asks which one it is in."""
    stmts = loop.body.stmts if isinstance(loop.body, ir.Block) else (loop.body,)
    if not stmts:
        return loop
    *before, inner = stmts
    declared = {s.var.name for s in before if isinstance(s, ir.Declare)}
    if len(declared) < len(before) or not isinstance(inner, ir.For) or declared & used_names(inner):
        return loop
    if not adjoin(inner.start, inner.stop, loop.var) or loop.var.name in used_names(inner.body):
        return loop
    begin, end = (put(inner.start, loop.var, edge) for edge in (loop.start, loop.stop))
    return replace(inner, start=begin, stop=end)
