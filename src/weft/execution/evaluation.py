"""Plans of expressions, and their evaluation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..config import config
from ..doors import Door
from ..errors import (
    CompilerError,
    DeviceError,
    NotationError,
    NotCompiledError,
    ResultTooLargeError,
    ScheduleError,
    ShapeError,
    WeftError,
)
from ..formats import Format, TensorType
from ..index_notation import sum_with_target, to_text
from ..index_notation.nodes import Access, Apply, Assignment
from ..index_notation.operator_table import OPERATORS
from ..index_notation.program import Numbers, Program, may_have_parts
from ..index_notation.standard_names import anonymous
from ..records import replace
from ..storage import Storage, tensor_type
from ..variant import Variant
from .absorbed import Absorbed, might_absorb
from .alternatives import (
    ALTERNATIVES,
    EQUAL_STRUCTURES,
    NO_DENSE_LEVELS,
    NO_DENSE_RESULT,
    ONE_DIAGONAL,
)
from .choice import Choice, Joins, numbers_of
from .conversion import Convert, ConvertResult, Copy, converted_type
from .device_assembly import variant_for
from .kernel import Kernel, with_fill
from .loops import asked
from .plan import Plan, sizes_of
from .plan_cache import kept, plans
from .plan_facts import InSteps, KernelPlan, PlanFacts, PlanRequest, ValuesOnly, WithFills
from .result_buffers import require_dense
from .steps import Compute, ComputePart, MapValues, Prune, Step
from .structure import sharing_line

if TYPE_CHECKING:
    from ..scheduling.user_schedule import LoopNest
    from . import data_annihilators, full_results, planning
else:
    data_annihilators, full_results = Door("weft.execution.data_annihilators"), Door("weft.execution.full_results")
    planning = Door("weft.execution.planning")

T = TypeVar("T")


@lru_cache(maxsize=4096)
def _read(assignment: Assignment) -> tuple[tuple[Access, ...], tuple[str, ...]]:
    """Return the distinct accesses to operands and the operands' names, in the order in which they first appear."""
    found = tuple(assignment.value.distinct_accesses)
    return found, tuple(dict.fromkeys(access.tensor for access in found))


def target_type(
    assignment: Assignment, types: Mapping[str, TensorType], format: Format | None, dtype: str | None
) -> TensorType:
    """Return the type of the result of an assignment, whose format and dtype are inferred where they are None."""
    return planning.target_type(assignment, types, format, dtype)


def dense_format(assignment: Assignment, types: Mapping[str, TensorType]) -> Format:
    """Return the dense format of the result of an assignment, whose axes are in the order in which loops write them."""
    found: Format = asked("dense_format", assignment, dict(types))
    return found


@kept
def plan_for(
    assignment: Assignment,
    operand_types: tuple[TensorType, ...],
    *,
    format: Format | None = None,
    dtype: str | None = None,
    user_schedule: Callable[[LoopNest], LoopNest] | None = None,
    prune: bool = False,
    variant: Variant | None = None,
) -> Plan:
    """Plan an assignment for operands of given types."""
    replan = partial(
        plan_for, assignment, operand_types, format=format, dtype=dtype, user_schedule=user_schedule, prune=prune
    )
    usual = Variant(options=config.code)
    if variant == usual:
        return replan()  # so that the usual plan is kept once
    variant = variant or usual
    value = assignment.value
    prune = prune or (isinstance(value, Apply) and OPERATORS[value.op].leaves_out)
    types = dict(zip(_read(assignment)[1], operand_types, strict=True))
    request = PlanRequest(assignment, operand_types, format, dtype, prune, variant)
    facts = _facts(request, user_schedule)
    assert facts.how is not None
    plan = _planned(facts.how, types, request, user_schedule, lambda other: replan(variant=other))
    return replace(plan, facts=replace(facts, how=plan.facts.how))


