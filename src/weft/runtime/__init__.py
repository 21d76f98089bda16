"""From C text to something that runs: the compiler, the kernel cache, the loader, threads, and memory for results."""

from .cache import CacheInfo
from .cache import clear as clear_cache
from .cache import info as cache_info
from .interrupts import fail
from .loader import Functions, load
from .memory import PoolInfo, clear_pool, empty, pool_info, shrink, zeros
from .structs import NULL, counts_pointer, tensor_struct
from .threads import for_work, get_num_threads, set_num_threads

__all__ = [
    "NULL",
    "CacheInfo",
    "Functions",
    "PoolInfo",
    "cache_info",
    "clear_cache",
    "clear_pool",
    "counts_pointer",
    "empty",
    "fail",
    "for_work",
    "get_num_threads",
    "load",
    "pool_info",
    "set_num_threads",
    "shrink",
    "tensor_struct",
    "zeros",
]
