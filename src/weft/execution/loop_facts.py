"""Facts about loops for those who run their kernels, and the texts of their functions."""

from __future__ import annotations

from itertools import chain

import numpy as np

from ..analysis.coordinate_sets import bound
from ..analysis.derived_variables import radix_components
from ..codegen import CText
from ..compiler import Lowered, generate, plan_loops, plan_on_structure
from ..formats.append_chains import append_chains
from ..formats.format import level_variables
from ..formats.size_bound import SizeBound
from ..index_notation import to_text
from ..index_notation.nodes import Reduce
from ..index_notation.traversal import reductions
from ..lowering.function_kind import FunctionKind
from .facts import EntryRequest, LoopFacts, LoopRequest, RunFacts, StoredAgain, WorkspaceFacts
from .insertion_loops import entry_loops, insertion_facts

_BYTES_PER_COORDINATE = {"list": 9, "pairs": 28, "flags": 1}
"""Bytes of a workspace for each coordinate, without its value, by the kind of the workspace."""


def lowered(request: LoopRequest | EntryRequest) -> Lowered:
    """Return the loops that are planned for a request."""
    if isinstance(request, EntryRequest):
        entries = entry_loops(request)
        assert isinstance(entries, Lowered)
        return entries
    if request.lead is not None:
        shared = plan_on_structure(request.assignment, request.types, request.lead, request.variant)
        assert shared is not None
        return shared
    found = plan_loops(request.assignment, request.types, request.variant, skip_fill=request.skip_fill)
    return found.with_wide_index() if request.wide else found


def loop_facts(loops: Lowered) -> LoopFacts:
    """Return what is known of loops once they are planned."""
    s = loops.schedule
    return LoopFacts(
        to_text(loops.assignment),
        s.target,
        s.result,
        loops.operands,
        loops.renamed_value.distinct_accesses,
        tuple([(v, each.op) for each in reductions(loops.assignment.value) for v in each.vars]),
        tuple(
            WorkspaceFacts(
                w.indices, np.dtype(w.dtype).itemsize + _BYTES_PER_COORDINATE.get(w.kind, 0), w in loops.list_workspaces
            )
            for w in s.program.workspaces
            if w.kind not in ("scalar", "hash")
        ),
        tuple(StoredAgain(c.tensor, c.name, c.format, c.accesses) for c in s.conversions),
        s.final_format,
        loops.skip_fill,
        loops.variant,
        None if loops.structure is None else loops.structure.tensor,
        tuple(loops.fills.items()),
        insertion_facts(loops),
    )


def _described(loops: Lowered) -> str:
    """Return the source and the result of a conversion by insertion in words."""
    s = loops.schedule
    source, target = s.types["A"], s.result
    return f"the conversion of {source.format} {source.dtype} to {target.format} {target.dtype}"


def run_facts(loops: Lowered) -> RunFacts:
    """Return what is known of loops once their functions are lowered."""
    s = loops.schedule
    sums = loops.sums if s.serial or loops.variant.parallel_loops else None
    if s.insertion is not None:
        if loops.variant.conversion:
            return RunFacts(_described(loops), loops.inserts_in_parallel)
        return RunFacts(
            loops.described,
            loops.inserts_in_parallel,
            counted=loops.counted_reductions,
            visited_axes=loops.visited_axes,
            sums=sums,
        )
    function = loops.evaluation
    return RunFacts(
        loops.described,
        function.chunked,
        function.unsequenced,
        loops.counted_reductions,
        _bounds(loops),
        FunctionKind.BOUND in loops.kinds and loops.options.enabled("size-bounds"),
        loops.appends_in_parallel,
        () if loops.variant.conversion else loops.visited_axes,
        sums,
    )


def _bounds(loops: Lowered) -> tuple[SizeBound, ...] | None:
    """Return a bound of the size of each append chain of a result; None if the sizes of the operands do not tell it."""
    s = loops.schedule
    types, chains = s.types, append_chains(s.result.format) if loops.appends else ()
    if s.final_format is not None or (loops.skip_fill and any(types[n].format.is_dense for n in loops.operands)):
        return None
    # The sizes of operand levels bound the result only if nothing but stored entries leads to its coordinates.
    expr = loops.renamed_value
    if not (chains and loops.reaches_stored_only and loops.options.enabled("size-bounds")):
        return None
    gathered = isinstance(expr, Reduce) and FunctionKind.BOUND in loops.kinds
    variables, definitions = level_variables(s.target, s.result.format), loops.context.derived
    # An append chain has as many entries as there are combinations of the variables down to its last level. These
    # variables are tried as they are, then replaced by their components (i by i/2 and i%2).
    for spelled in ([(v,) for v in variables], [radix_components(v, definitions) for v in variables]):
        down = [frozenset(chain.from_iterable(spelled[: c.last + 1])) for c in chains]
        found = [bound(expr, to, types, gathered) for to in down if all(spelled)]
        if found and all(b is not None for b in found):
            return tuple([b for b in found if b is not None])
    return None


def text_of(loops: Lowered, group: str, name: str) -> CText:
    """Return the C text of a function of a group (see ``Loops.functions``)."""
    match group:
        case "kernel":
            return loops.text(FunctionKind(name))
        case "parts":
            return loops.parallel_append_text(FunctionKind(name))
    passes = loops.insertion_functions(threads=group == "shared passes")
    (function,) = [each for each in passes if each.name == name]
    return generate([function], loops.options, shared=True)
