"""From C text to calls: the compiler, the kernel cache, the loader, threads, and memory for results.

The compiler, the cache and the loader are imported from their own files: ``import weft`` loads this package, and needs
only memory and threads.
"""

from . import limits as limits  # registers itself where threadpoolctl is loaded
from .memory import PoolInfo, clear_pool, empty, pool_info, shrink, zeros
from .structs import NULL, counts_pointer, tensor_struct
from .threads import for_work, get_num_threads, set_num_threads

__all__ = [
    "NULL",
    "PoolInfo",
    "clear_pool",
    "counts_pointer",
    "empty",
    "for_work",
    "get_num_threads",
    "pool_info",
    "set_num_threads",
    "shrink",
    "tensor_struct",
    "zeros",
]
