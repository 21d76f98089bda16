"""How threads share work: an outermost loop by chunks, a range of memory by one piece for each."""

from __future__ import annotations

from ..ir import nodes as ir
from ..ir.builder import add, block, lit, mul

__all__ = ["CHUNKS_PER_THREAD", "THREADS", "each_thread", "piece_of"]

CHUNKS_PER_THREAD = 16
THREADS = ir.Var("threads")


def piece_of(n: ir.Expr, piece: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
    """Where a thread's piece of ``n`` elements begins and ends."""
    begin, end = (ir.Binary("/", mul(n, e), THREADS) for e in (piece, add(piece, lit(1))))
    return begin, end


def each_thread(piece: ir.Var, body: ir.Stmt) -> ir.Stmt:
    """What every thread does once, for the piece of that number."""
    return ir.Parallel(THREADS, block(), ir.For(piece, lit(0), THREADS, body), block())
