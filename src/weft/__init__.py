"""Sparse tensors for Python, with C kernels that are compiled for the formats of the tensors.

Examples
--------
>>> import numpy as np
>>> import weft
>>> coords = [[0, 0, 1], [0, 2, 1]]
>>> A = weft.from_coords(coords, [1.0, 2.0, 3.0], (2, 3), format="csr")
>>> weft.einsum("ij,j->i", A, np.array([1.0, 1.0, 1.0]))
array([3., 3.])
"""

from . import errors as errors
from . import interop as interop
from ._api import FUNCTIONS as _FUNCTIONS
from .config import config as config
from .errors import WeftError as WeftError
from .formats import Compressed as Compressed
from .formats import Dense as Dense
from .formats import Format as Format
from .formats import LevelFormat as LevelFormat
from .formats import Singleton as Singleton
from .formats import formats as formats
from .formats import register_format as register_format
from .runtime import get_num_threads as get_num_threads
from .runtime import set_num_threads as set_num_threads
from .tensor import SparseTensor as SparseTensor
from .tensor import asarray as asarray
from .tensor import from_coords as from_coords
from .tensor import from_levels as from_levels
from .tensor import random as random

__array_api_version__ = "2025.12"

_EAGER = """
    Compressed Dense Format LevelFormat Singleton SparseTensor WeftError asarray config errors formats from_coords
    from_levels get_num_threads interop random register_format set_num_threads
"""
_PLACES = {name: module for module, names in _FUNCTIONS.items() for name in names.split()}
_MODULES = (
    "array_api",
    "autograd",
    "csgraph",
    "dask",
    "fft",
    "jax",
    "lib",
    "linalg",
    "testing",
    "torch",
    "xarray",
)  # submodules that are imported when they are first used
# With an __all__, help() would print the documentation of every name in full. Instead, dir() lists the public names,
# and this docstring has them in groups. Type checkers read __init__.pyi.
__doc__ = "\n".join(
    [__doc__ or "", "Names, by what they are for:", ""]  # there is no docstring with -OO
    + [
        f"{module.rpartition('.')[2]}\n    " + "\n    ".join(line.strip() for line in names.strip().splitlines())
        for module, names in {"first of all": _EAGER, **_FUNCTIONS}.items()
    ]
)


def __array_namespace_info__() -> object:  # noqa: N807
    """Return the object that describes this namespace, as the array API standard requires.

    Examples
    --------
    >>> import weft
    >>> weft.__array_namespace_info__().default_dtypes()["real floating"]
    dtype('float64')
    """
    from .numpy_api.info import Info

    return Info()


def _version() -> str:
    """Return the version of the installed package; ``0+unknown`` for a source tree that is not installed."""
    from importlib import metadata

    try:
        return metadata.version("weft")
    except metadata.PackageNotFoundError:
        return "0+unknown"


def __getattr__(name: str) -> object:
    if name == "__version__":  # reading it costs more than the rest of this module
        globals()[name] = version = _version()
        return version
    module = name if name in _MODULES else _PLACES.get(name)
    if module is None:
        from .hints import FUNCTION_NAMES

        raise errors.MissingNameError(f"module {__name__!r} has no attribute {name!r}", name, __dir__, FUNCTION_NAMES)
    from importlib import import_module

    place = import_module(f".{module}", __name__)
    globals()[name] = found = place if name in _MODULES else getattr(place, name)
    return found


def __dir__() -> list[str]:
    standard = ("__array_api_version__", "__array_namespace_info__", "__doc__", "__name__", "__version__")
    return sorted({*standard, *_EAGER.split(), *_PLACES, *_MODULES})
