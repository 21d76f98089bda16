"""Loop nests that accumulate into a result with random access.

The methods decide what is initialized first, what is gathered in workspaces, and what is stored once.
"""

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
"""Widths of register strips. 32 numbers of 8 bytes take half of 16 vector registers of 32 bytes each."""


@dataclass
class Accumulation(Orders):
    """Writer of the statements that accumulate."""

    def stored_for(self, expr: Expr, order: Sequence[str], converts: Mapping[Access, Format]) -> Expr:
        """Return an expression in which operands that do not fit the loops are stored again, and note the conversions.

        The formats of the new operands follow the order of the loops.
        """
        for access, wanted in converts.items():
            type = self.types[access.tensor]
            origin = self.origins.get(access.tensor, access.tensor)
            # Two accesses of one operand that need the same format share its conversion.
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
        """Return the phrase that says what the loops would do with an operand if it was not stored again."""
        format = self.types[access.tensor].format
        if format.is_dense:
            return "would pass across"
        kept = wanted.remapping == format.remapping and not format.levels[0].full
        return "would walk all of" if kept and wanted != self.stored_as(access, order) else "cannot traverse"

    # Each additive term has its own nest that accumulates into the result.
    def scatter(self, terms: Sequence[tuple[bool, Expr]], nests: Sequence[LoopOrder]) -> Stmt:
        for nest in nests:
            self.notes.append(f"loop order {', '.join(nest.order)}; accumulates into {self.target.tensor}")
        if len(terms) == 1 and self.assignment.op is None:
            (negative, term), (nest,) = terms[0], nests
            return self.scatter_filled(negative, term, nest)
        # A term that writes every element comes first, so that it can initialize the result.
        pairs = sorted(zip(terms, nests, strict=True), key=lambda pair: not self.covers(pair[0][1]))
        stmts = [self.accumulate(n, t, nest) for (n, t), nest in pairs]
        before: list[Stmt] = []
        if self.assignment.op is None:
            negative, first = pairs[0][0]
            if self.covers(first):  # it writes every element, and so can initialize the result
                value = converted(first, self.dtypes, self.result.dtype)
                value = Apply("negative", (value,)) if negative else value
                if is_constant(value):  # a fill replaces the loops of a constant
                    before.append(Fill(self.target, np.asarray(implicit_value(value, lambda a: UNKNOWN)).item()))
                    stmts, terms = stmts[1:], [t for t, _ in pairs[1:]]
                else:
                    stmts[0] = foralls(pairs[0][1].order, Assign(self.target, value))
            else:
                before.append(Fill(self.target, 0))
        # Nests that share their outermost loop pass over the result once.
        if (v := self.in_common(stmts, [t for _, t in terms])) is not None:
            bodies = [s.body for s in stmts if isinstance(s, Forall)]
            if v == level_variables(self.target, self.result.format)[0]:
                return Forall(v, Seq((*before, *bodies)))
            stmts = [Forall(v, Seq(tuple(bodies)))]
        return stmts[0] if len(stmts) + len(before) == 1 else Seq((*before, *stmts))

    def in_common(self, stmts: Sequence[Stmt], terms: Sequence[Expr]) -> str | None:
        """Return the variable of the outermost loop that several nests can share; None if they cannot.

        The loop must visit all coordinates in each nest.
        """
        outermost = {s.var if isinstance(s, Forall) else None for s in stmts}
        v = outermost.pop() if len(stmts) > 1 and len(outermost) == 1 else None
        if v is None or not all(is_full(t, v, self.types) for t in terms):
            return None
        # The shared loop merges the levels that each nest iterates; unordered levels cannot be merged.
        found = [it.format for t in terms for a in distinct_accesses(t) for it in level_iterators(a, v, self.types)]
        walked = [level for level in found if not level.has_every]
        return v if len(walked) < 2 or all(level.merges for level in walked) else None

    def scatter_filled(self, negative: bool, term: Expr, nest: LoopOrder) -> Stmt:
        """Return the nest of a single accumulating term, with the initialization of the result.

        The result is filled as deep inside the loops as every coordinate is still visited.
        """
        term = self.stored_for(term, nest.order, nest.converts)
        nest = LoopOrder(nest.order, nest.cost, {})
        bound = term.vars if isinstance(term, Reduce) else ()
        variables = level_variables(self.target, self.result.format)
        appended = append_chains(self.result.format)
        # The dense levels below the last appended one are filled where the loops have appended it.
        depth = appended[-1].last + 1 if appended else 0
        first = next((n for n, v in enumerate(nest.order) if v in bound), 0)
        # A register workspace stores each element once, and so needs no fill if the loops reach all elements.
        reached = depth <= first and all(is_full(term, v, self.types) for v in nest.order[depth:first])
        if reached and (stmt := self.in_registers(negative, term, nest, None)) is not None:
            return stmt
        # Go inside while the loops follow the levels of a dense result and visit every coordinate.
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
        # The loops assign each element exactly once: no fill is written.
        if not inner_free and depth == len(self.free) and not bound:
            return stmt
        outer = nest.order[:depth]
        for _ in outer:
            assert isinstance(stmt, Forall)
            stmt = stmt.body
        return foralls(outer, Seq((Fill(self.target, 0), stmt)))

    def covers(self, term: Expr) -> bool:
        """Return whether a term has no reduction and reads dense operands alone, so that it writes every element."""
        return not isinstance(term, Reduce) and all(
            self.types[a.tensor].format.is_dense for a in distinct_accesses(term)
        )

    # One term: a nest that adds its values to the result, or to the workspace ``into``.
    def accumulate(self, negative: bool, term: Expr, nest: LoopOrder, into: Access | None = None) -> Stmt:
        target = into or self.target
        term = self.stored_for(term, nest.order, nest.converts)
        nest = LoopOrder(nest.order, nest.cost, {})
        if into is None and (stmt := self.in_registers(negative, term, nest, "add")) is not None:
            return stmt
        body = term.body if isinstance(term, Reduce) else term
        bound = term.vars if isinstance(term, Reduce) else ()
        place = {v: n for n, v in enumerate(nest.order)}
        # Factors are sorted by the loop at which they become known: those outside are hoisted.
        factors = sorted(
            uniform_factors(body, self.dtype), key=lambda f: max((place[v] for v in self.loops_of(f)), default=-1)
        )
        depth = self.depth_of_result(nest.order)
        outer, inner = nest.order[:depth], nest.order[depth:]
        # Loops inside those of the result sum into a scalar, which is added to the result once.
        if outer and inner and not self.is_single(body, inner):
            dtype = self.dtype(body)
            t = self.workspace((), "scalar", dtype)
            value = self.signed(negative, t, self.result.dtype)
            consumer = Assign(target, value, "add")
            producer = foralls(inner, Assign(t, converted(body, self.dtypes, dtype), "add"))
            return foralls(outer, Where(consumer, producer))
        return self.nest(nest.order, bound, factors, target, "add", negative)

    def signed(self, negative: bool, term: Expr, dtype: str) -> Expr:
        """Return a term in the dtype in which it is added, subtracted from zero if it is ``negative``.

        The negation of an implicit zero would be -0.0. Zero minus zero is 0.0, and so adds nothing.
        """
        value = converted(term, self.dtypes, dtype)
        return Apply("subtract", (TypedLiteral(0, dtype), value)) if negative else value

    def is_single(self, expr: Expr, loops: Sequence[str]) -> bool:
        """Return whether each of the loops is over a branchless level, so that nothing is gathered inside.

        Such a level has one coordinate for each of the level above. If the level above may hold duplicates in order,
        the loop visits a segment of several entries (iterator chaining), whose sum is gathered.
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
        """Return a nest that accumulates in a small workspace, which is stored once; None if that would be large.

        Without it, the result would be read and written in each iteration of the reduction. The workspace holds either
        the inside of a block, whose size is known, or a register strip of a dense level. For strips, loops over them
        are put around the reduction, which is repeated for each. Strips pay if the reduction is one loop: the body of
        several nested loops may be much work.
        """
        if (found := self.registers(term, nest.order)) is None:
            return None
        outer, inner, small = found
        cut = None
        # Cut the loop of the result into strips, and give the workspace the size of one.
        if not small:
            (v,) = inner
            cut = RegisterStrips(v, self.fresh(f"{v}_strip"), self.fresh(f"{v}_inside"), WIDTHS)
            self.splits.append(cut)
            self.counted[v] = cut.inner
        # Write the producer: the reduction into the workspace.
        if isinstance(term, Reduce) and term.op != "add":
            w = self.workspace(inner, "dense", self.result.dtype, term.op)
            producer = foralls(nest.order, Assign(w, converted(term.body, self.dtypes, self.result.dtype), term.op))
        else:
            w = self.workspace(inner, "dense", self.result.dtype)
            producer = self.accumulate(False, term, nest, into=w)
        # The loops outside the reduction are put around the whole statement instead.
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
        """Return the loops outside a reduction, the loops of the result inside, and whether these have few coordinates.

        None if no block or strip of the result can be held in registers.
        """
        bound = term.vars if isinstance(term, Reduce) else ()
        first = next((n for n, v in enumerate(order) if v in bound), 0)
        # Inside the outermost reduction loop, the result needs a workspace over its own loops.
        outer, inner = order[:first], tuple(v for v in order[first:] if v in self.free)
        if not outer or not inner or any(self.passes_edge(v) for v in inner):
            return None
        place = places(order, self.view.derived)
        if not {order[place[v]] for v in self.target.indices} <= {*outer, *inner}:
            return None  # an axis of the result follows from what is reduced over
        sizes = [size_of(v, distinct_accesses(term), self.types) for v in inner]
        # The sizes inside a block are known. A loop of unknown size counts as too large.
        known = prod(SMALL_WORKSPACE + 1 if n is None else n for n in sizes) <= SMALL_WORKSPACE
        enabled = self.variant.options.enabled
        small = known and enabled("register-blocks")
        single = self.variant.tile and enabled("register-strips") and len(bound) == len(inner) == 1
        return (outer, inner, small) if small or (single and self.is_stripped(term, inner[0])) else None

    def best_passing(self, term: Expr) -> LoopOrder | None:
        """Return the cheapest nest that reduces all elements of a workspace at a time; None if there is none.

        In such a nest each element has had as many values as the others, so that implicit entries can be counted.
        """
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
        """Return whether the result and each operand that has ``v`` can be cut into strips over it.

        Each must have an array over ``v``, in which a strip is located.
        """
        if is_complex(self.result.dtype) or any(v == d.var or v in d.needs for d in self.view.derived):
            return False  # C compilers do not vectorize such loops over complex numbers
        stored = [(a, self.types[a.tensor].format) for a in (*distinct_accesses(term), self.target)]
        levels = [level for a, f in stored for u, level in zip(level_variables(a, f), f.levels, strict=True) if u == v]
        return all(u.full and u.iteration == "value" and u.locates == "direct" for u in levels)

    def nest(
        self, order: Sequence[str], bound: Sequence[str], factors: Sequence[Expr], target: Access, op: str | None,
        negative: bool = False, outer: Sequence[str] = (),
    ) -> Stmt:  # fmt: skip
        """Return loops around ``target op= product of factors``, with factors hoisted out of reductions.

        Factors that a reduction does not change are hoisted. If no remaining reduction changes a factor but an inner
        loop does, the reduction goes to a workspace over the inner variables. The factor is multiplied into that once,
        as in SPLATT's implementation of MTTKRP.
        """
        if not order:
            return Assign(target, self.signed(negative, product(factors), self.dtypes[target.tensor]), op)
        v, rest = order[0], order[1:]
        remaining = {u for u in order if u in bound}
        # A factor can be hoisted here only if the target has none of the remaining reduction loops.
        hoists = self.variant.options.enabled("factor-hoisting") and not self.loops_of(target) & remaining
        if v in bound and outer and hoists and self.meets_once(factors):
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
        """Return whether a loop over all values of ``v`` leaves the tensor.

        Blocks that store coordinates have no guards at the edge of the tensor.
        """
        indices = {u for a in (*distinct_accesses(self.assignment.value), self.target) for u in a.indices}
        return any(d.inside and v in d.needs and d.var in indices for d in self.view.derived)

    def meets_once(self, factors: Sequence[Expr]) -> bool:
        """Return whether no coordinate is repeated out of order.

        A repeated coordinate would find a workspace that is partly filled.
        """
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
    """Return a statement whose loops over the variable of ``cut`` run inside one strip."""

    def inside(s: Stmt) -> Stmt | None:
        return Forall(cut.inner, rewrite(s.body, inside)) if isinstance(s, Forall) and s.var == cut.var else None

    return rewrite(stmt, inside)
