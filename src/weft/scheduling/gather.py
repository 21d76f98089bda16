"""Gathering: loops over the result outside, and each reduction into a scalar inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import permutations
from math import factorial, inf, prod

from ..analysis.terms import foralls, nested, outside_reductions
from ..analysis.verdicts import Visit
from ..concrete_notation.nodes import Assign, Fill, Forall, Stmt, Where
from ..concrete_notation.traversal import assignments, result_of
from ..formats import TensorType
from ..index_notation.nodes import Access, Apply, Expr, Reduce
from ..index_notation.traversal import accesses, bound_variables, outermost_reductions, without_reductions
from ..optimiser.rules import Facts, hoisted_factors, in_form
from ..records import replace
from .cost_model import APPENDED, RUNS, cost, iterations
from .draft import Draft
from .loop_orders import can_store_again, cheapest_order, loop_orders, price_of, verdicts_for, weigh
from .loop_problem import LoopOrder, LoopProblem
from .strategy import Candidate, Strategy


class Gather(Strategy):
    """The strategy, always possible, with free variables outside and every reduction inside, in a scalar workspace."""

    rank = 0

    def propose(self, problem: LoopProblem, most: float = inf) -> Candidate | None:
        # Several terms that are added to a result have nests of their own, if they can: that is a scatter.
        if problem.accumulating and len(problem.terms) > 1 and problem.additive:
            return None
        # The orders of the bound variables multiply the number of nests.
        many = factorial(max((len(bound_variables(r)) for r in outermost_reductions(problem.value)), default=0))
        orders = [
            free
            for free in loop_orders(problem, problem.view.free_loops, each=many)
            if (problem.dense or problem.follows_result(free))
            # A coordinate of the result must not follow from what is reduced over.
            and problem.depth_of_result((*free, *problem.bound)) <= len(free)
        ]
        best = cheapest_order(problem, problem.value, orders, partial(_weigh, problem), most=most)
        if best is None:
            return None
        return Candidate(problem, self, best.cost + _price_of_entries(problem), (best,))

    def write(self, candidate: Candidate, draft: Draft) -> Stmt:
        problem, (nest,) = candidate.problem, candidate.nests
        free = nest.order[: len(problem.view.free_loops)]
        draft.notes.append(f"loop order {', '.join(nest.order) or '(none)'}; reductions gathered in scalars")
        stored = draft.stored_for(problem.value, nest)
        producers: list[Stmt] = []
        hoists = problem.enabled("factor-hoisting")
        value = (
            in_form(stored, hoisted_factors, Facts(draft.dtype, draft.types, loops=draft.loops_of))
            if hoists
            else stored
        )
        value = _in_scalars(value, nest.order, producers, draft)
        stmt = Assign(problem.target, draft.converted(value, problem.result.dtype), problem.view.assignment.op)
        return draft.filled(_around(stmt, free, producers, draft), free, stored)


def _price_of_entries(problem: LoopProblem) -> float:
    """Return the cost of appending an entry for each coordinate of the loops outside, also where a sum is empty.

    Only expressions around a reduction pay it: for a reduction alone, loops over its entries are cheaper in any case.
    """
    if (
        problem.dense
        or problem.only is None
        or isinstance(problem.only, Reduce)
        or not outermost_reductions(problem.only)
    ):
        return 0.0
    extents = iterations(problem.value, problem.view.types)
    return APPENDED * prod(extents.get(v, 1.0) for v in problem.view.free_loops)


# -- the cost of one order ------------------------------------------------------------------------------------------
def _weigh(problem: LoopProblem, free: tuple[str, ...]) -> LoopOrder | None:
    """Return the cheapest nest with these loops outside; None if it needs a conversion that cannot be made."""
    value, dense = problem.value, problem.dense
    # Nested reductions are weighed as one reduction over all of their variables.
    reductions, bare = outermost_reductions(value), outside_reductions(value)
    flat = (
        [Reduce(r.op, bound_variables(r), without_reductions(r)) for r in reductions] if nested(value) else reductions
    )
    # A lone reduction into a dense result sums entries one by one, and a copy writes them in place. Anything else
    # merges operands.
    how: Visit = "gather" if dense and len(flat) == 1 and bare is None else "merge"
    if dense and isinstance(value, Access):
        how = "place"
    entered = {} if bare is None and len(reductions) == 1 else iterations(value, problem.view.types)
    outside = {v: n for v, n in entered.items() if v in free}
    order, total = list(free), 0.0
    # Each reduction has loops of its own, inside those free ones that change it.
    for merged, as_is in zip(flat, reductions, strict=True):
        inner = _best_reduction(problem, merged, as_is, free, how, outside)
        order += [v for v in inner.order if v not in order]  # sums that share a variable have a loop each
        total += inner.cost
    # Sums of duplicates need the ends of runs of equal coordinates.
    above = (u for a in value.distinct_accesses for u in problem.view.types[a.tensor].format.levels[:-1])
    if flat and any(not level.unique for level in above):
        total *= RUNS
    total += cost(bare if bare is not None else value, free, problem.view.types) if entered else 0.0
    # Conversions are priced for the whole nest, whose loops decide which operands do not fit.
    nest = LoopOrder(tuple(order), total, verdicts_for(problem, value, order, how))
    if not can_store_again(problem, nest.converts, order):
        return None
    # Without reductions the nest is weighed as a whole. Beside a reduction, operands outside it pay for their own
    # conversions.
    if not flat:
        return weigh(problem, value, free, how, problem.target if dense else None)
    if bare is not None:
        nest = replace(nest, cost=total + price_of(problem, nest.verdicts, bare.distinct_accesses))
    return nest


def _best_reduction(
    problem: LoopProblem, flat: Reduce, as_is: Reduce, free: Sequence[str], how: Visit, entered: Mapping[str, float]
) -> LoopOrder:
    """Return the cheapest loops of one reduction, inside those free loops that change it.

    The mapping ``entered`` has the number of times that the free loops run. Nested reductions are merged in ``flat``,
    and still separate in ``as_is``.
    """
    within = nested(as_is)
    changing = problem.loops_of(flat)
    around = tuple(free[: max((n + 1 for n, v in enumerate(free) if v in changing), default=0)])
    bounds = loop_orders(problem, flat.vars, each=factorial(len(problem.view.free_loops)))
    orders = [b for b in bounds if all(_comes_after(outer, inner, b, problem) for outer, inner in within)]
    if not orders:
        # The order of the paths may not respect the nesting: then any permutation that does will do.
        every = permutations(flat.vars)
        orders = [next(b for b in every if all(_comes_after(outer, inner, b, problem) for outer, inner in within))]

    def nest_of(order: tuple[str, ...]) -> LoopOrder:
        nest = weigh(problem, flat, order, how, entered=entered)
        # Replace the cost of the merged loops by that of the nested ones.
        return _weighed_as_nested(problem, nest, flat, as_is, around, entered) if nests else nest

    nests = bool(outermost_reductions(as_is.body))
    best = cheapest_order(problem, flat, [(*around, *b) for b in orders], nest_of)
    assert best is not None  # there is no bound of its cost
    return best


def _weighed_as_nested(
    problem: LoopProblem, nest: LoopOrder, flat: Reduce, as_is: Reduce, around: Sequence[str],
    entered: Mapping[str, float],
) -> LoopOrder:  # fmt: skip
    """Return a nest of merged reductions with the cost of the nested ones."""
    merged, types, _ = problem.stored_again(flat, nest.converts)
    apart, _, _ = problem.stored_again(as_is, nest.converts)
    assert isinstance(apart, Reduce)
    nested_cost = _cost_of_nested(problem, apart, around, nest.order, types, entered)
    return replace(nest, cost=nest.cost + (nested_cost - cost(merged, nest.order, types, entered=entered)))


def _cost_of_nested(
    problem: LoopProblem, reduction: Reduce, around: Sequence[str], order: Sequence[str],
    types: Mapping[str, TensorType], entered: Mapping[str, float],
) -> float:  # fmt: skip
    """Return the iterations of a reduction and of those inside it, each in the loops that it depends on."""
    loops = tuple(v for v in order if v in {*around, *reduction.vars})
    inside = outermost_reductions(reduction.body)
    bare = outside_reductions(reduction.body)
    total = cost(bare, loops, types, entered=entered) if bare is not None else 0.0
    for r in inside:
        needed = problem.loops_of(r)
        total += _cost_of_nested(problem, r, tuple(v for v in loops if v in needed), order, types, entered)
    return total if inside else cost(reduction, loops, types, entered=entered)


def _comes_after(outer: Reduce, inner: Reduce, order: Sequence[str], problem: LoopProblem) -> bool:
    """Return whether a reduction inside another has its loops inside, if it depends on that one's variables."""
    if not _depends_on(inner, outer, problem.loops_of):
        return True
    place = {v: n for n, v in enumerate(order)}
    return all(place[v] < place[w] for v in outer.vars for w in inner.vars if v in place and w in place)


