"""Sharing of work among threads: an outermost loop by chunks, a range of memory by one piece for each thread.

Each thread counts in an array of its own. The arrays of all threads are combined afterwards.
"""

from __future__ import annotations

from ..ir import nodes as ir
from ..ir.builder import add, block, cast, gt, if_, increment, lit, minimum, mul, sub
from ..records import record
from .function_kind import COUNTS

THREADS = ir.Var("threads")


def piece_of(n: ir.Expr, piece: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
    """Return the half-open interval of the piece with number ``piece`` of ``n`` elements."""
    begin, end = (ir.Binary("/", mul(n, e), THREADS) for e in (piece, add(piece, lit(1))))
    return begin, end


def each_thread(piece: ir.Var, body: ir.Stmt) -> ir.Stmt:
    """Return a parallel region that runs ``body`` once for each piece, of which there is one for each thread."""
    return ir.Parallel(THREADS, block(), ir.For(piece, lit(0), THREADS, body), block())


def among_threads(stmt: ir.Stmt) -> ir.Stmt:
    """Return ``stmt`` with stores that several threads may execute on one element, if all store the same value."""
    match stmt:
        case ir.Store(array=array, index=index, value=value):
            return ir.Evaluate(ir.Call(f"weft_store_same_{value.ty}", (array, index, value), "int64"))
        case ir.Block(stmts=stmts):
            return ir.Block(tuple(among_threads(s) for s in stmts))
    return stmt


def _put(at: ir.Load, value: ir.Expr) -> ir.Stmt:
    return ir.Store(at.array, at.index, value)


@record
class ThreadPartials:
    """Answers that each thread has computed in an array of its own."""

    combined: ir.Var  # the array for the combined answers
    parts: ir.Var  # the arrays of all threads, one behind the other
    size: ir.Expr  # the length of the array of one thread
    totals: int  # the index from which on ``counts`` has room for one number of each thread

    def largest(self) -> ir.Stmt:
        """Return a loop that stores the largest answer of all threads at each index."""
        t, q = ir.Var("t"), ir.Var("q")
        part = ir.Load(self.parts, add(mul(t, self.size), q))
        larger = if_(gt(part, ir.Load(self.combined, q)), ir.Store(self.combined, q, part))
        return ir.For(t, lit(0), THREADS, ir.For(q, lit(0), self.size, larger))

    def sums(self) -> ir.Stmt:
        """Return loops that turn the histograms of threads into positions.

        A thread stores its count for ``q`` at index ``q + 1``. Afterwards ``combined[q]`` is the number of entries
        counted for all indices before ``q``. The array of thread ``t`` holds at ``q + 1`` the position at which the
        entries of that thread for ``q`` begin. All loops but the prefix sum can be vectorized.
        """
        t, q, piece, total = (ir.Var(name) for name in ("t", "q", "piece", "total"))
        dtype = self.combined.ty[:-1]
        one, before = ir.Var("one", dtype), ir.Var("before", dtype)
        behind = add(q, lit(1))
        answer, part = ir.Load(self.combined, behind), ir.Load(self.parts, add(mul(t, self.size), behind))
        begin, end = ir.Var("piece_begin"), ir.Var("piece_end")
        bounds = [ir.Declare(v, e) for v, e in zip((begin, end), piece_of(sub(self.size, lit(1)), piece), strict=True)]

        def each(*stmts: ir.Stmt) -> ir.Stmt:
            return ir.For(t, lit(0), THREADS, block(*stmts))

        def total_of(thread: ir.Expr) -> ir.Load:
            return ir.Load(COUNTS, add(lit(self.totals), thread))

        def more(at: ir.Load, by: ir.Expr) -> ir.Stmt:
            return _put(at, ir.Binary("+", at, by))

        # First, each count is replaced by the sum of the counts of threads before, and each piece adds up its total.
        among = block(ir.Declare(one, part), _put(part, answer), more(answer, one))
        counted = block(
            *bounds,
            each(ir.For(q, begin, end, among)),
            ir.Declare(total, lit(0)),
            ir.For(q, begin, end, increment(total, cast(answer, "int64"))),
            _put(total_of(piece), total),
        )
        # Second, each piece computes a prefix sum from the totals of the pieces before it.
        next_begin = minimum(add(begin, lit(1)), end)
        placed = block(
            *bounds,
            ir.Declare(total, lit(0)),
            ir.For(t, lit(0), piece, increment(total, total_of(t))),
            ir.Declare(before, cast(total, dtype)),
            ir.For(q, begin, end, block(increment(total, cast(answer, "int64")), _put(answer, cast(total, dtype)))),
            # Another thread writes the element before the piece, so ``before`` holds its value.
            each(
                ir.For(q, begin, next_begin, more(part, before)),
                ir.For(q, next_begin, end, more(part, ir.Load(self.combined, q))),
            ),
        )
        return block(each_thread(piece, counted), each_thread(piece, placed))
