"""Memory for results.

The first access to a page costs as much as the arithmetic on its contents. Small results come from NumPy's allocator,
which reuses pages. Results of ``POOLED`` bytes and more come from a pool of freed buffers. If the pool has no buffer of
the right size, one is newly mapped, aligned to 2 MiB, in huge pages. A buffer goes back to the pool when the last
array over it is freed. ``config.memory_pool`` bounds the size of the pool.

The table has median microseconds for a result that is allocated, filled by compiled code and freed, again and again
(Xeon, Linux 6.18). Malloc is warm if glibc has learned to keep such blocks, and cold (``MALLOC_TOP_PAD_=0``) if it has
not:

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
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from ..config import config, physical_memory
from ..control_groups import control_groups
from ..errors import ResultTooLargeError, WeftError
from ..records import record
from ..tracebacks import ends_at_caller
from ._ffi import ffi
from .forks import data_lock

_Function = TypeVar("_Function", bound=Callable[..., Any])

MIB = 1 << 20
POOLED = MIB
SMALL = POOLED // 16  # elements of a small array of any dtype, since none has more than 16 bytes
HUGE = 2 * MIB
CHECKED = 64 * MIB  # smaller sizes are not compared with the free memory, which takes a read of several files
# For each version of control groups: the files of the limit and of the memory in use, and the field of memory.stat that
# says how much of the memory in use can be reclaimed.
_GROUP_FILES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}
_PRIVATE = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
_HUGE_ADVICE = getattr(mmap, "MADV_HUGEPAGE", None)
_GIVE_BACK = getattr(mmap, "MADV_DONTNEED", None)


@record
class PoolInfo:
    """Contents of the pool of freed result memory."""

    buffers: int  # number of freed buffers
    bytes: int  # Size of all freed buffers
    limit: int  # Largest size of all freed buffers that the pool keeps


@record
class Block:
    """Private anonymous mapping, of which ``size`` bytes from the 2 MiB-aligned ``address`` are used."""

    mapping: mmap.mmap
    start: int
    address: int
    size: int

    def give_back(self, used: int) -> None:
        """Return the pages after the first ``used`` bytes to the system; those pages read as zeros from then on."""
        first = self.start + -(-used // HUGE) * HUGE
        length = self.start + self.size - first
        if length > 0 and _GIVE_BACK is not None:
            self.mapping.madvise(_GIVE_BACK, first, length)


class Pool:
    """Freed blocks, the least recently freed first."""

    def __init__(self) -> None:
        self.lock = data_lock()  # reentrant: the garbage collector may free an array, and so call give, in a method
        self.blocks: list[Block] = []
        self.bytes = 0

    def take(self, size: int) -> Block | None:
        """Remove and return the smallest free block of ``size`` bytes to half as much again; None if there is none."""
        size = -(-size // HUGE) * HUGE  # sizes of blocks are multiples of HUGE
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
        """Add a freed block, and unmap the oldest ones if the pool becomes larger than ``config.memory_pool``."""
        limit = config.memory_pool
        with self.lock:
            if block.size <= limit:
                self.blocks.append(block)
                self.bytes += block.size
            self.trim(limit)

    def trim(self, limit: int) -> None:
        """Unmap the oldest blocks until at most ``limit`` bytes are left."""
        with self.lock:
            while self.bytes > limit and self.blocks:
                self.bytes -= self.blocks.pop(0).size


_pool = Pool()


class _Owner:
    """Base of the arrays over a block; when the last of them is freed, the block goes to the pool."""

    __slots__ = ("__array_interface__", "block", "pool")

    def __init__(self, block: Block, shape: tuple[int, ...], dtype: np.dtype[Any]):
        self.block, self.pool = block, _pool
        self.__array_interface__ = {"version": 3, "data": (block.address, False), "shape": shape, "typestr": dtype.str}

    def __del__(self) -> None:
        self.pool.give(self.block)


def empty(shape: int | Sequence[int], dtype: DTypeLike) -> np.ndarray:
    """Return an uninitialized C-ordered array for a result."""
    if type(shape) is int and shape < SMALL:  # the most frequent case, without any arithmetic on sizes
        return np.empty(shape, dtype)
    return _allocate(shape, np.dtype(dtype))


def zeros(shape: int | Sequence[int], dtype: DTypeLike) -> np.ndarray:
    """Return an array of zeros for a result.

    The array comes from the system, not from the pool. The system zeroes a page on first access: the page is in the
    cache then, and each thread zeroes its own pages. Zeroing a buffer of the pool beforehand was never measured to be
    faster.
    """
    extent, size = _extent(shape, np.dtype(dtype))
    if size >= CHECKED:
        require(size, _array(extent, np.dtype(dtype)))
    try:
        return np.zeros(extent, dtype)
    except (MemoryError, ValueError):
        raise exhausted(_array(extent, np.dtype(dtype))) from None


def shrink(array: np.ndarray, n: int) -> np.ndarray:
    """Return the first ``n`` elements of a one-dimensional array of this module's, and give the other ones back.

    Whole pages of a large array are returned to the system. A small array is copied if that saves half of its memory.
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
    """Return the contents of the pool of freed result memory."""
    with _pool.lock:
        return PoolInfo(len(_pool.blocks), _pool.bytes, config.memory_pool)


def clear_pool() -> None:
    """Return all freed result memory to the system."""
    _pool.trim(0)


def _extent(shape: int | Sequence[int], dtype: np.dtype[Any]) -> tuple[tuple[int, ...], int]:
    """Return a shape as a tuple, and the bytes of an array of that shape."""
    whole = tuple(map(index, shape)) if isinstance(shape, Sequence) else (index(shape),)
    return whole, prod(whole) * dtype.itemsize