def _facts(request: PlanRequest, user_schedule: Callable[[LoopNest], LoopNest] | None) -> PlanFacts:
    """Return how an assignment is computed, from the index of plans or from the compiler."""
    try:
        facts: PlanFacts = asked("plan", request) if user_schedule is None else planning.plan(request, user_schedule)
    except ScheduleError as error:
        if request.variant.options.target == "c":
            raise
        raise DeviceError(f"{error}; or compute it on the CPU, with tensors of to_device('cpu')") from None
    return facts


_shared_facts = kept(_facts)


def _planned(
    how: KernelPlan | ValuesOnly | InSteps | WithFills,
    types: Mapping[str, TensorType],
    request: PlanRequest,
    user_schedule: Callable[[LoopNest], LoopNest] | None,
    replan: Callable[[Variant], Plan],
) -> Plan:
    """Return the plan by which an expression is computed in some way."""
    match how:
        case KernelPlan():
            return _by_kernel(how, Kernel(how.loops), types, how.target, replan)
        case ValuesOnly():
            return _over_values(how, types, request, replan)
        case InSteps():
            return _in_parts(how, types, request, replan)
        case WithFills():
            # Tensors with other fill values share a kernel, which reads the fill values.
            shared = _shared_facts(replace(request, types=tuple(how.types.values())), user_schedule).how
            if isinstance(shared, InSteps):
                return _in_parts(shared, types, request, replan)
            assert isinstance(shared, KernelPlan)
            kernel, target = Kernel(shared.loops, how.fills), with_fill(shared.target, how.fills)
            return _by_kernel(shared, kernel, types, target, replan)


def _by_kernel(
    how: KernelPlan,
    kernel: Kernel,
    types: Mapping[str, TensorType],
    target: TensorType,
    replan: Callable[[Variant], Plan],
) -> Plan:
    """Return the plan of one kernel, with conversions of operands before it and of its result after it."""
    steps, facts = list[Step](), kernel.facts
    place = {name: n for n, name in enumerate(types)}
    for c in facts.stored_again:
        makes = converted_type(types[c.tensor], c.format)
        steps.append(Convert((place[c.tensor],), makes, f"the loops read {c.tensor} in this format"))
        place[c.name] = len(types) + len(steps) - 1
    steps.append(Compute(tuple([place[name] for name in kernel.operands]), kernel.type, facts.text, kernel))
    if facts.converts_to is not None:
        reads = (len(types) + len(steps) - 1,)
        steps.append(ConvertResult(reads, target, f"the loops compute it in {kernel.type.format}"))
    # On a device, no other loops wait for sizes and threads of a CPU.
    possible = ALTERNATIVES if facts.variant.options.target == "c" else (EQUAL_STRUCTURES,)
    alternatives = tuple([a for a in possible if a.name in how.alternatives])
    return Plan(types, facts.target.tensor, tuple(steps), target, PlanFacts(how), replan, alternatives)


def _over_values(
    how: ValuesOnly, types: Mapping[str, TensorType], request: PlanRequest, replan: Callable[[Variant], Plan]
) -> Plan:
    """Return the plan that reads the stored values of some operands as vectors."""
    vector, names, variant = Format.dense(1), tuple(types), replace(request.variant, same_structure=False)
    vectors = tuple([tensor_type(t.dtype, vector) if name in how.stored else None for name, t in types.items()])
    flat = plan_for(
        how.values,
        tuple([v or t for v, t in zip(vectors, types.values(), strict=True)]),
        format=Format.dense(len(how.values.target.indices)),
        dtype=request.dtype,
        variant=variant,
    )
    lead, text = None, to_text(how.assignment)
    if how.lead is None:
        stored = " and of ".join([name for name in names if name in how.stored])
        reason = f"loops: over the stored values of {stored}, whatever their coordinates are"
    else:
        lead, reason = names.index(how.lead.tensor), sharing_line(how.assignment.target.tensor, how.lead.tensor)
    reads = (*range(len(names)),)
    steps: list[Step] = [MapValues(reads, how.target, reason, flat, vectors, lead, text, names)]
    if request.prune and how.lead is not None:
        # Where entries equal to the fill value are left out, a result that has some is copied without them.
        assignment = Assignment(Access("C", how.lead.indices), Access("A", how.lead.indices))
        copy = plan_for(assignment, (how.target,), format=how.target.format, prune=True, variant=variant)
        if copy.prunes:
            reason = "values may equal the fill value"
            steps.append(Prune((len(names),), how.target, reason, partial(_without_fill, copy)))
    return Plan(types, how.assignment.target.tensor, tuple(steps), how.target, PlanFacts(how), replan)


