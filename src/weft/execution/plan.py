"""Plans: what is decided once for operands of certain types, as steps that then run on any data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from weakref import ref

from ..errors import ShapeError
from ..formats import TensorType
from ..index_notation import infer_extents
from ..index_notation.nodes import Assignment
from ..records import cached, record, replace
from ..runtime.beside import ready
from ..storage import Storage
from ..variant import Variant
from .alternatives import (
    EQUAL_STRUCTURES,
    FEW_FOR_ROWS,
    LONG_ROWS,
    PARALLEL_APPEND,
    PARALLEL_LOOPS,
    Alternative,
    follow,
)
from .kernel import Kernel
from .plan_facts import InSteps, KernelPlan, PlanFacts
from .result_buffers import require_dense
from .steps import Compute, MapValues, Prune, Step
from .structure import same_structure

Run = Callable[..., Storage]


@record
class Plan:
    """Steps that compute an expression for operands of certain types, and alternatives that the operands may want."""

    inputs: Mapping[str, TensorType]  # the operands, in order
    result: str  # name of the result
    steps: tuple[Step, ...]
    target: TensorType  # type of the result
    facts: PlanFacts  # what was decided
    replan: Callable[[Variant], Plan]  # returns the plan for another variant
    alternatives: tuple[Alternative, ...] = ()
    check: Callable[[Sequence[Storage]], object] | None = None  # raises for operands that do not suit each other

    @cached
    def types(self) -> tuple[TensorType, ...]:
        """Return the types of the operands."""
        return tuple(self.inputs.values())

    # -- running ------------------------------------------------------------------------------------------------
    @cached
    def run(self) -> Run:
        """Return the function that computes the result of operands, and perhaps adds it to a copy of an array."""
        # Small operands make the time of each question count, so that a plan asks none that it does not need.
        if self.check is None and not self.alternatives:
            return self._usual
        if self.check is None and self.alternatives == (LONG_ROWS,):
            return self._run_or_cut
        only_shares = self.check is None and self.alternatives == (EQUAL_STRUCTURES,)
        return self._run_or_share if only_shares else self._run_or_turn

    @property
    def _run_or_cut(self) -> Run:
        """Return the function of a plan whose only alternative is for long rows, of which small operands have none."""
        usual, turn, operand = self._usual, self._run_or_turn, self.facts.how.rows.operand  # type: ignore[union-attr]

        def run(storages: Sequence[Storage], out: Storage | None = None) -> Storage:
            return (usual if storages[operand].vals.size <= FEW_FOR_ROWS else turn)(storages, out)

        return run

    @cached
    def _usual(self) -> Run:
        """Return the function that takes the steps."""
        first, count = self.steps[0], len(self.inputs)
        reads = [(*range(count),), *[(count + n,) for n in range(len(self.steps) - 1)]]
        if [step.reads for step in self.steps] != reads:
            return self._in_turn
        if len(self.steps) > 1:
            return partial(_in_a_row, self.steps)
        return first.kernel.run if type(first) is Compute else first.run

    @cached
    def structure_operands(self) -> tuple[int, ...]:
        """Return the places of operands that may all share the result's sparsity structure."""
        return self.facts.how.structure_operands if isinstance(self.facts.how, KernelPlan) else ()

    def _run_or_share(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        """Run a plan whose only alternative is for operands of equal structures."""
        if same_structure([storages[n] for n in self.structure_operands]) and self._takes_now(EQUAL_STRUCTURES):
            return self.taking(EQUAL_STRUCTURES).run(storages, out)
        return self._usual(storages, out)

    def _run_or_turn(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        if self.check is not None:
            self.check(storages)
        if (alternative := self.wanted(storages)) is not None and self._takes_now(alternative):
            return self.taking(alternative).run(storages, out)
        if self.check is not None and self.target.format.is_dense:
            require_dense(self.target, self.shape(storages))  # before any part is computed
        return self._usual(storages, out)

    def _in_turn(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        """Take the steps one after the other."""
        values, entries = list[Any](storages), list[int]()
        for step, unread in self._order:
            result = step.run([values[n] for n in step.reads], out if step is self.steps[-1] else None)
            values.append(result)
            entries.append(result.vals.size)
            for n in unread:
                values[n] = None
        self._last.update(operands=[ref(s) for s in storages], entries=entries)
        return result

    @cached
    def _last(self) -> dict[str, list[Any]]:
        return {}

    def last_entries(self, operands: Sequence[Storage]) -> list[int]:
        """Return the entries of what each step made at the last call, if that was for one of these operands."""
        pairs = zip(self._last.get("operands", []), operands, strict=False)
        return self._last["entries"] if any(known() is s for known, s in pairs) else []

    @cached
    def _order(self) -> tuple[tuple[Step, tuple[int, ...]], ...]:
        """Return the steps, each with what is dropped after it, since no later step reads it."""
        last_use = {n: step for step in self.steps for n in step.reads}
        return tuple([(step, tuple([n for n in {*step.reads} if last_use[n] is step])) for step in self.steps])

    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]:
        """Return the shape of the result for operands of these shapes."""
        shape_of, sources = self._main
        return shape_of([storages[n] for n in sources])

    @cached
    def _main(self) -> tuple[Callable[[Sequence[Storage]], tuple[int, ...]], tuple[int, ...]]:
        """Return a function that tells the shape of the result, and the operands of the step that computes it.

        Some of these are converted before that step.
        """
        count = len(self.inputs)
        if isinstance(self.facts.how, InSteps):
            return partial(_shape, self.facts.how.program.whole, tuple(self.inputs)), tuple(range(count))
        (main,) = [step for step in self.steps if isinstance(step, (Compute, MapValues))]
        sources = [n if n < count else self.steps[n - count].reads[0] for n in main.reads]
        return (main if isinstance(main, MapValues) else main.kernel).shape, tuple(sources)

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
        runs_c = self.kernel.facts.variant.options.target == "c"
        if alternative.optimization is None or alternative.name in self._ready or not runs_c:
            return True
        others = self.taking(alternative).kernel.assembly.entry_points(2 if alternative is PARALLEL_LOOPS else 1)
        if ready(others, self.kernel.assembly.entry_points(1), wait=alternative.must_wait):
            self._ready.add(alternative.name)
            return True
        return False

    def chosen(self, storages: Sequence[Storage]) -> tuple[Plan, list[Alternative]]:
        """Return the plan that runs for these operands, with the alternatives that lead to it or its kernel takes."""
        plan, taken = follow(self, storages)
        if isinstance(plan.facts.how, KernelPlan):  # what a kernel reads after other steps is not known
            operands = [storages[n] for n in plan._main[1]]
            kernel, by_kernel = follow(plan.kernel, operands)
            taken += [*by_kernel, *([PARALLEL_APPEND] if PARALLEL_APPEND.wanted(kernel, operands) else [])]
        return plan, taken

    # -- what it is made of -------------------------------------------------------------------------------------
    @property
    def is_in_steps(self) -> bool:
        """True if several kernels compute parts of the expression."""
        return isinstance(self.facts.how, InSteps)

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
        """Return the kernels that the plan runs, each once."""
        return tuple(dict.fromkeys(kernel for step in self.steps for kernel in step.kernels))


def _in_a_row(steps: tuple[Step, ...], storages: Sequence[Storage], out: Storage | None = None) -> Storage:
    """Take steps of which each reads the result of the one before it alone."""
    for step in steps[:-1]:
        storages = (step.run(storages),)
    return steps[-1].run(storages, out)


def _shape(assignment: Assignment, names: tuple[str, ...], storages: Sequence[Storage]) -> tuple[int, ...]:
    sizes = sizes_of(assignment, names, storages)
    return tuple([sizes[v] for v in assignment.target.indices])


def sizes_of(assignment: Assignment, names: Iterable[str], storages: Sequence[Storage]) -> dict[str, int]:
    """Return the size of each variable; an error on shapes names the operands' formats, too."""
    operands = dict(zip(names, storages, strict=True))
    try:
        return infer_extents(assignment, {name: s.shape for name, s in operands.items()})
    except ShapeError as error:
        formats = ", ".join(f"{name}: {s.format}" for name, s in operands.items())
        raise ShapeError(f"{error}; {formats}") from None
