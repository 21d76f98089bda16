"""Memory for results.

A page that is touched for the first time costs as much as the arithmetic on its contents. Small results come from
NumPy's allocator, which keeps them warm. From ``POOLED`` bytes on they come from a pool of freed buffers; what the
pool lacks is mapped afresh, aligned to 2 MiB, in huge pages. A buffer goes back to the pool when the last array over
it dies; ``config.memory_pool`` bounds what the pool keeps.

Allocated, filled by compiled code and freed, again and again; median microseconds (Xeon, Linux 6.18). Malloc is
warm where glibc has learned to keep such blocks, and cold (``MALLOC_TOP_PAD_=0``) where it has not:

======= ============= ============== =============== ============ ====
MiB     malloc, cold  malloc, warm   4 KiB pages     huge pages   pool
======= ============= ============== =============== ============ ====
0.25    83            6              61              86           5
1       229           20             221             95           19
4       263           153            956             250          145
16      1095          602            4381            953          570
64      15162         10495          24489           10204        6420
256     46860         46457          101472          45025        32579
======= ============= ============== =============== ============ ====
"""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache, wraps
from math import inf, prod
from operator import index
from pathlib import PurePosixPath
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from ..config import config, physical_memory
from ..errors import ResultTooLargeError
from ..records import record
from ._ffi import ffi
from .forks import data_lock

__all__ = [
    "POOLED", "Budget", "PoolInfo", "clear_pool", "empty", "exhausted", "fits", "guarded", "pool_info", "require",
    "shrink", "zeros",
]  # fmt: skip

_Function = TypeVar("_Function", bound=Callable[..., Any])

MIB = 1 << 20
POOLED = MIB
SMALL = POOLED // 16  # elements; no dtype's are larger than 16 bytes
HUGE = 2 * MIB
CHECKED = 64 * MIB
_GROUPS, _CGROUP = "/sys/fs/cgroup", "/proc/self/cgroup"
_GROUP_FILES = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
_PRIVATE = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
_HUGE_ADVICE = getattr(mmap, "MADV_HUGEPAGE", None)
_GIVE_BACK = getattr(mmap, "MADV_DONTNEED", None)


@record
class PoolInfo:
    """What the pool holds: freed buffers, their bytes, and the most it keeps."""

    buffers: int
    bytes: int
    limit: int


