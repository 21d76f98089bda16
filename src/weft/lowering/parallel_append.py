"""Results that threads append in parts, each copied to its place when the sizes of all parts before it are known.

Threads that append to one array must know the position at which each begins. Counting all entries before is half of
the work or more. Here a chunk of the outermost loop is appended in its place if all chunks before it are complete, as
they are if one thread does all. Otherwise it is appended to a buffer of its thread, which is small enough to stay in
the cache, and copied to its place by the thread that completes the last chunk before it. No thread waits: each has
several buffers, and appends a chunk to memory of the chunk's own if all of them are full.

For ``bound``, ``counts`` holds the number of chunks and then, for each chunk, the largest number of coordinates that it
may append to each chain. For ``evaluate``, it holds the number of chunks, and the number of buffers of each thread; for
each chain, the length of a buffer, and the number of coordinates up to the first chunk that is not complete; a row for
each chunk, as ``weft_begin_part`` describes it; and for each buffer whether it is full. The three numbers of a row are
the bounds of the outermost loop, and the largest number of coordinates in the last chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from ..abi import IN_PLACE, part_width
from ..concrete_notation.nodes import Forall
from ..formats import Format
from ..formats.append_chains import AppendChain, AppendedArray, append_chains, appended_arrays
from ..formats.capabilities import ShiftedEdges
from ..formats.format import level_variables
from ..formats.tensor_vars import TensorVars
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import add, block, eq, if_, lit, mul, ne
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
        self.arrays = {a: self._array(a) for a in appended_arrays(self.format)}
        self.own, self.spares, self.parts = (
            {array: ir.Var(f"{array.name}_{word}", array.ty) for array in self.arrays.values()}
            for word in ("own", "spare", "part")
        )
        f.tensors[access.tensor] = replace(self.whole, arrays=(*self.whole.arrays, *self.spares.values()))
        self.vars = self._with_appended(self.own)

    def _with_appended(self, arrays: Mapping[ir.Var, ir.Var]) -> TensorVars:
        """Return the variables of the result with other arrays in place of those to which threads append."""
        levels = tuple(
            replace(m, arrays={role: arrays.get(array, array) for role, array in m.arrays.items()})
            for m in self.whole.levels
        )
        return replace(self.whole, levels=levels, vals=arrays[self.whole.vals])

    def _array(self, a: AppendedArray) -> ir.Var:
        return self.whole.vals if a.level is None else self.whole.levels[a.level].arrays[a.role]

    @property
    def chunks(self) -> ir.Expr:
        return ir.Load(COUNTS, lit(0))

    def start(self, chunk: ir.Expr) -> ir.Stmt:
        if not self.in_parts:
            return super().start(chunk)
        n, row = len(self.chains), ir.Var("own_row", "int64*")
        lengths, totals = (add(COUNTS, lit(2 + k)) for k in (0, n))
        begun = (row, totals, lengths, lit(n), self._row(self.chunks), ir.Load(COUNTS, lit(1)))
        stmts: list[ir.Stmt] = [
            ir.Declare(row, self._row(chunk)),
            ir.Evaluate(ir.Call("weft_begin_part", begun, "int64")),
            *(ir.Declare(self.own[array], self._memory(a, row)) for a, array in self.arrays.items()),
        ]
        stmts += [ir.Declare(counter, lit(0)) for counter in self.counters]
        if self.bounded:
            stmts.append(ir.Declare(self.end, ir.Load(row, lit(3 + n))))
        return block(*stmts)

    def finish(self, chunk: ir.Expr) -> ir.Stmt:
        if not self.in_parts:
            return super().finish(chunk)
        n, mine, part, row = len(self.chains), ir.Var("mine", "int64*"), ir.Var("part"), ir.Var("own_row", "int64*")
        numbers: list[ir.Expr] = list(self.counters)
        if self._shifts_shared:
            numbers += [ir.Var("chunk_begin"), ir.Var("chunk_end")]
        rows = self._row(lit(0)), lit(part_width(n)), self.chunks
        handed_in = ir.Call("weft_hand_in", (*rows, chunk, add(COUNTS, lit(2 + n)), lit(n), mine), "int64")
        return block(
            *(ir.Store(row, lit(1 + k), number) for k, number in enumerate(numbers)),
            ir.Array(mine, 2),
            ir.Evaluate(handed_in),
            ir.For(part, ir.Load(mine, lit(0)), ir.Load(mine, lit(1)), self._placed(part)),
        )

    def _row(self, chunk: ir.Expr) -> ir.Expr:
        n = len(self.chains)
        return add(COUNTS, add(mul(chunk, lit(part_width(n))), lit(2 + 2 * n)))

    def _memory(self, a: AppendedArray, row: ir.Var) -> ir.Expr:
        """Return where a chunk appends its part of an array, given the chunk's row."""
        array, at = self.arrays[a], 4 + len(self.chains) + a.chain
        elsewhere = add(self.spares[array], ir.Load(row, lit(at + len(self.chains))))
        return ir.Select(eq(self._buffer(row), lit(IN_PLACE)), add(array, ir.Load(row, lit(at))), elsewhere)

    def _buffer(self, row: ir.Var) -> ir.Expr:
        return ir.Load(row, lit(part_width(len(self.chains)) - 1))

    def _placed(self, part: ir.Var) -> ir.Stmt:
        """Return the code that puts a part, of this chunk or of a later one, to its place in the result."""
        n, row = len(self.chains), ir.Var("row", "int64*")
        sizes, at = ([ir.Var(f"{word}{c.last + 1}") for c in self.chains] for word in ("size", "at"))
        copies = [self._copy(a, array, sizes, at) for a, array in self.arrays.items()]
        give = ir.Call("weft_give_buffer", (self._row(self.chunks), self._buffer(row)), "int64")
        return block(
            ir.Declare(row, self._row(part)),
            *(ir.Declare(v, ir.Load(row, lit(1 + k))) for k, v in enumerate(sizes)),
            *(ir.Declare(v, ir.Load(row, lit(4 + n + k))) for k, v in enumerate(at)),
            *(ir.Declare(self.parts[array], self._memory(a, row)) for a, array in self.arrays.items()),
            *(self._shift(chain, sizes, at, row) for chain in self.chains),
            if_(ne(self._buffer(row), lit(IN_PLACE)), block(*copies, ir.Evaluate(give))),
        )

    def _copy(self, a: AppendedArray, array: ir.Var, sizes: Sequence[ir.Var], at: Sequence[ir.Var]) -> ir.Stmt:
        """Return the copy of a part of an array to the position that it gets."""
        size = mul(sizes[a.chain], lit(np.dtype(array.ty[:-1]).itemsize))
        before = lit(int(a.of_parents))
        to, source = add(array, add(at[a.chain], before)), add(self.parts[array], before)
        return ir.Evaluate(ir.Call("weft_stream", (to, source, size), "int64"))

    @property
    def _shifts_shared(self) -> bool:
        """True if chunks store edges in the array of the result, each for the parents between its bounds."""
        return self.chains[0].first > 0 and self.chains[0].first not in self.unsequenced

    def _shift(self, chain: AppendChain, sizes: Sequence[ir.Var], at: Sequence[ir.Var], row: ir.Var) -> ir.Stmt:
        """Return the loop that adds the position at which a part begins to the edges of its parents."""
        if chain.first == 0 or chain.first in self.unsequenced:
            return block()
        arrays = self._with_appended(self.parts)
        begin: ir.Expr = lit(0)
        end: ir.Expr = sizes[chain.index - 1]
        if chain.index == 0:
            # Each coordinate of the outermost loop has ``inner`` parents.
            inner: ir.Expr = lit(1)
            for level, m in zip(self.format.levels[1 : chain.first], arrays.levels[1:], strict=False):
                inner = level.get_size(m, inner)
            begin, end = (mul(ir.Load(row, lit(1 + len(self.chains) + k)), inner) for k in range(2))
        r, edges = ir.Var("r"), self.format.levels[chain.first].require(ShiftedEdges)
        return ir.For(r, begin, end, edges.shift_edges(arrays.levels[chain.first], r, at[chain.index]))

    def epilogue(self) -> ir.Stmt:
        if not self.in_parts:
            return super().epilogue()
        n = len(self.chains)
        return self.finalize(tuple(ir.Load(COUNTS, lit(2 + n + k)) for k in range(n)))
