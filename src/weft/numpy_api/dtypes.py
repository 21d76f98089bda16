"""Dtypes and constants of the array API standard: NumPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import (
    bool,
    complex64,
    complex128,
    e,
    float32,
    float64,
    inf,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    nan,
    newaxis,
    pi,
    uint8,
    uint16,
    uint32,
    uint64,
)
from numpy.typing import DTypeLike

from ..operations.operands import StorageHolder, as_operand
from ..tensor.construction import asarray
from ..tensor.devices import require_cpu

__all__ = [
    "astype", "bool", "can_cast", "complex64", "complex128", "e", "finfo", "float32", "float64", "iinfo", "inf", "int8",
    "int16", "int32", "int64", "isdtype", "nan", "newaxis", "pi", "promote_types", "result_type", "uint8", "uint16",
    "uint32", "uint64",
]  # fmt: skip

promote_types = np.promote_types


def _dtype(x: Any) -> Any:
    """The dtype of a tensor; anything else as it is."""
    if isinstance(x, StorageHolder):
        return x._storage.dtype
    if isinstance(x, (str, type, np.dtype, np.ndarray, np.generic, int, float, complex)):
        return x
    operand = as_operand(x)
    return x if operand is None else operand.storage.dtype


def can_cast(from_: Any, to: DTypeLike, casting: Any = "safe") -> Any:
    """Whether a dtype, or that of a tensor, can be converted to another by a rule."""
    return np.can_cast(_dtype(from_), _dtype(to), casting)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The dtype of an operation on tensors, dtypes and Python scalars."""
    return np.result_type(*map(_dtype, arrays_and_dtypes))


class FloatLimits:
    """Hold the limits of a floating point dtype: NumPy's attributes, with Python's numbers in every dtype.

    Examples
    --------
    >>> finfo(float32).eps, finfo(complex64).dtype
    (1.1920928955078125e-07, dtype('float32'))
    """

    def __init__(self, limits: np.finfo[Any]) -> None:
        self._limits = limits

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._limits, name)
        return found.item() if isinstance(found, np.generic) else found

    def __repr__(self) -> str:
        return repr(self._limits)


def finfo(type: Any, /) -> FloatLimits:
    """Limits of a floating point dtype, or of a tensor's: ``bits``, ``eps``, ``max``, ``min``, ``smallest_normal``."""
    return FloatLimits(np.finfo(_dtype(type)))


def iinfo(type: Any, /) -> Any:
    """Limits of an integer dtype, or of a tensor's."""
    return np.iinfo(_dtype(type))


def astype(x: Any, dtype: DTypeLike, /, *, copy: Any = True, device: Any = None) -> Any:
    """The same elements in another dtype."""
    require_cpu(device)
    return asarray(x).astype(dtype, copy=copy)