def _allocate(shape: int | Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
    extent, size = _extent(shape, dtype)
    if size < POOLED or not _PRIVATE:
        return np.empty(extent, dtype)
    block = _pool.take(size)
    if block is None:
        if size >= CHECKED:
            require(size, _array(extent, dtype))
        block = _map(size, extent, dtype)
    return np.asarray(_Owner(block, extent, dtype))


def _map(size: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Block:
    rounded = -(-size // HUGE) * HUGE
    try:
        mapping = mmap.mmap(-1, rounded + HUGE, flags=_PRIVATE)
    except (OSError, ValueError, OverflowError):
        # The pool may hold the memory that the system lacks: free it and try once more.
        clear_pool()
        try:
            mapping = mmap.mmap(-1, rounded + HUGE, flags=_PRIVATE)
        except (OSError, ValueError, OverflowError):
            raise exhausted(f"{_array(shape, dtype)}, of {size:,} bytes") from None
    # The mapping is one huge page longer than the block, so that the block can begin at a multiple of 2 MiB.
    address = int(ffi.cast("intptr_t", ffi.from_buffer(mapping)))
    start = -address % HUGE
    if _HUGE_ADVICE is not None:
        with contextlib.suppress(OSError):  # systems without huge pages refuse
            mapping.madvise(_HUGE_ADVICE, start, rounded)
    return Block(mapping, start, address + start, rounded)


class Budget:
    """Memory of an operation that makes its arrays one after another, as their sizes become known.

    The arrays that were made before count: memory that was allocated and not yet written is still free to the system.
    """

    def __init__(self, what: str) -> None:
        self.what, self.taken = what, 0
        self.available: float | None = None

    def take(self, size: int) -> None:
        """Add so many bytes to the budget, and raise if they do not fit in memory."""
        if not self.has(size):
            raise ResultTooLargeError(
                f"{self.what} would take {self.taken:,} bytes of memory; {self.available:,} are available"
            )

    def has(self, size: int) -> bool:
        """Add so many bytes to the budget, and return whether they fit in memory."""
        self.taken += size
        if self.taken < CHECKED:
            return True
        # The free memory is read once: later reads would miss what the operation has allocated and not yet written.
        if self.available is None:
            available = _available()
            self.available = inf if available is None else available
        if self.taken > self.available:
            # Freed buffers of the pool count as used memory: give them back.
            self.available += pool_info().bytes
            clear_pool()
        return self.taken <= self.available


def require(size: int, what: str) -> None:
    """Raise if memory is not available, before anything is allocated.

    Every function that makes large arrays calls this function once, with the bytes of all of them together: memory that
    was allocated and not yet written still counts as free to the system.
    """
    if size >= CHECKED:
        Budget(what).take(size)


def guarded(function: _Function) -> _Function:
    """Return a function that raises ``ResultTooLargeError`` if memory runs out in the given function.

    The decorator is for functions that make arrays with NumPy, and that take longer than one more call of a function.
    """

    @ends_at_caller
    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except WeftError:
            raise
        except MemoryError as error:
            raise exhausted(f"the result of {function.__name__} ({error or 'no size is known'})") from None

    return call  # type: ignore[return-value]


def fits(size: int) -> bool:
    """Return whether so many bytes fit in memory."""
    return size < CHECKED or Budget("").has(size)


def exhausted(what: str) -> ResultTooLargeError:
    """Return the error for memory that ran out although the system reported enough."""
    return ResultTooLargeError(f"there is no memory for {what}")


def _array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    return f"a result (an array of shape {shape} and dtype {dtype})"


def _available() -> int | None:
    """Return the bytes that are available, free swap space included; None if that is unknown.

    The result is the least of three numbers: the rest of the machine's memory, of the control groups' limits, and of
    the limits of the process.
    """
    bounds = [*_of_machine(), *_of_groups(), *_of_process()]
    return max(0, min(bounds)) if bounds else None


def _of_machine() -> Iterator[int]:
    with contextlib.suppress(OSError, ValueError, KeyError):
        with open("/proc/meminfo", "rb", buffering=0) as file:
            fields = dict(line.split(b":") for line in file.read().splitlines())
        yield sum(int(fields[name].split()[0]) for name in (b"MemAvailable", b"SwapFree")) * 1024


def _of_groups() -> Iterator[int]:
    """Yield the bytes that are left to each control group of the process, and to each group around it."""
    for folder, limit, usage, reclaimable in _groups():
        with contextlib.suppress(OSError, ValueError):
            with open(os.path.join(folder, limit)) as file:
                most = int(file.read())  # or "max"
            if most > physical_memory():  # no limit: version 1 reports one beyond all memory
                continue
            with open(os.path.join(folder, usage)) as file:
                used = int(file.read())
            with open(os.path.join(folder, "memory.stat")) as file:
                cached = next((int(line.split()[1]) for line in file if line.startswith(reclaimable + " ")), 0)
            yield most - used + cached


@cache
def _groups() -> tuple[tuple[str, str, str, str], ...]:
    """Return the folders of the control groups that limit the memory, with the names of files."""
    found = [(folder, *_GROUP_FILES[version]) for version, folder in control_groups("memory")]
    return tuple(one for one in found if os.path.exists(os.path.join(one[0], one[1])))


def _of_process() -> Iterator[int]:
    """Yield the bytes that are left to the process by the limits of its address space and of its data."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
        if any(limit != resource.RLIM_INFINITY for limit in limits):
            with open("/proc/self/statm") as file:
                pages = file.read().split()
            for limit, used in zip(limits, (pages[0], pages[5]), strict=True):
                if limit != resource.RLIM_INFINITY:
                    yield limit - int(used) * resource.getpagesize()
