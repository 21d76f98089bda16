"""Nests that accumulate into a result with random access: what is filled first, gathered on the way, stored once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np

from ..analysis.append_chains import append_chains
from ..analysis.derived_variables import level_variables, size_of
from ..analysis.implicit_values import UNKNOWN, TypedLiteral, converted, implicit_value, is_constant
from ..analysis.iteration_graph import distinct_accesses, is_full, level_iterators, places
from ..analysis.terms import foralls, uniform_factors
from ..concrete_notation.nodes import SMALL_WORKSPACE, Assign, Fill, Forall, RegisterStrips, Stmt, Where, rewrite
from ..concrete_notation.nodes import Sequence as Seq
from ..concrete_notation.transformations import product
from ..formats import Format, TensorType
from ..index_notation.nodes import Access, Apply, Expr, Reduce
from ..ir.types import is_complex
from ..records import replace
from .loop_orders import LoopOrder, Orders
from .operand_conversions import OperandConversion, widest_index

__all__ = ["Accumulation"]

WIDTHS = (32, 8, 2, 1)
"""Widths of strips. 32 numbers of 8 bytes take half of 16 vector registers of 32 bytes each."""


@dataclass
class Accumulation(Orders):
    """Writes the statements that accumulate."""

    def stored_for(self, expr: Expr, order: Sequence[str], converts: Mapping[Access, Format]) -> Expr:
        """The expression with the operands that do not fit stored again, in the order of the loops."""
        for access, wanted in converts.items():
            type = self.types[access.tensor]
            origin = self.origins.get(access.tensor, access.tensor)
            made = next((c for c in self.conversions if c.tensor == origin and c.format == wanted), None)
            if made is None:
                axes = "".join(access.indices[m] for m in wanted.mode_order)
                name = self.fresh(f"{access.tensor}_{axes}")
                how = self.misfit(access, wanted, order)
                reason = f"loops {','.join(order)} {how} {access.tensor} in {type.format}"
                made = OperandConversion(origin, name, wanted, reason)
                self.types[name] = TensorType.of(type.dtype, wanted, widest_index(type), type.fill)
                self.dtypes[name] = type.dtype
                self.notes.append(f"{access.tensor} is converted from {type.format} to {wanted}: {reason}")
            else:
                self.conversions.remove(made)
            made = replace(made, accesses=(*made.accesses, access))
            self.conversions.append(made)
            expr = made.renamed(expr)
        return expr

    def misfit(self, access: Access, wanted: Format, order: Sequence[str]) -> str:
        """What the loops do with an operand that is to be stored again."""
        format = self.types[access.tensor].format
        if format.is_dense:
            return "would pass across"
        kept = wanted.remapping == format.remapping and not format.levels[0].full
        return "would walk all of" if kept and wanted != self.stored_as(access, order) else "cannot traverse"

    def scatter(self, terms: Sequence[tuple[bool, Expr]], nests: Sequence[LoopOrder]) -> Stmt:
        for nest in nests:
            self.notes.append(f"loop order {', '.join(nest.order)}; accumulates into {self.target.tensor}")
        if len(terms) == 1 and self.assignment.op is None:
            (negative, term), (nest,) = terms[0], nests
            return self.scatter_filled(negative, term, nest)
        pairs = sorted(zip(terms, nests, strict=True), key=lambda pair: not self.covers(pair[0][1]))
        stmts = [self.accumulate(n, t, nest) for (n, t), nest in pairs]
        before: list[Stmt] = []
        if self.assignment.op is None:
            negative, first = pairs[0][0]
            if self.covers(first):  # it writes every element, and so may as well initialise them
                value = converted(first, self.dtypes, self.result.dtype)
                value = Apply("negative", (value,)) if negative else value
                if is_constant(value):  # no loop reaches elements for the sake of what they might hold already
                    before.append(Fill(self.target, np.asarray(implicit_value(value, lambda a: UNKNOWN)).item()))
                    stmts, terms = stmts[1:], [t for t, _ in pairs[1:]]
                else:
                    stmts[0] = foralls(pairs[0][1].order, Assign(self.target, value))
            else:
                before.append(Fill(self.target, 0))
        if (v := self.in_common(stmts, [t for _, t in terms])) is not None:
            bodies = [s.body for s in stmts if isinstance(s, Forall)]
            if v == level_variables(self.target, self.result.format)[0]:
                return Forall(v, Seq((*before, *bodies)))
            stmts = [Forall(v, Seq(tuple(bodies)))]
        return stmts[0] if len(stmts) + len(before) == 1 else Seq((*before, *stmts))

    def in_common(self, stmts: Sequence[Stmt], terms: Sequence[Expr]) -> str | None:
        """The variable of the outermost loop of several nests, where that visits all of each: they can share it."""
        outermost = {s.var if isinstance(s, Forall) else None for s in stmts}
        v = outermost.pop() if len(stmts) > 1 and len(outermost) == 1 else None
        if v is None or not all(is_full(t, v, self.types) for t in terms):
            return None
        # One loop merges what each of several walks; unordered levels cannot be merged.
        found = [it.format for t in terms for a in distinct_accesses(t) for it in level_iterators(a, v, self.types)]
        walked = [level for level in found if not level.has_every]
        return v if len(walked) < 2 or all(level.merges for level in walked) else None

    def scatter_filled(self, negative: bool, term: Expr, nest: LoopOrder) -> Stmt:
        """One accumulating term, the result initialised as deep inside as every coordinate is still visited."""
        term = self.stored_for(term, nest.order, nest.converts)
        nest = LoopOrder(nest.order, nest.cost, {})
        bound = term.vars if isinstance(term, Reduce) else ()
        variables = level_variables(self.target, self.result.format)
        appended = append_chains(self.result.format)
        depth = appended[-1].last + 1 if appended else 0
        first = next((n for n, v in enumerate(nest.order) if v in bound), 0)
        reached = depth <= first and all(is_full(term, v, self.types) for v in nest.order[depth:first])
        if reached and (stmt := self.in_registers(negative, term, nest, None)) is not None:
            return stmt
        while (
            not appended
            and depth < len(variables)
            and depth < len(nest.order)
            and nest.order[depth] == variables[depth]
            and is_full(term, variables[depth], self.types)
        ):
            depth += 1
        inner_free = [v for v in nest.order[depth:] if v in self.free]
        stmt = self.accumulate(negative, term, nest)
        if not inner_free and depth == len(self.free) and not bound:
            return stmt
        outer = nest.order[:depth]
        for _ in outer:
            assert isinstance(stmt, Forall)
            stmt = stmt.body
        return foralls(outer, Seq((Fill(self.target, 0), stmt)))

    def covers(self, term: Expr) -> bool:
        """Whether a term without a reduction has a value at every coordinate of the result, from arrays alone."""
        return not isinstance(term, Reduce) and all(
            self.types[a.tensor].format.is_dense for a in distinct_accesses(term)
        )

    def accumulate(self, negative: bool, term: Expr, nest: LoopOrder, into: Access | None = None) -> Stmt:
        target = into or self.target
        term = self.stored_for(term, nest.order, nest.converts)
        nest = LoopOrder(nest.order, nest.cost, {})
        if into is None and (stmt := self.in_registers(negative, term, nest, "add")) is not None:
            return stmt
        body = term.body if isinstance(term, Reduce) else term
        bound = term.vars if isinstance(term, Reduce) else ()
        place = {v: n for n, v in enumerate(nest.order)}
        factors = sorted(
            uniform_factors(body, self.dtype), key=lambda f: max((place[v] for v in self.loops_of(f)), default=-1)
        )
        depth = self.depth_of_result(nest.order)
        outer, inner = nest.order[:depth], nest.order[depth:]
        if outer and inner and not self.is_single(body, inner):
            dtype = self.dtype(body)
            t = self.workspace((), "scalar", dtype)
            value = self.signed(negative, t, self.result.dtype)
            consumer = Assign(target, value, "add")
            producer = foralls(inner, Assign(t, converted(body, self.dtypes, dtype), "add"))
            return foralls(outer, Where(consumer, producer))
        return self.nest(nest.order, bound, factors, target, "add", negative)

    def signed(self, negative: bool, term: Expr, dtype: str) -> Expr:
        """A term in the dtype in which it is added, or taken off.

        Zero minus it, unlike its negative, is no -0.0 where it is absent, and adds nothing there.
        """
        value = converted(term, self.dtypes, dtype)
        return Apply("subtract", (TypedLiteral(0, dtype), value)) if negative else value

    def is_single(self, expr: Expr, loops: Sequence[str]) -> bool:
        """Whether each of the loops goes on where the one around it is: then nothing is to be gathered inside.

        Where that may hold duplicates in order, their run is.
        """
        single: set[str] = set()
        for access in distinct_accesses(expr):
            format = self.types[access.tensor].format
            steps = pairwise(zip(level_variables(access, format), format.levels, strict=True))
            single |= {
                v for (_, above), (v, level) in steps if level.branchless and (above.unique or not above.ordered)
            }
        return single.issuperset(loops)

    def in_registers(self, negative: bool, term: Expr, nest: LoopOrder, op: str | None) -> Stmt | None:
        """What loops below the first reduction accumulate, in a workspace that is stored once; None where it is large.

        Written in each iteration of the reduction, it would go to memory and back. It is the inside of a block, whose
        size is known, or a strip of a dense level: then loops over strips are put around the reduction, which is walked
        for each. That is worth it where it is one loop: what is below several may be much.
        """
        if (found := self.registers(term, nest.order)) is None:
            return None
        outer, inner, small = found
        cut = None
        if not small:
            (v,) = inner
            cut = RegisterStrips(v, self.fresh(f"{v}_strip"), self.fresh(f"{v}_inside"), WIDTHS)
            self.splits.append(cut)
            self.counted[v] = cut.inner
        if isinstance(term, Reduce) and term.op != "add":
            w = self.workspace(inner, "dense", self.result.dtype, term.op)
            producer = foralls(nest.order, Assign(w, converted(term.body, self.dtypes, self.result.dtype), term.op))
        else:
            w = self.workspace(inner, "dense", self.result.dtype)
            producer = self.accumulate(False, term, nest, into=w)
        for _ in outer:
            assert isinstance(producer, Forall)
            producer = producer.body
        value = self.signed(negative, w, self.result.dtype)
        stmt: Stmt = Where(foralls(inner, Assign(self.target, value, op)), producer)
        what = "strips" if cut else "blocks"
        self.notes.append(f"{what} of {self.target.tensor} over {', '.join(inner)} are accumulated in registers")
        if cut is not None:
            del self.counted[cut.var]
            stmt = Forall(cut.outer, _within(stmt, cut))
        return foralls(outer, stmt)

    def registers(self, term: Expr, order: Sequence[str]) -> tuple[Sequence[str], tuple[str, ...], bool] | None:
        """The loops around a reduction and those of the result inside, where these are over few elements or strips.

        And whether they are few.
        """
        bound = term.vars if isinstance(term, Reduce) else ()
        first = next((n for n, v in enumerate(order) if v in bound), 0)
        outer, inner = order[:first], tuple(v for v in order[first:] if v in self.free)
        if not outer or not inner or any(self.passes_edge(v) for v in inner):
            return None
        place = places(order, self.view.derived)
        if not {order[place[v]] for v in self.target.indices} <= {*outer, *inner}:
            return None  # an axis of the result follows from what is reduced over
        sizes = [size_of(v, distinct_accesses(term), self.types) for v in inner]
        small = prod(SMALL_WORKSPACE + 1 if n is None else n for n in sizes) <= SMALL_WORKSPACE
        single = self.variant.tile and len(bound) == len(inner) == 1
        return (outer, inner, small) if small or (single and self.is_stripped(term, inner[0])) else None

    def best_passing(self, term: Expr) -> LoopOrder | None:
        """Loops that reduce all elements of a workspace at a time, so that each has had as many as the others."""
        nests: list[LoopOrder] = []
        bound = term.vars if isinstance(term, Reduce) else ()
        for order in self.orders(self.free, bound):
            if (found := self.registers(term, order)) is not None:
                outer, inner, _ = found
                nest = self.weigh_scatter(term, order)
                moved = {v for a in nest.converts for v in a.indices}
                whole = moved.isdisjoint(inner) and all(is_full(term, v, self.types) for v in inner)
                if whole and tuple(order) == (*outer, *(v for v in order if v in bound), *inner):
                    nests.append(nest)
        return min(nests, key=lambda n: n.cost, default=None)

    def is_stripped(self, term: Expr, v: str) -> bool:
        """Whether every operand that has ``v``, and the result, has an array over it, in which a strip is found."""
        if is_complex(self.result.dtype) or any(v == d.var or v in d.needs for d in self.view.derived):
            return False  # compilers make no vectors of complex numbers so
        stored = [(a, self.types[a.tensor].format) for a in (*distinct_accesses(term), self.target)]
        levels = [level for a, f in stored for u, level in zip(level_variables(a, f), f.levels, strict=True) if u == v]
        return all(u.full and u.iteration == "value" and u.locates == "direct" for u in levels)

    def nest(
        self, order: Sequence[str], bound: Sequence[str], factors: Sequence[Expr], target: Access, op: str | None,
        negative: bool = False, outer: Sequence[str] = (),
    ) -> Stmt:  # fmt: skip
        """Loops around ``target op= product of factors``, hoisting factors out of reductions they do not depend on.

        A factor that no remaining reduction changes, but an inner loop does, is multiplied once into a workspace
        over the inner variables, as SPLATT does by hand for MTTKRP.
        """
        if not order:
            return Assign(target, self.signed(negative, product(factors), self.dtypes[target.tensor]), op)
        v, rest = order[0], order[1:]
        remaining = {u for u in order if u in bound}
        if v in bound and outer and not self.loops_of(target) & remaining and self.meets_once(factors):
            below = [u for u in order if u not in bound]
            hoisted = [f for f in factors if not (self.loops_of(f) & remaining) and self.loops_of(f) & set(below)]
            kept = [f for f in factors if f not in hoisted]
            once = len(below) == 1 and self.is_dense_over(hoisted, below[0]) and not self.passes_edge(below[0])
            if hoisted and kept and once:
                w = self.workspace(tuple(below), "dense", self.dtype(product(kept)))
                producer = self.nest(order, bound, kept, w, "add", outer=())
                consumer = self.nest(below, (), [w, *hoisted], target, op, negative)
                return Where(consumer, producer)
        return Forall(v, self.nest(rest, bound, factors, target, op, negative, (*outer, v)))

    def passes_edge(self, v: str) -> bool:
        """Whether a loop over all values of ``v`` leaves the tensor: blocks that store coordinates have no guards."""
        indices = {u for a in (*distinct_accesses(self.assignment.value), self.target) for u in a.indices}
        return any(d.inside and v in d.needs and d.var in indices for d in self.view.derived)

    def meets_once(self, factors: Sequence[Expr]) -> bool:
        """Whether no coordinate comes up again out of order, which would find a workspace half filled."""
        levels = [
            u
            for f in factors
            for a in distinct_accesses(f)
            if a.tensor in self.types
            for u in self.types[a.tensor].format.levels
        ]
        return all(level.unique or level.ordered for level in levels)

    def is_dense_over(self, factors: Sequence[Expr], v: str) -> bool:
        return all(is_full(f, v, self.types) for f in factors if v in self.loops_of(f))


def _within(stmt: Stmt, cut: RegisterStrips) -> Stmt:
    """A statement whose loops over the variable that is cut are inside one strip."""

    def inside(s: Stmt) -> Stmt | None:
        return Forall(cut.inner, rewrite(s.body, inside)) if isinstance(s, Forall) and s.var == cut.var else None

    return rewrite(stmt, inside)
