"""Plans: what is decided once for operands of certain types, as steps that then run on any data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..doors import Door
from ..errors import ShapeError
from ..formats import TensorType
from ..index_notation import infer_extents, to_text
from ..index_notation.nodes import Assignment
from ..records import cached, record, replace
from ..runtime.beside import ready
from ..storage import Storage
from ..variant import Variant
from .alternatives import EQUAL_STRUCTURES, KERNEL_ALTERNATIVES, PARALLEL_LOOPS, Alternative, KernelAlternative
from .kernel import Kernel
from .plan_facts import InSteps, KernelPlan, ValuesOnly
from .steps import Compute, ComputePart, MapValues, Prune, Step
from .structure import same_structure

if TYPE_CHECKING:
    from . import summary
else:
    summary = Door("weft.execution.summary")

Run = Callable[..., Storage]


_STEPS_SHOWN = 6
"""Steps of a summary, beyond which those in the middle are counted instead."""


@record
class Plan:
    """Steps that compute an expression for operands of certain types, and alternatives that the operands may want."""

    inputs: Mapping[str, TensorType]  # the operands, in order
    result: str  # name of the result
    steps: tuple[Step, ...]
    target: TensorType  # type of the result
    how: KernelPlan | ValuesOnly | InSteps | None  # what was decided; None for a conversion
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
            extents = sizes_of(whole, self.inputs, storages)
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
        listed = self._listed
        if len(listed) > _STEPS_SHOWN:
            listed[_STEPS_SHOWN // 2 : -1] = [f"... and {len(listed) - _STEPS_SHOWN // 2 - 1} more like these"]
        lines = [line for step in self.steps for line in step.summary(told).splitlines()]
        return "\n".join([summary.formats_line({self.result: self.target, **self.inputs}), *listed, *lines])


def sizes_of(assignment: Assignment, names: Iterable[str], storages: Sequence[Storage]) -> dict[str, int]:
    """Return the size of each variable; an error on shapes names the operands' formats, too."""
    operands = dict(zip(names, storages, strict=True))
    try:
        return infer_extents(assignment, {name: s.shape for name, s in operands.items()})
    except ShapeError as error:
        formats = ", ".join(f"{name}: {s.format}" for name, s in operands.items())
        raise ShapeError(f"{error}; {formats}") from None
