"""Running what waits for compilers at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["at_once", "stop_asked"]

T = TypeVar("T")
_thread = threading.local()


def at_once(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Run calls at the same time, all but the first in threads of their own, and return what they return.

    When one of them fails, or Ctrl-C comes, the others are asked to stop (``stop_asked``), and are waited for: nothing
    is left running. Then the first error is raised.
    """
    results: dict[int, T] = {}
    errors: list[BaseException] = []
    stop = threading.Event()

    def run(place: int) -> None:
        _thread.stop = stop
        try:
            results[place] = calls[place]()
        except BaseException as error:
            errors.append(error)
            stop.set()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(1, len(calls))]
    try:
        for thread in threads:
            thread.start()
        if calls:
            results[0] = calls[0]()
        for thread in threads:
            thread.join()
    except BaseException:
        stop.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        raise
    if errors:
        raise errors[0]
    return [results[place] for place in range(len(calls))]


def stop_asked() -> threading.Event | None:
    """Return the event that tells this thread to stop, if it is one of several that run at once."""
    return getattr(_thread, "stop", None)
