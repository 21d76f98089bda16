"""Plans: decisions that are made once for an expression and the types of its operands, and then run on any data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
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
from ..records import cached, replace
from ..runtime import memory
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
from .conversion import convert, convert_result
from .facts import Steps
from .kernel import Kernel, with_fill
from .loops import asked
from .plan_cache import kept, plans
from .plan_facts import InSteps, KernelPlan, PlanFacts, PlanRequest, ValuesOnly, WithFills
from .same_structure import same_structure
from .structure import Structure, check_writable, require_structure

if TYPE_CHECKING:
    from ..scheduling.user_schedule import LoopNest
    from . import data_annihilators, full_results, planning, summary
else:
    data_annihilators, full_results = Door("weft.execution.data_annihilators"), Door("weft.execution.full_results")
    planning, summary = Door("weft.execution.planning"), Door("weft.execution.summary")

T = TypeVar("T")


_STEPS_SHOWN = 6
"""Steps of a summary, beyond which those in the middle are counted instead."""


class Plan:
    """Plan of an expression for operands of certain types."""

    is_in_steps = False
    has_full_cases = may_spread = False
    structure_operands: tuple[int, ...] = ()

    def __init__(
        self,
        how: KernelPlan,
        kernel: Kernel,
        operands: tuple[str, ...],
        target: TensorType,
        replan: Callable[[Variant], Plan],
    ):
        self._how, self._replan, self.structure_operands = how, replan, how.structure_operands
        self.kernel, self.operands, self.target = kernel, operands, target
        facts = kernel.facts
        self._final = facts.final_format
        # For each operand of the kernel, its place among those of the plan, and the format to which it is converted.
        place = {name: n for n, name in enumerate(operands)}
        converted = {c.name: c for c in facts.stored_again}
        self._sources = tuple(
            (place[converted[name].tensor], converted[name].format) if name in converted else (place[name], None)
            for name in kernel.operands
        )
        inserted = facts.insertion is not None
        self.converts = bool(converted) or self._final is not None or kernel.operands != operands or inserted
        self.scans = how.scans
        self.alternatives = tuple([a for a in ALTERNATIVES if a.name in how.alternatives])
        self._taken: dict[str, Plan] = {}
        self._ready = set[str]()  # names of the alternatives whose functions need not be waited for
        # Small operands make the time of each step count, so that a plan has no steps that it does not need.
        if self.converts or self.alternatives not in ((), (EQUAL_STRUCTURES,)):
            self.run = self._run
        else:
            self.run = self._run_or_share if self.alternatives else kernel.run

    def with_fills(
        self, types: Mapping[str, TensorType], fills: Mapping[str, Any], replan: Callable[[Variant], Plan]
    ) -> Plan:
        """Return the plan for operands of these types, with the fill values that its kernel reads when it runs."""
        kernel = self.kernel.with_fills(fills)
        return Plan(self._how, kernel, self.operands, with_fill(self.target, fills), replan)

    def taking(self, alternative: Alternative) -> Plan:
        """Return the plan with the loops of an alternative."""
        if (plan := self._taken.get(alternative.name)) is None:
            variant = replace(self.kernel.facts.variant, **alternative.change)
            plan = self._taken[alternative.name] = self._replan(variant)
        return plan

    @cached
    def has_equal_parallel_loops(self) -> bool:
        """Return whether there are loops that threads can share and that sum each element in the same order."""
        found = self.taking(PARALLEL_LOOPS).kernel
        return self.kernel.loops.run.sums == found.loops.run.sums is not None and found.chunked

    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]:
        """Return the shape of the result for operands of these shapes."""
        return self.kernel.shape([storages[n] for n, _ in self._sources])

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
        wanted = self.taking(alternative).kernel.entry_points(2 if alternative is PARALLEL_LOOPS else 1)
        if ready(wanted, self.kernel.entry_points(1), wait=alternative.must_wait):
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
        """Return the alternatives that the kernel takes for these operands."""
        given = [storages[n] for n, _ in self._sources]
        return tuple([a for a in KERNEL_ALTERNATIVES if a.wanted(self.kernel, given)])

    def _run_or_share(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        """Run a plan whose only alternative is for operands of equal structures, and that converts none."""
        if same_structure([storages[n] for n in self.structure_operands]) and self._takes_now(EQUAL_STRUCTURES):
            return self.taking(EQUAL_STRUCTURES).run(storages, out)
        return self.kernel.run(storages, out)

    def _run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        if (alternative := self.wanted(storages)) is not None and self._takes_now(alternative):
            return self.taking(alternative).run(storages, out)
        operands = tuple(
            storages[n]
            if format is None
            else convert(storages[n], format, index_dtype=_index(storages[n].type), keep_padding=True)
            for n, format in self._sources
        )
        result = self.kernel.run(operands, out)
        return result if self._final is None or result.type == self.target else convert_result(result, self.target)

    @property
    def prunes(self) -> bool:
        """True if no stored entry of a result equals the fill value."""
        chains, last = self.kernel.chains, len(self.target.format.levels) - 1
        return self.kernel.facts.skip_fill and self._final is None and bool(chains) and chains[-1].last == last

    @property
    def phases(self) -> Kernel | TotalPlan | ValuesPlan | None:
        """Object that assembles a result and computes it separately; None if operands are converted first."""
        return self.kernel if self.kernel.operands == self.operands else None

    @property
    def kernels(self) -> Collection[Kernel]:
        """The kernels that the plan runs, each once."""
        return (self.kernel,)

    @property
    def stages(self) -> dict[str, str]:
        """Texts of all stages of the compiler, by name."""
        return self.kernel.stages

    @property
    def passes(self) -> dict[str, str]:
        """The text of what each pass of the compiler returned, by name."""
        return self.kernel.passes

    @property
    def origins(self) -> tuple[str | None, ...]:
        """The origin of each kernel, in words; None for one that is not compiled yet."""
        return self.kernel.origins

    def summary(self, told: Collection[str] = ()) -> str:
        return self.kernel.summary(told)


class SteppedPlan(Plan):
    """Plan of an expression in several steps, each of which reads the results of those before it."""

    is_in_steps = True

    def __init__(
        self,
        steps: Steps,
        types: Mapping[str, TensorType],
        request: PlanRequest,
        replan: Callable[[Variant], Plan],
    ):
        self.steps, self.operands, self._asked, self._replan = steps, tuple(types), request, replan
        self._types = dict(types)
        # A part is dropped after the last step that reads it.
        self._reads = [_read(step)[1] for step in steps.all]
        self._last_use = {name: n for n, names in enumerate(self._reads) for name in names}
        types_so_far, self._plans = dict(types), list[Plan]()
        for n, step in enumerate(steps.all):
            self._plans.append(self._planned(n, types_so_far))
            types_so_far[step.target.tensor] = self._plans[n].target
        self._known = types_so_far
        last = self._plans[-1]
        self.kernel, self.target, self.run = last.kernel, last.target, self._run
        self.alternatives = tuple(
            [a for a in (NO_DENSE_LEVELS, NO_DENSE_RESULT) if not getattr(request.variant, *a.change)]
        )
        self._taken = {}

    def with_fills(
        self, types: Mapping[str, TensorType], fills: Mapping[str, Any], replan: Callable[[Variant], Plan]
    ) -> Plan:
        return SteppedPlan(self.steps, types, self._asked, replan)

    @property
    def prunes(self) -> bool:
        return self._plans[-1].prunes

    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]:
        extents = _extents(self.steps.whole, dict(zip(self.operands, storages, strict=True)))
        return tuple([extents[v] for v in self.steps.whole.target.indices])

    def taken_by_kernel(self, storages: Sequence[Storage]) -> tuple[KernelAlternative, ...]:
        """Return nothing: the operands of a step are not known before those ahead of it have run."""
        return ()

    def _planned(self, n: int, types: Mapping[str, TensorType], rename: bool = True) -> Plan:
        """Return the plan of step ``n`` for operands and parts of these types, by default under standard names."""
        step, request = self.steps.all[n], self._asked
        named, operand_types = anonymous(step) if rename else step, tuple(types[name] for name in self._reads[n])
        if n < len(self.steps.parts):
            made = planning.format_of_part(step, types, request.variant.no_dense_levels)
            return plan_for(named, operand_types, format=made, variant=request.variant)
        return plan_for(
            named,
            operand_types,
            format=request.format,
            dtype=request.dtype,
            prune=request.prune,
            variant=request.variant,
        )

    def _run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        if (alternative := self.wanted(storages)) is not None:
            return self.taking(alternative).run(storages, out)
        values, as_planned = dict(zip(self.operands, storages, strict=True)), True
        _extents(self.steps.whole, values)  # of shapes that fit together
        for n, step in enumerate(self.steps.all):
            # A part with large dimensions may have wider index arrays than planned: later steps are planned again.
            plan = self._plans[n] if as_planned else self._planned(n, {name: s.type for name, s in values.items()})
            read = [values[name] for name in self._reads[n]]
            result = plan.run(read) if out is None or step is not self.steps.last else plan.run(read, out)
            as_planned &= result.type == self._plans[n].target
            values[step.target.tensor] = result
            for name in self._reads[n]:
                if self._last_use[name] == n:
                    del values[name]
        return result

    @property
    def type(self) -> TensorType:
        return self.target

    @property
    def source(self) -> str:
        """C source of all steps, each kernel once."""
        return "\n".join(dict.fromkeys(kernel.source for kernel in self.kernels))

    @property
    def kernels(self) -> Collection[Kernel]:
        """The kernels of all steps, each once, with the names of the first step that it computes."""
        return self._shown.values()

    @property
    def _listed(self) -> str:
        """The steps, a line each, after their number and the reason for them."""
        return "\n".join((f"{len(self.steps.all)} steps: {self.steps.reason}", *map(to_text, self.steps.all)))

    @cached
    def _shown(self) -> dict[str, Kernel]:
        """Each kernel with the names of its first step, by the steps that it computes."""
        steps: dict[Kernel, list[int]] = {}
        for n, plan in enumerate(self._plans):
            steps.setdefault(plan.kernel, []).append(n)
        shown = {}
        for first, *others in steps.values():
            more = ", ".join(self.steps.all[n].target.tensor for n in others)
            title = f"{to_text(self.steps.all[first])}{more and f'; in the same way {more}'}"
            shown[title] = self._planned(first, self._known, rename=False).kernel
        return shown

    @property
    def stages(self) -> dict[str, str]:
        """Texts of all stages of each kernel, after the list of steps."""
        titles = [f"kernel {n}: {title}" for n, title in enumerate(self._shown, 1)]
        stages = {"steps": "\n".join([self._listed, *titles])}
        for n, kernel in enumerate(self.kernels, 1):
            stages |= {f"{name}, kernel {n}": text for name, text in kernel.stages.items()}
        return stages

    @property
    def passes(self) -> dict[str, str]:
        """The text of what each pass of the compiler returned for every kernel, by name."""
        return {
            f"{name}, kernel {n}": text
            for n, kernel in enumerate(self.kernels, 1)
            for name, text in kernel.passes.items()
        }

    @property
    def origins(self) -> tuple[str | None, ...]:
        run = dict.fromkeys(plan.kernel for plan in self._plans)  # under standard names
        return tuple(origin for kernel in run for origin in kernel.origins)

    def summary(self, told: Collection[str] = ()) -> str:
        """Return the steps, with the conversions and the loops over all coordinates of each."""
        notes = [
            f"{step.target.tensor}: {line}"
            for step, plan in zip(self.steps.all, self._plans, strict=True)
            for line in plan.summary(told).splitlines()
            if line.startswith(("each call", "loops over all "))
        ]
        steps = self._listed.splitlines()
        formats = summary.formats_line({self.steps.last.target.tensor: self.target, **self._types})
        if len(steps) > _STEPS_SHOWN:
            steps[_STEPS_SHOWN // 2 : -1] = [f"... and {len(steps) - _STEPS_SHOWN // 2 - 1} more like these"]
        return "\n".join([formats, *steps, *notes])


class VectorPlan(Plan):
    """Plan that reads the stored values of some operands as vectors, so that all formats have one kernel."""

    def __init__(
        self, how: ValuesOnly, types: Mapping[str, TensorType], request: PlanRequest, replan: Callable[[Variant], Plan]
    ):
        self._assignment, self._types, self.target, self._replan = how.assignment, dict(types), how.target, replan
        self.operands, self.alternatives = tuple(types), ()
        self._taken: dict[str, Plan] = {}
        # The type of each operand whose stored values are a vector; None for numbers.
        vector = Format.dense(1)
        self._vectors = tuple(
            [tensor_type(t.dtype, vector) if name in how.stored else None for name, t in types.items()]
        )
        flat = tuple([v or t for v, t in zip(self._vectors, types.values(), strict=True)])
        self._variant = replace(request.variant, same_structure=False)
        format = Format.dense(len(how.values.target.indices))
        self._flat = plan_for(how.values, flat, format=format, dtype=self.target.dtype, variant=self._variant)
        self.kernel, self.run = self._flat.kernel, self._run

    def taken_by_kernel(self, storages: Sequence[Storage]) -> tuple[KernelAlternative, ...]:
        return ()

    def _given(self, storages: Sequence[Storage]) -> tuple[Storage, ...]:
        """Return the operands with stored values as vectors."""
        return tuple(
            s if v is None else Storage(s.vals.shape, v, (), s.vals)
            for v, s in zip(self._vectors, storages, strict=True)
        )

    @property
    def _reason(self) -> str:
        """The reason for which values alone are read, in words."""
        raise NotImplementedError

    @property
    def stages(self) -> dict[str, str]:
        """Texts of all stages of the kernel over values, after the reason for it."""
        return {"structure": self._reason, **self.kernel.stages}

    def summary(self, told: Collection[str] = ()) -> str:
        formats = summary.formats_line({self._assignment.target.tensor: self.target, **self._types})
        return "\n".join([formats, self._reason, "parallel: the loop over the stored values"])


class TotalPlan(VectorPlan):
    """Plan of a number that depends on the stored values of its operands, and not on their coordinates."""

    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]:
        return ()

    def _run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        return self._flat.run(self._given(storages))

    @property
    def phases(self) -> TotalPlan:
        return self

    def assemble(self, storages: Sequence[Storage]) -> Storage:
        """Return a result to be computed (see ``Kernel.assemble``)."""
        return self.kernel.assemble(self._given(storages))

    def compute(self, result: Storage, storages: Sequence[Storage]) -> Storage:
        """Compute a new value in a result that ``assemble`` made (see ``Kernel.compute``)."""
        return self.kernel.compute(result, self._given(storages))

    @property
    def _reason(self) -> str:
        names = [n for n, vector in zip(self.operands, self._vectors, strict=True) if vector is not None]
        return f"loops: over the stored values of {' and of '.join(names)}, whatever their coordinates are"


class ValuesPlan(VectorPlan):
    """Plan of a result that shares the index arrays of an operand, and whose values are computed as a vector.

    ``how.lead`` is the operand.
    """

    def __init__(
        self, how: ValuesOnly, types: Mapping[str, TensorType], request: PlanRequest, replan: Callable[[Variant], Plan]
    ):
        super().__init__(how, types, request, replan)
        assert how.lead is not None
        self._lead = self.operands.index(how.lead.tensor)
        # Where entries equal to the fill value are left out, a result that has some is copied without them.
        self._copy: Plan | None = None
        if request.prune:
            copied = Assignment(Access("C", how.lead.indices), Access("A", how.lead.indices))
            copy = plan_for(copied, (self.target,), format=self.target.format, prune=True, variant=self._variant)
            self._copy = copy if copy.prunes else None

    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]:
        return storages[self._lead].shape

    def _run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        lead = storages[self._lead]
        found = Storage(lead.shape, self.target, lead.arrays, self._flat.run(self._given(storages)).vals)
        return self._copy.run((found,)) if self._copy is not None and _has_fill(found) else found

    @property
    def prunes(self) -> bool:
        return self._copy is not None

    @property
    def phases(self) -> ValuesPlan:
        return self

    def assemble(self, storages: Sequence[Storage]) -> Storage:
        """Return a result that shares the index arrays, with zeros for its values (see ``Kernel.assemble``)."""
        lead = storages[self._lead]
        made = Storage(lead.shape, self.target, lead.arrays, memory.zeros(lead.vals.size, self.target.dtype))
        made.assembled_for = Structure(to_text(self._assignment), self.operands, storages)
        return made

    def compute(self, result: Storage, storages: Sequence[Storage]) -> Storage:
        """Compute new values in a result that ``assemble`` made (see ``Kernel.compute``)."""
        text = to_text(self._assignment)
        require_structure(text, result, storages)
        check_writable(text, result, self.target, storages[self._lead].shape)
        vector = Storage(result.vals.shape, self.kernel.type, (), result.vals)
        self.kernel.compute(vector, self._given(storages))
        return result

    @property
    def _reason(self) -> str:
        return summary.sharing_line(self._assignment.target.tensor, self.operands[self._lead])


def _has_fill(storage: Storage) -> bool:
    """Return whether a stored value equals the fill value."""
    fill, vals = storage.type.fill, storage.vals
    return bool((vals == fill).any() if fill == fill else (vals != vals).any())


def _extents(assignment: Assignment, operands: Mapping[str, Storage]) -> dict[str, int]:
    """Return the size of each variable; an error on shapes names the operands' formats, too."""
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


