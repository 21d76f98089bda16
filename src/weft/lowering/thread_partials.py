"""How threads share work: an outermost loop by chunks, a range of memory by one piece for each.

What they count they count for themselves, each in an array of its own, and put it together afterwards.
"""

from __future__ import annotations

from ..ir import nodes as ir
from ..ir.builder import add, block, cast, gt, if_, increment, lit, minimum, mul, sub
from ..records import record
from .result_writer import COUNTS

__all__ = ["CHUNKS_PER_THREAD", "THREADS", "ThreadPartials", "each_thread", "piece_of"]

CHUNKS_PER_THREAD = 16
THREADS = ir.Var("threads")


def piece_of(n: ir.Expr, piece: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
    """Where a thread's piece of ``n`` elements begins and ends."""
    begin, end = (ir.Binary("/", mul(n, e), THREADS) for e in (piece, add(piece, lit(1))))
    return begin, end


def each_thread(piece: ir.Var, body: ir.Stmt) -> ir.Stmt:
    """What every thread does once, for the piece of that number."""
    return ir.Parallel(THREADS, block(), ir.For(piece, lit(0), THREADS, body), block())


def _put(at: ir.Load, value: ir.Expr) -> ir.Stmt:
    return ir.Store(at.array, at.index, value)


@record
class ThreadPartials:
    """What each thread has found by itself.

    Parameters
    ----------
    whole : Var
        The array for what they found together.
    parts : Var
        Their own arrays, one behind the other.
    size : Expr
        The length of each.
    totals : int
        Where ``counts`` has room for a number of each thread.
    """

    whole: ir.Var
    parts: ir.Var
    size: ir.Expr
    totals: int

    def largest(self) -> ir.Stmt:
        """The largest of the answers at each place."""
        t, q = ir.Var("t"), ir.Var("q")
        part = ir.Load(self.parts, add(mul(t, self.size), q))
        larger = if_(gt(part, ir.Load(self.whole, q)), ir.Store(self.whole, q, part))
        return ir.For(t, lit(0), THREADS, ir.For(q, lit(0), self.size, larger))

    def sums(self) -> ir.Stmt:
        """Of histograms the sums of all before each place, and for each thread where its own entries begin there.

        What a thread counted at ``q`` stands behind it, at ``q + 1``, and so does what it is to know of ``q``. All
        loops but one are such that neighbours can be added at once.
        """
        t, q, piece, total = (ir.Var(name) for name in ("t", "q", "piece", "total"))
        dtype = self.whole.ty[:-1]
        one, before = ir.Var("one", dtype), ir.Var("before", dtype)
        behind = add(q, lit(1))
        whole, part = ir.Load(self.whole, behind), ir.Load(self.parts, add(mul(t, self.size), behind))
        begin, end = ir.Var("piece_begin"), ir.Var("piece_end")
        bounds = [ir.Declare(v, e) for v, e in zip((begin, end), piece_of(sub(self.size, lit(1)), piece), strict=True)]

        def each(*stmts: ir.Stmt) -> ir.Stmt:
            return ir.For(t, lit(0), THREADS, block(*stmts))

        def total_of(thread: ir.Expr) -> ir.Load:
            return ir.Load(COUNTS, add(lit(self.totals), thread))

        def more(at: ir.Load, by: ir.Expr) -> ir.Stmt:
            return _put(at, ir.Binary("+", at, by))

        among = block(ir.Declare(one, part), _put(part, whole), more(whole, one))
        counted = block(
            *bounds,
            each(ir.For(q, begin, end, among)),
            ir.Declare(total, lit(0)),
            ir.For(q, begin, end, increment(total, cast(whole, "int64"))),
            _put(total_of(piece), total),
        )
        next_begin = minimum(add(begin, lit(1)), end)
        placed = block(
            *bounds,
            ir.Declare(total, lit(0)),
            ir.For(t, lit(0), piece, increment(total, total_of(t))),
            ir.Declare(before, cast(total, dtype)),
            ir.For(q, begin, end, block(increment(total, cast(whole, "int64")), _put(whole, cast(total, dtype)))),
            # What is before a piece another thread is writing.
            each(
                ir.For(q, begin, next_begin, more(part, before)),
                ir.For(q, next_begin, end, more(part, ir.Load(self.whole, q))),
            ),
        )
        return block(each_thread(piece, counted), each_thread(piece, placed))
