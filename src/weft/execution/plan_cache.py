"""The cache of plans: everything that is decided or compiled once for an operation and the types of its operands.

The keys of plans are those that ``kept`` makes: a function and its arguments. Only calls that look for a plan before
they look at their arguments, and keep one under conditions, have keys of their own: tuples that begin with the name of
the operation, in which ``TensorType.number`` stands for a type, since its hash takes no time. The settings that affect
code are part of every key, so that a plan is never used under other settings than those that it was made under.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Event, get_ident
from typing import Any, ParamSpec, TypeVar

from ..config import config
from ..runtime.forks import data_lock, in_child

P = ParamSpec("P")
T = TypeVar("T")
Key = tuple[Any, ...]


class _Entry:
    """A plan, and whether it was used since entries were last looked through."""

    __slots__ = ("plan", "used")

    def __init__(self, plan: Any):
        self.plan, self.used = plan, False


class _Making:
    """A plan that a thread is making, and for which others wait."""

    __slots__ = ("done", "entry", "thread")

    def __init__(self) -> None:
        self.done, self.thread = Event(), get_ident()
        self.entry: _Entry | None = None


class PlanCache:
    """Bounded cache of plans that several threads share.

    A plan that is there is found without a lock. A plan that is not is made by one thread, outside the lock; other
    threads that want the same plan wait for that one. If there are more plans than ``capacity``, those are dropped
    which were not used since entries were last looked through.

    Examples
    --------
    >>> cache = PlanCache(lambda: 2)
    >>> cache.get(("square", 3), lambda: 9), cache.get(("square", 3), lambda: 0), cache.find(("square", 4))
    (9, 9, None)
    """

    def __init__(self, capacity: Callable[[], int]):
        self._capacity, self._lock = capacity, data_lock()
        self._kept: dict[Key, _Entry] = {}
        self._making: dict[Key, _Making] = {}
        in_child(self._making.clear)  # the threads that make these plans are not in the child

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: Key) -> Any:
        """Return the plan of a key, or None if it is not there."""
        entry = self._kept.get((key, config.code))
        if entry is None:
            return None
        entry.used = True
        return entry.plan

    def get(self, key: Key, make: Callable[[], T]) -> T:
        """Return the plan of a key, which ``make`` makes if it is not there."""
        full_key = key, config.code
        entry = self._kept.get(full_key)
        if entry is None:
            return self._made(full_key, make)  # type: ignore[no-any-return]
        entry.used = True
        return entry.plan  # type: ignore[no-any-return]

    def keep(self, key: Key, plan: T) -> T:
        """Keep a plan that is made already, and return it."""
        with self._lock:
            self._add((key, config.code), _Entry(plan))
        return plan

    def clear(self) -> None:
        """Drop all plans."""
        with self._lock:
            self._kept.clear()

    def _made(self, key: Key, make: Callable[[], Any]) -> Any:
        while True:
            with self._lock:
                if (entry := self._kept.get(key)) is not None:
                    return entry.plan
                making = self._making.get(key)
                if making is None:
                    mine = self._making[key] = _Making()
                    break
            if making.thread == get_ident():
                return make()  # a plan that is asked for while it is made, as by a signal handler
            making.done.wait()
            if making.entry is not None:
                return making.entry.plan
            # The other thread has failed. This one tries itself, since its own caller is to get the error.
        try:
            mine.entry = _Entry(make())
            with self._lock:
                self._add(key, mine.entry)
            return mine.entry.plan
        finally:
            with self._lock:
                self._making.pop(key, None)
            mine.done.set()

    def _add(self, key: Key, entry: _Entry) -> None:
        """Add an entry, and drop others that were not used; the lock is held."""
        self._kept[key] = entry
        capacity = max(1, self._capacity())
        while len(self._kept) > capacity:
            # Every entry has a second chance: one that was used goes to the end, unless it comes up again unused.
            oldest = next(iter(self._kept))
            entry_of_oldest = self._kept.pop(oldest)
            if entry_of_oldest.used or entry_of_oldest is entry:
                entry_of_oldest.used = False
                self._kept[oldest] = entry_of_oldest


plans = PlanCache(lambda: config.plan_cache_size)
"""The cache of all plans of the process."""


def kept(make: Callable[P, T]) -> Callable[P, T]:
    """Return a function that makes plans with the results kept in ``plans``."""

    @wraps(make)
    def call(*args: P.args, **options: P.kwargs) -> T:
        key = (make, args, *options.items()) if options else (make, args)
        return plans.get(key, lambda: make(*args, **options))

    return call
