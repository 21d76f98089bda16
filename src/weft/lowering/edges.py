"""Edges of a level whose entries stay where they are (2020 paper, section 6.3, sequenced edge insertion).

Entries come in the order of their parents, and each has the position that it had in the source: the children of a
parent begin where the first entry of it or of a later one is. Nothing has to be counted before. Threads share the
entries; between the last parent of one chunk and the first of the next the edges are inserted afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..formats import LevelFormat, LevelVars
from ..ir import nodes as ir
from ..ir.builder import add, block, cast, ge, if_, lit, lt, mul
from .target import COUNTS

__all__ = ["CHUNK", "Edges"]

CHUNK = 3
"""What is kept of each chunk that threads share: its first parent, where that begins, and its last parent."""

_NONE = lit(-1)


@dataclass(frozen=True, slots=True)
class Edges:
    """Inserts the edges of one level as entries pass.

    Parameters
    ----------
    level : LevelFormat
        The level; it has as many positions as ``counts`` says at ``k``.
    m : LevelVars
        Its variables; ``private`` holds what is kept of each chunk, where threads share the entries.
    k : int
        Its number.
    threads : bool
        Whether they do.
    """

    level: LevelFormat
    m: LevelVars
    k: int
    threads: bool

    @property
    def _reached(self) -> ir.Var:
        """The last parent whose children have a beginning."""
        return ir.Var(f"parent{self.k + 1}")

    @property
    def _shared(self) -> bool:
        """Whether chunks have parents of their own: the root has all entries."""
        return self.threads and self.k > 0

    def before(self) -> ir.Stmt:
        """Before the first entry."""
        begin = self.level.seq_init_edges(self.m, lit(0))
        return begin if self._shared else block(begin, ir.Declare(self._reached, lit(0)))

    def start(self) -> ir.Stmt:
        """Before the first entry of a chunk."""
        return ir.Declare(self._reached, _NONE) if self._shared else block()

    def entry(self, parent: ir.Expr, p: ir.Expr, chunk: ir.Expr) -> ir.Stmt:
        """At an entry of ``parent``, with position ``p``."""
        if self.k == 0:
            return block()
        stmts = self._insert(self._reached, parent, p)
        if self._shared:
            first = block(self._keep(chunk, 0, parent), self._keep(chunk, 1, p))
            stmts = if_(lt(self._reached, lit(0)), first, stmts)
        return if_(lt(self._reached, parent), block(stmts, ir.Set(self._reached, parent)))

    def finish(self, chunk: ir.Expr) -> ir.Stmt:
        """After the last entry of a chunk."""
        return self._keep(chunk, 2, self._reached) if self._shared else block()

    def after(self, parents: ir.Expr, chunks: ir.Expr) -> ir.Stmt:
        """After the last entry: what lies between chunks, and behind them."""
        rest = self._insert(self._reached, parents, ir.Load(COUNTS, lit(self.k)))
        if not self._shared:
            return rest
        t, last = ir.Var("t"), self._kept(ir.Var("t"), 2)
        between = self._insert(self._reached, self._kept(t, 0), self._kept(t, 1))
        chunk = if_(ge(last, lit(0)), block(between, ir.Set(self._reached, last)))
        return block(ir.Declare(self._reached, lit(0)), ir.For(t, lit(0), chunks, chunk), rest)

    def _insert(self, first: ir.Expr, end: ir.Expr, p: ir.Expr) -> ir.Stmt:
        """The children of parents from ``first`` on end at ``p``, those of ``end`` begin there."""
        q = ir.Var("q")
        return ir.For(q, first, end, self.level.seq_insert_edges(self.m, q, p))

    def _kept(self, chunk: ir.Expr, n: int) -> ir.Expr:
        return cast(ir.Load(self.m.arrays["private"], add(mul(chunk, lit(CHUNK)), lit(n))), "int64")

    def _keep(self, chunk: ir.Expr, n: int, value: ir.Expr) -> ir.Stmt:
        array = self.m.arrays["private"]
        return ir.Store(array, add(mul(chunk, lit(CHUNK)), lit(n)), cast(value, array.ty[:-1]))
