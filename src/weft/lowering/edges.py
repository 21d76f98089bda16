"""Edges of a level whose entries stay where they are (2020 paper, section 6.3, sequenced edge insertion).

Entries come in the order of their parents, and each has the position that it had in the source: the children of a
parent end behind the last entry of it that passes. Nothing has to be counted before, and no branch hangs on where a
parent ends. Threads share the entries; where a parent ends that several of them saw is told afterwards.
"""

from __future__ import annotations

from ..formats import LevelFormat, LevelVars
from ..ir import nodes as ir
from ..ir.builder import add, block, eq, ge, if_, lit, lt, mul
from ..records import record
from .entries import among_threads
from .target import COUNTS

__all__ = ["CHUNK", "Edges"]

CHUNK = 4
"""What is kept of each chunk that threads share: the parents of its first and last entry, and where they end in it."""


@record
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
    def _kept(self) -> tuple[ir.Var, ...]:
        """Of a chunk the parent of the first entry and the position behind that parent's last; the same of the last."""
        return tuple(ir.Var(f"{which}{self.k + 1}_{what}") for which in ("first", "last") for what in ("parent", "end"))

    @property
    def _shared(self) -> bool:
        """Whether several chunks have entries of one parent that is not the root."""
        return self.threads and self.k > 0

    def start(self) -> ir.Stmt:
        """Before the first entry of a chunk."""
        return block(*(ir.Declare(v, lit(-1)) for v in self._kept)) if self._shared else block()

    def entry(self, parent: ir.Expr, p: ir.Expr) -> ir.Stmt:
        """At an entry of ``parent``, with position ``p``."""
        if self.k == 0:
            return block()
        ends = self.level.seq_insert_edges(self.m, parent, add(p, lit(1)))
        if not self._shared:
            return ends
        first, first_end, last, last_end = self._kept
        end = add(p, lit(1))
        return block(
            among_threads(ends, "any"),
            if_(lt(first, lit(0)), ir.Set(first, parent)),
            if_(eq(parent, first), ir.Set(first_end, end)),
            ir.Set(last, parent),
            ir.Set(last_end, end),
        )

    def finish(self, chunk: ir.Expr) -> ir.Stmt:
        """After the last entry of a chunk."""
        if not self._shared:
            return block()
        return block(*(ir.Store(self.m.arrays["private"], self._at(chunk, n), v) for n, v in enumerate(self._kept)))

    def after(self, parents: ir.Expr, chunks: ir.Expr) -> ir.Stmt:
        """After the last entry, given how many parents there are, and chunks."""
        begin = self.level.seq_init_edges(self.m, lit(0))
        if self.k == 0:
            return block(begin, self.level.seq_insert_edges(self.m, lit(0), ir.Load(COUNTS, lit(0))))
        ends = self.level.seq_finalize_edges(self.m, parents, ir.Var("q"))
        if not self._shared:
            return block(begin, ends)
        t = ir.Var("t")
        kept = [ir.Load(self.m.arrays["private"], self._at(t, n)) for n in range(CHUNK)]
        told = [
            self.level.seq_insert_edges(self.m, parent, end) for parent, end in zip(kept[::2], kept[1::2], strict=True)
        ]
        return block(begin, ir.For(t, lit(0), chunks, if_(ge(kept[0], lit(0)), block(*told))), ends)

    @staticmethod
    def _at(chunk: ir.Expr, n: int) -> ir.Expr:
        return add(mul(chunk, lit(CHUNK)), lit(n))
