"""Plans of conversions as text: steps with their reasons, rules that were not taken, and stages of the compiler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..formats import TensorType
from ..optimizations import PASSES, STAGES
from ..records import cached, record
from .conversion_request import ConversionPlan
from .conversion_steps import Step
from .format_names import described


@record
class ConversionReport:
    """A plan as text, with the stages and passes of its kernels."""

    plan: ConversionPlan

    @property
    def text(self) -> str:
        """Steps with their attribute queries, and reasons against other ways."""
        return "\n".join([*_steps(self.plan), "", *_reasons(self.plan)])

    @cached
    def stages(self) -> dict[str, str]:
        """Return the steps, the reasons, and the text of every stage for each step that has it, by name."""
        made = [step.stages for step in self.plan.all_steps]
        texts = {name: self._of_steps(name, made) for name in STAGES}
        return {"steps": "\n".join(_steps(self.plan)), "reasons": "\n".join(_reasons(self.plan)), **texts}

    @cached
    def passes(self) -> dict[str, str]:
        """Return the text of what each pass of the compiler returned for each step, by name, in their order."""
        made = [step.passes for step in self.plan.all_steps]
        texts = {name: self._of_steps(name, made) for name in PASSES}
        return {name: text for name, text in texts.items() if text}

    def _of_steps(self, name: str, made: list[Mapping[str, str]]) -> str:
        steps = enumerate(zip(self.plan.all_steps, made, strict=True), 1)
        found = [(number, step, texts[name]) for number, (step, texts) in steps if texts.get(name)]
        return "\n\n".join(f"-- step {number}, {_step(step)}\n{text.rstrip()}" for number, step, text in found)


def _steps(plan: ConversionPlan) -> Iterator[str]:
    steps = plan.all_steps
    many = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
    yield f"{_type(plan.source)} is converted to {_type(plan.target)} in {many} ({plan.rule})"
    for number, step in enumerate(steps, 1):
        yield f"{number}. {_step(step)}: {step.reason}"
        for line in step.queries.splitlines():
            yield f"   {line}"


def _reasons(plan: ConversionPlan) -> Iterator[str]:
    """Yield the reasons against the rules that come before the one that was taken, then those of plans in the plan."""
    others = "these come first, but" if plan.rejected else "no other way comes first"
    yield f"{described(plan.source.format)} to {described(plan.target.format)}, {plan.rule}: {others}"
    yield from (f"  {rule}: {reason}" for rule, reason in plan.rejected.items())
    for step in plan.steps:
        if isinstance(step, ConversionPlan):
            yield from _reasons(step)


def _step(step: Step) -> str:
    return f"{step.kind}, {described(step.source.format)} to {described(step.target.format)}"


def _type(type: TensorType) -> str:
    return f"{described(type.format)} {type.dtype}"
