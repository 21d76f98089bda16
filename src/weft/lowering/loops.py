"""The loops of one ``forall``: a merge lattice as C-like loops (2017, Fig. 11; 2018, Fig. 9).

One iterator becomes a for loop. Several iterators become one while loop for each set that is co-iterated. The
coordinate of an iteration is the least coordinate of the co-iterated iterators. Inside the loop, each lattice point
whose iterators are a subset of the set is one case.
"""

from __future__ import annotations

from ..analysis.iteration_graph import implied_by, share_interval
from ..analysis.merge_lattice import LevelIterator, Point
from ..concrete_notation.nodes import Assign, Forall, Stmt
from ..concrete_notation.traversal import assignments, result_of, wheres_of
from ..errors import LoweringError
from ..formats.capabilities import ValueIteration
from ..index_notation.operator_table import OPERATORS
from ..ir import nodes as ir
from ..ir.builder import (
    add,
    block,
    eq,
    ge,
    if_,
    increment,
    lit,
    lor,
    lt,
    maximum,
    minimum,
    mul,
    ne,
    product,
    sub,
)
from ..ir.passes.adjacent_ranges import fuse_adjacent_ranges
from ..records import cached, replace
from . import prefetch
from .append_writer import AppendWriter
from .coiteration import Coiteration
from .duplicates import may_revisit
from .emitter import Bounds, Emitter
from .environment import Environment, Strip
from .function_kind import FunctionKind
from .function_state import FunctionState
from .loop_cases import LoopCases, require_order
from .operand_values import fill_expr, scalar
from .padding import without_branches
from .positions import bounds_of, child_position, coordinate
from .range_bounds import range_bounds
from .simd_reductions import SHORT, in_any_order, split_by_mean_length, split_by_row_length

RUN = 12
"""Mean number of duplicates from which on a run of them is summed first, and not added to the result one by one."""


def emit_loops(
    emitter: Emitter,
    stmt: Forall,
    points: tuple[Point, ...],
    env: Environment,
    writes: bool,
    bounds: Bounds | None,
) -> ir.Stmt:
    """Return the loops of a ``forall`` with a lattice, or the part of them within ``bounds``."""
    iterators = list(dict.fromkeys(it for p in points for it in p.coiterate))
    single = len(iterators) == 1 and len({p.coiterate for p in points}) == 1
    plain = not points or single or share_interval(iterators, emitter.context.types)
    cases = (PlainLoops if plain else Coiteration)(emitter, stmt, points, env, writes, bounds)
    if not points:
        filled = emitter.appending is None and not emitter.writer.finds_positions
        if filled and any(a.op is None for a in assignments(stmt)):
            raise LoweringError(f"nothing is computed over {stmt.var}, and {emitter.context.target} not filled")
        return block()  # nothing is added or appended
    # A bound needs no loop if it follows from the number of iterations, or of positions below them.
    writer = cases.appending
    if emitter.state.kind is FunctionKind.BOUND and writer is not None:
        ranges = {} if env.coords else {it: cases.limits(it) for it in cases.ordered()}
        if most := range_bounds(emitter.state, writer, ranges):
            return block(*map(increment, writer.counters, most))
        if _only_appends(cases, writer):
            return increment(writer.counters[-1], _most(cases))
    if bounds is not None and plain and not single:
        raise LoweringError("only plain loops are cut into chunks")
    return cases.emit()


def _only_appends(cases: LoopCases, writer: AppendWriter) -> bool:
    """Return whether a loop only appends one coordinate per iteration to the last level of the result."""
    stmt = cases.stmt
    chain = writer.chain_completed({stmt.var}, {**cases.env.coords, stmt.var: cases.coord})
    return isinstance(stmt.body, Assign) and chain is not None and chain is writer.chains[-1]


def _most(cases: LoopCases) -> ir.Expr:
    """Return a bound of the iterations: the sum over all iterators of a union, the minimum over an intersection."""
    widths = []
    for it in cases.ordered():
        begin, end = cases.limits(it)
        widths.append(maximum(sub(end, begin), lit(0)))
    if len(cases.loops) == 1:
        return minimum(*widths)
    most, *others = widths
    for width in others:
        most = add(most, width)
    return most


