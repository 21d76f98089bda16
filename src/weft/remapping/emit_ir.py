"""Index expressions as IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir.builder import add, lit, lt, maximum, mul, sub
from ..ir.nodes import Binary as IrBinary
from ..ir.nodes import Expr, Select
from .nodes import Axis, Binary, Constant, Extent, IndexExpr, may_be_negative

__all__ = ["emit"]


def emit(expr: IndexExpr, coords: Mapping[int, Expr], sizes: Sequence[Expr] = ()) -> Expr:
    """The value of an index expression.

    Parameters
    ----------
    expr : IndexExpr
        Without counters, whose values only an assembly knows.
    coords : mapping
        The coordinate of each axis the expression needs.
    sizes : sequence of Expr, optional
        The size of every axis, for expressions with ``size(i)``.
    """
    match expr:
        case Axis(number=number):
            return coords[number]
        case Constant(value=value):
            return lit(value)
        case Extent(axis=axis):
            return sizes[axis]
        case Binary(op="/" | "%" as op, left=left, right=Extent(axis=axis)):
            # Empty slots of tables are undone as entries are, also where an axis has no size.
            return IrBinary(op, emit(left, coords, sizes), maximum(sizes[axis], lit(1)))
        case Binary(op="+", left=left, right=right):
            return add(emit(left, coords, sizes), emit(right, coords, sizes))
        case Binary(op="-", left=left, right=right):
            return sub(emit(left, coords, sizes), emit(right, coords, sizes))
        case Binary(op="*", left=left, right=right):
            return mul(emit(left, coords, sizes), emit(right, coords, sizes))
        case Binary(op="/" | "%" as op, left=left, right=Constant(value=m)):
            return _divide(op, emit(left, coords, sizes), m, may_be_negative(left))
        case Binary(op=op, left=left, right=right):
            return IrBinary(op, emit(left, coords, sizes), emit(right, coords, sizes))
    raise TypeError(f"no IR for {expr!r}")


def _divide(op: str, value: Expr, m: int, signed: bool) -> Expr:
    """Floor division or its remainder by a positive constant; C's truncate towards zero."""
    if m == 1:
        return value if op == "/" else lit(0)
    if m & (m - 1) == 0:  # shifts and masks are right for negative values, too
        return IrBinary(">>", value, lit(m.bit_length() - 1)) if op == "/" else IrBinary("&", value, lit(m - 1))
    if not signed:
        return IrBinary(op, value, lit(m))
    rest = IrBinary("%", value, lit(m))
    below = lt(rest, lit(0))
    if op == "%":
        return Select(below, add(rest, lit(m)), rest)
    return sub(IrBinary("/", value, lit(m)), Select(below, lit(1), lit(0)))
