"""Kernels that are interrupted: a signal's handler runs while they wait, and what it raises ends them.

Python runs handlers of signals between two steps of its main thread, which a kernel keeps from making any. So a kernel
calls back every 50 ms (``codegen/support/polling.py``). What a handler raises then, ``KeyboardInterrupt`` as a rule, is
kept here; the kernel releases its memory and returns, and its caller raises it.
"""

from __future__ import annotations

from threading import get_ident, main_thread
from typing import Any, NoReturn

from ..codegen.abi import INTERRUPTED
from ._ffi import ffi
from .memory import exhausted

__all__ = ["ask", "fail"]

_raised: dict[int, BaseException] = {}
"""The exception that ended the kernel of a thread, until the kernel's caller raises it."""


def _keep(kind: Any, error: BaseException, traceback: Any) -> int:
    _raised[get_ident()] = error
    return 1


def _answer() -> int:
    """Say whether a kernel is to stop: handlers of signals run as this is entered, and raise here."""
    return 0 if get_ident() == main_thread().ident else -1  # no handler ever runs in another thread


ask: Any = ffi.callback("int64_t (void)", _answer, onerror=_keep)
"""The function that kernels call back."""


def fail(status: int, what: str) -> NoReturn:
    """Raise what a kernel's status means.

    Parameters
    ----------
    status : int
        What it returned, not 0.
    what : str
        The work that the kernel did, for the message where there was no memory.

    Raises
    ------
    BaseException
        What the handler of a signal raised.
    ResultTooLargeError
        There was no memory for the kernel's workspaces.
    """
    if status & INTERRUPTED:
        raise _raised.pop(get_ident())
    raise exhausted(what)
