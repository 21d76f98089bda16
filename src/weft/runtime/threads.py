"""Number of threads of a kernel."""

from __future__ import annotations

from ..config import config

__all__ = ["for_work", "get_num_threads", "set_num_threads"]


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
    return config.num_threads


def for_work(work: int) -> int:
    """Return the number of threads to call a kernel with.

    All calls of kernels take their number of threads from this function.

    Parameters
    ----------
    work : int
        Rough number of values that the kernel reads.
    """
    return 1 if work < config.parallel_threshold else config.num_threads
