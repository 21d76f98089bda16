"""Sparse matrices of cupyx and sparse tensors of torch on a GPU, read without a copy.

Their arrays stay on the device, and are taken as they are. Both packages say whether coordinates are sorted and without
duplicates: torch requires it of all but coo, and cupyx looks, on the device, and remembers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import name_of
from ..errors import FormatError
from ..formats import Compressed, Dense, Format, formats
from ..operations.foreign_tensors import register_reader
from ..remapping import Remapping
from ..runtime import devices
from ..storage import Storage, coordinate_format, tensor_type

_ORDERS = {"csr": (0, 1), "csc": (1, 0)}


def from_cupyx(obj: Any) -> Storage | None:
    """Return a matrix of cupyx as storage, over its arrays; None for other objects."""
    kind, shape = getattr(obj, "format", None), getattr(obj, "shape", ())
    if kind in _ORDERS and hasattr(obj, "indptr"):
        is_sorted, is_canonical = bool(obj.has_sorted_indices), bool(obj.has_canonical_format)
        return _compressed(shape, _ORDERS[kind], (obj.indptr, obj.indices, obj.data), is_sorted, is_canonical)
    if kind == "coo" and hasattr(obj, "row"):
        is_canonical = bool(getattr(obj, "has_canonical_format", False))
        return _coordinates(shape, (obj.row, obj.col), obj.data, is_canonical)
    if not isinstance(kind, str):
        return None
    raise FormatError(f"weft takes csr, csc and coo matrices of cupyx, not {kind}; its tocsr() makes one")


def from_torch(obj: Any) -> Storage | None:
    """Return a sparse tensor of torch on a GPU as storage, over its arrays; None for other objects."""
    layout = str(getattr(obj, "layout", "")).rpartition(".")[2]
    if not layout.startswith("sparse") or not getattr(obj, "is_cuda", False):
        return None
    kind, shape = layout.removeprefix("sparse_"), tuple(map(int, obj.shape))
    if kind == "coo" and not obj.dense_dim():
        if not obj.is_coalesced():
            raise FormatError("weft takes coo tensors of torch that are coalesced; their coalesce() makes one")
        return _coordinates(shape, tuple(obj.indices()), obj.values(), True)
    if len(shape) == 2 and kind in ("csr", "bsr"):
        parts = obj.crow_indices(), obj.col_indices(), obj.values()
        return _compressed(shape, (0, 1), parts, True, True) if kind == "csr" else _blocks(shape, parts)
    if len(shape) == 2 and kind == "csc":
        return _compressed(shape, (1, 0), (obj.ccol_indices(), obj.row_indices(), obj.values()), True, True)
    raise FormatError(f"weft takes csr, csc, bsr and coo tensors of torch without batches, not {kind} of shape {shape}")


def _vector(array: Any) -> Any:
    vector = devices.adopted(array)
    return vector if vector.flags.c_contiguous else vector.copy()


def _typed(shape: tuple[int, ...], format: Format, arrays: tuple[Any, ...], vals: Any) -> Storage:
    names = tuple([name_of(array.dtype) for array in arrays])
    return Storage(tuple(shape), tensor_type(name_of(vals.dtype), format, names), arrays, vals)


def _compressed(
    shape: tuple[int, ...], modes: tuple[int, int], parts: tuple[Any, Any, Any], is_sorted: bool, is_canonical: bool
) -> Storage:
    pos, crd, vals = map(_vector, parts)
    format = Format(Remapping(modes), (Dense(), Compressed(ordered=is_sorted, unique=is_canonical)))
    return _typed(shape, format, (pos, crd), vals)


def _blocks(shape: tuple[int, ...], parts: tuple[Any, Any, Any]) -> Storage:
    pos, crd, vals = map(_vector, parts)
    return _typed(shape, formats["bsr"](2, blocksize=vals.shape[1:]), (pos, crd), vals.reshape(-1))


def _coordinates(shape: tuple[int, ...], crds: tuple[Any, ...], values: Any, is_canonical: bool) -> Storage:
    vals, rows = _vector(values), tuple(map(_vector, crds))
    bounds = devices.device(devices.name_of(vals)).copy_in(np.array([0, vals.size], rows[0].dtype))
    ordered = [(is_canonical, is_canonical)] * len(rows)
    return _typed(shape, coordinate_format(tuple(ordered)), (bounds, *rows), vals)


register_reader("cupyx", from_cupyx)
register_reader("torch", from_torch)
