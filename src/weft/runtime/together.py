"""Calls that run at the same time, for work that waits for compilers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
_thread = threading.local()


def at_once(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Run calls at the same time, all but the first in threads of their own, and return their results.

    If a call fails, or Ctrl-C is pressed, the calls in threads of their own are asked to stop (``stop_asked``). All
    calls are waited for, so that none is left running. Then the error of the first call is raised, or else the
    earliest error.
    """
    results: dict[int, T] = {}
    errors: list[BaseException] = []
    stop = threading.Event()

    def run(place: int) -> None:
        _thread.stop = stop
        try:
            results[place] = calls[place]()
        except BaseException as error:
            errors.append(error)  # before others are stopped, whose errors come after it
            stop.set()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(1, len(calls))]
    try:
        for thread in threads:
            thread.start()
        # The first call runs in this thread, so that a single call needs no other thread.
        if calls:
            results[0] = calls[0]()
        for thread in threads:
            thread.join()
    except BaseException:
        # Threads that were not started cannot be waited for.
        stop.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        raise
    if errors:
        raise errors[0]
    return [results[place] for place in range(len(calls))]


def stoppable(call: Callable[[], T], stop: threading.Event) -> T:
    """Return the result of a call that ends its compiler once an event is set."""
    _thread.stop = stop
    try:
        return call()
    finally:
        _thread.stop = None


def stop_asked() -> threading.Event | None:
    """Return the event that tells this thread to stop; None in a thread that nobody may stop."""
    return getattr(_thread, "stop", None)
