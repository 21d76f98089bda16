"""Number of threads of a kernel.

In a thread of dask's, which runs one chunk beside others, a kernel takes its share of ``config.num_threads``.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

from ..config import config


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
    """
    return 1 if work < config.parallel_threshold else max(1, config.num_threads // _beside())


_thread = threading.local()  # has the number of dask's threads beside this one, once it is known


def _beside() -> int:
    """Return how many threads of dask's there are in the pool to which this thread belongs; 1 outside of dask."""
    count: int | None = getattr(_thread, "count", None)
    if count is None:
        if threading.current_thread() is threading.main_thread() or "dask" not in sys.modules:
            return 1
        count = _thread.count = max([1, *(getattr(pool, "_max_workers", 1) for pool in _pools_of_dask())])
    return count


def _pools_of_dask() -> Iterator[Any]:
    """Yield the pools of dask's to which this thread belongs: a worker's, and those of the threaded scheduler."""
    state = getattr(sys.modules.get("distributed.threadpoolexecutor"), "thread_state", None)
    yield getattr(state, "executor", None)
    threaded: Any = sys.modules.get("dask.threaded")
    if threaded is None:
        return
    for pool in (threaded.default_pool, *(pool for own in list(threaded.pools.values()) for pool in own.values())):
        # A pool lists a thread after it has started it, but has named it before.
        if threading.current_thread().name.startswith(f"{getattr(pool, '_thread_name_prefix', None)}_"):
            yield pool
