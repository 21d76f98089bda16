"""Inverses of remappings, and intervals of the coordinates that remappings make.

An inverse computes the coordinates of axes from those of the levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import NotationError
from ..trees import fold
from .nodes import Axis, Binary, Constant, Counter, Extent, IndexExpr, axes_of, may_be_negative


def invert(coordinates: Sequence[IndexExpr], order: int) -> tuple[IndexExpr | None, ...]:
    """Return each axis as an expression of the levels' coordinates, or None where they do not determine it.

    ``Axis(k)`` in a result is the coordinate of level ``k``. The known expressions grow until nothing more follows. A
    level gives the value of its own expression. A quotient and its remainder give the dividend. A sum or difference
    with one unknown operand gives that operand. A row-major position gives its row and its column.
    """
    values: dict[IndexExpr, IndexExpr] = {}
    for k, c in enumerate(coordinates):
        values.setdefault(c, Axis(k))
    while True:  # until no rule adds anything; a first derivation is never replaced
        before = len(values)
        for expr, value in list(values.items()):
            for found, meaning in (*_joined(expr, value, values), *_solved(expr, value, values), *_split(expr, value)):
                values.setdefault(found, meaning)
        if len(values) == before:
            return tuple(values.get(Axis(axis)) for axis in range(order))


def _joined(
    expr: IndexExpr, value: IndexExpr, values: Mapping[IndexExpr, IndexExpr]
) -> list[tuple[IndexExpr, IndexExpr]]:
    """Return the dividend of a quotient and a remainder that are known, with its value.

    A quotient may itself be divided: a quotient by ``m*n`` and the remainder by ``n`` give the quotient by ``m``.
    """
    match expr:
        # e/m with e%m
        case Binary(op="/", left=e, right=Constant(value=m)) if rest := values.get(Binary("%", e, Constant(m))):
            return [(e, Binary("+", Binary("*", value, Constant(m)), rest))]
        # e/m%n with e/(m*n)
        case Binary(
            op="%", left=Binary(op="/", left=e, right=Constant(value=m)) as quotient, right=Constant(value=n)
        ) if above := values.get(Binary("/", e, Constant(m * n))):
            return [(quotient, Binary("+", Binary("*", above, Constant(n)), value))]
        # e>>s with the bits of e below s
        case Binary(op=">>", left=e, right=Constant(value=s)) if rest := values.get(
            Binary("&", e, Constant((1 << s) - 1))
        ):
            return [(e, Binary("+", Binary("<<", value, Constant(s)), rest))]
    return []


def _solved(
    expr: IndexExpr, value: IndexExpr, values: Mapping[IndexExpr, IndexExpr]
) -> list[tuple[IndexExpr, IndexExpr]]:
    """Return the one unknown operand of a sum or difference, with its value."""
    match expr:
        case Binary(op="+", left=a, right=b):
            for one, other in ((a, b), (b, a)):
                if (rest := value_of(other, values)) is not None and one not in values and axes_of(one):
                    return [(one, Binary("-", value, rest))]
        case Binary(op="-", left=a, right=b):
            if (rest := value_of(b, values)) is not None and a not in values and axes_of(a):
                return [(a, Binary("+", value, rest))]
            if (rest := value_of(a, values)) is not None and b not in values and axes_of(b):
                return [(b, Binary("-", rest, value))]
    return []


def _split(expr: IndexExpr, value: IndexExpr) -> list[tuple[IndexExpr, IndexExpr]]:
    """Return both operands of ``a*size(i) + i``, with their values: a row-major position has one row and one column."""
    match expr:
        case Binary(op="+", left=Binary(op="*", left=a, right=Extent(axis=n)), right=Axis(number=m)) if n == m:
            size = Extent(n)
            return [(a, Binary("/", value, size)), (Axis(n), Binary("%", value, size))]
    return []


def value_of(expr: IndexExpr, values: Mapping[IndexExpr, IndexExpr]) -> IndexExpr | None:
    """Return an expression in terms of levels' coordinates, or None if a part of it is unknown."""
    if expr in values:
        return values[expr]
    match expr:
        case Constant() | Extent():
            return expr
        case Binary(op=op, left=left, right=right):
            a, b = value_of(left, values), value_of(right, values)
            return None if a is None or b is None else Binary(op, a, b)
    return None


