"""Arrays as other packages hold them: any byte order, strides and index dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import INDEX_DTYPES, name_of, value_dtype
from ..errors import DTypeError, IndexOverflowError

__all__ = ["index_array", "value_array"]

_INDEX = frozenset(np.dtype(name) for name in INDEX_DTYPES)


def value_array(array: Any) -> np.ndarray[Any, Any]:
    """Values as a contiguous array of a dtype weft computes with; the array itself where it is one already."""
    dtype = value_dtype(array.dtype)
    if array.dtype.isnative and array.flags.c_contiguous and type(array) is np.ndarray:
        return array
    return np.ascontiguousarray(array, dtype)


def index_array(given: Any) -> np.ndarray[Any, Any]:
    """Coordinates or positions as a contiguous array of an index dtype; the array itself where it is one already.

    Raises
    ------
    DTypeError, IndexOverflowError
        When they are not integers, or too large for int64.
    """
    array: np.ndarray[Any, Any] = np.asarray(given)
    if array.dtype in _INDEX and array.flags.c_contiguous:
        return array
    if name_of(array.dtype) in INDEX_DTYPES:
        return np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    if array.dtype.kind not in "iub" and array.size:
        raise DTypeError(f"index arrays hold integers, not {array.dtype}")
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise IndexOverflowError(f"coordinate {array.max()} does not fit into int64")
    return np.ascontiguousarray(array, np.int32 if array.dtype.itemsize < 4 else np.int64)
