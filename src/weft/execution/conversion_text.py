"""Conversions as text: steps with their reasons, all ways with their prices, and stages of the compiler."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..doors import Door
from ..formats import TensorType
from ..optimizations import PASSES, STAGES
from ..records import cached, record
from .conversion_request import Conversion
from .format_names import described
from .ways import listed

if TYPE_CHECKING:
    from . import planning
else:
    planning = Door("weft.execution.planning")


@record
class ConversionReport:
    """A conversion as text, with the stages and passes of its kernels."""

    conversion: Conversion

    @property
    def text(self) -> str:
        """Steps with their attribute queries."""
        return "\n".join(_steps(self.conversion))

    @property
    def ways(self) -> str:
        """All ways, the cheapest first, with prices; then those that are refused, with the reasons."""
        return listed(planning.ways(self.conversion.source, self.conversion.target, self.conversion.facts))

    @cached
    def stages(self) -> dict[str, str]:
        """Return the steps, the ways, and the text of every stage for each step that has it, by name."""
        texts = self._by_name(STAGES, [step.stages for step in self.conversion.plan.steps])
        return {"steps": self.text, "ways": self.ways, **texts}

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
    yield f"{_type(conversion.source.type)} is converted to {_type(conversion.target)} in {many} ({conversion.way})"
    for number, (step, title) in enumerate(zip(steps, _titles(conversion), strict=True), 1):
        yield f"{number}. {title}: {step.reason}"
        for line in step.queries.splitlines():
            yield f"   {line}"


def _titles(conversion: Conversion) -> list[str]:
    """Return the kind of each step, with the formats from which and to which it leads."""
    steps = conversion.plan.steps
    formats = [described(type.format) for type in (conversion.source.type, *[step.makes for step in steps])]
    return [f"{step.kind}, {formats[n]} to {formats[n + 1]}" for n, step in enumerate(steps)]


def _type(type: TensorType) -> str:
    return f"{described(type.format)} {type.dtype}"
