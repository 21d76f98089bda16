"""The compiler's side of ``Loops``: modules for requests, and facts about loops for those who run their kernels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from itertools import chain
from typing import Any

import numpy as np

from ..analysis.coordinate_sets import bound
from ..analysis.derived_variables import radix_components
from ..analysis.level_queries import source_facts
from ..analysis.runtime_fills import fill_operands
from ..analysis.summation_order import order_of_sums
from ..assembly.hash_insertion import HashInsertionWriter
from ..assembly.user_query_writer import UserQueryWriter
from ..code_options import CodeOptions
from ..compiler import PlannedLoops, plan_loops, plan_on_structure, schedule_entry_loops
from ..concrete_notation.traversal import assignments
from ..formats import Format, TensorType
from ..formats.adjoining import arrays_of_rows, lists_entries
from ..formats.append_chains import append_chains
from ..formats.format import level_variables
from ..formats.growing_tables import tables_of
from ..formats.size_bound import SizeBound
from ..formats.tensor_vars import TensorVars
from ..index_notation import to_text
from ..index_notation.nodes import Access, Expr, Reduce
from ..index_notation.traversal import accesses, reductions, renamed
from ..lowering.function_kind import FunctionKind
from ..lowering.function_spec import FunctionSpec
from ..lowering.parallel_append import why_not_in_parts
from ..module import Module, copies_entries, kept_levels
from ..queries import Statement
from ..queries.table1_rewrites import SourceFacts, optimize
from ..records import replace
from ..scheduling.long_rows import PARTS
from .facts import (
    EntryRequest,
    LoopFacts,
    QueryRequest,
    Request,
    RowFacts,
    RunFacts,
    StoredAgain,
    TableRequest,
    WorkspaceFacts,
)
from .insertion_loops import entry_loops, insertion_facts

_BYTES_PER_COORDINATE = {"list": 9, "pairs": 28, "flags": 1}
"""Bytes of a workspace for each coordinate, without its value, by the kind of the workspace."""


def module(request: Request) -> Module:
    """Return the functions of the loops that are planned for a request."""
    match request:
        case EntryRequest():
            entries = entry_loops(request)
            assert isinstance(entries, PlannedLoops)
            return Module(entries)
        case TableRequest():
            return _table_insertion(request)
        case QueryRequest(type=type, statements=statements, options=options):
            # No values are read.
            ask = FunctionSpec("ask", FunctionKind.ASSEMBLE, partial(UserQueryWriter, statements=statements))
            what = f"a query about {type.format} {type.dtype}"
            return Module(loops_for_queries(type, options), {"queries/ask": ask}, what)
    if request.lead is not None:
        shared = plan_on_structure(request.assignment, request.types, request.lead, request.variant)
        assert shared is not None
        return Module(shared)
    skip_fill, via = request.skip_fill, request.via
    return Module(plan_loops(request.assignment, request.types, request.variant, skip_fill=skip_fill, via=via))


def _table_insertion(request: TableRequest) -> Module:
    source, target = request.source, request.target
    seen = tables_of(target.format)
    assert seen is not None
    # The list gets the fill value of the target: implicit entries of the list then change nothing.
    loops = schedule_entry_loops(replace(source, fill=target.fill), target, request.options)
    s = loops.schedule
    tables = replace(s, types={**s.types, "B": replace(target, format=seen)})
    loops = replace(loops, schedule=tables, types={"A": source, "B": target})
    grow = FunctionSpec("grow", FunctionKind.COMPUTE, partial(HashInsertionWriter, adds=request.adds))
    return Module(loops, {"tables/grow": grow}, f"the insertion of entries into {target.format} {target.dtype}")


@lru_cache(maxsize=256)
def loops_for_queries(type: TensorType, options: CodeOptions) -> PlannedLoops:
    """Return loops over the entries of a tensor."""
    target = TensorType.of(type.dtype, Format.dense(type.format.order), fill=type.fill)
    return schedule_entry_loops(type, target, options)


def optimized_queries(
    statements: tuple[Statement, ...], type: TensorType, options: CodeOptions
) -> tuple[Statement, ...]:
    """Return queries as they are rewritten for tensors of a type, by the rules of Table 1 (2020 paper)."""
    source = source_facts(type.format)
    # A rule that reads the number of children from positions holds only if that level is the innermost loop.
    program = loops_for_queries(type, options).schedule.program
    if source.innermost is not None and UserQueryWriter.innermost(program) != f"i{source.innermost}":
        source = SourceFacts(None, source.only_nonzeros)
    return tuple([optimize(s, source) for s in statements])


def varied(loops: PlannedLoops, change: Mapping[str, Any]) -> Module:
    """Return the functions of loops, with what a user has scheduled, for a variant with other fields."""
    variant = replace(loops.variant, **change)
    return Module(
        plan_loops(loops.assignment, loops.types, variant, skip_fill=loops.skip_fill, user_schedule=loops.user_schedule)
    )


def loop_facts(loops: PlannedLoops) -> LoopFacts:
    """Return what is known of loops once they are planned."""
    s, kept = loops.schedule, kept_levels(loops)
    return LoopFacts(
        to_text(loops.assignment),
        s.target,
        s.result,
        loops.operands,
        _accesses(loops),
        tuple([(v, each.op) for each in reductions(loops.assignment.value) for v in each.vars]),
        tuple(
            WorkspaceFacts(
                w.indices,
                np.dtype(w.dtype).itemsize + _BYTES_PER_COORDINATE.get(w.kind, 0),
                w.kind in ("list", "pairs"),
            )
            for w in s.program.workspaces
            if w.kind not in ("scalar", "hash")
        ),
        tuple(StoredAgain(c.tensor, c.name, c.format, c.accesses) for c in s.conversions),
        loops.converts_to,
        loops.skip_fill,
        loops.variant,
        None if loops.lead is None else loops.lead.tensor,
        tuple(fill_operands(loops.types).items()),
        insertion_facts(loops),
        kept is not None,
        tuple(({} if kept is None else kept).items()),
    )


def row_facts(loops: PlannedLoops, operands: tuple[str, ...]) -> RowFacts | None:
    """Return what tells whether an operand has long rows."""
    rows = loops.schedule.rows
    assert rows is not None
    name = rows.access.tensor
    tensor = TensorVars.of(name, loops.schedule.types[name], str)
    arrays = arrays_of_rows(tensor, rows.level)
    return RowFacts(operands.index(name), arrays, lists_entries(tensor), rows.share, PARTS)


def _renamed_value(loops: PlannedLoops) -> Expr:
    """Return the right-hand side, as it is written, in terms of the functions' own operands."""
    value, conversions = loops.assignment.value, loops.schedule.conversions
    for c in conversions:
        value = c.renamed(value)
    # Sums that stand apart have variables of their own, in the accesses of whose conversions they are.
    names = {c.tensor: c.name for c in conversions if c.tensor not in loops.operands}
    return renamed(value, tensors=names) if names else value


