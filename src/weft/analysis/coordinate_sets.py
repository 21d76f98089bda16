"""Coordinate sets: questions about the coordinates at which an expression has values, as folds of its region."""

from __future__ import annotations

from collections.abc import Mapping, Set
from math import prod

from ..concrete_notation.values import same_value
from ..formats import TensorType
from ..formats.format import level_variables
from ..formats.size_bound import SizeBound
from ..index_notation import free_variables
from ..index_notation.nodes import Access, Expr, Reduce
from ..index_notation.operator_table import OPERATORS
from ..index_notation.traversal import without_reductions
from .implicit_values import typed_implicit_value
from .iteration_algebra import Combination, Region, fold, region_of
from .iteration_graph import implied_by


def is_full(expr: Expr, v: str, types: Mapping[str, TensorType], within: Access | None = None) -> bool:
    """Return whether the loop over ``v`` visits every coordinate, whatever operands are implicit outside that loop."""
    answer = _fullness(expr, v, types, within)
    return answer is None or answer[0] is not False


def has_every_value(expr: Expr, types: Mapping[str, TensorType]) -> bool:
    """Return whether dense operands alone give an expression a value at every coordinate of all its variables."""
    answer = _fullness(expr, "", types)
    return answer is None or answer[1]


def _fullness(
    expr: Expr, v: str, types: Mapping[str, TensorType], within: Access | None = None
) -> tuple[bool | None, bool] | None:
    interval = None
    if within is not None:
        format = types[within.tensor].format
        path = level_variables(within, format)
        interval = implied_by(within, format, path.index(v)) if v in path else None

    # The answers are pairs: whether the coordinates over ``v`` are all there (None without ``v``), and whether there is
    # a value at every coordinate of all variables, from dense operands alone.
    def operand(access: Access | Reduce) -> tuple[bool | None, bool]:
        assert isinstance(access, Access)
        format = types[access.tensor].format
        levels = [k for k, u in enumerate(level_variables(access, format)) if u == v]
        if not levels:
            return None, format.is_dense
        same = interval is not None and all(implied_by(access, format, k) == interval for k in levels)
        return same or all(format.walked_levels[k].full for k in levels), format.is_dense

    return fold(region_of(without_reductions(expr), types), operand, _both_full, _either_full)


def _both_full(
    a: tuple[bool | None, bool], b: tuple[bool | None, bool], deciding: tuple[int, ...]
) -> tuple[bool | None, bool]:
    # An intersection is full only if all operands that depend on the variable are.
    known = [full for full, _ in (a, b) if full is not None]
    return all(known) if known else None, a[1] and b[1]


def _either_full(a: tuple[bool | None, bool], b: tuple[bool | None, bool]) -> tuple[bool | None, bool]:
    dense = a[1] or b[1]
    if a[0] is None and b[0] is None:
        return None, dense
    # A union is full if both operands are. The union is also full if one operand is full and has a value whatever
    # happens outside the loop.
    full_a, full_b = a[0] is not False, b[0] is not False
    return (full_a and full_b) or (full_a and a[1]) or (full_b and b[1]), dense


def is_driven(expr: Expr, drivers: Set[Expr], types: Mapping[str, TensorType]) -> bool:
    """Return whether an expression is implicit wherever some of its operands or reductions are."""

    def driven(part: Access | Reduce) -> bool:
        if part in drivers or isinstance(part, Access):
            return part in drivers
        # A sum of implicit values alone is one, unless it runs over coordinates of the drivers.
        over = {v for d in drivers for v in free_variables(d)}
        neutral = same_value(typed_implicit_value(part.body, types), OPERATORS[part.op].identity)
        return neutral and over.isdisjoint(part.vars) and is_driven(part.body, drivers, types)

    return bool(
        fold(
            region_of(expr, types),
            driven,
            lambda a, b, deciding: (a and b) or any((a, b)[k] for k in deciding),
            lambda a, b: a and b,
        )
    )


