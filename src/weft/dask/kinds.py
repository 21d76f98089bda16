"""Kinds of chunks: all chunks of an array are tensors of one format, or ndarrays, decided before any is computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formats import Format
from ..operations.fill_change import as_array
from ..operations.operands import StorageHolder, storage_of
from ..records import record
from ..storage import Storage, tensor_type
from ..tensor import SparseTensor, asarray


@record
class Kind:
    """Tensors of a format, or ndarrays if the format is None."""

    format: Format | None
    dtype: str
    fill: Any = 0

    def of(self, chunk: Any) -> Any:
        """Return a chunk in this kind, which it nearly always has already."""
        if self.format is None:
            return as_array(chunk) if isinstance(chunk, StorageHolder) else chunk
        if isinstance(chunk, StorageHolder) and storage_of(chunk).format == self.format:
            return chunk
        return asarray(chunk, format=self.format)

    def meta(self, order: int) -> Any:
        """Return the empty chunk by which dask knows the kind."""
        if self.format is None:
            return np.empty((0,) * order, self.dtype)
        empty = asarray(np.empty((0,) * order, self.dtype), format=self.format)
        old = storage_of(empty)
        kind = tensor_type(self.dtype, self.format, old.type.index_dtypes, self.fill)
        return SparseTensor(Storage(old.shape, kind, old.arrays, old.vals))
