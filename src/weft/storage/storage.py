"""Arrays of one tensor.

A ``Storage`` is what kernels read and write: level arrays in the order of ``Format.roles``, and values. A ``Storage``
checks nothing (``invariants.check`` does) and copies nothing. A tensor that is made of a user's arrays therefore shares
their memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ..dtypes import name_of, value_dtype
from ..errors import DensifyError, StorageError
from ..formats import Format, TensorType
from ..remapping import inverse_permutation
from ..runtime import devices
from ..runtime.structs import tensor_struct
from .invariants import check
from .transfers import in_transfer

_NAN = math.nan
_NO_DEGREES: Mapping[int, Any] = {}


def tensor_type(dtype: str, format: Format, index_dtypes: tuple[str, ...] = (), fill: Any = 0) -> TensorType:
    """Return the tensor type with these members: the same object for equal members, as long as the cache holds it."""
    if isinstance(fill, float | complex) and fill == 0 and math.copysign(1.0, fill.real) > 0:
        fill = 0  # an integer, so that it is not taken for -0.0
    return _tensor_type(dtype, format, index_dtypes, fill)


_tensor_type = lru_cache(maxsize=4096, typed=True)(TensorType)


def fill_of(dtype: np.dtype[Any], fill: Any) -> Any:
    """Return a fill value as a Python scalar of ``dtype``.

    Zero becomes the integer 0, and a real NaN becomes one single object, so that equal types compare as equal. A
    negative zero is kept.
    """
    if type(fill) is int and fill == 0:
        return 0
    value = np.asarray(fill).astype(dtype, copy=False)[()].item()
    if value != value:
        return _NAN if isinstance(value, float) else value
    if value == 0 and not (isinstance(value, float | complex) and math.copysign(1.0, value.real) < 0):
        return 0
    return value


# An array may have _WIDE elements for each entry, as if there were _FEW entries more.
_WIDE, _FEW = 16, 1 << 16


def is_far_longer(length: int, entries: int) -> bool:
    """Return whether an array of ``length`` elements is too long to make for a number of entries."""
    return length > _WIDE * (entries + _FEW)


class Storage:
    """Arrays of one tensor.

    Examples
    --------
    >>> import numpy as np
    >>> s = Storage.dense(np.arange(6.0).reshape(2, 3))
    >>> s.shape, str(s.type.format), s.vals
    ((2, 3), 'dense', array([0., 1., 2., 3., 4., 5.]))
    """

    __slots__ = (
        "__weakref__", "_alive", "_sizes", "_struct", "arrays", "assembled_for", "degrees", "kept", "shape", "type",
        "vals",
    )  # fmt: skip

    assembled_for: Any
    # By format: what is kept of the conversion to it, or the bytes that takes (execution/kept_conversions.py).
    kept: Mapping[Format, Any] | None
    degrees: Mapping[int, Any]  # numbers of entries along axes, as far as they were asked for (storage/statistics.py)

    def __init__(
        self, shape: tuple[int, ...], type: TensorType, arrays: tuple[np.ndarray[Any, Any], ...], vals: Any
    ) -> None:
        self.shape = shape
        self.type = type
        self.arrays = arrays
        self.vals = vals
        self.kept = None
        self.degrees = _NO_DEGREES
        # The struct is made when a kernel first needs it.
        self._struct = None
        self._alive: list[object] = []

    @property
    def struct(self) -> Any:
        """Pointer to the C struct ``weft_tensor`` that kernels take; valid as long as this object exists."""
        struct = self._struct
        if struct is None:
            # Several threads may make a struct each. All are valid, as what they point to is kept in one list, to which
            # appending is atomic: a lock would cost a fifth of making the struct.
            struct, alive = tensor_struct(self.shape, self.arrays, self.vals)
            self._alive.append(alive)
            self._struct = struct
        return struct

    @property
    def format(self) -> Format:
        return self.type.format

    @property
    def device(self) -> str:
        """Name of the device that has the arrays."""
        return devices.name_of(self.vals) if self.is_on_device else devices.CPU

    @property
    def is_on_device(self) -> bool:
        """True if the arrays are on another device than the CPU, where neither NumPy nor C code reads them."""
        return not isinstance(self.vals, np.ndarray) and devices.is_array(self.vals)

    def values_read(self) -> np.ndarray[Any, Any]:
        """Return the values as an ndarray: a copy, if they are on a device."""
        if not self.is_on_device:
            return self.vals  # type: ignore[no-any-return]
        return devices.device(self.device).copy_out(self.vals)

    def apart_from(self, other: Storage) -> Storage:
        """Return the same tensor, with copies of the arrays that share memory with ``other``."""
        theirs = (other.vals, *other.arrays)

        def own(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
            return array.copy() if any(np.may_share_memory(array, a) for a in theirs) else array

        return Storage(self.shape, self.type, tuple(map(own, self.arrays)), own(self.vals))

    @property
    def plain_format(self) -> Format:
        """Plain format for the entries: compressed levels below a dense one, unless that would be mostly empty."""
        return self.format.plain(bool(self.shape) and is_far_longer(self.shape[0], self.vals.size))

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.vals.dtype  # type: ignore[no-any-return]

    @property
    def level_sizes(self) -> tuple[int, ...]:
        """Number of positions of each level."""
        try:
            return self._sizes
        except AttributeError:
            sizes: list[int] = []
            size, arrays = 1, iter(self.arrays)
            for level, dimension in zip(self.format.levels, self.format.level_shape(self.shape), strict=True):
                size = level.size(size, dimension, {role: next(arrays) for role in level.roles})
                sizes.append(size)
            self._sizes: tuple[int, ...] = tuple(sizes)
            return self._sizes

    @level_sizes.setter
    def level_sizes(self, sizes: tuple[int, ...]) -> None:
        self._sizes = sizes

    @property
    def nnz(self) -> int:
        """Number of stored values, including those of padding."""
        return len(self.vals)

    @property
    def nbytes(self) -> int:
        return int(self.vals.nbytes + sum(array.nbytes for array in self.arrays))

    def level_arrays(self, level: int) -> dict[str, np.ndarray[Any, Any]]:
        """Return the arrays of one level by role, with those that the level borrows from levels above."""
        borrowed = self.format.levels[level].borrows
        arrays = {}
        for (k, role), array in zip(self.format.roles, self.arrays, strict=True):
            if k == level or (k < level and role in borrowed):
                arrays[role] = array
        return arrays

    def permuted(self, axes: tuple[int, ...]) -> Storage:
        """Return the same arrays with the axes in another order: axis ``a`` is axis ``axes[a]`` of this tensor."""
        found = _permuted_type(self.type, axes)
        return Storage(tuple(self.shape[axis] for axis in axes), found, self.arrays, self.vals)

    def with_values(self, vals: np.ndarray[Any, Any], fill: Any) -> Storage:
        """Return a tensor with other values on the same structure; the two share all index arrays."""
        old = self.type
        found = tensor_type(name_of(vals.dtype), old.format, old.index_dtypes, fill_of(vals.dtype, fill))
        return Storage(self.shape, found, self.arrays, vals)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arrays for a pickle: they are checked when it is loaded, unless a cluster only moves it."""
        type = self.type
        return arrived if in_transfer() else rebuilt, (
            self.shape,
            type.dtype,
            type.format,
            type.index_dtypes,
            type.fill,
            self.arrays,
            self.vals,
        )

    # -- dense -------------------------------------------------------------------------------------------------
    @classmethod
    def dense(cls, array: np.ndarray[Any, Any]) -> Storage:
        """Return an array as storage: a view if its memory is contiguous in some order of the axes, else a copy."""
        # Kernels read native byte order, and a subclass of ndarray may change the meaning of operations.
        if (type(array) is not np.ndarray and not devices.is_array(array)) or not array.dtype.isnative:
            array = np.asarray(array, value_dtype(array.dtype))
        ndim = array.ndim
        if array.flags.c_contiguous:
            vals = array if ndim == 1 else array.reshape(-1)
            return cls(array.shape, dense_type(array.dtype, tuple(range(ndim))), (), vals)
        # The axis with the largest stride is the outermost in memory.
        modes = sorted(range(ndim), key=lambda axis: -array.strides[axis])
        turned = array.transpose(modes)
        if not turned.flags.c_contiguous:
            modes, turned = list(range(ndim)), array.copy(order="C")
        return cls(array.shape, dense_type(array.dtype, tuple(modes)), (), turned.reshape(-1))

    def to_dense_array(self) -> np.ndarray[Any, Any]:
        """Return the values of an all-dense format as an array of the tensor's shape, which is a view."""
        format = self.type.format
        if not format.is_dense:
            raise DensifyError(f"a tensor of format {format} and shape {self.shape} is not a dense array")
        vals: np.ndarray[Any, Any] = self.vals
        shape = self.shape
        if len(shape) == 1:
            return vals
        modes = format.mode_order
        turned = vals.reshape(tuple([shape[axis] for axis in modes]))
        return turned if format.remapping.is_identity else turned.transpose(inverse_permutation(modes))

    def __repr__(self) -> str:
        return f"<Storage shape={self.shape} {self.type.dtype} {self.format} nnz={self.nnz}>"