def visits(expr: Expr, entries: Mapping[str, int], types: Mapping[str, TensorType], extents: Mapping[str, int]) -> int:
    """Return an upper bound of the number of coordinate combinations that loops visit for an expression.

    Loops over a product visit the stored entries of one factor, at all coordinates of the variables that this factor
    does not have. Loops over a sum visit those of all terms.
    """

    def operand(part: Access | Reduce) -> tuple[int, Set[str]]:
        count = entries[part.tensor] if isinstance(part, Access) else visits(part.body, entries, types, extents)
        return count, {*free_variables(part)}

    def spread(a: tuple[int, Set[str]], b: tuple[int, Set[str]]) -> tuple[int, int, Set[str]]:
        over = a[1] | b[1]
        return a[0] * prod(extents[v] for v in over - a[1]), b[0] * prod(extents[v] for v in over - b[1]), over

    def meet(a: tuple[int, Set[str]], b: tuple[int, Set[str]], deciding: tuple[int, ...]) -> tuple[int, Set[str]]:
        *counts, over = spread(a, b)
        return min(counts[k] for k in deciding), over

    def join(a: tuple[int, Set[str]], b: tuple[int, Set[str]]) -> tuple[int, Set[str]]:
        first, second, over = spread(a, b)
        return first + second, over

    answer = fold(region_of(expr, types), operand, meet, join)
    return 0 if answer is None else answer[0]


def bound(
    expr: Expr, variables: frozenset[str], types: Mapping[str, TensorType], gathered: bool = False
) -> SizeBound | None:
    """Return a bound of the number of coordinates of an expression over some variables, by the sizes of levels.

    With a bound, memory of an appended result is allocated once; without one, the kernel counts. The bound is known if
    an operand has exactly those variables in its upper levels. A workspace (``gathered``) never gets more from an
    operand than that operand stores.
    """
    return _bound(region_of(expr, types), variables, types, gathered and isinstance(expr, Access | Reduce))


def _bound(
    region: Region, variables: frozenset[str], types: Mapping[str, TensorType], gathered: bool
) -> SizeBound | None:
    match region:
        case Access():
            return _level_size(region, variables, types, gathered)
        case Reduce(op=op, body=body):
            # If implicit entries change the reduction, every coordinate is computed.
            neutral = same_value(typed_implicit_value(body, types), OPERATORS[op].identity)
            return bound(body, variables, types, gathered and isinstance(body, Access)) if neutral else None
        case Combination(left=left, right=right, deciding=deciding):
            parts = (left, right)
            bounds = [_bound(part, variables, types, False) for part in parts]
            if not deciding:  # a union has at most the coordinates of both operands together
                return SizeBound("sum", parts=tuple([b for b in bounds if b is not None])) if all(bounds) else None
            # The coordinates of an intersection are among those of each deciding operand.
            if within := tuple([b for k in deciding if (b := bounds[k]) is not None]):
                return SizeBound("min", parts=within)
            over = [variables & _indices(part) for part in parts]
            if any(over[k] and k not in deciding for k in (0, 1)):
                return None  # the result has coordinates at which an operand has none
            return _outer([(part, own) for part, own in zip(parts, over, strict=True) if own], variables, types)
    return None


def _level_size(
    access: Access, variables: frozenset[str], types: Mapping[str, TensorType], gathered: bool
) -> SizeBound | None:
    # The sizes of a partial format do not say how many entries it has.
    format = types[access.tensor].format
    if not variables & {*access.indices} or format.is_partial:
        return None
    # The first level at which all variables are seen has at least as many coordinates as they have together.
    seen: set[str] = set()
    for k, v in enumerate(level_variables(access, format)):
        seen.add(v)
        if variables <= seen:
            return SizeBound("size", access.tensor, k) if gathered or seen == variables else None
    return None


def _outer(
    factors: list[tuple[Region, frozenset[str]]], variables: frozenset[str], types: Mapping[str, TensorType]
) -> SizeBound | None:
    """Return a bound of an outer product: the product of those of its factors, which share no variable."""
    bounds = [_bound(region, own, types, False) for region, own in factors]
    apart = sorted(v for _, own in factors for v in own) == sorted(variables)
    return SizeBound("prod", parts=tuple([b for b in bounds if b is not None])) if apart and all(bounds) else None


def _indices(region: Region) -> frozenset[str]:
    """Return the index variables of all accesses, bound ones included."""

    def indices(part: Access | Reduce) -> frozenset[str]:
        return frozenset([v for a in part.distinct_accesses for v in a.indices])

    return fold(region, indices, lambda a, b, _: a | b, lambda a, b: a | b) or frozenset()
