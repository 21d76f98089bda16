"""Arrays of the package ``sparse`` (PyData): COO and GCXS share their memory, DOK is copied."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from ..dtypes import name_of
from ..errors import FormatError
from ..formats import Format, FormatLike, formats, options_of
from ..records import replace
from ..storage import Storage, coordinate_storage, fill_of, segment_order, tensor_type
from ..tensor.foreign import convert, register_reader, register_viewer, register_writer
from .arrays import index_array, value_array

__all__ = ["from_pydata", "to_pydata"]


def from_pydata(obj: Any) -> Storage | None:
    """A ``sparse.COO``, ``GCXS`` or ``DOK`` as storage; None for other objects of that package."""
    if not hasattr(obj, "fill_value") or not hasattr(obj, "asformat"):
        return None
    if hasattr(obj, "compressed_axes") and obj.ndim > 1:
        return _from_gcxs(obj)
    coo = obj.asformat("coo")
    crds = tuple(index_array(crd) for crd in coo.coords)
    found = coordinate_storage(tuple(coo.shape), crds, value_array(coo.data), np.asarray(coo.fill_value)[()])
    return convert(found, "dok") if type(obj).__name__ == "DOK" else found


def _from_gcxs(obj: Any) -> Storage:
    """Rows are the compressed axes, in their order; the other axes make one coordinate of a column."""
    pos, crd, vals = index_array(obj.indptr), index_array(obj.indices), value_array(obj.data)
    ordered, unique = segment_order(pos, crd)
    format = formats["gcxs"](obj.ndim, compressed_axes=tuple(int(axis) for axis in obj.compressed_axes))
    *rows, column = format.levels
    format = Format(format.remapping, (*rows, replace(column, ordered=ordered, unique=unique)))
    fill = fill_of(vals.dtype, np.asarray(obj.fill_value)[()])
    type = tensor_type(name_of(vals.dtype), format, (name_of(pos.dtype), name_of(crd.dtype)), fill)
    return Storage(tuple(int(n) for n in obj.shape), type, (pos, crd), vals)


def shared(storage: Storage) -> Any:
    """A ``GCXS`` over the same memory; None for what is not laid out so, and without the package."""
    laid_out = options_of("gcxs", storage.format) if len(storage.shape) > 1 else None
    if laid_out is None or find_spec("sparse") is None:
        return None
    import sparse

    pos, crd = storage.arrays
    fill = storage.vals.dtype.type(storage.type.fill)
    return sparse.GCXS((storage.vals, crd, pos), shape=storage.shape, fill_value=fill, **laid_out)


def to_pydata(storage: Storage, format: FormatLike | None = None) -> Any:
    """Storage as a ``sparse`` array.

    Parameters
    ----------
    storage : Storage
        Any tensor.
    format : {'coo', 'gcxs', 'dok'}, optional
        By default GCXS for what is laid out so (csr, csc, gcxs), else COO.
    """
    import sparse

    if format not in (None, "coo", "gcxs", "dok"):
        raise FormatError(f"the package sparse has formats coo, gcxs and dok, not {format!s}")
    found = shared(storage) if format in (None, "gcxs") and storage.format.is_canonical else None
    if found is not None:
        return found
    if format in ("gcxs", "dok"):
        return to_pydata(storage, "coo").asformat(format)
    if str(storage.format) != "coo" or not storage.format.is_canonical:
        storage = convert(storage, "coo").apart_from(storage)
    coords = np.stack(storage.arrays[1:]) if storage.shape else np.zeros((0, len(storage.vals)), np.int64)
    fill = storage.vals.dtype.type(storage.type.fill)
    return sparse.COO(coords, storage.vals, shape=storage.shape, has_duplicates=False, sorted=True, fill_value=fill)


register_reader("sparse", from_pydata)
register_writer("sparse", to_pydata)
register_viewer("sparse", shared)
