"""Arrays of the package ``sparse`` (PyData): COO and GCXS share their memory, and DOK is copied.

Nodes, in the terms of that package, are the arrays that its ``save_npz`` writes, by their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..dtypes import name_of
from ..errors import FormatError
from ..formats import Format, FormatLike, formats, options_of, parse_format
from ..operations.foreign_tensors import convert, register_reader, register_viewer, register_writer
from ..records import replace
from ..storage import Storage, coordinate_storage, fill_of, segment_order, tensor_type
from .arrays import (
    as_array,
    broken,
    check_range,
    coordinate_arrays,
    index_attribute,
    shape_attribute,
    value_attribute,
)


def from_pydata(obj: Any) -> Storage | None:
    """Convert a ``sparse.COO``, ``GCXS`` or ``DOK`` to storage; return None for other objects of that package."""
    if not hasattr(obj, "fill_value") or not hasattr(obj, "asformat"):
        return None
    shape = shape_attribute(obj)
    if hasattr(obj, "compressed_axes") and len(shape) > 1:
        return _from_gcxs(obj, shape)
    try:
        coo = obj.asformat("coo")
    except Exception as error:  # the package raises many kinds of errors for broken arrays
        raise broken(obj, f"it cannot be read ({type(error).__name__}: {error})") from None
    found = _from_coo(coo, shape, coo.coords)
    return convert(found, "dok") if type(obj).__name__ == "DOK" else found


def _from_coo(obj: Any, shape: tuple[int, ...], coords: Any) -> Storage:
    vals = value_attribute(obj)
    crds = coordinate_arrays(obj, shape, len(vals), coords)
    return coordinate_storage(shape, crds, vals, _fill(obj, vals))


def _fill(obj: Any, vals: np.ndarray[Any, Any]) -> Any:
    fill = as_array(obj, "fill_value", obj.fill_value)
    if fill.ndim or fill.dtype.kind not in "biufc":
        raise broken(obj, f"fill_value {obj.fill_value!r} is no number")
    return fill_of(vals.dtype, fill[()])


def _from_gcxs(obj: Any, shape: tuple[int, ...]) -> Storage:
    """Convert a ``GCXS`` to storage, after a check of its arrays.

    Rows are numbered along the compressed axes in their order, and columns along the other axes.
    """
    pos, crd, vals = index_attribute(obj, "indptr"), index_attribute(obj, "indices"), value_attribute(obj)
    axes = tuple(int(axis) for axis in obj.compressed_axes)
    if len({*axes}) < len(axes) or not all(0 <= axis < len(shape) for axis in axes) or len(axes) >= len(shape):
        raise broken(obj, f"compressed_axes {axes} are not some of its axes")
    rows = prod(shape[axis] for axis in axes)
    if len(pos) != rows + 1 or pos[0] != 0 or (pos[1:] < pos[:-1]).any() or pos[-1] > min(len(crd), len(vals)):
        raise broken(obj, f"indptr does not fit {rows} rows, {len(crd)} indices and {len(vals)} values in data")
    crd, vals = crd[: pos[-1]], vals[: pos[-1]]
    check_range(obj, crd, prod(n for axis, n in enumerate(shape) if axis not in axes), "indices")
    # One pass over the coordinates decides what the format may guarantee of them.
    ordered, unique = segment_order(pos, crd)
    format = formats["gcxs"](len(shape), compressed_axes=axes)
    *above, column = format.levels
    format = Format(format.remapping, (*above, replace(column, ordered=ordered, unique=unique)))
    type = tensor_type(name_of(vals.dtype), format, (name_of(pos.dtype), name_of(crd.dtype)), _fill(obj, vals))
    return Storage(shape, type, (pos, crd), vals)


class Nodes(SimpleNamespace):
    """An object with the arrays of a file as attributes, for functions that read those of ``sparse`` arrays."""


def from_nodes(nodes: Mapping[str, np.ndarray[Any, Any]]) -> Storage:
    """Make storage from the arrays that ``sparse.save_npz`` wrote; raises ``FormatError`` for DOK."""
    obj, kind = Nodes(**nodes), str(nodes["format"]).lower()
    obj.shape = tuple(nodes["shape"].tolist())
    shape = shape_attribute(obj)
    if kind == "gcxs":
        return _from_gcxs(obj, shape) if len(shape) > 1 else _from_coo(obj, shape, [nodes["indices"]] * len(shape))
    if kind == "coo":
        return _from_coo(obj, shape, nodes["coords"])
    raise FormatError(f"files of the package sparse hold formats coo and gcxs, not {kind!r}")


def to_nodes(storage: Storage) -> dict[str, Any] | None:
    """Return the arrays from which ``sparse.load_npz`` makes a tensor; None for formats other than coo and gcxs.

    ``scipy.sparse.load_npz`` reads the arrays of coo, too, but it ignores fill values. A fill value other than zero is
    therefore saved with the format name ``COO``, which SciPy refuses and ``sparse`` accepts.
    """
    fill = storage.vals.dtype.type(storage.type.fill)
    nodes = {"shape": np.array(storage.shape, np.int64), "fill_value": fill, "data": storage.vals}
    if len(storage.shape) > 1 and storage.format.is_canonical:
        laid_out = options_of("gcxs", storage.format)
        if laid_out is not None:
            pos, crd = storage.arrays
            axes = np.array(laid_out["compressed_axes"], np.int64)
            return {**nodes, "format": "gcxs", "indices": crd, "indptr": pos, "compressed_axes": axes}
    if not storage.shape or storage.format != parse_format("coo", len(storage.shape)):
        return None
    crds = storage.arrays[1:]
    if len({crd.dtype for crd in crds}) > 1:  # in one array of all coordinates, some would change their dtype
        return None
    return {**nodes, "format": "COO" if fill else "coo", "coords": np.stack(crds), "_is_array": True}


def shared(storage: Storage) -> Any:
    """Return a ``GCXS`` over the memory of a tensor; None for other formats, and if ``sparse`` is not installed."""
    laid_out = options_of("gcxs", storage.format) if len(storage.shape) > 1 else None
    if laid_out is None or find_spec("sparse") is None:
        return None
    import sparse

    pos, crd = storage.arrays
    fill = storage.vals.dtype.type(storage.type.fill)
    return sparse.GCXS((storage.vals, crd, pos), shape=storage.shape, fill_value=fill, **laid_out)


def to_pydata(storage: Storage, format: FormatLike | None = None) -> Any:
    """Convert storage to an array of the package ``sparse``: by default GCXS from csr, csc and gcxs, else COO."""
    import sparse

    if format not in (None, "coo", "gcxs", "dok"):
        raise FormatError(f"the package sparse has formats coo, gcxs and dok, not {format!s}")
    found = shared(storage) if format in (None, "gcxs") and storage.format.is_canonical else None
    if found is not None:
        return found
    if format in ("gcxs", "dok"):
        return to_pydata(storage, "coo").asformat(format)
    if storage.format != "coo" or not storage.format.is_canonical:
        storage = convert(storage, "coo").apart_from(storage)
    coords = np.stack(storage.arrays[1:]) if storage.shape else np.zeros((0, len(storage.vals)), np.int64)
    fill = storage.vals.dtype.type(storage.type.fill)
    return sparse.COO(coords, storage.vals, shape=storage.shape, has_duplicates=False, sorted=True, fill_value=fill)


register_reader("sparse", from_pydata)
register_writer("sparse", to_pydata)
register_viewer("sparse", shared)
