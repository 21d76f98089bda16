"""Dtypes of values and of index arrays, with conversions to them."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .errors import DTypeError

VALUE_DTYPES: tuple[str, ...] = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "complex64", "complex128",
)  # fmt: skip
INDEX_DTYPES: tuple[str, ...] = ("int32", "int64")
INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1
_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)
# np.dtype objects of one dtype may differ in identity, and this maps them to one object.
_KNOWN = {np.dtype(name): np.dtype(name) for name in VALUE_DTYPES}


def value_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """Return a dtype of values in native byte order."""
    supported = _KNOWN.get(np.dtype(dtype).newbyteorder("="))
    if supported is None:
        raise DTypeError(f"weft has no values of dtype {np.dtype(dtype)}; convert to one of {', '.join(VALUE_DTYPES)}")
    return supported


@lru_cache(maxsize=256)
def adds_alike(dtype: np.dtype[Any], other: np.dtype[Any]) -> bool:
    """Return whether a sum that is converted to another dtype equals the sum of converted terms, except for rounding.

    A sum of integers wraps around in its dtype, and in any other dtype that has no more bits. A sum of booleans is true
    if any is true. A sum of floating-point numbers may be infinite in a narrower dtype.

    Examples
    --------
    >>> adds_alike(np.dtype("int64"), np.dtype("int8")), adds_alike(np.dtype("int8"), np.dtype("int64"))
    (True, False)
    """
    if dtype == other:
        return True
    if dtype.kind in "iu":  # the low bits of a sum depend on the low bits of its terms alone
        return other.kind in "iu" and other.itemsize <= dtype.itemsize
    return dtype.kind != "b" and np.can_cast(dtype, other, "safe")


def index_dtype(largest: int) -> np.dtype[Any]:
    """Return the smallest index dtype that holds ``largest``, a coordinate, size or position."""
    return _INT32 if largest <= INT32_MAX else _INT64


def shifted(coords: np.ndarray[Any, Any], by: int, size: int) -> np.ndarray[Any, Any]:
    """Add a number to coordinates, which results in coordinates of an axis of another size.

    Examples
    --------
    >>> shifted(np.array([1, 2], np.int32), 2**31 - 2, 2**31 + 5)
    array([2147483647, 2147483648])
    """
    wide = np.result_type(coords, index_dtype(max(size, abs(by))))
    return np.add(coords, wide.type(by), dtype=wide)  # type: ignore[no-any-return]


def checked_index_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """Return an index dtype that a user asks for."""
    index_dtype = np.dtype(dtype)
    if index_dtype not in (_INT32, _INT64):
        raise DTypeError(f"index dtypes are {' and '.join(INDEX_DTYPES)}, not {index_dtype}")
    return index_dtype


def as_values(obj: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Convert values to an array of a dtype, by the rules of assignments in NumPy.

    Examples
    --------
    >>> as_values([1, 2.5], np.dtype("int8"))
    array([1, 2], dtype=int8)
    """
    if isinstance(obj, np.ndarray):
        return obj.astype(dtype, copy=False)
    values = np.empty(np.shape(obj), dtype)
    values[...] = obj
    return values


@lru_cache(maxsize=64)
def name_of(dtype: np.dtype[Any]) -> str:
    """Return ``dtype.name``, which NumPy would build again each time."""
    return dtype.name


def same_scalar(a: Any, b: Any) -> bool:
    """Return whether two scalars are the same: NaN equals NaN, -0.0 does not equal 0.0."""
    if a != a or b != b:
        return bool(a != a and b != b)
    # Only the sign of the real part is compared.
    return bool(a == b) and math.copysign(1, a.real) == math.copysign(1, b.real)
