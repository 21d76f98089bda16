"""Functions by which dask knows tensors, from when the two meet: those looked up by type, rechunk and argwhere."""

from __future__ import annotations

import sys
from functools import wraps
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.array import chunk_types, dispatch
from dask.array.utils import meta_from_array

from ..numpy_api.searching import argwhere
from ..numpy_api.sorting import percentile
from ..operations.fill_change import as_array
from ..tensor import SparseTensor


def _percentile(chunk: SparseTensor, q: Any, method: str = "linear") -> tuple[Any, int]:
    """Return percentiles of a chunk for dask to merge, and the number of elements that they stand for."""
    found = percentile(chunk, np.asarray(q), method=method)
    return as_array(found), chunk.size


def _to_numpy(chunk: SparseTensor, **_: Any) -> Any:
    """Return a chunk as an ndarray, within the limit of dense arrays made implicitly."""
    return as_array(chunk)


def _rechunk_by_tasks() -> None:
    """Let dask rechunk tensors by tasks unless a method is asked for: the other one moves memory of ndarrays alone."""
    module: Any = sys.modules["dask.array.rechunk"]
    theirs = module.rechunk

    @wraps(theirs)
    def rechunk(x: Any, *args: Any, **kwargs: Any) -> Any:
        is_free = dask.config.get("array.rechunk.method", None) is None
        if not (is_free and isinstance(meta_from_array(x), SparseTensor)):
            return theirs(x, *args, **kwargs)
        with dask.config.set({"array.rechunk.method": "tasks"}):
            return theirs(x, *args, **kwargs)

    module.rechunk = da.rechunk = rechunk


def _located(chunk: Any, start: Any) -> Any:
    """Return the coordinates of nonzero elements of a chunk, whose rows are counted from ``start``."""
    while isinstance(chunk, list):  # dask nests a block by the axes that it has alone
        (chunk,) = chunk
    offsets = np.zeros(chunk.ndim, np.intp)
    offsets[0] = start[0]
    return as_array(argwhere(chunk)) + offsets


def _find_nonzero() -> None:
    """Let dask find nonzero elements of tensors among what each chunk stores, as it cannot index by a sparse mask."""
    module: Any = sys.modules["dask.array.routines"]
    theirs = module.argwhere

    @wraps(theirs)
    def by_chunks(a: Any) -> Any:
        a = da.asanyarray(a)
        if not (a.ndim and isinstance(meta_from_array(a), SparseTensor)) or np.isnan(a.shape).any():
            return theirs(a)
        rows = a.rechunk(dict.fromkeys(range(1, a.ndim), -1))  # so that elements are in order
        starts = da.from_array(np.cumsum([0, *rows.chunks[0][:-1]]), chunks=1)
        elements, column = 0, a.ndim  # the axes of the result, the first of which numbers what is found
        return da.blockwise(
            _located, (elements, column), rows, tuple(range(a.ndim)), starts, (elements,), new_axes={column: a.ndim},
            adjust_chunks={elements: lambda n: np.nan}, align_arrays=False, meta=np.empty((0, 0), np.intp),
        )  # fmt: skip

    module.argwhere = da.argwhere = by_chunks


def _registered() -> bool:
    if chunk_types.is_valid_chunk_type(SparseTensor):
        return False
    da.register_chunk_type(SparseTensor)
    dispatch.percentile_lookup.register(SparseTensor, _percentile)
    dispatch.to_numpy_dispatch.register(SparseTensor, _to_numpy)
    _rechunk_by_tasks()
    _find_nonzero()
    return True


registered = _registered()
