"""Argument ``out``: an ndarray or a tensor that a result is written into."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..operations.operands import StorageHolder, replace_storage, storage_of
from ..operations.select import merged
from ..storage import Storage

__all__ = ["put_into", "write_out"]


def write_out(result: Any, out: Any, op: str, where: Any = True, casting: Any = "same_kind") -> Any:
    """Write a result into the ndarray or the tensor that the caller gave as ``out``, and return this object.

    Parameters
    ----------
    result : SparseTensor, ndarray or scalar
        The result.
    out : ndarray, SparseTensor or tuple of one
        The object to write into, which keeps its format and dtype.
    op : str
        The name of the operation, for messages.
    where : array_like of bool, optional
        A mask of the elements to write; True for all of them.
    casting : str, optional
        The rule by which the result may be converted to the dtype of ``out``.

    Raises
    ------
    TypeError
        When ``out`` is no ndarray or tensor, or ``casting`` does not allow the conversion.
    ValueError
        When the shapes differ.
    """
    if isinstance(out, tuple):
        (out,) = out
    if not issubclass(type(out), (np.ndarray, StorageHolder)):
        raise TypeError(f"{op} cannot write into a {type(out).__name__}, only into an ndarray or a SparseTensor")
    if np.shape(result) != out.shape:
        raise ValueError(f"{op}: a result of shape {np.shape(result)} does not fit out of {out.shape}")
    is_array = issubclass(type(out), np.ndarray)
    # The memory of ndarrays and dense tensors is written in place, and other tensors get another storage.
    if is_array or out.layout.is_dense:
        value, mask = (x.todense() if issubclass(type(x), StorageHolder) else x for x in (result, where))
        np.copyto(out if is_array else out.todense(), value, casting=casting, where=mask)
        return out
    made = result if issubclass(type(result), StorageHolder) else type(out)(Storage.dense(np.asarray(result)))
    if not np.can_cast(made.dtype, out.dtype, casting):
        raise TypeError(f"{op} cannot write {made.dtype} into out of {out.dtype} by casting {casting!r}")
    if where is not True:  # elements outside the mask keep their values
        made = type(out)(merged(storage_of(made), storage_of(out), storage_of(where)))
    replace_storage(out, storage_of(made.astype(out.dtype).asformat(out.format)))
    return out


def put_into(out: Any, result: Any, op: str) -> Any:
    """Return a result; or ``out``, if there is one, after the result was written into it."""
    return result if out is None else write_out(result, out, op)
