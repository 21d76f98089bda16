"""What tests run in processes of their own: cases that may crash, hang or take all memory are tried in such."""

from __future__ import annotations

import gc
import os
import resource
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from tests.kernel_batches import each

__all__ = ["Run", "collect_seldom", "outcomes"]

Run = Callable[[Any, Callable[[str], None]], None]
"""Tries a case, and raises what is wrong with it; its second argument is told what is tried before it is."""
TOGETHER = 256  # cases of one process, whose kernels are compiled together
COMPILING = 600  # seconds that this may take


def collect_seldom() -> None:
    """Look for garbage as seldom as ``conftest.py`` has it: a compiler makes many objects that stay."""
    gc.set_threshold(10_000, 10, 1 << 30)


def outcomes(cases: Sequence[Any], run: Run, seconds: int, memory: int = resource.RLIM_INFINITY) -> Iterator[str]:
    """Yield a line for each case that is wrong, ends its process, or takes too long.

    A process that ends may do so by what an earlier case did: its cases are tried again, each in a process of its own.
    """
    for first in range(0, len(cases), TOGETHER):
        some = cases[first : first + TOGETHER]
        wrong, end = _tried(some, run, seconds, memory)
        if end:
            again = [_tried([case], run, seconds, memory) for case in some]
            wrong = [line for lines, _ in again for line in lines]
            wrong += [line for _, line in again if line] or [f"{end}, after the cases before it"]
        yield from wrong


def _tried(cases: Sequence[Any], run: Run, seconds: int, memory: int) -> tuple[list[str], str]:
    """Return what is wrong with cases of one process, and how that ended, unless it did so well."""
    read, write = os.pipe()
    gc.freeze()
    if (pid := os.fork()) == 0:
        os.close(read)
        _try(cases, run, seconds, memory, write)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as pipe:
        lines = [line.rstrip("\n").split("\t", 1) for line in pipe]
    status = os.waitpid(pid, 0)[1]
    end = "no answer in time" if status & 127 == signal.SIGALRM else f"status {status}"
    tried = next((text for kind, text in reversed(lines) if kind == "tried"), "the start")
    return [text for kind, text in lines if kind == "wrong"], f"{tried}: {end}" if status else ""


def _try(cases: Sequence[Any], run: Run, seconds: int, memory: int, write: int) -> NoReturn:
    """Try cases in this process, and end it."""
    status = 1
    try:
        collect_seldom()
        warnings.simplefilter("ignore")
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        with os.fdopen(write, "w", encoding="utf-8", errors="backslashreplace") as pipe:

            def say(kind: str, text: str) -> None:
                print(kind, " ".join(text[:2000].splitlines()), sep="\t", file=pipe, flush=True)

            def timed(case: Any) -> None:
                signal.alarm(seconds)
                try:
                    run(case, lambda text: say("tried", text))
                finally:
                    signal.alarm(COMPILING)

            for case, error in each(cases, timed):
                if error is not None:
                    say("wrong", f"{case}: {type(error).__name__}: {error}")
        status = 0
    except BaseException:
        traceback.print_exc()
    os._exit(status)
