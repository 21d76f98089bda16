"""Locks for forked children: no thread holds them in the child, and the data that they guard are consistent.

A child has the memory of its parent, but only one of its threads. A lock that another thread held would stay held for
ever, and its data would stay as that thread left them, half changed. Locks over data are therefore acquired before a
fork, and released after it on both sides. Threads hold them only as long as a change takes. Locks that are held
longer, such as those of threads that compile, are made anew in the child.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from _thread import RLock as RLockType

# Locks over data in the order in which they were made, those that a fork has acquired, and functions for the child.
_data_locks: WeakKeyDictionary[RLockType, None] = WeakKeyDictionary()
_taken: list[RLockType] = []
_in_child: list[Callable[[], None]] = []


def data_lock() -> RLockType:
    """Return a new lock over data, which forks wait for.

    A lock that is acquired while another one is held must have been made before that one.
    """
    lock = RLock()
    _data_locks[lock] = None
    return lock


def in_child(renew: Callable[[], None]) -> None:
    """Register a function to be called in every child after a fork."""
    _in_child.append(renew)


def _before() -> None:
    # Locks are acquired in the same order as by threads, the last one made first: no two threads can deadlock.
    for reference in reversed(_data_locks.keyrefs()):
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
