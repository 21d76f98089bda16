"""The pool of threads of this process, which kernels of all libraries share.

The pool is part of one library: the shipped kernels, or else one that is compiled. The first one that is opened serves
all kernels. Its threads start when a kernel first has work for them. ``codegen/support/thread_pool.c`` tells how they
share a loop, how the pool survives a fork, and how it ends with the process.
"""

from __future__ import annotations

from typing import Any

from . import forks, limits, log
from ._ffi import ffi

_lock = forks.data_lock()
_functions: dict[str, Any] = {}
"""The address of the function for each pointer of kernels, once the pool is open."""
_waiting: list[tuple[str, Any]] = []
"""Pointers of libraries that were opened before the pool was."""

_missing = ""


def is_settled() -> bool:
    """Return whether this process has a pool, or has tried in vain to get one."""
    return bool(_functions or _missing)


def missing() -> str:
    """Return the reason why this process has no pool; empty if it has one, or has not needed one yet."""
    return _missing


def give_up(reason: str) -> None:
    """Let all kernels of this process run on one thread, since there are no threads here."""
    global _missing
    _missing = reason
    log.info("kernels run on one thread: %s", reason)


def connect(name: str, address: Any) -> None:
    """Set a pointer of a library to a function of the pool, now or when the pool is opened."""
    with _lock:
        if _functions:
            _set(name, address)
        else:
            _waiting.append((name, address))


def open_pool(functions: dict[str, Any]) -> None:
    """Make functions those of the pool, unless there is a pool already."""
    with _lock:
        if _functions:
            return
        _functions.update(functions)
        while _waiting:
            _set(*_waiting.pop())
    limits.register()


def _set(name: str, address: Any) -> None:
    ffi.cast("void **", address)[0] = _functions[name]
