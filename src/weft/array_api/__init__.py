"""Namespace of the array API standard (2025.12): the result of ``A.__array_namespace__()``.

The namespace has every name of ``weft``. There are two differences, which the standard requires: results without axes
are tensors, where those of ``weft`` are NumPy scalars; and eigenvalues of ``linalg.eig`` and ``eigvals`` are complex,
where NumPy's are real if no imaginary part is left.

Examples
--------
>>> import weft
>>> A = weft.eye(3, format="csr")
>>> xp = A.__array_namespace__()
>>> xp.sum(A), weft.sum(A)
(SparseTensor(3., format='dense'), np.float64(3.0))
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np

from ..storage import Storage
from ..tensor import SparseTensor
from ..tensor.results import change_values

_MODULES = ("fft", "linalg")
_COMPLEX = ("eig", "eigvals")
"""Functions of ``linalg`` whose results are complex, whatever their values are."""


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name not in ("__array_api_version__", "__array_namespace_info__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(sys.modules[__name__.partition(".")[0]], name)
    # The name is stored in the module, so that the next access does not come here.
    made = globals()[name] = _Part(found) if name in _MODULES else _giving_tensors(found)
    return made


def __dir__() -> list[str]:
    return dir(sys.modules[__name__.partition(".")[0]])


class _Part(ModuleType):
    """Module whose functions return tensors in place of NumPy scalars."""

    def __init__(self, module: ModuleType):
        super().__init__(f"{__name__}.{module.__name__.rpartition('.')[2]}", module.__doc__)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        made = _giving_tensors(getattr(self._module, name), _as_complex if name in _COMPLEX else _as_tensor)
        setattr(self, name, made)
        return made

    def __dir__(self) -> list[str]:
        return dir(self._module)


def _giving_tensors(result: Any, change: Callable[[Any], Any] | None = None) -> Any:
    """Return a function wrapped to return tensors in place of NumPy scalars; return any other object unchanged."""
    if isinstance(result, (type, ModuleType)) or not callable(result):
        return result
    function: Callable[..., Any] = result

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return change_values(function(*args, **kwargs), change or _as_tensor)

    return run


def _as_tensor(found: Any) -> Any:
    return SparseTensor(Storage.dense(np.asarray(found))) if isinstance(found, np.generic) else found


def _as_complex(found: Any) -> Any:
    """Return a result as a tensor of complex numbers."""
    tensor = _as_tensor(found)
    return tensor.astype(np.result_type(tensor.dtype, np.complex64)) if isinstance(tensor, SparseTensor) else tensor
