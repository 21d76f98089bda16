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

from ..operations.operands import StorageHolder, as_operand, storage_of
from ..tensor.construction import asarray
from ..tensor.devices import require_cpu

__all__ = [
    "astype", "bool", "can_cast", "complex64", "complex128", "e", "finfo", "float32", "float64", "iinfo", "inf", "int8",
    "int16", "int32", "int64", "isdtype", "nan", "newaxis", "pi", "promote_types", "result_type", "uint8", "uint16",
    "uint32", "uint64",
]  # fmt: skip

promote_types = np.promote_types


def _dtype(x: Any) -> Any:
    """Return the dtype of a tensor; return any other object unchanged."""
    if isinstance(x, StorageHolder):
        return storage_of(x).dtype
    if isinstance(x, (str, type, np.dtype, np.ndarray, np.generic, int, float, complex)):
        return x
    operand = as_operand(x)
    return x if operand is None else operand.storage.dtype


def can_cast(from_: Any, to: DTypeLike, casting: Any = "safe") -> Any:
    """Return whether a dtype can be cast to another by a rule.

    Unlike NumPy's, the function takes tensors.

    Parameters
    ----------
    from_ : dtype or array_like
        The dtype, or a tensor with the dtype.
    to : dtype
        The other dtype.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        The rule.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.can_cast(A, "float32"), weft.can_cast("int8", "int16")
    (False, True)
    """
    return np.can_cast(_dtype(from_), _dtype(to), casting)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the dtype of an operation on tensors, dtypes and Python scalars.

    Unlike NumPy's, the function takes tensors.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.result_type(A, np.int32)
    dtype('float64')
    """
    return np.result_type(*map(_dtype, arrays_and_dtypes))


class FloatLimits:
    """Limits of a floating point dtype: NumPy's attributes, with Python's numbers in every dtype.

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
    """Return the limits of a floating point dtype.

    Parameters
    ----------
    type : dtype or array_like
        The dtype, or a tensor with the dtype.

    Returns
    -------
    FloatLimits
        An object with ``bits``, ``eps``, ``max``, ``min``, ``smallest_normal`` and NumPy's other attributes.

    Examples
    --------
    >>> import weft
    >>> weft.finfo(weft.float32).max
    3.4028234663852886e+38
    """
    return FloatLimits(np.finfo(_dtype(type)))


def iinfo(type: Any, /) -> Any:
    """Return the limits of an integer dtype.

    Parameters
    ----------
    type : dtype or array_like
        The dtype, or a tensor with the dtype.

    Returns
    -------
    numpy.iinfo
        An object with ``bits``, ``max`` and ``min``.

    Examples
    --------
    >>> import weft
    >>> weft.iinfo(weft.int8).max
    127
    """
    return np.iinfo(_dtype(type))


def astype(x: Any, dtype: DTypeLike, /, *, copy: Any = True, device: Any = None) -> Any:
    """Return the same elements in another dtype.

    Parameters
    ----------
    x : array_like
        The tensor.
    dtype : dtype
        The other dtype.
    copy : bool
        False to return a tensor that already has the dtype without a copy.
    device : {"cpu", None}
        The device of the result.

    Returns
    -------
    SparseTensor
        The converted tensor.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.astype(A, "int32")
    <SparseTensor: shape=(2, 2), dtype=int32, format=csr, nnz=2, fill_value=0>
    """
    require_cpu(device)
    return asarray(x).astype(dtype, copy=copy)
