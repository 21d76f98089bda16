"""The public tensor: ``SparseTensor``, how it is made, and what is computed with it.

Only the tensor itself is imported here; the compiler is imported when it is used (``weft.execution``).
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
