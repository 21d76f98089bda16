"""Results to which loops do not append: their values are inserted, and each pass of the insertion runs the loops again.

Prices of ways to results are on the scale of the cost model: a nest costs its iterations.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from ..analysis.contributions import contribution_order, levels_to_gather, takes_values
from ..analysis.insertion_plan import plan_insertion
from ..concrete_notation.nodes import Assign, Fill, Stmt
from ..concrete_notation.traversal import assignments, rewrite, statements
from ..formats import TensorType
from ..index_notation.nodes import Access
from ..index_notation.traversal import accesses
from ..lowering.workspace_types import LISTED
from ..records import replace
from ..scheduling.cost_model import DIMENSION, MERGED, PLACED, iterations
from ..scheduling.schedule import Schedule
from ..scheduling.strategy import Candidate


def placed(schedule: Schedule, types: Mapping[str, TensorType]) -> Schedule:
    """Return the loops with their values inserted into the result, if they do not append to it and it takes them."""
    target = types[schedule.target.tensor]
    if schedule.result.format == target.format or not schedule.problem.inserts:
        return schedule
    return _inserted(schedule, target) or schedule


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


# -- prices ----------------------------------------------------------------------------------------------------------
def price_of_loops(schedule: Schedule) -> float:
    """Return the price of loops, and of what inserts their values into the result, if they do not append them."""
    candidate, problem, plan = schedule.candidate, schedule.problem, schedule.insertion
    adds = candidate.strategy.adds_up and problem.outermost_to_add is not None
    if schedule.result.format == problem.wanted and (plan is None or adds):  # with the places of its values
        return candidate.price
    loops = sum(nest.cost for nest in candidate.nests) * problem.density + problem.price_of_operands
    if plan is None:
        return loops
    merges = 1.0 if len(problem.value.distinct_accesses) == 1 or problem.bound else MERGED
    return loops * (1 + (len(plan.passes) - 1) * merges) + PLACED * values_of(candidate)


def values_of(candidate: Candidate) -> float:
    """Return the typical number of values that loops give to the result."""
    problem = candidate.problem
    terms = [problem.value] if len(candidate.nests) == 1 else [term for _, term in problem.terms]
    total = 0.0
    for term, nest in zip(terms, candidate.nests, strict=True):
        counts = iterations(*problem.stored_again(term, nest.converts)[:2])
        total += prod(counts.get(v, DIMENSION) for v in nest.order[: problem.depth_of_result(nest.order)])
    return total