def _without_fill(copy: Plan, storage: Storage) -> Storage:
    """Return a tensor without entries equal to the fill value, by a plan that copies it if it has some."""
    fill, vals = storage.type.fill, storage.vals
    has_fill = (vals == fill).any() if fill == fill else (vals != vals).any()
    return copy.run((storage,)) if has_fill else storage


def _in_parts(
    how: InSteps, types: Mapping[str, TensorType], request: PlanRequest, replan: Callable[[Variant], Plan]
) -> Plan:
    """Return the plan that computes parts of an expression first, each of which may read those before it."""
    known, steps, names = dict(types), list[Step](), [*types]
    program = how.program
    for part, reason in zip(program.statements, (*program.reasons, "the result"), strict=True):
        read = _read(part)[1]
        planner = partial(_plan_of_part, how, request, part)
        part_types = tuple([known[name] for name in read])
        makes = planner(anonymous(part), part_types).target
        reads = tuple([names.index(name) for name in read])
        steps.append(ComputePart(reads, makes, reason, part, part_types, planner))
        known[part.target.tensor] = makes
        names.append(part.target.tensor)
    possible = (*([ONE_DIAGONAL] if how.diagonals else []), NO_DENSE_LEVELS, NO_DENSE_RESULT)
    alternatives = tuple([a for a in possible if not getattr(request.variant, *a.change)])
    check = partial(sizes_of, program.whole, tuple(types))  # of shapes that fit together
    return Plan(types, program.last.target.tensor, tuple(steps), makes, PlanFacts(how), replan, alternatives, check)


def _plan_of_part(
    how: InSteps, request: PlanRequest, statement: Assignment, part: Assignment, types: tuple[TensorType, ...]
) -> Plan:
    """Return the plan of a statement, perhaps under other names, for operands and earlier parts of these types."""
    variant = request.variant
    if statement is how.program.last:
        return plan_for(part, types, format=how.format, dtype=request.dtype, prune=request.prune, variant=variant)
    if not variant.converts_operands:  # on a device, which makes no structures
        return plan_for(part, types, variant=variant)
    by_name = dict(zip(_read(part)[1], types, strict=True))
    if statement.target.tensor in how.program.arrays and not (variant.no_dense_levels or variant.no_dense_result):
        format = Format.dense(len(part.target.indices))
    else:
        format = asked("part_format", part, by_name, variant.no_dense_levels)
    return plan_for(part, types, format=format, variant=variant)


@kept
def _joins(
    assignment: Assignment,
    types: tuple[TensorType, ...],
    numbers: tuple[Numbers, ...],
    format: Format | None,
    dtype: str | None,
) -> Joins:
    """Return the axes whose numbers of entries decide about intermediate results, for operands of some numbers."""
    request = PlanRequest(assignment, types, format, dtype, False, Variant(options=config.code))
    facts = asked("plan_in_parts", request, dict(zip(_read(assignment)[1], numbers, strict=True)))
    return () if facts is None else facts.how.program.joins


def numbers_for(
    assignment: Assignment, storages: Sequence[Storage], format: Format | None = None, dtype: str | None = None
) -> tuple[tuple[Numbers, ...], Joins]:
    """Return the numbers that choose a program for some operands, and the axes that it joins."""
    numbers, types = numbers_of(storages), tuple([s.type for s in storages])
    if not may_have_parts(assignment):
        return numbers, ()
    joins = _joins(assignment, types, numbers, format, dtype)
    return numbers_of(storages, joins), joins


