"""Lowering of index expressions to IR."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ..ir.builder import add, cast, lit, lt, maximum, mul, sub
from ..ir.nodes import Binary as IrBinary
from ..ir.nodes import Expr, Select
from ..trees import fold
from .nodes import Axis, Binary, Constant, Extent, IndexExpr, may_be_negative


def emit(expr: IndexExpr, coords: Mapping[int, Expr], sizes: Sequence[Expr] = ()) -> Expr:
    """Return the value of an index expression as IR."""

    def value(node: IndexExpr, below: list[Expr]) -> Expr:
        match node:
            case Axis(number=number):
                return cast(coords[number], "int64")  # merged coordinates may be narrow, and what follows is wide
            case Constant(value=constant):
                return lit(constant)
            case Extent(axis=axis):
                return sizes[axis]
            case Binary(op="/" | "%" as op, right=Extent(axis=axis)):
                # Kernels compute this for empty slots of tables, too. The maximum avoids a division by a size of 0.
                return IrBinary(op, below[0], maximum(sizes[axis], lit(1)))
            case Binary(op="/" | "%" as op, left=left, right=Constant(value=m)):
                return _divide(op, below[0], m, may_be_negative(left))
            case Binary(op=op):
                return _ARITHMETIC.get(op, partial(IrBinary, op))(*below)
        raise TypeError(f"no IR for {node!r}")

    return fold(expr, value)


_ARITHMETIC: Mapping[str, Callable[[Expr, Expr], Expr]] = {"+": add, "-": sub, "*": mul}


def _divide(op: str, value: Expr, m: int, signed: bool) -> Expr:
    """Return a quotient or remainder of floor division by a constant; C's truncation is corrected if ``signed``."""
    if m == 1:
        return value if op == "/" else lit(0)
    if m & (m - 1) == 0:  # shifts and masks round down for negative values, too
        return IrBinary(">>", value, lit(m.bit_length() - 1)) if op == "/" else IrBinary("&", value, lit(m - 1))
    if not signed:
        return IrBinary(op, value, lit(m))
    # A negative remainder of C is too small by the divisor, and the quotient that belongs to it too large by 1.
    rest = IrBinary("%", value, lit(m))
    below = lt(rest, lit(0))
    if op == "%":
        return Select(below, add(rest, lit(m)), rest)
    return sub(IrBinary("/", value, lit(m)), Select(below, lit(1), lit(0)))
