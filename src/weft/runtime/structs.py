"""``weft_tensor`` structs over NumPy arrays, the arguments of kernels.

Structs are made at every call, so that this code must be fast.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShapeError
from ._ffi import ffi

NULL = ffi.NULL

_new, _from_buffer, _cast = ffi.new, ffi.from_buffer, ffi.cast
_TENSOR = ffi.typeof("weft_tensor *")
_DIMENSIONS = ffi.typeof("int64_t[]")
_ARRAYS = ffi.typeof("void *[]")
_COUNTS = ffi.typeof("int64_t[]")
_LIMIT = 4096  # shapes whose dimensions are kept as C arrays
_dimensions: dict[tuple[int, ...], Any] = {}


def tensor_struct(
    dimensions: tuple[int, ...], arrays: tuple[np.ndarray, ...], vals: np.ndarray
) -> tuple[Any, tuple[Any, ...]]:
    """Return a ``weft_tensor *`` over C-contiguous arrays, and the objects that must live as long as it is in use."""
    shape = _dimensions.get(dimensions)
    if shape is None:
        try:
            shape = _new(_DIMENSIONS, dimensions)
        except OverflowError:
            raise ShapeError(f"shape {dimensions} has an axis that 64-bit integers do not count") from None
        if len(_dimensions) < _LIMIT:
            _dimensions[dimensions] = shape
    struct = _new(_TENSOR)
    struct.dimensions = shape
    values = _from_buffer(vals)
    struct.vals = values
    if not arrays:
        return struct, (shape, values)
    buffers = [_from_buffer(array) for array in arrays]
    pointers = _new(_ARRAYS, buffers)
    struct.arrays = pointers
    return struct, (shape, values, pointers, buffers)


def counts_pointer(counts: np.ndarray) -> Any:
    """Return an ``int64_t *`` to a C-contiguous, writable array of int64; the pointer holds the array."""
    return _from_buffer(_COUNTS, counts, require_writable=True)
