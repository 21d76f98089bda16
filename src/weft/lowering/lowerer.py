"""Concrete index notation to imperative IR: the code generation algorithm of 2017 (Fig. 11) and 2018 (Fig. 9).

``Lowerer`` traverses the statement. For each ``forall`` it takes the merge lattice and emits one loop for each set of
co-iterated levels. Inside the loop there is one case for each lattice point. The body of a case is lowered from the
statement without the operands that have only implicit entries there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf
from typing import Any

from ..concrete_notation.nodes import Assign, Fill, Forall, Split, Stmt, Where
from ..concrete_notation.nodes import Sequence as Seq
from ..concrete_notation.traversal import assignments, result_of
from ..concrete_notation.values import without_conversions
from ..errors import LoweringError
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import add, block, gt, if_, lit, mul, sub
from ..ir.traversal import statements
from . import loop_splits, shares, workspaces
from .context import LoweringContext
from .duplicates import behind_run, may_revisit
from .emitter import Bounds, Emitter
from .environment import Environment
from .function_kind import FunctionKind
from .function_spec import FunctionSpec
from .function_state import FunctionState
from .implicit_entries import visit
from .long_rows import LongRows, long_rows
from .loops import emit_loops
from .merge_cuts import merge_cuts
from .operand_values import fill_expr, read_fills
from .positions import bounds_of, coordinate
from .result_writer import LocatedWriter
from .thread_partials import THREADS

_CHUNK = ir.Var("chunk_begin"), ir.Var("chunk_end")


class Lowerer(Emitter):
    """Lowerer of one program to one function of a module."""

    def __init__(self, context: LoweringContext, spec: FunctionSpec, most: float = inf):
        state = FunctionState(context, spec.kind, most)
        super().__init__(state, spec.writer(state, context.target))
        self.name = spec.name
        workspaces.declare(self, self._count_widest)

    # -- the function -------------------------------------------------------------------------------------------
    def lower(self, operands: Sequence[str]) -> ir.Function:
        """Return the whole function, whose parameters are the result and then ``operands``."""
        writer, state = self.writer, self.state
        # Fills and scalars that no loop encloses come before the parallel region.
        prologue, stmt = _split_prologue(self.context.program.stmt)
        before = [self.statement(s, Environment()) for s in prologue]
        while isinstance(stmt, Where) and self._makes_scalar(stmt):
            shared = shares.shared_scalar(self, stmt)
            if shared is None and not isinstance(stmt.consumer, Where | Forall):
                break
            before.append(shared or workspaces.scalar_sum(self, stmt, Environment()))
            stmt = stmt.consumer
        main = self._shared_loop(stmt) if isinstance(stmt, Forall) and writer.shares(stmt) else None
        if main is None and isinstance(stmt, Forall):
            main = shares.shared_result(self, stmt)
        if main is None:
            body = self.statement(stmt, Environment()) if writer.needs_loops else block()
            main = block(*state.scratch, writer.start(lit(0)), body, writer.finish(lit(0)), *state.release)
        main = block(writer.init(), *before, writer.prologue(), main, writer.epilogue())
        names = [writer.access.tensor, *operands]
        params = tuple(state.tensors[n].param(output=n == names[0]) for n in names)
        return ir.Function(self.name, params, block(read_fills(state), main))

    def _makes_scalar(self, stmt: Where) -> bool:
        return self.context.workspaces[result_of(stmt.producer).target.tensor].kind == "scalar"

    def _count_widest(self, widest: ir.Var) -> ir.Stmt:
        """Return loops that set ``widest`` to the largest number of values that reach a workspace at one time."""
        finder = Lowerer(self.context, FunctionSpec("widest", FunctionKind.WIDEST))
        finder.state.widest = widest
        finder.state.names = self.state.names  # both become parts of one function
        return finder.statement(self.context.program.stmt, Environment())

    def _shared_loop(self, stmt: Forall) -> ir.Stmt | None:
        """Return the outermost loop as threads share it, or None if the loop is not a plain loop."""
        rows = long_rows(self, stmt)
        chunks = self._chunked_loop(stmt, rows)
        return chunks if rows is None or chunks is None else block(rows.search(), chunks, rows.cut())

    def _chunked_loop(self, stmt: Forall, rows: LongRows | None = None) -> ir.Stmt | None:
        """Return the outermost loop, but for long rows, in chunks that threads share; None if it is no plain loop."""
        writer, state = self.writer, self.state
        cut = next((s for s in self.context.program.splits if isinstance(s, Split) and s.outer == stmt.var), None)
        limits: tuple[ir.Expr, ir.Expr]
        if not writer.can_be_cut:
            return None
        chunk, n = ir.Var("chunk"), ir.Var("chunks")
        lo, hi = cut_lo, cut_hi = _CHUNK
        sized, moved = block(), block()
        if cut is not None:
            sized = loop_splits.size_of_blocks(state, cut, stmt)
            limits = (lit(0), loop_splits.block_count(state, cut, stmt, Environment()))
        else:
            driver = state.driver_of(stmt)
            if driver is None:
                return self._chunked_merge(stmt)
            if not (driver.certain or driver.level == 0):
                return None
            limits = bounds_of(state, driver, stmt.var, Environment()) if rows is None else rows.between
            # Chunks by position must not cut runs of duplicates, unless each has its own position in the result.
            if not (driver.certain or driver.format.unique or writer.keeps_duplicates):
                if writer.finds_positions or not driver.format.merges or self._appends_copies:
                    return None
                if self.context.options.target == "cuda" and may_revisit(self, stmt, driver):
                    return None  # a device shares the entries of a run, which are added one by one
                # The edges that move are other variables than those of the loops, which later passes know to be fixed.
                cut_lo, cut_hi = ir.Var("first_cut"), ir.Var("last_cut")
                at = partial(coordinate, state, driver, env=Environment())
                runs = (behind_run(edge, limits, at) for edge in (cut_lo, cut_hi))
                moved = block(*runs, ir.Declare(lo, cut_lo), ir.Declare(hi, cut_hi))
        if self.context.options.target == "cuda":  # a device shares the iterations themselves
            state.chunked = True
            once = ir.For(chunk, lit(0), lit(1), block(writer.start(chunk), self.forall(stmt, Environment())))
            return block(sized, ir.Parallel(lit(1), block(*state.scratch), once, block(*state.release)))
        ranged, number, total = (block(), chunk, n) if rows is None else rows.range_of(chunk, n)
        begin, end = limits
        # Chunk c of n is [begin + span*c/n, begin + span*(c+1)/n).
        span = sub(end, begin)
        bounds = [
            ranged,
            ir.Declare(cut_lo, add(begin, ir.Binary("/", mul(span, number), n))),
            ir.Declare(cut_hi, add(begin, ir.Binary("/", mul(span, add(number, lit(1))), n))),
            moved,
            *writer.align_chunk((lo, hi), limits),
        ]
        return block(sized, ir.Declare(n, writer.chunks), self._region(stmt, (chunk, total), block(*bounds), _CHUNK))

    def _chunked_merge(self, stmt: Forall) -> ir.Stmt | None:
        """Return a merge in ranges of coordinates that threads share, or None if it cannot be cut."""
        chunk, n = ir.Var("chunk"), ir.Var("chunks")
        cuts = None if self.writer.finds_positions else merge_cuts(self.state, stmt, n, _CHUNK)
        if cuts is None:
            return None
        region = self._region(stmt, (chunk, n), cuts.range_of(chunk), cuts.ranges)
        return block(ir.Declare(n, self.writer.chunks), cuts.search, region, ir.Free(cuts.edges))

    def _region(self, stmt: Forall, chunk: tuple[ir.Var, ir.Expr], declared: ir.Stmt, bounds: Bounds) -> ir.Stmt:
        """Return the parallel region in which threads take chunks, given a chunk's number and how many there are."""
        writer, state, (number, count) = self.writer, self.state, chunk
        state.chunked = True
        body = self.forall(stmt, Environment(), bounds=bounds)
        each = block(declared, writer.start(number), body, writer.finish(number))
        loop = ir.For(number, lit(0), count, each)
        if state.kind is FunctionKind.BOUND and not any(isinstance(s, ir.For | ir.While) for s in statements(each)):
            return block(*state.scratch, loop, *state.release)  # it takes less time than to wake threads
        return ir.Parallel(THREADS, block(*state.scratch), loop, block(*state.release))

    @property
    def _appends_copies(self) -> bool:
        """True if values are appended as they are: threads would take as long to count them as one to copy them."""
        return self.appending is not None and isinstance(without_conversions(self.context.expression), Access)

    # -- statements ---------------------------------------------------------------------------------------------
    def statement(self, stmt: Stmt, env: Environment) -> ir.Stmt:
        return block(*self.writer.before(stmt), self._statement(stmt, env))

    def _statement(self, stmt: Stmt, env: Environment) -> ir.Stmt:
        match stmt:
            case Assign(target=Access(tensor=name)) if name in self.context.workspaces:
                return workspaces.assign(self, self.context.workspaces[name], stmt, env)
            case Assign():
                return self.writer.store(stmt, env)
            case Forall():
                return self.forall(stmt, env)
            case Where():
                return workspaces.where(self, stmt, env)
            case Seq(stmts=stmts):
                return block(*(self.statement(s, env) for s in stmts))
            case Fill(target=target, value=value):
                return self._fill(target, value, env)
        raise LoweringError(f"cannot lower {stmt!r}")

    def _fill(self, target: Access, value: Any, env: Environment) -> ir.Stmt:
        if not isinstance(self.writer, LocatedWriter) or target.tensor in self.context.workspaces:
            raise LoweringError(f"{target} is filled where it is declared")
        env, decls = self.resolve(env, [target])
        # Levels down to the last one that loops have located are fixed; everything below is filled.
        resolved = 0
        while (target, resolved) in env.pos:
            resolved += 1
        base = env.pos[(target, resolved - 1)] if resolved else lit(0)
        part = env.tiles.get(self.writer.path[0]) if env.tiles and not resolved else None
        fill = fill_expr(self.state, value, self.context.types[target.tensor].dtype)
        return block(*decls, self.writer.fill(resolved, base, fill, part))

    def forall(self, stmt: Forall, env: Environment, bounds: Bounds | None = None) -> ir.Stmt:
        instead = self.writer.in_place_of(stmt, env) if bounds is None else None
        return block(visit(self.state, stmt), self._loop(stmt, env, bounds)) if instead is None else instead

    def _loop(self, stmt: Forall, env: Environment, bounds: Bounds | None) -> ir.Stmt:
        v, writer = stmt.var, self.appending
        for cut in self.context.program.splits:
            if v == cut.outer:
                assert bounds is None or isinstance(bounds, tuple)
                return loop_splits.block_loop(self, cut, stmt, env, bounds)
            if v == cut.inner:
                return loop_splits.inside_block_loop(self, cut, stmt, env)
        points = self.state.lattice(stmt)
        # The loop may append: after it, the edges connect the appended coordinates to their parent.
        writes = self.state.kind is not FunctionKind.WIDEST and any(
            a.target.tensor == self.context.target.tensor for a in assignments(stmt.body)
        )
        code = emit_loops(self, stmt, points, env, writes, bounds)
        chain = writer.chain_starting(v) if writer is not None and writes else None
        if writer is None or chain is None or chain.first == 0:
            return code
        parent = env.parent(writer.access, chain.first)
        if parent is None:
            raise LoweringError(f"the parent of {writer.vars.name}{chain.first + 1} is not known in forall {v}")
        sequenced = writer.visits_every_parent(chain)
        counter = writer.counters[chain.index]
        begin = ir.Var(f"{counter.name}_begin")
        edges = writer.edges(chain, parent, begin, sequenced)
        below_appended = any(c.last == chain.first - 1 for c in writer.chains)
        if below_appended:
            # A parent without children is not kept. The next parent takes its position, perhaps in another thread.
            edges = if_(gt(counter, begin), edges) if edges != block() else edges
        declare = ir.Declare(begin, counter) if below_appended or not sequenced else block()
        return block(declare, code, edges)


def _split_prologue(stmt: Stmt) -> tuple[list[Stmt], Stmt]:
    """Return the statements that come before the parallel region, in a list, and the rest of the statement.

    A leading fill of the whole target does, and whatever is assigned before a loop that is cut into shares.
    """
    if not isinstance(stmt, Seq):
        return [], stmt
    *first, last = stmt.stmts
    if isinstance(last, Forall) and last.positions:
        return first, last
    if isinstance(stmt.stmts[0], Fill):
        rest = stmt.stmts[1:]
        return [stmt.stmts[0]], rest[0] if len(rest) == 1 else Seq(rest)
    return [], stmt