def _depends_on(inner: Reduce, outer: Reduce, loops_of: Callable[[Expr], set[str]]) -> bool:
    """Return whether the inner reduction depends on the variables of the outer one."""
    return bool(loops_of(inner) & set(outer.vars))


# -- the statement --------------------------------------------------------------------------------------------------
def _around(stmt: Stmt, free: Sequence[str], producers: Sequence[Stmt], draft: Draft) -> Stmt:
    """Return a statement in loops, with the producer of each scalar inside the innermost loop that changes it."""
    depths: dict[str, int] = {}
    for producer in reversed(producers):  # later producers compute the scalars that earlier ones read
        # The producer goes inside the loops of its operands, and not outside another producer that it reads.
        operands = [a for s in assignments(producer) for a in accesses(s.value)]
        loops = {v for a in operands for v in draft.loops_of(a)}
        inside = max((n + 1 for n, v in enumerate(free) if v in loops), default=0)
        depth_of_reads = max((depths[a.tensor] for a in operands if a.tensor in depths), default=0)
        depths[result_of(producer).target.tensor] = max(inside, depth_of_reads)
    for depth in range(len(free), -1, -1):
        stmt = _after(stmt, [p for p in producers if depths[result_of(p).target.tensor] == depth])
        stmt = Forall(free[depth - 1], stmt) if depth else stmt
    return stmt


