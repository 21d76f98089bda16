"""Conversions that are asked for, and the way in which each is done. Types and a few facts about the data decide it.

Which steps a conversion has is decided by the prices in ``execution/conversion_plan.py``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ..config import config
from ..dtypes import INT32_MAX
from ..formats import Format, TensorType
from ..records import cached, record, replace
from ..runtime import get_num_threads
from ..storage import is_far_longer, tensor_type
from .facts import Source
from .loops import asked
from .plan import Plan
from .plan_cache import kept
from .plan_facts import PlanFacts
from .steps import Step


class DataFacts(NamedTuple):
    """Facts about the data that decide how a tensor is converted: few, so that one plan serves many tensors.

    The facts are a plain tuple since each conversion collects them, and looks up a plan by them.
    """

    parallel: bool  # true if there are several threads, and entries enough for them
    # For each axis, whether there are fewer entries than coordinates, so that many coordinates have none.
    empty_coordinates: tuple[bool, ...]
    far_longer: bool  # true if the first axis is too long for an array over it
    index_dtype: str  # the narrowest index dtype that holds every coordinate of the target, and every position
    # The shape of the tensor if the target follows a space-filling curve, whose codes depend on it; else empty.
    curve_shape: tuple[int, ...]
    nested: int = 0  # how many conversions by another format this one is a part of

    @property
    def inside(self) -> DataFacts:
        """The same for a part of a conversion by another format."""
        return self._replace(nested=self.nested + 1)

    @classmethod
    def typical(cls, target: Format, far_longer: bool) -> DataFacts:
        """Return the facts about a tensor of a typical size, for which the loops of expressions are planned."""
        n = target.order
        return cls(False, (False,) * n, far_longer, "int32", (1000,) * n if target.is_curved else ())

    @classmethod
    def of(cls, target: Format, shape: tuple[int, ...], entries: int) -> DataFacts:
        """Return the facts about tensors of a shape with a number of stored values, for a format."""
        largest = max((*shape, *target.level_shape(shape), entries) if target.is_structured else (*shape, entries))
        return cls(
            entries >= config.parallel_threshold and get_num_threads() > 1,
            tuple([entries < n for n in shape]),
            bool(shape) and is_far_longer(shape[0], entries),
            "int64" if largest >= INT32_MAX else "int32",
            shape if target.is_curved else (),
        )


@record
class Conversion:
    """The way in which a conversion is done."""

    source: Source  # what is asked: the copy of a tensor, the type of the result, and facts about the data
    target: TensorType
    facts: DataFacts
    way: str  # the answer: its name
    steps: tuple[Step, ...]
    price: float  # what an entry costs

    @cached
    def plan(self) -> Plan:
        """Return the plan: each step reads the result of the last."""
        steps = tuple([replace(step, reads=(n,)) for n, step in enumerate(self.steps)])
        return Plan({"A": self.source.type}, "B", steps, self.target, PlanFacts(None), lambda variant: self.plan)


@kept
def plan_conversion(source: Source, target: TensorType, facts: DataFacts) -> Conversion:
    """Return the steps of a conversion."""
    found: Conversion = asked("conversion", source, target, facts, config.code)
    return found


@kept
def plan_format(
    source: TensorType, format: Format, facts: DataFacts, dtype: str, index_dtype: str | None, skip_fill: bool
) -> Conversion:
    """Return the steps that convert tensors of a type to a format, if the format can hold their entries."""
    # Arrays that need not be made again keep their dtypes. A map over whole coordinates has no others.
    reused = dtype == source.dtype and not skip_fill and why_not_reuse(source.format, format) is None
    if reused and (index_dtype is None or format == source.format.looked_up):
        index_dtypes = source.index_dtypes
    else:
        index_dtypes = (index_dtype or facts.index_dtype,) * len(format.roles)
    target = tensor_type(dtype, format, index_dtypes, source.fill)
    return plan_conversion(Source.copy(source, skip_fill), target, facts)


def leaves_out_fill(source: Format, target: Format) -> bool:
    """Return whether a conversion leaves out values equal to the fill value, since they are padding in the source."""
    return source.is_padded and not (target.is_dense if source.is_dense else target.is_padded)


@lru_cache(maxsize=4096)
def why_not_reuse(source: Format, format: Format) -> str | None:
    """Return the reason why a format needs other arrays than another has; None if it can take them over."""
    if source.remapping != format.remapping:
        return f"the source stores the coordinates {source.remapping}, the target {format.remapping}"
    if format == source.looked_up:
        return None
    for k, (have, want) in enumerate(zip(source.levels, format.levels, strict=True), 1):
        if type(have) is not type(want):
            return f"level {k} is {have} in the source, and {want} in the target"
        for promised in ("ordered", "unique", "full"):
            if getattr(want, promised) and not getattr(have, promised):
                return f"level {k} of the target is {promised}, that of the source is not"
    return None


def planned_conversion(source: Format, target: Format, shape: tuple[int, ...], entries: int, dtype: str) -> Conversion:
    """Return the steps that convert tensors in one format to another."""
    facts = DataFacts.of(source, shape, entries)
    type = tensor_type(dtype, source, (facts.index_dtype,) * len(source.roles))
    return plan_format(type, target, DataFacts.of(target, shape, entries), dtype, None, leaves_out_fill(source, target))
