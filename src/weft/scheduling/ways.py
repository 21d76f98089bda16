"""Ways to assemble a result, with prices: each entry of a typical tensor costs 1 where it is visited and stored.

A conversion is priced by its steps, and the cheapest way is taken. The price of an expression is that of its loops.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from ..records import record


@record
class Way:
    """A way to assemble a result; a way that is refused has no price, and the reason why not."""

    name: str
    reason: str
    price: float = inf
    plan: Any = None  # the steps of a conversion, or the loops of an expression

    def __str__(self) -> str:
        return f"  {self.name}, {'refused' if self.price == inf else f'{self.price:.4g}'}: {self.reason}"


def cheapest_first(ways: Iterable[Way]) -> tuple[Way, ...]:
    """Return ways by their prices; of those with equal prices the first stays in front."""
    return tuple(sorted(ways, key=lambda way: way.price))