def _in_scalars(
    expr: Expr, order: Sequence[str], producers: list[Stmt], draft: Draft,
    around: tuple[tuple[Reduce, list[Stmt]], ...] = (),
) -> Expr:  # fmt: skip
    """Return an expression whose reductions are scalar workspaces.

    Their producers are added to ``producers``, the first to run last. A nested reduction is computed in the loops of
    the innermost reduction that it depends on. Each pair in ``around`` is such an outer reduction and the list of the
    statements in its loops.
    """
    match expr:
        case Reduce(op=op, vars=vars, body=body):
            # Leave reductions that do not change this one: it is computed outside their loops.
            while around and not _depends_on(expr, around[-1][0], draft.loops_of):
                around = around[:-1]
            home = around[-1][1] if around else producers
            place, inside = len(home), list[Stmt]()
            dtype = draft.dtype(body)
            t = draft.workspace((), "scalar", dtype, op)
            home.append(Fill(t, 0))  # placeholder: scalars that this one reads come later in the list
            body = _in_scalars(body, order, producers, draft, (*around, (expr, inside)))
            assign = Assign(t, draft.converted(body, dtype), op)
            home[place] = foralls([v for v in order if v in vars], _after(assign, inside))
            return t
        case Apply(op=op, args=args):
            return Apply(op, tuple(_in_scalars(arg, order, producers, draft, around) for arg in args))
    return expr


def _after(stmt: Stmt, producers: Sequence[Stmt]) -> Stmt:
    """Return a statement with the producers of its workspaces around it, the first one innermost."""
    for producer in producers:
        stmt = Where(stmt, producer)
    return stmt
