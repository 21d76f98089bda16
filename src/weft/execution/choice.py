"""Choices among plans of one expression, by the sizes and the numbers of entries of its operands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

from ..index_notation.program import Numbers
from ..storage import Storage

MOST_SIZES = 256
"""Sizes of operands that are remembered for one expression, before all are forgotten."""


def numbers_of(storages: Sequence[Storage]) -> tuple[Numbers, ...]:
    """Return the numbers by which programs are chosen for some operands."""
    return tuple([_numbers(s.shape, _levels(s)) for s in storages])


def _levels(storage: Storage) -> tuple[int, ...]:
    sizes = storage.level_sizes
    return sizes if len(sizes) == len(storage.shape) else (len(storage.vals),) * len(storage.shape)


@lru_cache(maxsize=4096)
def _numbers(shape: tuple[int, ...], levels: tuple[int, ...]) -> Numbers:
    return Numbers(tuple([_about(n) for n in shape]), tuple([_about(n) for n in levels]))


def _about(number: int) -> int:
    """Return the power of two that is nearest to a number; numbers up to 4 are themselves."""
    return number if number <= 4 else 1 << ((2 * number * number).bit_length() - 1) // 2


_SHAPE = attrgetter("shape")


class Choice:
    """Plans of one expression for operands of certain types; rounded numbers of the operands choose one."""

    __slots__ = ("_by_numbers", "_by_sizes", "_sparse")

    def __init__(self) -> None:
        self._by_numbers: dict[tuple[Numbers, ...], Any] = {}
        self._by_sizes: dict[tuple[Any, ...], Any] = {}  # the same plans: a call rounds no numbers that it has seen
        self._sparse: tuple[int, ...] = ()  # the operands of which shapes do not say how many values they store

    def find(self, storages: Sequence[Storage]) -> Any:
        """Return the plan for some operands; None if there is none yet."""
        sizes: tuple[Any, ...] = tuple(map(_SHAPE, storages))
        for k in self._sparse:
            sizes += storages[k].level_sizes
        plan = self._by_sizes.get(sizes)
        if plan is None:
            plan = self._by_numbers.get(numbers_of(storages))
            if plan is not None:
                _add(self._by_sizes, sizes, plan)
        return plan

    def keep(self, storages: Sequence[Storage], plan: Any) -> None:
        """Keep the plan for operands of about these numbers."""
        self._sparse = tuple([k for k, s in enumerate(storages) if not s.type.format.is_dense])
        _add(self._by_numbers, numbers_of(storages), plan)


def _add(plans: dict[Any, Any], key: Any, plan: Any) -> None:
    if len(plans) >= MOST_SIZES:
        plans.clear()
    plans[key] = plan
