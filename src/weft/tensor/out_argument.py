"""The argument ``out``: an ndarray or a tensor that a result is put into."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..operations.operands import StorageHolder, storage_of
from ..operations.select import merged
from ..storage import Storage

__all__ = ["write_out"]


def write_out(result: Any, out: Any, op: str, where: Any = True, casting: Any = "same_kind") -> Any:
    """Put a result into what the caller gave for it, as ``x += T`` does: all of it, or the elements of a mask."""
    if isinstance(out, tuple):
        (out,) = out
    if not issubclass(type(out), (np.ndarray, StorageHolder)):
        raise TypeError(f"{op} cannot write into a {type(out).__name__}, only into an ndarray or a SparseTensor")
    if np.shape(result) != out.shape:
        raise ValueError(f"{op}: a result of shape {np.shape(result)} does not fit out of {out.shape}")
    is_array = issubclass(type(out), np.ndarray)
    if is_array or out.layout.is_dense:
        value, mask = (x.todense() if issubclass(type(x), StorageHolder) else x for x in (result, where))
        np.copyto(out if is_array else out.todense(), value, casting=casting, where=mask)
        return out
    made = result if issubclass(type(result), StorageHolder) else type(out)(Storage.dense(np.asarray(result)))
    if not np.can_cast(made.dtype, out.dtype, casting):
        raise TypeError(f"{op} cannot write {made.dtype} into out of {out.dtype} by casting {casting!r}")
    if where is not True:
        made = type(out)(merged(made._storage, out._storage, storage_of(where)))
    out._become(made.astype(out.dtype).asformat(out.format)._storage)
    return out
