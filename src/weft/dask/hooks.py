"""Functions by which dask knows tensors in a process, from when the two meet: those looked up by type, and rechunk."""

from __future__ import annotations

import sys
from functools import wraps
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.array import chunk_types, dispatch
from dask.array.utils import meta_from_array

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


def _registered() -> bool:
    if chunk_types.is_valid_chunk_type(SparseTensor):
        return False
    da.register_chunk_type(SparseTensor)
    dispatch.percentile_lookup.register(SparseTensor, _percentile)
    dispatch.to_numpy_dispatch.register(SparseTensor, _to_numpy)
    _rechunk_by_tasks()
    return True


registered = _registered()