class PlainLoops(LoopCases):
    """Loops of one ``forall`` in which nothing is merged."""

    def emit(self) -> ir.Stmt:
        """Return the loops."""
        single = len(self.loops) == 1 and len(self.loops[0]) == 1
        return self._single_loop(self.loops[0][0]) if single else self._interval_loops()

    # -- one iterator: a for loop -------------------------------------------------------------------------------
    def _single_loop(self, it: LevelIterator) -> ir.Stmt:
        """Return the loop over one iterator."""
        f, env = self.f, self.env
        limits = bounds_of(f, it, self.stmt.var, env)
        begin, end = self.limits(it)
        if (strip := env.strips.get(self.stmt.var)) is not None:
            return self._in_strip(it, strip)
        # Coordinate value iteration.
        if it.format.iteration == "value":
            body = block(self._prefetch_rows(it, end), self.cases([it], env))
            first, last, edges = begin, end, block()
            if self._padded is not None:
                first, last = (f.name(f"{self.coord.name}_{word}") for word in ("first", "stop"))
                edges = block(ir.Declare(first, begin), ir.Declare(last, end))
            loop = split_by_mean_length(
                self._fused(ir.For(self.coord, first, last, body, reassociated(f, self.stmt.body, first, last))), limits
            )
            if isinstance(loop, ir.For) and self._adds_apart:
                loop = without_branches(f, loop, f.tensors[self.context.target.tensor].vals)
            return block(edges, self._between_padding(first, last, loop))
        # A branchless level has one coordinate for each parent: a declaration instead of a loop. Below a run of
        # duplicate parents it is a segment like any other (iterator chaining; 2018, section 4.3).
        chained = it.access is not None and (it.access, it.level - 1) in env.segments
        if it.format.branchless and not chained:
            return self.only_coordinate(it, begin, [it], replace(env, pos={**env.pos, it.key: begin}))
        # Coordinate position iteration, duplicate by duplicate where that gives the same result.
        if it.format.unique or self.emitter.writer.keeps_duplicates or may_revisit(self.emitter, self.stmt, it):
            loop = self._entry_loop(it, begin, end)
            if self._on_device:
                return in_any_order(self._fused(loop), reassociated(f, self.stmt.body, begin, end))
            return split_by_row_length(
                split_by_mean_length(self._fused(loop), limits), reassociated(f, self.stmt.body, begin, end), f.name
            )
        require_order([it])
        runs = self._duplicate_run_loop(it, begin, end)
        if self._on_device or (outside := self._gathered_outside(it)) is None:
            return runs
        # Both loops are emitted; the data decides. Runs pay off if there are at least RUN entries for each sum.
        return if_(ge(sub(limits[1], limits[0]), mul(lit(RUN), outside)), runs, self._entry_loop(it, begin, end))

    @property
    def _adds_apart(self) -> bool:
        """True if the iterations of the loop contribute to different elements of a dense result."""
        options, target = self.context.options, self.context.target
        dense = self.context.types[target.tensor].format.is_dense and self.stmt.var in target.indices
        return dense and options.target == "c" and options.enabled("padding-masks")

    def _prefetch_rows(self, it: LevelIterator, end: ir.Expr) -> ir.Stmt:
        """Return a prefetch of a later row, or nothing if rows are contiguous."""
        f = self.f
        enabled = f.kind.values and self.context.options.enabled("prefetch")
        by_value = it.format.capability(ValueIteration)
        if it.access is None or by_value is None or not by_value.scattered or not enabled:
            return block()
        parent = self.env.parent(it.access, it.level)
        if parent is None:
            return block()
        tensor, name = f.tensors[it.access.tensor], f.name(f"p{it.name}_later")
        return prefetch.prefetch_rows(tensor, it.level, parent, self.coord, end, name)

    @property
    def _on_device(self) -> bool:
        """True if loops are for a device, which shares their iterations among threads."""
        return self.context.options.target == "cuda"

    def _fused(self, loop: ir.For) -> ir.For:
        """Return a loop over adjoining segments as one loop."""
        return fuse_adjacent_ranges(loop) if self.context.options.enabled("fused-ranges") else loop

    def _entry_loop(self, it: LevelIterator, begin: ir.Expr, end: ir.Expr) -> ir.For:
        """Return a loop that visits each position separately."""
        p, env = self.p[it], self.env
        inner = replace(env, pos={**env.pos, it.key: child_position(self.f, it, p, self.coord)})
        decl = ir.Declare(self.coord, coordinate(self.f, it, p, env))
        return ir.For(p, begin, end, block(decl, self.cases([it], inner)))

    def _duplicate_run_loop(self, it: LevelIterator, begin: ir.Expr, end: ir.Expr) -> ir.Stmt:
        """Return a loop that visits each coordinate once, together with all its duplicates."""
        p = self.p[it]
        run, segment, inner = self.deduplicate(it, self.env)
        here = ir.Declare(self.coord, coordinate(self.f, it, p, self.env))
        step = block(*run, self.cases([it], inner))
        if self._on_device:  # whoever has the first position of a run takes all of it
            before = coordinate(self.f, it, sub(p, lit(1)), self.env)
            first = lor(eq(p, begin), ne(before, self.coord))
            return block(ir.Declare(self.end[it], end), ir.For(p, begin, end, block(here, if_(first, step))))
        step = block(here, step, ir.Set(p, segment))
        return block(ir.Declare(p, begin), ir.Declare(self.end[it], end), ir.While(lt(p, self.end[it]), step))

    def _gathered_outside(self, it: LevelIterator) -> ir.Expr | None:
        """Return a bound of the number of sums, or None if duplicates cannot be added one by one instead of in scalars.

        The faster way depends on the mean number of duplicates of a sum, which only an outermost loop can determine.
        """
        wheres = wheres_of(self.stmt.body)
        sums = [result_of(w.producer).target for w in wheres]
        if (
            it.level
            or it.key in self.env.limits  # the entries of one long row
            or not wheres
            or any(a.indices for a in sums)
            or not may_revisit(self.emitter, self.stmt, it, one_by_one=True)
        ):
            return None
        return product(self.context.extents[v] for v in result_of(self.stmt.body).target.indices)

    def _in_strip(self, it: LevelIterator, strip: Strip) -> ir.Stmt:
        """Return the loop inside one register strip, which compilers are to vectorize.

        The call of ``weft_unvectorized`` keeps compilers from vectorizing the loop over strips instead.
        """
        name = self.context.names[self.stmt.var]
        number, low = self.f.name(f"{name}_inside"), self.f.name(f"{name}_from")
        inside = replace(self.env, coords={**self.env.coords, strip.inner: number})
        body = block(ir.Declare(self.coord, add(low, number)), self.cases([it], inside))
        return block(
            ir.Declare(low, ir.Call("weft_unvectorized", (strip.low,), "int64")),
            ir.For(number, lit(0), strip.length, body, unroll=isinstance(strip.length, ir.Const)),
        )

    # -- several iterators of one interval: for loops -----------------------------------------------------------
    def _interval_loops(self) -> ir.Stmt:
        """Return loops over the interval that all iterators have: one as far as all of them reach, then the others.

        Every iterator of a loop is at each coordinate of it, so that nothing is compared.
        """
        f, env, iterators = self.f, self.env, self.ordered()
        bounds = {it: bounds_of(f, it, self.stmt.var, env) for it in iterators}
        begin = bounds[iterators[0]][0]
        if self.p:  # the single coordinate below a parent
            inner = replace(env, pos={**env.pos, **{it.key: first for it, (first, _) in bounds.items()}})
            return self.only_coordinate(iterators[0], begin, self.loops[0], inner)
        first, reached = (f.name(f"{self.coord.name}_{word}") for word in ("first", "reached"))
        ends = {it: f.name(f"{self.coord.name}_end{it.name}") for it in iterators}
        stmts: list[ir.Stmt] = []
        for loop in self.loops:
            end = minimum(*(ends[it] for it in loop))
            stmts.append(
                ir.For(self.coord, reached, end, self.cases(loop, env), reassociated(f, self.stmt.body, reached, end))
            )
            stmts.append(ir.Set(reached, maximum(reached, end)))
        return block(
            ir.Declare(first, begin),
            *(ir.Declare(end, bounds[it][1]) for it, end in ends.items()),
            ir.Declare(reached, first),
            self._between_padding(first, reached, block(*stmts)),
        )

    # -- padding ------------------------------------------------------------------------------------------------
    @cached
    def _padded(self) -> int | None:
        """Level of the result over the variable that has positions outside the tensor; None if it has none.

        Such a level is a range below the last appended coordinate. Operands may also be too short for its last
        positions.
        """
        writer = self.appending
        if writer is None or not self.f.kind.values or self.stmt.var not in writer.path:
            return None
        k = writer.path.index(self.stmt.var)
        implied = writer.format.levels[k].iterates_values and implied_by(writer.access, writer.format, k)
        return k if implied and k > writer.chains[-1].last and not self.context.fills_target else None

    def _between_padding(self, begin: ir.Expr, end: ir.Expr, loops: ir.Stmt) -> ir.Stmt:
        """Return loops over an interval, with fill values at all other positions of a result that is padded."""
        writer, k = self.appending, self._padded
        if writer is None or k is None:
            return loops
        parent = self.env.parent(writer.access, k)
        if parent is None:
            raise LoweringError(f"the parent of {writer.vars.name}{k + 1} is not known in forall {self.stmt.var}")
        fill = fill_expr(self.f, writer.vars.type.fill, writer.vars.type.dtype)
        before, behind = writer.padding(k, parent, (begin, maximum(begin, end)), fill)
        return block(before, loops, behind)


def reassociated(f: FunctionState, body: Stmt, begin: ir.Expr, end: ir.Expr) -> tuple[tuple[str, str], ...] | None:
    """Return the SIMD reductions of a loop that may be reassociated, as in ``For.simd``, or None."""
    # Compilers unroll loops of few iterations anyway.
    if isinstance(begin, ir.Const) and isinstance(end, ir.Const) and int(end.value) - int(begin.value) <= SHORT:  # type: ignore[arg-type]
        return None
    if isinstance(body, Assign) and f.context.options.reassociates and f.kind.values:
        w = f.context.workspaces.get(body.target.tensor)
        counts = f.context.options.target == "cuda"  # compilers for CPUs reassociate sums of integers unasked
        if w is not None and w.kind == "scalar" and (counts or w.dtype in ("float32", "float64")):
            extreme = body.op is not None and OPERATORS[body.op].extreme != 0
            op = "+" if body.op == "add" else f"weft_{body.op}_{w.dtype}" if extreme else None
            absences = f.context.implicit_entries.get(w.name)
            counter = () if absences is None else (("+", absences.visited.name),)
            return None if op is None else ((op, scalar(f, w).name), *counter)
    return None
