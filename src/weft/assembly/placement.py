"""Placement: values go to their places in the result as they are computed (2020 paper, section 6).

A result that no level can append in the order of the loops would be computed in another format, and converted. Most
formats take values in the order in which they come: positions follow from attribute queries over the expression, and
values of one position are added. Then one kernel assembles the result, and there is nothing to convert.
"""

from __future__ import annotations

from ..analysis.contributions import contribution_order, levels_to_gather, takes_values
from ..analysis.insertion_plan import InsertionPlan, plan_insertion
from ..concrete_notation.nodes import Assign, Fill, Program, Stmt
from ..concrete_notation.traversal import assignments, rewrite, statements
from ..formats import TensorType
from ..index_notation.nodes import Access
from ..index_notation.traversal import accesses
from ..lowering.workspace_types import LISTED
from ..records import replace
from ..scheduling.schedule import Schedule


def place_result(schedule: Schedule, result: TensorType) -> Schedule:
    """Return a schedule whose values are inserted into the result, if they would have to be converted otherwise."""
    final = schedule.final_format is not None and not schedule.problem.view.converted
    if not final or not _is_placeable(schedule, result):
        return schedule
    placed = _placed(schedule, result)
    if placed is None:
        return schedule
    program, plan = placed
    types = {**schedule.types, schedule.target.tensor: result}
    return replace(schedule, program=program, types=types, final_format=None, insertion=plan)


def _is_placeable(schedule: Schedule, result: TensorType) -> bool:
    """Return whether nothing but the order of values can keep them from being inserted."""
    program, indices = schedule.program, schedule.target.indices
    plain = not program.splits and len(set(indices)) == len(indices)
    # Every pass would collect the values of a workspace again, which costs more than to convert what was collected.
    plain &= not any(w.kind in LISTED for w in program.workspaces)
    filled = any(isinstance(s, Fill) and s.target == schedule.target for s in statements(program.stmt))
    return plain and not filled and takes_values(result.format)


def _placed(schedule: Schedule, result: TensorType) -> tuple[Program, InsertionPlan] | None:
    """Return the program with the plan for inserting its values, or None if they cannot be inserted."""
    program, target, format = schedule.program, schedule.target, result.format
    order = contribution_order(program, target, schedule.types)
    adds = schedule.candidate.strategy.adds_up
    read = {a.tensor for s in assignments(program.stmt) for a in accesses(s.value)} & schedule.types.keys()
    unique = all(schedule.types[name].format.is_unique for name in read)
    plan = plan_insertion(format, order)
    if order.distinct and (unique or not adds) and not isinstance(plan, str):
        return program, plan
    if not adds or levels_to_gather(format, bool(schedule.problem.bound)) is None:
        return None
    program = replace(program, stmt=adding(program.stmt, target))
    order = replace(contribution_order(program, target, schedule.types), distinct=False)
    plan = plan_insertion(format, order)
    return None if isinstance(plan, str) else (program, plan)


def adding(stmt: Stmt, target: Access) -> Stmt:
    """Return a statement that adds values to the result instead of storing them."""

    def rule(s: Stmt) -> Stmt | None:
        return replace(s, op="add") if isinstance(s, Assign) and s.target == target else None

    return rewrite(stmt, rule)
