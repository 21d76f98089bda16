"""Iteration algebra: the coordinates of an expression, as intersections and unions of those of its operands.

An operator that an implicit operand annihilates is an intersection, any other a union (2017 paper, section 5). Every
question about the coordinates of an expression is then a fold: an answer for each operand, and a rule for either kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from ..concrete_notation.values import UNKNOWN, same_value
from ..formats import TensorType
from ..index_notation.nodes import Access, Apply, Expr, Reduce
from ..index_notation.operator_table import OPERATORS
from ..records import record
from .implicit_values import asked_of, deciding, typed_implicit_value

_Answer = TypeVar("_Answer")

# The coordinates of an operand, of a reduction or of a combination; None for constants, which have no coordinates.
Region: TypeAlias = "Access | Reduce | Combination | None"


@record
class Combination:
    """An intersection or a union of the coordinates of two operands."""

    left: Any
    right: Any
    deciding: tuple[int, ...]  # the operands without which there is no value: 0, 1, both, or none in a union


def iteration_algebra(expr: Expr, implicit: Callable[[Expr], Any]) -> Region:
    """Return the coordinates of an expression, where ``implicit`` returns the implicit value of a part."""
    match expr:
        case Access(indices=()) if implicit(expr) is not UNKNOWN:  # a number that is known
            return None
        case Access() | Reduce():
            return expr
        case Apply(args=(_, _, *_)):
            region: Region = combined(expr, [iteration_algebra(arg, implicit) for arg in expr.args], implicit)
            return region
    operand = asked_of(expr) or next(iter(expr.children), None)
    return None if operand is None else iteration_algebra(operand, implicit)


def combined(expr: Apply, parts: Sequence[Any], implicit: Callable[[Expr], Any]) -> Any:
    """Return how an operator of several operands combines what they have; operands that have nothing are None."""
    if len(parts) == 1 or not any(part is not None for part in parts):
        return parts[0]
    if len(parts) == 2:
        return Combination(parts[0], parts[1], deciding(expr, implicit))
    values = [implicit(arg) for arg in expr.args]
    chosen, same = OPERATORS[expr.op].chosen(values[0]), same_value(values[1], values[2])
    if chosen is None:
        sides = _union(parts[1], parts[2])
        return Combination(sides, parts[0], (0,)) if same and sides is not None else _union(parts[0], sides)
    # What an implicit condition does not choose matters at the condition's entries alone. If implicit operands are the
    # same, so are results where neither has an entry, whatever the condition is there.
    condition, inside, outside = parts[0], parts[3 - chosen], parts[chosen]
    if condition is None:
        return inside if outside is None else outside
    if not same or (inside is None and outside is None):
        return _union(Combination(condition, inside, (0,)), outside)
    within = None if inside is None else Combination(condition, inside, (0, 1))
    return _union(within, None if outside is None else Combination(condition, outside, (1,)))


def _union(left: Any, right: Any) -> Any:
    return left if right is None else right if left is None else Combination(left, right, ())


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