@record
class Block:
    """A private anonymous mapping, of which ``size`` bytes from the 2 MiB-aligned ``address`` are used."""

    mapping: mmap.mmap
    start: int
    address: int
    size: int

    def give_back(self, used: int) -> None:
        """Return the pages after the first ``used`` bytes to the system; they would read as zeros."""
        first = self.start + -(-used // HUGE) * HUGE
        length = self.start + self.size - first
        if length > 0 and _GIVE_BACK is not None:
            self.mapping.madvise(_GIVE_BACK, first, length)


class Pool:
    """Freed blocks, the least recently freed first."""

    def __init__(self) -> None:
        self.lock = data_lock()  # taken again where the garbage collector finds a dead array in here
        self.blocks: list[Block] = []
        self.bytes = 0

    def take(self, size: int) -> Block | None:
        """The smallest free block that holds ``size`` bytes without wasting more than half as much again."""
        size = -(-size // HUGE) * HUGE  # as blocks are
        with self.lock:
            best = None
            for block in self.blocks:
                if size <= block.size <= size + size // 2 and (best is None or block.size <= best.size):
                    best = block
            if best is not None:
                self.blocks.remove(best)
                self.bytes -= best.size
            return best

    def give(self, block: Block) -> None:
        """Keep ``block``, at the cost of the oldest ones."""
        limit = config.memory_pool
        with self.lock:
            if block.size <= limit:
                self.blocks.append(block)
                self.bytes += block.size
            self.trim(limit)

    def trim(self, limit: int) -> None:
        """Unmap the oldest blocks until ``limit`` bytes are left."""
        with self.lock:
            while self.bytes > limit and self.blocks:
                self.bytes -= self.blocks.pop(0).size


_pool = Pool()


class _Owner:
    """Exports a block as an array; when the last view of it dies, so does this, and the block goes to the pool."""

    __slots__ = ("__array_interface__", "block", "pool")

    def __init__(self, block: Block, shape: tuple[int, ...], dtype: np.dtype[Any]):
        self.block, self.pool = block, _pool
        self.__array_interface__ = {"version": 3, "data": (block.address, False), "shape": shape, "typestr": dtype.str}

    def __del__(self) -> None:
        self.pool.give(self.block)


def empty(shape: int | Sequence[int], dtype: DTypeLike) -> np.ndarray:
    """An uninitialised C-ordered array for a result.

    Raises
    ------
    ResultTooLargeError
        It would not fit in memory.
    """
    if type(shape) is int and shape < SMALL:
        return np.empty(shape, dtype)
    return _allocate(shape, np.dtype(dtype))


def zeros(shape: int | Sequence[int], dtype: DTypeLike) -> np.ndarray:
    """An array of zeros for a result; raises as :func:`empty` does.

    Pages that the system zeroes when they are first touched are in the cache then, and by each thread for itself:
    zeroing a pooled buffer beforehand never measured faster.
    """
    whole, size = _extent(shape, np.dtype(dtype))
    if size >= CHECKED:
        require(size, _array(whole, np.dtype(dtype)))
    try:
        return np.zeros(whole, dtype)
    except (MemoryError, ValueError):
        raise exhausted(_array(whole, np.dtype(dtype))) from None


def shrink(array: np.ndarray, n: int) -> np.ndarray:
    """The first ``n`` elements of a one-dimensional array of this module's, whose other elements are not needed.

    The memory behind them is given back: whole pages of a large array; a small one is copied where that saves half.
    """
    if n == array.size:
        return array
    used = n * array.itemsize
    owner: object = array.base
    if 2 * used <= array.nbytes and (used < POOLED or not isinstance(owner, _Owner)):
        return array[:n].copy()
    if isinstance(owner, _Owner):
        owner.block.give_back(array.ctypes.data - owner.block.address + used)
    return array[:n]


def pool_info() -> PoolInfo:
    """What the pool of freed result memory holds."""
    with _pool.lock:
        return PoolInfo(len(_pool.blocks), _pool.bytes, config.memory_pool)


def clear_pool() -> None:
    """Return all freed result memory to the system."""
    _pool.trim(0)


def _extent(shape: int | Sequence[int], dtype: np.dtype[Any]) -> tuple[tuple[int, ...], int]:
    """A shape as a tuple, and the bytes of an array that has it."""
    whole = tuple(map(index, shape)) if isinstance(shape, Sequence) else (index(shape),)
    return whole, prod(whole) * dtype.itemsize


def _allocate(shape: int | Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
    whole, size = _extent(shape, dtype)
    if size < POOLED or not _PRIVATE:
        return np.empty(whole, dtype)
    block = _pool.take(size)
    if block is None:
        if size >= CHECKED:
            require(size, _array(whole, dtype))
        block = _map(size, whole, dtype)
    return np.asarray(_Owner(block, whole, dtype))


def _map(size: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Block:
    rounded = -(-size // HUGE) * HUGE
    try:
        mapping = mmap.mmap(-1, rounded + HUGE, flags=_PRIVATE)
    except (OSError, ValueError, OverflowError):
        clear_pool()
        try:
            mapping = mmap.mmap(-1, rounded + HUGE, flags=_PRIVATE)
        except (OSError, ValueError, OverflowError):
            raise exhausted(f"{_array(shape, dtype)}, of {size:,} bytes") from None
    address = int(ffi.cast("intptr_t", ffi.from_buffer(mapping)))
    start = -address % HUGE
    if _HUGE_ADVICE is not None:
        with contextlib.suppress(OSError):  # a kernel without huge pages
            mapping.madvise(_HUGE_ADVICE, start, rounded)
    return Block(mapping, start, address + start, rounded)


class Budget:
    """The memory for an operation that makes its arrays one after another, as it finds out how large they are.

    What it made before counts: memory that was given out and not yet written is still free with the system.

    Parameters
    ----------
    what : str
        What takes the memory, for the message.
    """

    def __init__(self, what: str) -> None:
        self.what, self.taken = what, 0
        self.available: float | None = None

    def take(self, size: int) -> None:
        """Refuse so many bytes more where they do not fit; raises as :func:`require` does."""
        if not self.has(size):
            raise ResultTooLargeError(
                f"{self.what} would take {self.taken:,} bytes of memory; {self.available:,} are available"
            )

    def has(self, size: int) -> bool:
        """Take so many bytes more, and tell whether they fit."""
        self.taken += size
        if self.taken < CHECKED:
            return True
        if self.available is None:
            available = _available()
            self.available = inf if available is None else available
        if self.taken > self.available:
            self.available += pool_info().bytes
            clear_pool()
        return self.taken <= self.available


def require(size: int, what: str) -> None:
    """Refuse what does not fit in memory, before it is made.

    Every path that makes large arrays asks this once, with the bytes of all that it makes together: memory that was
    given out and not yet written still counts as free with the system.

    Parameters
    ----------
    size : int
        Bytes of all that will be made.
    what : str
        What takes them, for the message.

    Raises
    ------
    ResultTooLargeError
        It would not fit. The message has both sizes.
    """
    if size >= CHECKED:
        Budget(what).take(size)


def guarded(function: _Function) -> _Function:
    """Have a function that makes arrays with NumPy raise ``ResultTooLargeError`` where memory runs out.

    It is for functions that do more than they cost to call.
    """

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except ResultTooLargeError:
            raise
        except MemoryError as error:
            raise exhausted(f"the result of {function.__name__} ({error or 'no size is known'})") from None

    return call  # type: ignore[return-value]


def fits(size: int) -> bool:
    """Tell whether so many bytes fit in memory."""
    return size < CHECKED or Budget("").has(size)


def exhausted(what: str) -> ResultTooLargeError:
    """Return the error for memory that ran out all the same: the system had less than it said."""
    return ResultTooLargeError(f"there is no memory for {what}")


def _array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    return f"a result (an array of shape {shape} and dtype {dtype})"


def _available() -> int | None:
    """Bytes that can be had without swapping others out: the machine's, the control groups', and the process's."""
    bounds = [*_of_machine(), *_of_groups(), *_of_process()]
    return max(0, min(bounds)) if bounds else None


def _of_machine() -> Iterator[int]:
    with contextlib.suppress(OSError, ValueError, KeyError):
        with open("/proc/meminfo", "rb", buffering=0) as file:
            fields = dict(line.split(b":") for line in file.read().splitlines())
        yield sum(int(fields[name].split()[0]) for name in (b"MemAvailable", b"SwapFree")) * 1024


def _of_groups() -> Iterator[int]:
    """Yield the bytes that each control group of the process, and each around that, has left."""
    for folder, limit, usage, reclaimable in _groups():
        with contextlib.suppress(OSError, ValueError):
            with open(os.path.join(folder, limit)) as file:
                most = int(file.read())  # or "max"
            if most > physical_memory():
                continue
            with open(os.path.join(folder, usage)) as file:
                used = int(file.read())
            with open(os.path.join(folder, "memory.stat")) as file:
                cached = next((int(line.split()[1]) for line in file if line.startswith(reclaimable + " ")), 0)
            yield most - used + cached


@cache
def _groups() -> tuple[tuple[str, str, str, str], ...]:
    """The folders of the control groups that the process is in, of either version, with the names of their files."""
    found = []
    with contextlib.suppress(OSError), open(_CGROUP) as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if controllers not in _GROUP_FILES:
                continue
            root, names = os.path.join(_GROUPS, controllers), _GROUP_FILES[controllers]
            group = PurePosixPath(path.lstrip("/"))  # from inside of a container only its root may be seen
            folders = [os.path.join(root, one) for one in (group, *group.parents)]
            found += [(one, *names) for one in folders if os.path.exists(os.path.join(one, names[0]))]
    return tuple(found)


def _of_process() -> Iterator[int]:
    """Yield the bytes that the limits of the process leave: of its addresses, and of its data."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
        if any(limit != resource.RLIM_INFINITY for limit in limits):
            with open("/proc/self/statm") as file:
                pages = file.read().split()
            for limit, used in zip(limits, (pages[0], pages[5]), strict=True):
                if limit != resource.RLIM_INFINITY:
                    yield limit - int(used) * resource.getpagesize()
