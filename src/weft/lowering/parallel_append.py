"""Results that threads append in parts, each copied to its place when the sizes of all parts before it are known.

Threads that append to one array must know the position at which each begins. Counting all entries before is half of
the work or more. Here a chunk of the outermost loop is appended to a buffer of its thread, which is small enough to
stay in the cache. Then the chunks take turns: each adds its number of entries to a total, and copies its entries to
the position that the total had before.

For ``bound``, ``counts`` holds the number of chunks and then, for each chunk, the largest number of coordinates that it
may append to each chain. For ``evaluate``, ``counts`` holds the number of chunks, the room for the coordinates of any
chunk in each chain, the number of chunks that have had their turn, and the number of coordinates in each chain that
those chunks have appended.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..concrete_notation.nodes import Forall
from ..formats import Format
from ..formats.append_chains import AppendChain, AppendedArray, append_chains, appended_arrays
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


def why_not_in_parts(context: LoweringContext) -> str | None:
    """Return the reason why threads cannot append a result in parts, or None."""
    format, program = context.types[context.target.tensor].format, context.program
    levels, stmt, chains = format.levels, program.stmt, append_chains(format)
    if not chains or chains[-1].last + 1 != len(levels) or any(b.first != a.last + 1 for a, b in pairwise(chains)):
        return "levels below the first list of coordinates are no lists"
    if any(level.borrows for level in levels):
        return "coordinates of several levels share an array, which has more than one element for each position"
    if any(w.copies for w in program.workspaces):
        return "what the loops append follows from segments that they sort"
    if not isinstance(stmt, Forall) or not stmt.parallel or program.splits:
        return "no plain parallel loop"
    if (fixed := next((chain for chain in chains if not _can_shift(format, chain)), None)) is not None:
        return f"the edges of {levels[fixed.first]} cannot be shifted"
    # Every parent must be visited if each chunk shifts the edges of all its parents.
    writer, first = AppendWriter(FunctionState(context, FunctionKind.BOUND), context.target), chains[0].first
    by_value = any(it.format.iteration == "value" for point in context.lattice(stmt) for it in point.coiterate)
    shifts = first > 0 and writer.visits_every_parent(chains[0])
    if shifts and not (by_value and stmt.var == level_variables(context.target, format)[0]):
        return "the outermost loop does not visit all of the result's first level"
    if not all(map(writer.visits_every_parent, chains[1:])):
        return "loops do not visit the parents of all levels"
    return None


def _can_shift(format: Format, chain: AppendChain) -> bool:
    """Return whether a chain has edges that can be shifted, or none but that of the root."""
    level = format.levels[chain.first]
    edges = [role for role in level.roles if role != "crd"]
    return chain.first == 0 or (level.capability(ShiftedEdges) is not None and len(edges) == 1)


class ParallelAppendWriter(AppendWriter):
    """Writer of a result to which threads append in parts, unless ``why_not_in_parts`` has a reason against it."""

    def __init__(self, f: FunctionState, access: Access):
        super().__init__(f, access)
        self.in_parts = f.kind is FunctionKind.EVALUATE
        if not self.in_parts:
            return
        # The loops append to arrays of the thread. The shared arrays remain parameters, for the copies in ``finish``.
        shared = self.whole
        self.arrays = {a: self._array(a) for a in appended_arrays(self.format)}
        self.own = {array: ir.Var(f"{array.name}_own", array.ty) for array in self.arrays.values()}
        self.spares = {array: ir.Var(f"{array.name}_spare", array.ty) for array in self.arrays.values()}
        levels = tuple(
            replace(m, arrays={role: self.own.get(array, array) for role, array in m.arrays.items()})
            for m in shared.levels
        )
        f.tensors[access.tensor] = replace(shared, arrays=(*shared.arrays, *self.spares.values()))
        self.vars = replace(shared, levels=levels, vals=self.own[shared.vals])

    def _array(self, a: AppendedArray) -> ir.Var:
        return self.whole.vals if a.level is None else self.whole.levels[a.level].arrays[a.role]

    @property
    def chunks(self) -> ir.Expr:
        return ir.Load(COUNTS, lit(0))

    def start(self, chunk: ir.Expr) -> ir.Stmt:
        if not self.in_parts:
            return super().start(chunk)
        # The buffer of a thread begins at its number times the room of one chunk.
        stmts: list[ir.Stmt] = []
        for a, array in self.arrays.items():
            room = add(ir.Load(COUNTS, lit(1 + a.chain)), lit(int(a.of_parents)))
            first = mul(ir.Call("weft_thread", (), "int64"), room)
            stmts.append(ir.Declare(self.own[array], add(self.spares[array], first)))
        stmts += [ir.Declare(counter, lit(0)) for counter in self.counters]
        if self.bounded:
            stmts.append(ir.Declare(self.end, ir.Load(COUNTS, lit(len(self.chains)))))
        return block(*stmts)

    def finish(self, chunk: ir.Expr) -> ir.Stmt:
        if not self.in_parts:
            return super().finish(chunk)
        n = len(self.chains)
        turn, places = add(COUNTS, lit(1 + n)), ir.Var("places", "int64*")
        at = [ir.Var(f"at{chain.last + 1}") for chain in self.chains]
        taken = ir.Call("weft_in_turn", (turn, chunk, places, lit(n)), "int64")
        return block(
            ir.Array(places, n),
            *(ir.Store(places, lit(k), counter) for k, counter in enumerate(self.counters)),
            ir.Evaluate(taken),
            *(ir.Declare(v, ir.Load(places, lit(k))) for k, v in enumerate(at)),
            *(self._shift(chain, at) for chain in self.chains),
            *(self._copy(a, array, at[a.chain]) for a, array in self.arrays.items()),
        )

    def _copy(self, a: AppendedArray, array: ir.Var, at: ir.Expr) -> ir.Stmt:
        """Return the copy of what a chunk has appended to an array, to the position at which the chunk begins."""
        size = mul(self.counters[a.chain], lit(np.dtype(array.ty[:-1]).itemsize))
        before = lit(int(a.of_parents))
        to, source = add(array, add(at, before)), add(self.own[array], before)
        return ir.Evaluate(ir.Call("weft_stream", (to, source, size), "int64"))

    def _shift(self, chain: AppendChain, at: list[ir.Var]) -> ir.Stmt:
        """Return the loop that adds the position at which a chunk begins to the edges of its parents."""
        if chain.first == 0 or chain.first in self.unsequenced:
            return block()
        begin: ir.Expr = lit(0)
        end: ir.Expr = self.counters[chain.index - 1]
        if chain.index == 0:
            # Each coordinate of the outermost loop has ``inner`` parents.
            inner: ir.Expr = lit(1)
            for level, m in zip(self.format.levels[1 : chain.first], self.vars.levels[1:], strict=False):
                inner = level.get_size(m, inner)
            begin, end = (mul(ir.Var(edge), inner) for edge in ("chunk_begin", "chunk_end"))
        r, m = ir.Var("r"), self.vars.levels[chain.first]
        edges = self.format.levels[chain.first].require(ShiftedEdges)
        return ir.For(r, begin, end, edges.shift_edges(m, r, at[chain.index]))

    def epilogue(self) -> ir.Stmt:
        if not self.in_parts:
            return super().epilogue()
        n = len(self.chains)
        return self.finalize(tuple(ir.Load(COUNTS, lit(2 + n + k)) for k in range(n)))
