"""Conversion from and to scipy.sparse arrays and matrices, without copies if SciPy's arrays are those of levels.

SciPy's flags (``has_sorted_indices``, ``has_canonical_format``) are caches that user code can leave stale. They are not
read. One pass over the coordinates decides which properties the levels may guarantee.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import name_of
from ..errors import FormatError
from ..formats import Compressed, Dense, Format, FormatLike, formats, options_of, parse_format
from ..operations.foreign_tensors import convert, register_reader, register_viewer, register_writer
from ..records import replace
from ..remapping import Remapping
from ..storage import Storage, coordinate_storage, segment_order, tensor_type
from .arrays import (
    broken,
    check_range,
    coordinate_arrays,
    index_attribute,
    shape_attribute,
    value_attribute,
)

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix

_ORDERS = {"csr": (0, 1), "csc": (1, 0)}


def from_scipy(obj: Any) -> Storage | None:
    """Convert a scipy.sparse array or matrix to storage, of which lil and dok are copied; None for other objects."""
    kind = getattr(obj, "format", None)
    if not isinstance(kind, str) or not hasattr(type(obj), "nnz"):
        return None
    shape = shape_attribute(obj, 2 if kind in ("dia", "bsr") else None)
    if kind == "coo":
        return _from_coo(obj, shape)
    if kind in _ORDERS and len(shape) == 2:
        return from_compressed(obj, shape, _ORDERS[kind])
    if kind == "dia":
        return _from_diagonals(obj, shape)
    if kind == "bsr":
        return _from_blocks(obj, shape)
    try:
        listed = obj.tocoo()
    except Exception as error:  # SciPy raises many kinds of errors for broken arrays
        raise broken(obj, f"scipy cannot read it ({type(error).__name__}: {error})") from None
    found = _from_coo(listed, shape)
    return convert(found, kind) if kind in ("dok", "lil") else found


def _from_diagonals(obj: Any, shape: tuple[int, ...]) -> Storage:
    offsets, data = index_attribute(obj, "offsets"), value_attribute(obj, ndim=2)
    if len(data) != len(offsets):
        raise broken(obj, f"there are {len(offsets)} offsets for data of shape {data.shape}")
    if len(np.unique(offsets)) < len(offsets):
        raise broken(obj, "an offset repeats in offsets")
    ordered = not (offsets[1:] < offsets[:-1]).any()
    size, width = (np.array([n], offsets.dtype) for n in data.shape)
    type = _diagonal_type(name_of(data.dtype), ordered, name_of(offsets.dtype))
    return Storage(shape, type, (size, offsets, width), np.ascontiguousarray(data).reshape(-1))


@lru_cache(maxsize=64)
def _diagonal_type(dtype: str, ordered: bool, index: str) -> Any:
    format = parse_format("dia", 2)
    first, *rest = format.levels
    return tensor_type(dtype, Format(format.remapping, (replace(first, ordered=ordered), *rest)), (index,) * 3)


def _from_blocks(obj: Any, shape: tuple[int, ...]) -> Storage:
    pos, crd, data = index_attribute(obj, "indptr"), index_attribute(obj, "indices"), value_attribute(obj, ndim=3)
    sizes = data.shape[1:]
    if 0 in sizes or any(n % m for n, m in zip(shape, sizes, strict=True)):
        raise broken(obj, f"data has blocks of shape {sizes}, which do not divide the matrix")
    rows, columns = shape[0] // sizes[0], shape[1] // sizes[1]
    if len(pos) != rows + 1 or pos[0] != 0 or (pos[1:] < pos[:-1]).any() or pos[-1] > min(len(crd), len(data)):
        raise broken(obj, f"indptr does not fit {rows} rows of blocks, {len(crd)} indices and {len(data)} blocks")
    crd, data = crd[: pos[-1]], data[: pos[-1]]
    check_range(obj, crd, columns, "indices")
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
    """Return the size of the blocks of format bsr if they divide the shape, as SciPy requires; else None."""
    options = options_of("bsr", format)
    if options is None or any(n % m for n, m in zip(shape, options["blocksize"], strict=True)):
        return None
    return options["blocksize"]  # type: ignore[no-any-return]


def from_compressed(obj: Any, shape: tuple[int, ...], modes: tuple[int, ...]) -> Storage:
    """Return the matrix with the arrays of an object; ``modes`` has the compressed axis first, (0, 1) for csr."""
    pos, crd, vals = index_attribute(obj, "indptr"), index_attribute(obj, "indices"), value_attribute(obj)
    rows, columns = shape[modes[0]], shape[modes[1]]
    count = len(crd)
    if len(pos) != rows + 1:
        raise broken(obj, f"indptr has {len(pos)} entries; {rows} segments need {rows + 1}")
    if pos[0] != 0 or (pos[1:] < pos[:-1]).any():
        raise broken(obj, "indptr does not start at 0 or decreases")
    nnz = int(pos[-1])
    if nnz > count or nnz > len(vals):
        raise broken(obj, f"indptr ends at {nnz}; there are {count} indices and {len(vals)} values in data")
    # SciPy allows arrays that are longer than indptr says; the rest is unused.
    if nnz < count or nnz < len(vals):
        crd, vals = crd[:nnz], vals[:nnz]
    check_range(obj, crd, columns, "indices")
    ordered, unique = segment_order(pos, crd)
    type = _compressed_type(name_of(vals.dtype), modes, ordered, unique, name_of(pos.dtype), name_of(crd.dtype))
    return Storage(shape, type, (pos, crd), vals)


@lru_cache(maxsize=512)
def _compressed_type(dtype: str, modes: tuple[int, ...], ordered: bool, unique: bool, pos: str, crd: str) -> Any:
    format = Format(Remapping(modes), (Dense(), Compressed(ordered=ordered, unique=unique)))
    return tensor_type(dtype, format, (pos, crd))


def _from_coo(obj: Any, shape: tuple[int, ...]) -> Storage:
    given = obj.coords if hasattr(obj, "coords") else (obj.row, obj.col)
    vals = value_attribute(obj)
    return coordinate_storage(shape, coordinate_arrays(obj, shape, len(vals), given), vals)


def shared(storage: Storage) -> sparray | None:
    """Return a SciPy array over the memory of a tensor, without its fill value; None if SciPy has no such format."""
    import scipy.sparse

    format, shape, arrays, vals = storage.format, storage.shape, storage.arrays, storage.vals
    if format == "dia":
        size, offsets, width = arrays
        return scipy.sparse.dia_array((vals.reshape(int(size[0]), int(width[0])), offsets), shape=shape, copy=False)
    sizes = _block_size(format, shape)
    if sizes:
        pos, crd = arrays
        return scipy.sparse.bsr_array((vals.reshape(-1, *sizes), crd, pos), shape=shape, copy=False)
    # A coo whose levels store the axes in another order is a coo to SciPy, which does not require an order.
    order = () if format.is_structured else format.mode_order
    if shape and len(order) == len(shape) and storage.permuted(order).format == "coo":
        crds = tuple(arrays[1 + order.index(axis)] for axis in range(len(shape)))
        matrix = scipy.sparse.coo_array((vals, crds), shape=shape, copy=False)
        matrix.has_canonical_format = format.is_canonical and format == "coo"
        return matrix
    for name in _ORDERS:
        if format == name:
            pos, crd = arrays
            matrix = getattr(scipy.sparse, f"{name}_array")((vals, crd, pos), shape=shape, copy=False)
            # SciPy copies index arrays to int32 if the numbers fit. The shared arrays replace such copies if they have
            # the same dtype, which SciPy requires.
            if matrix.indices.dtype != crd.dtype or matrix.indptr.dtype != pos.dtype:
                own = matrix.indices, matrix.indptr
                matrix.indices, matrix.indptr = (crd, pos) if crd.dtype == pos.dtype else own
            matrix.has_sorted_indices = format.levels[-1].ordered
            matrix.has_canonical_format = format.is_canonical
            return matrix
    return None


def to_scipy(storage: Storage, format: FormatLike | None = None) -> sparray:
    """Convert storage to a SciPy array, which shares the memory; formats that SciPy does not have become coo."""
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


def as_matrix(array: sparray) -> spmatrix:
    """Return a SciPy array as a matrix of the same format, which shares its memory."""
    import scipy.sparse

    return getattr(scipy.sparse, f"{array.format}_matrix")(array)


register_reader("scipy", from_scipy)
register_writer("scipy", to_scipy)
register_viewer("scipy", shared)
