"""Sparse tensors for Python, computed by C that is compiled for your formats.

Examples
--------
>>> import numpy as np
>>> import weft
>>> A = weft.from_coords([[0, 0, 1], [0, 2, 1]], [1.0, 2.0, 3.0], shape=(2, 3), format="csr")
>>> weft.einsum("ij,j->i", A, np.array([1.0, 1.0, 1.0]))
array([3., 3.])
"""

from typing import TYPE_CHECKING, Any

from . import errors, interop
from .config import config
from .errors import WeftError
from .formats import Compressed, Dense, Format, LevelFormat, Singleton, formats, register_format
from .tensor import SparseTensor, asarray, from_coords, from_levels, random

if TYPE_CHECKING:
    from .runtime import get_num_threads, set_num_threads
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
]

# What needs the compiler is imported when it is first asked for: importing weft stays cheap.
_LATER = {
    "compile": "tensor.functions",
    "einsum": "tensor.functions",
    "evaluate": "tensor.functions",
    "explain": "tensor.functions",
    "get_num_threads": "runtime",
    "set_num_threads": "runtime",
}


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
