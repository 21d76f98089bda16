"""Choices among plans of one expression, by the sizes and the numbers of entries of its operands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeAlias

from ..index_notation.program import Numbers
from ..storage import Storage
from ..storage.statistics import degrees

MOST_SIZES = 256
"""Sizes of operands that are remembered for one expression, before all are forgotten."""
MOST_PROGRAMS = 16
"""Numbers of operands for which one expression is planned; others take the plan of the nearest."""

Joins: TypeAlias = tuple[tuple[int, int], ...]


def numbers_of(storages: Sequence[Storage], joins: Joins = ()) -> tuple[Numbers, ...]:
    """Return the numbers by which programs are chosen for some operands, with those of axes that are joined."""
    if not joins:
        return tuple([_numbers(s.shape, _levels(s)) for s in storages])
    return tuple([_numbers(s.shape, _levels(s), _degrees(s, n, joins)) for n, s in enumerate(storages)])


def _degrees(storage: Storage, place: int, joins: Joins) -> tuple[tuple[int, int] | None, ...]:
    found = {axis: degrees(storage, axis) for n, axis in joins if n == place}
    rounded = {axis: (_at_least(d.largest), _at_least(math.ceil(d.norm))) for axis, d in found.items() if d}
    return tuple([rounded.get(axis) for axis in range(len(storage.shape))]) if rounded else ()


def _at_least(number: int) -> int:
    """Return a number, rounded up to three binary digits."""
    shift = max(0, number.bit_length() - 3)
    return -(-number >> shift) << shift


def _levels(storage: Storage) -> tuple[int, ...]:
    sizes = storage.level_sizes
    return sizes if len(sizes) == len(storage.shape) else (len(storage.vals),) * len(storage.shape)


@lru_cache(maxsize=4096)
def _numbers(
    shape: tuple[int, ...], levels: tuple[int, ...], degrees: tuple[tuple[int, int] | None, ...] = ()
) -> Numbers:
    return Numbers(tuple([_about(n) for n in shape]), tuple([_about(n) for n in levels]), degrees)


def _about(number: int) -> int:
    """Return the power of two that is nearest to a number; numbers up to 4 are themselves."""
    return number if number <= 4 else 1 << ((2 * number * number).bit_length() - 1) // 2


_SHAPE = attrgetter("shape")


class Choice:
    """Plans of one expression for operands of certain types; rounded numbers of the operands choose one."""

    __slots__ = ("_by_numbers", "_by_sizes", "_sparse")

    def __init__(self) -> None:
        self._by_numbers: dict[tuple[Numbers, ...], Any] = {}
        # The same plans: a call rounds no numbers that it has seen. Joined axes stand for the plans by their numbers.
        self._by_sizes: dict[tuple[Any, ...], Any] = {}
        self._sparse: tuple[int, ...] = ()  # the operands of which shapes do not say how many values they store

    def find(self, storages: Sequence[Storage]) -> Any:
        """Return the plan for some operands; None if there is none yet."""
        sizes: tuple[Any, ...] = tuple(map(_SHAPE, storages))
        for k in self._sparse:
            sizes += storages[k].level_sizes
        plan = self._by_sizes.get(sizes)
        if plan is None:
            numbers = numbers_of(storages)
            plan = self._by_numbers.get(numbers) or self._nearest(numbers)
            if plan is not None:
                _add(self._by_sizes, sizes, plan)
        if plan.__class__ is tuple:
            numbers = numbers_of(storages, plan)
            plan = self._by_numbers.get(numbers) or self._nearest(numbers)
        return plan

    def keep(self, storages: Sequence[Storage], plan: Any, joins: Joins = ()) -> None:
        """Keep the plan for operands of about these numbers."""
        self._sparse = tuple([k for k, s in enumerate(storages) if not s.type.format.is_dense])
        if joins:
            _add(self._by_numbers, numbers_of(storages), joins)
        _add(self._by_numbers, numbers_of(storages, joins), plan)

    def _nearest(self, numbers: tuple[Numbers, ...]) -> Any:
        """Return the plan for the nearest numbers, the first of several, if there are no more plans to be made."""
        if len(self._by_numbers) < MOST_PROGRAMS:
            return None
        alike = [known for known in self._by_numbers if _alike(known, numbers)]
        nearest = min(alike, key=lambda known: _distance(known, numbers), default=None)
        return None if nearest is None else self._by_numbers[nearest]


def _alike(a: tuple[Numbers, ...], b: tuple[Numbers, ...]) -> bool:
    return all(bool(x.degrees) == bool(y.degrees) for x, y in zip(a, b, strict=True))


def _distance(a: tuple[Numbers, ...], b: tuple[Numbers, ...]) -> int:
    """Return by how many powers of two numbers differ."""
    pairs = [pair for x, y in zip(a, b, strict=True) for pair in zip(_all(x), _all(y), strict=True)]
    return sum([abs(m.bit_length() - n.bit_length()) for m, n in pairs])


def _all(numbers: Numbers) -> list[int]:
    return [*numbers.shape, *numbers.levels, *[n for d in numbers.degrees for n in d or (0, 0)]]


def _add(plans: dict[Any, Any], key: Any, plan: Any) -> None:
    if len(plans) >= MOST_SIZES:
        plans.clear()
    plans[key] = plan
