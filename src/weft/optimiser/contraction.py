"""Orders of contraction: dynamic programming over connected sets of the variables that are summed over.

The part of a set is the product of all factors that have one of its variables, summed over the set. It is computed in
one nest of loops; or one variable is summed last, after the parts of what remains without it; or one connected part
comes first. Orders of pairs, factored nests and sums apart are all among these ways.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..records import record, replace
from .estimate import Side, joined_at_most
from .price import COLLECTED, ENTRY, KERNEL, Factor, Nests

MOST_VARIABLES = 8
"""Summed variables of which all connected sets are tried; of more, one is summed after the other."""
MOST_PRICES = 1500
"""Factors that are priced for one expression, in all orders of all nests; then sets are summed in one nest."""
MOST_ENTRIES = 2.0**31
"""Entries beyond which no intermediate result is tried."""


@record
class Way:
    """A way to sum over a set of variables: parts that come first, and the nest that is last."""

    price: float
    parts: tuple[int, ...]  # the factors that are computed first
    factors: tuple[int, ...]  # those of the last nest
    summed: int  # the variables of the last nest that are summed over


class Contraction:
    """A product of factors that is summed over some variables, and its parts."""

    def __init__(self, nests: Nests, factors: Sequence[int], summed: int):
        self.nests, self.factors, self.summed = nests, tuple(factors), summed
        self.ways: dict[int, Way] = {}  # how each part is computed, by the number of its factor
        self.orders: dict[int, tuple[int, ...]] = {}  # the axes of each part
        self._parts: dict[int, int] = {}  # the factor of each set of variables
        self._masks = [(n, nests.factors[n].mask) for n in self.factors]
        self._touching: dict[int, tuple[int, ...]] = {}

    def touching(self, mask: int) -> tuple[int, ...]:
        """Return the factors that have one of some variables."""
        known = self._touching.get(mask)
        if known is None:
            known = self._touching[mask] = tuple([n for n, own in self._masks if own & mask])
        return known

    def components(self, mask: int) -> list[int]:
        """Return connected sets of variables: no factor has variables of two of them."""
        components: list[int] = []
        while mask:
            component, grown = 0, mask & -mask
            while grown != component:
                component = grown
                for _, own in self._masks:
                    if own & grown:
                        grown |= own & mask
            components.append(component)
            mask &= ~component
        return components

    def part(self, mask: int) -> tuple[float, int]:
        """Return the price of the part of a connected set, and the factor that it is."""
        number = self._parts.get(mask)
        if number is None:
            way, order = self._cheapest(mask)
            number = self._parts[mask] = self._factor_of(mask, order)
            self.ways[number] = way
        factor = self.nests.factors[number]
        each = COLLECTED if factor.sparse and len(factor.order) > 1 else ENTRY
        extra = math.inf if factor.entries > MOST_ENTRIES else each * factor.entries + KERNEL
        return self.ways[number].price + extra, number

    def _factor_of(self, mask: int, order: tuple[int, ...]) -> int:
        """Return the number of the factor that the part of a set is."""
        touching = self.touching(mask)
        every = mask
        for n in touching:
            every |= self.nests.factors[n].mask
        keep = every & ~mask
        space, times = self.nests.space(keep), self.nests.space(mask)
        share = min(1.0, self.nests.joined(touching, every) / max(1.0, self.nests.space(every)))
        entries = space * (1.0 if share >= 1 else -math.expm1(times * math.log1p(-share)))
        is_array = self.nests.is_array(keep.bit_count(), entries, space)
        sparse = any(self.nests.factors[n].sparse for n in touching) and not is_array
        axes = tuple([bit for bit in order if bit & keep])
        part = Factor(None, keep, axes, sparse, entries)
        part.side = self._side_of(touching, every, keep) if sparse and self.nests.estimates.counts else None
        number = self.nests.add(part)
        self.orders[number] = axes
        return number

    def _side_of(self, touching: tuple[int, ...], every: int, keep: int) -> Side | None:
        """Return what is known of a part: no more than the entries of the join of which it is summed."""
        nests, bits = self.nests, [1 << k for k in range(keep.bit_length()) if keep >> k & 1]
        sides = nests.sides(touching, every)
        covered = sum(frozenset().union(*[side.variables for side in sides]))
        if not sides or keep & ~covered:
            return None
        entries = min(nests.space(keep), joined_at_most(sides))
        most = {bit: min(entries, nests.space(keep & ~bit), joined_at_most(sides, bit)) for bit in bits}
        return Side(frozenset(bits), entries, {bit: (m, math.sqrt(entries * m)) for bit, m in most.items()})

    def _cheapest(self, mask: int) -> tuple[Way, tuple[int, ...]]:
        # What is done in parts has a low price, beyond which the others need not be priced.
        best, order = Way(math.inf, (), (), 0), tuple[int, ...]()
        for way in sorted(self.of(mask), key=lambda way: not way.parts):
            if way.price < best.price:
                price, loops = self.nests.price(way.factors, way.summed, best.price - way.price)
                if way.price + price < best.price or not order:
                    best, order = replace(way, price=way.price + price), loops
        return best, order

    def of(self, mask: int) -> Iterator[Way]:
        """Yield the ways to sum over a connected set, without the price of the last nest."""
        mine = self.touching(mask)
        yield Way(0.0, (), mine, mask)
        left = mask if mask & (mask - 1) else 0
        while left and self.nests.count <= MOST_PRICES:
            last = left & -left
            left &= ~last
            rest = self.components(mask & ~last)
            done = [(c, *self.part(c)) for c in rest]
            yield self._after(mine, done, last)
            if len(done) > 1:
                for one in done:
                    yield self._after(mine, [one], mask & ~one[0])

    def _after(self, mine: tuple[int, ...], done: list[tuple[int, float, int]], summed: int) -> Way:
        """Return the way in which some parts come first."""
        covered = {n for c, _, _ in done for n in self.touching(c)}
        parts = tuple([number for _, _, number in done])
        rest = tuple([n for n in mine if n not in covered])
        return Way(sum([price for _, price, _ in done]), parts, (*parts, *rest), summed)

    def one_by_one(self) -> Way:
        """Return the way that sums over one variable after the other, each time the one whose part is cheapest."""
        greedy = Contraction(self.nests, self.factors, self.summed)
        left, price, parts = self.summed, 0.0, []
        while left & (left - 1):
            bits = [bit for bit in (1 << k for k in range(left.bit_length())) if bit & left]
            cost, bit, number = min([(greedy.part(bit)[0], bit, greedy.part(bit)[1]) for bit in bits])
            way = greedy.ways[number]
            first = tuple([n for n in way.factors if n in self.ways])
            self.ways[number], self.orders[number] = replace(way, parts=first), greedy.orders[number]
            covered = greedy.touching(bit)
            rest = tuple([n for n in greedy.factors if n not in covered])
            greedy = Contraction(self.nests, (number, *rest), left & ~bit)
            left, price = left & ~bit, price + cost
            parts.append(number)
        needed = tuple([n for n in parts if n in greedy.factors])
        return Way(price, needed, greedy.factors, left)
