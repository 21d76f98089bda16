"""The cases of the loops of one ``forall``: one for each lattice point (2017, section 6; 2018, section 4.3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set

from ..analysis.coordinate_sets import is_full
from ..analysis.derived_variables import leaves_tensor
from ..analysis.implicit_values import specialize
from ..analysis.iteration_graph import share_interval
from ..analysis.merge_lattice import LevelIterator, Point
from ..concrete_notation.nodes import Assign, Forall, Stmt
from ..concrete_notation.traversal import assignments
from ..concrete_notation.values import without_conversions
from ..errors import LoweringError
from ..formats.append_chains import AppendChain
from ..formats.capabilities import Locate, PositionIteration, ValueIteration
from ..index_notation.traversal import accesses
from ..ir import nodes as ir
from ..ir.builder import (
    add,
    block,
    eq,
    ge,
    if_,
    increment,
    land,
    le,
    lit,
    lt,
)
from ..records import record, replace
from .append_writer import AppendWriter
from .context import LoweringContext
from .derived_coordinates import derive, is_settled
from .emitter import Bounds, Emitter
from .environment import Environment
from .function_kind import FunctionKind
from .function_state import FunctionState
from .operand_values import fill_expr, is_entry, value_of
from .positions import bounds_of, coordinate, coordinates_above
from .scalar_expressions import update


@record
class _Located:
    """Positions that are located for all cases at a coordinate."""

    env: Environment  # the environment in which the positions are known
    declarations: tuple[ir.Stmt, ...]  # Code that locates them
    stored: Mapping[LevelIterator, ir.Expr]  # for each iterator, the condition that the coordinate is stored


class LoopCases(ABC):
    """The iterators of one ``forall``, and the code at each of its coordinates."""

    def __init__(
        self,
        emitter: Emitter,
        stmt: Forall,
        points: tuple[Point, ...],
        env: Environment,
        writes: bool,
        bounds: Bounds | None,
    ):
        self.emitter, self.f, self.context = emitter, emitter.state, emitter.context
        self.stmt, self.points, self.env, self.bounds = stmt, points, env, bounds
        # The writer of the result, if the loop writes to it and appends.
        self.writes, self.appending = writes, emitter.appending if writes else None
        f, name = self.f, self.context.names[stmt.var]
        self.coord = f.name(name)
        # One loop for each distinct set of co-iterated iterators, larger sets first: as operands end, fewer remain.
        sets = dict.fromkeys(frozenset(p.coiterate) for p in points)
        self.loops = sorted(([it for it in self.ordered() if it in s] for s in sets), key=lambda loop: -len(loop))
        # Position, end of positions, and coordinate of each iterator over positions.
        self.p = {it: f.name(f"p{it.name}") for it in self.ordered() if it.format.iteration == "position"}
        self.end = {it: f.name(f"{p.name}_end") for it, p in self.p.items()}
        self.here = {it: f.name(f"{name}{p.name[1:]}") for it, p in self.p.items()}
        self.one_interval = share_interval(self.ordered(), self.context.types)

    def limits(self, it: LevelIterator) -> tuple[ir.Expr, ir.Expr]:
        """Return the bounds of an iterator, or of the part of it that is lowered."""
        if self.bounds is None:
            return bounds_of(self.f, it, self.stmt.var, self.env)
        return self.bounds if isinstance(self.bounds, tuple) else self.bounds[it]

    @abstractmethod
    def emit(self) -> ir.Stmt:
        """Return the loops."""

    def ordered(self) -> list[LevelIterator]:
        return list(dict.fromkeys(it for p in self.points for it in p.coiterate))

    def only_coordinate(self, it: LevelIterator, p: ir.Expr, loop: list[LevelIterator], env: Environment) -> ir.Stmt:
        """Return the declaration of the only coordinate below a parent, and the cases at it."""
        f = self.f
        cases = self.cases(loop, env)
        if it.access is not None and leaves_tensor(self.context.types[it.access.tensor].format, it.level):
            cases = if_(land(ge(self.coord, lit(0)), lt(self.coord, self.context.extents[self.stmt.var])), cases)
        return block(ir.Declare(self.coord, coordinate(f, it, p, self.env)), cases)

    # -- iterators at a coordinate ------------------------------------------------------------------------------
    def is_here(self, it: LevelIterator, loop: list[LevelIterator]) -> ir.Expr:
        """Return the condition that an iterator is at the merged coordinate."""
        # With two iterators, the one that is not ahead is at the coordinate, so their minimum need not be computed.
        others = [o for o in loop if o is not it]
        if len(others) == 1 and others[0] in self.here and it in self.here:
            return le(self.here[it], self.here[others[0]])
        return eq(self.here[it], self.coord)

    def are_here(self, iterators: Sequence[LevelIterator], loop: list[LevelIterator]) -> list[ir.Expr]:
        if len(loop) == 2 and len(iterators) == 2:
            a, b = iterators
            return [eq(self.here[a], self.here[b])]
        return [self.is_here(it, loop) for it in iterators]

    def deduplicate(self, it: LevelIterator, env: Environment) -> tuple[list[ir.Stmt], ir.Var, Environment]:
        """Return code for the end of a run of duplicates and, on a last level, their sum (2018, section 4.3)."""
        f = self.f
        assert it.access is not None
        p, end = self.p[it], self.end[it]
        segment = ir.Var(f"{p.name}_segend")
        coord = self.here[it] if len(self.loops[0]) > 1 or len(self.loops) > 1 else self.coord
        more = land(lt(segment, end), eq(stored_coordinate(coordinate(f, it, segment, env)), coord))
        stmts: list[ir.Stmt] = [ir.Declare(segment, add(p, lit(1))), ir.While(more, increment(segment))]
        if it.key in env.limits:  # which are those of one run
            stmts = [ir.Declare(segment, end)]
        tensor = f.tensors[it.access.tensor]
        new = replace(env, pos={**env.pos, it.key: p})
        # Above the last level the children of the whole run are one segment. On it, the sum stands for the value.
        if it.level + 1 < len(tensor.type.format.levels):
            return stmts, segment, replace(new, segments={**env.segments, (it.access, it.level): segment})
        if not f.holds_values:
            return stmts, segment, new
        total = f.name(f"{tensor.name}_sum")
        total = ir.Var(total.name, tensor.type.dtype)
        q = f.name("q")
        stmts += [
            ir.Declare(total, ir.Load(tensor.vals, p)),
            ir.For(q, add(p, lit(1)), segment, update("add", total, ir.Load(tensor.vals, q))),
        ]
        return stmts, segment, replace(new, values={**env.values, it.access: total})

    # -- cases: one for each lattice point ----------------------------------------------------------------------
    def cases(
        self, loop: list[LevelIterator], env: Environment, steps: Mapping[LevelIterator, ir.Stmt] | None = None
    ) -> ir.Stmt:
        before = env
        env, derived, guards = derive(self.f, replace(env, coords={**env.coords, self.stmt.var: self.coord}))
        marks = [g for it in loop if (g := _holds_entry(self.f, it, self.coord)) is not None]
        if marks:
            self.f.padded[self.coord.name] = self.context.extents[self.stmt.var]
        guards += marks
        new = env.coords.keys() - before.coords.keys()
        if not is_settled(self.context, env) or env.inside.keys() == before.inside.keys():
            return block(*derived, self._cases_at(loop, env, guards, new, steps))
        # Here it is known if a block reaches beyond an edge: the code inside the tensor needs no more conditions.
        inside, edge = (replace(env, inside=dict.fromkeys(env.inside, lit(fits, "bool"))) for fits in (True, False))
        return block(
            *derived,
            if_(
                land(*env.inside.values()),
                self._cases_at(loop, inside, guards, new, steps),
                self._cases_at(loop, edge, guards, new, steps),
            ),
        )

    def _cases_at(
        self,
        loop: list[LevelIterator],
        env: Environment,
        guards: Sequence[ir.Expr],
        new: Set[str],
        steps: Mapping[LevelIterator, ir.Stmt] | None,
    ) -> ir.Stmt:
        """Return the cases at a coordinate from which all derived variables have been computed."""
        points = self._points_of(loop)
        self.f.count_cases(len(points))
        located = self._locate_probed(loop, points, env)
        if self.f.kind is FunctionKind.BOUND and len(points) == 1 and isinstance(self.stmt.body, Assign):
            located = _Located(env, (), {})  # a bound counts what is looked for, not what is found
        # Nothing is looked for at the coordinate of a position without an entry, which may lie outside the tensor.
        first, guards = (guards, ()) if located.declarations and not steps else ((), guards)
        branches: list[tuple[ir.Expr, ir.Stmt]] = []
        for point in points:
            at = [] if self.one_interval else [it for it in point.coiterate if it.format.iteration != "value"]
            stmt, body = statement_at(self.context, self.stmt, self.stmt.var, point), block()
            if stmt is not None:
                body = if_(land(*guards), self.body(stmt, self._environment_at(at, located.env, steps), new))
            advance = [steps[it] for it in at] if steps else []
            condition = land(*self._presence(point, at, loop, points, located))
            branches.append((condition, block(body, *advance) if steps else body))
        return if_(land(*first), block(*located.declarations, _if_chain(branches)))

    def _points_of(self, loop: list[LevelIterator]) -> list[Point]:
        """Return the lattice points of a loop, such that the first one whose iterators are present is the right one.

        Points with more iterators come first.
        """
        mine = set(loop)
        fits = mine.__eq__ if self.one_interval else mine.issuperset
        return sorted((p for p in self.points if fits(set(p.coiterate))), key=lambda p: -len(p.iterators))

    def _locate_probed(self, loop: list[LevelIterator], points: Sequence[Point], env: Environment) -> _Located:
        """Return positions, located once for all cases, in levels that may lack the coordinate: -1 if it is absent."""
        missed = [it for it in loop if (level := it.format.capability(ValueIteration)) and level.misses]
        located = _Located(env, (), {})
        for it in dict.fromkeys([*missed, *(it for p in points for it in p.located if not it.certain)]):
            located = self._with_probe(it, located)
        return located

    def _with_probe(self, it: LevelIterator, located: _Located) -> _Located:
        """Return the located positions with that of one more iterator."""
        f, stored = self.f, located.stored
        assert it.access is not None
        env, more = self.emitter.resolve(located.env, [it.access])
        parent = env.parent(it.access, it.level)
        if parent is None:
            raise LoweringError(f"{it} is searched before its parent")
        p = f.name(f"p{it.name}")
        coords = (*coordinates_above(f, it, env), self.coord)
        locate = it.format.require(Locate).probe(f.tensors[it.access.tensor].levels[it.level], parent, coords)
        by_value = it.format.capability(ValueIteration)
        if by_value is not None and not by_value.misses:  # arithmetic is valid only within the bounds
            begin, end = bounds_of(f, it, self.stmt.var, env)
            within = land(ge(self.coord, begin), lt(self.coord, end))
            locate = ir.Select(within, locate, lit(-1))
        if above := [other for other in stored if other.access == it.access and other.level < it.level]:
            nearest = max(above, key=lambda other: other.level)
            locate = ir.Select(stored[nearest], locate, lit(-1))  # no parent, no child
        return _Located(
            replace(env, pos={**env.pos, it.key: p}),
            (*located.declarations, *more, ir.Declare(p, locate)),
            {**stored, it: ge(p, lit(0))},
        )

    def _presence(
        self,
        point: Point,
        at: Sequence[LevelIterator],
        loop: list[LevelIterator],
        points: Sequence[Point],
        located: _Located,
    ) -> list[ir.Expr]:
        """Return the conditions of a lattice point: its iterators are at the coordinate, or have been located."""
        conds = self.are_here(at, loop) if len(loop) > 1 else []
        # No condition is needed for the last single iterator: some iterator is at the least coordinate.
        singles = {p.coiterate[0] for p in points if len(p.coiterate) == 1}
        all_merged = all(it.format.iteration != "value" for it in loop)
        last = point is points[-1] and len(point.coiterate) == 1
        if last and all_merged and set(loop) <= singles and not located.stored:
            conds = []
        return conds + [located.stored[it] for it in point.iterators if it in located.stored]

    def _environment_at(
        self, at: Sequence[LevelIterator], env: Environment, steps: Mapping[LevelIterator, ir.Stmt] | None
    ) -> Environment:
        """Return the environment of a case whose iterators are ``at`` the coordinate.

        The coordinate of any iterator of an exclusive case serves, so the least need not be computed.
        """
        if not (steps and at) or self.context.derived:
            return env
        return replace(env, coords={**env.coords, self.stmt.var: self.here[at[0]]})

    def body(self, stmt: Stmt, env: Environment, new: Set[str]) -> ir.Stmt:
        """Return the code of one case, in which the variables ``new`` become known: locate, compute, append."""
        emitter, writer, target = self.emitter, self.appending, self.context.target
        used = [a for s in assignments(stmt) for a in (*accesses(s.value), s.target)]
        env, decls = emitter.resolve(env, [*used, target] if self.writes else used)
        chain = writer.chain_completed(new, env.coords) if writer is not None else None
        if writer is None or chain is None:
            return block(*decls, self._reached(stmt), emitter.statement(stmt, env))
        # The coordinate is appended, so the position of the result is the counter of the chain.
        counter = writer.counters[chain.index]
        here = {(target, k): counter for k in range(chain.first, chain.last + 1)}
        env = replace(env, pos={**env.pos, **here})
        env, more = emitter.resolve(env, [target])
        inside = writer.can_append(chain, env.coords)
        if writer.has_values_below(chain) and not self.context.reaches(stmt):
            # A coordinate below which no value is reached, such as a row without entries, is not appended.
            writer.undecided = without_conversions(self.context.view(stmt))
        undecided = writer.undecided is not None
        body = block(*more, self._filled_at_edges(writer, chain, env), emitter.statement(stmt, env))
        if undecided:
            writer.undecided = None
            return block(*decls, if_(inside, writer.append_if_kept(env.coords, body)))
        if not (self.context.skip_fill and chain is writer.chains[-1] and isinstance(stmt, Assign)):
            return block(*decls, if_(inside, writer.append(chain, env.coords, body)))
        # Values that are left out are not appended.
        value = value_of(self.f, stmt.value, env)
        entry = is_entry(self.f, stmt.value, value, writer.vars.type.fill, env)
        return block(*decls, if_(inside, writer.append_if(entry, env.coords, body, even=value.ty == "bool")))

    def _reached(self, stmt: Stmt) -> ir.Stmt:
        """Return the code that keeps a coordinate, if this loop alone decides whether a value is reached below it."""
        context, writer = self.context, self.emitter.appending
        value = None if writer is None else writer.undecided
        if writer is None or value is None or is_full(value, self.stmt.var, context.types):
            return block()
        return ir.Set(writer.kept, lit(True, "bool")) if context.reaches(stmt) else block()

    def _filled_at_edges(self, writer: AppendWriter, chain: AppendChain, env: Environment) -> ir.Stmt:
        """Return a loop that fills an appended block with fill values if it may reach beyond the tensor's edge."""
        below, inside = {*writer.path[chain.last + 1 :]}, lit(True, "bool")
        pending = [d for d in self.context.derived if not d.inside and d.var not in env.coords and d.needs & below]
        if chain is not writer.chains[-1] or self.context.fills_target or not self.f.kind.values:
            return block()
        if all(env.inside.get(d.var) == inside for d in pending):
            return block()  # the loops below reach all of the block
        fill = fill_expr(self.f, writer.vars.type.fill, writer.vars.type.dtype)
        return writer.fill(chain.last + 1, writer.counters[chain.index], fill)


