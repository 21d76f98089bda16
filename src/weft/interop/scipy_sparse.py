"""scipy.sparse arrays and matrices, without copies where scipy's arrays are levels as they stand.

scipy's flags (``has_sorted_indices``, ``has_canonical_format``) are caches that user code can leave stale, so they
are not read: one pass over the coordinates finds what the levels may promise.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import name_of
from ..errors import FormatError, StorageError
from ..formats import Compressed, Dense, Format, FormatLike, formats, options_of, parse_format
from ..records import replace
from ..remapping import Remapping
from ..storage import Storage, coordinate_storage, segment_order, tensor_type
from ..tensor.foreign import convert, register_reader, register_viewer, register_writer
from .arrays import index_array, value_array

if TYPE_CHECKING:
    from scipy.sparse import sparray

__all__ = ["from_scipy", "to_scipy"]

_ORDERS = {"csr": (0, 1), "csc": (1, 0)}


def from_scipy(obj: Any) -> Storage | None:
    """A scipy.sparse array or matrix as storage; None for other objects of scipy's.

    csr, csc, coo, dia and bsr share their memory; lil and dok are copied.

    Raises
    ------
    StorageError
        When its arrays are not those of a matrix of its shape.
    """
    kind = getattr(obj, "format", None)
    if not isinstance(kind, str) or not hasattr(type(obj), "nnz"):
        return None
    if kind == "coo":
        return _from_coo(obj)
    if kind in _ORDERS and obj.ndim == 2:
        return _from_compressed(obj, _ORDERS[kind])
    if kind == "dia":
        return _from_diagonals(obj)
    if kind == "bsr":
        return _from_blocks(obj)
    if kind in ("dok", "lil"):
        return convert(_from_coo(obj.tocoo()), kind)
    return _from_coo(obj.tocoo())


def _from_diagonals(obj: Any) -> Storage:
    offsets, data = index_array(obj.offsets), value_array(obj.data)
    if data.ndim != 2 or len(data) != len(offsets):
        raise _broken(obj, f"there are {len(offsets)} offsets for data of shape {data.shape}")
    if len(np.unique(offsets)) < len(offsets):
        raise _broken(obj, "an offset repeats")
    ordered = not (offsets[1:] < offsets[:-1]).any()
    size, width = (np.array([n], offsets.dtype) for n in data.shape)
    type = _diagonal_type(name_of(data.dtype), ordered, name_of(offsets.dtype))
    return Storage(obj.shape, type, (size, offsets, width), np.ascontiguousarray(data).reshape(-1))


@lru_cache(maxsize=64)
def _diagonal_type(dtype: str, ordered: bool, index: str) -> Any:
    format = parse_format("dia", 2)
    first, *rest = format.levels
    return tensor_type(dtype, Format(format.remapping, (replace(first, ordered=ordered), *rest)), (index,) * 3)


def _from_blocks(obj: Any) -> Storage:
    shape: tuple[int, int] = obj.shape
    pos, crd, data = index_array(obj.indptr), index_array(obj.indices), value_array(obj.data)
    sizes = tuple(int(n) for n in obj.blocksize)
    rows, columns = shape[0] // sizes[0], shape[1] // sizes[1]
    if len(pos) != rows + 1 or pos[0] != 0 or (pos[1:] < pos[:-1]).any() or pos[-1] > min(len(crd), len(data)):
        raise _broken(obj, f"indptr does not fit {rows} rows of blocks, {len(crd)} indices and {len(data)} blocks")
    crd, data = crd[: pos[-1]], data[: pos[-1]]
    _check_range(obj, crd, columns)
    ordered, unique = segment_order(pos, crd)
    type = _block_type(name_of(data.dtype), sizes, ordered, unique, name_of(pos.dtype), name_of(crd.dtype))
    return Storage(shape, type, (pos, crd), np.ascontiguousarray(data).reshape(-1))


@lru_cache(maxsize=512)
def _block_type(dtype: str, sizes: tuple[int, ...], ordered: bool, unique: bool, pos: str, crd: str) -> Any:
    format = formats["bsr"](2, blocksize=sizes)
    rows, columns, *inside = format.levels
    levels = (rows, replace(columns, ordered=ordered, unique=unique), *inside)
    return tensor_type(dtype, Format(format.remapping, levels), (pos, crd))


def _block_size(format: Format, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The size of the blocks of a format laid out as scipy's bsr, where they divide the shape."""
    options = options_of("bsr", format)
    if options is None or any(n % m for n, m in zip(shape, options["blocksize"], strict=True)):
        return None
    return options["blocksize"]  # type: ignore[no-any-return]


