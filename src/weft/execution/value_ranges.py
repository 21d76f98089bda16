"""Ranges of the values of expressions, from those of operands: interval arithmetic by the operator table.

A range says that no value is NaN, between which numbers all values are, and how close to zero a value may be, since a
divisor may have either sign. Ends of ranges are computed in the dtypes of the kernels: overflow and underflow then
happen here as they do there. The ends are moved outward by more than the rounding of a kernel may differ.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..analysis.implicit_values import convert, loop_dtypes
from ..concrete_notation.values import CastExpr, TypedLiteral, typed
from ..index_notation.nodes import Access, Apply, Expr, Literal, Reduce
from ..index_notation.operator_table import OPERATORS, Operator
from ..records import record
from ..storage import Storage
from ..trees import fold

_ROUNDINGS = 4
"""Units in the last place by which a kernel's value may differ from NumPy's: functions are off by up to two."""


@record
class Range:
    """Bounds of all values of an expression, none of which is NaN."""

    low: int | float  # the least number that a value may be
    high: int | float  # the greatest
    near: int | float  # the least absolute value

    @classmethod
    def between(cls, low: float, high: float) -> Range:
        """Return the range of all numbers from one to another."""
        return cls(low, high, 0 if low <= 0 <= high else min(abs(low), abs(high)))

    @classmethod
    def around(cls, parts: list[Range]) -> Range:
        """Return the smallest range that holds the values of several ranges."""
        return cls(min(r.low for r in parts), max(r.high for r in parts), min(r.near for r in parts))

    def ends(self, dtype: np.dtype[Any]) -> Iterator[tuple[Any, ...]]:
        """Yield the ends of the parts below, at and above zero, for values of a dtype.

        Floating point zeros have two signs.
        """
        # If zero is in the range, the parts beside it end at the smallest numbers of the dtype.
        least = self.near or (1 if dtype.kind in "biu" else float(np.finfo(dtype).smallest_subnormal))
        if self.low < 0:
            yield self.low, min(self.high, -least)
        if not self.near:
            yield (0.0, -0.0) if dtype.kind == "f" else (0,)
        if self.high > 0:
            yield max(self.low, least), self.high


def range_of(expr: Expr, operands: Mapping[str, Storage]) -> Range | None:
    """Return the range of an expression; None if it is not known, or if NaN may be among the values."""
    dtypes = {a.tensor: operands[a.tensor].type.dtype for a in expr.distinct_accesses}

    def range_and_dtype(node: Expr, below: list[tuple[Range | None, str]]) -> tuple[Range | None, str]:
        match node:
            case Access(tensor=tensor):
                return _held(operands[tensor]), dtypes[tensor]
            case TypedLiteral(value=value, dtype=dtype):
                return _of_number(value), dtype
            case CastExpr(dtype=dtype):  # the ends of a range are converted where they are computed with
                return below[0][0], dtype
            case Reduce(op=op):
                ((body, dtype),) = below
                return None if body is None else _reduced(op, body, np.dtype(dtype)), dtype
            case Apply(op=op):
                names = [name for _, name in below]
                dtype, ranges = loop_dtypes(op, tuple(names))[-1], [r for r, _ in below if r is not None]
                complete = len(ranges) == len(below)
                return _applied(OPERATORS[op], ranges, names, np.dtype(dtype)) if complete else None, dtype
        raise TypeError(f"no range of {node!r}")

    if isinstance(expr, Literal):
        return _of_number(expr.value)
    with np.errstate(all="ignore"):
        return fold(convert(expr, dtypes)[0], range_and_dtype)[0]


def _of_number(value: bool | int | float | complex) -> Range | None:
    return None if isinstance(value, complex) or value != value else Range.between(value, value)


def _held(storage: Storage) -> Range | None:
    """Return the range of the values that a tensor holds, padding included; None if it is not known."""
    vals, fill = storage.values_read(), storage.type.fill
    if vals.dtype.kind not in "biuf" or not storage.format.is_unique:  # duplicates are summed
        return None
    values = [] if storage.format.is_dense else [vals.dtype.type(fill)]
    if vals.size:
        values += [vals.min(), vals.max()]
    if not values:
        return Range(1, 1, 1)  # there are no values: every range holds them
    low, high = min(values).item(), max(values).item()
    if any(v != v for v in values):
        return None
    if not low < 0 < high or not all(values) or not vals.all():
        return Range.between(low, high)
    # Values of both signs and none of them zero: the range is two intervals, whose inner ends are looked for.
    above = vals.min(where=vals > 0, initial=vals.max()).item()
    below = vals.max(where=vals < 0, initial=vals.min()).item()
    return Range(low, high, min(abs(x) for x in (above, below, low, high, fill or low)))


def _reduced(op: str, body: Range, dtype: np.dtype[Any]) -> Range | None:
    if op in ("minimum", "maximum"):
        return body
    if op == "add" and dtype.kind == "f" and body.low >= 0:  # an empty sum is zero
        return Range.between(0, math.inf)
    return None


def _applied(row: Operator, ranges: list[Range], wanted: list[str], dtype: np.dtype[Any]) -> Range | None:
    """Return the range of an operator's results; None if it is not known."""
    if not row.monotone or dtype.kind not in "biuf" or any(np.dtype(w).kind == "c" for w in wanted):
        return None
    integral = dtype.kind in "iu"
    if integral and row.c not in _EXACT_OF_INTEGERS:
        return None
    # An operator is monotone on each side of zero: its extremes are at the corners of the boxes of such sides.
    parts = []
    for sides in itertools.product(*(_typed_ends(r, w) for r, w in zip(ranges, wanted, strict=True))):
        corners = [_corner(row, corner, dtype) for corner in itertools.product(*sides)]
        if any(c is None for c in corners):
            return None
        known = [c for c in corners if c is not None]
        parts.append(Range.between(min(low for low, _ in known), max(high for _, high in known)))
    if integral and any(
        not np.iinfo(dtype).min <= end <= np.iinfo(dtype).max for r in parts for end in (r.low, r.high)
    ):
        return None  # it wraps around
    return Range.around(parts)


