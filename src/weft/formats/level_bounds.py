"""Bounds of the coordinates that a remapping leaves to each level of a format, as IR.

Levels iterate physical coordinates. The remapping relates them to the logical coordinates of the tensor (2018,
section 3.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import FormatError, NotationError
from ..ir.builder import add, lit, maximum, minimum, mul, sub
from ..ir.nodes import Binary as IrBinary
from ..ir.nodes import Expr
from ..remapping import Remapping
from ..remapping.emit_ir import emit
from ..remapping.inverse import combination, invert, limits
from ..remapping.nodes import Axis, IndexExpr


def level_ranges(remapping: Remapping, dimensions: Sequence[Expr]) -> tuple[tuple[Expr, Expr], ...]:
    """Return the half-open interval of each level's coordinates; that of a counter is empty."""
    return tuple(_range(c, dimensions) for c in remapping.coordinates)


def _range(expr: IndexExpr, dimensions: Sequence[Expr]) -> tuple[Expr, Expr]:
    try:
        begin, end = limits(expr)
    except NotationError as error:
        raise FormatError(str(error)) from None
    return emit(begin, {}, dimensions), emit(end, {}, dimensions)


def computed(remapping: Remapping, level: int) -> IndexExpr | None:
    """Return the coordinate of a level, if it is an axis, in terms of ``Axis(k)`` for level ``k`` above; else None."""
    above = invert(remapping.coordinates[:level], remapping.order)
    wanted = remapping.coordinates[level]
    if isinstance(wanted, Axis):
        return above[wanted.number]
    return None


def is_bounded_by(value: IndexExpr, level: int) -> bool:
    """Return whether the coordinates of a level for which an axis lies inside the tensor form a known interval."""
    terms = combination(value)
    return terms is not None and abs(terms.get(Axis(level), 0)) == 1


def interval(remapping: Remapping, level: int, dimensions: Sequence[Expr], coords: Sequence[Expr]) -> tuple[Expr, Expr]:
    """Return the half-open interval of coordinates that a level can have below given ancestors.

    Every axis that follows from the coordinates of this level and its ancestors must lie inside the tensor.
    """
    coordinate = remapping.coordinates[level]
    lo, hi = _range(coordinate, dimensions)
    inverse = invert(remapping.coordinates[: level + 1], remapping.order)
    for axis, expr in enumerate(inverse):
        # The range of a level that stores an axis as it is keeps that axis inside the tensor already.
        if expr is None or coordinate == Axis(axis) or not is_bounded_by(expr, level):
            continue
        # The axis is ``rest`` plus or minus this level's coordinate: collect ``rest``.
        terms = combination(expr) or {}
        rest: Expr = lit(terms.get(None, 0))
        for term, factor in terms.items():
            if term is not None and term != Axis(level):
                value = coords[term.number] if isinstance(term, Axis) else emit(term, {}, dimensions)
                part = mul(lit(abs(factor)), value)
                rest = add(rest, part) if factor > 0 else sub(rest, part)
        size = dimensions[axis]
        if terms[Axis(level)] == 1:  # 0 <= c + rest < size
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