def rebuilt(shape: Any, dtype: Any, format: Any, index_dtypes: Any, fill: Any, arrays: Any, vals: Any) -> Storage:
    """Return the storage that a pickle holds."""
    try:
        type = tensor_type(dtype, format, index_dtypes, fill)
    except Exception as error:  # a damaged pickle may hold objects of any type
        raise StorageError(f"a pickle of a tensor does not hold one: {error}") from error
    return restored(shape, type, arrays, vals)


def arrived(shape: Any, dtype: Any, format: Any, index_dtypes: Any, fill: Any, arrays: Any, vals: Any) -> Storage:
    """Return the storage that another process of a cluster has sent; in other hands the pickle is checked."""
    if in_transfer():
        return Storage(shape, tensor_type(dtype, format, index_dtypes, fill), arrays, vals)
    return rebuilt(shape, dtype, format, index_dtypes, fill, arrays, vals)


def restored(shape: Any, type: Any, arrays: Any, vals: Any) -> Storage:
    """Return the storage that a pickle holds, as earlier versions wrote it."""
    plausible = isinstance(type, TensorType) and isinstance(shape, tuple) and isinstance(arrays, tuple)
    if not (plausible and all(isinstance(array, np.ndarray) for array in (*arrays, vals))):
        raise StorageError("a pickle of a tensor does not hold one")
    try:
        storage = current(Storage(shape, type, arrays, vals))
        check(storage)
    except StorageError:
        raise
    except Exception as error:  # a damaged pickle may hold objects of any type
        raise StorageError(f"a pickle of a tensor does not hold one: {error}") from error
    return storage


