"""Nearest formats: values are appended once, in a format that follows the loops, and then converted.

A result whose format does not follow the loops is inserted, sorted, or computed from operands that are converted first.
Each pass of an insertion merges the operands again. A sort, or a conversion of operands, costs more than one more pass
over the result. The way with the lowest price is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import dropwhile
from math import prod

from ..analysis.contributions import entry_order_of
from ..analysis.insertion_plan import plan_insertion
from ..formats import Format, TensorType
from ..formats.append_chains import is_appendable, is_unordered_list
from ..formats.format import level_variables
from ..index_notation.nodes import Access, Assignment
from ..records import replace
from ..remapping.inverse import significance
from ..scheduling.cost_model import APPENDED_AGAIN, CONVERT, DIMENSION, MERGED, PLACED, SORTED, iterations
from ..scheduling.loop_problem import LoopProblem
from ..scheduling.operand_conversions import widest_index
from ..scheduling.schedule import Schedule, views_of, written
from ..scheduling.strategies import cheapest
from ..scheduling.strategy import Candidate
from .placement import place_result


def append_nearby(schedule: Schedule, forms: Sequence[Assignment], types: Mapping[str, TensorType]) -> Schedule:
    """Return a schedule whose result is appended in another format and converted, where that is cheaper."""
    problem, target = schedule.problem, types[schedule.target.tensor]
    placed = place_result(schedule, target) if problem.inserts else schedule
    appended = placed.insertion is None and placed.final_format is None
    if problem.dense or not problem.variant.stores_again or (appended and not schedule.candidate.converts):
        return schedule
    if problem.variant.whole and placed.insertion is not None:
        return schedule
    least, best = _price(schedule, placed), None
    for candidate in _candidates(schedule, forms, target, types):
        price = candidate.price + _price_of_entry(candidate.problem.result.format, target.format) * _entries(candidate)
        if price < least:
            least, best = price, candidate
    if best is None:
        return schedule
    view = replace(best.problem.view, final_format=target.format, converted=True)
    return written(replace(best, problem=LoopProblem(view, problem.variant)))


def _candidates(
    schedule: Schedule, forms: Sequence[Assignment], target: TensorType, types: Mapping[str, TensorType]
) -> Iterator[Candidate]:
    """Yield the cheapest loops that append the result in each format near by."""
    name, variant = schedule.target.tensor, schedule.problem.variant
    for format in _near(forms[0], types, variant.no_dense_levels):
        known = {**types, name: TensorType.of(target.dtype, format, widest_index(target), target.fill)}
        for view in views_of(forms, known, variant):
            if view.why_not is None and view.final_format is None:
                candidate = cheapest(LoopProblem(view, variant))
                if candidate is not None and not candidate.strategy.adds_up:
                    yield candidate


def _near(assignment: Assignment, types: Mapping[str, TensorType], no_dense_levels: bool) -> Iterator[Format]:
    """Yield formats in which results are often appended: those of operands, and rows and columns."""
    target, result = assignment.target, types[assignment.target.tensor].format
    operands = assignment.value.distinct_accesses
    formats: dict[Format, None] = {}
    for access in operands:
        if sorted(access.indices) == sorted(target.indices) == sorted({*target.indices}):
            format = types[access.tensor].format.permuted([access.indices.index(v) for v in target.indices])
            formats[format.canonical()] = None
    plain = result.plain(no_dense_levels)
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


# -- prices ----------------------------------------------------------------------------------------------------------
def _price(schedule: Schedule, placed: Schedule) -> float:
    """Return the price of the loops, and of what assembles the result in its format."""
    candidate, problem = schedule.candidate, schedule.problem
    is_priced = candidate.strategy.adds_up and problem.outermost_to_add is not None  # with the places of its values
    if placed.final_format is None and (placed.insertion is None or is_priced):
        return candidate.price
    loops = sum(nest.cost for nest in candidate.nests) * problem.density + problem.price_of_operands
    if placed.insertion is None:
        assert placed.final_format is not None
        return loops + _price_of_entry(placed.result.format, placed.final_format) * _entries(candidate)
    merges = 1.0 if len(problem.value.distinct_accesses) == 1 or problem.bound else MERGED
    return loops * (1 + (len(placed.insertion.passes) - 1) * merges) + PLACED * _entries(candidate)


def _entries(candidate: Candidate) -> float:
    """Return the typical number of values that loops give to the result."""
    problem = candidate.problem
    terms = [problem.value] if len(candidate.nests) == 1 else [term for _, term in problem.terms]
    total = 0.0
    for term, nest in zip(terms, candidate.nests, strict=True):
        counts = iterations(term, problem.with_formats(nest.converts))
        total += prod(counts.get(v, DIMENSION) for v in nest.order[: problem.depth_of_result(nest.order)])
    return total


@lru_cache(maxsize=1024)
def _price_of_entry(source: Format, target: Format) -> float:
    """Return the price of converting an entry, which the first loops have appended."""
    if is_unordered_list(source):
        return APPENDED_AGAIN + CONVERT
    by = significance(source.remapping.coordinates)
    plain = is_appendable(target) and not target.is_structured and not target.is_curved
    if plain and by is not None and by == significance(target.remapping.coordinates):
        return APPENDED_AGAIN
    loops = level_variables(Access("A", tuple(f"i{axis}" for axis in range(source.order))), source)
    plan = plan_insertion(target, entry_order_of(source, loops))
    if not isinstance(plan, str):
        return APPENDED_AGAIN + (0.0 if plan.preserving is not None else PLACED + len(plan.passes) - 1)
    return APPENDED_AGAIN + (SORTED if plain and target.order == 2 else CONVERT)
