"""Binary searches, as statements."""

from __future__ import annotations

from collections.abc import Callable

from ..ir import nodes as ir
from ..ir.builder import add, block, declare, gt, if_, increment, lit, sub


def move_forward(edge: ir.Var, end: ir.Expr, within: Callable[[ir.Expr], ir.Expr]) -> ir.Stmt:
    """Return code that moves ``edge`` behind all positions before ``end`` that are ``within``, which come first."""
    rest, rest_is = declare(f"{edge.name}_rest", sub(end, edge))
    half, half_is = declare(f"{edge.name}_half", ir.Binary("/", rest, lit(2)))
    forward = block(increment(edge, add(half, lit(1))), ir.Set(rest, sub(sub(rest, half), lit(1))))
    step = if_(within(add(edge, half)), forward, ir.Set(rest, half))
    return block(rest_is, ir.While(gt(rest, lit(0)), block(half_is, step)))
