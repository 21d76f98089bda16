"""Arrays of the package ``sparse`` (PyData): COO by its rows of coordinates, other formats through COO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..formats import FormatLike
from ..storage import Storage, coordinate_storage
from ..tensor.foreign import convert, register_reader, register_writer
from .arrays import index_array, value_array

if TYPE_CHECKING:
    from sparse import COO

__all__ = ["from_pydata", "to_pydata"]


def from_pydata(obj: Any) -> Storage | None:
    """A ``sparse.COO``, ``GCXS`` or ``DOK`` as storage; None for other objects of that package."""
    if not hasattr(obj, "fill_value") or not hasattr(obj, "asformat"):
        return None
    coo = obj.asformat("coo")
    crds = tuple(index_array(crd) for crd in coo.coords)
    return coordinate_storage(tuple(coo.shape), crds, value_array(coo.data), np.asarray(coo.fill_value)[()])


def to_pydata(storage: Storage, format: FormatLike | None = None) -> COO:
    """Storage as a ``sparse.COO``."""
    import sparse

    if str(storage.format) != "coo" or not storage.format.is_canonical:
        storage = convert(storage, "coo")
    coords = np.stack(storage.arrays[1:]) if storage.shape else np.zeros((0, len(storage.vals)), np.int64)
    fill = storage.vals.dtype.type(storage.type.fill)
    return sparse.COO(coords, storage.vals, shape=storage.shape, has_duplicates=False, sorted=True, fill_value=fill)


register_reader("sparse", from_pydata)
register_writer("sparse", to_pydata)