def _index(type: TensorType) -> str:
    return "int64" if "int64" in type.index_dtypes else "int32"


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
    found = _planned(facts.how, types, request, user_schedule, lambda other: replan(variant=other))
    found.has_full_cases, found.may_spread = facts.spreads, facts.may_spread
    return found


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
            return Plan(how, Kernel(how.loops), tuple(types), how.target, replan)
        case ValuesOnly():
            return (TotalPlan if how.lead is None else ValuesPlan)(how, types, request, replan)
        case InSteps():
            return SteppedPlan(how.steps, types, replace(request, format=how.format), replan)
        case WithFills():
            # Tensors with other fill values share a kernel, which reads the fill values.
            shared = plan_for(
                request.assignment, tuple(how.types.values()), format=request.format, dtype=request.dtype,
                user_schedule=user_schedule, prune=request.prune, variant=request.variant,
            )  # fmt: skip
            return shared.with_fills(types, how.fills, replan)


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
) -> Kernel | SteppedPlan:
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
    if not isinstance(way, Steps):
        return Kernel(way)
    asked_for = PlanRequest(assignment, tuple(operands.values()), target.format, target.dtype, False, variant)
    replan = partial(plan_for, assignment, tuple(operands.values()), format=target.format, dtype=target.dtype)
    return SteppedPlan(way, operands, asked_for, lambda variant: replan(variant=variant))