def combination(expr: IndexExpr) -> dict[IndexExpr | None, int] | None:
    """Return the integer factors of the axes and sizes in a linear expression, or None for other expressions.

    The constant term is under the key None.

    Examples
    --------
    >>> combination(Binary("-", Extent(0), Binary("*", Axis(1), Constant(2))))
    {Extent(axis=0): 1, Axis(number=1): -2}
    """
    return fold(expr, _combination)


def _combination(
    expr: IndexExpr, below: Sequence[dict[IndexExpr | None, int] | None]
) -> dict[IndexExpr | None, int] | None:
    a, b = below if isinstance(expr, Binary) else (None, None)
    match expr:
        case Axis() | Extent():
            return {expr: 1}
        case Constant(value=value):
            return {None: value}
        case Binary(op="+" | "-" as op):
            sign = 1 if op == "+" else -1
            return None if a is None or b is None else {k: a.get(k, 0) + sign * b.get(k, 0) for k in {**a, **b}}
        case Binary(op="*", right=Constant(value=value)):
            terms = a
        case Binary(op="*", left=Constant(value=value)):
            terms = b
        case Binary(op="<<", right=Constant(value=shift)) if shift >= 0:
            terms, value = a, 1 << shift
        case _:  # products of axes and sizes are not linear, either
            return None
    return None if terms is None else {k: v * value for k, v in terms.items()}


def linear(expr: IndexExpr) -> dict[int | None, int] | None:
    """Return the integer factor of each axis in a linear expression without sizes, or None for other expressions.

    The constant term is under the key None.

    Examples
    --------
    >>> linear(Binary("-", Axis(1), Axis(0)))
    {1: 1, 0: -1}
    """
    terms = combination(expr)
    if terms is None or any(isinstance(k, Extent) for k in terms):
        return None
    return {k.number if isinstance(k, Axis) else None: v for k, v in terms.items()}


def significance(coordinates: Sequence[IndexExpr]) -> tuple[int, ...] | None:
    """Return the axes by which coordinates are lexicographically ordered, the most significant first, or None.

    Each coordinate must be an axis or a row-major position of axes. For others the result is None.

    Examples
    --------
    >>> from .nodes import Extent
    >>> significance([Axis(2), Binary("+", Binary("*", Axis(0), Extent(1)), Axis(1))])
    (2, 0, 1)
    """
    axes: tuple[int, ...] = ()
    for c in coordinates:
        columns: tuple[int, ...] = ()
        while not isinstance(c, Axis):
            match c:
                case Binary(op="+", left=Binary(op="*", left=row, right=Extent(axis=n)), right=Axis(number=m)) if (
                    n == m
                ):
                    # A row-major position is ordered by its row first.
                    c, columns = row, (m, *columns)
                case _:
                    return None
        axes += (c.number, *columns)
    return axes


def limits(expr: IndexExpr) -> tuple[IndexExpr, IndexExpr]:
    """Return the half-open interval of an expression's values, in terms of the sizes of the axes.

    No axis may have size 0. The interval of a counter is empty.

    Examples
    --------
    >>> from .nodes import to_text
    >>> [to_text(e, "ij") for e in limits(Binary("-", Axis(1), Axis(0)))]
    ['1-size(i)', 'size(j)']
    """
    # The rules follow from closed intervals, whose last value is ``hi - 1``.
    one, zero = Constant(1), Constant(0)
    match expr:
        case Axis(number=number):
            return zero, Extent(number)
        case Constant(value=value):
            return expr, Constant(value + 1)
        case Extent():
            return expr, sum_of("+", expr, one)
        case Counter():
            return zero, zero
        case Binary(op="*", left=Constant() as factor, right=right):
            return limits(Binary("*", right, factor))
        case Binary(op="*", left=left, right=Extent() as size):
            lo, hi = limits(left)
            return _times(lo, size), sum_of("+", _times(sum_of("-", hi, one), size), one)
        case Binary(op="/" | ">>" as op, left=left, right=Constant(value=value)):
            lo, hi = limits(left)
            m = value if op == "/" else 1 << value
            return _floor(lo, m), _floor(sum_of("+", hi, Constant(m - 1)), m)  # the end is rounded up
        case Binary(op="%", right=Constant() as size):
            return zero, size
        case Binary(op="&", right=right) if not may_be_negative(right):
            return zero, limits(right)[1]
        case Binary(op="|" | "^", left=left, right=right) if not may_be_negative(expr):
            # The bitwise or of two natural numbers is at most their sum, and so is their exclusive or.
            return zero, sum_of("-", sum_of("+", limits(left)[1], limits(right)[1]), one)
        case Binary(op="<<" | "*" as op, left=left, right=Constant(value=value)) if value > 0:
            lo, hi = limits(left)
            by = Constant(value if op == "*" else 1 << value)
            return _times(lo, by), sum_of("+", _times(sum_of("-", hi, one), by), one)
        case Binary(op="+", left=left, right=right):
            (a, b), (c, d) = limits(left), limits(right)
            return sum_of("+", a, c), sum_of("-", sum_of("+", b, d), one)
        case Binary(op="-", left=left, right=right):
            (a, b), (c, d) = limits(left), limits(right)
            # The smallest difference is a - (d - 1), the largest (b - 1) - c.
            return sum_of("-", sum_of("+", a, one), d), sum_of("-", b, c)
    raise NotationError(f"the sizes of the axes do not bound the coordinate {expr}")


