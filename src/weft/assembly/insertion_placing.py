"""Positions of entries in a result that is assembled by insertion (2020 paper, section 6).

A level determines the position of a value from the answers of its query (``get_pos``), or takes the next free position
of its parent (``yield_pos``). Two arrays become scalars if the order of the loops allows it (section 4.2): the counter
``#i`` if the loop over ``i`` encloses the others, and the next free position if entries come in the order of positions.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..concrete_notation.nodes import Assign, Forall, Stmt
from ..concrete_notation.traversal import assignments
from ..formats.capabilities import Insertion, PositionIteration, SharedPositions
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import add, block, cast, if_, increment, lit, lor, mul, ne
from ..ir.traversal import used_names, walk
from ..lowering.environment import Environment
from ..lowering.operand_values import fill_expr
from ..lowering.positions import position
from ..remapping.nodes import Counter, axes_of
from .edge_insertion import EdgeWriter
from .insertion_pass import UNKNOWN, PassContext
from .insertion_prefetch import prefetch_insertion
from .insertion_threads import InsertionThreads


class InsertionPlacing:
    """The coordinates of entries, and code that determines their positions level by level."""

    def __init__(self, of: PassContext, threads: InsertionThreads, edges: EdgeWriter | None):
        self.of, self.levels, self.edges = of, threads.levels, edges
        self.next = ir.Var(f"p{of.vars.name}_next")

    # -- declarations -------------------------------------------------------------------------------------------
    def prologue(self) -> ir.Stmt:
        """Return the declarations before the loops."""
        plan, k = self.of.plan, self.of.phase.level
        # No entry has come before the first: its position, parent and coordinates are -1.
        entry_before = [v for n in plan.consecutive if k is None or n <= k for v in self._entry_before(n)]
        counts = k is None and plan.sequential is not None and not plan.entry_order.follows
        return block(
            *(ir.Declare(v, lit(-1)) for v in entry_before), ir.Declare(self.next, lit(0)) if counts else block()
        )

    def before(self, stmt: Stmt) -> Sequence[ir.Stmt]:
        """Return the declarations of scalar counters that start before a statement."""
        return [ir.Declare(self._counter(k), lit(0)) for k, v in self.of.counted.items() if self._starts(v, stmt)]

    def _starts(self, v: str | None, stmt: Stmt) -> bool:
        """Return whether a statement is the loop over ``v`` that contributes values, or their assignment if None."""
        if v is None:
            return isinstance(stmt, Assign) and stmt.target == self.of.access
        over = isinstance(stmt, Forall) and stmt.var == v
        return over and any(a.target == self.of.access for a in assignments(stmt))

    def _counter(self, k: int) -> ir.Var:
        return ir.Var(f"count{k + 1}")

    def restore_edges(self) -> list[ir.Stmt]:
        """Return code that restores the edges of the levels above, which ``yield_pos`` moved, after a pass."""
        of, plan = self.of, self.of.plan
        q = ir.Var(f"q{of.vars.name}")
        return [
            level.require(Insertion).finalize_yield_pos(m, of.size(n - 1), q)
            for n, (level, m) in enumerate(zip(of.format.levels[: of.last_level], of.vars.levels, strict=False))
            if level.placing == "yield" and n not in {*plan.unordered, plan.sequential} and self.levels[n] is m
        ]

    # -- coordinates --------------------------------------------------------------------------------------------
    def coordinates(self, env: Environment) -> tuple[tuple[ir.Expr, ...], list[ir.Stmt]]:
        """Return the coordinates of an entry in every level, and the statements that advance counters."""
        of = self.of
        coords: list[ir.Expr] = []
        stmts: list[ir.Stmt] = []
        for k, c in enumerate(of.format.remapping.coordinates):
            if not isinstance(c, Counter):
                coords.append(env.coords[of.path[k]])
                continue
            # The counter is a scalar, or an element of an array over the axes that it counts for.
            count: ir.Var | ir.Load = self._counter(k)
            if k not in of.counted:
                at: ir.Expr = lit(0)
                for e in c.over:
                    (axis,) = axes_of(e)
                    at = add(mul(at, of.vars.dimensions[axis]), env.coords[of.access.indices[axis]])
                count = ir.Load(of.vars.levels[k].arrays["counter"], at)
            nth = of.f.name(f"nth{k + 1}")
            stmts += [ir.Declare(nth, cast(count, "int64")), increment(count)]
            coords.append(nth)
        return tuple(coords), stmts

    def known_coordinates(self, env: Environment) -> tuple[ir.Expr, ...]:
        """Return the coordinates of every level at a loop, with ``UNKNOWN`` for those that loops inside determine."""
        return tuple(env.coords.get(v, UNKNOWN) for v in self.of.path)

    # -- positions ----------------------------------------------------------------------------------------------
    def locate(self, env: Environment, pos: dict[tuple[Access, int], ir.Expr]) -> Sequence[ir.Stmt]:
        """Look for the position of each level as soon as the coordinates down to it are known."""
        of, access = self.of, self.of.access
        stmts: list[ir.Stmt] = []
        parent: ir.Expr = lit(0)
        for k in range(of.last_level):
            if (access, k) not in pos:
                if of.path[k] not in env.coords or not self._keeps_position(k):
                    break
                coords = tuple(cast(env.coords[v], "int64") if v in env.coords else UNKNOWN for v in of.path)
                search, p = self._positions(k, k + 1, parent, coords, env)
                # Loops also visit coordinates without entries. Their positions may be any numbers, at which no array
                # may be read.
                if not of.have_positions(k) and _reads_memory_at(parent, search):
                    break
                stmts += search
                pos[access, k] = p
            parent = pos[access, k]
        return stmts

    def _keeps_position(self, k: int) -> bool:
        """Return whether the coordinates down to a level give its position, with nothing to store on the way."""
        of, plan, coordinate = self.of, self.of.plan, self.of.format.remapping.coordinates[k]
        level = of.format.levels[k].require(Insertion)
        # An operand may store diagonals outside the tensor, over which the loops inside have no iterations.
        if len(axes_of(coordinate)) != 1:
            return False
        if k in plan.unordered:
            return True
        counts = isinstance(coordinate, Counter) or k in of.counted
        computed = level.placing == "get" and k not in plan.consecutive and k != plan.sequential and not counts
        return computed and (k in of.reuse.levels or level.insert_coord(self.levels[k], lit(0), lit(0)) == block())

    def placed(self, last: int, coords: tuple[ir.Expr, ...], env: Environment) -> tuple[list[ir.Stmt], ir.Expr]:
        """Return statements that determine the position of an entry in the level above ``last``, and the position."""
        located = [env.pos[self.of.access, k] for k in range(last) if (self.of.access, k) in env.pos]
        return self._positions(len(located), last, located[-1] if located else lit(0), coords, env)

    def _positions(
        self, first: int, last: int, parent: ir.Expr, coords: tuple[ir.Expr, ...], env: Environment
    ) -> tuple[list[ir.Stmt], ir.Expr]:
        """Return statements that determine the position of an entry from the parent in the level above ``first``."""
        # Level by level: a shared position, that of the source, the scalar or stored next free position, or located.
        of, plan = self.of, self.of.plan
        stmts: list[ir.Stmt] = []
        for k in range(first, last):
            level, m = of.format.levels[k].require(Insertion), self.levels[k]
            p = of.f.name(f"p{of.vars.name}{k + 1}")
            if k in plan.unordered:
                shared = level.require(SharedPositions)
                stmts.append(shared.shared_pos(m, parent, coords, p, self._filled(k, parent)))
            elif k in plan.consecutive:
                stmts += self._consecutive(k, parent, coords, p)
            elif k == plan.sequential and plan.entry_order.follows:
                stmts.append(ir.Declare(p, position(of.f, of.source, env)))
                stmts.append(self.edges.entry(parent, p) if self.edges else block())
            elif k == plan.sequential:
                stmts += [ir.Declare(p, self.next), increment(self.next)]
            elif level.placing == "yield":
                stmts += [self._prefetched(k, env), level.yield_pos(m, parent, p)]
            else:
                stmts.append(ir.Declare(p, level.get_pos(m, parent, coords)))
            # Coordinates are stored in the last pass, or at once if later entries look for them.
            inserts = of.inserts or level.placing == "find"
            if inserts and k not in plan.unordered and k not in of.reuse.levels:
                stmts.append(level.insert_coord(m, p, coords[k]))
            parent = p
        return stmts, parent

    def _filled(self, k: int, parent: ir.Expr) -> ir.Stmt:
        """Return the loop that fills the values of a parent, which are in the cache when entries are added to them."""
        of = self.of
        if not (of.inserts and of.fills_rows):
            return block()
        begin, end = of.format.levels[k].require(PositionIteration).pos_bounds(self.levels[k], parent)
        size, q, type = of.vars.values_below(k + 1), ir.Var(f"q{of.vars.name}"), of.vars.type
        fill = ir.Store(of.vars.vals, q, fill_expr(of.f, type.fill, type.dtype))
        return ir.For(q, mul(begin, size), mul(end, size), fill)

    def _prefetched(self, k: int, env: Environment) -> ir.Stmt:
        """Return the prefetch of the memory for a later entry."""
        of, f = self.of, self.of.f
        copies = of.inserts and of.reuse.copied is not None and f.context.options.enabled("prefetch")
        if not copies or not env.coords.keys() >= {*of.path}:
            return block()
        source, values = f.tensors[of.source.tensor], None if of.reuse.values else of.vars.vals
        result = of.format, self.levels, of.path
        here = position(f, of.source, env)
        return prefetch_insertion(of.source, source, here, env.coords, result, k, values, f.name("next"))

    # -- consecutive entries of one position --------------------------------------------------------------------
    def _entry_before(self, k: int) -> tuple[ir.Var, ...]:
        """Return variables for the position, parent and coordinates in level ``k`` of the entry before."""
        what = ("position", "parent", *(f"coord{n + 1}" for n in self.of.plan.consecutive[k]))
        return tuple(ir.Var(f"last{k + 1}_{name}") for name in what)

    def if_new(self, k: int, parent: ir.Expr, coords: tuple[ir.Expr, ...], then: Sequence[ir.Stmt]) -> ir.Stmt:
        """Return code that runs ``then`` for the first of consecutive entries that share a position of level ``k``."""
        # A change of the parent or of a coordinate begins a new position.
        last = self._entry_before(k)[1:]
        now = (parent, *(coords[n] for n in self.of.plan.consecutive[k]))
        differs = ne(last[0], now[0])
        for before, here in zip(last[1:], now[1:], strict=True):
            differs = lor(differs, ne(before, here))
        same = [ir.Set(before, here) for before, here in zip(last, now, strict=True)]
        return if_(differs, block(*then, *same))

    def _consecutive(self, k: int, parent: ir.Expr, coords: tuple[ir.Expr, ...], p: ir.Var) -> list[ir.Stmt]:
        """Return code that declares ``p`` as the position of the entry before, if shared, or else the next free one."""
        before, new = self._entry_before(k)[0], self.of.f.name(f"new{k + 1}")
        take = self.of.format.levels[k].require(Insertion).yield_pos(self.levels[k], parent, new)
        return [self.if_new(k, parent, coords, (take, ir.Set(before, new))), ir.Declare(p, before)]


def _reads_memory_at(position: ir.Expr, stmts: Sequence[ir.Stmt]) -> bool:
    """Return whether statements load, or call functions, at an index that depends on a position."""
    names = used_names(position)
    memory = (node for node in walk(block(*stmts)) if isinstance(node, ir.Load | ir.Call | ir.For))
    return any(not names.isdisjoint(used_names(node)) for node in memory)
