"""Loops whose values are inserted, as the compiler plans them: which, what kernels must know of them, and why none."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..analysis.contributions import copied_access, entry_order_of, has_one_position_each, keeps_duplicates
from ..analysis.insertion_plan import fills_rows, plan_insertion, reused_arrays
from ..assembly.placement import adding
from ..compiler import PlannedLoops, schedule_entry_loops, tile_entry_loops
from ..concrete_notation.traversal import foralls_of
from ..concrete_notation.values import same_value
from ..dtypes import adds_alike
from ..formats import TensorType
from ..records import replace
from ..tracing import Trace
from .facts import EntryRequest, InsertionFacts, InsertionLevel


def entry_loops(request: EntryRequest, trace: Trace | None = None) -> PlannedLoops | str:
    """Return the loops that insert the entries of a source into a result, or the reason for none."""
    source, target, skip_fill = request.source, request.target, request.skip_fill
    loops = schedule_entry_loops(source, target, request.options, trace)
    twice = not source.format.is_unique and not keeps_duplicates(target.format)
    if twice and (reason := _why_not_added(source, target, skip_fill)) is not None:
        return reason
    order = entry_order_of(source.format, [loop.var for loop in foralls_of(loops.schedule.program.stmt)])
    # Entries that are left out shift the positions of those behind them.
    follows = order.follows and not skip_fill
    order = replace(order, distinct=not twice, curved=request.curved or order.curved, follows=follows)
    plan = plan_insertion(target.format, order)
    if isinstance(plan, str):
        return plan
    # Tiles write to few rows at a time, but their loops no longer visit all entries of a coordinate together.
    if not plan.unordered:
        tiled = tile_entry_loops(loops, target.format, trace)
        if tiled is not loops:
            loops, plan = tiled, plan_insertion(target.format, replace(order, consecutive=()))
            assert not isinstance(plan, str)
    schedule = replace(loops.schedule, types={**loops.schedule.types, "B": target}, insertion=plan)
    if twice:
        program = schedule.program
        schedule = replace(schedule, program=replace(program, stmt=adding(program.stmt, schedule.target)))
    return replace(loops, schedule=schedule, skip_fill=skip_fill, replan=partial(entry_loops, request))


def _why_not_added(source: TensorType, target: TensorType, skip_fill: bool) -> str | None:
    """Return the reason why duplicates cannot be added at their places, one by one; None if they can be."""
    if not has_one_position_each(target.format, True):
        return "the source may hold a coordinate twice"
    if skip_fill or not same_value(target.fill, 0):
        return "duplicates must be added before values are compared with the fill value"
    if not adds_alike(np.dtype(source.dtype), np.dtype(target.dtype)):
        return f"duplicates must be added as {source.dtype}, before they become {target.dtype}"
    return None


def insertion_facts(loops: PlannedLoops) -> InsertionFacts | None:
    """Return how a result is assembled by insertion; None if it is not."""
    s = loops.schedule
    plan, target = s.insertion, s.result
    if plan is None:
        return None
    copied = copied_access(s.program, s.target)
    source = s.types[copied.tensor] if copied is not None and plan.entry_order.distinct else None
    shares, kept_levels = (False, {}) if source is None else reused_arrays(source, target, plan, loops.options)
    private = dict(plan.private)
    levels = tuple(
        InsertionLevel(
            tuple(phase.name for phase in plan.passes if phase.level == k),
            k in plan.unordered,
            tuple((f"{a.label}_mark", a.statement.where.target.indices) for a in plan.marks[k] if a.statement.where),
            private.get(k),
            kept_levels.get(k),
        )
        for k in range(len(target.format.levels))
    )
    return InsertionFacts(
        source,
        tuple(phase.name for phase in plan.passes),
        levels,
        plan.preserving,
        shares,
        fills_rows(plan, loops.options),
        plan.sequential is not None,
        tuple(k for k, around in plan.counters.items() if around is None),
        plan.scratch,
    )