def _from_compressed(obj: Any, modes: tuple[int, ...]) -> Storage:
    shape: tuple[int, int] = obj.shape
    pos, crd, vals = index_array(obj.indptr), index_array(obj.indices), value_array(obj.data)
    rows, columns = shape[modes[0]], shape[modes[1]]
    count = len(crd)
    if len(pos) != rows + 1:
        raise _broken(obj, f"indptr has {len(pos)} entries; {rows} segments need {rows + 1}")
    if pos[0] != 0 or (pos[1:] < pos[:-1]).any():
        raise _broken(obj, "indptr does not start at 0 or decreases")
    nnz = int(pos[-1])
    if nnz > count or nnz > len(vals):
        raise _broken(obj, f"indptr ends at {nnz}; there are {count} indices and {len(vals)} values")
    if nnz < count or nnz < len(vals):
        crd, vals = crd[:nnz], vals[:nnz]
    _check_range(obj, crd, columns)
    ordered, unique = segment_order(pos, crd)
    type = _compressed_type(name_of(vals.dtype), modes, ordered, unique, name_of(pos.dtype), name_of(crd.dtype))
    return Storage(shape, type, (pos, crd), vals)


@lru_cache(maxsize=512)
def _compressed_type(dtype: str, modes: tuple[int, ...], ordered: bool, unique: bool, pos: str, crd: str) -> Any:
    format = Format(Remapping(modes), (Dense(), Compressed(ordered=ordered, unique=unique)))
    return tensor_type(dtype, format, (pos, crd))


def _from_coo(obj: Any) -> Storage:
    crds = obj.coords if hasattr(obj, "coords") else (obj.row, obj.col)
    crds, vals = tuple(index_array(crd) for crd in crds), value_array(obj.data)
    if any(len(crd) != len(vals) for crd in crds):
        raise _broken(obj, f"there are {[len(crd) for crd in crds]} coordinates for {len(vals)} values")
    for crd, size in zip(crds, obj.shape, strict=True):
        _check_range(obj, crd, size)
    return coordinate_storage(tuple(obj.shape), crds, vals)


def _check_range(obj: Any, crd: np.ndarray[Any, Any], size: int) -> None:
    if len(crd) and (crd.min() < 0 or crd.max() >= size):
        raise _broken(obj, f"it holds coordinates outside [0, {size})")


def _broken(obj: Any, reason: str) -> StorageError:
    return StorageError(f"{reason}; this is a scipy {type(obj).__name__} of shape {obj.shape}")


def shared(storage: Storage) -> sparray | None:
    """A scipy array over the same memory; None where scipy has no such format. The fill value is not looked at."""
    import scipy.sparse

    format, shape, arrays, vals = storage.format, storage.shape, storage.arrays, storage.vals
    if format == "dia":
        size, offsets, width = arrays
        return scipy.sparse.dia_array((vals.reshape(int(size[0]), int(width[0])), offsets), shape=shape, copy=False)
    sizes = _block_size(format, shape)
    if sizes:
        pos, crd = arrays
        return scipy.sparse.bsr_array((vals.reshape(-1, *sizes), crd, pos), shape=shape, copy=False)
    order = () if format.is_structured else format.mode_order
    if shape and len(order) == len(shape) and storage.permuted(order).format == "coo":
        crds = tuple(arrays[1 + order.index(axis)] for axis in range(len(shape)))
        found = scipy.sparse.coo_array((vals, crds), shape=shape, copy=False)
        found.has_canonical_format = format.is_canonical and format == "coo"
        return found
    for name in _ORDERS:
        if format == name:
            pos, crd = arrays
            found = getattr(scipy.sparse, f"{name}_array")((vals, crd, pos), shape=shape, copy=False)
            if found.indices.dtype != crd.dtype or found.indptr.dtype != pos.dtype:  # narrowed where scipy can
                found.indices, found.indptr = (crd, pos) if crd.dtype == pos.dtype else (found.indices, found.indptr)
            found.has_sorted_indices = format.levels[-1].ordered
            found.has_canonical_format = format.is_canonical
            return found
    return None


def to_scipy(storage: Storage, format: FormatLike | None = None) -> sparray:
    """Storage as a scipy array that shares its memory where scipy has such a format.

    Parameters
    ----------
    storage : Storage
        With fill value 0.
    format : str, optional
        Any of scipy's; by default the tensor's own where scipy has it (csr, csc, coo, dia, bsr without a copy), else
        coo.

    Raises
    ------
    FormatError
        For formats scipy has not, and fill values other than 0.
    """
    import scipy.sparse

    if storage.type.fill != 0:
        raise FormatError(f"scipy.sparse has no fill value {storage.type.fill!r}; take `todense()`")
    if format is None:
        own = str(storage.format)
        format = own if own in _SCIPYS else "bsr" if _block_size(storage.format, storage.shape) else "coo"
    if not isinstance(format, str) or not hasattr(scipy.sparse, f"{format}_array"):
        raise FormatError(f"scipy.sparse has no format {format!s}")
    if storage.format == format:
        found = shared(storage)
        if found is not None and found.format == format:
            return found
    if format == "coo" or (format in (*_ORDERS, "dia") and len(storage.shape) == 2):
        return shared(convert(storage, format).apart_from(storage))
    return to_scipy(storage, "coo").asformat(format)


_SCIPYS = (*_ORDERS, "coo", "dia", "lil", "dok")
register_reader("scipy", from_scipy)
register_writer("scipy", to_scipy)
register_viewer("scipy", shared)
