"""Kernels that are compiled beside the caller, who goes on with a slower form that is there already.

A call for several threads, or for other loops, may want functions that are not compiled while those that compute the
same more slowly are shipped. It does not wait for the C compiler: it runs what is there, and a thread compiles what the
next call takes.
"""

from __future__ import annotations

import atexit
import threading

from ..config import config
from ..errors import CompilerError
from . import forks, log, toolchain
from .loader import Functions
from .together import stoppable

EntryPoints = tuple[Functions, tuple[str, ...]]
"""Functions of a kernel, and the names of those that a run calls."""


def ready(special: EntryPoints, usual: EntryPoints, *, wait: bool = False) -> bool:
    """Return whether to call ``special`` now: it is there, or ``usual``, which computes the same, is not there either.

    Otherwise ``special`` is compiled in a thread of its own, for later calls, or waited for if ``wait`` is true; where
    nothing can be compiled, ``usual`` stays.
    """
    functions, names = special
    if config.compile == "wait" or functions.at_hand(*names) or not usual[0].at_hand(*usual[1]):
        return True
    if not _can_compile():
        return False
    if not wait:
        _compile(functions, names)
    return wait


def _can_compile() -> bool:
    try:
        return config.compile != "never" and bool(toolchain.current())
    except CompilerError:
        return False


_threads: set[threading.Thread] = set()
_stop = threading.Event()


def _compile(functions: Functions, names: tuple[str, ...]) -> None:
    """Start a thread that compiles functions, unless one was started before."""
    if functions.tried:
        return
    functions.tried = True

    def run() -> None:
        try:
            stoppable(lambda: functions.have(*names), _stop)
        except (CompilerError, OSError) as error:
            log.info("not compiled beside the call: %s", error)
        finally:
            _threads.discard(thread)

    thread = threading.Thread(target=run, name="weft-compile", daemon=True)
    _threads.add(thread)
    thread.start()


def _end() -> None:
    """End the compilers that run, so that no process outlives this one."""
    _stop.set()
    for thread in list(_threads):
        thread.join()


atexit.register(_end)
forks.in_child(_threads.clear)  # these threads are not in the child
