"""Ways to the result of any assignment, with prices: those of a copy are conversions, others have loops.

Loops append to the result, or their values are inserted into it. Or they append to a format near by, from which the
cheapest of its ways leads on: so do lists of coordinates, which are sorted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import dropwhile
from math import inf

from ..assembly.placement import price_of_loops, values_of
from ..compiler import PlannedLoops, plan_loops
from ..errors import ScheduleError
from ..formats import Format, TensorType
from ..formats.append_chains import is_appendable, is_unordered_list
from ..scheduling.strategies import STRATEGIES
from ..scheduling.strategy import Candidate
from ..storage import tensor_type
from .conversion_plan import ways_of_copy
from .conversion_request import DataFacts, plan_conversion
from .facts import Source
from .ways import BETWEEN, Way, cheapest_first


def ways(source: Source, target: TensorType, facts: DataFacts) -> tuple[Way, ...]:
    """Return all ways from a source to a type of result, the cheapest first, then those that are refused."""
    if source.variant.conversion:
        return ways_of_copy(source, target, facts)
    direct = _planned(source, target)
    if direct.schedule.problem.dense:
        return (
            Way("store", "each value is stored in its place in an array", _price(direct, direct, facts), (direct,)),
        )
    others = [
        Way("append", _reason(c), c.price / _values(direct))
        for strategy in STRATEGIES
        if strategy is not direct.schedule.candidate.strategy and not strategy.adds_up
        if (c := strategy.propose(direct.schedule.problem)) is not None and c.cost < inf
    ]
    return cheapest_first([_as_chosen(direct, facts), *others, *_nearby(direct, source, target, facts)])


def cheapest_loops(source: Source, target: TensorType, facts: DataFacts) -> PlannedLoops:
    """Return the loops of the cheapest way to a result, which a conversion may follow."""
    direct, variant = _planned(source, target), source.variant
    if direct.schedule.problem.dense or not (variant.stores_again and variant.options.enabled("nearest-format")):
        return direct
    if direct.converts_to is None:
        appends = direct.schedule.insertion is None
        if (appends and not direct.schedule.candidate.converts) or (variant.whole and not appends):
            return direct
    best = _as_chosen(direct, facts)
    for way in _nearby(direct, source, target, facts, best.price):
        best = cheapest_first((best, way))[0]
    (loops,) = best.steps
    return loops  # type: ignore[no-any-return]


def _planned(source: Source, target: TensorType, via: Format | None = None) -> PlannedLoops:
    types = source.with_result(target)
    return plan_loops(source.assignment, types, source.variant, skip_fill=source.skip_fill, via=via)


def _as_chosen(direct: PlannedLoops, facts: DataFacts) -> Way:
    """Return the way of the loops that were chosen for the format of the result."""
    name = "append" if direct.schedule.insertion is None else "insert"
    if direct.converts_to is not None:
        name = "sort" if is_unordered_list(direct.schedule.result.format) else f"via {direct.schedule.result.format}"
    return Way(name, _reason(direct.schedule.candidate), _price(direct, direct, facts), (direct,))


def _nearby(
    direct: PlannedLoops, source: Source, target: TensorType, facts: DataFacts, most: float = inf
) -> Iterator[Way]:
    """Yield the ways by each format near by, by loops that append the result in it and are not dearer than ``most``."""
    for format in _near(source, target):
        if format == direct.schedule.result.format:
            continue
        name = f"via {format}"
        try:
            loops = _planned(source, target, format)
        except ScheduleError:
            loops = None
        if loops is None or loops.schedule.candidate.strategy.adds_up or loops.schedule.result.format != format:
            yield Way(name, "loops do not append to it")
        elif price_of_loops(loops.schedule) / _values(direct) < most:
            again = _price_of_conversion(format, target.format, facts)
            reason = f"{_reason(loops.schedule.candidate)}, then converted for {again:.4g}"
            yield Way(name, reason, _price(loops, direct, facts), (loops,))


def _near(source: Source, target: TensorType) -> Iterator[Format]:
    """Yield formats in which results are often appended: those of operands, and rows and columns."""
    axes, result, types = source.assignment.target.indices, target.format, source.with_result(target)
    operands = source.assignment.value.distinct_accesses
    formats: dict[Format, None] = {}
    for access in operands:
        if sorted(access.indices) == sorted(axes) == sorted({*axes}):
            format = types[access.tensor].format.permuted([access.indices.index(v) for v in axes])
            formats[format.canonical()] = None
    plain = result.plain(source.variant.no_dense_levels)
    formats |= dict.fromkeys((plain, plain.reordered(plain.mode_order[::-1])))
    stored = {types[access.tensor].format for access in operands if not types[access.tensor].format.is_dense}
    for format in formats:
        # What lies between the entries of a block must be stored by the operands, too: it becomes entries.
        exact = not _stores_more(format) or stored == {format}
        if exact and format != result and is_appendable(format) and not (format.is_curved or format.conditions):
            yield format


def _stores_more(format: Format) -> bool:
    """Return whether a format stores coordinates between those of entries."""
    below = dropwhile(lambda level: level.full, format.levels)
    return format.is_padded or format.is_dense or any(level.full for level in below)


def _reason(candidate: Candidate) -> str:
    loops = "; then ".join(dict.fromkeys(", ".join(nest.order) for nest in candidate.nests))
    names = dict.fromkeys(access.tensor for nest in candidate.nests for access in nest.converts)
    return f"by loops {loops}" + (f"; {' and '.join(names)} must be converted first" if names else "")


# -- prices ----------------------------------------------------------------------------------------------------------
def _values(loops: PlannedLoops) -> float:
    return max(values_of(loops.schedule.candidate), 1.0)


def _price(loops: PlannedLoops, direct: PlannedLoops, facts: DataFacts) -> float:
    """Return the price of an entry by loops, and by the conversion that may follow them."""
    price, to = price_of_loops(loops.schedule), loops.converts_to
    if to is not None:
        price += _price_of_conversion(loops.schedule.result.format, to, facts) * _values(loops)
    return price / _values(direct)


@lru_cache(maxsize=1024)
def _price_of_conversion(source: Format, target: Format, facts: DataFacts) -> float:
    """Return the price of an entry by the cheapest way from one format to another."""
    have, wanted = (tensor_type("float64", f, (facts.index_dtype,) * len(f.roles)) for f in (source, target))
    return plan_conversion(Source.copy(have), wanted, facts).price + BETWEEN
