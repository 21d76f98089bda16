"""Structure matches: operands whose structure the result of an assignment has (2020 paper, section 6).

A result whose levels are those of an operand, and that has entries where this operand has them, takes over the
operand's index arrays. Only values are computed. Padding gets values, too, since nothing reads them.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from ..concrete_notation.values import UNKNOWN, same_value, typed
from ..formats import Format, TensorType
from ..formats.format import dtypes_of
from ..index_notation.nodes import Access, Assignment, Expr, Reduce
from ..index_notation.operator_table import OPERATORS
from ..index_notation.traversal import rewrite, rewrite_outermost
from ..records import record
from .coordinate_sets import is_driven
from .implicit_values import converted, typed_implicit_value
from .linearity import adds_in_place, is_linear
from .terms import dtype_of


@record
class StructureMatch:
    """Operands whose structure the result of an assignment has."""

    # The operands. If there are several, the result has their structure if all of them have the same.
    accesses: tuple[Access, ...]
    values_only: bool  # True if all other operands are numbers, so that no coordinate is needed

    @property
    def lead(self) -> Access:
        """The operand whose index arrays the result takes over."""
        return self.accesses[0]


def match_structure(
    assignment: Assignment, types: Mapping[str, TensorType], target: TensorType, equal: bool = False
) -> StructureMatch | None:
    """Return the operands whose structure the result has, or None; with ``equal``, several of one assumed structure."""
    indices, value = assignment.target.indices, assignment.value
    if assignment.op is not None or not indices or len(set(indices)) < len(indices):
        return None
    if target.format.is_dense or target.format.is_partial:
        return None
    operands = value.distinct_accesses
    alike = [a for a in operands if a.indices == indices and types[a.tensor].format == target.format]
    if not alike or typed_implicit_value(value, types) is UNKNOWN:
        return None
    leads = _alike(alike, types) if equal else _alone(alike, value, types)
    if not leads or not is_driven(value, frozenset(leads), types):
        return None
    others = [a for a in operands if a not in leads and a.indices]
    # An operand that stores only some of its coordinates would have to be searched at the others.
    if not all(types[a.tensor].format.is_dense for a in others):
        return None
    if not target.format.is_unique and not _keeps_duplicates(value, leads, types, target.dtype):
        return None
    return StructureMatch(leads, not others)


def over_values(assignment: Assignment, match: StructureMatch) -> Assignment:
    """Return an assignment whose operands of the result's structure, and the result, are vectors of stored values."""
    index = _new_index(assignment)
    return Assignment(Access(assignment.target.tensor, (index,)), _vectors(assignment.value, match.accesses, index))


def _new_index(assignment: Assignment) -> str:
    names = {assignment.target.tensor, *(a.tensor for a in assignment.value.distinct_accesses)}
    return next(v for v in itertools.chain("i", (f"i{n}" for n in itertools.count(1))) if v not in names)


def _vectors(expr: Expr, accesses: tuple[Access, ...], index: str) -> Expr:
    """Return an expression that reads some operands as vectors."""
    return rewrite(expr, lambda a: Access(a.tensor, (index,)) if isinstance(a, Access) and a in accesses else None)


def totals_over_values(
    assignment: Assignment, types: Mapping[str, TensorType]
) -> tuple[Assignment, frozenset[str]] | None:
    """Return an assignment that reduces vectors of stored values instead of whole tensors, and the names of these.

    The answer is None unless the result is a number, each operand but numbers is reduced over all of its axes, and
    elements that are not stored change nothing.
    """
    if assignment.op is not None or assignment.target.indices:
        return None
    index, leads, others = _new_index(assignment), set[Access](), list[Access]()

    def over(node: Expr) -> Expr | None:
        if not isinstance(node, Reduce):
            return None
        lead = _reduced_alone(node, types)
        if lead is None:
            others.extend(a for a in node.distinct_accesses if a.indices)
            return node
        leads.add(lead)
        return Reduce(node.op, (index,), _vectors(node.body, (lead,), index))

    value = rewrite_outermost(assignment.value, over)
    # What is left are numbers; no operand is a vector in one place and a tensor in another.
    if others or not leads:
        return None
    return Assignment(assignment.target, value), frozenset(a.tensor for a in leads)


def _reduced_alone(total: Reduce, types: Mapping[str, TensorType]) -> Access | None:
    """Return the only operand but numbers, if all of its axes are reduced and elements not stored change nothing."""
    for access in total.body.distinct_accesses:
        type = types[access.tensor]
        if set(access.indices) != set(total.vars) or not type.format.is_compact or type.format.is_dense:
            continue
        dtype = dtype_of(total.body, dtypes_of(types))
        start = OPERATORS[total.op].start(dtype)
        if start is None or not same_value(typed_implicit_value(total.body, types), typed(start, dtype)):
            continue
        target = TensorType(dtype, type.format, type.index_dtypes, start)
        match = match_structure(Assignment(Access("", access.indices), total.body), types, target)
        if match is not None and match.values_only:
            return match.lead
    return None


def deciding_format(assignment: Assignment, types: Mapping[str, TensorType]) -> Format | None:
    """Return the format of the only sparse operand, if it has the result's indices and decides its entries, or None."""
    operands = [a for a in assignment.value.distinct_accesses if a.indices and not types[a.tensor].format.is_dense]
    if len(operands) != 1 or operands[0].indices != assignment.target.indices:
        return None
    return types[operands[0].tensor].format if is_driven(assignment.value, frozenset(operands), types) else None


def _alone(accesses: list[Access], value: Expr, types: Mapping[str, TensorType]) -> tuple[Access, ...]:
    """Return the first operand that alone decides where the result has entries, if there is one."""
    return next(((a,) for a in accesses if is_driven(value, frozenset((a,)), types)), ())


def _alike(accesses: list[Access], types: Mapping[str, TensorType]) -> tuple[Access, ...]:
    """Return operands that may have one structure: several, with index arrays of the same dtypes."""
    index_dtypes = {types[a.tensor].index_dtypes for a in accesses}
    return tuple(accesses) if len(accesses) > 1 and len(index_dtypes) == 1 else ()


def _keeps_duplicates(value: Expr, leads: tuple[Access, ...], types: Mapping[str, TensorType], dtype: str) -> bool:
    """Return whether duplicates of an operand may become duplicates of the result, since their sum is the same."""
    if len(leads) > 1 or not is_linear(value, leads[0]):
        return False
    dtypes = dtypes_of(types)
    return adds_in_place(converted(value, dtypes, dtype), leads[0], types[leads[0].tensor].dtype)