@kept
def _in_chosen_parts(
    assignment: Assignment,
    operand_types: tuple[TensorType, ...],
    numbers: tuple[Numbers, ...] | Program,
    *,
    format: Format | None,
    dtype: str | None,
    variant: Variant | None = None,
) -> Plan | None:
    """Return the plan in parts that some numbers or a program ask for; None if one kernel is to compute all."""
    value, names = assignment.value, _read(assignment)[1]
    prune = isinstance(value, Apply) and OPERATORS[value.op].leaves_out
    variant = variant or Variant(options=config.code)
    request = PlanRequest(assignment, operand_types, format, dtype, prune, variant)
    facts: PlanFacts | None
    if isinstance(numbers, Program):
        facts = asked("plan_program", request, numbers)
    else:
        facts = asked("plan_in_parts", request, dict(zip(names, numbers, strict=True)))
    if facts is None:
        return None
    assert isinstance(facts.how, InSteps)

    again = partial(_in_parts_for, assignment, operand_types, numbers, format, dtype)
    plan = _in_parts(facts.how, dict(zip(names, operand_types, strict=True)), request, again)
    return replace(plan, facts=facts)


def _in_parts_for(
    assignment: Assignment,
    types: tuple[TensorType, ...],
    numbers: tuple[Numbers, ...] | Program,
    format: Format | None,
    dtype: str | None,
    variant: Variant,
) -> Plan:
    """Return the plan for another variant, in parts or in one kernel."""
    plan = _in_chosen_parts(assignment, types, numbers, format=format, dtype=dtype, variant=variant)
    return plan or plan_for(assignment, types, format=format, dtype=dtype, variant=variant)


def plan_for_operands(
    assignment: Assignment,
    storages: Sequence[Storage],
    *,
    format: Format | None = None,
    dtype: str | None = None,
    order: Program | bool = True,
    variant: Variant | None = None,
) -> Plan:
    """Plan an assignment for some operands: by a program, in parts if their numbers make these cheaper, or whole."""
    types = tuple([s.type for s in storages])
    if variant is None and (copy := _copy(assignment, types, format, dtype)) is not None:
        return copy
    numbers: tuple[Numbers, ...] | Program | None = None
    if isinstance(order, Program):
        numbers = order
    elif _is_chosen(assignment, dtype, order, variant):
        numbers, _ = numbers_for(assignment, storages, format, dtype)
    if numbers is not None:
        plan = _in_chosen_parts(assignment, types, numbers, format=format, dtype=dtype, variant=variant)
        if plan is not None:
            return plan
    return plan_for(assignment, types, format=format, dtype=dtype, variant=variant)


@kept
def _copy(
    assignment: Assignment, types: tuple[TensorType, ...], format: Format | None, dtype: str | None
) -> Plan | None:
    """Return the plan of an assignment that copies an operand into another format: a conversion; None for others."""
    value, indices = assignment.value, assignment.target.indices
    if not isinstance(value, Access) or assignment.op is not None or format is None:
        return None
    if len({*indices}) < len(indices) or sorted(indices) != sorted(value.indices):
        return None
    (source,) = types
    if format.order != len(indices) or dtype not in (None, source.dtype):
        return None
    axes = tuple([value.indices.index(v) for v in indices])
    # Values are computed where all arrays are like those of the operand: as a vector, or in tiles of an array.
    if (source.format == format and value.indices == indices) or (source.format.is_dense and format.is_dense):
        return None
    target = converted_type(source, format)
    step = Copy((0,), target, f"a conversion copies {value.tensor}", axes)

    def replan(variant: Variant) -> Plan:
        return plan_for(assignment, types, format=format, variant=variant)

    return Plan({value.tensor: source}, assignment.target.tensor, (step,), target, PlanFacts(None), replan)