def sum_of(op: str, a: IndexExpr, b: IndexExpr) -> IndexExpr:
    """Return ``a + b`` or ``a - b`` with the constants folded."""
    match op, a, b:
        case _, Constant(value=x), Constant(value=y):
            return Constant(x + y if op == "+" else x - y)
        case _, _, Constant(value=0):
            return a
        case "+", Constant(value=0), _:
            return b
        # (left ± x) ± y: one constant with the sign of the total.
        case _, Binary(op="+" | "-" as inner, left=left, right=Constant(value=x)), Constant(value=y):
            total = (x if inner == "+" else -x) + (y if op == "+" else -y)
            return sum_of("+" if total >= 0 else "-", left, Constant(abs(total)))
        case "+", Constant(), _:
            return Binary("+", b, a)
    return Binary(op, a, b)


def _times(a: IndexExpr, b: IndexExpr) -> IndexExpr:
    match a, b:
        case (Constant(value=0), _) | (_, Constant(value=1)):
            return a
        case Constant(value=x), Constant(value=y):
            return Constant(x * y)
        case Constant(value=1), _:
            return b
    return Binary("*", a, b)


def _floor(a: IndexExpr, by: int) -> IndexExpr:
    match a:
        case _ if by == 1:
            return a
        case Constant(value=value):
            return Constant(value // by)
    return Binary("/", a, Constant(by))


def interval_of(expr: IndexExpr, shape: Sequence[int]) -> tuple[int, int] | None:
    """Return the half-open interval of an expression's values by interval arithmetic, or None for counters.

    If an axis has size 0, the interval has no meaning and may end before it begins.

    Examples
    --------
    >>> interval_of(Binary("-", Axis(1), Axis(0)), (3, 5))
    (-2, 5)
    """

    def interval(node: IndexExpr, below: list[tuple[int, int] | None]) -> tuple[int, int] | None:
        match node:
            case Axis(number=number):
                return 0, shape[number]
            case Constant(value=value):
                return value, value + 1
            case Extent(axis=axis):
                return shape[axis], shape[axis] + 1
        left, right = below if isinstance(node, Binary) else (None, None)
        if left is None or right is None:
            return None
        assert isinstance(node, Binary)
        return _interval(node.op, left[0], left[1] - 1, right[0], right[1] - 1)

    return fold(expr, interval)


def _interval(op: str, lo: int, hi: int, low: int, high: int) -> tuple[int, int]:
    """Return the half-open interval of an operation on operands from ``lo`` to ``hi`` and from ``low`` to ``high``."""
    match op:
        case "+":
            return lo + low, hi + high + 1
        case "-":
            return lo - high, hi - low + 1
        case "*" | "<<":
            products = [x * y if op == "*" else x << y for x in (lo, hi) for y in (low, high)]
            return min(products), max(products) + 1
        case "/" | ">>":
            m = low if op == "/" else 1 << low
            return lo // m, hi // m + 1
        case "%":
            return 0, low
        case "&" if low >= 0:
            return 0, high + 1
        case "|" | "^" if lo >= 0 and low >= 0:
            return 0, hi + high + 1
    # Bitwise operations on negative numbers: all numbers of as many bits.
    bits = max(abs(v).bit_length() for v in (lo, hi, low, high))
    return -(1 << bits), 1 << bits
