"""Conversion between formats, by the compiler: an assignment that copies, and a sort where the order changes.

A source that is traversed in the target's order is appended directly. Any other is appended as triples, sorted by
the target's order of axes, and appended from there, duplicates summed on the way.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..codegen import emit_library
from ..errors import ResultTooLargeError
from ..formats import Compressed, Format, Singleton, TensorType
from ..index_notation.nodes import Access, Assignment
from ..remapping import Remapping
from ..runtime import loader
from ..runtime._ffi import ffi
from ..storage import Storage, tensor_type
from .kernel import Kernel
from .passes import lower

__all__ = ["convert", "sorted_triples"]


def convert(
    storage: Storage, format: Format, *, dtype: str | None = None, index_dtype: str | None = None, prune: bool = False
) -> Storage:
    """The same tensor in another format.

    Parameters
    ----------
    storage : Storage
        Any tensor.
    format : Format
        Of the same order.
    dtype : str, optional
        Of the values.
    index_dtype : str, optional
        ``int32`` or ``int64``; chosen by size where not given.
    prune : bool
        Leave out entries equal to the fill value, where no dense level keeps them. Duplicates are compared one by one.
    """
    source = storage.type
    dtype = dtype or source.dtype
    if not prune and (relabelled := _relabel(storage, format, dtype, index_dtype)):
        return relabelled
    if format.is_dense and not source.format.is_unique and source.fill != 0:
        # Duplicates can be summed in place onto zeros only.
        storage = convert(storage, source.format.canonical())
        source = storage.type
    index = index_dtype or _index_dtype(storage)
    target = tensor_type(dtype, format, (index,) * len(format.roles), source.fill)
    # A dense source holds mostly fill values, which a sparse result does not store.
    kernel = _copier(source, target, prune or (source.format.is_dense and not format.is_dense))
    result = kernel.run((storage,))
    if kernel.lowered.schedule.final is None:
        return result
    return pack(result, target)


def pack(triples: Storage, target: TensorType) -> Storage:
    """Triples in any order, with duplicates, into a format that promises order."""
    ordered = sorted_triples(triples, target.format.mode_order)
    kernel = _copier(ordered.type, target, False)
    return kernel.run((ordered,))


def _relabel(storage: Storage, format: Format, dtype: str, index_dtype: str | None) -> Storage | None:
    """The same arrays under another name, where they already are what is asked for."""
    source = storage.type
    if source.dtype != dtype or source.format.remapping != format.remapping:
        return None
    if index_dtype is not None and any(d != index_dtype for d in source.index_dtypes):
        return None
    for have, want in zip(source.format.levels, format.levels, strict=True):
        if type(have) is not type(want) or (want.ordered and not have.ordered) or (want.unique and not have.unique):
            return None
    if source.format == format:
        return storage
    return Storage(
        storage.shape, tensor_type(dtype, format, source.index_dtypes, source.fill), storage.arrays, storage.vals
    )


def _index_dtype(storage: Storage) -> str:
    return "int64" if max((*storage.shape, storage.vals.size), default=0) > 2**31 - 2 else "int32"


@lru_cache(maxsize=4096)
def _copier(source: TensorType, target: TensorType, skip_fill: bool) -> Kernel:
    indices = tuple(f"i{axis}" for axis in range(source.format.order))
    assignment = Assignment(Access("B", indices), Access("A", indices))
    return Kernel(lower(assignment, {"B": target, "A": source}, copying=True, skip_fill=skip_fill))


def sorted_triples(triples: Storage, mode_order: tuple[int, ...]) -> Storage:
    """The same triples sorted lexicographically in an order of the axes; stable, so that sums keep their order."""
    order = len(mode_order)
    coords = [triples.arrays[1 + axis] if order > 1 or axis else triples.arrays[1] for axis in mode_order]
    n = len(triples.vals)
    permutation = np.empty(n, np.int64)
    lists = ffi.new("void *[]", [ffi.from_buffer(c) for c in coords])
    widths = ffi.new("int64_t[]", [c.itemsize for c in coords])
    dimensions = ffi.new("int64_t[]", [max(triples.shape[axis], 1) for axis in mode_order])
    status = _sorter()(n, order, lists, widths, dimensions, ffi.from_buffer("int64_t[]", permutation))
    if status == 1:
        raise ResultTooLargeError(f"no memory to sort {n} entries of a tensor of shape {triples.shape}")
    vals = triples.vals
    if status == 0:
        coords, vals = [c[permutation] for c in coords], vals[permutation]
    levels = (Compressed(unique=False), *(Singleton(unique=False) for _ in range(order - 1)))
    format = Format(Remapping(mode_order), levels)
    pos = triples.arrays[0]
    arrays = (pos, *coords)
    dtypes = tuple(a.dtype.name for a in arrays)
    return Storage(triples.shape, tensor_type(triples.type.dtype, format, dtypes, triples.type.fill), arrays, vals)


@lru_cache(maxsize=1)
def _sorter() -> Any:
    library = loader.open_source(emit_library(["weft_sort_permutation"]))
    signature = "int64_t(*)(int64_t, int64_t, void **, int64_t *, int64_t *, int64_t *)"
    return ffi.cast(signature, library.address("weft_sort_permutation"))