def current(storage: Storage) -> Storage:
    """Return a tensor whose arrays are perhaps those of an earlier version with the arrays of this one."""
    format = storage.format
    if not any(level.earlier_roles for level in format.levels):
        return storage
    size, arrays, taken = 1, list[np.ndarray[Any, Any]](), iter(storage.arrays)
    for level, dimension in zip(format.levels, format.level_shape(storage.shape), strict=True):
        mine = level.current(size, {role: next(taken) for role in level.roles})
        size = level.size(size, dimension, mine)
        arrays += [mine[role] for role in level.roles]
    names = tuple([name_of(array.dtype) for array in arrays])
    type = tensor_type(storage.type.dtype, format, names, storage.type.fill)
    return Storage(storage.shape, type, tuple(arrays), storage.vals)


@lru_cache(maxsize=1024)
def dense_type(dtype: np.dtype[Any], mode_order: tuple[int, ...]) -> TensorType:
    """Return the type of a dense tensor whose memory order is ``mode_order``."""
    return tensor_type(value_dtype(dtype).name, Format.dense(len(mode_order)).reordered(mode_order))


@lru_cache(maxsize=1024)
def _permuted_type(type: TensorType, axes: tuple[int, ...]) -> TensorType:
    return tensor_type(type.dtype, type.format.permuted(axes), type.index_dtypes, type.fill)
