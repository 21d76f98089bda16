"""Proofs about the values that a coordinate can take, given those of the levels above it.

A level may enumerate coordinates instead of storing them. Such a level is correct only if each enumerated value belongs
to some point of the tensor's index space. Points beyond the edges of the axes count, too. A function that finds no
proof returns False or None.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from ..errors import NotationError
from ..records import record
from .inverse import combination, invert, limits, significance, value_of
from .nodes import Axis, Binary, Constant, Counter, IndexExpr, axes_of, may_be_negative


def decided(coordinates: Sequence[IndexExpr], order: int, level: int) -> bool:
    """Return whether a level's coordinate follows from those of the levels above.

    Examples
    --------
    >>> half = Binary("/", Axis(0), Constant(2))
    >>> decided((half, Binary("/", half, Constant(2))), 1, 1), decided((half, Axis(0)), 1, 1)
    (True, False)
    """
    if level == 0:
        return False
    # The coordinate may follow from the coordinates above themselves, or from axes that they determine.
    above = coordinates[:level]
    values: dict[IndexExpr, IndexExpr] = {c: Axis(k) for k, c in enumerate(above)}
    for axis, value in enumerate(invert(above, order)):
        if value is not None:
            values.setdefault(Axis(axis), value)
    return value_of(coordinates[level], values) is not None


@record
class Digit:
    """A run of consecutive digits of ``base``: ``base / low % (high / low)``.

    ``base`` is a linear combination of axes: pairs of a term and its factor. ``high`` is None if the run has no upper
    end, and so contains all digits from ``low`` on.
    """

    base: frozenset[tuple[IndexExpr | None, int]]
    low: int
    high: int | None

    def overlaps(self, other: Digit) -> bool:
        """Return whether two runs of digits of the same base may share a place."""
        # Two runs are disjoint if one begins at a multiple of the end of the other.
        return not any(
            first.high is not None and second.low % first.high == 0 for first, second in ((self, other), (other, self))
        )


def digit_of(expr: IndexExpr) -> Digit | None:
    """Return an expression as digits of a linear combination of axes, or None if it has another form.

    Examples
    --------
    >>> digit_of(Binary("%", Binary("/", Axis(0), Constant(4)), Constant(2)))
    Digit(base=frozenset({(Axis(number=0), 1)}), low=4, high=8)
    """
    match expr:
        case Binary(op="/" | "%" | ">>" | "&" as op, left=left, right=Constant(value=value)):
            # Shifts and masks are divisions and remainders by powers of two; a mask has only trailing ones.
            inner = digit_of(left)
            size = 1 << min(max(value, 0), 64) if op == ">>" else value + (op == "&")
            if inner is None or size < 1 or (op == "&" and size & value):
                return None
            # The new boundary must lie inside the run, and divide its upper end.
            place = inner.low * size
            if inner.high is not None and (inner.high % place or inner.high == place):
                return None
            return Digit(inner.base, place, inner.high) if op in ("/", ">>") else Digit(inner.base, inner.low, place)
    terms = combination(expr)
    if terms is None:
        return None
    return Digit(frozenset((k, v) for k, v in terms.items() if v), 1, None)


def takes_every_value(coordinates: Sequence[IndexExpr], order: int, level: int) -> bool:
    """Return whether a coordinate is proved to take every value of its interval, whatever those above are.

    The interval is the one that the sizes of the axes leave to the coordinate. Points may lie beyond the edges of axes.
    For example, ``i%2`` takes every value below ``i/2``, and so does ``j`` below ``j-i``. ``i`` below ``i/2`` does not.
    ``2*i`` never does.

    Examples
    --------
    >>> half, rest = Binary("/", Axis(0), Constant(2)), Binary("%", Axis(0), Constant(2))
    >>> takes_every_value((half, rest), 1, 1), takes_every_value((half, Axis(0)), 1, 1)
    (True, False)
    """
    if isinstance(coordinates[level], Counter):
        return True
    # Constants and sizes shift the interval together with the values.
    coordinate = _unmoved(coordinates[level])
    above = [_unmoved(c) for c in coordinates[:level] if not isinstance(c, Counter)]
    rows = significance([coordinate])
    if rows is not None and not any(axes_of(c) & set(rows) for c in above):
        return True  # a row-major position of axes of its own
    digit = digit_of(coordinate)
    if digit is None:
        return False
    others = [(c, digit_of(c)) for c in above]
    for axis, factor in digit.base:
        # A step of this axis by 1 changes the base by 1. It must change nothing above but other digits of the base.
        if isinstance(axis, Axis) and abs(factor) == 1:
            same = [d for c, d in others if axis.number in axes_of(c)]
            if all(d is not None and d.base == digit.base and not d.overlaps(digit) for d in same):
                return True
    # For a linear coordinate, several axes may have to change at once.
    return digit.low == 1 and digit.high is None and _steps_by_one(coordinate, above, order)


def _unmoved(expr: IndexExpr) -> IndexExpr:
    """Return a coordinate without the constants and sizes that are added to it or subtracted from it."""
    while isinstance(expr, Binary) and expr.op in ("+", "-") and not axes_of(expr.right) and axes_of(expr.left):
        expr = expr.left
    return expr


def _steps_by_one(coordinate: IndexExpr, above: Sequence[IndexExpr], order: int) -> bool:
    """Return whether moves of axes that change no coordinate above change a linear one by all integers.

    A move is an integer vector: a change of each axis. The function computes moves that span all those that leave the
    coordinates above unchanged. They change the coordinate by the multiples of the greatest common divisor of its
    changes.
    """
    # An axis in a coordinate above that is not linear must not move.
    fixed = {axis for c in above if combination(c) is None for axis in axes_of(c)}
    moves = [{Axis(axis): 1} for axis in range(order) if axis not in fixed]
    for c in above:
        # Euclid's algorithm on the moves ends when at most one of them changes this coordinate. That one is dropped.
        while len(changing := [m for m in moves if _change(c, m)]) > 1:
            least = min(changing, key=lambda m: abs(_change(c, m)))
            for move in changing:
                if move is not least:
                    times = _change(c, move) // _change(c, least)
                    for axis, by in least.items():
                        move[axis] = move.get(axis, 0) - times * by
        moves = [m for m in moves if not _change(c, m)]
    return gcd(*(_change(coordinate, move) for move in moves)) == 1


def _change(expr: IndexExpr, move: dict[Axis, int]) -> int:
    """Return the change of a linear expression when axes move; 0 for other expressions, whose axes never move."""
    terms = combination(expr) or {}
    return sum(terms.get(axis, 0) * by for axis, by in move.items())


def remainder_below(coordinates: Sequence[IndexExpr], level: int) -> IndexExpr | None:
    """Return the remainder of a coordinate whose higher digits the levels above hold, or None.

    Examples
    --------
    >>> from .nodes import to_text
    >>> to_text(remainder_below((Binary("/", Axis(0), Constant(4)), Axis(0)), 1), "i")
    'i%4'
    """
    digit = digit_of(coordinates[level])
    if digit is None:
        return None
    high, runs = digit.high, [d for d in map(digit_of, coordinates[:level]) if d is not None and d.base == digit.base]
    # Extend the known digits from the highest down, as long as a run of a level above ends where the known ones begin.
    while above := [d.low for d in runs if d.high == high and d.low > digit.low and d.low % digit.low == 0]:
        high = max(above)
    return None if high is None or high == digit.high else Binary("%", coordinates[level], Constant(high // digit.low))


def from_zero(expr: IndexExpr) -> IndexExpr | None:
    """Return a coordinate shifted so that it begins at 0, or None if no lower bound is known.

    Examples
    --------
    >>> from .nodes import to_text
    >>> to_text(from_zero(Binary("-", Axis(1), Axis(0))), "ij")
    'j-i-1+size(i)'
    """
    try:
        low = limits(expr)[0]
    except NotationError:
        return None
    terms = combination(low)
    if terms is None:  # the bound is not linear: subtract it as a whole, unless an earlier call has done so
        moved = isinstance(expr, Binary) and expr.op == "-" and from_zero(expr.left) == expr
        return expr if moved else Binary("-", expr, low)
    # Subtracting a linear bound term by term keeps a linear coordinate linear.
    for size, factor in terms.items():
        part = Constant(abs(factor)) if size is None else size
        if size is not None and abs(factor) > 1:
            part = Binary("*", size, Constant(abs(factor)))
        if factor:
            expr = Binary("-" if factor > 0 else "+", expr, part)
    return expr


def is_natural(value: IndexExpr, coordinates: Sequence[IndexExpr]) -> bool:
    """Return whether an expression of levels' coordinates is proved not to be negative.

    Examples
    --------
    >>> block, rest = Binary("/", Axis(0), Constant(2)), Binary("%", Axis(0), Constant(2))
    >>> is_natural(Binary("+", Binary("*", Axis(0), Constant(2)), Axis(1)), (block, rest))
    True
    """
    negative = [k for k in axes_of(value) if from_zero(coordinates[k]) != coordinates[k]]
    return not may_be_negative(value, negative)
