"""Scattering: loops over the reductions outside, each value reduced into an element of a result with random access."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from math import inf

import numpy as np

from ..analysis.coordinate_sets import is_full
from ..analysis.implicit_values import implicit_value
from ..analysis.iteration_graph import level_iterators
from ..analysis.terms import foralls
from ..concrete_notation.nodes import Assign, Fill, Forall, Stmt
from ..concrete_notation.nodes import Sequence as Seq
from ..concrete_notation.values import UNKNOWN, is_constant
from ..formats.append_chains import append_chains
from ..formats.format import level_variables
from ..index_notation.nodes import Access, Apply, Expr, Reduce
from ..index_notation.operator_table import OPERATORS
from ..records import replace
from .accumulate import accumulated, in_registers, register_loops
from .draft import Draft
from .loop_orders import best_scatter, cheapest_order, loop_orders, weigh, weigh_scatter
from .loop_problem import LoopOrder, LoopProblem
from .strategy import Candidate, Strategy


class Scatter(Strategy):
    """The strategy in which each additive term has its own nest that accumulates into a dense result.

    A lone reduction by another operator than addition is accumulated, too. Implicit entries that matter to it are
    counted.
    """

    rank = 1

    def propose(self, problem: LoopProblem, most: float = inf) -> Candidate | None:
        if not problem.dense:
            return None
        if not problem.additive:
            nests: Sequence[LoopOrder | None] = _best_fold(problem)
        elif not (problem.neutral or _is_sum_and_constant(problem)) or _adds_nothing(problem):
            return None
        else:
            nests = tuple([best_scatter(problem, t, len(problem.terms), most) for _, t in problem.terms])
        possible = tuple([nest for nest in nests if nest is not None])
        if not nests or len(possible) < len(nests):
            return None
        return Candidate(problem, self, sum(n.cost for n in possible) + len(possible), possible)

    def write(self, candidate: Candidate, draft: Draft) -> Stmt:
        problem, nests = candidate.problem, candidate.nests
        negative, term = problem.terms[0]
        by = f"{term.op} " if isinstance(term, Reduce) and term.op != "add" else "accumulates "
        for nest in nests:
            draft.notes.append(f"loop order {', '.join(nest.order)}; {by}into {problem.target.tensor}")
        if not problem.additive:
            return _folded(term, nests[0], draft)
        if problem.only is not None and not problem.accumulating:
            return _filled_inside(negative, term, nests[0], draft)
        return _sum_of_terms(nests, draft)

    def accumulates(self, problem: LoopProblem) -> bool:
        return problem.additive


class BlockScatter(Scatter):
    """The strategy with appended levels outside, in order, that adds to the dense block below each coordinate."""

    def propose(self, problem: LoopProblem, most: float = inf) -> Candidate | None:
        term, format = problem.only, problem.result.format
        if problem.dense or not problem.additive or not isinstance(term, Reduce) or not problem.neutral:
            return None
        variables, appended = level_variables(problem.target, format), append_chains(format)
        if not appended or appended[-1].last + 1 == len(variables) or term.op != "add":
            return None
        # Below the appended levels, the loops may have any order.
        outer, inner = variables[: appended[-1].last + 1], variables[appended[-1].last + 1 :]
        orders = ((*outer, *order) for order in loop_orders(problem, inner, term.vars))
        nest = cheapest_order(problem, term, orders, partial(weigh, problem, term), most=most)
        return None if nest is None else Candidate(problem, self, nest.cost, (nest,))


def _is_sum_and_constant(problem: LoopProblem) -> bool:
    """Return whether one sum is added to a constant, which every element can start with, instead of zero."""
    others = [term for _, term in problem.terms if not isinstance(term, Reduce)]
    return len(problem.terms) == 2 and len(others) == 1 and is_constant(others[0])


def _adds_nothing(problem: LoopProblem) -> bool:
    """Return whether each element is one value: there is one term, without a sum, and no duplicates are summed."""
    term, value = problem.only, problem.value
    repeats = isinstance(value, Access) and not problem.view.types[value.tensor].format.is_unique
    return term is not None and not isinstance(term, Reduce) and not repeats


# -- reductions by other operators than addition --------------------------------------------------------------------
def _best_fold(problem: LoopProblem) -> tuple[LoopOrder, ...]:
    """Return the cheapest nest that reduces the only term by another operator, if there is one.

    Implicit entries that matter are counted: each element has had as many values as the others if the nest reduces all
    elements of a workspace at a time.
    """
    negative, term = problem.terms[0]
    if problem.only is None or problem.accumulating or not problem.folds(negative, term, counting=True):
        return ()
    if problem.folds(negative, term):
        nest = best_scatter(problem, term)
        return () if nest is None else (nest,)
    nests: list[LoopOrder] = []
    bound = term.vars if isinstance(term, Reduce) else ()
    for order in loop_orders(problem, problem.view.free_loops, bound):
        if (loops := register_loops(problem, problem.view.types, term, order)) is not None:
            nest = weigh_scatter(problem, term, order)
            moved = {v for a in nest.converts for v in a.indices}
            whole = moved.isdisjoint(loops.inner) and all(is_full(term, v, problem.view.types) for v in loops.inner)
            if whole and tuple(order) == (*loops.outer, *(v for v in order if v in bound), *loops.inner):
                nests.append(nest)
    return tuple(sorted(nests, key=lambda n: n.cost)[:1])


def _folded(term: Expr, nest: LoopOrder, draft: Draft) -> Stmt:
    """Return the nest of a reduction by another operator, into elements that start with its neutral value."""
    problem, target = draft.problem, draft.problem.target
    term = draft.stored_for(term, nest)
    assert isinstance(term, Reduce)
    # In registers, implicit entries are counted. Then only outer loops over free variables can leave elements out.
    if (stmt := in_registers(False, term, replace(nest, verdicts={}), None, draft)) is not None:
        return draft.filled(stmt, list(takewhile(lambda v: v in problem.view.free_loops, nest.order)), term)
    assert problem.folds(False, problem.terms[0][1]), "what is absent is counted in registers alone"
    value = draft.converted(term.body, problem.result.dtype)
    start = OPERATORS[term.op].start(problem.result.dtype)
    return Seq((Fill(target, start), foralls(nest.order, Assign(target, value, term.op))))


# -- sums -----------------------------------------------------------------------------------------------------------
def _filled_inside(negative: bool, term: Expr, nest: LoopOrder, draft: Draft) -> Stmt:
    """Return the nest of an accumulating term, with the result filled as deep as every coordinate is visited."""
    problem = draft.problem
    term = draft.stored_for(term, nest)
    nest = replace(nest, verdicts={})
    bound = term.vars if isinstance(term, Reduce) else ()
    variables = level_variables(problem.target, problem.result.format)
    appended = append_chains(problem.result.format)
    # The dense levels below the last appended one are filled where the loops have appended it.
    depth = appended[-1].last + 1 if appended else 0
    first = next((n for n, v in enumerate(nest.order) if v in bound), 0)
    # A register workspace stores each element once, and so needs no fill if the loops reach all elements.
    reached = depth <= first and all(is_full(term, v, draft.types) for v in nest.order[depth:first])
    if reached and (stmt := in_registers(negative, term, nest, None, draft)) is not None:
        return stmt
    # Go inside while the loops follow the levels of a dense result and visit every coordinate.
    while (
        not appended
        and depth < len(variables)
        and depth < len(nest.order)
        and nest.order[depth] == variables[depth]
        and is_full(term, variables[depth], draft.types)
    ):
        depth += 1
    inner_free = [v for v in nest.order[depth:] if v in problem.view.free_loops]
    stmt = accumulated(negative, term, nest, draft)
    # The loops assign each element exactly once: no fill is written.
    if not inner_free and depth == len(problem.view.free_loops) and not bound:
        return stmt
    outer = nest.order[:depth]
    for _ in outer:
        assert isinstance(stmt, Forall)
        stmt = stmt.body
    return foralls(outer, Seq((Fill(problem.target, 0), stmt)))


def _sum_of_terms(nests: Sequence[LoopOrder], draft: Draft) -> Stmt:
    """Return the nests of several terms, or of terms that are added to a result, one after the other."""
    problem = draft.problem
    # A term that writes every element comes first, so that it can initialize the result.
    pairs = sorted(zip(problem.terms, nests, strict=True), key=lambda pair: not _covers(pair[0][1], draft))
    terms = [t for (_, t), _ in pairs]
    stmts = [accumulated(n, t, nest, draft) for (n, t), nest in pairs]
    before: list[Stmt] = []
    if not problem.accumulating:
        negative, first = pairs[0][0]
        if _covers(first, draft):  # it writes every element, and so can initialize the result
            value = draft.converted(first, problem.result.dtype)
            value = Apply("negative", (value,)) if negative else value
            if is_constant(value):  # a fill replaces the loops of a constant
                before.append(Fill(problem.target, np.asarray(implicit_value(value, lambda a: UNKNOWN)).item()))
                stmts, terms = stmts[1:], terms[1:]
            else:
                stmts[0] = foralls(pairs[0][1].order, Assign(problem.target, value))
        else:
            before.append(Fill(problem.target, 0))
    # Nests that share their outermost loop pass over the result once.
    if (v := _shared_loop(stmts, terms, draft)) is not None:
        bodies = [s.body for s in stmts if isinstance(s, Forall)]
        if v == level_variables(problem.target, problem.result.format)[0]:
            return Forall(v, Seq((*before, *bodies)))
        stmts = [Forall(v, Seq(tuple(bodies)))]
    return stmts[0] if len(stmts) + len(before) == 1 else Seq((*before, *stmts))


def _shared_loop(stmts: Sequence[Stmt], terms: Sequence[Expr], draft: Draft) -> str | None:
    """Return the variable of the outermost loop, over all coordinates, that several nests can share, or None."""
    outermost = {s.var if isinstance(s, Forall) else None for s in stmts}
    v = outermost.pop() if len(stmts) > 1 and len(outermost) == 1 else None
    if v is None or not all(is_full(t, v, draft.types) for t in terms):
        return None
    # The shared loop merges the levels that each nest iterates; unordered levels cannot be merged.
    found = [it.format for t in terms for a in t.distinct_accesses for it in level_iterators(a, v, draft.types)]
    walked = [level for level in found if not level.has_every]
    return v if len(walked) < 2 or all(level.merges for level in walked) else None


def _covers(term: Expr, draft: Draft) -> bool:
    """Return whether a term has no reduction and reads dense operands alone, so that it writes every element."""
    reads = term.distinct_accesses
    return not isinstance(term, Reduce) and all(draft.types[a.tensor].format.is_dense for a in reads)
