"""Planning: how an expression is computed for operands of certain types.

These functions are the compiler's side of ``execution/plan.py`` and ``execution/loops.py``, which ask them for answers
that the index of plans does not have. The answers depend on the arguments alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from ..analysis.merge_lattice import MANY_CASES
from ..analysis.result_type import dense_format as dense_format
from ..analysis.result_type import part_format as part_format
from ..analysis.result_type import result_dtype, result_fill, result_format
from ..analysis.runtime_fills import with_runtime_conversion as with_runtime_conversion
from ..analysis.runtime_fills import with_runtime_fills
from ..analysis.structure_match import match_structure, over_values, totals_over_values
from ..analysis.terms import dtype_of
from ..compiler import UserSchedule, plan_loops, plan_on_structure
from ..concrete_notation.values import RuntimeValue, typed
from ..errors import DTypeError, FormatError, WeftError
from ..formats import Format, TensorType
from ..formats.format import dtypes_of, lists_diagonals
from ..index_notation import explicit_sums, expression_text, free_variables, to_text, use_computation_dtype
from ..index_notation.nodes import Assignment
from ..index_notation.program import Numbers, Program
from ..module import Module
from ..optimiser import one_sum, optimise
from ..optimiser.cuts import diagonals_first, in_larger_parts, in_pairs, narrow_sums_first
from ..storage import fill_of, tensor_type
from ..variant import Variant
from .alternatives import ALTERNATIVES, Choice
from .conversion_plan import conversion as conversion
from .conversion_request import DataFacts
from .facts import EntryRequest, LoopRequest, Source
from .full_results import may_spread, spreading
from .insertion_loops import entry_loops
from .loop_facts import loop_facts as loop_facts
from .loop_facts import module as module
from .loop_facts import optimized_queries as optimized_queries
from .loop_facts import row_facts as row_facts
from .loop_facts import run_facts as run_facts
from .loop_facts import varied as varied
from .loops import Loops
from .plan_facts import InSteps, KernelPlan, PlanFacts, PlanRequest, ValuesOnly, WithFills
from .result_ways import cheapest_loops
from .result_ways import ways as ways
from .ways import Way, listed

FAR_TOO_MANY = 4 * MANY_CASES
"""Largest number of cases for which no part that may hold more than is needed is made: memory costs more than time."""


def plan(request: PlanRequest, user_schedule: UserSchedule | None = None) -> PlanFacts:
    """Return how an assignment is computed."""
    assignment = request.assignment
    names = dict.fromkeys(a.tensor for a in assignment.value.distinct_accesses)
    types = dict(zip(names, request.types, strict=True))
    kinds = tuple(types.items())
    return PlanFacts(
        _way(request, types, user_schedule), bool(spreading(assignment, kinds)[0]), may_spread(assignment, kinds)
    )


def plan_in_parts(request: PlanRequest, numbers: Mapping[str, Numbers]) -> PlanFacts | None:
    """Return how an assignment is computed in parts for operands of some numbers; None if one statement is cheaper."""
    assignment, types = request.assignment, dict(zip(numbers, request.types, strict=True))
    try:
        program = optimise(assignment, types, numbers, request.variant.options, request.variant.one_diagonal)
    except WeftError:  # it is raised for the whole, in the user's words
        return None
    return plan_program(request, program) if program.parts else None


def plan_program(request: PlanRequest, program: Program) -> PlanFacts:
    """Return how the statements of a program are computed: the result has the format of the whole."""
    assignment = request.assignment
    names = dict.fromkeys(a.tensor for a in assignment.value.distinct_accesses)
    kinds = tuple(zip(names, request.types, strict=True))
    target = target_type(assignment, dict(kinds), request.format, request.dtype, request.variant.no_dense_result)
    how = InSteps(program, target.format, _may_be_diagonal(explicit_sums(assignment), dict(kinds), request.variant))
    if not may_spread(assignment, kinds):
        return PlanFacts(how)
    # A part may hold no more than its operands store, where the whole as one statement would have a value anywhere.
    known = dict(kinds)
    for part in program.parts:
        array = Format.dense(len(part.target.indices)) if part.target.tensor in program.arrays else None
        known[part.target.tensor] = target_type(part, known, array or part_format(part, known), None)
    read = tuple((a.tensor, known[a.tensor]) for a in program.last.value.distinct_accesses)
    last = tuple(dict(read).items())
    return PlanFacts(how, bool(spreading(program.last, last)[0]), may_spread(program.last, last))


def _way(
    request: PlanRequest, types: dict[str, TensorType], user_schedule: UserSchedule | None
) -> KernelPlan | ValuesOnly | InSteps | WithFills:
    assignment, dtype, variant = request.assignment, request.dtype, request.variant
    if dtype is not None:
        assignment = use_computation_dtype(assignment, tuple((name, type.dtype) for name, type in types.items()), dtype)
    explicit, format = explicit_sums(assignment), request.format
    target = target_type(explicit, types, format, dtype, variant.no_dense_result)
    if user_schedule is None and (shared := _sharing(explicit, types, request, target)) is not None:
        return shared
    known, fills = with_runtime_fills(explicit, types, dtype or result_dtype(explicit.value, types))
    if fills:
        return WithFills(known, fills)
    # A sum in a narrow dtype wraps around on its own before it is added to wider terms.
    if user_schedule is None and (first := narrow_sums_first(explicit, types)) is not None:
        return InSteps(first, request.format)
    if format is None and not variant.converts_operands and _is_dense_on_device(assignment, types):
        format = Format.dense(len(assignment.target.indices))
        target = target_type(assignment, types, format, dtype, variant.no_dense_result)
    diagonals = user_schedule is None and _may_be_diagonal(explicit, types, variant)
    first = diagonals_first(explicit, types, variant.options) if diagonals and variant.one_diagonal else None
    if first is not None:
        return InSteps(first, target.format)
    way = kernel_or_program(assignment, types, target, variant, request.prune, user_schedule)
    if isinstance(way, Program):
        return InSteps(way, target.format)
    # The inferred format may have dense levels that large dimensions do not allow.
    varies = (
        format is None and not variant.no_dense_result and target_type(assignment, types, None, dtype, True) != target
    )
    structure_operands = (
        _structure_operands(explicit, types, target) if variant.options.enabled("shared-structure") else ()
    )
    return _kernel_plan(way, types, target, varies, structure_operands, diagonals)


def _may_be_diagonal(assignment: Assignment, types: Mapping[str, TensorType], variant: Variant) -> bool:
    """Return whether a product is one with arrays if operands that list their diagonals have the main one alone."""
    listed = any(lists_diagonals(type.format) for type in types.values()) and variant.converts_operands
    return listed and diagonals_first(assignment, types, variant.options) is not None


def _is_dense_on_device(assignment: Assignment, types: Mapping[str, TensorType]) -> bool:
    """Return whether a result of a device, which makes no structures, is dense unless it shares one.

    A vector is, and what is computed beside a dense operand. Other results of sparse operands might be far too large.
    """
    return len(assignment.target.indices) < 2 or any(t.format.is_dense and t.format.order for t in types.values())


def kernel_or_program(
    assignment: Assignment,
    types: Mapping[str, TensorType],
    target: TensorType,
    variant: Variant,
    prune: bool = False,
    user_schedule: UserSchedule | None = None,
) -> Loops | Program:
    """Return the loops that compute an assignment, or a program where they would have too many cases.

    One kernel is tried first. Programs are for merges with too many cases, but not for the schedule of a user.
    """
    all_types = {assignment.target.tensor: target, **types}
    if user_schedule is not None:
        return Loops(
            None, Module(plan_loops(assignment, all_types, variant, skip_fill=prune, user_schedule=user_schedule))
        )
    facts = DataFacts.typical(target.format, variant.no_dense_levels)
    loops = cheapest_loops(Source(assignment, tuple(types.values()), prune, variant), target, facts)
    planned = Module(loops)
    explicit = explicit_sums(assignment)
    cut, most = in_pairs(explicit, types), MANY_CASES
    if cut is None:
        cut, most = in_larger_parts(explicit, types), FAR_TOO_MANY
    if cut is not None and not planned.is_within(most):
        return cut
    return Loops(LoopRequest(assignment, all_types, variant, prune, via=loops.via), planned)


def listed_ways(loops: Loops) -> str:
    """Return the ways to what loops compute as text."""
    request, planned = loops.request, loops.module.loops
    if not isinstance(request, LoopRequest | None) or planned.variant.conversion:
        return "this is a conversion: weft.explain(A.asformat, ..., ways=True) lists its ways"
    if planned.lead is not None:
        return listed([Way("share arrays", f"the result has the index arrays of {planned.lead.tensor}", 0.0)])
    names = dict.fromkeys(a.tensor for a in planned.assignment.value.distinct_accesses)
    types = tuple([planned.types[name] for name in names])
    source = Source(planned.assignment, types, planned.skip_fill, planned.variant)
    target = planned.types[planned.schedule.target.tensor]
    return listed(ways(source, target, DataFacts.typical(target.format, planned.variant.no_dense_levels)))


def _kernel_plan(
    loops: Loops,
    types: Mapping[str, TensorType],
    target: TensorType,
    varies: bool = False,
    structure_operands: tuple[int, ...] = (),
    diagonals: bool = False,
) -> KernelPlan:
    s, place = loops.module.schedule, {name: n for n, name in enumerate(types)}
    choice = Choice(loops.module.loops, tuple(types), varies, structure_operands, diagonals)
    names = tuple([a.name for a in ALTERNATIVES if choice.may_be(a)])
    scans = s.repeated_scans if "hash lookup" in names else ()
    rows = row_facts(loops.module.loops, tuple(types)) if "long rows" in names else None
    found = tuple([(place[a], place[b]) for a, b in scans])
    return KernelPlan(loops, target, names, varies, structure_operands, found, rows)


def _sharing(
    assignment: Assignment, types: Mapping[str, TensorType], request: PlanRequest, target: TensorType
) -> KernelPlan | ValuesOnly | None:
    """Return the way to a result that takes the values of operands alone, or shares index arrays; None for others."""
    variant, equal = request.variant, request.variant.same_structure
    if variant.options.enabled("stored-totals") and not equal:
        total = totals_over_values(one_sum(assignment, types, variant.options), types)
        if total is not None:
            values, stored = total
            return ValuesOnly(assignment, values, target, None, stored)
    # Entries equal to the fill value are left out of an array of their own, unless several operands are alike.
    if (request.prune and not equal) or not variant.options.enabled("shared-structure"):
        return None
    match = match_structure(assignment, types, target, equal)
    if match is None or (equal and not match.values_only):
        return None
    target = tensor_type(target.dtype, target.format, types[match.lead.tensor].index_dtypes, target.fill)
    if match.values_only:
        stored = frozenset(a.tensor for a in match.accesses)
        return ValuesOnly(assignment, over_values(assignment, match), target, match.lead, stored)
    all_types = {assignment.target.tensor: target, **types}
    shared = plan_on_structure(assignment, all_types, match.lead, variant)
    if shared is None:
        return None
    loops = Loops(LoopRequest(assignment, all_types, variant, lead=match.lead), Module(shared))
    return _kernel_plan(loops, types, target)


def _structure_operands(assignment: Assignment, types: Mapping[str, TensorType], target: TensorType) -> tuple[int, ...]:
    """Return the places of operands whose structure the result has if it is the same for all of them."""
    match = match_structure(assignment, types, target, equal=True)
    if match is None or not match.values_only or types[match.lead.tensor].index_dtypes != target.index_dtypes:
        return ()
    places = {name: n for n, name in enumerate(types)}
    return tuple(dict.fromkeys(places[a.tensor] for a in match.accesses))


def insertion(request: EntryRequest) -> Loops | str:
    """Return the loops of a conversion by insertion, or the reason for none."""
    loops = entry_loops(request)
    return loops if isinstance(loops, str) else Loops(request, Module(loops))


def target_type(
    assignment: Assignment,
    types: Mapping[str, TensorType],
    format: Format | None,
    dtype: str | None,
    no_dense_result: bool = False,
) -> TensorType:
    """Return the type of the result of an assignment, whose format and dtype are inferred where they are None.

    ``no_dense_result`` says that an axis of the result is too long for an array. The format may be for another number
    of axes, which raises ``FormatError``.
    """
    explicit = explicit_sums(assignment)
    inferred = result_dtype(explicit.value, types)  # first of all: it raises for dtypes that NumPy has no loop for
    if format is None:
        # += adds in place, which takes random access.
        in_place = assignment.op is not None
        format = dense_format(explicit, types) if in_place else result_format(explicit, types, no_dense_result)
    elif format.order != len(assignment.target.indices):
        raise FormatError(f"format {format} does not store the {len(assignment.target.indices)}-axis result of "
                          f"{to_text(assignment)}")  # fmt: skip
    # A fill value that depends on stored values is not known here: zero is used instead, as for what += leaves alone.
    fill = result_fill(explicit.value, types) if assignment.op is None else None
    if fill is None:
        fill = 0
    index = "int64" if any("int64" in t.index_dtypes for t in types.values()) else "int32"
    dtype = dtype or inferred
    fill = typed(fill, dtype) if isinstance(fill, RuntimeValue) else fill
    if not isinstance(fill, RuntimeValue):
        fill = fill_of(np.dtype(dtype), fill)
    return tensor_type(dtype, format, (index,) * len(format.roles), fill)


@lru_cache(maxsize=1024)
def adds_to_array(
    assignment: Assignment, kinds: tuple[tuple[str, TensorType], ...], format: Format | None, dtype: str | None
) -> bool:
    """Return whether the target is an array of the type of the sum, and what is added has its axes and its dtype."""
    types, target, value = dict(kinds), assignment.target, explicit_sums(assignment).value
    result_type = types[target.tensor]
    if (
        not result_type.format.is_dense
        or format not in (None, result_type.format)
        or dtype not in (None, result_type.dtype)
    ):
        return False
    return {*target.indices} <= {*free_variables(value)} and result_dtype(value, types) == result_type.dtype


def require_one_kernel(assignment: Assignment, types: Mapping[str, TensorType]) -> None:
    """Raise ``DTypeError`` if a sum wraps around in a narrow dtype of its own: what is run as two kernels."""
    if (first := narrow_sums_first(explicit_sums(assignment), types)) is None:
        return
    part = first.parts[0].value
    dtypes = dtypes_of(types)
    raise DTypeError(
        f"{expression_text(part)} is summed as {dtype_of(part, dtypes)} and added as another dtype in "
        f"{to_text(assignment)}: that is two kernels, which evaluate() runs; or compile for one dtype"
    )
