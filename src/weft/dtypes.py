"""Value and index dtypes, and the promotion of the two kinds of operand: arrays and weak Python scalars."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .errors import DTypeError

__all__ = [
    "INDEX_DTYPES", "INT32_MAX", "INT64_MAX", "VALUE_DTYPES", "adds_alike", "as_values", "checked_index_dtype",
    "index_dtype", "name_of", "shifted", "value_dtype",
]  # fmt: skip

VALUE_DTYPES: tuple[str, ...] = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "complex64", "complex128",
)  # fmt: skip
INDEX_DTYPES: tuple[str, ...] = ("int32", "int64")
INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1
_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)
_KNOWN = {np.dtype(name): np.dtype(name) for name in VALUE_DTYPES}


def value_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The native-endian dtype of values that ``dtype`` names.

    Raises
    ------
    DTypeError
        For dtypes weft has no C type for (object, strings, datetimes, float16, longdouble, structured).
    """
    found = _KNOWN.get(np.dtype(dtype).newbyteorder("="))
    if found is None:
        raise DTypeError(f"weft has no values of dtype {np.dtype(dtype)}; convert to one of {', '.join(VALUE_DTYPES)}")
    return found


@lru_cache(maxsize=256)
def adds_alike(dtype: np.dtype[Any], other: np.dtype[Any]) -> bool:
    """Tell whether a sum converted from one dtype to another is the sum of what is converted, but for rounding.

    A sum of integers wraps around in its dtype, as it does in another that has no more bits; a sum of booleans says
    whether any is true; a sum of floating-point numbers may be infinite in a narrower dtype.

    Examples
    --------
    >>> adds_alike(np.dtype("int64"), np.dtype("int8")), adds_alike(np.dtype("int8"), np.dtype("int64"))
    (True, False)
    """
    if dtype == other:
        return True
    if dtype.kind in "iu":
        return other.kind in "iu" and other.itemsize <= dtype.itemsize
    return dtype.kind != "b" and np.can_cast(dtype, other, "safe")


def index_dtype(largest: int) -> np.dtype[Any]:
    """The smallest index dtype that holds ``largest``, a coordinate, size or position."""
    return _INT32 if largest <= INT32_MAX else _INT64


def shifted(coords: np.ndarray[Any, Any], by: int, size: int) -> np.ndarray[Any, Any]:
    """Add a number to coordinates; the sums are those of an axis of ``size``, and are 64 bits wide where it is longer
    than 32-bit integers count.

    Examples
    --------
    >>> shifted(np.array([1, 2], np.int32), 2**31 - 2, 2**31 + 5)
    array([2147483647, 2147483648])
    """
    wide = np.result_type(coords, index_dtype(max(size, abs(by))))
    return np.add(coords, wide.type(by), dtype=wide)  # type: ignore[no-any-return]


def checked_index_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """An index dtype that a user asks for.

    Raises
    ------
    DTypeError
        When there is no such index dtype.
    """
    found = np.dtype(dtype)
    if found not in (_INT32, _INT64):
        raise DTypeError(f"index dtypes are {' and '.join(INDEX_DTYPES)}, not {found}")
    return found


def as_values(obj: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array of ``dtype`` as NumPy's assignments make it: Python's numbers must fit, arrays are converted.

    Raises
    ------
    OverflowError, ValueError, TypeError
        For a number that the dtype does not hold: 300 or infinity for int8, NaN for integers, 1j for reals.

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
    """``dtype.name``, which NumPy puts together anew each time."""
    return dtype.name