def _is_chosen(assignment: Assignment, dtype: str | None, order: Program | bool, variant: Variant | None) -> bool:
    """Return whether numbers of the operands choose a program. Prices are those of the CPU."""
    return order is True and dtype is None and variant is None and may_have_parts(assignment)


def chosen_program(assignment: Assignment, types: tuple[TensorType, ...], numbers: tuple[Numbers, ...]) -> Program:
    """Return the program by which an assignment is computed for operands of some types and numbers."""
    if may_have_parts(assignment):
        request = PlanRequest(assignment, types, None, None, False, Variant(options=config.code))
        facts = asked("plan_in_parts", request, dict(zip(_read(assignment)[1], numbers, strict=True)))
        if facts is not None:
            return facts.how.program  # type: ignore[no-any-return]
    return Program((assignment,), assignment, ())


def _look_for_plan(key: tuple[Any, ...], storages: Sequence[Storage]) -> Plan | None:
    """Return the plan of an assignment for some operands; None if none is kept."""
    plan = plans.find(key)
    return plan.find(storages) if plan.__class__ is Choice else plan  # type: ignore[no-any-return]


def _keep_plan(
    key: tuple[Any, ...], plan: Plan, storages: Sequence[Storage], chosen_for: Assignment | None, **how: Any
) -> None:
    """Keep a plan; if numbers of the operands chose it for an assignment, for operands of about these."""
    if chosen_for is None:
        plans.keep(key, plan)
    else:
        plans.get(key, Choice).keep(storages, plan, numbers_for(chosen_for, storages, **how)[1])


def evaluate(
    assignment: Assignment,
    operands: Mapping[str, Storage],
    *,
    format: Format | None = None,
    dtype: str | None = None,
    order: Program | bool = True,
    spelling: full_results.Spelling = "notation",
) -> Storage:
    """Compute an assignment: by a program if ``order`` is one, in parts where that is cheaper if it is true."""
    # What depends on no value and no size is decided by the types alone: such a call finds its plan at once.
    key: tuple[Any, ...] | None = None
    if assignment.op is None:
        try:
            storages = tuple([operands[n] for n in _read(assignment)[1]])
        except KeyError:
            storages = ()  # an error, which is raised below
        variant = variant_for(storages)
        key = ("evaluate", assignment, format, dtype, order, variant, *[s.type.number for s in storages])
        plan = _look_for_plan(key, storages)
        if plan is not None:
            try:
                return plan.run(storages)
            except WeftError:
                pass  # it is raised below, with the names of the user
    out = None
    if assignment.op is not None:
        assignment, out = accumulation(assignment, operands, format, dtype)
        format = format if out is None else out.format
    require_operands(assignment, operands)
    storages = tuple(operands[n] for n in _read(assignment)[1])
    absorbed, variant = looked_up(assignment, operands, dtype, infers=format is None), variant_for(storages)

    def run(named: Assignment) -> Storage:
        plan = plan_for_operands(named, storages, format=format, dtype=dtype, order=order, variant=variant)
        if key is not None and not absorbed.depends_on_values and not plan.facts.may_spread:
            chosen_for = named if _is_chosen(named, dtype, order, variant) else None
            _keep_plan(key, plan, storages, chosen_for, format=format, dtype=dtype)
        if plan.facts.may_spread and (format is None or not format.is_dense):
            full_results.announce(
                assignment, absorbed, operands, plan.target, spelling=spelling,
                visited=lambda: plan.kernel.loops.run.visited_axes,
            )  # fmt: skip
        if out is not None:
            return plan.run(storages, out)
        if order is True and plan.is_in_steps:
            with suppress(ResultTooLargeError):  # a part may be larger than expected
                return plan.run(storages)
            plan = plan_for(named, tuple(s.type for s in storages), format=format, dtype=dtype, variant=variant)
        return plan.run(storages)

    try:
        if isinstance(order, Program):  # which has names of its own
            return run(absorbed.assignment)
        return under_standard_names(absorbed.assignment, run)
    except ResultTooLargeError as error:
        raise _too_large(error, assignment, operands) from None


