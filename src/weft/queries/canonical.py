"""The canonical form of an aggregate (2020 paper, section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence

from ..remapping.inverse import interval_of, limits, sum_of
from ..remapping.nodes import Axis, Binary, Constant, Counter, IndexExpr
from .nodes import Aggregate, Query
from .statement import Map, Reference, Statement

_ONE = Constant(1)


def canonical(query: Query, aggregate: Aggregate, shape: int | Sequence[int]) -> Statement:
    """Return the canonical form of one aggregate of a query: a computation on a tensor.

    The results of ``max`` and ``min`` are shifted, so that zero means that there is no entry. For ``max``, the smallest
    possible coordinate is shifted to 1. For ``min``, coordinates count down from one more than the largest possible.

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
        # First set a flag for each combination of coordinates, so that each counts once. Then add the flags.
        coordinates = (*query.over, *aggregate.args)
        flags = Statement(axes, Reference("W", coordinates), "|", Map(source, _ONE))
        # The temporary has an axis for each coordinate. If all coordinates are axes of the tensor, these are kept.
        plain = all(isinstance(c, Axis) for c in coordinates)
        axes_of_flags = coordinates if plain else tuple(map(Axis, range(len(coordinates))))
        loops = tuple(c.number for c in axes_of_flags if isinstance(c, Axis))
        result = Reference("Q", axes_of_flags[: len(query.over)])
        return Statement(loops, result, "+", Map(Reference("W", axes_of_flags), _ONE), flags)
    (coordinate,) = aggregate.args
    if isinstance(coordinate, Counter):  # the smallest one is 0
        return Statement(axes, target, "max", Map(source, Binary("+", coordinate, _ONE)))
    # ``min`` is a ``max``, too, since coordinates count down. Zero is then the identity of both.
    low, high = _interval(coordinate, shape)
    value = sum_of("+", sum_of("-", coordinate, low), _ONE) if aggregate.op == "max" else sum_of("-", high, coordinate)
    return Statement(axes, target, "max", Map(source, value))


def _interval(coordinate: IndexExpr, shape: int | Sequence[int]) -> tuple[IndexExpr, IndexExpr]:
    """Return the half-open interval of a coordinate's values, symbolic if only the number of axes is given."""
    if isinstance(shape, int):
        return limits(coordinate)
    low, high = interval_of(coordinate, shape) or (0, 1)
    return Constant(low), Constant(high)
