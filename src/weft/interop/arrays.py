"""Checked arrays from the attributes of other packages' tensors, in native byte order and contiguous."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import INDEX_DTYPES, name_of, value_dtype
from ..errors import DTypeError, IndexOverflowError, ShapeError, StorageError
from ..tensor.construction import as_shape

_INDEX = frozenset(np.dtype(name) for name in INDEX_DTYPES)


def value_attribute(obj: Any, name: str = "data", ndim: int = 1) -> np.ndarray[Any, Any]:
    """Return an object's values as a contiguous array of a native dtype that weft computes with; copies if needed."""
    array = as_array(obj, name, getattr(obj, name, None))
    if array.ndim != ndim:
        raise broken(obj, f"{name} has {array.ndim} axes instead of {ndim}")
    try:
        dtype = value_dtype(array.dtype)
    except DTypeError as error:
        raise DTypeError(f"{name}: {error}; this is {_described(obj)}") from None
    if array.dtype.isnative and array.flags.c_contiguous:
        return array
    return np.ascontiguousarray(array, dtype)


def as_array(obj: Any, name: str, values: Any) -> np.ndarray[Any, Any]:
    """Return the value of an attribute, or a part of it, as an array; raise ``StorageError`` if it is no array."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise broken(obj, f"{name} is no array ({error})") from None


def index_attribute(obj: Any, name: str) -> np.ndarray[Any, Any]:
    """Return an attribute of positions, coordinates or offsets as an index array, which must have one axis."""
    return _vector(obj, name, getattr(obj, name, None))


def _vector(obj: Any, name: str, given: Any) -> np.ndarray[Any, Any]:
    array = as_array(obj, name, given)
    if array.ndim != 1:
        raise broken(obj, f"{name} has {array.ndim} axes instead of one")
    try:
        return index_array(array)
    except (DTypeError, IndexOverflowError) as error:
        raise type(error)(f"{name}: {error}; this is {_described(obj)}") from None


def coordinate_arrays(
    obj: Any, shape: tuple[int, ...], count: int, rows: Any, name: str = "coords"
) -> tuple[np.ndarray[Any, Any], ...]:
    """Return an array of coordinates for each axis, all of them checked to be within the shape."""
    if not isinstance(rows, tuple | list | np.ndarray) or getattr(rows, "ndim", 1) == 0:
        raise broken(obj, f"{name} are {type(rows).__name__}, not arrays")
    if len(rows) != len(shape):
        raise broken(obj, f"{name} has {len(rows)} arrays for {len(shape)} axes")
    crds = tuple([_vector(obj, name, crd) for crd in rows])
    if any(len(crd) != count for crd in crds):
        raise broken(
            obj, f"{name} has arrays of {[len(crd) for crd in crds]} coordinates for the {count} values in data"
        )
    for crd, size in zip(crds, shape, strict=True):
        check_range(obj, crd, size, name)
    return crds


def check_range(obj: Any, crd: np.ndarray[Any, Any], size: int, name: str) -> None:
    """Raise ``StorageError`` unless coordinates are within an axis."""
    # Negative coordinates are larger than all others as unsigned integers.
    if len(crd) and crd.view(f"u{crd.itemsize}").max() >= size:
        raise broken(obj, f"{name} holds coordinates outside [0, {size})")


def shape_attribute(obj: Any, ndim: int | None = None) -> tuple[int, ...]:
    """Return the shape of an object as a tuple of integers."""
    attribute = getattr(obj, "shape", None)
    try:
        shape = as_shape(attribute)  # type: ignore[arg-type]
    except (ShapeError, ValueError) as error:  # NumPy raises ValueError for ragged nested lists
        raise ShapeError(f"shape: {error}; this is {_named(obj)}") from None
    if not isinstance(attribute, tuple | list) or (ndim is not None and len(shape) != ndim):
        raise ShapeError(f"shape {attribute} is not of {'a tensor' if ndim is None else f'{ndim} axes'}: {_named(obj)}")
    return shape


def broken(obj: Any, reason: str) -> StorageError:
    """Return the error to raise for an object whose attributes do not make a tensor of its class."""
    return StorageError(f"{reason}; this is {_described(obj)}")


def _described(obj: Any) -> str:
    return f"{_named(obj)} of shape {getattr(obj, 'shape', None)}"


def _named(obj: Any) -> str:
    return f"a {type(obj).__module__.partition('.')[0]} {type(obj).__name__}"


def index_array(given: Any) -> np.ndarray[Any, Any]:
    """Convert coordinates to a contiguous index array, without a copy if they are one; raises errors for fractions."""
    array: np.ndarray[Any, Any] = np.asarray(given)
    if array.dtype in _INDEX and array.flags.c_contiguous:
        return array
    if name_of(array.dtype) in INDEX_DTYPES:
        return np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    # Empty lists are float64 arrays to NumPy, and are accepted.
    if array.dtype.kind not in "iub" and array.size:
        raise DTypeError(f"index arrays hold integers, not {array.dtype}")
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise IndexOverflowError(f"coordinate {array.max()} does not fit into int64")
    return np.ascontiguousarray(array, np.int32 if array.dtype.itemsize < 4 else np.int64)
