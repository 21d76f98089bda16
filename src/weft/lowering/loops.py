"""The loops of one ``forall``: a merge lattice as C-like loops (2017, Fig. 11; 2018, Fig. 9).

One iterator becomes a for loop. Several iterators become one while loop for each set that is co-iterated. The
coordinate of an iteration is the least coordinate of the co-iterated iterators. Inside the loop, each lattice point
whose iterators are a subset of the set is one case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING

from ..analysis.derived_variables import leaves_tensor
from ..analysis.implicit_values import specialize
from ..analysis.iteration_graph import implied_by, share_interval
from ..analysis.linearity import adds_in_place, adds_nothing, is_linear
from ..analysis.merge_lattice import LevelIterator, Point
from ..analysis.terms import additive_terms, is_left_nested
from ..concrete_notation.nodes import Assign, Fill, Forall, Stmt, Where
from ..concrete_notation.traversal import assignments, result_of, statements, wheres_of
from ..concrete_notation.values import same_value, without_conversions
from ..errors import LoweringError
from ..formats.capabilities import Locate, PositionIteration, ValueIteration
from ..formats.format import level_variables
from ..index_notation.nodes import Access, Expr
from ..index_notation.operator_table import OPERATORS
from ..index_notation.traversal import accesses
from ..ir import nodes as ir
from ..ir.builder import (
    add,
    block,
    cast,
    eq,
    ge,
    if_,
    increment,
    land,
    le,
    lit,
    lt,
    maximum,
    minimum,
    mul,
    product,
    sub,
)
from ..ir.passes.adjacent_ranges import fuse_adjacent_ranges
from ..records import cached, record, replace
from . import prefetch
from .environment import Environment, Strip
from .function_kind import FunctionKind
from .scalar_expressions import lower_expr, update
from .simd_reductions import SHORT, split_by_mean_length, split_by_row_length

if TYPE_CHECKING:
    from .lowerer import Lowerer

RUN = 12
"""Mean number of duplicates from which on a run of them is summed first, and not added to the result one by one."""


@record
class _Located:
    """Positions that are located for all cases at a coordinate."""

    env: Environment  # the environment in which the positions are known
    declarations: tuple[ir.Stmt, ...]  # Code that locates them
    found: Mapping[LevelIterator, ir.Expr]  # for each iterator, the condition that the coordinate is stored


class LoopEmitter:
    """Emitter of the loops of one ``forall``."""

    def __init__(
        self,
        owner: Lowerer,
        stmt: Forall,
        points: tuple[Point, ...],
        env: Environment,
        writes: bool,
        bounds: tuple[ir.Expr, ir.Expr] | None,
    ):
        self.owner, self.stmt, self.points, self.env, self.writes, self.bounds = (
            owner,
            stmt,
            points,
            env,
            writes,
            bounds,
        )
        self.coord = owner.name(owner.names[stmt.var])
        # One loop for each distinct set of co-iterated iterators, larger sets first: as operands end, fewer remain.
        sets = dict.fromkeys(frozenset(p.coiterate) for p in points)
        self.loops = sorted(([it for it in self._ordered() if it in s] for s in sets), key=lambda loop: -len(loop))
        # Position, end of positions, and coordinate of each iterator over positions.
        self.p = {it: owner.name(f"p{it.name}") for it in self._ordered() if it.format.iteration == "position"}
        self.end = {it: owner.name(f"{p.name}_end") for it, p in self.p.items()}
        self.here = {it: owner.name(f"{owner.names[stmt.var]}{p.name[1:]}") for it, p in self.p.items()}
        self.together = share_interval(self._ordered(), owner.types)

    def _ordered(self) -> list[LevelIterator]:
        return list(dict.fromkeys(it for p in self.points for it in p.coiterate))

    def emit(self) -> ir.Stmt:
        if not self.loops:
            filled = self.owner.target.chains == () and not self.owner.target.places
            if filled and any(a.op is None for a in assignments(self.stmt)):
                raise LoweringError(
                    f"nothing is computed over {self.stmt.var}, and {self.owner.target.access} not filled"
                )
            return block()  # nothing is added or appended
        # A bound needs no loop if it follows from the number of iterations.
        if self.owner.kind is FunctionKind.BOUND and self._only_appends():
            return increment(self.owner.target.counters[-1], self._most())
        if len(self.loops) == 1 and len(self.loops[0]) == 1:
            return self.single_iterator_loop(self.loops[0][0])
        if self.bounds is not None:
            raise LoweringError("only plain loops are cut into chunks")
        return self.common_interval_loops() if self.together else self.coiteration_loops()

    def _only_appends(self) -> bool:
        """Return whether the loop only appends one coordinate per iteration to the last level of the result."""
        known = {**self.env.coords, self.stmt.var: self.coord}
        chain = self.owner.target.chain_completed({self.stmt.var}, known) if self.writes else None
        return isinstance(self.stmt.body, Assign) and chain is not None and chain is self.owner.target.chains[-1]

    def _most(self) -> ir.Expr:
        """Return a bound of the iterations: the sum over all iterators of a union, the minimum over an intersection."""
        widths = []
        for it in self._ordered():
            begin, end = self.bounds or self.owner.bounds_of(it, self.stmt.var, self.env)
            widths.append(maximum(sub(end, begin), lit(0)))
        if len(self.loops) == 1:
            return minimum(*widths)
        most, *others = widths
        for width in others:
            most = add(most, width)
        return most

    # -- one iterator: a for loop -------------------------------------------------------------------------------
    def single_iterator_loop(self, it: LevelIterator) -> ir.Stmt:
        owner, env = self.owner, self.env
        whole = owner.bounds_of(it, self.stmt.var, env)
        begin, end = self.bounds or whole
        if (strip := env.strips.get(self.stmt.var)) is not None:
            return self._in_strip(it, strip)
        # Coordinate value iteration.
        if it.format.iteration == "value":
            body = block(self._picked_ahead(it, end), self._cases([it], env))
            first, last, edges = begin, end, block()
            if self._padded is not None:
                first, last = (owner.name(f"{self.coord.name}_{word}") for word in ("first", "stop"))
                edges = block(ir.Declare(first, begin), ir.Declare(last, end))
            loop = split_by_mean_length(
                self._fused(ir.For(self.coord, first, last, body, self._simd(first, last))), whole
            )
            return block(edges, self._between_padding(first, last, loop))
        # A branchless level has one coordinate for each parent: a declaration instead of a loop. Below a run of
        # duplicate parents it is a segment like any other (iterator chaining; 2018, section 4.3).
        chained = it.access is not None and (it.access, it.level - 1) in env.segments
        if it.format.branchless and not chained:
            return self._only_coordinate(it, begin, [it], replace(env, pos={**env.pos, it.key: begin}))
        # Coordinate position iteration, duplicate by duplicate where that gives the same result.
        if it.format.unique or owner.target.apart or self._may_revisit(it):
            loop = self.entry_loop(it, begin, end)
            return split_by_row_length(
                split_by_mean_length(self._fused(loop), whole), self._simd(begin, end), owner.name
            )
        self._require_order([it])
        runs = self.duplicate_run_loop(it, begin, end)
        if (outside := self._gathered_outside(it)) is None:
            return runs
        # Both loops are emitted; the data decides. Runs pay off if there are at least RUN entries for each sum.
        return if_(ge(sub(whole[1], whole[0]), mul(lit(RUN), outside)), runs, self.entry_loop(it, begin, end))

    def _picked_ahead(self, it: LevelIterator, end: ir.Expr) -> ir.Stmt:
        """Return the prefetch of entries of a later coordinate, which is empty unless positions are scattered."""
        owner = self.owner
        wanted = owner.kind.values and owner.options.enabled("prefetch")
        by_value = it.format.capability(ValueIteration)
        if it.access is None or by_value is None or not by_value.scattered or not wanted:
            return block()
        parent = self.env.parent(it.access, it.level)
        if parent is None:
            return block()
        tensor, name = owner.tensors[it.access.tensor], owner.name(f"p{it.name}_later")
        return prefetch.prefetch_rows(tensor, it.level, parent, self.coord, end, name)

    def _fused(self, loop: ir.For) -> ir.For:
        """Return a loop over adjoining segments as one loop."""
        return fuse_adjacent_ranges(loop) if self.owner.options.enabled("fused-ranges") else loop

    def entry_loop(self, it: LevelIterator, begin: ir.Expr, end: ir.Expr) -> ir.For:
        """Return a loop that visits each position separately."""
        p, env = self.p[it], self.env
        inner = replace(env, pos={**env.pos, it.key: self._child(it, p, self.coord)})
        decl = ir.Declare(self.coord, self.owner.coordinate(it, p, env))
        return ir.For(p, begin, end, block(decl, self._cases([it], inner)))

    def duplicate_run_loop(self, it: LevelIterator, begin: ir.Expr, end: ir.Expr) -> ir.Stmt:
        """Return a loop that visits each coordinate once, together with all its duplicates."""
        p = self.p[it]
        run, segment, inner = self._deduplicate(it, self.env)
        step = block(
            ir.Declare(self.coord, self.owner.coordinate(it, p, self.env)),
            *run,
            self._cases([it], inner),
            ir.Set(p, segment),
        )
        return block(ir.Declare(p, begin), ir.Declare(self.end[it], end), ir.While(lt(p, self.end[it]), step))

    def _gathered_outside(self, it: LevelIterator) -> ir.Expr | None:
        """Return a bound of the number of sums, or None if duplicates cannot be added one by one instead of in scalars.

        The faster way depends on the mean number of duplicates of a sum, which only an outermost loop can determine.
        """
        owner = self.owner
        wheres = list(wheres_of(self.stmt.body))
        sums = [result_of(w.producer).target for w in wheres]
        if it.level or not wheres or any(a.indices for a in sums) or not self._may_revisit(it, apart=True):
            return None
        return product(owner.extents[v] for v in result_of(self.stmt.body).target.indices)

    def _in_strip(self, it: LevelIterator, strip: Strip) -> ir.Stmt:
        """Return the loop inside one register strip, which compilers are to vectorize.

        The call of ``weft_unvectorized`` keeps compilers from vectorizing the loop over strips instead.
        """
        name = self.owner.names[self.stmt.var]
        number, low = self.owner.name(f"{name}_inside"), self.owner.name(f"{name}_from")
        inside = replace(self.env, coords={**self.env.coords, strip.inner: number})
        body = block(ir.Declare(self.coord, add(low, number)), self._cases([it], inside))
        return block(
            ir.Declare(low, ir.Call("weft_unvectorized", (strip.low,), "int64")),
            ir.For(number, lit(0), lit(strip.width), body, unroll=True),
        )

    def _child(self, it: LevelIterator, p: ir.Expr, coord: ir.Expr) -> ir.Expr:
        """Return the position of the children and values of a coordinate that is iterated at position ``p``."""
        assert it.access is not None
        m = self.owner.tensors[it.access.tensor].levels[it.level]
        return it.format.require(PositionIteration).child_pos(m, p, coord)

    def _simd(self, begin: ir.Expr, end: ir.Expr) -> tuple[tuple[str, str], ...] | None:
        """Return the SIMD reductions of a loop that may be reassociated, as in ``For.simd``, or None."""
        # Compilers unroll loops of few iterations anyway.
        if isinstance(begin, ir.Const) and isinstance(end, ir.Const) and int(end.value) - int(begin.value) <= SHORT:  # type: ignore[arg-type]
            return None
        body = self.stmt.body
        if isinstance(body, Assign) and self.owner.options.reassociates and self.owner.kind.values:
            w = self.owner.workspaces.get(body.target.tensor)
            if w is not None and w.kind == "scalar" and w.dtype in ("float32", "float64"):
                extreme = body.op is not None and OPERATORS[body.op].extreme != 0
                op = "+" if body.op == "add" else f"weft_{body.op}_{w.dtype}" if extreme else None
                absences = self.owner.implicit_entries.get(w.name)
                counter = () if absences is None else (("+", absences.visited.name),)
                return None if op is None else ((op, self.owner.scalar(w).name), *counter)
        return None

    def _may_revisit(self, it: LevelIterator, apart: bool = False) -> bool:
        """Return whether the body may run once for each duplicate, instead of once for all duplicates together.

        The body must not fill or gather, and must not co-iterate levels below with other operands. An appended result
        must be a list that allows duplicates, or hold each entry of the operand separately; a level with children of
        its own must not get a coordinate twice unless that level allows duplicates. If entries themselves may be
        duplicates, a located result must accumulate by addition and the value must be linear in the operand. If entries
        are unique and only leading coordinates repeat, it is enough that the value is zero where the operand has no
        stored entry.
        """
        owner, body = self.owner, self.stmt.body
        dtypes = {name: w.dtype for name, w in owner.workspaces.items()}
        if _needs_all(body, apart or not it.format.ordered, dtypes):
            return False
        target = owner.target.access.tensor
        # ``last``: the entries themselves may be duplicates, not only coordinates of levels above the last.
        repeatable = owner.target.format.levels != () and not owner.target.format.levels[-1].unique
        last = it.access is not None and not owner.types[it.access.tensor].format.is_unique
        for a in assignments(body):
            appends = a.target.tensor == target and owner.target.chains != ()
            if appends and not (repeatable or (not last and self._lists(a.target, it))):
                return False
            if appends and self._repeats_parents():
                return False
            if not appends and a.op != "add" and last:
                return False
            if it.access is None:
                continue
            # f(a + b) = f(a) + f(b) holds for linear values, unless conversions of dtypes depend on the sum.
            if is_linear(without_conversions(a.value), it.access):
                if last and not adds_in_place(a.value, it.access, owner.types[it.access.tensor].dtype):
                    return False
                continue
            if last or not (appends or a.op == "add") or not adds_nothing(a.value, it.access, owner.types):
                return False
        return not self._merges_below(it)

    def _repeats_parents(self) -> bool:
        """Return whether the body appends the loop's coordinate to a unique level that has children of its own."""
        target, levels = self.owner.target, self.owner.target.format.levels
        return any(
            levels[chain.last].unique and self.stmt.var in map(target.variable, range(chain.first, chain.last + 1))
            for chain in target.chains[:-1]
        )

    def _lists(self, target: Access, it: LevelIterator) -> bool:
        """Return whether the result is a list of coordinates that holds each entry of the iterated list separately."""
        whole, levels = self.owner.target.chains, self.owner.target.format.levels
        if it.access is None or not {*it.access.indices} <= {*target.indices}:
            return False
        below = self.owner.types[it.access.tensor].format.levels[it.level + 1 :]
        listed = len(whole) == 1 and whole[0].first == 0 and not any(level.unique for level in levels[:-1])
        return listed and all(level.branchless for level in below)

    def _merges_below(self, it: LevelIterator) -> bool:
        """Return whether levels below are co-iterated with another operand, which is done once for all duplicates."""
        owner, access = self.owner, it.access
        assert access is not None
        below = set(level_variables(access, owner.types[access.tensor].format)[it.level + 1 :])
        others = {a for s in assignments(self.stmt.body) for a in accesses(s.value) if a != access}
        return any(
            v in below and not level.has_every
            for a in others
            for v, level in zip(
                level_variables(a, owner.types[a.tensor].format), owner.types[a.tensor].format.levels, strict=True
            )
        )

    def _deduplicate(self, it: LevelIterator, env: Environment) -> tuple[list[ir.Stmt], ir.Var, Environment]:
        """Return code for the end of a run of duplicates and, on a last level, their sum (2018, section 4.3)."""
        owner = self.owner
        assert it.access is not None
        p, end = self.p[it], self.end[it]
        segment = ir.Var(f"{p.name}_segend")
        coord = self.here[it] if len(self.loops[0]) > 1 or len(self.loops) > 1 else self.coord
        more = land(lt(segment, end), eq(_stored(owner.coordinate(it, segment, env)), coord))
        stmts: list[ir.Stmt] = [
            ir.Declare(segment, add(p, lit(1))),
            ir.While(more, increment(segment)),
        ]
        tensor = owner.tensors[it.access.tensor]
        new = replace(env, pos={**env.pos, it.key: p})
        # Above the last level the children of the whole run are one segment. On it, the sum stands for the value.
        if it.level + 1 < len(tensor.type.format.levels):
            return stmts, segment, replace(new, segments={**env.segments, (it.access, it.level): segment})
        if not owner.holds_values:
            return stmts, segment, new
        total = owner.name(f"{tensor.name}_sum")
        total = ir.Var(total.name, tensor.type.dtype)
        q = owner.name("q")
        stmts += [
            ir.Declare(total, ir.Load(tensor.vals, p)),
            ir.For(q, add(p, lit(1)), segment, update("add", total, ir.Load(tensor.vals, q))),
        ]
        return stmts, segment, replace(new, values={**env.values, it.access: total})

    def _require_order(self, iterators: Sequence[LevelIterator]) -> None:
        for it in iterators:
            if not it.format.ordered:
                raise LoweringError(f"{it} is not ordered and cannot be merged in place")

    # -- several iterators of one interval: for loops -----------------------------------------------------------
    def common_interval_loops(self) -> ir.Stmt:
        """Return loops over the interval that all iterators have: one as far as all of them reach, then the others.

        Every iterator of a loop is at each coordinate of it, so that nothing is compared.
        """
        owner, env, iterators = self.owner, self.env, self._ordered()
        bounds = {it: owner.bounds_of(it, self.stmt.var, env) for it in iterators}
        begin = bounds[iterators[0]][0]
        if self.p:  # the single coordinate below a parent
            inner = replace(env, pos={**env.pos, **{it.key: first for it, (first, _) in bounds.items()}})
            return self._only_coordinate(iterators[0], begin, self.loops[0], inner)
        first, reached = (owner.name(f"{self.coord.name}_{word}") for word in ("first", "reached"))
        ends = {it: owner.name(f"{self.coord.name}_end{it.name}") for it in iterators}
        stmts: list[ir.Stmt] = []
        for loop in self.loops:
            end = minimum(*(ends[it] for it in loop))
            stmts.append(ir.For(self.coord, reached, end, self._cases(loop, env), self._simd(reached, end)))
            stmts.append(ir.Set(reached, maximum(reached, end)))
        return block(
            ir.Declare(first, begin),
            *(ir.Declare(end, bounds[it][1]) for it, end in ends.items()),
            ir.Declare(reached, first),
            self._between_padding(first, reached, block(*stmts)),
        )

    def _only_coordinate(self, it: LevelIterator, p: ir.Expr, loop: list[LevelIterator], env: Environment) -> ir.Stmt:
        """Return the declaration of the only coordinate below a parent, and the cases at it."""
        owner = self.owner
        cases = self._cases(loop, env)
        if it.access is not None and leaves_tensor(owner.types[it.access.tensor].format, it.level):
            cases = if_(land(ge(self.coord, lit(0)), lt(self.coord, owner.extents[self.stmt.var])), cases)
        return block(ir.Declare(self.coord, owner.coordinate(it, p, self.env)), cases)

    @cached
    def _padded(self) -> int | None:
        """Level of the result over the variable that has positions outside the tensor; None if it has none.

        Such a level is a range below the last appended coordinate. Operands may also be too short for its last
        positions.
        """
        target = self.owner.target
        if not (self.writes and self.owner.kind.values and target.chains and self.stmt.var in target.path):
            return None
        k = target.path.index(self.stmt.var)
        implied = target.format.levels[k].iterates_values and implied_by(target.access, target.format, k)
        return k if implied and k > target.chains[-1].last and not self.owner.fills_target else None

    def _between_padding(self, begin: ir.Expr, end: ir.Expr, loops: ir.Stmt) -> ir.Stmt:
        """Return loops over an interval, with fill values at all other positions of a result that is padded."""
        owner, target, k = self.owner, self.owner.target, self._padded
        if k is None:
            return loops
        parent = self.env.parent(target.access, k)
        if parent is None:
            raise LoweringError(f"the parent of {target.vars.name}{k + 1} is not known in forall {self.stmt.var}")
        type = owner.types[target.access.tensor]
        before, behind = target.padding(k, parent, (begin, maximum(begin, end)), owner.value(type.fill, type.dtype))
        return block(before, loops, behind)

    # -- several iterators: while loops -------------------------------------------------------------------------
    def coiteration_loops(self) -> ir.Stmt:
        owner = self.owner
        iterators = self._ordered()
        self._require_order([it for it in iterators if it in self.p])
        stmts: list[ir.Stmt] = []
        for it in iterators:
            begin, end = owner.bounds_of(it, self.stmt.var, self.env)
            if it in self.p:
                stmts += [ir.Declare(self.p[it], begin), ir.Declare(self.end[it], end)]
            else:
                stmts.append(ir.Declare(self.coord, begin))
        self._narrow(iterators)
        stmts += [self._while(loop) for loop in self.loops]
        return block(*stmts)

    def _narrow(self, iterators: Sequence[LevelIterator]) -> None:
        """Declare merged coordinates in the dtype in which they are stored, if all iterators share one dtype."""
        if all(it in self.p for it in iterators):
            (ty, *others) = {_stored(self.owner.coordinate(it, self.p[it], self.env)).ty for it in iterators}
            if not others:
                self.coord = ir.Var(self.coord.name, ty)
                self.here = {it: ir.Var(v.name, ty) for it, v in self.here.items()}

    def _while(self, loop: list[LevelIterator]) -> ir.Stmt:
        owner, env = self.owner, self.env
        # ``full`` iterates all coordinates by value; ``merged`` iterate positions.
        full = next((it for it in loop if it.format.iteration == "value"), None)
        merged = [it for it in loop if it is not full]
        conds = [lt(self.p[it], self.end[it]) for it in merged]
        if full is not None and not merged:
            _, end = owner.bounds_of(full, self.stmt.var, env)
            return ir.While(lt(self.coord, end), block(self._cases(loop, env), increment(self.coord)))
        # The coordinate of each iterator, and the least of them (2017, Fig. 11).
        body: list[ir.Stmt] = [
            ir.Declare(self.here[it], cast(_stored(owner.coordinate(it, self.p[it], env)), self.here[it].ty))
            for it in merged
        ]
        if full is None:
            body.append(ir.Declare(self.coord, minimum(*(self.here[it] for it in merged))))
        # The step of each iterator: by one position, or past its run of duplicates.
        steps: dict[LevelIterator, ir.Stmt] = {}
        for it in merged:
            p = self.p[it]
            if it.format.unique:
                env = replace(env, pos={**env.pos, it.key: self._child(it, p, self.here[it])})
                steps[it] = increment(p)
            else:
                run, segment, env = self._deduplicate(it, env)
                body += run
                steps[it] = ir.Set(p, segment)
        # The cases themselves advance the iterators, or each iterator advances if it is at the coordinate.
        if self._exclusive(loop):
            code = self._sum(loop, env, steps) or self._cases(loop, env, steps)
            return ir.While(land(*conds), block(*body, code))
        advance = [self._advance(it, step, loop) for it, step in steps.items()]
        if full is not None:
            # This loop ends with the first sparse operand; the last loop visits the remaining coordinates.
            advance.append(increment(self.coord))
        return ir.While(land(*conds), block(*body, self._cases(loop, env), *advance))

    def _advance(self, it: LevelIterator, step: ir.Stmt, loop: list[LevelIterator]) -> ir.Stmt:
        """Return the step of an iterator past the merged coordinate, conditional on being at that coordinate."""
        if len(loop) == 1:
            return step
        here = self._is_here(it, loop)
        return increment(self.p[it], cast(here, "int64")) if isinstance(step, ir.Update) else if_(here, step)

    def _is_here(self, it: LevelIterator, loop: list[LevelIterator]) -> ir.Expr:
        """Return the condition that an iterator is at the merged coordinate."""
        # With two iterators, the one that is not ahead is at the coordinate, so their minimum need not be computed.
        others = [o for o in loop if o is not it]
        if len(others) == 1 and others[0] in self.here and it in self.here:
            return le(self.here[it], self.here[others[0]])
        return eq(self.here[it], self.coord)

    def _are_here(self, iterators: Sequence[LevelIterator], loop: list[LevelIterator]) -> list[ir.Expr]:
        if len(loop) == 2 and len(iterators) == 2:
            a, b = iterators
            return [eq(self.here[a], self.here[b])]
        return [self._is_here(it, loop) for it in iterators]

    def _exclusive(self, loop: list[LevelIterator]) -> bool:
        """Return whether each set of iterators is a case of its own, so that each case can advance its iterators."""
        points = [p for p in self.points if set(p.coiterate) <= set(loop)]
        searched = any(not it.certain for p in points for it in p.located)
        sets = {frozenset(p.coiterate) for p in points}
        return not searched and all(it in self.p for it in loop) and len(sets) == len(points) == 2 ** len(loop) - 1

    def _sum(
        self, loop: list[LevelIterator], env: Environment, steps: Mapping[LevelIterator, ir.Stmt]
    ) -> ir.Stmt | None:
        """Return a sum of many operands in which each adds its value if present, or None if the body is no such sum.

        The number of cases doubles with every operand. Here each operand has one condition.
        """
        owner, body, v = self.owner, self.stmt.body, self.stmt.var
        if len(loop) < 3 or not isinstance(body, Assign) or owner.derived or not is_left_nested(body.value):
            return None
        env = replace(env, coords={**env.coords, v: self.coord})
        # Assign each term to the one iterator it depends on; each must have fill value 0.
        parts: dict[LevelIterator, list[tuple[bool, Expr]]] = {it: [] for it in loop}
        last: LevelIterator | None = None
        for negative, term in additive_terms(body.value):
            mine = {it for a in accesses(term) for it in owner.iterators(a, v)}
            plain = all(same_value(owner.fill_value(a), 0) for a in accesses(term) if owner.iterators(a, v))
            if len(mine) != 1 or not mine <= set(loop) or not plain:
                return None
            it = mine.pop()
            if parts[it] and it != last:
                return None  # another term lies between, and the summation order must not change
            parts[it].append((negative, term))
            last = it
        if not all(parts.values()):
            return None
        owner.count_cases(len(parts))
        whole = Access("sum of present operands")
        code: list[ir.Stmt] = []
        total = owner.name("sum")
        for it, terms in parts.items():
            adds: list[ir.Stmt] = []
            for negative, term in terms:
                inner, decls = owner.resolve(env, list(accesses(term)))
                value = lower_expr(term, lambda a, env=inner: owner.read(a, env))  # type: ignore[misc]
                total = ir.Var(total.name, value.ty)
                adds += [*decls, update("subtract" if negative else "add", total, value)]
            adds = adds if owner.holds_values else []
            code.append(if_(self._is_here(it, loop), block(*adds, steps[it])))
        nothing = -0.0 if total.ty.startswith("float") else 0  # -0.0 + -0.0 is -0.0, but 0.0 + -0.0 is 0.0
        start = ir.Declare(total, lit(nothing, total.ty)) if owner.holds_values else block()
        env = replace(env, values={**env.values, whole: total})
        return block(start, *code, self._body(replace(body, value=whole), env, {v}))

    # -- cases: one for each lattice point ----------------------------------------------------------------------
    def _cases(
        self, loop: list[LevelIterator], env: Environment, steps: Mapping[LevelIterator, ir.Stmt] | None = None
    ) -> ir.Stmt:
        owner, before = self.owner, env
        env, derived, guards = owner.derive(replace(env, coords={**env.coords, self.stmt.var: self.coord}))
        guards += [g for it in loop if (g := self._holds_entry(it)) is not None]
        new = env.coords.keys() - before.coords.keys()
        if not owner.settled(env) or env.whole.keys() == before.whole.keys():
            return block(*derived, self._cases_at(loop, env, guards, new, steps))
        # Here it is known if a block reaches beyond an edge: the code inside the tensor needs no more conditions.
        inside, edge = (replace(env, whole=dict.fromkeys(env.whole, lit(whole, "bool"))) for whole in (True, False))
        return block(
            *derived,
            if_(
                land(*env.whole.values()),
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
        self.owner.count_cases(len(points))
        located = self._locate_probed(loop, points, env)
        # Nothing is looked for at the coordinate of a position without an entry, which may lie outside the tensor.
        first, guards = (guards, ()) if located.declarations and not steps else ((), guards)
        branches: list[tuple[ir.Expr, ir.Stmt]] = []
        for point in points:
            at = [] if self.together else [it for it in point.coiterate if it.format.iteration != "value"]
            stmt, body = self._statement_at(point), block()
            if stmt is not None:
                body = if_(land(*guards), self._body(stmt, self._environment_at(at, located.env, steps), new))
            advance = [steps[it] for it in at] if steps else []
            condition = land(*self._presence(point, at, loop, points, located))
            branches.append((condition, block(body, *advance) if steps else body))
        return if_(land(*first), block(*located.declarations, _if_chain(branches)))

    def _points_of(self, loop: list[LevelIterator]) -> list[Point]:
        """Return the lattice points of a loop, such that the first one whose iterators are present is the right one.

        Points with more iterators come first.
        """
        mine = set(loop)
        found = (p for p in self.points if (set(p.coiterate) == mine if self.together else set(p.coiterate) <= mine))
        return sorted(found, key=lambda p: -len(p.iterators))

    def _locate_probed(self, loop: list[LevelIterator], points: Sequence[Point], env: Environment) -> _Located:
        """Return positions, located once for all cases, in levels that may lack the coordinate: -1 if it is absent."""
        missed = [it for it in loop if (level := it.format.capability(ValueIteration)) and level.misses]
        located = _Located(env, (), {})
        for it in dict.fromkeys([*missed, *(it for p in points for it in p.located if not it.certain)]):
            located = self._with_probe(it, located)
        return located

    def _with_probe(self, it: LevelIterator, located: _Located) -> _Located:
        """Return the located positions with that of one more iterator."""
        owner, found = self.owner, located.found
        assert it.access is not None
        env, more = owner.resolve(located.env, [it.access])
        parent = env.parent(it.access, it.level)
        if parent is None:
            raise LoweringError(f"{it} is searched before its parent")
        p = owner.name(f"p{it.name}")
        coords = (*owner.coordinates_above(it, env), self.coord)
        locate = it.format.require(Locate).probe(owner.tensors[it.access.tensor].levels[it.level], parent, coords)
        by_value = it.format.capability(ValueIteration)
        if by_value is not None and not by_value.misses:  # arithmetic is valid only within the bounds
            begin, end = owner.bounds_of(it, self.stmt.var, env)
            within = land(ge(self.coord, begin), lt(self.coord, end))
            locate = ir.Select(within, locate, lit(-1))
        if above := [f for f in found if f.access == it.access and f.level < it.level]:
            locate = ir.Select(found[max(above, key=lambda f: f.level)], locate, lit(-1))  # no parent, no child
        return _Located(
            replace(env, pos={**env.pos, it.key: p}),
            (*located.declarations, *more, ir.Declare(p, locate)),
            {**found, it: ge(p, lit(0))},
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
        conds = self._are_here(at, loop) if len(loop) > 1 else []
        # No condition is needed for the last single iterator: some iterator is at the least coordinate.
        singles = {p.coiterate[0] for p in points if len(p.coiterate) == 1}
        all_merged = all(it.format.iteration != "value" for it in loop)
        last = point is points[-1] and len(point.coiterate) == 1
        if last and all_merged and set(loop) <= singles and not located.found:
            conds = []
        return conds + [located.found[it] for it in point.iterators if it in located.found]

    def _statement_at(self, point: Point) -> Stmt | None:
        """Return the statement of a lattice point: other operands have their implicit values (2017, section 6).

        None if nothing remains of it.
        """
        owner, v = self.owner, self.stmt.var
        present = set(point.iterators)
        absent = {
            a: (owner.fill_value(a), owner.types[a.tensor].dtype)
            for a in dict.fromkeys(accesses(owner.view(self.stmt.body)))
            if not present.issuperset(owner.iterators(a, v))
        }
        return specialize(self.stmt.body, absent, owner.neutral_value, owner.fill_value) if absent else self.stmt.body

    def _environment_at(
        self, at: Sequence[LevelIterator], env: Environment, steps: Mapping[LevelIterator, ir.Stmt] | None
    ) -> Environment:
        """Return the environment of a case whose iterators are ``at`` the coordinate.

        The coordinate of any iterator of an exclusive case serves, so the least need not be computed.
        """
        if not (steps and at) or self.owner.derived:
            return env
        return replace(env, coords={**env.coords, self.stmt.var: self.here[at[0]]})

    def _holds_entry(self, it: LevelIterator) -> ir.Expr | None:
        """Return the condition that the iterator is at an entry, or None if all positions of its level hold entries."""
        by_position = it.format.capability(PositionIteration)
        if it.access is None or by_position is None or by_position.gapless:
            return None
        return by_position.valid(self.owner.tensors[it.access.tensor].levels[it.level], self.coord)

    def _body(self, stmt: Stmt, env: Environment, new: Set[str]) -> ir.Stmt:
        """Return the code of one case, in which the variables ``new`` become known: locate, compute, append."""
        owner, target = self.owner, self.owner.target
        used = [a for s in assignments(stmt) for a in (*accesses(s.value), s.target)]
        env, decls = owner.resolve(env, [*used, target.access] if self.writes else used)
        chain = target.chain_completed(new, env.coords) if self.writes else None
        if chain is None:
            return block(*decls, owner.statement(stmt, env))
        # The coordinate is appended, so the position of the result is the counter of the chain.
        counter = target.counters[chain.index]
        here = {(target.access, k): counter for k in range(chain.first, chain.last + 1)}
        env = replace(env, pos={**env.pos, **here})
        env, more = owner.resolve(env, [target.access])
        made = block(*more, owner.statement(stmt, env))
        inside = target.can_append(chain, env.coords)
        if not (owner.skip_fill and chain is target.chains[-1] and isinstance(stmt, Assign)):
            return block(*decls, if_(inside, target.append(chain, env.coords, made)))
        # Values that are left out are not appended.
        value = lower_expr(stmt.value, lambda a: owner.read(a, env))
        entry = owner.is_entry(stmt.value, value, owner.types[target.access.tensor].fill, env)
        return block(*decls, if_(inside, target.append_if(entry, env.coords, made, even=value.ty == "bool")))


def _stored(coordinate: ir.Expr) -> ir.Expr:
    """Return a coordinate without its conversion to a wider dtype."""
    return coordinate.a if isinstance(coordinate, ir.Cast) else coordinate


def _if_chain(branches: Sequence[tuple[ir.Expr, ir.Stmt]]) -> ir.Stmt:
    """Return code that runs the first branch whose condition holds."""
    code: ir.Stmt = block()
    for cond, body in reversed(branches):
        code = if_(cond, body, code if code != block() else None)
    return code


def _goes_on(last: Assign, gathered: Assign, dtypes: Mapping[str, str]) -> bool:
    """Return whether accumulating the parts of a workspace one by one gives the same as accumulating their total."""
    value, part = without_conversions(last.value), gathered.target
    if last.op != gathered.op or part not in value.distinct_accesses:
        return False
    if last.op == "add":
        return is_linear(value, part) and adds_in_place(last.value, part, dtypes[part.tensor])
    return value == part


def _needs_all(stmt: Stmt, apart: bool, dtypes: Mapping[str, str]) -> bool:
    """Return whether a statement fills or gathers, and so must run once for all duplicates of a coordinate.

    A workspace that is gathered and then accumulated by the same operator may be gathered for each duplicate if
    ``apart`` is true, as where duplicates do not follow one another.
    """

    def needs_all(s: Stmt) -> bool:
        if isinstance(s, Where):
            gathered = result_of(s.producer)
            return not (apart and all(_goes_on(a, gathered, dtypes) for a in assignments(s.consumer)))
        return isinstance(s, Fill)

    return any(map(needs_all, statements(stmt)))
