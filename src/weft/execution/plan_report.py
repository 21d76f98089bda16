"""Plans as text: a few lines for users, and what each stage of the compiler has made for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..doors import Door
from ..index_notation import to_text
from ..records import cached, record
from ..storage import Storage
from .conversion import Convert
from .kept_conversions import kept_by
from .kernel import Kernel
from .plan import Plan
from .plan_facts import InSteps
from .steps import ComputePart, MapValues, Planned, Step

if TYPE_CHECKING:
    from . import summary
else:
    summary = Door("weft.execution.summary")

_STEPS_SHOWN = 6
"""Steps of a summary, beyond which those in the middle are counted instead."""


@record
class PlanReport:
    """A plan as text."""

    plan: Plan
    operands: tuple[Storage, ...] = ()  # those for which it runs, if they are known
    ran: Plan | None = None  # the plan that runs, with standard names

    @cached
    def kernels(self) -> tuple[Kernel, ...]:
        """Return the kernels that run, each once, with the names of the first part that it computes."""
        return tuple(self._titled.values()) or self.plan.kernels

    @cached
    def _titled(self) -> Mapping[str, Kernel]:
        """Return the kernels of a plan in parts, by titles: the parts that each computes."""
        parts: dict[Kernel, list[ComputePart]] = {}
        for step in self.plan.steps:
            if isinstance(step, ComputePart):
                parts.setdefault(step.kernels[-1], []).append(step)
        shown = {}
        for first, *others in parts.values():
            more = ", ".join(part.assignment.target.tensor for part in others)
            shown[f"{to_text(first.assignment)}{more and f'; in the same way {more}'}"] = first.shown
        return shown

    @property
    def _listed(self) -> list[str]:
        """The parts of an expression, after their number and the reason for them."""
        if not isinstance(self.plan.facts.how, InSteps):
            return []
        program = self.plan.facts.how.program
        reasons = "; ".join(dict.fromkeys(program.reasons))
        return [f"{len(program.statements)} steps: {reasons}", *map(to_text, program.statements)]

    @property
    def program(self) -> str:
        """The statements that are computed, with reasons."""
        how = self.plan.facts.how
        if not isinstance(how, InSteps):
            return "one statement: no intermediate result would pay"
        entries = self.ran.last_entries(self.operands) if self.ran else []
        names = [part.target.tensor for part in how.program.statements]
        return how.program.text_after(dict(zip(names, entries, strict=False)))

    @property
    def ways(self) -> str:
        """The ways to the result of each kernel, with their prices, and those that are refused."""
        if isinstance(shared := self.plan.steps[0], MapValues):
            return shared.reason
        titles = [f"{title}\n" for title in self._titled] or [""] * len(self.kernels)
        return "\n".join([f"{title}{kernel.ways}" for title, kernel in zip(titles, self.kernels, strict=True)])

    @property
    def source(self) -> str:
        """C source of all kernels, each once."""
        return "\n".join(dict.fromkeys(kernel.source for kernel in self.kernels))

    @property
    def stages(self) -> dict[str, str]:
        """Texts of all stages of the compiler, by name; those of several kernels with their numbers."""
        titles = [f"kernel {n}: {title}" for n, title in enumerate(self._titled, 1)]
        steps = {"steps": "\n".join([*self._listed, *titles])} if titles else {}
        return steps | self._by_name([kernel.stages for kernel in self.kernels], [s.stages for s in self.plan.steps])

    @property
    def passes(self) -> dict[str, str]:
        """The text of what each pass of the compiler returned, by name; those of several kernels with their numbers."""
        return self._by_name([kernel.passes for kernel in self.kernels], [s.passes for s in self.plan.steps])

    def _by_name(
        self, of_kernels: Iterable[Mapping[str, str]], of_steps: Iterable[Mapping[str, str]]
    ) -> dict[str, str]:
        if not self._titled:
            return {name: text for texts in of_steps for name, text in texts.items()}
        return {f"{name}, kernel {n}": text for n, of in enumerate(of_kernels, 1) for name, text in of.items()}

    @property
    def origins(self) -> tuple[str | None, ...]:
        """The origin of each kernel that runs, in words; None for one that is not compiled yet."""
        return tuple([origin for kernel in self.plan.kernels for origin in kernel.origins])

    def kept(self, storages: Sequence[Storage]) -> list[str]:
        """Return a line for each conversion that one of these operands keeps."""
        return list(_kept(self.plan, [*zip(self.plan.inputs, storages, strict=True)]))

    def _read(self, step: Step) -> tuple[Storage, ...]:
        """Return the operands that a step reads; none if it also reads results of other steps."""
        return tuple([self.operands[n] for n in step.reads]) if max(step.reads, default=0) < len(self.operands) else ()

    def summary(self, told: Collection[str] = ()) -> str:
        """Return a few lines for users; loops over the variables in ``told`` are left out."""
        listed, plan = self._listed, self.plan
        if len(listed) > _STEPS_SHOWN:
            listed[_STEPS_SHOWN // 2 : -1] = [f"... and {len(listed) - _STEPS_SHOWN // 2 - 1} more like these"]
        lines = [line for step in plan.steps for line in step.summary(told, self._read(step)).splitlines()]
        # What is kept has a line of its own, which says that a call copies values alone.
        converted = [f"each call converts {name} from {storage.format} to {format}, "
                     for name, storage in zip(plan.inputs, self.operands, strict=False)
                     for format, _ in kept_by(storage)]  # fmt: skip
        lines = [line for line in lines if not any(text in line for text in converted)]
        return "\n".join([summary.formats_line({plan.result: plan.target, **plan.inputs}), *listed, *lines])


def _kept(plan: Planned, operands: Sequence[tuple[str, Storage | None]]) -> Iterator[str]:
    """Yield the lines of ``PlanReport.kept``, also of the parts of an expression; their results keep nothing."""
    known = [*operands]
    for step in plan.steps:
        read = [known[n] for n in step.reads]
        known.append(("", None))
        if isinstance(step, ComputePart):
            yield from _kept(step.plan, read)
        name, storage = read[0]
        if isinstance(step, Convert) and storage is not None:
            for format, conversion in kept_by(storage):
                if format == step.makes.format:
                    size = f"{conversion.nbytes / 1e6:.3g} MB"
                    yield (
                        f"{name} keeps its coordinates in {format} since the second call ({size}, up to "
                        f"weft.config.max_kept_bytes): each call copies values alone; {name}.drop_kept() frees them"
                    )
