"""Concrete index notation to imperative IR: the code generation algorithm of 2017 (Fig. 11) and 2018 (Fig. 9).

``Lowerer`` traverses the statement. For each ``forall``, ``Lowerer`` builds the merge lattice and emits one loop for
each set of co-iterated levels. Inside the loop there is one case for each lattice point. The body of a case is lowered
from the statement without the operands that have only implicit entries there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from ..analysis import merge_lattice
from ..analysis.coordinate_sets import is_full
from ..analysis.derived_variables import DerivedVariable, derived_variables, radix_components, single_coordinate_levels
from ..analysis.implicit_values import implicit_value
from ..analysis.iteration_graph import level_iterators
from ..analysis.merge_lattice import LevelIterator, Point, TooManyCases
from ..analysis.runtime_fills import fill_name, is_fill_name
from ..code_options import CodeOptions
from ..concrete_notation.nodes import Assign, Fill, Forall, Program, RegisterStrips, Split, Stmt, Where, Workspace
from ..concrete_notation.nodes import (
    Sequence as Seq,
)
from ..concrete_notation.traversal import assignments, foralls_of, result_of, statements, wheres_of
from ..concrete_notation.values import UNKNOWN, CastExpr, neutral_in_sum, same_value, typed, without_conversions
from ..errors import LoweringError
from ..formats import Dense, TensorType
from ..formats.append_chains import AppendChain, is_unordered_list
from ..formats.capabilities import Locate, PositionIteration, ValueIteration
from ..formats.format import level_variables
from ..formats.tensor_vars import TensorVars
from ..index_notation.nodes import Access, Apply, Expr
from ..index_notation.operator_table import OPERATORS
from ..index_notation.traversal import accesses, replaced
from ..ir import nodes as ir
from ..ir import used_names
from ..ir.builder import add, block, cast, ge, gt, if_, land, lit, lor, lt, maximum, mul, sub
from ..records import cached, replace
from ..remapping.emit_ir import emit
from ..remapping.inverse import linear
from . import loop_splits, workspaces
from .environment import Environment
from .function_kind import FunctionKind
from .implicit_entries import ImplicitEntries, find_implicit_entries, visit
from .loops import LoopEmitter
from .result_writer import ResultWriter, WriterOf
from .scalar_expressions import lower_expr, lower_value
from .thread_partials import THREADS
from .workspaces import neutral_of

_DENSE = Dense()


class Lowerer:
    """Lowerer of one program to one function of a module."""

    def __init__(
        self,
        program: Program,
        target: Access,
        types: Mapping[str, TensorType],
        names: Mapping[str, str],
        kind: FunctionKind,
        options: CodeOptions,
        skip_fill: bool = False,
        writer: WriterOf = ResultWriter,
    ):
        self.options = options
        self.skip_fill = skip_fill
        self.most, self.cases = inf, 0  # more cases of all merges together raise ``TooManyCases``
        self.program, self.types, self.names, self.kind = program, types, names, kind
        self.given = types
        self.widest = ir.Var("widest")
        self.workspaces = {w.name: w for w in program.workspaces}
        self.tensors = {name: TensorVars.of(names[name], type, str) for name, type in types.items()}
        # Fill values that are known when the kernel runs are operands without axes, which are read once.
        hidden = [name for name in types if is_fill_name(name)]
        self.fills = {n: ir.Var(f"{names[n]}_value", types[n].dtype) for n in hidden}
        self.target = writer(self, target)
        self.extents: dict[str, ir.Expr] = {}
        self.blocks: dict[str, ir.Expr] = {}
        self._fresh: dict[str, int] = {}
        self._taken: set[str] = set()
        # Allocation and release of workspaces, once for each thread.
        self.scratch: list[ir.Stmt] = []
        self.release: list[ir.Stmt] = []
        self.chunked = False
        # Recorded by the loops, for explanations.
        self.lattices: list[tuple[str, tuple[Point, ...]]] = []
        # The dimension of each index variable, from the first access or level that has it.
        found = [a for s in assignments(program.stmt) for a in (*accesses(s.value), s.target)]
        stored = [a for a in (*found, target) if a.tensor in self.tensors]
        for access in stored:
            tensor = self.tensors[access.tensor]
            for var, dimension in zip(access.indices, tensor.dimensions, strict=True):
                self.extents.setdefault(var, dimension)
            for var, level in zip(level_variables(access, tensor.type.format), tensor.levels, strict=True):
                self.extents.setdefault(var, level.dimension)
        self.extents |= {s.inner: lit(s.widths[0]) for s in program.splits if isinstance(s, RegisterStrips)}
        # A variable with a loop of its own is not derived from others.
        loops = {f.var for f in foralls_of(program.stmt)} | {s.var for s in program.splits}
        self.derived = tuple(d for d in derived_variables(stored, types) if d.var not in loops)
        self.computed = single_coordinate_levels(stored, types)
        self.implicit_entries: dict[str, ImplicitEntries] = {}
        self.types = {**types, **workspaces.types(self)}
        find_implicit_entries(self, program.stmt)
        workspaces.declare(self)

    # -- the function -------------------------------------------------------------------------------------------
    def lower(self, operands: Sequence[str]) -> ir.Function:
        """Return the whole function, whose parameters are the result and then ``operands``."""
        stmt = self.program.stmt
        # Fills and scalars that no loop encloses come before the parallel region.
        prologue, stmt = _split_fills(stmt)
        prepared = [self.statement(s, Environment()) for s in prologue]
        while isinstance(stmt, Where) and isinstance(stmt.consumer, Where | Forall) and self._makes_scalar(stmt):
            prepared.append(workspaces.made(self, stmt, Environment()))
            stmt = stmt.consumer
        before = block(*prepared)
        shared = self.chunked_loop(stmt) if isinstance(stmt, Forall) and self.target.shares(stmt) else None
        if shared is not None:
            main = shared
        else:
            body = self.statement(stmt, Environment()) if self.target.needs_loops else block()
            main = block(*self.scratch, self.target.start(lit(0)), body, self.target.finish(lit(0)), *self.release)
        main = block(self.target.init(), before, self.target.prologue(), main, self.target.epilogue())
        names = [self.target.access.tensor, *operands]
        params = tuple(self.tensors[n].param(output=n == names[0]) for n in names)
        return ir.Function(self.target.name, params, block(self.read_fills(), main))

    def read_fills(self) -> ir.Stmt:
        """Return the statements that read the fill values which are known when the kernel runs."""
        return block(*[ir.Declare(v, ir.Load(self.tensors[n].vals, lit(0))) for n, v in self.fills.items()])

    def _makes_scalar(self, stmt: Where) -> bool:
        return self.workspaces[result_of(stmt.producer).target.tensor].kind == "scalar"

    @property
    def chunks(self) -> ir.Expr:
        """Number of chunks of the outermost loop."""
        return self.target.chunks if self.chunked else lit(1)

    def chunked_loop(self, stmt: Forall) -> ir.Stmt | None:
        """Return the outermost loop cut into chunks that threads share, or None if the loop is not a plain loop."""
        cut = next((s for s in self.program.splits if isinstance(s, Split) and s.outer == stmt.var), None)
        limits: tuple[ir.Expr, ir.Expr]
        if not self.target.can_be_cut:
            return None
        sized = block()
        if cut is not None:
            sized = loop_splits.size_of_blocks(self, cut, stmt)
            limits = (lit(0), loop_splits.block_count(self, cut, stmt, Environment()))
        else:
            # Chunks by position must not cut runs of duplicates.
            driver = self.driver_of(stmt, Environment())
            alone = driver is not None and driver.level == 0 and (driver.format.unique or self.target.apart)
            if driver is None or not (driver.certain or alone):
                return None
            limits = self.bounds_of(driver, stmt.var, Environment())
        self.chunked = True
        chunk, n = ir.Var("chunk"), ir.Var("chunks")
        lo, hi = ir.Var("chunk_begin"), ir.Var("chunk_end")
        begin, end = limits
        # Chunk c of n is [begin + span*c/n, begin + span*(c+1)/n).
        span = sub(end, begin)
        bounds = [
            ir.Declare(lo, add(begin, ir.Binary("/", mul(span, chunk), n))),
            ir.Declare(hi, add(begin, ir.Binary("/", mul(span, add(chunk, lit(1))), n))),
            *self.target.moved((lo, hi), limits),
        ]
        body = self.forall(stmt, Environment(), bounds=(lo, hi))
        loop = ir.For(chunk, lit(0), n, block(*bounds, self.target.start(chunk), body, self.target.finish(chunk)))
        region = ir.Parallel(THREADS, block(*self.scratch), loop, block(*self.release))
        return block(sized, ir.Declare(n, self.chunks), region)

    # -- statements ---------------------------------------------------------------------------------------------
    def statement(self, stmt: Stmt, env: Environment) -> ir.Stmt:
        return block(*self.target.before(stmt), self._statement(stmt, env))

    def _statement(self, stmt: Stmt, env: Environment) -> ir.Stmt:
        match stmt:
            case Assign():
                return self.assign(stmt, env)
            case Forall():
                return self.forall(stmt, env)
            case Where():
                return workspaces.where(self, stmt, env)
            case Seq(stmts=stmts):
                return block(*(self.statement(s, env) for s in stmts))
            case Fill(target=target, value=value):
                return self.fill(target, value, env)
        raise LoweringError(f"cannot lower {stmt!r}")

    @cached
    def fills_target(self) -> bool:
        """Return whether the result is filled before values are stored."""
        return any(isinstance(s, Fill) and s.target == self.target.access for s in statements(self.program.stmt))

    @property
    def holds_values(self) -> bool:
        """True if workspaces hold values, which are written to the result or decide which entries are stored."""
        return self.kind.values or (self.skip_fill and self.kind in (FunctionKind.COUNT, FunctionKind.ASSEMBLE))

    def assign(self, stmt: Assign, env: Environment) -> ir.Stmt:
        name = stmt.target.tensor
        if name in self.workspaces:
            return workspaces.assign(self, self.workspaces[name], stmt, env)
        return self.target.store(stmt, env)

    def fill(self, target: Access, value: Any, env: Environment) -> ir.Stmt:
        if target.tensor in self.workspaces:
            raise LoweringError("workspaces are filled where they are declared")
        env, decls = self.resolve(env, [target])
        # Levels down to the last one that loops have located are fixed; everything below is filled.
        resolved = 0
        while (target, resolved) in env.pos:
            resolved += 1
        base = env.pos[(target, resolved - 1)] if resolved else lit(0)
        part = env.tiles.get(self.target.variable(0)) if env.tiles and not resolved else None
        return block(*decls, self.target.fill(resolved, base, self.value(value, self.types[target.tensor].dtype), part))

    def read(self, access: Access, env: Environment) -> ir.Expr:
        if access in env.values:
            return env.values[access]
        if access.tensor in self.fills:
            return self.fills[access.tensor]
        if access.tensor in self.workspaces:
            w = self.workspaces[access.tensor]
            if w.kind == "scalar":
                return self.scalar(w)
        return ir.Load(self.tensors[access.tensor].vals, self.position(access, env))

    def value(self, value: Any, dtype: str) -> ir.Expr:
        """Return a fill value or an implicit value in IR, converted to a dtype."""
        name, type = self.target.access.tensor, self.types[self.target.access.tensor]
        # The fill value of the result is the one that its type has: C may round the same expression otherwise.
        if fill_name(name) in self.fills and same_value(value, type.fill):
            return cast(self.fills[fill_name(name)], dtype)
        return lower_value(value, dtype, lambda a: self.read(a, Environment()))

    def is_entry(self, expr: Expr, value: ir.Expr, fill: Any, env: Environment) -> ir.Expr:
        """Return whether a value gets an entry where some do not: those that equal the fill value, or are left out."""
        while isinstance(expr, CastExpr):
            expr = expr.expr
        if isinstance(expr, Apply) and OPERATORS[expr.op].leaves_out:
            return lower_expr(expr.args[0], lambda a: self.read(a, env))
        return self.differs(value, fill)

    def differs(self, value: ir.Expr, fill: Any) -> ir.Expr:
        """Return whether a value is another than the fill value; NaN is the same as NaN."""
        if fill != fill:  # only NaN differs from itself, and other values are equal to themselves
            return ir.Binary("==", value, value)
        return ir.Binary("!=", value, self.value(fill, value.ty))

    def scalar(self, w: Workspace) -> ir.Var:
        """Return the variable of a scalar workspace."""
        return ir.Var(self.names[w.name], w.dtype)

    def position(self, access: Access, env: Environment) -> ir.Expr:
        access = self.target.stands_at if access == self.target.access else access
        depth = len(self.types[access.tensor].format.levels)
        if depth == 0:
            return lit(0)
        p = env.pos.get((access, depth - 1))
        if p is None:
            raise LoweringError(f"no position of {access} at {sorted(env.coords)}")
        return p

    # -- loops --------------------------------------------------------------------------------------------------
    def lattice(self, stmt: Forall, env: Environment, record: bool = True) -> tuple[Point, ...]:
        """Return the points of the merge lattice of a loop, which are kept for explanations if ``record`` is true."""
        v = stmt.var
        # The universe iterates the whole dimension, where the expression has a value without any stored entry.
        universe = LevelIterator(None, 0, _DENSE, v.upper() if v.upper() != v else f"{v}_all")
        body = self.view(stmt.body)
        neutral = self.skippable_value(body, result_of(stmt.body))
        points = merge_lattice.build(
            body, lambda a: self.iterators(a, v), self.fill_value, universe, neutral, self.most
        )
        if record:
            self.lattices.append((v, points))
        return points

    def count_cases(self, number: int) -> None:
        """Add ``number`` to the cases of all merges, or raise ``TooManyCases``."""
        self.cases += number
        if self.cases > self.most:
            raise TooManyCases

    def iterators(self, access: Access, v: str) -> tuple[LevelIterator, ...]:
        """Return the iterators of the levels of an operand over one variable."""
        name = self.names[access.tensor]
        return tuple(replace(it, name=f"{name}{it.level + 1}") for it in level_iterators(access, v, self.types))

    def fill_value(self, access: Access) -> Any:
        """Return the value of the implicit entries of an operand; a scalar has none, so its value is ``UNKNOWN``."""
        if access.tensor in self.workspaces:
            absences = self.implicit_entries.get(access.tensor)
            gathered = neutral_of(self.workspaces[access.tensor]) if absences is None else absences.value
            return gathered if access.indices else UNKNOWN
        type = self.types[access.tensor]
        return typed(type.fill, type.dtype) if access.indices else UNKNOWN

    def neutral_value(self, stmt: Assign) -> tuple[Any, str]:
        """Return the value and dtype of the target of an assignment where nothing is assigned."""
        type = self.types[stmt.target.tensor]
        w = self.workspaces.get(stmt.target.tensor)
        if (absences := self.implicit_entries.get(stmt.target.tensor)) is not None:
            return absences.value if absences.never_empty else UNKNOWN, type.dtype
        if stmt.op is not None:
            return OPERATORS[stmt.op].start(type.dtype), type.dtype
        return (neutral_of(w) if w else type.fill), type.dtype

    def skippable_value(self, value: Expr, stmt: Assign) -> Any:
        """Return the implicit value at which an assignment of ``value`` is skipped: for sums, zero of either sign."""
        if (absences := self.implicit_entries.get(stmt.target.tensor)) is not None:
            return absences.value
        neutral = self.neutral_value(stmt)[0]
        # A scalar sum as a factor was taken out of an outer sum, so the sign of its zero does not matter either.
        parts = [w for a in accesses(stmt.value) if (w := self.workspaces.get(a.tensor)) is not None]
        factored = any(w.kind == "scalar" and w.op == "add" for w in parts)
        summed = (
            stmt.op == "add" or factored or (stmt.target.tensor in self.given and is_unordered_list(self.target.format))
        )
        return neutral_in_sum(implicit_value(value, self.fill_value), neutral) if summed else neutral

    def skippable_outside(self, value: Expr, stmt: Assign) -> Any:
        """Return the value that loops enclosing a workspace's producer may skip."""
        counted = stmt.target.tensor in self.implicit_entries
        return self.neutral_value(stmt)[0] if counted else self.skippable_value(value, stmt)

    def view(self, stmt: Stmt) -> Expr:
        """Return the statement as one expression, with workspaces replaced by the values computed into them."""
        match stmt:
            case Assign(value=value):
                return value
            case Forall(body=body):
                return self.view(body)
            case Where(consumer=consumer, producer=producer):
                made = self.view(producer)
                last = result_of(producer)
                if not same_value(implicit_value(made, self.fill_value), self.skippable_outside(made, last)):
                    # Implicit entries change the workspace, so loops must not skip them. With the workspace itself as
                    # another operand, merge lattices keep coordinates without stored entries.
                    made = Apply("add", (made, last.target))
                return replaced(self.view(consumer), last.target, made)
            case Seq(stmts=stmts):
                parts = [self.view(s) for s in stmts if not isinstance(s, Fill)]
                whole = parts[0]
                for part in parts[1:]:
                    whole = Apply("add", (whole, part))
                return whole
        raise LoweringError(f"no expression in {stmt!r}")

    @cached
    def whole(self) -> Expr:
        """Whole program as one expression, without explicit conversions."""
        return without_conversions(self.view(self.program.stmt))

    @property
    def implicit_value(self) -> Any:
        """Value of the whole program where no operand has a stored entry."""
        return implicit_value(self.view(self.program.stmt), self.fill_value)

    @cached
    def reaches_stored_only(self) -> bool:
        """Guarantee that only coordinates of stored entries are appended, so that the number of entries is a bound."""
        stored = same_value(self.implicit_value, self.types[self.target.access.tensor].fill)
        # An array beside a workspace may have values where nothing was written: maximum(w(j), z(i)).
        return stored and all(workspaces.reads_written_only(self, where) for where in wheres_of(self.program.stmt))

    def driver_of(self, stmt: Forall, env: Environment) -> LevelIterator | None:
        """Return the single iterator of a plain loop, or None for a merge."""
        points = self.lattice(stmt, env, record=False)
        if len(points) != 1 or len(points[0].coiterate) != 1:
            return None
        return points[0].coiterate[0]

    def forall(self, stmt: Forall, env: Environment, bounds: tuple[ir.Expr, ir.Expr] | None = None) -> ir.Stmt:
        instead = self.target.in_place_of(stmt, env) if bounds is None else None
        return block(visit(self, stmt), self._loop(stmt, env, bounds)) if instead is None else instead

    def _loop(self, stmt: Forall, env: Environment, bounds: tuple[ir.Expr, ir.Expr] | None) -> ir.Stmt:
        v = stmt.var
        for cut in self.program.splits:
            if v == cut.outer:
                return loop_splits.block_loop(self, cut, stmt, env, bounds)
            if v == cut.inner:
                return loop_splits.inside_block_loop(self, cut, stmt, env)
        points = self.lattice(stmt, env)
        # The loop may append: after it, the edges connect the appended coordinates to their parent.
        writes = self.kind is not FunctionKind.WIDEST and any(
            a.target.tensor == self.target.access.tensor for a in assignments(stmt.body)
        )
        level = self.target.level_of(v) if writes else None
        code = LoopEmitter(self, stmt, points, env, writes, bounds).emit()
        chain = self.target.chain_starting(level) if level is not None else None
        if chain is None or chain.first == 0:
            return code
        parent = env.parent(self.target.access, chain.first)
        if parent is None:
            raise LoweringError(f"the parent of {self.target.vars.name}{chain.first + 1} is not known in forall {v}")
        sequenced = self.visits_every_parent(chain)
        counter = self.target.counters[chain.index]
        begin = ir.Var(f"{counter.name}_begin")
        edges = self.target.edges(chain, parent, begin, sequenced)
        below_appended = any(c.last == chain.first - 1 for c in self.target.chains)
        if below_appended:
            # A parent without children is not kept. The next parent takes its position, perhaps in another thread.
            edges = if_(gt(counter, begin), edges) if edges != block() else edges
        declare = ir.Declare(begin, counter) if below_appended or not sequenced else block()
        return block(declare, code, edges)

    def visits_every_parent(self, chain: AppendChain) -> bool:
        """Return whether loops visit every possible parent of a chain, including parents without children."""
        # Located levels above need loops over all coordinates; parents in appended levels are visited as they are made.
        variables = [self.target.variable(k) for k in range(chain.first)]
        above = [set(radix_components(v, self.derived)) for v in variables]
        appended = [any(c.first <= k <= c.last for c in self.target.chains) for k in range(chain.first)]
        full = all(
            is_full(self.whole, digit, self.types)
            for own, kept in zip(above, appended, strict=True)
            for digit in own
            if not kept
        )
        # If the result has blocks, parents in a block that reach beyond the edge of the tensor are not visited.
        partial = [d for d in self.derived if not d.inside and d.var not in variables]
        return full and not any(d.needs <= set().union(*above) for d in partial)

    def bounds_of(self, it: LevelIterator, v: str, env: Environment) -> tuple[ir.Expr, ir.Expr]:
        """Return the bounds of an iterator: coordinates or positions, as its level iterates."""
        if it.access is None:
            return lit(0), self.extents[v]
        m = self.tensors[it.access.tensor].levels[it.level]
        by_value = it.format.capability(ValueIteration)
        if by_value is not None:
            parent = lit(0) if it.certain else self._parent(it, env)
            begin, stop = by_value.coord_bounds(m, parent, () if it.certain else self.coordinates_above(it, env))
            # An interval over a sum of axes would have a negative length if the axes have size 0.
            summed = it.format.has_every and len(used_names(stop)) > 1
            return begin, maximum(begin, stop) if summed else stop
        parent = self._parent(it, env)
        end = env.segments.get((it.access, it.level - 1))
        by_position = it.format.require(PositionIteration)
        begin, stop = by_position.pos_bounds(m, parent)
        # Iterator chaining (2018, section 4.3): the children of a run of duplicates are one segment.
        return begin, stop if end is None else end

    def coordinate(self, it: LevelIterator, p: ir.Expr, env: Environment) -> ir.Expr:
        assert it.access is not None
        m = self.tensors[it.access.tensor].levels[it.level]
        above = self.coordinates_above(it, env)
        return it.format.require(PositionIteration).pos_access(m, p, self._parent(it, env), above)

    def _parent(self, it: LevelIterator, env: Environment) -> ir.Expr:
        assert it.access is not None
        parent = env.parent(it.access, it.level)
        if parent is None:
            raise LoweringError(f"{it} is iterated before its parent")
        return parent

    def coordinates_above(self, it: LevelIterator, env: Environment) -> tuple[ir.Expr, ...]:
        """Return the coordinates of the levels above the level of an iterator."""
        assert it.access is not None
        return tuple(env.coords[v] for v in level_variables(it.access, self.types[it.access.tensor].format)[: it.level])

    def derive(self, env: Environment) -> tuple[Environment, list[ir.Stmt], list[ir.Expr]]:
        """Return ``env`` with derived variables, their declarations, and conditions that they lie in the tensor."""
        coords, whole = dict(env.coords), dict(env.whole)
        decls: list[ir.Stmt] = []
        guards: list[ir.Expr] = []
        found = True
        while found:
            found = False
            for d in self.derived:
                if d.var in coords or not all(v in coords for v in d.needs):
                    continue
                known = {n: coords[v] for n, v in enumerate(d.of) if v in coords}
                value = emit(d.value, known, self.sizes(d))
                name = self.name(self.names[d.var])
                decls.append(ir.Declare(name, value))
                coords[d.var] = name
                found = True
                # A block may reach beyond the edge of the tensor; a diagonal may begin below 0.
                if not d.inside:
                    fits = lt(name, self.extents[d.var])
                    if not d.natural:
                        fits = land(ge(name, lit(0)), fits)
                    guards.append(lor(whole[d.var], fits) if d.var in whole else fits)
        for d in self.derived:
            if not d.inside and d.var not in coords and d.var not in whole and d.needs & coords.keys():
                fits_whole = self._fits_whole(d, coords)
                if fits_whole is not None and self.options.enabled("whole-blocks"):
                    # This is known outside the loop over the coordinate. Inner loops are emitted with and without the
                    # condition on each coordinate.
                    whole[d.var] = name = ir.Var(self.name(f"{self.names[d.var]}_whole").name, "bool")
                    decls.append(ir.Declare(name, fits_whole))
        return replace(env, coords=coords, whole=whole), decls, guards

    def settled(self, env: Environment) -> bool:
        """Return whether derived variables that may leave the tensor are pending, all with a condition in ``whole``."""
        pending = {d.var for d in self.derived if not d.inside and d.var not in env.coords}
        return bool(pending) and pending <= env.whole.keys()

    def _fits_whole(self, d: DerivedVariable, coords: Mapping[str, ir.Expr]) -> ir.Expr | None:
        """Return the condition that all values a variable can still take lie inside the tensor, or None if unknown."""
        factors = linear(d.value)
        if factors is None or any(k is not None and f < 0 for k, f in factors.items()):
            return None
        if not d.natural and any(self.types[t].format.is_signed for t in self.tensors):
            return None  # variables that are not known yet may be negative

        # A linear value with positive factors is least and greatest at the ends of its variables' ranges.
        def at(end: Callable[[str], ir.Expr]) -> ir.Expr:
            ends = {v: coords[v] if v in coords else end(v) for v in d.needs}
            return emit(d.value, {n: ends[v] for n, v in enumerate(d.of) if v in ends}, self.sizes(d))

        below_end = lt(at(lambda v: sub(self.extents[v], lit(1))), self.extents[d.var])
        return below_end if d.natural else land(ge(at(lambda v: lit(0)), lit(0)), below_end)

    def sizes(self, d: DerivedVariable) -> list[ir.Expr]:
        return [self.extents[v] for v in d.axes]

    def resolve(self, env: Environment, targets: Sequence[Access]) -> tuple[Environment, list[ir.Stmt]]:
        """Return ``env`` with levels located whose parent and coordinate are known, and declarations of positions."""
        pos = dict(env.pos)
        decls: list[ir.Stmt] = []
        for access in dict.fromkeys(targets):
            if access.tensor not in self.tensors:
                continue
            if access == self.target.access and not self.target.located:
                decls += self.target.locate(replace(env, pos=pos), pos)
                continue
            tensor = self.tensors[access.tensor]
            format = tensor.type.format
            variables = level_variables(access, format)
            for k, level in enumerate(format.levels):
                if (access, k) in pos:
                    continue
                parent = lit(0) if k == 0 else pos.get((access, k - 1))
                coord = env.coords.get(variables[k])
                located = level.capability(Locate)
                if parent is None or coord is None or located is None or located.locates != "direct":
                    break
                p = located.locate(tensor.levels[k], parent, coord)
                if not isinstance(p, ir.Var | ir.Const):
                    name = self.name(f"p{tensor.name}{k + 1}")
                    decls.append(ir.Declare(name, p))
                    p = name
                pos[(access, k)] = p
        return replace(env, pos=pos), decls

    def share_names(self, other: Lowerer) -> None:
        """Use the declared names of ``other`` as its own, since both become parts of one function."""
        self._fresh, self._taken = other._fresh, other._taken

    def name(self, stem: str) -> ir.Var:
        """Return a variable whose name begins with ``stem`` and is declared nowhere else."""
        n = self._fresh.get(stem, 0)
        name = stem if n == 0 else f"{stem}_{n}"
        while name in self._taken or (n and name in self.names.values()):
            n += 1
            name = f"{stem}_{n}"
        self._fresh[stem] = n + 1
        self._taken.add(name)
        return ir.Var(name)


def _split_fills(stmt: Stmt) -> tuple[list[Stmt], Stmt]:
    """Return the leading fill of the whole target, in a list if there is one, and the rest of the statement."""
    if isinstance(stmt, Seq) and isinstance(stmt.stmts[0], Fill):
        rest = stmt.stmts[1:]
        return [stmt.stmts[0]], rest[0] if len(rest) == 1 else Seq(rest)
    return [], stmt
