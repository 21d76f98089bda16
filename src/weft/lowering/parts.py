"""Results that threads append to in parts, which are then put together.

Threads that append to one array have to know where: what comes before must have been counted, which is half of the
work or more. Here each has room of its own, as large as a bound that is cheaply found, and appends once; the first
writes where the result is to be, and what the others wrote is copied behind it.

``counts`` holds, for ``threads`` parts: which chunk of the outermost loop each begins with, and the number of chunks;
where the room of each begins, and where that of the last ends; and, in the end, how much each has appended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..concrete_notation.nodes import Forall
from ..formats import LevelFormat, LevelVars
from ..ir import nodes as ir
from ..ir.builder import add, block, eq, increment, lit, mul, sub
from .env import Env
from .lower import Lowerer
from .target import COUNTS, Mode, Target
from .threads import CHUNKS_PER_THREAD, THREADS, each_thread, piece_of

__all__ = ["InParts", "spares"]


def spares(levels: Sequence[LevelVars], vals: ir.Var, first: int) -> dict[ir.Var, ir.Var]:
    """The arrays that are appended to, from a level on, each with the one that all parts but the first write into."""
    appended = [m.arrays["crd"] for m in levels[first:] if "crd" in m.arrays]
    return {array: ir.Var(f"{array.name}_spare", array.ty) for array in (*appended, vals)}


class InParts(Lowerer):
    """Lowers a program to a function that appends in parts; takes what ``Lowerer`` takes.

    ``why_not`` says why that cannot be done, if so.
    """

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        whole = self.target.vars
        self.spares = spares(whole.levels, whole.vals, self.target.chains[0].first) if self.target.chains else {}
        self.own = {array: ir.Var(f"{array.name}_own", array.ty) for array in self.spares}
        levels = tuple(
            replace(m, arrays={role: self.own.get(array, array) for role, array in m.arrays.items()})
            for m in whole.levels
        )
        vals = self.own.get(whole.vals, whole.vals)
        self.target = Target(replace(whole, levels=levels, vals=vals), self.target.access, self.mode)
        self.target.definitions = self.definitions

    def why_not(self) -> str | None:
        """A reason why the result cannot be appended to in parts, or None."""
        levels, stmt = self.target.format.levels, self.program.stmt
        if len(self.target.chains) != 1 or self.target.chains[0].last + 1 != len(levels):
            return "not one list of coordinates with values"
        first = self.target.chains[0].first
        if self.mode is not Mode.EVALUATE or not isinstance(stmt, Forall) or not stmt.parallel or self.program.splits:
            return "no plain parallel loop"
        if first and stmt.var != self.target.variable(0):
            return "the outermost loop is not over the result's first level"
        driver = self._driver(stmt, Env())
        if first and (driver is None or driver.format.iteration != "value"):
            return "the outermost loop does not visit everything"
        if first and type(levels[first]).shift_edges is LevelFormat.shift_edges:
            return f"the edges of {levels[first]} cannot be shifted"
        return None

    # -- counts -------------------------------------------------------------------------------------------------
    @staticmethod
    def _chunk(part: ir.Expr) -> ir.Expr:
        return ir.Load(COUNTS, part)

    @staticmethod
    def _room(part: ir.Expr) -> ir.Expr:
        return ir.Load(COUNTS, add(add(THREADS, lit(1)), part))

    @staticmethod
    def _appended(part: ir.Expr) -> ir.Load:
        return ir.Load(COUNTS, add(add(mul(lit(2), THREADS), lit(2)), part))

    # -- parts --------------------------------------------------------------------------------------------------
    @property
    def chunks(self) -> ir.Expr:
        return THREADS

    def edge(self, limits: tuple[ir.Expr, ir.Expr], chunk: ir.Expr) -> ir.Expr:
        begin, end = limits
        at = mul(sub(end, begin), self._chunk(chunk))
        return add(begin, ir.Binary("/", at, mul(THREADS, lit(CHUNKS_PER_THREAD))))

    def start(self, chunk: ir.Expr) -> ir.Stmt:
        spare = sub(self._room(chunk), self._room(lit(1)))
        own = [
            ir.Declare(self.own[array], ir.Select(eq(chunk, lit(0)), array, add(there, spare)))
            for array, there in self.spares.items()
        ]
        (counter,) = self.target.counters
        room = sub(self._room(add(chunk, lit(1))), self._room(chunk))
        ends = [ir.Declare(self.target.end, room)] if self.target.bounded else []
        return block(*own, ir.Declare(counter, lit(0)), *ends)

    def finish(self, chunk: ir.Expr) -> ir.Stmt:
        place = self._appended(chunk)
        return ir.Store(place.array, place.index, self.target.counters[0])

    def lower(self, operands: Sequence[str]) -> ir.Function:
        stmt = self.program.stmt
        assert isinstance(stmt, Forall)
        parts = self._chunked(stmt)
        assert parts is not None
        target, total, t = self.target, ir.Var("total"), ir.Var("t")
        names = [target.access.tensor, *operands]
        result = self.tensors[names[0]]
        result = replace(result, arrays=(*result.arrays, *self.spares.values()))
        params = (result.param(output=True), *(self.tensors[n].param() for n in operands))
        sums = ir.For(t, lit(0), THREADS, increment(total, self._appended(t)))
        after = block(ir.Declare(total, lit(0)), sums, target.finalize((total,)))
        return ir.Function(self.mode.value, params, block(target.init(), parts, self._together(stmt), after))

    def _together(self, stmt: Forall) -> ir.Stmt:
        """Put what the parts hold behind each other: each thread a piece of every part."""
        piece, t, at, n = ir.Var("piece"), ir.Var("t"), ir.Var("at"), ir.Var("appended")
        q, spare = ir.Var("q"), sub(self._room(t), self._room(lit(1)))
        copies = [
            ir.For(q, *piece_of(n, piece), ir.Store(array, add(at, q), ir.Load(there, add(spare, q))))
            for array, there in self.spares.items()
        ]
        each = block(ir.Declare(n, self._appended(t)), *copies, self._shift(stmt, piece, t, at), increment(at, n))
        pieces = block(ir.Declare(at, self._appended(lit(0))), ir.For(t, lit(1), THREADS, each))
        return each_thread(piece, pieces)

    def _shift(self, stmt: Forall, piece: ir.Expr, t: ir.Expr, at: ir.Expr) -> ir.Stmt:
        """Edges of a piece of part ``t``, which counts from 0, as positions of the whole, where it begins at ``at``."""
        (chain,) = self.target.chains
        if chain.first == 0 or chain.first in self.target.unsequenced:
            return block()
        driver = self._driver(stmt, Env())
        assert driver is not None
        limits = self._bounds(driver, stmt.var, Env())
        inner: ir.Expr = lit(1)
        for level, m in zip(self.target.format.levels[1 : chain.first], self.target.vars.levels[1:], strict=False):
            inner = level.get_size(m, inner)
        begin, end = (mul(self.edge(limits, part), inner) for part in (t, add(t, lit(1))))
        low, high = piece_of(sub(end, begin), piece)
        r, m = ir.Var("r"), self.target.vars.levels[chain.first]
        level = self.target.format.levels[chain.first]
        return ir.For(r, add(begin, low), add(begin, high), level.shift_edges(m, r, at))
