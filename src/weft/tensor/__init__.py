"""Public tensor type ``SparseTensor``, with the functions that make tensors and compute with them.

Only the tensor itself is imported here. The compiler is imported when it is first used (``weft.execution``).
"""

from .construction import asarray, from_coords, from_levels
from .random import random
from .sparse_tensor import SparseTensor

__all__ = [
    "SparseTensor",
    "asarray",
    "from_coords",
    "from_levels",
    "random",
]