def _accesses(loops: PlannedLoops) -> tuple[Access, ...]:
    """Return the accesses to the functions' own operands, as they are written, and then those with other variables."""
    written = list(_renamed_value(loops).distinct_accesses)
    variables = {v for a in written for v in a.indices}
    every = [a for stmt in assignments(loops.schedule.program.stmt) for a in accesses(stmt.value)]
    others = [a for a in every if a.tensor in loops.operands and not variables.issuperset(a.indices)]
    return tuple(dict.fromkeys([*written, *others]))


def run_facts(module: Module) -> RunFacts:
    """Return what is known of loops once their functions are lowered."""
    loops, s = module.loops, module.schedule
    if module.is_specified:
        return RunFacts(module.described)
    if copies_entries(loops):
        return RunFacts(module.described, module.inserts_in_parallel)
    sums = None
    if s.serial or loops.variant.parallel_loops:
        sums = order_of_sums(s.program, s.target, s.types, loops.options.reassociates)
    counted = tuple([c.over for c in module.context.implicit_entries.values() if c.needs_number])
    visited = () if loops.variant.conversion else _visited_axes(module)
    if s.insertion is not None:
        return RunFacts(module.described, module.inserts_in_parallel, counted=counted, visited_axes=visited, sums=sums)
    function = module.evaluation
    return RunFacts(
        module.described,
        function.chunked,
        function.unsequenced,
        counted,
        _bounds(module),
        "kernel/bound" in module.ordinary and loops.options.enabled("size-bounds"),
        _appends_in_parallel(module),
        visited,
        sums,
    )


def _appends_in_parallel(module: Module) -> bool:
    """Return whether threads can append in parts."""
    if not module.options.enabled("parallel-append") or not module.loops.appends:
        return False
    return why_not_in_parts(module.context) is None and module.context.reaches_stored_only


def _visited_axes(module: Module) -> tuple[int, ...]:
    """Return the axes of a result all of whose coordinates are visited, if not because an operand has them all.

    Loops over a function of a sum are such, as each element has a value of its own.
    """
    loops, indices = module.loops, module.schedule.target.indices
    levels = [(a, loops.types[a.tensor].format) for a in loops.assignment.value.distinct_accesses]
    told = {v for a, _ in levels for v, level in loops.types[a.tensor].levels_of(a) if level.full}
    lattices = module.evaluation.lattices
    every = {v for v, points in lattices if any(all(it.full for it in point.coiterate) for point in points)}
    # The outermost loop alone may visit the rows of an operand that is stored again.
    visited, outermost = every.intersection(indices) - told, {v for v, _ in lattices[:1]}
    arrays = {v for a, format in levels if format.is_dense for v in a.indices}
    alone = visited <= outermost and (arrays.intersection(indices) or not every.issuperset(indices))
    if len(indices) < 2 or not visited or alone:
        return ()
    return tuple([axis for axis, v in enumerate(indices) if v in every])


def _bounds(module: Module) -> tuple[SizeBound, ...] | None:
    """Return a bound of the size of each append chain of a result; None if the sizes of the operands do not tell it."""
    loops, s = module.loops, module.schedule
    types, chains = s.types, append_chains(s.result.format) if loops.appends else ()
    if loops.converts_to is not None or (loops.skip_fill and any(types[n].format.is_dense for n in loops.operands)):
        return None
    # The sizes of operand levels bound the result only if nothing but stored entries leads to its coordinates.
    expr = _renamed_value(loops)
    if not (chains and module.context.reaches_stored_only and loops.options.enabled("size-bounds")):
        return None
    gathered = isinstance(expr, Reduce) and "kernel/bound" in module.ordinary
    variables, definitions = level_variables(s.target, s.result.format), module.context.derived
    # An append chain has as many entries as there are combinations of the variables down to its last level. These
    # variables are tried as they are, then replaced by their components (i by i/2 and i%2).
    for spelled in ([(v,) for v in variables], [radix_components(v, definitions) for v in variables]):
        down = [frozenset(chain.from_iterable(spelled[: c.last + 1])) for c in chains]
        found = [bound(expr, to, types, gathered) for to in down if all(spelled)]
        if found and all(b is not None for b in found):
            return tuple([b for b in found if b is not None])
    return None
