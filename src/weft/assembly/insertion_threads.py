"""Threads that share a pass of an insertion by chunks of the outermost loop.

Each thread stores the answers of a query in an array of its own, and the arrays are combined afterwards. The sums of
histograms also determine the positions of each thread's entries, so the order of entries does not depend on the number
of threads.
"""

from __future__ import annotations

from ..abi import CHUNKS_PER_THREAD
from ..analysis.level_queries import LevelQuery
from ..formats import LevelVars
from ..ir import nodes as ir
from ..ir.builder import add, block, lit, mul
from ..lowering.function_kind import COUNTS
from ..lowering.operand_values import fill_expr
from ..lowering.thread_partials import THREADS, ThreadPartials, among_threads, each_thread, piece_of
from ..records import replace
from .insertion_pass import PassContext


class InsertionThreads:
    """The arrays of answers of a pass: one for all threads, or one for each."""

    def __init__(self, of: PassContext):
        self.of, self.share = of, of.phase.threads
        self.private = of.plan.private if self.share else ()
        # The variables of each level as a thread writes them.
        self.levels = tuple(self._level(k) for k in range(len(of.vars.levels)))

    def _level(self, k: int) -> LevelVars:
        of, m = self.of, self.of.vars.levels[k]
        if self.share and k in of.plan.unordered:
            own = {role: ir.Var(f"{m.arrays[role].name}_own", m.arrays[role].ty) for role in of.plan.shared_roles(k)}
            m = replace(m, arrays={**m.arrays, **own})
        for role, how in of.plan.answers[k].items() if self.share else ():
            inserts = of.inserts and how == "sum" and k != of.plan.sequential
            if (k, role) in of.plan.private and (of.phase.level == k or inserts):
                array = ir.Var(f"{of.vars.name}{k + 1}_own", m.arrays["private"].ty)
                return replace(m, arrays={**m.arrays, role: array})
        return m

    def is_private(self, k: int) -> bool:
        """Return whether each thread has an array of answers of its own for a level."""
        before = self.of.vars.levels[k].arrays
        return any(n == k and self.levels[k].arrays[role] is not before[role] for n, role in self.private)

    @property
    def chunks(self) -> ir.Expr:
        """Number of chunks into which the outermost loop is cut."""
        # One chunk for each thread if threads have arrays of their own; more chunks would need more arrays.
        private = any(map(self.is_private, range(len(self.levels))))
        return THREADS if private else mul(THREADS, lit(CHUNKS_PER_THREAD))

    def start(self, chunk: ir.Expr) -> ir.Stmt:
        """Return the statements that begin a chunk: each thread's array is a part of one."""
        inserts = self.of.inserts
        stmts: list[ir.Stmt] = [self.declare_own(k) for k in self.of.plan.unordered]
        for k, role in self.private:
            if not self.is_private(k):
                continue
            size, q = ir.Load(COUNTS, lit(k)), ir.Var("q")
            first = mul(chunk, size)
            if inserts:
                first = add(first, lit(1))  # the position of the thread's next entry for q is at q + 1
            array = self.levels[k].arrays[role]
            stmts.append(ir.Declare(array, add(self.of.vars.levels[k].arrays["private"], first)))
            # Queries start from zero, an insertion from the combined answers.
            if not inserts:
                stmts.append(ir.For(q, lit(0), size, ir.Store(array, q, lit(0, array.ty[:-1]))))
        return block(*stmts)

    def declare_own(self, k: int) -> ir.Stmt:
        """Return the declarations of the arrays by which a thread finds shared positions of a level."""
        if not self.share:
            return block()
        # Each thread has a part of an array, with an element for each coordinate.
        m, own = self.of.vars.levels[k], self.levels[k].arrays
        first = mul(ir.Call("weft_thread", (), "int64"), m.dimension)
        return block(*(ir.Declare(own[role], add(m.arrays[role], first)) for role in self.of.plan.shared_roles(k)))

    def stored(self, a: LevelQuery, answer: ir.Stmt) -> ir.Stmt:
        """Return an update of an answer that is safe if several threads store the same value."""
        same = self.of.plan.answers[self.of.phase.level or 0][a.label] == "same"
        return among_threads(answer) if self.share and same else answer

    def combine(self, k: int, edges: ir.Stmt) -> ir.Stmt:
        """Return code that combines the answers of all threads, followed by ``edges`` unless sums make them."""
        ((role, how),) = self.of.plan.answers[k].items()
        m, totals = self.of.vars.levels[k], len(self.levels) + 1
        partials = ThreadPartials(m.arrays[role], m.arrays["private"], ir.Load(COUNTS, lit(k)), totals)
        return block(partials.largest(), edges) if how == "max" else partials.sums()

    def blank(self) -> ir.Stmt:
        """Return a parallel loop that sets all values to the fill value, if threads share the pass."""
        of = self.of
        if not self.share or of.reuse.values or of.fills_rows:
            return block()
        # ``counts`` holds the number of values after the lengths of the levels.
        q, piece, size = ir.Var("q"), ir.Var("piece"), ir.Load(COUNTS, lit(len(self.levels)))
        fill = ir.Store(of.vars.vals, q, fill_expr(of.f, of.vars.type.fill, of.vars.type.dtype))
        return each_thread(piece, ir.For(q, *piece_of(size, piece), fill))
