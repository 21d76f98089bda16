"""Iteration algebra: the coordinates of an expression, as intersections and unions of those of its operands.

An operator that an implicit operand annihilates is an intersection, any other a union (2017 paper, section 5). Every
question about the coordinates of an expression is then a fold: an answer for each operand, and a rule for either kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from ..concrete_notation.values import UNKNOWN
from ..formats import TensorType
from ..index_notation.nodes import Access, Apply, Expr, Reduce
from ..records import record
from .implicit_values import asked_of, deciding, typed_implicit_value

_Answer = TypeVar("_Answer")

# The coordinates of an operand, of a reduction or of a combination; None for constants, which have no coordinates.
Region: TypeAlias = "Access | Reduce | Combination | None"


@record
class Combination:
    """An intersection or a union of the coordinates of two operands."""

    left: Region
    right: Region
    deciding: tuple[int, ...]  # the operands without which there is no value: 0, 1, both, or none in a union


def iteration_algebra(expr: Expr, implicit: Callable[[Expr], Any]) -> Region:
    """Return the coordinates of an expression, where ``implicit`` returns the implicit value of a part."""
    match expr:
        case Access(indices=()) if implicit(expr) is not UNKNOWN:  # a number that is known
            return None
        case Access() | Reduce():
            return expr
        case Apply(args=(left, right)):
            a, b = iteration_algebra(left, implicit), iteration_algebra(right, implicit)
            return None if a is None and b is None else Combination(a, b, deciding(expr, implicit))
    operand = asked_of(expr) or next(iter(expr.children), None)
    return None if operand is None else iteration_algebra(operand, implicit)


def region_of(expr: Expr, types: Mapping[str, TensorType]) -> Region:
    """Return the coordinates of an expression, from the fill values of its operands."""
    return _region_of(expr, tuple([(a.tensor, types[a.tensor].without_structure) for a in expr.distinct_accesses]))


@lru_cache(maxsize=4096)
def _region_of(expr: Expr, kinds: tuple[tuple[str, TensorType], ...]) -> Region:
    types = dict(kinds)
    return iteration_algebra(expr, lambda part: typed_implicit_value(part, types))


def fold(
    region: Region,
    operand: Callable[[Access | Reduce], _Answer | None],
    meet: Callable[[_Answer, _Answer, tuple[int, ...]], _Answer],
    join: Callable[[_Answer, _Answer], _Answer],
) -> _Answer | None:
    """Return an answer for a region, where None leaves the other; ``meet`` gets which of its operands decide."""
    if not isinstance(region, Combination):
        return None if region is None else operand(region)
    a, b = fold(region.left, operand, meet, join), fold(region.right, operand, meet, join)
    if a is None or b is None:
        return b if a is None else a
    return meet(a, b, region.deciding) if region.deciding else join(a, b)
