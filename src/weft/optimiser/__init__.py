"""The optimiser: from one assignment to a program of several, where that is expected to be cheaper.

A program (``index_notation/program.py``) is a list of assignments, each of which is planned as if the user had written
it. Passes without numbers bring an expression into one form; then one decision is left, which parts become tensors of
their own. The type of the result is decided before, by the expression alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.result_type import result_dtype, result_fill, result_format
from ..code_options import CodeOptions
from ..concrete_notation.values import same_value
from ..errors import WeftError
from ..formats import Format, TensorType
from ..index_notation import explicit_sums
from ..index_notation.nodes import Assignment
from ..index_notation.program import Numbers, Program
from ..index_notation.traversal import tensors
from ..records import replace
from .cuts import ONE_DIAGONAL, diagonals_first, narrow_sums_first
from .parts import CHOICES, OwnTensors
from .price import FULL
from .rules import COUNTED, ORDER, RULES, SPLIT, rewritten
from .rules import ordered as one_order

__all__ = ["TABLE", "one_order", "one_sum", "optimise"]

TABLE = (*RULES, COUNTED, SPLIT, *ORDER, ONE_DIAGONAL, *CHOICES)
"""All rules, in the order in which they run."""


def optimise(
    assignment: Assignment,
    types: Mapping[str, TensorType],
    numbers: Mapping[str, Numbers],
    options: CodeOptions,
    one_diagonal: bool = False,
) -> Program:
    """Return the program by which an assignment is computed: itself if nothing is expected to be cheaper.

    With ``one_diagonal``, operands that list their diagonals have no other than the main one.
    """
    explicit = explicit_sums(assignment)
    if one_diagonal and (first := diagonals_first(explicit, types, options)) is not None:
        return _after(first, types, numbers, options)
    if narrow_sums_first(explicit, types) is not None:
        return Program((assignment,), assignment, ())
    summed, rules = rewritten(explicit, types, options)
    normal = one_order(summed, types, options)
    parts = OwnTensors(normal, types, numbers, options)
    axes = normal.target.indices
    value = parts.in_terms_of_parts(normal.value, axes)
    while (apart := parts.with_terms_apart(value, axes)) != value:
        value = parts.in_terms_of_parts(apart, axes)
    last = replace(normal, value=parts.with_sums_first(value, axes))
    if not parts.statements or not _same_result(explicit, last, parts):
        return Program((assignment,), assignment, ())
    return Program(
        (*parts.statements, last), assignment, tuple(parts.reasons), frozenset(parts.arrays), tuple(parts.entries),
        (*rules, *parts.rules), _joins(parts, list(numbers)),
    )  # fmt: skip


def _after(
    first: Program, types: Mapping[str, TensorType], numbers: Mapping[str, Numbers], options: CodeOptions
) -> Program:
    """Return a program that goes on from the parts of another, which are vectors."""
    known, sizes, rows = dict(types), dict(numbers), list[int]()
    for part in first.parts:
        (matrix,) = tensors(part.value)
        rows.append(numbers[matrix].shape[0])
        known[part.target.tensor] = TensorType.of(types[matrix].dtype, Format.dense(1))
        sizes[part.target.tensor] = Numbers((rows[-1],), (rows[-1],))
    then = optimise(first.last, known, sizes, options)
    return Program(
        (*first.parts, *then.statements), first.whole, (*first.reasons, *then.reasons), first.arrays | then.arrays,
        (*map(float, rows), *then.entries), (*first.rules, *then.rules), then.joins,
    )  # fmt: skip


def _joins(parts: OwnTensors, operands: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the axes of operands along which intermediate results join sparse operands, by the operands' places.

    The number of pairs that meet there depends on the spread of the entries.
    """
    joins: dict[tuple[int, int], None] = {}
    for part in parts.statements:
        sparse = [a for a in part.value.distinct_accesses if not parts.types[a.tensor].format.is_dense]
        for access in sparse if len(sparse) > 1 else []:
            others = {v for other in sparse if other != access for v in other.indices}
            if access.tensor in operands and len(access.indices) > 1:
                place = operands.index(access.tensor)
                joins |= {(place, axis): None for axis, v in enumerate(access.indices) if v in others}
    return tuple(sorted(joins))


def one_sum(assignment: Assignment, types: Mapping[str, TensorType], options: CodeOptions) -> Assignment:
    """Return an assignment with explicit sums in which sums are not nested, as far as they may be one."""
    return rewritten(assignment, types, options)[0]


def _same_result(explicit: Assignment, last: Assignment, parts: OwnTensors) -> bool:
    """Return whether the last statement computes a result of the dtype, the fill value and the density of the whole."""
    types, axes = parts.types, frozenset(explicit.target.indices)
    try:
        if result_dtype(explicit.value, types) != result_dtype(last.value, types):
            return False
        whole_is_dense, is_dense = result_format(explicit, types).is_dense, result_format(last, types).is_dense
        if whole_is_dense and is_dense:
            return True
        is_full = is_dense and parts.estimates.density(explicit.value, axes) > FULL
        return (is_full or not is_dense) and same_value(_fill(explicit, types), _fill(last, types))
    except WeftError:
        return False


def _fill(assignment: Assignment, types: Mapping[str, TensorType]) -> object:
    """Return the fill value of a result: zero if stored values decide it, since an array then holds the result."""
    fill = result_fill(assignment.value, types)
    return 0 if fill is None else fill