def _too_large(error: ResultTooLargeError, assignment: Assignment, operands: Mapping[str, Storage]) -> Exception:
    """Return the error on a result that memory does not hold, with what to do."""
    advice = "sum over its axes in the same expression, which then does not store it, or compute chunks with weft.dask"
    return ResultTooLargeError(f"{error}; {advice}; in {_described(assignment, operands)}")


@kept
def _expected(
    assignment: Assignment, types: tuple[TensorType, ...], format: Format | None = None
) -> tuple[TensorType, bool]:
    """Return the type of a result, and whether it may have elements that no operand stores."""
    by_name = dict(zip(_read(assignment)[1], types, strict=True))
    spreads = full_results.may_spread(assignment, tuple(by_name.items()))
    return target_type(assignment, by_name, format, None), spreads and not (format and format.is_dense)


def expected_type(assignment: Assignment, operands: Mapping[str, Storage]) -> TensorType:
    """Return the type of a result, which the present values of operands may decide."""
    absorbed = looked_up(assignment, operands).assignment
    return _expected(absorbed, tuple([operands[n].type for n in _read(assignment)[1]]))[0]


def expected(
    assignment: Assignment,
    operands: Mapping[str, Storage],
    are_known: bool,
    format: Format | None = None,
    spelling: full_results.Spelling = "notation",
) -> Storage | None:
    """Return what stands for a result before it is computed, with its type and shape; raise if it is too large.

    Operands may be such results themselves. Nothing is returned if their values decide the type.
    """
    if might_absorb(assignment) and not are_known:
        return None
    absorbed = looked_up(assignment, operands, infers=format is None)
    storages = tuple([operands[n] for n in _read(assignment)[1]])
    target, spreads = _expected(absorbed.assignment, tuple([s.type for s in storages]), format)
    sizes = sizes_of(assignment, operands, storages)
    shape = tuple([sizes[v] for v in assignment.target.indices])

    def visited() -> Collection[int]:
        return plan_for_operands(absorbed.assignment, storages).kernel.loops.run.visited_axes if are_known else ()

    if spreads:
        full_results.announce(assignment, absorbed, operands, target, spelling=spelling, warns=False, visited=visited)
    if target.format.is_dense:
        try:
            require_dense(target, shape)
        except ResultTooLargeError as error:
            raise _too_large(error, assignment, operands) from None
    # As many entries as it has elements, in no memory.
    return Storage(shape, target, (), np.broadcast_to(np.zeros((), target.dtype), min(prod(shape), 2**60)))


def under_standard_names(assignment: Assignment, run: Callable[[Assignment], T]) -> T:
    """Return ``run(assignment)`` with standard names, so that expressions that differ in names alone share a kernel.

    An error that names tensors is raised once more with the names of the user.
    """
    try:
        return run(anonymous(assignment))
    except ResultTooLargeError:
        raise
    except CompilerError as error:
        if not isinstance(error, NotCompiledError):  # a failed compiler would fail again
            raise
        return run(assignment)
    except WeftError:
        return run(assignment)


def accumulation(
    assignment: Assignment, operands: Mapping[str, Storage], format: Format | None, dtype: str | None
) -> tuple[Assignment, Storage | None]:
    """Return the assignment that computes ``y(i) += e``, and the array to a copy of which its loops add, if any.

    Loops add to a copy of ``y`` if it is an array that holds the sum. Otherwise the sum is computed as such.
    """
    total = sum_with_target(assignment)
    require_operands(total, operands)
    old = operands[assignment.target.tensor]
    types = tuple([(name, operands[name].type) for name in _read(total)[1]])
    return (assignment, old) if planning.adds_to_array(assignment, types, format, dtype) else (total, None)


