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
from typing import Any

import numpy as np

from ..concrete_notation.nodes import Forall
from ..formats import LevelVars
from ..formats.capabilities import ShiftedEdges
from ..ir import nodes as ir
from ..ir.builder import add, block, lit, mul
from ..records import replace
from .environment import Environment
from .lowerer import Lowerer
from .result_writer import COUNTS, FunctionKind, ResultWriter

__all__ = ["ParallelAppendLowerer"]


def _thread_buffers(levels: Sequence[LevelVars], vals: ir.Var, first: int) -> dict[ir.Var, ir.Var]:
    """Return the array that holds the buffers of all threads, for each array that is appended to from a level on."""
    appended = [m.arrays["crd"] for m in levels[first:] if "crd" in m.arrays]
    return {array: ir.Var(f"{array.name}_spare", array.ty) for array in (*appended, vals)}


class ParallelAppendLowerer(Lowerer):
    """Lowerer of a program to a function whose threads append in parts; the parameters are those of ``Lowerer``.

    ``why_not`` returns the reason why a program cannot be lowered in this way.
    """

    schedule = "monotonic: dynamic, 1"  # so that a chunk waits only for chunks that run already

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.spares: dict[ir.Var, ir.Var] = {}
        if self.kind is not FunctionKind.EVALUATE or not self.target.chains:
            return
        # The loops append to the thread's own arrays. The whole arrays remain parameters, for the copies in ``finish``.
        whole = self.target.vars
        self.spares = _thread_buffers(whole.levels, whole.vals, self.target.chains[0].first)
        self.own = {array: ir.Var(f"{array.name}_own", array.ty) for array in self.spares}
        levels = tuple(
            replace(m, arrays={role: self.own.get(array, array) for role, array in m.arrays.items()})
            for m in whole.levels
        )
        own = replace(whole, levels=levels, vals=self.own[whole.vals])
        self.target = ResultWriter(own, self.target.access, self.kind, derived=self.derived)

    def why_not(self) -> str | None:
        """Return the reason why the result cannot be appended in parts, or None."""
        levels, stmt = self.target.format.levels, self.program.stmt
        if len(self.target.chains) != 1 or self.target.chains[0].last + 1 != len(levels):
            return "not one list of coordinates with values"
        if any(level.borrows for level in levels):
            return "coordinates of several levels share an array, which has more than one element for each position"
        first = self.target.chains[0].first
        if not isinstance(stmt, Forall) or not stmt.parallel or self.program.splits:
            return "no plain parallel loop"
        driver = self.driver_of(stmt, Environment())
        # Every parent must be visited, since each chunk shifts the edges of all its parents.
        if first and (driver is None or driver.format.iteration != "value" or stmt.var != self.target.variable(0)):
            return "the outermost loop does not visit all of the result's first level"
        if first and levels[first].capability(ShiftedEdges) is None:
            return f"the edges of {levels[first]} cannot be shifted"
        return None

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
        ends = [ir.Declare(self.target.end, room)] if self.target.bounded else []
        return block(*own, ir.Declare(self.target.counters[0], lit(0)), *ends)

    def finish(self, chunk: ir.Expr) -> ir.Stmt:
        if not self.spares:
            return super().finish(chunk)
        at, n = ir.Var("at"), self.target.counters[0]
        turn = ir.Call("weft_in_turn", (add(COUNTS, lit(2)), chunk, n), "int64")
        copies = []
        for array, own in self.own.items():
            size = mul(n, lit(np.dtype(array.ty[:-1]).itemsize))
            copies.append(ir.Evaluate(ir.Call("weft_stream", (add(array, at), own, size), "int64")))
        return block(ir.Declare(at, turn), *copies, self._shift(at))

    def _shift(self, at: ir.Expr) -> ir.Stmt:
        """Return the loop that adds ``at``, the position at which a chunk begins, to the edges of its parents."""
        (chain,) = self.target.chains
        if chain.first == 0 or chain.first in self.target.unsequenced:
            return block()
        # Each coordinate of the outermost loop has ``inner`` parents.
        inner: ir.Expr = lit(1)
        for level, m in zip(self.target.format.levels[1 : chain.first], self.target.vars.levels[1:], strict=False):
            inner = level.get_size(m, inner)
        r, m = ir.Var("r"), self.target.vars.levels[chain.first]
        begin, end = (mul(ir.Var(edge), inner) for edge in ("chunk_begin", "chunk_end"))
        edges = self.target.format.levels[chain.first].require(ShiftedEdges)
        return ir.For(r, begin, end, edges.shift_edges(m, r, at))

    def lower(self, operands: Sequence[str]) -> ir.Function:
        if not self.spares:
            return super().lower(operands)
        stmt = self.program.stmt
        assert isinstance(stmt, Forall)
        chunks = self.chunked_loop(stmt)
        assert chunks is not None
        name = self.target.access.tensor
        result = self.tensors[name]
        result = replace(result, arrays=(*result.arrays, *self.spares.values()))
        params = (result.param(output=True), *(self.tensors[n].param() for n in operands))
        after = self.target.finalize((ir.Load(COUNTS, lit(3)),))
        return ir.Function(self.kind.value, params, block(self.read_fills(), self.target.init(), chunks, after))
