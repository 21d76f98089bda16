"""Results that share the index arrays of an operand: loops compute the values at its positions, and nothing else."""

from __future__ import annotations

from ..concrete_notation.nodes import Forall
from ..concrete_notation.traversal import assignments, foralls_of
from ..formats import TensorType
from ..formats.format import level_variables
from ..index_notation.nodes import Access
from ..records import replace
from .schedule import Schedule


def share_structure(schedule: Schedule, result: TensorType, lead: Access) -> Schedule | None:
    """Return loops over entries of a result of this type that shares the arrays of ``lead``; None if they do more."""
    program, name = schedule.program, schedule.target.tensor
    stored = [a for a in assignments(program.stmt) if a.target.tensor == name]
    plain = not program.splits and all(w.kind == "scalar" for w in program.workspaces)
    if not plain or schedule.conversions or len(stored) != 1:
        return None
    around = {loop.var for loop in foralls_of(program.stmt) if stored[0] in assignments(loop)}
    if not around <= {*lead.indices, *level_variables(lead, result.format)}:
        return None  # a value would be written once for each coordinate of a reduction
    # Each position is written once, so that threads share the outermost loop, whatever it is over.
    stmt = program.stmt
    if isinstance(stmt, Forall):
        stmt = replace(stmt, parallel=True)
    order = ", ".join(loop.var for loop in foralls_of(stmt))
    return replace(
        schedule,
        program=replace(program, stmt=stmt),
        types={**schedule.types, name: result},
        decisions=(f"loop order {order}; {name} shares the index arrays of {lead.tensor}: only values are computed",),
    )