def require_operands(assignment: Assignment, operands: Mapping[str, Storage]) -> None:
    """Raise if an operand is not given, or has another number of axes than the expression says."""
    read, names = _read(assignment)
    missing = [n for n in names if n not in operands]
    if missing:
        listed = " and ".join([", ".join(missing[:-1]), missing[-1]] if len(missing) > 1 else missing)
        raise NotationError(
            f"{to_text(assignment)} names {listed}, which {'are' if len(missing) > 1 else 'is'} not given; pass "
            f"operands by name: {', '.join(f'{name}=...' for name in missing)}"
        )
    for access in read:
        order = len(operands[access.tensor].shape)
        if order != len(access.indices):
            reason = f"{access.tensor} has {order} axes, not {len(access.indices)}"
            raise ShapeError(f"{reason}, in {_described(assignment, operands)}")


def looked_up(
    assignment: Assignment,
    operands: Mapping[str, Storage],
    dtype: str | None = None,
    *,
    usual: bool = False,
    infers: bool = True,
) -> Absorbed:
    """Replace operators by absorbing ones, as far as the present values of the operands allow.

    If the type of the result is inferred, values of a tensor beside another with the same axes do not change it.
    """
    if not might_absorb(assignment):
        return Absorbed(assignment)
    absorbed = data_annihilators.apply_data_annihilators(assignment, operands, evaluate, dtype, usual=usual)
    if not (infers and absorbed.holding):
        return absorbed
    types = {name: operands[name].type for name in _read(assignment)[1]}
    plain = data_annihilators.beside_arrays(assignment, absorbed, types, dtype)
    told = [] if plain is absorbed else [_expected(x.assignment, (*types.values(),))[0] for x in (plain, absorbed)]
    return plain if len({*told}) > 1 else absorbed


def _described(assignment: Assignment, operands: Mapping[str, Storage]) -> str:
    """Return the expression with the shapes and formats of its operands, for messages."""
    names = _read(assignment)[1]
    given = ", ".join(f"{name}: {operands[name].shape} {operands[name].format}" for name in names)
    return f"{to_text(assignment)}, with {given}"


def compile(
    assignment: Assignment,
    types: Mapping[str, TensorType],
    user_schedule: Callable[[LoopNest], LoopNest] | None = None,
    target: str = "c",
) -> Plan:
    """Compile an assignment for the given types of its tensors.

    An assignment with too many cases for one kernel is planned in steps. On a device, a result may share the structure
    of an operand, and is dense otherwise.
    """
    _, names = _read(assignment)
    unknown = [n for n in names if n not in types]
    if unknown:
        raise NotationError(f"{to_text(assignment)} names {unknown[0]}, whose format is not given")
    operands = {n: types[n] for n in names}
    # The caller asks for one kernel: what evaluate runs as two is refused, with the reason.
    planning.require_one_kernel(assignment, operands)
    asked_type = types.get(assignment.target.tensor)
    variant = Variant(options=config.code.of_target(target) if target != "c" else config.code)
    if not variant.converts_operands:
        format, asked = (None, None) if asked_type is None else (asked_type.format, asked_type.dtype)
        kinds = tuple(operands.values())
        return plan_for(assignment, kinds, format=format, dtype=asked, user_schedule=user_schedule, variant=variant)
    usual = planning.target_type(assignment, operands, None, None)
    target_type = asked_type or usual
    dtype = None if target_type.dtype == usual.dtype else target_type.dtype
    # A kernel with too many cases would take too long to compile.
    way = planning.kernel_or_program(assignment, operands, target_type, variant, user_schedule=user_schedule)
    request = PlanRequest(assignment, tuple(operands.values()), target_type.format, dtype, False, variant)

    def replan(other: Variant) -> Plan:
        return plan_for(assignment, request.types, format=target_type.format, dtype=dtype, variant=other)

    if isinstance(way, Program):
        return _in_parts(InSteps(way, target_type.format), operands, request, replan)
    return _by_kernel(KernelPlan(way, target_type), Kernel(way), operands, target_type, replan)
