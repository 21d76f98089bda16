"""Sparse tensors for Python, computed by C that is compiled for your formats.

Examples
--------
>>> import numpy as np
>>> import weft
>>> A = weft.from_coords([[0, 0, 1], [0, 2, 1]], [1.0, 2.0, 3.0], shape=(2, 3), format="csr")
>>> weft.einsum("ij,j->i", A, np.array([1.0, 1.0, 1.0]))
array([3., 3.])
"""

from . import errors, interop
from .config import config
from .errors import WeftError
from .formats import Compressed, Dense, Format, LevelFormat, Singleton, formats, register_format
from .runtime import get_num_threads, set_num_threads
from .tensor import SparseTensor, asarray, from_coords, from_levels, random
from .tensor.display import spy
from .tensor.functions import compile, einsum, evaluate, explain

__version__ = "0.1.0"

__all__ = [
    "Compressed",
    "Dense",
    "Format",
    "LevelFormat",
    "Singleton",
    "SparseTensor",
    "WeftError",
    "asarray",
    "compile",
    "config",
    "einsum",
    "errors",
    "evaluate",
    "explain",
    "formats",
    "from_coords",
    "from_levels",
    "get_num_threads",
    "interop",
    "random",
    "register_format",
    "set_num_threads",
    "spy",
]
