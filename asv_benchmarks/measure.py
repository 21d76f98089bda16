"""Times of several programs for the same thing, taken in turns, and the ratios between them.

A machine drifts (frequency, neighbours, page cache), so what is compared runs in turns: each round takes one sample
of every program, and a ratio is the median over the rounds of the quotient within a round. A sample repeats a call
until it lasts long enough for the clock, and follows one that is not timed, so that all find the caches as they leave
them.
"""

from __future__ import annotations

import ctypes
import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

__all__ = [
    "Ratio",
    "Run",
    "Samples",
    "added_at_peak",
    "forget_peak",
    "installed",
    "interleaved",
    "memory_of",
    "one_cpu",
    "seconds_of",
    "threads",
]

Run = Callable[[], object]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Ratio:
    """The median of a quotient of times, and its quartiles."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class Samples:
    """Seconds a call, for each program one entry a round."""

    seconds: dict[str, list[float]]

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])

    def ratio(self, name: str, peer: str) -> Ratio:
        """How long ``name`` takes for each second of ``peer``."""
        quotients = [a / b for a, b in zip(self.seconds[name], self.seconds[peer], strict=True)]
        low, _, high = statistics.quantiles(quotients, n=4, method="inclusive") if len(quotients) > 1 else quotients * 3
        return Ratio(statistics.median(quotients), low, high)


def interleaved(
    runs: Mapping[str, Run],
    *,
    rounds: int | None = None,
    sample: float = 2e-3,
    budget: float = 3.0,
    warmup: int = 2,
    clock: Clock = time.perf_counter,
) -> Samples:
    """Time every run in turns.

    Parameters
    ----------
    runs : mapping of str to callable
        What to time.
    rounds : int, optional
        Samples of each; by default as many as ``budget`` seconds allow, from 7 to 51.
    sample : float
        Seconds that a sample lasts at least; calls shorter than that are repeated.
    budget : float
        Seconds to spend, more or less.
    warmup : int
        Calls before the first sample.
    clock : callable
        Tells the time in seconds.
    """
    repeats, each = {}, {}
    for name, run in runs.items():
        for _ in range(warmup):
            run()
        repeats[name], each[name] = _calibrate(run, sample, clock)
    if rounds is None:
        a_round = sum((1 + repeats[name]) * each[name] for name in runs)
        rounds = min(51, max(7, int(budget / a_round)))
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    names = list(runs)
    with _no_gc():
        for turn in range(rounds):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                runs[name]()  # whoever ran before may have left this one's operands in the cache, or others
                seconds[name].append(_sample(runs[name], repeats[name], clock))
    return Samples(seconds)


def installed(package: str) -> bool:
    """Whether a peer is here."""
    return find_spec(package) is not None


def seconds_of(run: Run, *, sample: float = 2e-3, budget: float = 1.0) -> float:
    """Seconds a call, the median."""
    return interleaved({"run": run}, sample=sample, budget=budget).median("run")


def memory_of(name: str) -> float:
    """The bytes of this process that Linux counts as ``VmRSS``, its memory now, or ``VmHWM``, the peak."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024.0 for line in file if line.startswith(name))


def forget_peak() -> None:
    """Let ``VmHWM`` begin at the memory that is used now."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def added_at_peak(run: Run) -> float:
    """The bytes that a call adds to the memory of the process at most, its result included; the first call warms up."""
    first = run()  # kept, so that its memory does not serve the second
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed would serve the call, too
    forget_peak()
    before = memory_of("VmRSS")
    run()
    added = memory_of("VmHWM") - before
    del first
    return added


@contextmanager
def one_cpu() -> Iterator[None]:
    """Keep the calling thread on one of the CPUs it may use."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let weft use ``count`` threads; one thread is also pinned to one CPU."""
    import weft

    before = weft.config.num_threads
    weft.set_num_threads(count)
    try:
        if count == 1:
            with one_cpu():
                yield
        else:
            yield
    finally:
        weft.set_num_threads(before)


@contextmanager
def _no_gc() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _calibrate(run: Run, sample: float, clock: Clock) -> tuple[int, float]:
    """Calls a sample, and seconds a call."""
    count = 1
    while True:
        each = _sample(run, count, clock)
        if each * count >= sample:
            return count, each
        count = max(2 * count, min(int(1.2 * sample / max(each, 1e-9)), 100 * count))


def _sample(run: Run, count: int, clock: Clock) -> float:
    """Seconds a call, over ``count`` calls whose results die at once, as a caller's temporaries would."""
    loop = range(count)
    begin = clock()
    for _ in loop:
        run()
    return (clock() - begin) / count
