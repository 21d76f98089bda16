"""Conversions as text: steps with their reasons, rules that were not taken, and stages of the compiler."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..formats import TensorType
from ..optimizations import PASSES, STAGES
from ..records import cached, record
from .conversion_request import Conversion
from .format_names import described


@record
class ConversionReport:
    """A conversion as text, with the stages and passes of its kernels."""

    conversion: Conversion

    @property
    def text(self) -> str:
        """Steps with their attribute queries, and reasons against other ways."""
        return "\n".join([*_steps(self.conversion), "", *_reasons(self.conversion)])

    @cached
    def stages(self) -> dict[str, str]:
        """Return the steps, the reasons, and the text of every stage for each step that has it, by name."""
        texts = self._by_name(STAGES, [step.stages for step in self.conversion.plan.steps])
        steps, reasons = "\n".join(_steps(self.conversion)), "\n".join(_reasons(self.conversion))
        return {"steps": steps, "reasons": reasons, **texts}

    @cached
    def passes(self) -> dict[str, str]:
        """Return the text of what each pass of the compiler returned for each step, by name, in their order."""
        texts = self._by_name(PASSES, [step.passes for step in self.conversion.plan.steps])
        return {name: text for name, text in texts.items() if text}

    def _by_name(self, names: Iterable[str], texts: Sequence[Mapping[str, str]]) -> dict[str, str]:
        titles = [f"-- step {number}, {title}" for number, title in enumerate(_titles(self.conversion), 1)]
        return {
            name: "\n\n".join(
                [f"{title}\n{of[name].rstrip()}" for title, of in zip(titles, texts, strict=True) if of.get(name)]
            )
            for name in names
        }


def _steps(conversion: Conversion) -> Iterator[str]:
    steps = conversion.plan.steps
    many = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
    yield f"{_type(conversion.source)} is converted to {_type(conversion.target)} in {many} ({conversion.rule})"
    for number, (step, title) in enumerate(zip(steps, _titles(conversion), strict=True), 1):
        yield f"{number}. {title}: {step.reason}"
        for line in step.queries.splitlines():
            yield f"   {line}"


def _reasons(conversion: Conversion) -> Iterator[str]:
    """Yield the reasons against the rules before the one that was taken, then those of conversions that are steps."""
    source, target, rule = conversion.source.format, conversion.target.format, conversion.rule
    others = "these come first, but" if conversion.rejected else "no other way comes first"
    yield f"{described(source)} to {described(target)}, {rule}: {others}"
    yield from (f"  {rule}: {reason}" for rule, reason in conversion.rejected.items())
    for step in conversion.steps:
        if isinstance(step, Conversion):
            yield from _reasons(step)


def _titles(conversion: Conversion) -> list[str]:
    """Return the kind of each step, with the formats from which and to which it leads."""
    steps = conversion.plan.steps
    formats = [described(type.format) for type in (conversion.source, *[step.makes for step in steps])]
    return [f"{step.kind}, {formats[n]} to {formats[n + 1]}" for n, step in enumerate(steps)]


def _type(type: TensorType) -> str:
    return f"{described(type.format)} {type.dtype}"
