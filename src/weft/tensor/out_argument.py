"""Argument ``out``: an ndarray or a tensor that a result is written into."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..operations.operands import StorageHolder, replace_storage, storage_of
from ..operations.select import merged
from ..storage import Storage


def write_out(result: Any, out: Any, op: str, where: Any = True, casting: Any = "same_kind") -> Any:
    """Write a result into the ndarray or the tensor that the caller gave as ``out``, and return this object."""
    if isinstance(out, tuple):
        (out,) = out
    if not issubclass(type(out), (np.ndarray, StorageHolder)):
        raise TypeError(f"{op} cannot write into a {type(out).__name__}, only into an ndarray or a SparseTensor")
    for tensor in (result, out):
        if isinstance(tensor, StorageHolder):
            storage_of(tensor)  # raises for tensors on a device, whose memory is not written here
    if np.shape(result) != out.shape:
        raise ValueError(f"{op}: a result of shape {np.shape(result)} does not fit out of {out.shape}")
    is_array = issubclass(type(out), np.ndarray)
    # The memory of ndarrays and dense tensors is written in place, and other tensors get another storage.
    if is_array or out.layout.is_dense:
        value, mask = (x.todense() if issubclass(type(x), StorageHolder) else x for x in (result, where))
        np.copyto(out if is_array else out.todense(), value, casting=casting, where=mask)
        return out
    tensor = result if issubclass(type(result), StorageHolder) else type(out)(Storage.dense(np.asarray(result)))
    if not np.can_cast(tensor.dtype, out.dtype, casting):
        raise TypeError(f"{op} cannot write {tensor.dtype} into out of {out.dtype} by casting {casting!r}")
    if where is not True:  # elements outside the mask keep their values
        tensor = type(out)(merged(storage_of(tensor), storage_of(out), storage_of(where)))
    replace_storage(out, storage_of(tensor.astype(out.dtype).asformat(out.format)))
    return out


def put_into(out: Any, result: Any, op: str) -> Any:
    """Return a result; or ``out``, if there is one, after the result was written into it."""
    return result if out is None else write_out(result, out, op)
