"""Ways to the format of a result: values are appended, inserted or sorted, or another format is converted to it.

A result whose format does not follow the loops is inserted, sorted, or computed from operands that are converted first.
Each pass of an insertion merges the operands again. A sort, or a conversion of operands, costs more than one more pass
over the result. Or values are appended once, in a format near by that follows the loops, and then converted. The way
with the lowest price is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import dropwhile
from math import inf, prod

from ..analysis.contributions import contribution_order, entry_order_of, levels_to_gather, takes_values
from ..analysis.insertion_plan import plan_insertion
from ..concrete_notation.nodes import Assign, Fill, Stmt
from ..concrete_notation.traversal import assignments, rewrite, statements
from ..formats import Format, TensorType
from ..formats.append_chains import is_appendable, is_unordered_list
from ..formats.format import level_variables
from ..index_notation.nodes import Access, Assignment
from ..index_notation.traversal import accesses
from ..lowering.workspace_types import LISTED
from ..records import replace
from ..remapping.inverse import significance
from ..scheduling.cost_model import APPENDED_AGAIN, CONVERT, DIMENSION, MERGED, PLACED, SORTED, iterations
from ..scheduling.loop_problem import LoopProblem
from ..scheduling.operand_conversions import widest_index
from ..scheduling.schedule import Schedule, views_of, written
from ..scheduling.strategies import STRATEGIES, cheapest
from ..scheduling.strategy import Candidate
from ..scheduling.ways import Way, cheapest_first


def cheapest_way(schedule: Schedule, forms: Sequence[Assignment], types: Mapping[str, TensorType]) -> Schedule:
    """Return the schedule of the cheapest way to the format of the result; with no forms, its loops are to stay."""
    problem, first = schedule.problem, _as_chosen(schedule, types)
    follows = problem.dense or (first.name == "append" and not schedule.candidate.converts)
    settled = follows or not forms or (problem.variant.whole and first.name == "insert")
    if settled or not (problem.variant.stores_again and problem.enabled("nearest-format")):
        return first.plan  # type: ignore[no-any-return]
    best = cheapest_first([first, *_nearby(schedule, forms, types)])[0].plan
    return written(best) if isinstance(best, Candidate) else best


def result_ways(schedule: Schedule, forms: Sequence[Assignment], types: Mapping[str, TensorType]) -> tuple[Way, ...]:
    """Return the ways to the result, the cheapest first, and those that are refused."""
    if schedule.problem.dense:
        return (Way("store", "each value is stored in its place in an array", schedule.candidate.price, schedule),)
    others = [
        Way("append", f"by loops {_loops(c)}{_converts(c)}", c.price, c)
        for strategy in STRATEGIES
        if strategy is not schedule.candidate.strategy and not strategy.adds_up
        if (c := strategy.propose(schedule.problem)) is not None and c.cost < inf
    ]
    return cheapest_first([_as_chosen(schedule, types), *others, *_nearby(schedule, forms, types)])


def _as_chosen(schedule: Schedule, types: Mapping[str, TensorType]) -> Way:
    """Return the way of the loops that were chosen for the format of the result."""
    target, format, chosen = types[schedule.target.tensor], schedule.result.format, schedule.candidate
    name = "append"
    if format != target.format:
        name = "sort" if is_unordered_list(format) else f"via {format}"
        inserted = _inserted(schedule, target) if schedule.problem.inserts else None
        name, schedule = (name, schedule) if inserted is None else ("insert", inserted)
    return Way(name, f"by loops {_loops(chosen)}{_converts(chosen)}", _price(schedule, target.format), schedule)


def _inserted(schedule: Schedule, result: TensorType) -> Schedule | None:
    """Return the loops with their values inserted into the result (2020, section 6); None if they cannot be.

    Positions follow from attribute queries over the expression, and values of one position are added.
    """
    program, target, types = schedule.program, schedule.target, schedule.types
    plain = not program.splits and len(set(target.indices)) == len(target.indices)
    # Every pass would collect the values of a workspace again, which costs more than to convert what was collected.
    plain &= not any(w.kind in LISTED for w in program.workspaces)
    filled = any(isinstance(s, Fill) and s.target == target for s in statements(program.stmt))
    if not plain or filled or not takes_values(result.format):
        return None
    order, adds = contribution_order(program, target, types), schedule.candidate.strategy.adds_up
    read = {a.tensor for s in assignments(program.stmt) for a in accesses(s.value)} & types.keys()
    once = order.distinct and (not adds or all(types[name].format.is_unique for name in read))
    plan = plan_insertion(result.format, order) if once else ""
    if isinstance(plan, str):
        if not adds or levels_to_gather(result.format, bool(schedule.problem.bound)) is None:
            return None
        program = replace(program, stmt=adding(program.stmt, target))
        order = replace(contribution_order(program, target, types), distinct=False)
        plan = plan_insertion(result.format, order)
    if isinstance(plan, str):
        return None
    return replace(schedule, program=program, types={**types, target.tensor: result}, insertion=plan)


def adding(stmt: Stmt, target: Access) -> Stmt:
    """Return a statement that adds values to the result instead of storing them."""

    def rule(s: Stmt) -> Stmt | None:
        return replace(s, op="add") if isinstance(s, Assign) and s.target == target else None

    return rewrite(stmt, rule)


def _loops(candidate: Candidate) -> str:
    return "; then ".join(dict.fromkeys(", ".join(nest.order) for nest in candidate.nests))


def _converts(candidate: Candidate) -> str:
    names = dict.fromkeys(access.tensor for nest in candidate.nests for access in nest.converts)
    return f"; {' and '.join(names)} must be converted first" if names else ""


def _nearby(schedule: Schedule, forms: Sequence[Assignment], types: Mapping[str, TensorType]) -> Iterator[Way]:
    """Yield the ways by each format near by: the cheapest loops that append the result in it."""
    name, variant, target = schedule.target.tensor, schedule.problem.variant, types[schedule.target.tensor]
    for format in _near(forms[0], types, variant.no_dense_levels):
        known = {**types, name: TensorType.of(target.dtype, format, widest_index(target), target.fill)}
        refused = True
        for view in views_of(forms, known, variant):
            if view.why_not is None and view.types[name].format == format:
                candidate = cheapest(LoopProblem(view, variant, format))
                if candidate is not None and not candidate.strategy.adds_up:
                    again = _price_of_entry(candidate.problem.result.format, target.format) * _entries(candidate)
                    reason = f"by loops {_loops(candidate)}{_converts(candidate)}, then converted for {again:.4g}"
                    yield Way(f"via {format}", reason, candidate.price + again, candidate)
                    refused = False
        if refused:
            yield Way(f"via {format}", "loops do not append to it")


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
def _price(schedule: Schedule, wanted: Format) -> float:
    """Return the price of the loops, and of what assembles the result in its format."""
    candidate, problem, plan = schedule.candidate, schedule.problem, schedule.insertion
    is_priced = candidate.strategy.adds_up and problem.outermost_to_add is not None  # with the places of its values
    if schedule.result.format == wanted and (plan is None or is_priced):
        return candidate.price
    loops = sum(nest.cost for nest in candidate.nests) * problem.density + problem.price_of_operands
    if plan is None:
        return loops + _price_of_entry(schedule.result.format, wanted) * _entries(candidate)
    merges = 1.0 if len(problem.value.distinct_accesses) == 1 or problem.bound else MERGED
    return loops * (1 + (len(plan.passes) - 1) * merges) + PLACED * _entries(candidate)


def _entries(candidate: Candidate) -> float:
    """Return the typical number of values that loops give to the result."""
    problem = candidate.problem
    terms = [problem.value] if len(candidate.nests) == 1 else [term for _, term in problem.terms]
    total = 0.0
    for term, nest in zip(terms, candidate.nests, strict=True):
        counts = iterations(*problem.stored_again(term, nest.converts)[:2])
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