def _typed_ends(found: Range, dtype: str) -> list[tuple[Any, ...]]:
    return [tuple(typed(end, dtype) for end in ends) for ends in found.ends(np.dtype(dtype))]


_EXACT_OF_INTEGERS = ("+", "-", "*", "call:minimum", "call:maximum", "call:fmin", "call:fmax")


def _corner(row: Operator, operands: tuple[Any, ...], dtype: np.dtype[Any]) -> tuple[Any, Any] | None:
    """Return the numbers between which a result is; None for NaN."""
    if dtype.kind in "iu":
        # Python's integers do not wrap around: the caller sees whether the result does.
        found = row.ufunc(*(np.asarray(x.item(), object) for x in operands))
        return found, found
    value = row.ufunc(*operands).item()
    if value != value:
        return None
    if row.monotone == "exact" or dtype.kind == "b":
        return value, value
    largest, least = float(np.finfo(dtype).max), float(np.finfo(dtype).tiny)
    if math.isinf(value):  # a kernel that rounds otherwise may have the largest number instead
        return (largest, value) if value > 0 else (value, -largest)
    # Differences may cancel, so that the error of a sum is one of its operands'.
    sizes = [abs(float(x)) for x in operands] if row.c in ("+", "-") else [abs(value)]
    error = _ROUNDINGS * float(np.finfo(dtype).eps) * max(sizes)
    if 0 < max(sizes) < least:
        error = least  # below the normal numbers the last place is no part of the value
    # No rounding changes the sign of other results than sums and differences.
    low, high = value - error, value + error
    if row.c not in ("+", "-"):
        low, high = (max(low, 0.0), high) if value >= 0 else (low, min(high, 0.0))
    return (low if low > -largest else -math.inf), (high if high < largest else math.inf)
