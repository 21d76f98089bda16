"""Loop orders: those that a problem allows, what must be stored another way for each, and the cost of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from math import factorial, inf, prod
from operator import attrgetter
from typing import Any, TypeAlias

from ..analysis.implicit_values import typed_implicit_value
from ..analysis.iteration_graph import constraints
from ..analysis.verdicts import Verdict, Visit, verdicts
from ..concrete_notation.values import same_value
from ..formats import Format
from ..formats.format import level_variables
from ..index_notation.nodes import Access, Expr, Reduce
from ..records import replace
from .cost_model import (
    DIMENSION,
    HELD,
    MISPLACED,
    NOTHING,
    SHARED,
    STRIDED,
    TRANSPOSE,
    VECTORS,
    cost,
    is_strided,
    misplaced,
    nonzeros,
    passed_in_strides,
    price,
    restarts,
)
from .loop_problem import LoopOrder, LoopProblem, is_one_loop
from .operand_conversions import found_by_coordinate, reordered, segment_copy

_EXHAUSTIVE = 720
"""Largest number of nests for which all loop orders are tried: that of six variables."""

# Verdicts for views of several formats of a result, for several strategies, and for similar assignments are the same.
_known: dict[Any, Mapping[Access, Verdict]] = {}
_MANY = 4096

_AGAIN_AND_AGAIN = Verdict("convert", "loops {loops} would walk all of {tensor} in {format}")
_NEVER = Verdict("convert")
_ACROSS = Verdict("convert", "loops {loops} would pass across {tensor} in {format}")


def loop_orders(
    problem: LoopProblem, free: Sequence[str], bound: Sequence[str] = (), each: int = 1
) -> Iterator[tuple[str, ...]]:
    """Yield all permutations of few variables, and for many the paths of the operands and of the result."""
    variables = (*free, *bound)
    if factorial(len(variables)) * each <= _EXHAUSTIVE:
        yield from permutations(variables)
        return
    orders = {variables: None}
    # A path is tried outside all other loops, and inside them.
    for access in (problem.target, *problem.value.distinct_accesses):
        levels = level_variables(access, problem.view.types[access.tensor].format)
        path = [v for v in dict.fromkeys(levels) if v in variables]
        others = [v for v in variables if v not in path]
        orders |= {(*path, *others): None, (*others, *path): None}
    yield from orders


# -- operands that are stored another way ---------------------------------------------------------------------------
def can_store_again(problem: LoopProblem, operands: Iterable[Access], order: Sequence[str]) -> bool:
    """Return whether operands can be stored another way for a loop order.

    A structured operand that is kept cannot be stored in another order of its levels. An index without a loop cannot be
    ordered.
    """
    for a in operands:
        if a.tensor in problem.as_stored or not problem.variant.converts_operands or not {*order}.issuperset(a.indices):
            return False
    return True


_Bounds: TypeAlias = list[tuple[tuple[tuple[str, str], ...], float]]


def _bounds(problem: LoopProblem, expr: Expr) -> _Bounds:
    """Return which loops each operand needs one inside the other, and the price of storing it again where they are not.

    The price is infinite for an operand that cannot be stored again.
    """
    bounds: _Bounds = []
    for a in expr.distinct_accesses:
        format = problem.view.types[a.tensor].format
        if needed := constraints(a, format):
            bounds.append((needed, inf if a.tensor in problem.as_stored else price(format)))
    return bounds


def _least(bounds: _Bounds, order: Sequence[str]) -> float:
    """Return a lower bound of the cost of an order: that of storing operands again."""
    place, least = {v: n for n, v in enumerate(order)}, 0.0
    for needed, price_of_operand in bounds:
        for above, below in needed:
            if above in place and below in place and place[above] > place[below]:
                least += price_of_operand
                break
    return least


def cheapest_order(
    problem: LoopProblem,
    expr: Expr,
    orders: Iterable[tuple[str, ...]],
    nest_of: Callable[[tuple[str, ...]], LoopOrder | None],
    cost_of: Callable[[LoopOrder], float] = attrgetter("cost"),
    most: float = inf,
) -> LoopOrder | None:
    """Return the first of the cheapest nests; None if a bound says of all orders that they cost more than ``most``.

    Orders of which the bound says that they are not the cheapest are not weighed.
    """
    chosen, least, place = None, inf, -1
    bounds = _bounds(problem, expr)
    for bound, n, order in sorted([(_least(bounds, order), n, order) for n, order in enumerate(orders)]):
        if bound * HELD > (most if chosen is None else min(least, most)):
            break
        if (nest := nest_of(order)) is not None:
            cost = cost_of(nest)
            if chosen is None or (cost, n) < (least, place):
                chosen, least, place = nest, cost, n
    return chosen


def verdicts_for(
    problem: LoopProblem, expr: Expr, order: Sequence[str], how: Visit, loose: frozenset[str] = frozenset()
) -> Mapping[Access, Verdict]:
    """Return what loops do with each operand, with the new formats of those that must be stored another way.

    A new format of one operand may make the loops iterate another one many times, which then needs a new format, too.
    """
    key = (problem.number_of(expr), tuple(order), how, loose)
    if (judged := _known.get(key)) is None:
        if len(_known) >= _MANY:
            _known.clear()
        judged = _known[key] = _verdicts_for(problem, expr, order, how, loose)
    return judged


def _verdicts_for(
    problem: LoopProblem, expr: Expr, order: Sequence[str], how: Visit, loose: frozenset[str]
) -> Mapping[Access, Verdict]:
    formats: dict[Access, Format] = {}
    verdicts: dict[Access, Verdict] = {}
    while True:
        for a, verdict in _judged(problem, expr, order, how, formats, loose):
            if verdict.format is not None and a not in formats:
                verdicts.pop(a, None)  # conversions come in the order in which they are found to be needed
            verdicts[a] = verdict
        again = {a: v.format for a, v in verdicts.items() if v.format is not None}
        if again == formats or not can_store_again(problem, again, order):
            return verdicts
        formats = again


def _judged(
    problem: LoopProblem, expr: Expr, order: Sequence[str], how: Visit, formats: Mapping[Access, Format],
    loose: frozenset[str],
) -> Iterator[tuple[Access, Verdict]]:  # fmt: skip
    """Yield the verdicts on operands, some of which have new formats already.

    Those are yielded again only if they would be iterated many times.
    """
    variant, into = problem.variant, problem.result.dtype
    stored, types, origins = problem.stored_again(expr, formats)
    judged = verdicts(stored, order, types, how, problem.view.derived, variant.conversion, loose, dtype=into)
    unread = [a for new, v in judged.items() if v.use == "convert" and (a := origins.get(new, new)) not in formats]
    # Most orders are impossible: they suit no operand that cannot be stored again, whatever is said on others.
    if (never := next((a for a in unread if not can_store_again(problem, (a,), order)), None)) is not None:
        yield never, replace(_NEVER, format=problem.view.types[never.tensor].format)
        return
    for new, verdict in judged.items():
        a = origins.get(new, new)
        # First case: the loops cannot read the operand as it is stored.
        if a in unread:
            copy = segment_copy(problem, stored, new, order, types, how, verdict)
            yield a, copy or replace(verdict, format=stored_as(problem, a, order))
            continue
        if a not in formats:
            yield a, verdict
        if not variant.stores_again or not set(a.indices) <= set(order):
            continue  # an index without a loop gives an operand no order
        # Second case: the loops would iterate its outermost level many times, so that its coordinates are better
        # located. For a vector, this pays only if it has many entries, which the variant says. Third case: they would
        # pass it in strides.
        if (variant.hash_lookup or len(new.indices) > 1) and restarts(stored, new, order, types) is not None:
            format = found_by_coordinate(formats.get(a) or stored_as(problem, a, order), variant.no_dense_levels)
            if format != formats.get(a) and can_store_again(problem, (*formats, a), order):
                yield a, replace(_AGAIN_AND_AGAIN, format=format)
        elif a not in formats and passed_in_strides(stored, new, order, types):
            yield a, replace(_ACROSS, format=stored_as(problem, a, order))


def stored_as(problem: LoopProblem, access: Access, order: Sequence[str]) -> Format:
    """Return the format in which an operand follows the loops."""
    place = {v: n for n, v in enumerate(order)}
    format = problem.view.types[access.tensor].format
    return reordered(format, tuple(sorted(range(format.order), key=lambda axis: place[access.indices[axis]])))


def price_of(problem: LoopProblem, judged: Mapping[Access, Verdict], among: Collection[Access]) -> float:
    """Return the cost of storing those operands another way that loops do not read as they are stored."""
    verdicts = [(a, verdict) for a, verdict in judged.items() if verdict.format is not None and a in among]
    return sum(price(problem.view.types[a.tensor].format) if v.price is None else v.price for a, v in verdicts)


# -- the cost of one order ------------------------------------------------------------------------------------------
def weigh(
    problem: LoopProblem, expr: Expr, order: tuple[str, ...], how: Visit = "merge", into: Access | None = None,
    entered: Mapping[str, float] = NOTHING, loose: frozenset[str] = frozenset(),
) -> LoopOrder:  # fmt: skip
    """Return a loop order with its cost, infinite if a needed conversion is impossible."""
    if problem.as_stored and _least(_bounds(problem, expr), order) == inf:
        return LoopOrder(order, inf, {})
    judged = verdicts_for(problem, expr, order, how, loose)
    converts = {a: verdict.format for a, verdict in judged.items() if verdict.format is not None}
    if not can_store_again(problem, converts, order):
        return LoopOrder(order, inf, judged)
    stored, types, _ = problem.stored_again(expr, converts)
    total = cost(stored, order, types, into, entered)
    # Operands may have more entries than is typical of their converted formats.
    if converts:
        held = [(nonzeros(problem.view.types[a.tensor].format), nonzeros(format)) for a, format in converts.items()]
        total *= prod(max(was / now, 1.0) for was, now in held)
    # A conversion reads each value once, so that the order in which it brings values matters more.
    factor = STRIDED if problem.variant.conversion else MISPLACED
    # A conversion had better have the entries of a row one after the other, and a device a thread for each row.
    by_rows, numbered, times = problem.variant.conversion or problem.variant.has_lanes, False, 0
    for a in stored.distinct_accesses:
        format = types[a.tensor].format
        times += misplaced(a, order, format)
        if by_rows and order and any(level.counts for level in format.levels):
            numbered |= any(level.counts and v == order[0] for v, level in types[a.tensor].levels_of(a))
    total *= factor**times * (STRIDED if numbered else 1.0)
    return LoopOrder(order, total + price_of(problem, judged, converts), judged)


def weigh_scatter(problem: LoopProblem, term: Expr, order: tuple[str, ...]) -> LoopOrder:
    """Return a nest that accumulates into the result, with its cost.

    If there is one reduced loop around an innermost free one, the nest accumulates into register strips. The result is
    then not written in the innermost loop.
    """
    # Strips need free loops outside, then one reduced loop, then one free loop.
    free, bound = problem.view.free_loops, term.vars if isinstance(term, Reduce) else ()
    first, last = next((n for n, v in enumerate(order) if v in bound), 0), order[-1] if order else ""
    reduced = order[first:-1]
    if not (first and set(reduced) <= set(bound) and last in free and is_one_loop(reduced, term, problem.view.types)):
        return weigh(problem, term, order, "scatter", problem.target)
    nest = weigh(problem, term, order, "scatter")
    if len(reduced) > 1:
        nest = replace(nest, cost=nest.cost * HELD)
    if is_strided(problem.target, last, problem.result.format):
        nest = replace(nest, cost=nest.cost + TRANSPOSE * DIMENSION ** len(free))
    return nest


def best_scatter(problem: LoopProblem, term: Expr, terms: int = 1, most: float = inf) -> LoopOrder | None:
    """Return the cheapest nest that accumulates a term into the result; None if it would cost more than ``most``."""
    free, bound = problem.view.free_loops, term.vars if isinstance(term, Reduce) else ()
    absent = typed_implicit_value(term.body, problem.view.types) if isinstance(term, Reduce) and term.op == "add" else 0
    visits_all = not same_value(absent, 0)

    def nest_of(order: tuple[str, ...]) -> LoopOrder:
        nest = weigh_scatter(problem, term, order)
        # Threads can share the loops only if the outermost one is over the result.
        if problem.variant.parallel_loops and not (order[:1] and order[0] in free):
            nest = replace(nest, cost=nest.cost * SHARED)
        # Implicit entries are added, too: every loop visits all coordinates.
        return replace(nest, cost=max(nest.cost, DIMENSION ** len(order) * VECTORS)) if visits_all else nest

    return cheapest_order(problem, term, loop_orders(problem, free, bound, each=terms), nest_of, most=most)


def scanned_again(problem: LoopProblem, nests: Sequence[LoopOrder]) -> tuple[tuple[str, str], ...]:
    """Return vectors that are iterated many times, each with the operand whose coordinates cause the iterations."""
    vectors = []
    for nest in nests:
        value, types, origins = problem.stored_again(problem.value, nest.converts)
        for a in value.distinct_accesses:
            other = restarts(value, a, nest.order, types) if len(a.indices) == 1 else None
            if other is not None:
                names = [origins.get(x, x).tensor for x in (a, other)]
                vector, driver = (problem.origins.get(name, name) for name in names)
                vectors.append((vector, driver))
    return tuple(dict.fromkeys(vectors))
