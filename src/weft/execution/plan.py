"""Plans: decisions that are made once for an expression and the types of its operands, and then run on any data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from ..config import config
from ..doors import Door
from ..errors import (
    CompilerError,
    NotationError,
    NotCompiledError,
    ResultTooLargeError,
    ShapeError,
    WeftError,
)
from ..formats import Format, TensorType
from ..index_notation import infer_extents, sum_with_target, to_text
from ..index_notation.nodes import Access, Apply, Assignment
from ..index_notation.operator_table import OPERATORS
from ..index_notation.standard_names import anonymous
from ..records import cached, record, replace
from ..runtime.beside import ready
from ..storage import Storage, tensor_type
from ..variant import Variant
from .absorbed import Absorbed, might_absorb
from .alternatives import (
    ALTERNATIVES,
    EQUAL_STRUCTURES,
    KERNEL_ALTERNATIVES,
    NO_DENSE_LEVELS,
    NO_DENSE_RESULT,
    PARALLEL_LOOPS,
    Alternative,
    KernelAlternative,
)
from .conversion import Convert, ConvertResult, converted_type
from .facts import Steps
from .kernel import Kernel, with_fill
from .loops import asked
from .plan_cache import kept, plans
from .plan_facts import InSteps, KernelPlan, PlanFacts, PlanRequest, ValuesOnly, WithFills
from .steps import Compute, ComputePart, MapValues, Prune, Step
from .structure import same_structure

if TYPE_CHECKING:
    from ..scheduling.user_schedule import LoopNest
    from . import data_annihilators, full_results, planning, summary
else:
    data_annihilators, full_results = Door("weft.execution.data_annihilators"), Door("weft.execution.full_results")
    planning, summary = Door("weft.execution.planning"), Door("weft.execution.summary")

T = TypeVar("T")
Run = Callable[..., Storage]


_STEPS_SHOWN = 6
"""Steps of a summary, beyond which those in the middle are counted instead."""


@record
class Plan:
    """Steps that compute an expression for operands of certain types, and alternatives that the operands may want."""

    inputs: Mapping[str, TensorType]  # the operands, in order
    steps: tuple[Step, ...]
    target: TensorType  # type of the result
    how: KernelPlan | ValuesOnly | InSteps  # what was decided
    replan: Callable[[Variant], Plan]  # returns the plan for another variant
    alternatives: tuple[Alternative, ...] = ()
    check: Callable[[Sequence[Storage]], object] | None = None  # raises for operands that do not suit each other
    spreads: bool = False  # whether the result has elements that no operand stores, by fill values
    may_spread: bool = False  # whether it may have them, also by a function of a sum

    @cached
    def types(self) -> tuple[TensorType, ...]:
        """Return the types of the operands."""
        return tuple(self.inputs.values())

    # -- running ------------------------------------------------------------------------------------------------
    @cached
    def run(self) -> Run:
        """Return the function that computes the result of operands, and perhaps adds it to a copy of an array."""
        # Small operands make the time of each question count, so that a plan asks none that it does not need.
        if self.check is not None:
            return self._checked
        if not self.alternatives:
            return self._usual
        return self._run_or_share if self.alternatives == (EQUAL_STRUCTURES,) else self._run_or_turn

    @cached
    def _usual(self) -> Run:
        """Return the function that takes the steps."""
        first = self.steps[0]
        if len(self.steps) > 1 or first.reads != (*range(len(self.inputs)),):
            return self._in_turn
        return first.kernel.run if type(first) is Compute else first.run

    def _checked(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        assert self.check is not None
        self.check(storages)
        return self._run_or_turn(storages, out)

    @cached
    def structure_operands(self) -> tuple[int, ...]:
        """Return the places of operands that may all share the result's sparsity structure."""
        return self.how.structure_operands if isinstance(self.how, KernelPlan) else ()

    @cached
    def scans(self) -> tuple[tuple[int, int], ...]:
        """Return the places of vectors that are iterated many times, each with that of the operand that causes it."""
        return self.how.scans if isinstance(self.how, KernelPlan) else ()

    def _run_or_share(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        """Run a plan whose only alternative is for operands of equal structures."""
        if same_structure([storages[n] for n in self.structure_operands]) and self._takes_now(EQUAL_STRUCTURES):
            return self.taking(EQUAL_STRUCTURES).run(storages, out)
        return self._usual(storages, out)

    def _run_or_turn(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        if (alternative := self.wanted(storages)) is not None and self._takes_now(alternative):
            return self.taking(alternative).run(storages, out)
        return self._usual(storages, out)

    def _in_turn(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        """Take the steps one after the other."""
        values: list[Any] = [*storages]
        for step, unread in self._order:
            result = step.run([values[n] for n in step.reads], out if step is self.steps[-1] else None)
            values.append(result)
            for n in unread:
                values[n] = None
        return result

    @cached
    def _order(self) -> tuple[tuple[Step, tuple[int, ...]], ...]:
        """Return the steps, each with what is dropped after it, since no later step reads it."""
        last_use = {n: step for step in self.steps for n in step.reads}
        return tuple([(step, tuple([n for n in {*step.reads} if last_use[n] is step])) for step in self.steps])

    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]:
        """Return the shape of the result for operands of these shapes."""
        if isinstance(self.how, InSteps):
            whole = self.how.steps.whole
            extents = _extents(whole, self.inputs, storages)
            return tuple([extents[v] for v in whole.target.indices])
        main, sources = self._main
        return (main if isinstance(main, MapValues) else main.kernel).shape([storages[n] for n in sources])

    @cached
    def _main(self) -> tuple[Compute | MapValues, tuple[int, ...]]:
        """Return the step that computes, and the operands that it takes, some of which are converted before."""
        count = len(self.inputs)
        (main,) = [step for step in self.steps if isinstance(step, (Compute, MapValues))]
        return main, tuple([n if n < count else self.steps[n - count].reads[0] for n in main.reads])

    # -- alternatives -------------------------------------------------------------------------------------------
    @cached
    def _others(self) -> dict[str, Plan]:
        return {}

    @cached
    def _ready(self) -> set[str]:
        """Return the names of the alternatives whose functions need not be waited for."""
        return set()

    def taking(self, alternative: Alternative) -> Plan:
        """Return the plan with the loops of an alternative."""
        if (plan := self._others.get(alternative.name)) is None:
            variant = replace(self.kernel.facts.variant, **alternative.change)
            plan = self._others[alternative.name] = self.replan(variant)
        return plan

    @cached
    def has_equal_parallel_loops(self) -> bool:
        """Return whether there are loops that threads can share and that sum each element in the same order."""
        other = self.taking(PARALLEL_LOOPS).kernel
        return self.kernel.loops.run.sums == other.loops.run.sums is not None and other.chunked

    def wanted(self, storages: Sequence[Storage]) -> Alternative | None:
        """Return the alternative that these operands want; None for the usual loops."""
        for alternative in self.alternatives:
            if alternative.wanted(self, storages):
                return alternative
        return None

    def _takes_now(self, alternative: Alternative) -> bool:
        """Return whether the loops of an alternative run now, rather than the usual ones until they are compiled."""
        if alternative.optimization is None or alternative.name in self._ready:
            return True
        others = self.taking(alternative).kernel.assembly.entry_points(2 if alternative is PARALLEL_LOOPS else 1)
        if ready(others, self.kernel.assembly.entry_points(1), wait=alternative.must_wait):
            self._ready.add(alternative.name)
            return True
        return False

    def chosen(self, storages: Sequence[Storage]) -> tuple[Plan, tuple[Alternative | KernelAlternative, ...]]:
        """Return the plan that runs for these operands, with the alternatives that lead to it or its kernel takes."""
        plan, alternatives = self, list[Alternative | KernelAlternative]()
        while (alternative := plan.wanted(storages)) is not None:
            alternatives.append(alternative)
            plan = plan.taking(alternative)
        return plan, (*alternatives, *plan.taken_by_kernel(storages))

    def taken_by_kernel(self, storages: Sequence[Storage]) -> tuple[KernelAlternative, ...]:
        """Return the alternatives that the kernel takes for these operands, if nothing else runs before it."""
        if not isinstance(self.how, KernelPlan):
            return ()
        operands = [storages[n] for n in self._main[1]]
        return tuple([a for a in KERNEL_ALTERNATIVES if a.wanted(self.kernel, operands)])

    # -- what it is made of -------------------------------------------------------------------------------------
    @property
    def is_in_steps(self) -> bool:
        """True if several kernels compute parts of the expression."""
        return isinstance(self.how, InSteps)

    @property
    def prunes(self) -> bool:
        """True if no stored entry of a result equals the fill value."""
        return self.steps[-1].prunes

    @property
    def phases(self) -> Any:
        """Object that assembles a result and computes it separately; None if operands or the result are converted."""
        first, *others = self.steps
        alone = first.reads == (*range(len(self.inputs)),) and all(isinstance(step, Prune) for step in others)
        return first.phases if alone else None

    @cached
    def kernel(self) -> Kernel:
        """Return the kernel that computes the result."""
        return [kernel for step in self.steps for kernel in step.kernels][-1]

    @cached
    def kernels(self) -> tuple[Kernel, ...]:
        """Return the kernels that the plan runs, each once, with the names of the first part that it computes."""
        return tuple(self._titled.values())

    @cached
    def _titled(self) -> Mapping[str, Kernel]:
        """Return each kernel by a title: the parts that it computes."""
        if not self.is_in_steps:
            return {"": self.kernel}
        parts: dict[Kernel, list[ComputePart]] = {}
        for step in self.steps:
            if isinstance(step, ComputePart):
                parts.setdefault(step.kernels[-1], []).append(step)
        shown = {}
        for first, *others in parts.values():
            more = ", ".join(part.assignment.target.tensor for part in others)
            shown[f"{to_text(first.assignment)}{more and f'; in the same way {more}'}"] = first.shown
        return shown

    @property
    def source(self) -> str:
        """C source of all kernels, each once."""
        return "\n".join(dict.fromkeys(kernel.source for kernel in self.kernels))

    @property
    def stages(self) -> dict[str, str]:
        """Texts of all stages of the compiler, by name; those of several kernels with their numbers."""
        if not self.is_in_steps:
            return {name: text for step in self.steps for name, text in step.stages.items()}
        titles = [f"kernel {n}: {title}" for n, title in enumerate(self._titled, 1)]
        return {"steps": "\n".join([*self._listed, *titles])} | self._numbered([k.stages for k in self.kernels])

    @property
    def passes(self) -> dict[str, str]:
        """The text of what each pass of the compiler returned, by name; those of several kernels with their numbers."""
        if not self.is_in_steps:
            return {name: text for step in self.steps for name, text in step.passes.items()}
        return self._numbered([k.passes for k in self.kernels])

    def _numbered(self, texts: Sequence[Mapping[str, str]]) -> dict[str, str]:
        return {f"{name}, kernel {n}": text for n, of in enumerate(texts, 1) for name, text in of.items()}

    @property
    def origins(self) -> tuple[str | None, ...]:
        """The origin of each kernel that runs, in words; None for one that is not compiled yet."""
        kernels = dict.fromkeys(kernel for step in self.steps for kernel in step.kernels)
        return tuple([origin for kernel in kernels for origin in kernel.origins])

    @property
    def _listed(self) -> list[str]:
        """The expressions that several kernels compute, after their number and the reason for them."""
        if not isinstance(self.how, InSteps):
            return []
        steps = self.how.steps
        return [f"{len(steps.all)} steps: {steps.reason}", *map(to_text, steps.all)]

    def summary(self, told: Collection[str] = ()) -> str:
        """Return a few lines for users; loops over the variables in ``told`` are left out."""
        listed, result = self._listed, self.how.result
        if len(listed) > _STEPS_SHOWN:
            listed[_STEPS_SHOWN // 2 : -1] = [f"... and {len(listed) - _STEPS_SHOWN // 2 - 1} more like these"]
        lines = [line for step in self.steps for line in step.summary(told).splitlines()]
        return "\n".join([summary.formats_line({result: self.target, **self.inputs}), *listed, *lines])


def _has_fill(storage: Storage) -> bool:
    """Return whether a stored value equals the fill value."""
    fill, vals = storage.type.fill, storage.vals
    return bool((vals == fill).any() if fill == fill else (vals != vals).any())


def _extents(assignment: Assignment, names: Iterable[str], storages: Sequence[Storage]) -> dict[str, int]:
    """Return the size of each variable; an error on shapes names the operands' formats, too."""
    operands = dict(zip(names, storages, strict=True))
    try:
        return infer_extents(assignment, {name: s.shape for name, s in operands.items()})
    except ShapeError as error:
        formats = ", ".join(f"{name}: {s.format}" for name, s in operands.items())
        raise ShapeError(f"{error}; {formats}") from None


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
    facts: PlanFacts = asked("plan", request) if user_schedule is None else planning.plan(request, user_schedule)
    plan = _planned(facts.how, types, request, user_schedule, lambda other: replan(variant=other))
    return replace(plan, spreads=facts.spreads, may_spread=facts.may_spread)


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
            shared = plan_for(
                request.assignment, tuple(how.types.values()), format=request.format, dtype=request.dtype,
                user_schedule=user_schedule, prune=request.prune, variant=request.variant,
            )  # fmt: skip
            if isinstance(shared.how, InSteps):
                return _in_parts(shared.how, types, request, replan)
            assert isinstance(shared.how, KernelPlan)
            kernel, target = Kernel(shared.kernel.loops, how.fills), with_fill(shared.target, how.fills)
            return _by_kernel(shared.how, kernel, types, target, replan)


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
    if facts.final_format is not None:
        reads = (len(types) + len(steps) - 1,)
        steps.append(ConvertResult(reads, target, f"the loops compute it in {kernel.type.format}"))
    alternatives = tuple([a for a in ALTERNATIVES if a.name in how.alternatives])
    return Plan(types, tuple(steps), target, how, replan, alternatives)


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
        dtype=how.target.dtype,
        variant=variant,
    )
    lead, text = None, to_text(how.assignment)
    if how.lead is None:
        stored = " and of ".join([name for name in names if name in how.stored])
        reason = f"loops: over the stored values of {stored}, whatever their coordinates are"
    else:
        lead, reason = names.index(how.lead.tensor), summary.sharing_line(how.result, how.lead.tensor)
    reads = (*range(len(names)),)
    steps: list[Step] = [MapValues(reads, how.target, reason, flat, vectors, lead, text, names)]
    if request.prune and how.lead is not None:
        # Where entries equal to the fill value are left out, a result that has some is copied without them.
        assignment = Assignment(Access("C", how.lead.indices), Access("A", how.lead.indices))
        copy = plan_for(assignment, (how.target,), format=how.target.format, prune=True, variant=variant)
        if copy.prunes:
            reason = "values may equal the fill value"
            steps.append(Prune((len(names),), how.target, reason, partial(_without_fill, copy)))
    return Plan(types, tuple(steps), how.target, how, replan)


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
    for part in how.steps.all:
        read = _read(part)[1]
        planner = partial(_plan_of_part, how, request, part is how.steps.last)
        part_types = tuple([known[name] for name in read])
        makes = planner(anonymous(part), part_types).target
        reads = tuple([names.index(name) for name in read])
        steps.append(ComputePart(reads, makes, how.steps.reason, part, part_types, planner))
        known[part.target.tensor] = makes
        names.append(part.target.tensor)
    alternatives = tuple([a for a in (NO_DENSE_LEVELS, NO_DENSE_RESULT) if not getattr(request.variant, *a.change)])
    check = partial(_extents, how.steps.whole, tuple(types))  # of shapes that fit together
    return Plan(types, tuple(steps), makes, how, replan, alternatives, check)


def _plan_of_part(
    how: InSteps, request: PlanRequest, is_last: bool, part: Assignment, types: tuple[TensorType, ...]
) -> Plan:
    """Return the plan of a part of an expression for operands and earlier parts of these types."""
    variant = request.variant
    if is_last:
        return plan_for(part, types, format=how.format, dtype=request.dtype, prune=request.prune, variant=variant)
    by_name = dict(zip(_read(part)[1], types, strict=True))
    return plan_for(
        part, types, format=planning.format_of_part(part, by_name, variant.no_dense_levels), variant=variant
    )


def evaluate(
    assignment: Assignment,
    operands: Mapping[str, Storage],
    *,
    format: Format | None = None,
    dtype: str | None = None,
) -> Storage:
    """Compute an assignment."""
    # What depends on no value and no size is decided by the types alone: such a call finds its plan at once.
    key = None
    if assignment.op is None:
        try:
            storages = tuple([operands[n] for n in _read(assignment)[1]])
        except KeyError:
            storages = ()  # an error, which is raised below
        key = ("evaluate", assignment, format, dtype, *[s.type.number for s in storages])
        plan = plans.find(key)
        if plan is not None:
            try:
                return plan.run(storages)  # type: ignore[no-any-return]
            except WeftError:
                pass  # it is raised below, with the names of the user
    out = None
    if assignment.op is not None:
        assignment, out = accumulation(assignment, operands, format, dtype)
        format = format if out is None else out.format
    require_operands(assignment, operands)
    storages = tuple(operands[n] for n in _read(assignment)[1])
    absorbed = looked_up(assignment, operands, dtype)

    def run(named: Assignment) -> Storage:
        plan = plan_for(named, tuple(s.type for s in storages), format=format, dtype=dtype)
        if key is not None and not absorbed.depends_on_values and not plan.may_spread:
            plans.keep(key, plan)
        if format is None or not format.is_dense:
            if absorbed.refused:
                absorbed.require_room(operands, plan.target)
            if plan.may_spread:
                full_results.announce(
                    assignment, absorbed, operands, plan.target, visited=lambda: plan.kernel.loops.run.visited_axes
                )
        return plan.run(storages) if out is None else plan.run(storages, out)

    try:
        return under_standard_names(absorbed.assignment, run)
    except ResultTooLargeError as error:
        raise ResultTooLargeError(f"{error}; in {_described(assignment, operands)}") from None


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
    assignment: Assignment, operands: Mapping[str, Storage], dtype: str | None = None, *, usual: bool = False
) -> Absorbed:
    """Replace operators by absorbing ones, as far as the present values of the operands allow."""
    if not might_absorb(assignment):
        return Absorbed(assignment)
    return data_annihilators.apply_data_annihilators(assignment, operands, evaluate, dtype, usual=usual)


def _described(assignment: Assignment, operands: Mapping[str, Storage]) -> str:
    """Return the expression with the shapes and formats of its operands, for messages."""
    names = _read(assignment)[1]
    given = ", ".join(f"{name}: {operands[name].shape} {operands[name].format}" for name in names)
    return f"{to_text(assignment)}, with {given}"


def compile(
    assignment: Assignment, types: Mapping[str, TensorType], user_schedule: Callable[[LoopNest], LoopNest] | None = None
) -> Plan:
    """Compile an assignment for the given types of its tensors.

    An assignment with too many cases for one kernel is planned in steps.
    """
    _, names = _read(assignment)
    unknown = [n for n in names if n not in types]
    if unknown:
        raise NotationError(f"{to_text(assignment)} names {unknown[0]}, whose format is not given")
    operands = {n: types[n] for n in names}
    # The caller asks for one kernel: what evaluate runs as two is refused, with the reason.
    planning.require_one_kernel(assignment, operands)
    target = types.get(assignment.target.tensor) or planning.target_type(assignment, operands, None, None)
    variant = Variant(options=config.code)
    # A kernel with too many cases would take too long to compile.
    way = planning.kernel_or_steps(assignment, operands, target, variant, user_schedule=user_schedule)
    request = PlanRequest(assignment, tuple(operands.values()), target.format, target.dtype, False, variant)

    def replan(other: Variant) -> Plan:
        return plan_for(assignment, request.types, format=target.format, dtype=target.dtype, variant=other)

    if isinstance(way, Steps):
        return _in_parts(InSteps(way, target.format), operands, request, replan)
    return _by_kernel(KernelPlan(way, target), Kernel(way), operands, target, replan)
