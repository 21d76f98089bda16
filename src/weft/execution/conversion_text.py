"""Plans of conversions as text: steps with their reasons, rules that were not taken, and stages of the compiler."""

from __future__ import annotations

from collections.abc import Iterator

from ..formats import TensorType
from ..pass_names import PASSES, STAGES
from .conversion_plan import ConversionPlan
from .conversion_steps import Step
from .format_names import described

__all__ = ["SECTIONS", "plan_text", "section"]

SECTIONS = ("steps", "reasons", *STAGES, *PASSES)
"""Names of the parts of the text of a plan."""


def plan_text(plan: ConversionPlan, full: bool = False) -> str:
    """Return a report on a conversion.

    Parameters
    ----------
    plan : ConversionPlan
        The plan.
    full : bool
        True for every stage of the compiler, for each step. By default the report has the steps with their attribute
        queries, and the reasons against other ways.
    """
    parts = [section(plan, "steps"), section(plan, "reasons")]
    if full:
        parts += [f"== {name}\n{text}" for name in STAGES if (text := section(plan, name))]
    return "\n\n".join(parts)


def section(plan: ConversionPlan, name: str) -> str:
    """Return a part of the text of a plan; empty if no step has this stage or pass.

    Parameters
    ----------
    plan : ConversionPlan
        The plan.
    name : str
        One of ``SECTIONS``.
    """
    if name == "steps":
        return "\n".join(_steps(plan))
    if name == "reasons":
        return "\n".join(_reasons(plan))
    texts = []
    for number, step in enumerate(plan.all_steps, 1):
        text = (step.passes if name in PASSES else step.stages).get(name)
        if text:
            texts.append(f"-- step {number}, {_step(step)}\n{text.rstrip()}")
    return "\n\n".join(texts)


def _steps(plan: ConversionPlan) -> Iterator[str]:
    steps = plan.all_steps
    many = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
    yield f"{_type(plan.source)} is converted to {_type(plan.target)} in {many} ({plan.rule})"
    for number, step in enumerate(steps, 1):
        yield f"{number}. {_step(step)}: {step.reason}"
        for line in step.stages.get("attribute queries", "").splitlines():
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
