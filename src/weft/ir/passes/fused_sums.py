"""Explicit fused multiply-adds, which round a product and the sum to which it is added once, together.

Compilers fuse by themselves at some levels of optimization and not at others. They are told not to fuse
(``-ffp-contract=off``), so that each level gives the same bits. This pass fuses sums explicitly instead.
"""

from __future__ import annotations

from ...records import replace
from ..nodes import (
    Binary,
    Call,
    For,
    Function,
    Load,
    Set,
    Store,
    Unary,
    Update,
)
from ..traversal import Node, rewrite, walk
from ..types import is_float

__all__ = ["with_fused_sums"]


def _is_fused(node: Node) -> bool:
    return isinstance(node, Store) and isinstance(node.value, Call) and node.value.name.startswith("weft_fma_")


def with_fused_sums(function: Function) -> Function:
    """Return the function with ``x += a*b`` and ``x -= a*b`` of real floating-point numbers as fused multiply-adds.

    Examples
    --------
    >>> from weft.ir.printer import function_text
    >>> from weft.ir.nodes import Var
    >>> s, a, b = (Var(name, "float64") for name in "sab")
    >>> print(function_text(with_fused_sums(Function("f", (), Update("+", s, Binary("*", a, b))))), end="")
    function f()
      s = weft_fma_float64(a, b, s)
    """

    def rule(node: Node) -> Node | None:
        match node:
            case Update(op="+" | "-" as op, target=target, value=Binary(op="*", a=a, b=b)) if is_float(target.ty):
                first = a if op == "+" else Unary("-", a)
                fused = Call(f"weft_fma_{target.ty}", (first, b, target), target.ty)
                return Store(target.array, target.index, fused) if isinstance(target, Load) else Set(target, fused)
            case For(unroll=True, body=body) if any(_is_fused(n) for n in walk(body)):
                # Compilers vectorize unrolled statements with operators, but none with calls. They vectorize loops.
                return replace(node, unroll=False, simd=())
        return None

    return replace(function, body=rewrite(function.body, rule))  # type: ignore[arg-type]
