"""Results that threads append in parts, each copied to its place when the sizes of all parts before it are known.

Threads that append to one array must know the position at which each begins. Counting all entries before is half of
the work or more. Here a chunk of the outermost loop is appended to a buffer of its thread, which is small enough to
stay in the cache. Then the chunks take turns: each adds its number of entries to a total, and copies its entries to
the position that the total had before.

For ``bound``, ``counts`` holds the number of chunks and the largest number of coordinates that each may append. For
``evaluate``, ``counts`` holds the number of chunks, the largest number of coordinates that any chunk may append, the
number of chunks that have had their turn, and the number of coordinates that those chunks have appended.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..concrete_notation.nodes import Forall
from ..formats import LevelVars
from ..formats.append_chains import append_chains
from ..formats.capabilities import ShiftedEdges
from ..formats.format import level_variables
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import add, block, lit, mul
from ..records import replace
from .append_writer import AppendWriter
from .context import LoweringContext
from .function_kind import COUNTS, FunctionKind
from .function_state import FunctionState


def _thread_buffers(levels: Sequence[LevelVars], vals: ir.Var, first: int) -> dict[ir.Var, ir.Var]:
    """Return the array that holds the buffers of all threads, for each array that is appended to from a level on."""
    appended = [m.arrays["crd"] for m in levels[first:] if "crd" in m.arrays]
    return {array: ir.Var(f"{array.name}_spare", array.ty) for array in (*appended, vals)}


def why_not_in_parts(context: LoweringContext) -> str | None:
    """Return the reason why threads cannot append a result in parts, or None."""
    format, program = context.types[context.target.tensor].format, context.program
    levels, stmt, chains = format.levels, program.stmt, append_chains(format)
    if len(chains) != 1 or chains[0].last + 1 != len(levels):
        return "not one list of coordinates with values"
    if any(level.borrows for level in levels):
        return "coordinates of several levels share an array, which has more than one element for each position"
    if not isinstance(stmt, Forall) or not stmt.parallel or program.splits:
        return "no plain parallel loop"
    points, first = context.lattice(stmt), chains[0].first
    by_value = len(points) == 1 and [it.format.iteration for it in points[0].coiterate] == ["value"]
    # Every parent must be visited, since each chunk shifts the edges of all its parents.
    if first and not (by_value and stmt.var == level_variables(context.target, format)[0]):
        return "the outermost loop does not visit all of the result's first level"
    if first and levels[first].capability(ShiftedEdges) is None:
        return f"the edges of {levels[first]} cannot be shifted"
    return None


class ParallelAppendWriter(AppendWriter):
    """Writer of a result to which threads append in parts, unless ``why_not_in_parts`` has a reason against it."""

    def __init__(self, f: FunctionState, access: Access):
        super().__init__(f, access)
        self.spares: dict[ir.Var, ir.Var] = {}
        if f.kind is not FunctionKind.EVALUATE:
            return
        # The loops append to arrays of the thread. The shared arrays remain parameters, for the copies in ``finish``.
        shared = self.vars
        self.spares = _thread_buffers(shared.levels, shared.vals, self.chains[0].first)
        self.own = {array: ir.Var(f"{array.name}_own", array.ty) for array in self.spares}
        levels = tuple(
            replace(m, arrays={role: self.own.get(array, array) for role, array in m.arrays.items()})
            for m in shared.levels
        )
        f.tensors[access.tensor] = replace(shared, arrays=(*shared.arrays, *self.spares.values()))
        self.vars = replace(shared, levels=levels, vals=self.own[shared.vals])

    @property
    def chunks(self) -> ir.Expr:
        return ir.Load(COUNTS, lit(0))

    def start(self, chunk: ir.Expr) -> ir.Stmt:
        if not self.spares:
            return super().start(chunk)
        # The buffer of a thread begins at its number times the room of one chunk.
        room = ir.Load(COUNTS, lit(1))
        first = mul(ir.Call("weft_thread", (), "int64"), room)
        own = [ir.Declare(self.own[array], add(spare, first)) for array, spare in self.spares.items()]
        ends = [ir.Declare(self.end, room)] if self.bounded else []
        return block(*own, ir.Declare(self.counters[0], lit(0)), *ends)

    def finish(self, chunk: ir.Expr) -> ir.Stmt:
        if not self.spares:
            return super().finish(chunk)
        at, n = ir.Var("at"), self.counters[0]
        turn = ir.Call("weft_in_turn", (add(COUNTS, lit(2)), chunk, n), "int64")
        copies = []
        for array, own in self.own.items():
            size = mul(n, lit(np.dtype(array.ty[:-1]).itemsize))
            copies.append(ir.Evaluate(ir.Call("weft_stream", (add(array, at), own, size), "int64")))
        return block(ir.Declare(at, turn), *copies, self._shift(at))

    def _shift(self, at: ir.Expr) -> ir.Stmt:
        """Return the loop that adds ``at``, the position at which a chunk begins, to the edges of its parents."""
        (chain,) = self.chains
        if chain.first == 0 or chain.first in self.unsequenced:
            return block()
        # Each coordinate of the outermost loop has ``inner`` parents.
        inner: ir.Expr = lit(1)
        for level, m in zip(self.format.levels[1 : chain.first], self.vars.levels[1:], strict=False):
            inner = level.get_size(m, inner)
        r, m = ir.Var("r"), self.vars.levels[chain.first]
        begin, end = (mul(ir.Var(edge), inner) for edge in ("chunk_begin", "chunk_end"))
        edges = self.format.levels[chain.first].require(ShiftedEdges)
        return ir.For(r, begin, end, edges.shift_edges(m, r, at))

    def epilogue(self) -> ir.Stmt:
        return self.finalize((ir.Load(COUNTS, lit(3)),)) if self.spares else super().epilogue()
