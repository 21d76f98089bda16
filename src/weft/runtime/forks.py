"""Locks for forked children: nobody holds them, and the data that they guard are whole.

A child has the memory of its parent and one of its threads. A lock that another thread held stays held for ever, and
what it guards stays as that thread left it, half changed. Locks over data are therefore taken before a fork, and
released after it on both sides; they are held for as long as a change takes. Locks that are held longer, such as those
of threads that compile, are made anew in the child.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from _thread import RLock as RLockType

__all__ = ["data_lock", "in_child"]

_data_locks: WeakKeyDictionary[RLockType, None] = WeakKeyDictionary()
_taken: list[RLockType] = []
_in_child: list[Callable[[], None]] = []


def data_lock() -> RLockType:
    """A lock over data that forks wait for. One that is taken while another is held must have been made before it."""
    lock = RLock()
    _data_locks[lock] = None
    return lock


def in_child(renew: Callable[[], None]) -> None:
    """Have a function called in every child after a fork."""
    _in_child.append(renew)


def _before() -> None:
    for reference in reversed(_data_locks.keyrefs()):  # as threads take them, so that none waits for another
        lock = reference()
        if lock is not None:
            lock.acquire()
            _taken.append(lock)


def _after() -> None:
    while _taken:
        _taken.pop().release()


def _after_in_child() -> None:
    _after()
    for renew in _in_child:
        renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
