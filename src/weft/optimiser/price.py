"""Prices of statements, in nanoseconds of one core, by the coordinates that their loops are expected to visit.

Only the ranking matters. The constants were measured once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from ..index_notation.nodes import Access, Apply, Expr, Reduce
from ..trees import fold
from .estimate import Estimates, Side, free_set, joined_at_most, levels_of

CONVERT = 12.0
"""Storing an entry in another order."""
MERGE = 4.0
"""Comparing coordinates of two operands that are merged."""
ENTRY = 3.0
"""Writing and reading an entry of an intermediate result."""
COLLECTED = 8.0
"""The same, where a row is collected and sorted first, as that of a product of sparse matrices is."""
KERNEL = 10_000.0
"""Calling one more kernel."""
VECTORS = 0.4
"""An operation in a loop along arrays, compared with one in other loops."""
FULL = 0.3
"""The share of coordinates from which an intermediate result is stored as an array."""
ORDERS = 6
"""Loop orders that are priced for one nest."""

_WEIGHTS = {
    "divide": 2,
    "sqrt": 2,
    "exp": 6,
    "log": 6,
    "log1p": 8,
    "expm1": 8,
    "sin": 8,
    "cos": 8,
    "tanh": 12,
    "power": 20,
}


def weight(expr: Expr) -> float:
    """Return the price of one value of an expression."""

    def of(node: Expr, below: list[float]) -> float:
        match node:
            case Apply(op=op):
                return float(_WEIGHTS.get(op, 1)) + sum(below)
            case Reduce():
                return below[0]
        return 0.0

    return max(1.0, fold(expr, of))


class Factor:
    """A factor of a product that is reduced, with bit masks of its variables."""

    __slots__ = ("convertible", "entries", "expr", "mask", "order", "side", "sparse", "strides", "terms", "weight")

    def __init__(self, expr: Expr | None, mask: int, order: tuple[int, ...], sparse: bool, entries: float = 0.0):
        self.expr, self.mask, self.sparse, self.entries = expr, mask, sparse, entries
        self.order = order  # the variables of its levels, which loops must follow
        self.weight = 1.0 if expr is None else weight(expr)
        self.strides = 0 if sparse else sum(order[:-1])  # the variables over which loops pass an array in strides
        self.convertible = sparse  # whether it can be stored in another order
        self.side: Side | None = None  # bounds of its numbers of entries, where these are known
        self.terms: list[tuple[int, ...]] = []  # the factors of each term, if they may be scanned one after the other

    @classmethod
    def of(cls, expr: Expr, bits: dict[str, int], estimates: Estimates) -> Factor:
        """Return the factor that an expression is."""
        formats = {a: estimates.types[a.tensor].format for a in expr.distinct_accesses}
        sparse = [a for a, format in formats.items() if not format.is_dense]
        names = [v for a in sparse or formats for v in levels_of(a, formats[a])]
        order = tuple(dict.fromkeys(bits[v] for v in names))
        factor = cls(expr, sum(bits[v] for v in free_set(expr)), order, bool(sparse))
        if (side := estimates.side(expr)) is not None:
            degrees = {bits[v]: numbers for v, numbers in side.degrees.items()}
            factor.side = Side(frozenset(degrees), side.entries, degrees)
        factor.convertible = isinstance(expr, Access) and bool(sparse) and len({*expr.indices}) == len(expr.indices)
        if not sparse:
            levels = [levels_of(a, f) for a, f in formats.items() if a.indices]
            strides = {v for order in levels for v in order[:-1]}
            factor.strides = sum(bits[v] for v in strides)
        return factor


class Nests:
    """Prices of nests of loops that each reduce a product, as kernels run them: with factors hoisted."""

    def __init__(
        self,
        estimates: Estimates,
        variables: Iterable[str],
        terms: Callable[[Expr], Sequence[Sequence[Expr]]] = lambda factor: (),
        is_array: Callable[[int, float, float], bool] = lambda axes, entries, space: entries > FULL * space,
    ):
        self.estimates, self.terms, self.is_array = estimates, terms, is_array
        self.names = tuple(dict.fromkeys(variables))
        self.bits = {v: 1 << k for k, v in enumerate(self.names)}
        self.factors: list[Factor] = []
        self.count = 0  # of factors that were priced, in all orders of all nests
        self._numbers: dict[Expr, int] = {}
        self._densities: dict[tuple[int, int], float] = {}
        self._spaces: dict[int, float] = {}
        self._nests: dict[tuple[tuple[int, ...], int], tuple[float, tuple[int, ...]]] = {}

    def number(self, expr: Expr) -> int:
        """Return the number of a factor."""
        if expr not in self._numbers:
            factor = Factor.of(expr, self.bits, self.estimates)
            factor.terms = [tuple([self.number(f) for f in term]) for term in self.terms(expr)]
            self._numbers[expr] = self.add(factor)
        return self._numbers[expr]

    def add(self, factor: Factor) -> int:
        """Add a factor, and return its number."""
        self.factors.append(factor)
        return len(self.factors) - 1

    def variables(self, mask: int) -> tuple[str, ...]:
        """Return the variables of a bit mask."""
        return tuple([v for k, v in enumerate(self.names) if mask >> k & 1])

    def density(self, number: int, mask: int) -> float:
        key = (number, mask)
        share = self._densities.get(key)
        if share is None:
            share = self._densities[key] = self._density(self.factors[number], mask)
        return share

    def _density(self, factor: Factor, mask: int) -> float:
        if not factor.sparse:
            return 1.0
        if factor.expr is not None:
            return self.estimates.density(factor.expr, frozenset(self.variables(mask)))
        space = self.space(mask)
        if mask == factor.mask:
            return min(1.0, factor.entries / space)
        return -math.expm1(-factor.entries / space)

    def space(self, mask: int) -> float:
        size = self._spaces.get(mask)
        if size is None:
            size = self._spaces[mask] = self.estimates.space(self.variables(mask))
        return size

    def joined(self, numbers: Sequence[int], mask: int) -> float:
        """Return the number of coordinates that factors have together, of some variables."""
        sides = self.sides(numbers, mask) if self.estimates.counts else []
        if len(sides) > 1:
            covered = sum(frozenset().union(*[side.variables for side in sides]))
            return min(self.space(covered), joined_at_most(sides)) * self.space(mask & ~covered)
        number = self.space(mask)
        for n in dict.fromkeys(numbers):
            factor = self.factors[n]
            if factor.sparse and (own := factor.mask & mask):
                share = self._densities.get((n, own))
                number *= self.density(n, own) if share is None else share
        return number

    def sides(self, numbers: Sequence[int], mask: int) -> list[Side]:
        """Return what is known of the sparse factors, of some variables; nothing if it is not known of all."""
        known = [(f, f.side) for n in dict.fromkeys(numbers) if (f := self.factors[n]).sparse and f.mask & mask]
        if any(side is None for _, side in known):
            return []
        bits = frozenset([1 << k for k in range(mask.bit_length()) if mask >> k & 1])
        return [side.within(bits, self.space) for _, side in known if side is not None]

    def price(self, numbers: Sequence[int], summed: int, limit: float = math.inf) -> tuple[float, tuple[int, ...]]:
        """Return the price of the cheapest nest that sums a product over some variables, and its order of loops.

        The price is infinite if it is above a limit, beyond which nobody asks for it.
        """
        key = (tuple(numbers), summed)
        cheapest = self._nests.get(key)
        if cheapest is None:
            joins: dict[int, float] = {}
            orders, factors = self._orders(numbers), [self.factors[n] for n in numbers]
            self.count += len(orders) * len(factors)
            lead = max(range(len(factors)), key=lambda k: (factors[k].sparse, factors[k].mask.bit_count()))
            cheapest = math.inf, ()
            for order in orders:
                price = self._price(numbers, summed, order, lead, joins, min(limit, cheapest[0]))
                cheapest = min(cheapest, (price, order))
            spread = [n for n in numbers if self.factors[n].sparse]
            if summed and len(spread) == 1 and (terms := self.factors[spread[0]].terms):
                cheapest = min(cheapest, (self._in_scans(numbers, spread[0], terms, summed), orders[0]))
            if cheapest[0] < math.inf:
                self._nests[key] = cheapest
        return cheapest

    def _in_scans(self, numbers: Sequence[int], spread: int, terms: Sequence[tuple[int, ...]], summed: int) -> float:
        """Return the price of the terms of a factor, each times the others: those that are not summed are outside."""
        total, rest = 0.0, [n for n in numbers if n != spread]
        for term in terms:
            inside, over = [n for n in (*rest, *term) if self.factors[n].mask & summed], 0
            for n in inside:
                over |= self.factors[n].mask
            total += math.inf if summed & ~over else self.price(inside, summed)[0]
        return total

    def _orders(self, numbers: Sequence[int]) -> list[tuple[int, ...]]:
        """Return orders of loops: the levels of one sparse operand first, then those of the others, arrays last."""
        factors = [self.factors[n] for n in numbers]
        rest = [1 << k for k in range(len(self.names)) if any(f.mask >> k & 1 for f in factors)]
        leads = [f for f in factors if f.sparse]
        if not leads:
            return [tuple(rest), *((*(v for v in rest if v != last), last) for last in rest[-ORDERS:])]
        orders: dict[tuple[int, ...], None] = {}
        for lead in leads[:ORDERS]:
            orders[tuple(dict.fromkeys([*lead.order, *(v for f in leads for v in f.order), *rest]))] = None
        return list(orders)

    def _price(
        self,
        numbers: Sequence[int],
        summed: int,
        order: tuple[int, ...],
        lead: int,
        joins: dict[int, float],
        limit: float,
    ) -> float:
        """Return the price of a nest with some order of loops; ``joins`` keeps numbers of coordinates."""
        factors, prefixes, prefix = [self.factors[n] for n in numbers], dict[int, int](), 0
        for bit in order:
            prefix |= bit
            prefixes[bit] = prefix
        backwards, free, total = order[::-1], prefix & ~summed, 0.0
        meetings: dict[int, tuple[int, int, bool]] = {}
        for k, factor in enumerate(factors):
            need = _loops_of(factor.mask, summed, backwards, prefixes, 0 if k == lead else free)
            last = next((bit for bit in backwards if need & bit), 0)
            if last not in meetings:
                meetings[last] = _meeting(factors, last)
            walked, around, along = meetings[last]
            if (many := joins.get(need)) is None:
                many = joins[need] = self.joined(numbers, need)
            if walked > 1 and factor.sparse and factor.mask & last:
                # Lists that are merged are read to their ends.
                n, outer = numbers[k], (need | around) & ~last
                inner = self.density(n, factor.mask) / max(1e-300, self.density(n, factor.mask & ~last))
                if (reached := joins.get(outer)) is None:
                    reached = joins[outer] = self.joined(numbers, outer)
                many = max(many, reached * self.space(last) * inner)
                total += many * MERGE
            total += many * factor.weight * (VECTORS if along else 1.0)
            if factor.convertible and not _follows(factor.order, prefixes):
                total += CONVERT * self.joined((numbers[k],), factor.mask)
            if total > limit:
                return math.inf
        return total


def _meeting(factors: Sequence[Factor], last: int) -> tuple[int, int, bool]:
    """Return how many lists meet in a loop, the variables of these, and whether the loop is along arrays alone."""
    mine = [f for f in factors if f.mask & last]
    lists = [f for f in mine if f.sparse]
    around = 0
    for f in lists:
        around |= f.mask
    return len(lists), around, not lists and not any(f.strides & last for f in mine)


def _loops_of(mask: int, summed: int, backwards: Sequence[int], prefixes: dict[int, int], free: int) -> int:
    """Return the variables of the loops in which a factor is multiplied.

    They are its own, those around the innermost of its summed variables, and those of the result unless it leads.
    """
    if inside := mask & summed:
        for bit in backwards:
            if bit & inside:
                return mask | free | prefixes[bit]
    return mask | free


def _follows(levels: tuple[int, ...], prefixes: dict[int, int]) -> bool:
    """Return whether loops come to the levels of an operand in their order."""
    before = 0
    for bit in levels:
        if prefixes[bit] < before:
            return False
        before = prefixes[bit]
    return True


def pointwise(expr: Expr, estimates: Estimates) -> float:
    """Return the price of an expression without reductions."""
    sparse = [a for a in expr.distinct_accesses if not estimates.types[a.tensor].format.is_dense]
    return max(1.0, estimates.entries(expr, free_set(expr))) * (weight(expr) + MERGE * max(0, len(sparse) - 1))


def each(reduction: Reduce, estimates: Estimates) -> float:
    """Return the price of a reduction at one coordinate, where its operands are merged."""
    inside = frozenset(reduction.vars)
    walked: list[float] = []
    for access in reduction.distinct_accesses:
        if not estimates.types[access.tensor].format.is_dense and inside & {*access.indices}:
            mine = free_set(access)
            above = estimates.density(access, mine - inside)
            walked.append(estimates.space(mine & inside) * estimates.density(access, mine) / max(1e-300, above))
    own = tuple(v for v in reduction.vars if v in estimates.sizes)
    many = sum(walked) * (MERGE if len(walked) > 1 else 1.0)
    return max(1.0, many if walked else estimates.space(own) * VECTORS * weight(reduction.body))


def conversions(reduction: Reduce, estimates: Estimates) -> float:
    """Return the price of storing operands in another order, since their levels come to what is reduced too early."""
    inside, total = frozenset(reduction.vars), 0.0
    for access in reduction.distinct_accesses:
        format = estimates.types[access.tensor].format
        if not format.is_dense:
            reduced = [v in inside for v in levels_of(access, format)]
            if reduced != sorted(reduced):
                total += CONVERT * estimates.entries(access, free_set(access))
    return total