def statement_at(context: LoweringContext, loop: Forall, v: str, point: Point) -> Stmt | None:
    """Return the body of a loop over ``v`` at a lattice point, where other operands have their implicit values.

    None if nothing remains of it (2017, section 6).
    """
    present = set(point.iterators)
    absent = {
        a: (context.fill_value(a), context.types[a.tensor].dtype)
        for a in dict.fromkeys(accesses(context.view(loop.body)))
        if not present.issuperset(context.iterators(a, v))
    }
    return specialize(loop.body, absent, context.neutral_value, context.fill_value) if absent else loop.body


def _holds_entry(f: FunctionState, it: LevelIterator, coord: ir.Expr) -> ir.Expr | None:
    """Return the condition that the iterator is at an entry, or None if all positions of its level hold entries."""
    by_position = it.format.capability(PositionIteration)
    if it.access is None or by_position is None or by_position.gapless:
        return None
    return by_position.valid(f.tensors[it.access.tensor].levels[it.level], coord)


def stored_coordinate(coordinate: ir.Expr) -> ir.Expr:
    """Return a coordinate without its conversion to a wider dtype."""
    return coordinate.a if isinstance(coordinate, ir.Cast) else coordinate


def require_order(iterators: Sequence[LevelIterator]) -> None:
    """Raise ``LoweringError`` if iterators cannot be merged in place."""
    for it in iterators:
        if not it.format.ordered:
            raise LoweringError(f"{it} is not ordered and cannot be merged in place")


def _if_chain(branches: Sequence[tuple[ir.Expr, ir.Stmt]]) -> ir.Stmt:
    """Return code that runs the first branch whose condition holds."""
    code: ir.Stmt = block()
    for cond, body in reversed(branches):
        code = if_(cond, body, code if code != block() else None)
    return code
