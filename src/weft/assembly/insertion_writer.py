"""Assembly by insertion (2020 paper, section 6), for structures whose coordinates cannot be appended in order.

The loops that contribute values to the result run once for each level with an attribute query, from the root down, and
once more to insert every value. They copy the entries of a tensor in a conversion, and compute values otherwise. A
level determines the position of a value from the answers of its query (``get_pos``) or takes the next free position of
its parent (``yield_pos``).

Two arrays become scalars if the order of the loops allows it (section 4.2). The counter ``#i`` is a scalar if the loop
over ``i`` encloses the others. The next free position is a scalar if entries come in the order of positions.

Threads share a pass by chunks of the outermost loop. Each thread stores the answers of a query in an array of its own,
and the arrays are combined afterwards. The sums of histograms also determine the positions of each thread's entries, so
the order of entries does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ..abi import CHUNKS_PER_THREAD
from ..analysis.contributions import contribution_path, copied_access
from ..analysis.derived_variables import leaves_tensor
from ..analysis.insertion_plan import InsertionPass, InsertionPlan, reused_arrays
from ..analysis.level_queries import LevelQuery, level_queries, source_facts
from ..analysis.merge_lattice import LevelIterator
from ..code_options import CodeOptions
from ..concrete_notation.nodes import Assign, Forall, Program, Stmt
from ..concrete_notation.traversal import assignments
from ..formats import LevelVars, TensorType
from ..formats.capabilities import Insertion, QueriedEdges, SharedPositions
from ..formats.format import scratch_dtype
from ..index_notation.nodes import Access
from ..index_notation.traversal import accesses
from ..ir import nodes as ir
from ..ir.builder import add, block, cast, if_, increment, lit, lor, lt, mul, ne, sub
from ..ir.traversal import used_names, walk
from ..lowering.environment import Environment
from ..lowering.function_kind import COUNTS, FunctionKind
from ..lowering.lowerer import Lowerer
from ..lowering.scalar_expressions import lower_expr, update
from ..lowering.thread_partials import THREADS, ThreadPartials, among_threads, each_thread, piece_of
from ..queries import Width
from ..queries.table1_rewrites import SourceFacts
from ..records import replace
from ..remapping.emit_ir import emit
from ..remapping.nodes import Binary, Constant, Counter, Extent, IndexExpr, axes_of
from . import query_lowering
from .edge_insertion import EdgeSource, EdgeWriter, adjoining
from .entry_writer import EntryWriter
from .insertion_prefetch import prefetch_insertion

_UNKNOWN = ir.Var("unknown")
"""Placeholder for the coordinate of an axis whose loop is not emitted; declared nowhere."""


def insertion_lowerer(
    program: Program,
    target: Access,
    types: Mapping[str, TensorType],
    names: Mapping[str, str],
    phase: InsertionPass,
    options: CodeOptions,
    skip_fill: bool,
    plan: InsertionPlan,
) -> Lowerer:
    """Return the lowerer of a pass that assembles a result by insertion."""
    shares, _ = _reused(program, target, types, plan, options)
    writes_values = (phase.level is None and not shares) or skip_fill
    kind = FunctionKind.COMPUTE if writes_values else FunctionKind.ASSEMBLE
    writer = partial(InsertionWriter, phase=phase, plan=plan)
    return Lowerer(program, target, types, names, kind, options, skip_fill, writer=writer)


def _reused(
    program: Program,
    target: Access,
    types: Mapping[str, TensorType],
    plan: InsertionPlan,
    options: CodeOptions,
) -> tuple[bool, dict[int, int]]:
    """Return if a copy keeps the array of values, and the levels whose arrays of coordinates it keeps."""
    copied = copied_access(program, target)
    return reused_arrays(types[copied.tensor], types[target.tensor], plan, options) if copied else (False, {})


def _reads_memory_at(position: ir.Expr, stmts: Sequence[ir.Stmt]) -> bool:
    """Return whether statements load, or call functions, at an index that depends on a position."""
    names = used_names(position)
    memory = (node for node in walk(block(*stmts)) if isinstance(node, ir.Load | ir.Call | ir.For))
    return any(not names.isdisjoint(used_names(node)) for node in memory)


class InsertionWriter(EntryWriter):
    """Writer of a pass that assembles a result by insertion."""

    def __init__(self, owner: Lowerer, access: Access, phase: InsertionPass, plan: InsertionPlan):
        super().__init__(owner, access)
        program, target, types = owner.program, access, owner.types
        copied = copied_access(program, target)
        self.copies = copied is not None
        self.shares_values, self.kept = _reused(program, target, types, plan, owner.options)
        # Values that are neither added, nor have places of their own, need the sum of duplicates.
        added = contribution_path(program.stmt, target)[1]
        unique = copied is None or types[copied.tensor].format.is_unique
        alone = unique or not types[target.tensor].format.is_unique
        self.apart = self.copies and (alone or (isinstance(added, Assign) and added.op is not None))
        self.phase, self.plan = phase, plan
        tensor = self.vars
        # Arrays that only assembly needs are further parameters. With threads, so is the memory for their own answers.
        arrays = {
            (k, role): ir.Var(
                f"{tensor.name}{k + 1}_{role}", f"{scratch_dtype(tensor.type, tensor.type.format.levels[k], role)}*"
            )
            for k, role in plan.scratch
        }
        self.private = plan.private if phase.threads else ()
        for k, role in self.private:
            ty = arrays[k, role].ty if (k, role) in arrays else tensor.levels[k].arrays[role].ty
            arrays[k, "private"] = ir.Var(f"{tensor.name}{k + 1}_private", ty)
        levels = tuple(
            replace(m, arrays={**m.arrays, **{role: v for (at, role), v in arrays.items() if at == k}})
            for k, m in enumerate(tensor.levels)
        )
        self.take(replace(tensor, levels=levels), tuple(arrays.values()))
        self.next = ir.Var(f"p{tensor.name}_next")
        self.threads = phase.threads
        self.edge_writer: EdgeWriter | None = None
        self.shared_loop: tuple[EdgeSource, tuple[ir.Var, ir.Var]] | None = None
        # Edges of a level whose entries keep their positions are inserted in the last pass.
        if phase.level is None and plan.preserving is not None:
            last = plan.preserving + 1
            self.edge_writer = EdgeWriter(self.format.levels[:last], self.vars.levels[:last])
        self.own = tuple(self._own(k) for k in range(len(levels)))
        # The loop before which the scalar counter of a level is set to 0; None for the assignment inside all loops.
        loops, _ = contribution_path(program.stmt, target)
        inside = (*(loop.var for loop in loops), None)
        self.counted = {k: inside[n] for k, n in plan.counters.items() if n is not None}
        self.segments: Forall | None = None
        self.asked = () if phase.level is None or phase.collects else self._asked(phase.level, loops)

    def _asked(self, k: int, loops: Sequence[Forall]) -> tuple[LevelQuery, ...]:
        """Return the queries of a level, answered from widths of segments if all of them can be."""
        known = self.copies and not self.owner.skip_fill
        source = source_facts(self.owner.types[self.source.tensor].format) if known else SourceFacts()
        last = loops[-1] if loops else None
        inner = None if source.innermost is None else self.source.indices[source.innermost]
        if inner is not None:  # queries are over the axes of the result, which may be a transpose
            source = replace(source, innermost=self.access.indices.index(inner))
        # Segments without entries are also visited, so their coordinates must have positions. At shared positions the
        # query counts positions, of which a segment may have fewer than entries.
        if last is not None and last.var == inner and self._have_positions(k) and k not in self.plan.consecutive:
            found = level_queries(self.format, k, source)
            if found and all(isinstance(a.statement.value, Width) for a in found):
                self.segments = last
                return found
        return level_queries(self.format, k, SourceFacts(), histograms=k not in self.counted)

    def _own(self, k: int) -> LevelVars:
        """Return the variables of a level as this pass writes them: with the thread's own answers if it has some."""
        m = self.vars.levels[k]
        for role, how in self.plan.answers[k].items() if self.threads else ():
            inserts = self.phase.level is None and how == "sum" and k != self.plan.sequential
            if how != "same" and (self.phase.level == k or inserts):
                own = ir.Var(f"{self.vars.name}{k + 1}_own", m.arrays["private"].ty)
                return replace(m, arrays={**m.arrays, role: own})
        return m

    @property
    def chunks(self) -> ir.Expr:
        # One chunk for each thread if threads have arrays of their own; more chunks would need more arrays.
        private = any(own is not m for own, m in zip(self.own, self.vars.levels, strict=True))
        return THREADS if private else mul(THREADS, lit(CHUNKS_PER_THREAD))

    def start(self, chunk: ir.Expr) -> ir.Stmt:
        owns: list[ir.Stmt] = []
        # Each thread's array is a part of one; queries start from zero, an insertion from the combined answers.
        for k, role in self.private:
            m, own = self.vars.levels[k], self.own[k]
            if own is not m:
                size, q = ir.Load(COUNTS, lit(k)), ir.Var("q")
                first = mul(chunk, size)
                if self.phase.level is None:
                    first = add(first, lit(1))  # the position of the thread's next entry for q is at q + 1
                array = own.arrays[role]
                owns.append(ir.Declare(array, add(m.arrays["private"], first)))
                if self.phase.level is not None:
                    owns.append(ir.For(q, lit(0), size, ir.Store(array, q, lit(0, array.ty[:-1]))))
        return block(*owns)

    def _among_threads(self, a: LevelQuery, answer: ir.Stmt) -> ir.Stmt:
        """Return an update of an answer that is safe if several threads store the same value."""
        same = self.plan.answers[self.phase.level or 0][a.label] == "same"
        return among_threads(answer) if self.threads and same else answer

    @property
    def can_be_cut(self) -> bool:
        # The number of entries before a chunk must be known.
        if self.edge_writer is None or not self.edge_writer.has_parents:
            return True
        return adjoining(self.owner.types[self.source.tensor].format)

    def moved(self, edges: tuple[ir.Var, ir.Var], limits: tuple[ir.Expr, ir.Expr]) -> Sequence[ir.Stmt]:
        if self.edge_writer is None or not self.edge_writer.has_parents:
            return ()
        tensor = self.owner.tensors[self.source.tensor]
        self.shared_loop = EdgeSource(tensor.type, tensor.levels, *limits), edges
        return tuple(self.shared_loop[0].behind(edge) for edge in edges)

    def finish(self, chunk: ir.Expr) -> ir.Stmt:
        return self.edge_writer.finish(*self.shared_loop) if self.edge_writer and self.shared_loop else block()

    def _combine(self, k: int) -> ir.Stmt:
        """Return code that combines the answers of all threads."""
        ((role, how),) = self.plan.answers[k].items()
        m = self.vars.levels[k]
        found = ThreadPartials(
            m.arrays[role], m.arrays["private"], ir.Load(COUNTS, lit(k)), len(self.format.levels) + 1
        )
        if how == "max":
            return block(found.largest(), self._edges_of(k))
        return found.sums()

    def _edges_of(self, k: int) -> ir.Stmt:
        """Return the insertion of the edges of a level from the answers to its queries."""
        edges = self.format.levels[k].capability(QueriedEdges)
        return block() if edges is None else edges.insert_edges(self.vars.levels[k], self._size(k - 1))

    def _blank(self) -> ir.Stmt:
        """Return a parallel loop that sets all values to the fill value, if threads share the pass."""
        if not self.threads or self.shares_values:
            return block()
        # ``counts`` holds the number of values after the lengths of the levels.
        q, piece, size = ir.Var("q"), ir.Var("piece"), ir.Load(COUNTS, lit(len(self.format.levels)))
        fill = ir.Store(self.vars.vals, q, self.owner.value(self.vars.type.fill, self.vars.type.dtype))
        return each_thread(piece, ir.For(q, *piece_of(size, piece), fill))

    def before(self, stmt: Stmt) -> Sequence[ir.Stmt]:
        if stmt is self.segments:
            return ()
        return [ir.Declare(self._counter(k), lit(0)) for k, v in self.counted.items() if self._is_before(v, stmt)]

    def _is_before(self, v: str | None, stmt: Stmt) -> bool:
        """Return whether a statement is the loop over ``v`` that contributes values, or their assignment if None."""
        if v is None:
            return isinstance(stmt, Assign) and stmt.target == self.access
        own = isinstance(stmt, Forall) and stmt.var == v
        return own and any(a.target == self.access for a in assignments(stmt))

    def can_share(self) -> bool:
        """Return whether threads can share the outermost loop of a computation."""
        stmt = self.owner.program.stmt
        driver = self.owner.driver_of(stmt, Environment()) if isinstance(stmt, Forall) and stmt.parallel else None
        return driver is not None and (driver.certain or (driver.level == 0 and driver.format.unique))

    def _segment(self, loop: Forall, env: Environment) -> ir.Stmt:
        """Return code that answers queries by the width of the innermost loop: a difference of positions (Table 1)."""
        ((it,),) = (point.coiterate for point in self.owner.lattice(loop, env))
        begin, end = self.owner.bounds_of(it, loop.var, env)
        k = self.phase.level
        assert k is not None
        coords = tuple(env.coords.get(v, _UNKNOWN) for v in self.path)
        stmts, parent = self._placed(k, coords, env)
        for a in self.asked:
            stmts.append(
                query_lowering.answer(a.statement, self._element(k, a, parent, coords), lambda _: sub(end, begin))
            )
        return block(*stmts)

    def _counter(self, k: int) -> ir.Var:
        return ir.Var(f"count{k + 1}")

    @property
    def name(self) -> str:
        return self.phase.name

    @property
    def needs_loops(self) -> bool:
        # A pass without queries only inserts edges.
        return self.phase.level is None or self.phase.collects or bool(self.asked)

    def shares(self, loop: Forall) -> bool:
        return self.threads and self.needs_loops

    def prologue(self) -> ir.Stmt:
        k = self.phase.level
        # No entry has come before the first: its position, parent and coordinates are -1.
        met = [v for n in self.plan.consecutive if k is None or n <= k for v in self._last(n)]
        running = k is None and self.plan.sequential is not None and not self.plan.entry_order.follows
        return block(
            *(ir.Declare(v, lit(-1)) for v in met),
            self._blank() if k is None else block(),
            ir.Declare(self.next, lit(0)) if running else block(),
        )

    def epilogue(self) -> ir.Stmt:
        k = self.phase.level
        # ``yield_pos`` moved the edges of the levels above; they are restored after every pass.
        q = ir.Var(f"q{self.vars.name}")
        ends = [
            level.require(Insertion).finalize_yield_pos(m, self._size(n - 1), q)
            for n, (level, m) in enumerate(zip(self.format.levels[:k], self.vars.levels[:k], strict=True))
            if self.needs_loops
            and level.placing == "yield"
            and n not in {*self.plan.unordered, self.plan.sequential}
            and self.own[n] is m
        ]
        if self.edge_writer:
            ends.append(self.edge_writer.after(told=self.shared_loop is not None))
        return block(*ends, self._after_level(k) if k is not None else block())

    def _after_level(self, k: int) -> ir.Stmt:
        """Return the statements after the loops of a pass over one level."""
        # After a query its answers are combined and the edges inserted. After a collection, coordinates are sorted.
        m = self.vars.levels[k]
        if self.phase.collects:
            return self.format.levels[k].require(SharedPositions).shared_finish(m, self._size(k - 1))
        if self.own[k] is not m:
            return self._combine(k)
        histograms = [
            query_lowering.from_histogram(a.statement, m.arrays[a.label], m.arrays["counter"], self.vars.dimensions)
            for a in self.asked
            if a.is_histogram
        ]
        return block(*histograms, self._edges_of(k))

    def _size(self, level: int) -> ir.Expr:
        """Return the number of positions of a level above the assembled one."""
        size: ir.Expr = lit(1)
        for k in range(level + 1):
            size = self.format.levels[k].get_size(self.vars.levels[k], size)
        return size

    def store(self, stmt: Assign, env: Environment) -> ir.Stmt:
        """Return the code for one value: an update of answers, a collected coordinate, or the insertion."""
        # Merged coordinates may be narrow.
        env = replace(env, coords={v: cast(coord, "int64") for v, coord in env.coords.items()})
        dtype = self.vars.type.dtype
        value = (
            cast(lower_expr(stmt.value, lambda a: self.owner.read(a, env)), dtype)
            if self.owner.kind.values
            else lit(0, dtype)
        )
        coords, stmts = self._count(env)
        if self.phase.level is not None:
            stmts += self._told(self.phase.level, coords, env)
        else:
            placing, parent = self._placed(len(self.format.levels), coords, env)
            stmts += [*placing, self._stored(stmt.op, parent, value)]
        code = block(*stmts)
        if self.owner.skip_fill:
            code = if_(self.owner.is_entry(stmt.value, value, self.vars.type.fill, env), code)
        return code

    def _told(self, k: int, coords: tuple[ir.Expr, ...], env: Environment) -> list[ir.Stmt]:
        """Return what coordinates tell a pass over level ``k``: answers to its queries, or a coordinate to collect."""
        stmts, parent = self._placed(k, coords, env)
        if not self.phase.collects:
            return [*stmts, *(self._answer(k, a, parent, coords, env) for a in self.asked)]
        collect = self.format.levels[k].require(SharedPositions).shared_collect(self.own[k], parent, coords)
        return [*stmts, self._if_first(k, sub(lit(-1), parent), coords, collect)]  # not the query's mark

    # -- queries that outer loops can answer --------------------------------------------------------------------
    def in_place_of(self, loop: Forall, env: Environment) -> ir.Stmt | None:
        k = self.phase.level
        if loop is self.segments:
            return self._segment(loop, env)
        if k is None or not self._is_told_outside(k, loop, env):
            return None
        # The loop tells nothing more, as long as it visits a coordinate at all.
        driver = self.owner.driver_of(loop, env)
        assert driver is not None
        begin, end = self.owner.bounds_of(driver, loop.var, env)
        coords = tuple(env.coords.get(v, _UNKNOWN) for v in self.path)
        return if_(lt(begin, end), block(*self._told(k, coords, env)))

    def _is_told_outside(self, k: int, stmt: Forall, env: Environment) -> bool:
        """Return whether a pass over level ``k`` learns the same from each coordinate that a loop visits."""
        if self.owner.skip_fill or self.threads or k in self.plan.consecutive or self.plan.counters:
            return False
        # Other than numbers of values, answers do not depend on how often coordinates come.
        how = self.plan.answers[k]
        if any(a.is_histogram or (how[a.label] == "sum" and not a.is_distinct) for a in self.asked):
            return False
        placed = all(v in env.coords for v in self.path[: k + 1])
        return placed and all(self._is_known(e, env) for a in self.asked for e in a.needs) and self._visits(stmt, env)

    def _is_known(self, e: IndexExpr, env: Environment) -> bool:
        """Return whether an index expression over the axes follows from known coordinates."""
        level = next((v for c, v in zip(self.format.remapping.coordinates, self.path, strict=True) if c == e), None)
        axes = (self.access.indices[axis] for axis in axes_of(e))
        return level in env.coords or all(v in env.coords for v in axes)

    def _visits(self, stmt: Forall, env: Environment) -> bool:
        """Return whether a loop contributes a value, unless it has no iterations.

        The loop runs over an interval. The loops inside run over the digits of a block, or have one iteration.
        """
        loops, last = contribution_path(stmt, self.access)
        if not isinstance(last, Assign) or self.owner.driver_of(stmt, env) is None:
            return False
        if not all(d.inside or d.natural or d.var in env.coords for d in self.owner.derived):
            return False
        read = [a for s in assignments(stmt) for a in accesses(s.value) if a.tensor in self.owner.tensors]
        first, *inner = ([it for a in read for it in self.owner.iterators(a, loop.var)] for loop in loops)
        interval = all(it.format.iteration == "value" for it in first)
        alone = len(first) == 1 or all(it.format.has_every for it in first)
        return interval and alone and all(it.format.has_every or self._follows(it) for found in inner for it in found)

    def _follows(self, it: LevelIterator) -> bool:
        """Return whether the only coordinate of a level follows from those above, and lies inside the tensor."""
        format = self.owner.types[it.access.tensor].format if it.access is not None else None
        computed = it.format.branchless and it.format.locates == "direct"
        return computed and format is not None and not leaves_tensor(format, it.level)

    def _stored(self, op: str | None, p: ir.Expr, value: ir.Expr) -> ir.Stmt:
        """Return the store of a value, or its reduction into the values that came to the position before."""
        if self.shares_values:
            return block()
        return ir.Store(self.vars.vals, p, value) if op is None else update(op, ir.Load(self.vars.vals, p), value)

    # -- positions ----------------------------------------------------------------------------------------------
    def locate(self, env: Environment, pos: dict[tuple[Access, int], ir.Expr]) -> Sequence[ir.Stmt]:
        """Look for the position of each level as soon as the coordinates down to it are known."""
        stmts: list[ir.Stmt] = []
        parent: ir.Expr = lit(0)
        last = len(self.format.levels) if self.phase.level is None else self.phase.level
        for k in range(last):
            if (self.access, k) not in pos:
                if self.path[k] not in env.coords or not self._keeps_position(k):
                    break
                coords = tuple(cast(env.coords[v], "int64") if v in env.coords else _UNKNOWN for v in self.path)
                found, p = self._positions(k, k + 1, parent, coords, env)
                # Loops also visit coordinates without entries. Their positions may be any numbers, at which no array
                # may be read.
                if not self._have_positions(k) and _reads_memory_at(parent, found):
                    break
                stmts += found
                pos[self.access, k] = p
            parent = pos[self.access, k]
        return stmts

    def _have_positions(self, k: int) -> bool:
        """Return whether every coordinate of the levels above ``k`` has a position, even one without entries."""
        return all(level.has_every and not level.roles for level in self.format.levels[:k])

    def _keeps_position(self, k: int) -> bool:
        """Return whether the coordinates down to a level give its position, with nothing to store on the way."""
        level, m = self.format.levels[k].require(Insertion), self.own[k]
        # An operand may store diagonals outside the tensor, over which the loops inside have no iterations.
        if len(axes_of(self.format.remapping.coordinates[k])) != 1:
            return False
        if k in self.plan.unordered:
            return True
        alone = k not in self.plan.consecutive and k != self.plan.sequential and k not in self.counted
        counts = isinstance(self.format.remapping.coordinates[k], Counter)
        given = alone and not counts and level.placing == "get"
        return given and (k in self.kept or level.insert_coord(m, lit(0), lit(0)) == block())

    def _placed(self, last: int, coords: tuple[ir.Expr, ...], env: Environment) -> tuple[list[ir.Stmt], ir.Expr]:
        """Return statements that determine the position of an entry in the level above ``last``, and the position."""
        known = [env.pos[self.access, k] for k in range(last) if (self.access, k) in env.pos]
        return self._positions(len(known), last, known[-1] if known else lit(0), coords, env)

    def _positions(
        self, first: int, last: int, parent: ir.Expr, coords: tuple[ir.Expr, ...], env: Environment
    ) -> tuple[list[ir.Stmt], ir.Expr]:
        """Return statements that determine the position of an entry from the parent in the level above ``first``."""
        # Level by level: a shared position, that of the source, the scalar or stored next free position, or located.
        stmts: list[ir.Stmt] = []
        for k in range(first, last):
            level, m = self.format.levels[k].require(Insertion), self.own[k]
            p = self.owner.name(f"p{self.vars.name}{k + 1}")
            if k in self.plan.unordered:
                stmts.append(level.require(SharedPositions).shared_pos(m, parent, coords, p))
            elif k in self.plan.consecutive:
                stmts += self._grouped(k, parent, coords, p)
            elif k == self.plan.sequential and self.plan.entry_order.follows:
                stmts.append(ir.Declare(p, self.owner.position(self.source, env)))
                stmts.append(self.edge_writer.entry(parent, p) if self.edge_writer else block())
            elif k == self.plan.sequential:
                stmts += [ir.Declare(p, self.next), increment(self.next)]
            elif level.placing == "yield":
                stmts += [self._fetched(k, env), level.yield_pos(m, parent, p)]
            else:
                stmts.append(ir.Declare(p, level.get_pos(m, parent, coords)))
            # Coordinates are stored in the last pass, or at once if later entries look for them.
            inserts = self.phase.level is None or level.placing == "find"
            if inserts and k not in self.plan.unordered and k not in self.kept:
                stmts.append(level.insert_coord(m, p, coords[k]))
            parent = p
        return stmts, parent

    def _fetched(self, k: int, env: Environment) -> ir.Stmt:
        """Return the prefetch of the memory for a later entry."""
        wanted = self.phase.level is None and self.copies and self.owner.options.enabled("prefetch")
        if not wanted or not env.coords.keys() >= {*self.path}:
            return block()
        source, values = self.owner.tensors[self.source.tensor], None if self.shares_values else self.vars.vals
        result = self.format, self.own, self.path
        here = self.owner.position(self.source, env)
        return prefetch_insertion(self.source, source, here, env.coords, result, k, values, self.owner.name("next"))

    def _answer(self, k: int, a: LevelQuery, parent: ir.Expr, coords: tuple[ir.Expr, ...], env: Environment) -> ir.Stmt:
        """Return the update of an answer for one entry; distinct coordinates count only at their first entry."""
        if a.is_histogram:
            return block()  # the counter of the coordinate is the histogram

        def index(e: IndexExpr) -> ir.Expr:
            return self._expression(e, coords, env)

        made = self._among_threads(a, query_lowering.answer(a.statement, self._element(k, a, parent, coords), index))
        if k in self.plan.consecutive:  # shared positions are counted, not entries
            return self._if_new(k, parent, coords, (made,))
        if not a.is_distinct:
            return made
        if k in self.plan.unordered:
            return self._if_first(k, add(parent, lit(1)), coords, made)
        assert a.statement.where is not None
        place = query_lowering.place_of(a.statement.where.target.indices, self.vars.dimensions, index)
        return query_lowering.mark(self.own[k].arrays[f"{a.label}_mark"], place, lit(1), made)

    def _element(self, k: int, a: LevelQuery, parent: ir.Expr, coords: tuple[ir.Expr, ...]) -> ir.Load:
        """Return the element of the array of answers for one entry."""
        m, place = self.own[k], {"root": lit(0), "parent": parent, "own": coords[k]}[a.place]
        if a.place == "own":
            place = sub(place, m.lowest)
        shifted = a.label in self.format.levels[k].require(Insertion).shifted
        return ir.Load(m.arrays[a.label], add(place, lit(1)) if shifted else place)

    def _if_first(self, k: int, sign: ir.Expr, coords: tuple[ir.Expr, ...], then: ir.Stmt) -> ir.Stmt:
        """Return code that runs ``then`` for the first entry of a coordinate; entries of a parent come together."""
        m = self.own[k]
        return query_lowering.mark(m.arrays["stamp"], sub(coords[k], m.lowest), sign, then)

    def _expression(self, expr: IndexExpr, coords: tuple[ir.Expr, ...], env: Environment) -> ir.Expr:
        """Return an index expression over the axes as IR, taking known coordinates of levels as they are."""
        for c, coord in zip(self.format.remapping.coordinates, coords, strict=True):
            if c == expr:
                return coord
        match expr:
            case Constant(value=value):
                return lit(value)
            case Extent(axis=axis):
                return self.vars.dimensions[axis]
            case Binary(op="+" | "-" as op, left=left, right=right):
                a, b = self._expression(left, coords, env), self._expression(right, coords, env)
                return add(a, b) if op == "+" else sub(a, b)
        axes = {axis: env.coords[v] for axis, v in enumerate(self.access.indices) if v in env.coords}
        return emit(expr, axes, self.vars.dimensions)

    def _last(self, k: int) -> tuple[ir.Var, ...]:
        """Return variables for the position, parent and coordinates in level ``k`` of the entry before."""
        what = ("position", "parent", *(f"coord{n + 1}" for n in self.plan.consecutive[k]))
        return tuple(ir.Var(f"last{k + 1}_{name}") for name in what)

    def _if_new(self, k: int, parent: ir.Expr, coords: tuple[ir.Expr, ...], then: Sequence[ir.Stmt]) -> ir.Stmt:
        """Return code that runs ``then`` for the first of consecutive entries that share a position of level ``k``."""
        # A change of the parent or of a coordinate begins a new position.
        last = self._last(k)[1:]
        now = (parent, *(coords[n] for n in self.plan.consecutive[k]))
        differs = ne(last[0], now[0])
        for before, here in zip(last[1:], now[1:], strict=True):
            differs = lor(differs, ne(before, here))
        same = [ir.Set(before, here) for before, here in zip(last, now, strict=True)]
        return if_(differs, block(*then, *same))

    def _grouped(self, k: int, parent: ir.Expr, coords: tuple[ir.Expr, ...], p: ir.Var) -> list[ir.Stmt]:
        """Return code that declares ``p`` as the position of the entry before, if shared, or else the next free one."""
        position, new = self._last(k)[0], self.owner.name(f"new{k + 1}")
        take = self.format.levels[k].require(Insertion).yield_pos(self.own[k], parent, new)
        return [self._if_new(k, parent, coords, (take, ir.Set(position, new))), ir.Declare(p, position)]

    def _count(self, env: Environment) -> tuple[tuple[ir.Expr, ...], list[ir.Stmt]]:
        """Return the coordinates of an entry in every level, and the statements that advance counters."""
        coords: list[ir.Expr] = []
        stmts: list[ir.Stmt] = []
        for k, c in enumerate(self.format.remapping.coordinates):
            if not isinstance(c, Counter):
                coords.append(env.coords[self.path[k]])
                continue
            # The counter is a scalar, or an element of an array over the axes that it counts for.
            count: ir.Var | ir.Load = self._counter(k)
            if k not in self.counted:
                at: ir.Expr = lit(0)
                for e in c.over:
                    (axis,) = axes_of(e)
                    at = add(mul(at, self.vars.dimensions[axis]), env.coords[self.access.indices[axis]])
                count = ir.Load(self.vars.levels[k].arrays["counter"], at)
            nth = self.owner.name(f"nth{k + 1}")
            stmts += [ir.Declare(nth, cast(count, "int64")), increment(count)]
            coords.append(nth)
        return tuple(coords), stmts
