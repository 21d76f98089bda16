"""Answers to the attribute queries of a level, in one pass of an insertion (2020 paper, sections 5.2 and 6).

Loops answer queries entry by entry, except where an outer loop knows as much: from the width of the segment below it,
or since all that matters of the entries inside is whether there are any.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.contributions import contribution_path
from ..analysis.derived_variables import leaves_tensor
from ..analysis.level_queries import Answered, LevelQuery, answered_by_segment, level_queries, source_facts
from ..analysis.merge_lattice import LevelIterator
from ..concrete_notation.nodes import Assign, Forall
from ..concrete_notation.traversal import assignments
from ..formats.capabilities import Insertion, QueriedEdges, SharedPositions
from ..index_notation.traversal import accesses
from ..ir import nodes as ir
from ..ir.builder import add, block, cast, if_, increment, lit, lt, sub
from ..lowering.environment import Environment
from ..lowering.positions import bounds_of, coordinate
from ..lowering.thread_partials import each_thread, piece_of
from ..queries.table1_rewrites import SourceFacts
from ..records import replace
from ..remapping.emit_ir import emit
from ..remapping.nodes import Binary, Constant, Extent, IndexExpr, axes_of
from . import query_lowering
from .insertion_pass import PassContext
from .insertion_placing import InsertionPlacing
from .insertion_threads import InsertionThreads

Coordinates = tuple[ir.Expr, ...]


class InsertionQueries:
    """The queries of the level ``k`` for which a pass is, or the coordinates that it collects."""

    def __init__(self, of: PassContext, k: int, threads: InsertionThreads, placing: InsertionPlacing):
        self.of, self.k, self.threads, self.placing = of, k, threads, placing
        self.m = threads.levels[k]
        loops, _ = contribution_path(of.f.context.program.stmt, of.access)
        # The innermost loop, if its segments answer all queries, and how they do.
        self.segments: Forall | None = None
        self.answered: dict[str, Answered] = {}
        self.asked: tuple[LevelQuery, ...] = () if of.phase.collects else self._queries(loops)

    def _queries(self, loops: Sequence[Forall]) -> tuple[LevelQuery, ...]:
        """Return the queries of the level, answered by whole segments if all of them can be."""
        of, k = self.of, self.k
        source, ordered = SourceFacts(), False
        if of.reuse.copied is not None and not of.f.context.skip_fill:
            format = of.f.context.types[of.source.tensor].format
            source, ordered = source_facts(format), bool(format.levels) and format.levels[-1].ordered
        last = loops[-1] if loops else None
        inner = None if source.innermost is None else of.source.indices[source.innermost]
        if inner is not None:  # queries are over the axes of the result, which may be a transpose
            source = replace(source, innermost=of.access.indices.index(inner))
        if last is not None and last.var == inner and source.innermost is not None and k not in of.plan.consecutive:
            queries = level_queries(of.format, k, source)
            over = frozenset(range(len(of.access.indices))) - {source.innermost}
            how = {a.label: answered_by_segment(a, source.innermost, ordered, over) for a in queries}
            if queries and all(self._tells(a, how[a.label], loops) for a in queries):
                self.segments, self.answered = last, {label: each for label, each in how.items() if each}
                return queries
        return level_queries(of.format, k, SourceFacts(), histograms=k not in of.counted)

    def _tells(self, a: LevelQuery, how: Answered | None, loops: Sequence[Forall]) -> bool:
        """Return whether the place of an answer is known outside the innermost loop."""
        of, k = self.of, self.k
        if how == "histogram":
            # Positions are the numbers that a counter gives to entries, and one element more is a shift of them.
            first, n = of.format.levels[0].require(Insertion), ir.Var("n")
            numbered = k == 1 and first.get_pos(self.threads.levels[0], lit(0), (n,)) == n
            return numbered and not self.threads.share and a.label in of.format.levels[k].require(Insertion).shifted
        # Segments without entries are also visited, so their coordinates must have positions.
        known = of.have_positions(k) if a.place != "own" else of.path[k] in {loop.var for loop in loops[:-1]}
        return how is not None and known

    # -- loops --------------------------------------------------------------------------------------------------
    def in_place_of(self, loop: Forall, env: Environment) -> ir.Stmt | None:
        """Return the code in place of a loop that need not run, or None."""
        if loop is self.segments:
            return self._segment(loop, env)
        driver = self.of.f.driver_of(loop) if self._is_known_outside(loop, env) else None
        if driver is None:
            return None
        # The loop adds nothing to that, as long as it visits a coordinate at all.
        begin, end = bounds_of(self.of.f, driver, loop.var, env)
        return if_(lt(begin, end), block(*self.contribution(self.placing.known_coordinates(env), env)))

    def _segment(self, loop: Forall, env: Environment) -> ir.Stmt:
        """Return code that answers queries by the width of the innermost loop (Table 1), and by its first and last."""
        f = self.of.f
        ((it,),) = (point.coiterate for point in f.lattice(loop))
        begin, end = bounds_of(f, it, loop.var, env)
        coords, width = self.placing.known_coordinates(env), sub(end, begin)
        stmts: list[ir.Stmt] = []
        parent: ir.Expr = lit(0)
        if any(a.place == "parent" and self.answered[a.label] != "histogram" for a in self.asked):
            stmts, parent = self.placing.placed(self.k, coords, env)
        once: list[ir.Stmt] = []
        for a in self.asked:
            match self.answered[a.label]:
                case "width":
                    element = self._element(a, parent, coords)
                    stmts.append(query_lowering.answer(a.statement, element, lambda _: width))
                case "histogram":
                    stmts.append(increment(ir.Load(self.m.arrays[a.label], width)))
                case "once":
                    once.append(self._answer(a, parent, coords, env))
                case "first" | "last" as which:
                    p = begin if which == "first" else sub(end, lit(1))
                    at = replace(env, coords={**env.coords, loop.var: cast(coordinate(f, it, p, env), "int64")})
                    once.append(self._answer(a, parent, self.placing.known_coordinates(at), at))
        return block(*stmts, if_(lt(begin, end), block(*once)) if once else block())

    def _is_known_outside(self, stmt: Forall, env: Environment) -> bool:
        """Return whether the pass learns the same from each coordinate that a loop visits."""
        of, k = self.of, self.k
        if of.f.context.skip_fill or self.threads.share or k in of.plan.consecutive or of.plan.counters:
            return False
        # Other than numbers of values, answers do not depend on how often coordinates come.
        how = of.plan.answers[k]
        if any(a.is_histogram or (how[a.label] == "sum" and not a.is_distinct) for a in self.asked):
            return False
        placed = all(v in env.coords for v in of.path[: k + 1])
        return placed and all(self._is_known(e, env) for a in self.asked for e in a.needs) and self._visits(stmt, env)

    def _is_known(self, e: IndexExpr, env: Environment) -> bool:
        """Return whether an index expression over the axes follows from known coordinates."""
        of = self.of
        level = next((v for c, v in zip(of.format.remapping.coordinates, of.path, strict=True) if c == e), None)
        axes = (of.access.indices[axis] for axis in axes_of(e))
        return level in env.coords or all(v in env.coords for v in axes)

    def _visits(self, stmt: Forall, env: Environment) -> bool:
        """Return whether a loop contributes a value, unless it has no iterations.

        The loop runs over an interval. The loops inside run over the digits of a block, or have one iteration.
        """
        f, context = self.of.f, self.of.f.context
        loops, last = contribution_path(stmt, self.of.access)
        if not isinstance(last, Assign) or f.driver_of(stmt) is None:
            return False
        if not all(d.inside or d.natural or d.var in env.coords for d in context.derived):
            return False
        read = [a for s in assignments(stmt) for a in accesses(s.value) if a.tensor in f.tensors]
        first, *inner = ([it for a in read for it in context.iterators(a, loop.var)] for loop in loops)
        interval = all(it.format.iteration == "value" for it in first)
        alone = len(first) == 1 or all(it.format.has_every for it in first)
        return interval and alone and all(it.format.has_every or self._follows(it) for its in inner for it in its)

    def _follows(self, it: LevelIterator) -> bool:
        """Return whether the only coordinate of a level follows from those above, and lies inside the tensor."""
        format = self.of.f.context.types[it.access.tensor].format if it.access is not None else None
        computed = it.format.branchless and it.format.locates == "direct"
        return computed and format is not None and not leaves_tensor(format, it.level)

    # -- entries ------------------------------------------------------------------------------------------------
    def contribution(self, coords: Coordinates, env: Environment) -> list[ir.Stmt]:
        """Return the contribution of one entry to the pass: query updates or a collected coordinate."""
        stmts, parent = self.placing.placed(self.k, coords, env)
        if not self.of.phase.collects:
            return [*stmts, *(self._answer(a, parent, coords, env) for a in self.asked)]
        collect = self.of.format.levels[self.k].require(SharedPositions).shared_collect(self.m, parent, coords)
        return [*stmts, self._if_first(sub(lit(-1), parent), coords, collect)]  # not the query's mark

    def _answer(self, a: LevelQuery, parent: ir.Expr, coords: Coordinates, env: Environment) -> ir.Stmt:
        """Return the update of an answer for one entry; distinct coordinates count only at their first entry."""
        if a.is_histogram:
            return block()  # the counter of the coordinate is the histogram

        def index(e: IndexExpr) -> ir.Expr:
            return self._expression(e, coords, env)

        of, k = self.of, self.k
        update = self.threads.stored(a, query_lowering.answer(a.statement, self._element(a, parent, coords), index))
        if k in of.plan.consecutive:  # shared positions are counted, not entries
            return self.placing.if_new(k, parent, coords, (update,))
        if not a.is_distinct:
            return update
        if k in of.plan.unordered:
            return self._if_first(add(parent, lit(1)), coords, update)
        assert a.statement.where is not None
        place = query_lowering.place_of(a.statement.where.target.indices, of.vars.dimensions, index)
        return query_lowering.mark(self.m.arrays[f"{a.label}_mark"], place, lit(1), update)

    def _element(self, a: LevelQuery, parent: ir.Expr, coords: Coordinates) -> ir.Load:
        """Return the element of the array of answers for one entry."""
        m, place = self.m, {"root": lit(0), "parent": parent, "own": coords[self.k]}[a.place]
        if a.place == "own":
            place = sub(place, m.lowest)
        shifted = a.label in self.of.format.levels[self.k].require(Insertion).shifted
        return ir.Load(m.arrays[a.label], add(place, lit(1)) if shifted else place)

    def _if_first(self, sign: ir.Expr, coords: Coordinates, then: ir.Stmt) -> ir.Stmt:
        """Return code that runs ``then`` for the first entry of a coordinate; entries of a parent come together."""
        return query_lowering.mark(self.m.arrays["stamp"], sub(coords[self.k], self.m.lowest), sign, then)

    def _expression(self, expr: IndexExpr, coords: Coordinates, env: Environment) -> ir.Expr:
        """Return an index expression over the axes as IR, taking known coordinates of levels as they are."""
        of = self.of
        for c, coord in zip(of.format.remapping.coordinates, coords, strict=True):
            if c == expr:
                return coord
        match expr:
            case Constant(value=value):
                return lit(value)
            case Extent(axis=axis):
                return of.vars.dimensions[axis]
            case Binary(op="+" | "-" as op, left=left, right=right):
                a, b = self._expression(left, coords, env), self._expression(right, coords, env)
                return add(a, b) if op == "+" else sub(a, b)
        axes = {axis: env.coords[v] for axis, v in enumerate(of.access.indices) if v in env.coords}
        return emit(expr, axes, of.vars.dimensions)

    # -- after the loops ----------------------------------------------------------------------------------------
    def epilogue(self) -> ir.Stmt:
        """Return the statements after the loops, which make the edges of the level or sort its coordinates."""
        of, k, m = self.of, self.k, self.of.vars.levels[self.k]
        level = of.format.levels[k]
        if of.phase.collects:
            return self._ordered(of.size(k - 1))
        edges = level.capability(QueriedEdges)
        insert = block() if edges is None else edges.insert_edges(m, of.size(k - 1))
        if self.threads.is_private(k):
            return self.threads.combine(k, insert)
        # A count for each number of entries becomes the count of those that have more.
        q, size = ir.Var("q"), of.size(k - 1) if k else lit(1)
        for label in (label for label, how in self.answered.items() if how == "histogram"):
            counts = m.arrays[label]
            below = ir.Load(counts, sub(size, q)), ir.Load(counts, add(sub(size, q), lit(1)))
            more = ir.For(q, lit(1), size, increment(*below))
            insert = block(more, ir.Store(counts, lit(0), lit(0, counts.ty[:-1])), insert)
        histograms = [
            query_lowering.from_histogram(a.statement, m.arrays[a.label], m.arrays["counter"], of.vars.dimensions)
            for a in self.asked
            if a.is_histogram
        ]
        return block(*histograms, insert)

    def _ordered(self, parents: ir.Expr) -> ir.Stmt:
        """Return code that restores the edges of a level, and puts the coordinates of each parent in order."""
        level, m, threads = self.of.format.levels[self.k].require(SharedPositions), self.m, self.threads
        piece, q = ir.Var("piece"), ir.Var("q")
        sort, edges = level.shared_sort(m, q), level.shared_finish(m, parents)
        if sort == block():
            return edges
        if not threads.share:
            return block(edges, ir.For(q, lit(0), parents, sort))
        rows = ir.For(q, *piece_of(parents, piece), sort)
        return block(edges, each_thread(piece, block(threads.declare_own(self.k), rows)))
