"""The canonical form of an aggregate (2020 paper, section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence

from ..remapping.inverse import interval_of, limits, sum_of
from ..remapping.nodes import Axis, Binary, Constant, Counter, IndexExpr
from .nodes import Aggregate, Query
from .statement import Map, Reference, Statement

__all__ = ["canonical"]

_ONE = Constant(1)


def canonical(query: Query, aggregate: Aggregate, shape: int | Sequence[int]) -> Statement:
    """One aggregate of a query as a computation on a tensor of a shape, or with some number of axes of any size.

    ``max`` and ``min`` are shifted, so that zero stands for no entry: by one less than the smallest coordinate there
    can be, or by one more than the largest, from which coordinates are then counted down.

    Examples
    --------
    >>> from weft.queries.parser import parse
    >>> q = parse("select [i] -> count(j) as nir, max(j) as last, id() as any", 2)
    >>> for a in q.aggregates:
    ...     print(canonical(q, a, (4, 6)))
    (∀i ∀j Q(i) += map(W(i,j), 1)) where (∀i ∀j W(i,j) |= map(B(i,j), 1))
    ∀i ∀j Q(i) max= map(B(i,j), j+1)
    ∀i ∀j Q(i) |= map(B(i,j), 1)
    """
    axes = tuple(range(shape if isinstance(shape, int) else len(shape)))
    source = Reference("B", tuple(map(Axis, axes)))
    target = Reference("Q", query.over)
    if aggregate.op == "id":
        return Statement(axes, target, "|", Map(source, _ONE))
    if aggregate.op == "count":
        coordinates = (*query.over, *aggregate.args)
        made = Statement(axes, Reference("W", coordinates), "|", Map(source, _ONE))
        # The temporary has axes of its own, one for each coordinate: where each is an axis of the tensor, that one.
        own = (
            coordinates if all(isinstance(c, Axis) for c in coordinates) else tuple(map(Axis, range(len(coordinates))))
        )
        loops = tuple(c.number for c in own if isinstance(c, Axis))
        result = Reference("Q", own[: len(query.over)])
        return Statement(loops, result, "+", Map(Reference("W", own), _ONE), made)
    (coordinate,) = aggregate.args
    if isinstance(coordinate, Counter):  # which counts from zero
        return Statement(axes, target, "max", Map(source, Binary("+", coordinate, _ONE)))
    low, high = _interval(coordinate, shape)
    value = sum_of("+", sum_of("-", coordinate, low), _ONE) if aggregate.op == "max" else sum_of("-", high, coordinate)
    return Statement(axes, target, "max", Map(source, value))


def _interval(coordinate: IndexExpr, shape: int | Sequence[int]) -> tuple[IndexExpr, IndexExpr]:
    """The half-open interval of a coordinate's values."""
    if isinstance(shape, int):
        return limits(coordinate)
    low, high = interval_of(coordinate, shape) or (0, 1)
    return Constant(low), Constant(high)
