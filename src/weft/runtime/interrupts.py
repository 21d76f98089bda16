"""Interrupts of kernels: handlers of signals run while a kernel does, and an exception that they raise ends it.

Python runs handlers of signals between two steps of its main thread, and that thread makes no step while it waits for
a kernel. A kernel therefore calls back every 50 ms (``codegen/support/polling.h``). If a handler raises then, mostly
``KeyboardInterrupt``, the exception is kept here. The kernel frees its memory and returns, and its caller raises the
exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident, main_thread
from typing import Any, NoReturn

from ..abi import FORKED, INTERRUPTED
from ._ffi import ffi
from .memory import exhausted

_raised: dict[int, BaseException] = {}
"""The exception that ended the kernel of a thread, until the kernel's caller raises it."""


# cffi calls this function with the exception that a callback raised. The result tells the kernel to stop.
def _keep(kind: Any, error: BaseException, traceback: Any) -> int:
    _raised[get_ident()] = error
    return 1


_checks: dict[int, Callable[[], object]] = {}
"""What the kernels of a thread ask while they run."""


@contextmanager
def checking(check: Callable[[], object]) -> Iterator[None]:
    """Let kernels that this thread runs call a function now and then, and end with the error that it raises."""
    outer = _checks.pop(get_ident(), None)
    _checks[get_ident()] = check
    try:
        yield
    finally:
        del _checks[get_ident()]
        if outer is not None:
            _checks[get_ident()] = outer


def _answer() -> int:
    """Return whether a kernel is to stop: handlers of signals run when this function is entered, and raise here."""
    check = _checks.get(get_ident())
    if check is not None:
        check()
    elif get_ident() != main_thread().ident:
        return -1  # handlers run in the main thread only: no need to ask again
    return 0


ask: Any = ffi.callback("int64_t (void)", _answer, onerror=_keep)
"""The callback of kernels."""


def fail(status: int, what: str) -> NoReturn:
    """Raise what the status of a kernel means: the exception of a signal's handler, or a lack of memory."""
    if status & FORKED:
        raise RuntimeError(
            f"the handler of a signal forked this process while several threads computed {what}, and the child has not "
            "got these threads: end the child in the handler, or set weft.set_num_threads(1)"
        )
    if status & INTERRUPTED:
        raise _raised.pop(get_ident())
    raise exhausted(what)
