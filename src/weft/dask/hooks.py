"""Functions that dask looks up by the type of a chunk, registered once in a process, when weft and dask meet there."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from dask.array import chunk_types, dispatch

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


def _registered() -> bool:
    if chunk_types.is_valid_chunk_type(SparseTensor):
        return False
    da.register_chunk_type(SparseTensor)
    dispatch.percentile_lookup.register(SparseTensor, _percentile)
    dispatch.to_numpy_dispatch.register(SparseTensor, _to_numpy)
    return True


registered = _registered()
