"""Ways to assemble a result, with prices: each entry of a typical tensor costs 1 where it is visited and stored.

The cheapest way is taken, of a conversion as of any other expression.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from ..records import record

BETWEEN = 1.0
"""Price of an entry of a tensor from which another is converted: its memory."""


@record
class Way:
    """A way to assemble a result; a way that is refused has no price, and the reason why not."""

    name: str
    reason: str
    price: float = inf  # of an entry of the result
    steps: tuple[Any, ...] = ()  # those of a conversion; the loops of an expression, of which its plan makes steps

    def __str__(self) -> str:
        return f"  {self.name}, {'refused' if self.price == inf else f'{self.price:.4g}'}: {self.reason}"


def cheapest_first(ways: Iterable[Way]) -> tuple[Way, ...]:
    """Return ways by their prices; of those with equal prices the first stays in front."""
    return tuple(sorted(ways, key=lambda way: way.price))


def listed(ways: Iterable[Way]) -> str:
    """Return ways with their prices, and the reasons against those that are refused, as text."""
    return "\n".join(["the price of an entry by each way:", *map(str, ways)])
