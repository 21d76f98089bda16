"""What a remapping says about a format's levels, as IR: how many coordinates each has, and in which interval.

Levels iterate physical coordinates; the remapping relates them to the tensor's logical ones (2018, section 3.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import FormatError
from ..ir.builder import add, lit, maximum, minimum, mul, sub
from ..ir.nodes import Binary as IrBinary
from ..ir.nodes import Expr
from ..remapping import Remapping
from ..remapping.inverse import invert, linear
from ..remapping.nodes import Axis, Binary, Constant, Counter, Extent, IndexExpr, may_be_negative

__all__ = ["computed", "interval", "level_ranges"]


def level_ranges(remapping: Remapping, dimensions: Sequence[Expr]) -> tuple[tuple[Expr, Expr], ...]:
    """The half-open interval of each level's coordinates, given the tensor's dimensions; empty where they count."""
    return tuple(_range(c, dimensions) for c in remapping.coordinates)


def _range(expr: IndexExpr, dimensions: Sequence[Expr]) -> tuple[Expr, Expr]:
    """The half-open interval of an expression's values, for dimensions that are not zero."""
    match expr:
        case Axis(number=number):
            return lit(0), dimensions[number]
        case Constant(value=value):
            return lit(value), lit(value + 1)
        case Extent(axis=axis):
            return dimensions[axis], add(dimensions[axis], lit(1))
        case Counter():
            return lit(0), lit(0)
        case Binary(op="*", left=left, right=Extent(axis=axis)):
            lo, hi = _range(left, dimensions)
            return mul(lo, dimensions[axis]), add(mul(sub(hi, lit(1)), dimensions[axis]), lit(1))
        case Binary(op="*", left=Constant() as factor, right=right):
            return _range(Binary("*", right, factor), dimensions)
        case Binary(op="/" | ">>" as op, left=left, right=Constant(value=value)):
            lo, hi = _range(left, dimensions)
            m = value if op == "/" else 1 << value
            return _floor(lo, m), _floor(add(hi, lit(m - 1)), m)
        case Binary(op="%", right=Constant(value=value)):
            return lit(0), lit(value)
        case Binary(op="&", right=right) if not may_be_negative(right):
            return lit(0), _range(right, dimensions)[1]
        case Binary(op="|" | "^", left=left, right=right) if not may_be_negative(expr):
            (_, b), (_, d) = _range(left, dimensions), _range(right, dimensions)
            return lit(0), sub(add(b, d), lit(1))  # no bit of both is more than their sum
        case Binary(op="<<" | "*" as op, left=left, right=Constant(value=value)) if value > 0:
            lo, hi = _range(left, dimensions)
            by = lit(value if op == "*" else 1 << value)
            return mul(lo, by), add(mul(sub(hi, lit(1)), by), lit(1))
        case Binary(op="+", left=left, right=right):
            (a, b), (c, d) = _range(left, dimensions), _range(right, dimensions)
            return add(a, c), sub(add(b, d), lit(1))
        case Binary(op="-", left=left, right=right):
            (a, b), (c, d) = _range(left, dimensions), _range(right, dimensions)
            return add(sub(a, d), lit(1)), sub(b, c)
    raise FormatError(f"no bounds are known of the coordinate {expr}")


def _floor(value: Expr, by: int) -> Expr:
    return value if by == 1 else IrBinary("/", value, lit(by)) if value != lit(0) else value


def computed(remapping: Remapping, level: int) -> IndexExpr | None:
    """The coordinate of a level from those of the levels above (``Axis(k)`` is level ``k``'s), where they decide it."""
    above = invert(remapping.coordinates[:level], remapping.order)
    wanted = remapping.coordinates[level]
    if isinstance(wanted, Axis):
        return above[wanted.number]
    return None


def interval(remapping: Remapping, level: int, dimensions: Sequence[Expr], coords: Sequence[Expr]) -> tuple[Expr, Expr]:
    """The coordinates a level can have below ancestors with the coordinates ``coords``.

    Every axis that this level's coordinate decides, together with its ancestors', must lie inside the tensor.
    """
    own = remapping.coordinates[level]
    lo, hi = _range(own, dimensions)
    known = invert(remapping.coordinates[: level + 1], remapping.order)
    for axis, expr in enumerate(known):
        terms = None if expr is None or own == Axis(axis) else linear(expr)
        if terms is None or abs(terms.get(level, 0)) != 1:
            continue
        rest: Expr = lit(terms.get(None, 0))
        for k, factor in terms.items():
            if k is not None and k != level:
                part = mul(lit(abs(factor)), coords[k])
                rest = add(rest, part) if factor > 0 else sub(rest, part)
        size = dimensions[axis]
        if terms[level] == 1:  # 0 <= c + rest < size
            back = _negated(rest)
            lo, hi = maximum(lo, back), minimum(hi, add(size, back))
        else:  # 0 <= rest - c < size
            lo, hi = maximum(lo, add(sub(rest, size), lit(1))), minimum(hi, add(rest, lit(1)))
    return lo, hi


def _negated(value: Expr) -> Expr:
    match value:
        case IrBinary(op="-", a=a, b=b):
            return sub(b, a)
    return sub(lit(0), value)
