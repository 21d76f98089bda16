"""The public tensor: ``SparseTensor``, how it is made, and what is computed with it."""

from .construction import asarray, from_coords, from_levels
from .functions import compile, einsum, evaluate, explain
from .random import random
from .sparse_tensor import SparseTensor

__all__ = [
    "SparseTensor",
    "asarray",
    "compile",
    "einsum",
    "evaluate",
    "explain",
    "from_coords",
    "from_levels",
    "random",
]
