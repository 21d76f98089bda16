"""Coordinate lists: coordinates and values are appended in the order in which they are computed, and sorted later."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from ..analysis.iteration_graph import places
from ..analysis.terms import foralls
from ..analysis.verdicts import Visit
from ..concrete_notation.nodes import Assign, Stmt, Where
from ..concrete_notation.nodes import Sequence as Seq
from ..formats import TensorType
from ..formats.append_chains import coordinate_list_format, is_unordered_list
from ..formats.format import level_variables
from ..index_notation.nodes import Expr, Reduce
from ..remapping import Remapping
from .cost_model import CONVERT, PLACED, leaves
from .draft import Draft
from .loop_orders import cheapest_order, loop_orders, weigh
from .loop_problem import LoopOrder, LoopProblem
from .strategy import Candidate, Strategy


class CoordinateList(Strategy):
    """The strategy that appends coordinates and values, a nest for each term; a conversion then sorts and sums them."""

    rank = 3
    adds_up = True

    def propose(self, problem: LoopProblem, most: float = inf) -> Candidate | None:
        terms = problem.terms
        if problem.dense or not problem.additive or not problem.result.format.order:
            return None
        if not (problem.variant.conversion or problem.neutral):
            return None
        nests = tuple([nest for _, t in terms if (nest := _best(problem, t, most)) is not None])
        if len(nests) < len(terms):
            return None
        placed = sum(_price_of_places(problem, t, nest) for (_, t), nest in zip(terms, nests, strict=True))
        return Candidate(problem, self, sum(n.cost for n in nests) + placed, nests)

    def write(self, candidate: Candidate, draft: Draft) -> Stmt:
        pairs = zip(candidate.problem.terms, candidate.nests, strict=True)
        stmts = tuple(_appended(negative, term, nest, draft) for (negative, term), nest in pairs)
        return stmts[0] if len(stmts) == 1 else Seq(stmts)

    def writes(self, problem: LoopProblem) -> TensorType:
        type, listed = problem.result, coordinate_list_format(Remapping.identity(problem.result.format.order))
        return type if is_unordered_list(type.format) else TensorType.of(type.dtype, listed, "int64", type.fill)


def _best(problem: LoopProblem, term: Expr, most: float) -> LoopOrder | None:
    """Return the cheapest nest that appends coordinates in order; a reduction inside the last variable comes first."""

    def visit(order: Sequence[str]) -> Visit:
        return "scatter" if not order or order[-1] in problem.view.free_loops else "gather"

    bound = term.vars if isinstance(term, Reduce) else ()
    orders = list(loop_orders(problem, problem.view.free_loops, bound, each=len(problem.terms)))
    if problem.variant.conversion:  # each coordinate is to come once
        summed = set(bound).difference(d.var for d in problem.view.derived)
        if not problem.variant.converts_operands:  # a coordinate has one number among those of its row
            summed = {v for v in summed if not v.startswith("#")}
        if summed:
            orders = [o for o in orders if summed.isdisjoint(o[: problem.depth_of_result(o)])] or orders
    # Where values of one parent must be contiguous, its loops are outermost.
    first = problem.outermost_to_add or ()
    orders = [order for order in orders if order[: len(first)] == first] or orders

    def cost_of(nest: LoopOrder) -> float:
        return nest.cost + (0.0 if problem.outermost_to_add is None else _price_of_places(problem, term, nest))

    return cheapest_order(problem, term, orders, lambda order: weigh(problem, term, order, visit(order)), cost_of, most)


def _price_of_places(problem: LoopProblem, term: Expr, nest: LoopOrder) -> float:
    """Return the cost of sorting or inserting the values of a nest into the result."""
    if nest.cost == inf:
        return 0.0
    term, types, _ = problem.stored_again(term, nest.converts)
    first = problem.outermost_to_add
    if first is None or nest.order[: len(first)] != first:
        # A coordinate list must be sorted afterwards: each entry costs as much as in a conversion.
        return CONVERT * leaves(term, nest.order, types)
    # A position is looked for once, where the coordinates of the levels that do not compute theirs are known.
    found = [k for k, level in enumerate(problem.wanted.levels) if level.roles or level.placing != "get"]
    wanted = level_variables(problem.target, problem.wanted)[: 1 + max(found, default=-1)]
    place = places(nest.order, problem.view.derived)
    depth = 1 + max((place.get(v, len(nest.order) - 1) for v in wanted), default=-1)
    return PLACED * leaves(term, nest.order[:depth], types) + leaves(term, nest.order, types)


def _appended(negative: bool, term: Expr, nest: LoopOrder, draft: Draft) -> Stmt:
    """Return the nest that appends the values of one term."""
    problem = draft.problem
    draft.notes.append(f"loop order {', '.join(nest.order)}; appends to a coordinate list")
    term = draft.stored_for(term, nest)
    body = term.body if isinstance(term, Reduce) else term
    # Reductions inside the last free variable are summed first, so that a coordinate is appended once.
    depth = problem.depth_of_result(nest.order)
    outer, inner = nest.order[:depth], nest.order[depth:]
    if not inner:
        return foralls(outer, Assign(problem.target, draft.signed(negative, body, problem.result.dtype)))
    dtype = draft.dtype(body)
    t = draft.workspace((), "scalar", dtype)
    producer = foralls(inner, Assign(t, draft.converted(body, dtype), "add"))
    consumer = Assign(problem.target, draft.signed(negative, t, problem.result.dtype))
    return foralls(outer, Where(consumer, producer))
