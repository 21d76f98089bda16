"""Loops whose values are inserted, as the compiler plans them: which, what kernels must know of them, and why none."""

from __future__ import annotations

import numpy as np

from ..analysis.contributions import copied_access, entry_order_of, has_one_position_each, keeps_duplicates
from ..analysis.insertion_plan import plan_insertion, reused_arrays
from ..assembly.placement import adding
from ..compiler import Lowered, generate, schedule_entry_loops, tile_entry_loops, types_text
from ..concrete_notation import to_text as statement_text
from ..concrete_notation.traversal import foralls_of
from ..concrete_notation.values import same_value
from ..dtypes import adds_alike
from ..formats import TensorType
from ..index_notation import to_text
from ..ir.printer import function_text
from ..records import replace
from ..tracing import Trace
from .facts import EntryRequest, InsertionFacts, InsertionLevel, LoopRequest


def entry_loops(request: EntryRequest, trace: Trace | None = None) -> Lowered | str:
    """Return the loops that insert the entries of a source into a result, or the reason for none."""
    source, target, skip_fill = request.source, request.target, request.skip_fill
    lowered = schedule_entry_loops(source, target, request.options, trace)
    twice = not source.format.is_unique and not keeps_duplicates(target.format)
    if twice and (reason := _why_not_added(source, target, skip_fill)) is not None:
        return reason
    order = entry_order_of(source.format, [loop.var for loop in foralls_of(lowered.schedule.program.stmt)])
    # Entries that are left out shift the positions of those behind them.
    follows = order.follows and not skip_fill
    order = replace(order, distinct=not twice, curved=request.curved or order.curved, follows=follows)
    plan = plan_insertion(target.format, order)
    if isinstance(plan, str):
        return plan
    # Tiles write to few rows at a time, but their loops no longer visit all entries of a coordinate together.
    if not plan.unordered:
        tiled = tile_entry_loops(lowered, target.format, trace)
        if tiled is not lowered:
            lowered, plan = tiled, plan_insertion(target.format, replace(order, consecutive=()))
            assert not isinstance(plan, str)
    schedule = replace(lowered.schedule, types={**lowered.schedule.types, "B": target}, insertion=plan)
    if twice:
        program = schedule.program
        schedule = replace(schedule, program=replace(program, stmt=adding(program.stmt, schedule.target)))
    return replace(lowered, schedule=schedule, skip_fill=skip_fill)


def _why_not_added(source: TensorType, target: TensorType, skip_fill: bool) -> str | None:
    """Return the reason why duplicates cannot be added at their places, one by one; None if they can be."""
    if not has_one_position_each(target.format, True):
        return "the source may hold a coordinate twice"
    if skip_fill or not same_value(target.fill, 0):
        return "duplicates must be added before values are compared with the fill value"
    if not adds_alike(np.dtype(source.dtype), np.dtype(target.dtype)):
        return f"duplicates must be added as {source.dtype}, before they become {target.dtype}"
    return None


def insertion_facts(lowered: Lowered) -> InsertionFacts | None:
    """Return how a result is assembled by insertion; None if it is not."""
    s = lowered.schedule
    plan, target = s.insertion, s.result
    if plan is None:
        return None
    copied = copied_access(s.program, s.target)
    source = s.types[copied.tensor] if copied is not None and plan.entry_order.distinct else None
    shares, kept_levels = (False, {}) if source is None else reused_arrays(source, target, plan, lowered.options)
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
        plan.sequential is not None,
        tuple(k for k, loops in plan.counters.items() if loops is None),
        plan.scratch,
    )


def stages(lowered: Lowered, shareable: bool) -> dict[str, str]:
    """Return the text of every stage of an insertion, by name."""
    loops = ", ".join(loop.var for loop in foralls_of(lowered.schedule.program.stmt))
    shared = "threads share the passes" if shareable else "one thread"
    return {
        "index notation": to_text(lowered.assignment),
        "formats": types_text(lowered.used_types),
        "schedule": f"passes {', '.join(p.name for p in lowered.insertion_passes)}; loop order {loops}\n{shared}",
        "attribute queries": lowered.queries,
        "concrete notation": statement_text(lowered.schedule.program.stmt),
        "ir": "\n".join(map(function_text, lowered.insertion_functions())),
        "c": lowered.source,
    }


def passes(lowered: Lowered, request: EntryRequest | LoopRequest | None) -> dict[str, str]:
    """Return the text of what each pass of the compiler returned, by name."""
    if not isinstance(request, EntryRequest):
        return lowered.passes()
    trace = Trace(keep=True)
    entry_loops(request, trace)
    generate(lowered.insertion_functions(trace=trace), lowered.options, trace=trace)
    return trace.texts()
