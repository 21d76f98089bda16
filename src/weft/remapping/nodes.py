"""Index expressions: a remapping computes the coordinate of a level by one (2020 paper, Fig. 8).

Arithmetic is that of Python's integers. ``/`` is floor division, and ``%`` has the sign of its right operand, so that
``i == (i/M)*M + i%M`` for any ``i``. ``>>`` keeps the sign.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..records import record

PRECEDENCE = {"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
"""Binding strengths of the operators, as in Fig. 8 and in C; all operators group to the left."""

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "|": operator.or_, "^": operator.xor, "&": operator.and_, "<<": operator.lshift, ">>": operator.rshift,
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv, "%": operator.mod,
}  # fmt: skip
"""The function of each operator, on integers and on arrays of integers."""


class IndexExpr:
    """An integer expression over coordinates."""


@record
class Axis(IndexExpr):
    """The coordinate of an axis; in an inverse, the coordinate of a level."""

    number: int


@record
class Constant(IndexExpr):
    """An integer constant."""

    value: int


@record
class Extent(IndexExpr):
    """``size(i)``: the number of coordinates of an axis."""

    axis: int


@record
class Counter(IndexExpr):
    """``#i``: the number of earlier entries with the same coordinates ``over``."""

    over: tuple[IndexExpr, ...]


@record
class Binary(IndexExpr):
    """An operation on two expressions: ``left op right``."""

    op: str
    left: IndexExpr
    right: IndexExpr


def axes_of(expr: IndexExpr) -> frozenset[int]:
    """Return the axes that an expression depends on.

    Examples
    --------
    >>> sorted(axes_of(Binary("-", Axis(1), Axis(0))))
    [0, 1]
    """
    match expr:
        case Axis(number=number):
            return frozenset((number,))
        case Counter(over=over):
            return frozenset(axis for e in over for axis in axes_of(e))
        case Binary(left=left, right=right):
            return axes_of(left) | axes_of(right)
    return frozenset()


def counters_of(expr: IndexExpr) -> tuple[Counter, ...]:
    """Return the distinct counters of an expression."""
    match expr:
        case Counter():
            return (expr,)
        case Binary(left=left, right=right):
            return tuple(dict.fromkeys((*counters_of(left), *counters_of(right))))
    return ()


def may_be_negative(expr: IndexExpr) -> bool:
    """Return whether an expression can be negative although no coordinate of an axis is."""
    match expr:
        case Axis() | Extent() | Counter():
            return False
        case Constant(value=value):
            return value < 0
        case Binary(op="-"):
            return True
        case Binary(op="%"):
            return False
        case Binary(op="&", left=left, right=right):  # one sign bit that is 0 suffices
            return may_be_negative(left) and may_be_negative(right)
        case Binary(left=left, right=right):
            return may_be_negative(left) or may_be_negative(right)
    return True


def substitute(expr: IndexExpr, axes: Mapping[int, IndexExpr]) -> IndexExpr:
    """Return an expression with its axes replaced by other expressions."""
    match expr:
        case Axis(number=number):
            return axes.get(number, expr)
        case Extent(axis=axis):
            new = axes.get(axis)
            return Extent(new.number) if isinstance(new, Axis) else expr
        case Counter(over=over):
            return Counter(tuple(substitute(e, axes) for e in over))
        case Binary(op=op, left=left, right=right):
            return Binary(op, substitute(left, axes), substitute(right, axes))
    return expr


def to_text(expr: IndexExpr, names: Sequence[str], strength: int = 0) -> str:
    """Return an expression in remapping notation, with the fewest parentheses.

    Examples
    --------
    >>> to_text(Binary("*", Binary("+", Axis(0), Constant(1)), Axis(1)), "ij")
    '(i+1)*j'
    """
    match expr:
        case Axis(number=number):
            return names[number]
        case Constant(value=value):
            return str(value) if value >= 0 else f"({value})"
        case Extent(axis=axis):
            return f"size({names[axis]})"
        case Counter(over=over):
            return "#" + " ".join(to_text(e, names, 9) for e in over)  # 9 is stronger than all operators
        case Binary(op=op, left=left, right=right):
            # Operators group to the left, so a right operand of equal strength needs parentheses.
            mine = PRECEDENCE[op]
            text = f"{to_text(left, names, mine)}{op}{to_text(right, names, mine + 1)}"
            return f"({text})" if mine < strength else text
    raise TypeError(f"not an index expression: {expr!r}")


def evaluate(
    expr: IndexExpr,
    coords: Sequence[Any],
    counts: Mapping[Counter, Any] | None = None,
    shape: Sequence[int] = (),
) -> Any:
    """Return the value of an expression, for numbers or arrays of coordinates.

    Examples
    --------
    >>> evaluate(Binary("/", Axis(0), Constant(4)), (-1,)), evaluate(Binary("%", Axis(0), Constant(4)), (-1,))
    (-1, 3)
    """
    match expr:
        case Axis(number=number):
            return coords[number]
        case Constant(value=value):
            return value
        case Extent(axis=axis):
            return shape[axis]
        case Counter():  # its value depends on the entries, not on one point
            return (counts or {})[expr]
        case Binary(op=op, left=left, right=right):
            return OPERATIONS[op](evaluate(left, coords, counts, shape), evaluate(right, coords, counts, shape))
    raise TypeError(f"not an index expression: {expr!r}")
