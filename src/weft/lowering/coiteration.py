"""Loops that co-iterate several operands: one while loop for each set that is co-iterated (2017, Fig. 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.merge_lattice import LevelIterator
from ..analysis.terms import additive_terms, is_left_nested
from ..concrete_notation.nodes import Assign
from ..concrete_notation.values import same_value
from ..index_notation.nodes import Access, Expr
from ..index_notation.traversal import accesses
from ..ir import nodes as ir
from ..ir.builder import (
    block,
    cast,
    if_,
    increment,
    land,
    lit,
    lt,
    minimum,
)
from ..records import replace
from .environment import Environment
from .loop_cases import LoopCases, require_order, stored_coordinate
from .operand_values import value_of
from .positions import child_position, coordinate
from .scalar_expressions import update


class Coiteration(LoopCases):
    """The loops of one ``forall`` with several iterators, some of which are over positions."""

    def emit(self) -> ir.Stmt:
        """Return the loops."""
        iterators = self.ordered()
        require_order([it for it in iterators if it in self.p])
        starts = [self._start(it) for it in iterators]
        self._narrow(iterators)
        return block(*starts, *map(self._while, self.loops))

    def _start(self, it: LevelIterator) -> ir.Stmt:
        """Return the declarations of an iterator's first position and the end, or of the first coordinate."""
        begin, end = self.limits(it)
        if it not in self.p:
            return ir.Declare(self.coord, begin)
        return block(ir.Declare(self.p[it], begin), ir.Declare(self.end[it], end))

    def _narrow(self, iterators: Sequence[LevelIterator]) -> None:
        """Declare merged coordinates in the dtype in which they are stored, if all iterators share one dtype."""
        if all(it in self.p for it in iterators):
            (ty, *others) = {stored_coordinate(coordinate(self.f, it, self.p[it], self.env)).ty for it in iterators}
            if not others:
                self.coord = ir.Var(self.coord.name, ty)
                self.here = {it: ir.Var(v.name, ty) for it, v in self.here.items()}

    def _while(self, loop: list[LevelIterator]) -> ir.Stmt:
        f, env = self.f, self.env
        # ``full`` iterates all coordinates by value; ``merged`` iterate positions.
        full = next((it for it in loop if it.format.iteration == "value"), None)
        merged = [it for it in loop if it is not full]
        conds = [lt(self.p[it], self.end[it]) for it in merged]
        if full is not None and not merged:
            _, end = self.limits(full)
            return ir.While(lt(self.coord, end), block(self.cases(loop, env), increment(self.coord)))
        # The coordinate of each iterator, and the least of them (2017, Fig. 11).
        body: list[ir.Stmt] = [
            ir.Declare(self.here[it], cast(stored_coordinate(coordinate(f, it, self.p[it], env)), self.here[it].ty))
            for it in merged
        ]
        if full is None:
            body.append(ir.Declare(self.coord, minimum(*(self.here[it] for it in merged))))
        # The step of each iterator: by one position, or past its run of duplicates.
        steps: dict[LevelIterator, ir.Stmt] = {}
        for it in merged:
            p = self.p[it]
            if it.format.unique:
                env = replace(env, pos={**env.pos, it.key: child_position(self.f, it, p, self.here[it])})
                steps[it] = increment(p)
            else:
                run, segment, env = self.deduplicate(it, env)
                body += run
                steps[it] = ir.Set(p, segment)
        # The cases themselves advance the iterators, or each iterator advances if it is at the coordinate.
        if self._exclusive(loop):
            code = self._sum(loop, env, steps) or self.cases(loop, env, steps)
            return ir.While(land(*conds), block(*body, code))
        advance = [self._advance(it, step, loop) for it, step in steps.items()]
        if full is not None:
            # This loop ends with the first sparse operand; the last loop visits the remaining coordinates.
            advance.append(increment(self.coord))
        return ir.While(land(*conds), block(*body, self.cases(loop, env), *advance))

    def _advance(self, it: LevelIterator, step: ir.Stmt, loop: list[LevelIterator]) -> ir.Stmt:
        """Return the step of an iterator past the merged coordinate, conditional on being at that coordinate."""
        if len(loop) == 1:
            return step
        here = self.is_here(it, loop)
        return increment(self.p[it], cast(here, "int64")) if isinstance(step, ir.Update) else if_(here, step)

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
        f, context, body, v = self.f, self.context, self.stmt.body, self.stmt.var
        if len(loop) < 3 or not isinstance(body, Assign) or context.derived or not is_left_nested(body.value):
            return None
        env = replace(env, coords={**env.coords, v: self.coord})
        # Assign each term to the one iterator it depends on; each must have fill value 0.
        parts: dict[LevelIterator, list[tuple[bool, Expr]]] = {it: [] for it in loop}
        last: LevelIterator | None = None
        for negative, term in additive_terms(body.value):
            mine = {it for a in accesses(term) for it in context.iterators(a, v)}
            plain = all(same_value(context.fill_value(a), 0) for a in accesses(term) if context.iterators(a, v))
            if len(mine) != 1 or not mine <= set(loop) or not plain:
                return None
            it = mine.pop()
            if parts[it] and it != last:
                return None  # another term lies between, and the summation order must not change
            parts[it].append((negative, term))
            last = it
        if not all(parts.values()):
            return None
        f.count_cases(len(parts))
        present = Access("sum of present operands")
        code: list[ir.Stmt] = []
        total = f.name("sum")
        for it, terms in parts.items():
            adds: list[ir.Stmt] = []
            for negative, term in terms:
                inner, decls = self.emitter.resolve(env, accesses(term))
                value = value_of(f, term, inner)
                total = ir.Var(total.name, value.ty)
                adds += [*decls, update("subtract" if negative else "add", total, value)]
            adds = adds if f.holds_values else []
            code.append(if_(self.is_here(it, loop), block(*adds, steps[it])))
        nothing = -0.0 if total.ty.startswith("float") else 0  # -0.0 + -0.0 is -0.0, but 0.0 + -0.0 is 0.0
        start = ir.Declare(total, lit(nothing, total.ty)) if f.holds_values else block()
        env = replace(env, values={**env.values, present: total})
        return block(start, *code, self.body(replace(body, value=present), env, {v}))
