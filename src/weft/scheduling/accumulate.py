"""Accumulation: loop nests that add the values of a term to a result with random access, or to a workspace.

The functions decide what is gathered in scalars, what in registers, and which factors are multiplied once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from ..analysis.coordinate_sets import is_full
from ..analysis.derived_variables import size_of
from ..analysis.iteration_graph import places
from ..analysis.terms import foralls, uniform_factors
from ..concrete_notation.nodes import SMALL_WORKSPACE, Assign, Forall, RegisterStrips, Stmt, Where
from ..concrete_notation.transformations import product
from ..concrete_notation.traversal import rewrite
from ..formats import TensorType
from ..index_notation.nodes import Access, Expr, Reduce
from ..ir.types import is_complex
from ..records import record, replace
from .draft import Draft
from .loop_problem import LoopOrder, LoopProblem, is_one_loop, single_loops

WIDTHS = (32, 8, 2, 1)
"""Widths of register strips. 32 numbers of 8 bytes take half of 16 vector registers of 32 bytes each."""
OF_LANES = (128, 32)
"""Widths of strips that the 32 threads of a team hold together: four numbers each, or one."""


def accumulated(negative: bool, term: Expr, nest: LoopOrder, draft: Draft, into: Access | None = None) -> Stmt:
    """Return a nest that adds the values of one term to the result, or to a workspace."""
    problem, target = draft.problem, into or draft.problem.target
    term = draft.stored_for(term, nest)
    nest = replace(nest, verdicts={})
    if into is None and (stmt := in_registers(negative, term, nest, "add", draft)) is not None:
        return stmt
    body = term.body if isinstance(term, Reduce) else term
    bound = term.vars if isinstance(term, Reduce) else ()
    place = {v: n for n, v in enumerate(nest.order)}
    # Factors are sorted by the loop at which they become known: those outside are hoisted.
    factors = sorted(
        uniform_factors(body, draft.dtype), key=lambda f: max((place[v] for v in draft.loops_of(f)), default=-1)
    )
    depth = problem.depth_of_result(nest.order)
    outer, inner = nest.order[:depth], nest.order[depth:]
    # Loops inside those of the result sum into a scalar, which is added to the result once.
    if outer and inner and not single_loops(body, draft.types).issuperset(inner):
        dtype = draft.dtype(body)
        t = draft.workspace((), "scalar", dtype)
        consumer = Assign(target, draft.signed(negative, t, problem.result.dtype), "add")
        producer = foralls(inner, Assign(t, draft.converted(body, dtype), "add"))
        return foralls(outer, Where(consumer, producer))
    return _Products(bound, target, negative, draft).nested(nest.order, factors)


# -- factors outside the reductions that they do not change ---------------------------------------------------------
@record
class _Products:
    """Loops around the product of factors, which is added to a target."""

    bound: tuple[str, ...]  # the loops that are reduced over
    target: Access  # the result, or a workspace
    negative: bool  # True if the product is subtracted
    draft: Draft  # the draft of the schedule

    def nested(self, order: Sequence[str], factors: Sequence[Expr], outer: Sequence[str] = ()) -> Stmt:
        """Return loops inside those of ``outer``, with factors hoisted that a reduction does not change.

        If no remaining reduction changes a factor but an inner loop does, the reduction goes to a workspace over the
        inner variables. The factor is multiplied into that once, as in SPLATT's implementation of MTTKRP.
        """
        draft = self.draft
        if not order:
            value = draft.signed(self.negative, product(factors), draft.dtypes[self.target.tensor])
            return Assign(self.target, value, "add")
        v, rest = order[0], order[1:]
        remaining = {u for u in order if u in self.bound}
        # A factor can be hoisted here only if the target has none of the remaining reduction loops.
        loops = draft.loops_of
        hoists = draft.problem.enabled("factor-hoisting") and not loops(self.target) & remaining
        if v in self.bound and outer and hoists and _meets_once(factors, draft):
            below = [u for u in order if u not in self.bound]
            hoisted = [f for f in factors if not (loops(f) & remaining) and loops(f) & set(below)]
            inside = [f for f in factors if f not in hoisted]
            once = len(below) == 1 and self._is_full_over(below[0], hoisted)
            if hoisted and inside and once:
                w = draft.workspace(tuple(below), "dense", draft.dtype(product(inside)))
                producer = _Products(self.bound, w, False, draft).nested(order, inside)
                consumer = _Products((), self.target, self.negative, draft).nested(below, [w, *hoisted])
                return Where(consumer, producer)
        return Forall(v, self.nested(rest, factors, (*outer, v)))

    def _is_full_over(self, v: str, factors: Sequence[Expr]) -> bool:
        """Return whether the factors have all values of ``v``, and the loop over these stays inside the tensor."""
        full = all(is_full(f, v, self.draft.types) for f in factors if v in self.draft.loops_of(f))
        return full and not self.draft.problem.passes_edge(v)


def _meets_once(factors: Sequence[Expr], draft: Draft) -> bool:
    """Return whether no coordinate is repeated out of order, where it would meet a workspace that is partly filled."""
    stored = [a for f in factors for a in f.distinct_accesses if a.tensor in draft.types]
    return all(level.unique or level.ordered for a in stored for level in draft.types[a.tensor].format.walked_levels)


# -- registers ------------------------------------------------------------------------------------------------------
@record
class RegisterLoops:
    """Loops around and inside a reduction whose results are held in registers."""

    outer: tuple[str, ...]  # the loops outside the reduction
    inner: tuple[str, ...]  # the loops of the result inside the reduction
    small: bool  # True if the inner loops have few coordinates; else they are cut into strips


def register_loops(
    problem: LoopProblem, types: Mapping[str, TensorType], term: Expr, order: Sequence[str]
) -> RegisterLoops | None:
    """Return the loops around a block or strip of the result in registers; None if none can be held there."""
    bound = term.vars if isinstance(term, Reduce) else ()
    first = next((n for n, v in enumerate(order) if v in bound), 0)
    # Inside the outermost reduction loop, the result needs a workspace over its own loops.
    outer, inner = tuple(order[:first]), tuple(v for v in order[first:] if v in problem.view.free_loops)
    if not outer or not inner or any(problem.passes_edge(v) for v in inner):
        return None
    place = places(order, problem.view.derived)
    if not {order[place[v]] for v in problem.target.indices} <= {*outer, *inner}:
        return None  # an axis of the result follows from what is reduced over
    sizes = [size_of(v, term.distinct_accesses, types) for v in inner]
    # The sizes inside a block are known. A loop of unknown size counts as too large.
    known = prod(SMALL_WORKSPACE + 1 if n is None else n for n in sizes) <= SMALL_WORKSPACE
    small = known and problem.enabled("register-blocks")
    strips = problem.variant.tile and problem.enabled("register-strips") and len(inner) == 1
    # What one thread does again for each strip, several threads do at the same time.
    single = strips and (is_one_loop(bound, term, types) or problem.variant.has_lanes)
    possible = small or (single and _is_stripped(problem, types, term, inner[0]))
    return RegisterLoops(outer, inner, small) if possible else None


def _is_stripped(problem: LoopProblem, types: Mapping[str, TensorType], term: Expr, v: str) -> bool:
    """Return whether the result and each operand that has ``v`` have an array over it, in which strips are located."""
    if is_complex(problem.result.dtype) or any(v == d.var or v in d.needs for d in problem.view.derived):
        return False  # C compilers do not vectorize such loops over complex numbers
    stored = (*term.distinct_accesses, problem.target)
    levels = [level for a in stored for u, level in types[a.tensor].levels_of(a) if u == v]
    return all(u.row_major for u in levels)


def in_registers(negative: bool, term: Expr, nest: LoopOrder, op: str | None, draft: Draft) -> Stmt | None:
    """Return a nest that accumulates in a small workspace, which is stored once; None if that would be large.

    Without it, the result would be read and written in each iteration of the reduction. The workspace holds either the
    inside of a block, whose size is known, or a register strip of a dense level. For strips, loops over them are put
    around the reduction, which is repeated for each. Strips pay if the reduction is one loop: the body of several
    nested loops may be much work.
    """
    problem = draft.problem
    if (loops := register_loops(problem, draft.types, term, nest.order)) is None:
        return None
    if loops.small:
        stmt = _in_workspace(negative, term, nest, op, loops, draft)
    else:
        # Cut the loop of the result into strips, and give the workspace the size of one.
        (v,) = loops.inner
        lanes = problem.variant.has_lanes
        names = draft.fresh(f"{v}_strip"), draft.fresh(f"{v}_inside")
        strips = RegisterStrips(v, *names, OF_LANES if lanes else WIDTHS, lanes)
        with draft.inside(strips):
            stmt = _in_workspace(negative, term, nest, op, loops, draft)
        stmt = Forall(strips.outer, _within(stmt, strips))
    what = "blocks" if loops.small else "strips"
    over = ", ".join(loops.inner)
    draft.notes.append(f"{what} of {problem.target.tensor} over {over} are accumulated in registers")
    return foralls(loops.outer, stmt)


def _in_workspace(
    negative: bool, term: Expr, nest: LoopOrder, op: str | None, loops: RegisterLoops, draft: Draft
) -> Stmt:
    """Return the reduction into a workspace over the inner loops, and its storing, without the outer loops."""
    target, dtype = draft.problem.target, draft.problem.result.dtype
    if isinstance(term, Reduce) and term.op != "add":
        w = draft.workspace(loops.inner, "dense", dtype, term.op)
        producer = foralls(nest.order, Assign(w, draft.converted(term.body, dtype), term.op))
    else:
        w = draft.workspace(loops.inner, "dense", dtype)
        producer = accumulated(False, term, nest, draft, into=w)
    # The loops outside the reduction are put around the whole statement instead.
    for _ in loops.outer:
        assert isinstance(producer, Forall)
        producer = producer.body
    return Where(foralls(loops.inner, Assign(target, draft.signed(negative, w, dtype), op)), producer)


def _within(stmt: Stmt, strips: RegisterStrips) -> Stmt:
    """Return a statement whose loops over the variable of the strips run inside one strip."""

    def inside(s: Stmt) -> Stmt | None:
        return Forall(strips.inner, s.body) if isinstance(s, Forall) and s.var == strips.var else None

    return rewrite(stmt, inside)
