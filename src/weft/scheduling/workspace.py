"""Workspaces: a row of the result, or all of it, is collected in a workspace that takes coordinates in any order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf
from typing import Literal as OneOf

from ..analysis.coordinate_sets import is_driven, is_full
from ..analysis.implicit_values import typed_implicit_value
from ..analysis.terms import foralls
from ..concrete_notation.nodes import Assign, Fill, Stmt, Where, WorkspaceKind
from ..concrete_notation.nodes import Sequence as Seq
from ..concrete_notation.values import same_value
from ..formats.append_chains import append_chains, is_appendable
from ..formats.format import level_variables
from ..index_notation.nodes import Expr, Literal, Reduce
from ..index_notation.traversal import has_reduction, outermost_reductions, replaced
from ..records import record, replace
from .cost_model import APPENDED, SORTED, leaves, nonzeros
from .draft import Draft
from .loop_orders import best_scatter, cheapest_order, loop_orders, weigh
from .loop_problem import LoopOrder, LoopProblem
from .strategy import Candidate, Strategy


@record
class ResultWorkspace(Strategy):
    """The strategy that collects a row of the result, as in products of sparse matrices, or all of it, in a workspace.

    If the result has few gaps, a workspace over all of it pays: the loops can have any order, and operands are iterated
    as they are stored.
    """

    over: OneOf["last", "all"] = "last"  # the levels of the result that the workspace is over

    rank = 2

    def propose(self, problem: LoopProblem, most: float = inf) -> Candidate | None:
        if problem.accumulating or (problem.only is None and self.over == "all"):
            return None
        best = _best_row if self.over == "last" else _best_over_all
        nests = [best(problem, negative, term, most) for negative, term in problem.terms]
        found = tuple([nest for nest in nests if nest is not None])
        return Candidate(problem, self, sum(n.cost for n in found), found) if len(found) == len(nests) else None

    def write(self, candidate: Candidate, draft: Draft) -> Stmt:
        problem, term = candidate.problem, candidate.problem.only
        variables = level_variables(problem.target, problem.result.format)
        depth = len(variables) - 1 if self.over == "last" else 0
        accumulator = problem.variant.accumulator
        kind: WorkspaceKind = "list" if accumulator == "dense" else accumulator
        if self.over == "all" or (problem.dense and not depth):
            kind = "flags"  # the whole result is iterated once anyway
        elif kind == "list" and term is not None and not has_reduction(term):
            kind = "pairs"  # only duplicates are reduced
        elif kind == "list" and _writes_whole_rows(candidate):
            kind = "whole"
        return _collected(candidate.nests, variables[:depth], variables[depth:], kind, draft)

    def sorts(self, problem: LoopProblem) -> bool:
        return self.over == "last" and len(problem.view.free_loops) == 1


def _best_over_all(problem: LoopProblem, negative: bool, term: Expr, most: float) -> LoopOrder | None:
    """Return the cheapest nest that collects all of the result; None if there is none."""
    format = problem.result.format
    if problem.variant.conversion or negative or not isinstance(term, Reduce):
        return None
    appended = append_chains(format)
    listed = bool(appended) and appended[-1].last + 1 == len(format.levels)  # no dense level below is to be filled
    if format.is_structured or not listed or not is_appendable(format):
        return None
    # Implicit entries must not change a sum. Another reduction may count them if the fill value is their value.
    absent = typed_implicit_value(term.body, problem.view.types)
    counted = problem.folds(False, term, counting=True) and same_value(problem.result.fill, absent)
    if not ((problem.additive and problem.neutral) or counted):
        return None
    nest = best_scatter(problem, term, most=most)
    if nest is None or nest.cost == inf or nest.converts:
        return None
    # A derived variable has no loop there.
    return nest if set(level_variables(problem.target, format)) <= set(nest.order) else None


def _writes_whole_rows(candidate: Candidate) -> bool:
    """Return whether loops that reach a row of an appended result write each of its coordinates."""
    problem, nest = candidate.problem, candidate.nests[0]
    if problem.only is None or not problem.additive or problem.dense or problem.view.derived:
        return False
    term = next(iter(outermost_reductions(problem.value)), problem.value)
    last = level_variables(problem.target, problem.result.format)[-1]
    below = nest.order[nest.order.index(last) :]
    term, types, _ = problem.stored_again(term, nest.converts)
    return problem.enabled("whole-rows") and all(is_full(term, v, types) for v in below)


def _sum_of_rows(problem: LoopProblem, negative: bool, term: Expr) -> Reduce | None:
    """Return the reduction whose values are collected row by row, that of duplicates included; None for no such."""
    if problem.only is not None:
        if isinstance(term, Reduce):
            # A workspace collects sparse results, and reductions in which implicit entries must be counted.
            sparse = problem.additive and not problem.dense
            return term if not negative and (sparse or problem.folds(negative, term, counting=True)) else None
        if (inner := _inner_sum(problem, term)) is not None:
            return None if problem.dense else inner
    merged = not problem.dense and any(has_reduction(term) for _, term in problem.terms)  # with what is not summed
    sorts = problem.enabled("row-sort") and _takes_any_order(problem)
    if not (problem.additive and problem.neutral and (merged or sorts)):
        return None
    return term if isinstance(term, Reduce) else Reduce("add", (), term)


def _takes_any_order(problem: LoopProblem) -> bool:
    """Return whether rows are to be sorted: some operands do not come in order, and the result needs it."""
    types = problem.view.types
    unordered = problem.variant.conversion or any(
        not level.ordered for a in problem.value.distinct_accesses for level in types[a.tensor].format.levels
    )
    return unordered and not problem.dense and all(level.ordered for level in problem.result.format.levels)


def _best_row(problem: LoopProblem, negative: bool, value: Expr, most: float) -> LoopOrder | None:
    """Return the cheapest nest that collects the last level below the reduction, the others outside; or None."""
    format, term = problem.result.format, _sum_of_rows(problem, negative, value)
    variables, appended = level_variables(problem.target, format), append_chains(format)
    # Where the levels above are appended, too, a coordinate list takes sums. It takes no other expressions.
    first = len(variables) - 1 if problem.additive else 0
    listed = bool(appended) and appended[-1].first >= first and appended[-1].last + 1 == len(variables)
    if term is None or not variables or not (problem.dense or listed):
        return None
    *outer, last = variables
    levels = [pair for a in term.distinct_accesses for pair in problem.view.types[a.tensor].levels_of(a)]
    if problem.only is None and not all(level.merges for v, level in levels if v in outer):
        return None  # the loops outside the workspaces merge the terms
    loose = frozenset((last, *term.vars))
    # The last variable can follow any loop of the reduction: a workspace takes its coordinates in any order.
    orders = [
        (*outer, *bound[: depth + 1], last, *bound[depth + 1 :])
        for bound in loop_orders(problem, term.vars, each=len(term.vars))
        for depth in range(max(len(bound), 1))
    ]
    weighed = partial(weigh, problem, term, how="workspace", loose=loose)
    best = cheapest_order(problem, term, orders, weighed, most=most)
    if best is None:
        return None
    # Every entry is copied from the workspace to the result, which costs more if it is appended.
    copied = APPENDED if appended else 1.0
    if not (isinstance(value, Reduce) or problem.variant.conversion):
        copied += SORTED
    entries = min(nonzeros(format), leaves(term, best.order, problem.view.types))
    return replace(best, cost=best.cost + copied * entries)


def _collected(
    nests: Sequence[LoopOrder], outer: Sequence[str], over: tuple[str, ...], kind: WorkspaceKind, draft: Draft
) -> Stmt:
    """Return loops over ``outer`` levels of the result around a workspace over the others, which is then appended."""
    problem = draft.problem
    target, result, terms = problem.target, problem.result, list[tuple[bool, Reduce]]()
    for (negative, part), nest in zip(problem.terms, nests, strict=True):
        value = draft.stored_for(part, nest)
        if not outermost_reductions(value):
            value = Reduce("add", (), value)  # which sums duplicates
        (term,) = outermost_reductions(value)
        terms.append((negative, term))
        gathered = f"{', '.join(over)} {'is' if len(over) == 1 else 'are'} gathered in a {kind} workspace"
        draft.notes.append(f"loop order {', '.join(nest.order)}; {gathered}")
    dtype = draft.dtype(term.body) if problem.only else result.dtype
    repeats = kind == "pairs" and not all(draft.types[a.tensor].format.is_unique for a in term.distinct_accesses)
    w = draft.workspace(over, kind, dtype, term.op, repeats)
    producers = tuple(
        [
            foralls(nest.order[len(outer) :], Assign(w, draft.signed(negative, each.body, dtype), each.op))
            for (negative, each), nest in zip(terms, nests, strict=True)
        ]
    )
    computed = replaced(value, term, w) if problem.only else w
    consumer = foralls(over, Assign(target, draft.converted(computed, result.dtype)))
    stmt: Stmt = Where(consumer, producers[0] if problem.only else Seq(producers))
    if not problem.dense:
        return foralls(outer, stmt)
    # A dense result is filled outside the first loop that does not visit every coordinate.
    full = next((n for n, v in enumerate(outer) if not is_full(term, v, draft.types)), len(outer))
    filled = Seq((Fill(target, result.fill), foralls(outer[full:], stmt)))
    return foralls(outer[:full], filled)


def _inner_sum(problem: LoopProblem, term: Expr) -> Reduce | None:
    """Return the only sum inside an expression whose value is the fill value wherever the sum has no entries.

    The expression is computed from the collected sums alone: only their coordinates are appended, and room is only
    made for these. Arrays and numbers may stand beside the sum if no value of theirs is left where the sum is absent.
    """
    sums = outermost_reductions(term)
    if isinstance(term, Reduce) or len(sums) != 1 or sums[0].op != "add" or has_reduction(sums[0].body):
        return None
    (inner,) = sums
    others = replaced(term, inner, Literal(0)).distinct_accesses
    located = all(problem.view.types[a.tensor].format.is_dense for a in others)
    absent = [typed_implicit_value(e, problem.view.types) for e in (inner.body, term)]
    skipped = same_value(absent[0], 0) and same_value(absent[1], problem.result.fill)
    return inner if located and skipped and is_driven(term, {inner}, problem.view.types) else None
