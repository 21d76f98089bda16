"""scipy.sparse arrays and matrices, without copies where scipy's arrays are levels as they stand.

scipy's flags (``has_sorted_indices``, ``has_canonical_format``) are caches that user code can leave stale, so they
are not read: one pass over the coordinates finds what the levels may promise.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FormatError, StorageError
from ..formats import Compressed, Dense, Format, FormatLike
from ..remapping import Remapping
from ..storage import Storage, coordinate_storage, segment_order, tensor_type
from ..tensor.foreign import convert, register_reader, register_writer
from .arrays import index_array, value_array

if TYPE_CHECKING:
    from scipy.sparse import sparray

__all__ = ["from_scipy", "to_scipy"]

_ORDERS = {"csr": (0, 1), "csc": (1, 0)}


def from_scipy(obj: Any) -> Storage | None:
    """A scipy.sparse array or matrix as storage; None for other objects of scipy's.

    csr, csc and coo share their memory; other formats go through scipy's ``tocsr`` or ``tocoo``.

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
    return _from_coo(obj.tocoo()) if kind in ("dia", "dok") or obj.ndim != 2 else from_scipy(obj.tocsr())


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
    type = _compressed_type(vals.dtype.name, modes, ordered, unique, pos.dtype.name, crd.dtype.name)
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


def to_scipy(storage: Storage, format: FormatLike | None = None) -> sparray:
    """Storage as a scipy array that shares its memory where scipy has such a format.

    Parameters
    ----------
    storage : Storage
        With fill value 0.
    format : str, optional
        ``"csr"``, ``"csc"``, ``"coo"`` or any other of scipy's; by default the nearest.

    Raises
    ------
    FormatError
        For formats scipy has not, and fill values other than 0.
    """
    import scipy.sparse

    if storage.type.fill != 0:
        raise FormatError(f"scipy.sparse has no fill value {storage.type.fill!r}; take `todense()`")
    own = str(storage.format)
    wanted = format if format is not None else own if own in (*_ORDERS, "coo") and storage.shape else "coo"
    if not isinstance(wanted, str) or not hasattr(scipy.sparse, f"{wanted}_array"):
        raise FormatError(f"scipy.sparse has no format {wanted!s}")
    if wanted not in (*_ORDERS, "coo") or (wanted in _ORDERS and len(storage.shape) != 2):
        return to_scipy(storage, "coo").asformat(wanted)
    if own != wanted:
        storage = convert(storage, wanted)
    shape, arrays = storage.shape, storage.arrays
    if wanted == "coo":
        found = scipy.sparse.coo_array((storage.vals, arrays[1:]), shape=shape, copy=False)
        found.has_canonical_format = storage.format.is_canonical
        return found
    pos, crd = arrays
    made = getattr(scipy.sparse, f"{wanted}_array")((storage.vals, crd, pos), shape=shape, copy=False)
    if made.indices.dtype != crd.dtype or made.indptr.dtype != pos.dtype:  # scipy narrows indices where it can
        made.indices, made.indptr = (crd, pos) if crd.dtype == pos.dtype else (made.indices, made.indptr)
    made.has_sorted_indices = storage.format.levels[-1].ordered
    made.has_canonical_format = storage.format.is_canonical
    return made


register_reader("scipy", from_scipy)
register_writer("scipy", to_scipy)
