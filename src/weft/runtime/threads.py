"""Number of threads of a kernel.

libgomp keeps a team of threads for each thread that has run a parallel region. After ``fork`` the child has the data
of the team but not its threads, and its next parallel region waits for them for ever. A child of a process that has
run a parallel kernel therefore runs all kernels with one thread.
"""

from __future__ import annotations

from ..config import config
from . import forks

__all__ = ["for_work", "get_num_threads", "set_num_threads"]

_team_started = False  # a kernel has been called with several threads
_single = False  # this process is the child of one in which that was so


def set_num_threads(n: int) -> None:
    """Set the number of threads of parallel kernels (``config.num_threads``).

    Parameters
    ----------
    n : int
        The number of threads.

    Examples
    --------
    >>> import weft
    >>> before = weft.get_num_threads()
    >>> weft.set_num_threads(1)
    >>> weft.get_num_threads()
    1
    >>> weft.set_num_threads(before)
    """
    config.num_threads = n


def get_num_threads() -> int:
    """Return the number of threads that a parallel kernel with enough work would get now.

    Examples
    --------
    >>> import weft
    >>> before = weft.get_num_threads()
    >>> weft.set_num_threads(1)
    >>> weft.get_num_threads()
    1
    >>> weft.set_num_threads(before)
    """
    return 1 if _single else config.num_threads


def for_work(work: int) -> int:
    """Return the number of threads to call a kernel with.

    All calls of kernels take their number of threads from this function.

    Parameters
    ----------
    work : int
        Rough number of values that the kernel reads.
    """
    global _team_started
    if work < config.parallel_threshold or _single:
        return 1
    threads = config.num_threads
    if threads > 1:
        _team_started = True
    return threads


def _after_fork() -> None:
    global _single
    _single = _single or _team_started


forks.in_child(_after_fork)
