"""What a remapping says about a format's levels, as IR: how many coordinates each has, and in which interval.

Levels iterate physical coordinates; the remapping relates them to the tensor's logical ones (2018, section 3.1).
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

__all__ = ["computed", "interval", "is_bounded_by", "level_ranges"]


def level_ranges(remapping: Remapping, dimensions: Sequence[Expr]) -> tuple[tuple[Expr, Expr], ...]:
    """The half-open interval of each level's coordinates, given the tensor's dimensions; empty where they count."""
    return tuple(_range(c, dimensions) for c in remapping.coordinates)


def _range(expr: IndexExpr, dimensions: Sequence[Expr]) -> tuple[Expr, Expr]:
    try:
        begin, end = limits(expr)
    except NotationError as error:
        raise FormatError(str(error)) from None
    return emit(begin, {}, dimensions), emit(end, {}, dimensions)


def computed(remapping: Remapping, level: int) -> IndexExpr | None:
    """The coordinate of a level from those of the levels above (``Axis(k)`` is level ``k``'s), where they decide it."""
    above = invert(remapping.coordinates[:level], remapping.order)
    wanted = remapping.coordinates[level]
    if isinstance(wanted, Axis):
        return above[wanted.number]
    return None


def is_bounded_by(value: IndexExpr, level: int) -> bool:
    """Tell whether an interval of a level's coordinates holds just those for which an axis lies inside the tensor.

    Parameters
    ----------
    value : IndexExpr
        The axis, from the coordinates of the levels up to this one; ``Axis(k)`` is level ``k``'s.
    level : int
        The level.
    """
    terms = combination(value)
    return terms is not None and abs(terms.get(Axis(level), 0)) == 1


def interval(remapping: Remapping, level: int, dimensions: Sequence[Expr], coords: Sequence[Expr]) -> tuple[Expr, Expr]:
    """The coordinates a level can have below ancestors with the coordinates ``coords``.

    Every axis that this level's coordinate decides, together with its ancestors', must lie inside the tensor.
    """
    own = remapping.coordinates[level]
    lo, hi = _range(own, dimensions)
    known = invert(remapping.coordinates[: level + 1], remapping.order)
    for axis, expr in enumerate(known):
        if expr is None or own == Axis(axis) or not is_bounded_by(expr, level):
            continue
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
