"""Index expressions: a remapping computes the coordinate of a level by one (2020 paper, Fig. 8).

Arithmetic is that of Python's integers. ``/`` is floor division, and ``%`` has the sign of its right operand, so that
``i == (i/M)*M + i%M`` for any ``i``. ``>>`` keeps the sign.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ..records import record
from ..trees import Node, fold, rewrite, walk

PRECEDENCE = {"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
"""Binding strengths of the operators, as in Fig. 8 and in C; all operators group to the left."""

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "|": operator.or_, "^": operator.xor, "&": operator.and_, "<<": operator.lshift, ">>": operator.rshift,
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv, "%": operator.mod,
}  # fmt: skip
"""The function of each operator, on integers and on arrays of integers."""


class IndexExpr(Node):
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

    children = property(attrgetter("over"))

    def with_children(self, children: tuple[Any, ...]) -> Counter:
        return Counter(children)


@record
class Binary(IndexExpr):
    """An operation on two expressions: ``left op right``."""

    op: str
    left: IndexExpr
    right: IndexExpr

    children = property(attrgetter("left", "right"))

    def with_children(self, children: tuple[Any, ...]) -> Binary:
        return Binary(self.op, *children)


def axes_of(expr: IndexExpr) -> frozenset[int]:
    """Return the axes that an expression depends on.

    Examples
    --------
    >>> sorted(axes_of(Binary("-", Axis(1), Axis(0))))
    [0, 1]
    """
    if isinstance(expr, Axis):  # most expressions are
        return frozenset((expr.number,))
    return frozenset([node.number for node in walk(expr) if isinstance(node, Axis)])


def counters_of(expr: IndexExpr) -> tuple[Counter, ...]:
    """Return the distinct counters of an expression."""
    if isinstance(expr, Axis):
        return ()
    return tuple(dict.fromkeys([node for node in walk(expr) if isinstance(node, Counter)]))


def may_be_negative(expr: IndexExpr, negative: Container[int] = ()) -> bool:
    """Return whether an expression can be negative although no axis but those in ``negative`` is."""

    def sign(node: IndexExpr, below: list[bool]) -> bool:
        match node:
            case Axis(number=number):
                return number in negative
            case Constant(value=value):
                return value < 0
            case Binary(op="-" | "%" as op):  # no attempt is made to compare the operands of a difference
                return op == "-"
            case Binary(op="&"):  # one sign bit that is 0 suffices
                return all(below)
            case Binary():
                return any(below)
        return False

    return fold(expr, sign)


def substitute(expr: IndexExpr, axes: Mapping[int, IndexExpr]) -> IndexExpr:
    """Return an expression with its axes replaced by other expressions."""

    def rule(node: IndexExpr) -> IndexExpr | None:
        match node:
            case Axis(number=number):
                return axes.get(number)
            case Extent(axis=axis) if isinstance(new := axes.get(axis), Axis):
                return Extent(new.number)
        return None

    return rewrite(expr, rule)


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
