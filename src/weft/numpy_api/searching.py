"""Where elements are, as NumPy and the array API standard name it; the work is that of what is stored.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 3.0, 1.0], [-1.0, 0.0, -2.0]], format="csr")
>>> weft.argmax(A, axis=1).todense(), weft.nonzero(A)[0].todense()
(array([1, 1]), array([0, 0, 1, 1]))
>>> weft.where(A > 0, A, 7.0).fill_value
np.float64(7.0)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from .. import execution
from ..operations import select
from ..operations.axis_lines import Lines, lines
from ..operations.canonical import drop_explicit_fill
from ..operations.elementwise import with_axes
from ..operations.fill_change import change_fill, require_dense
from ..operations.indexing import coordinates
from ..operations.operands import StorageHolder, storage_of
from ..storage import Storage
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import ravel

__all__ = ["argmax", "argmin", "argwhere", "flatnonzero", "isin", "nonzero", "searchsorted", "where"]


# -- extremes ------------------------------------------------------------------------------------------------------
def argmax(x: Any, /, axis: int | None = None, *, keepdims: bool = False, explicit: bool = False) -> Any:
    """The first position of the largest element along an axis, NaN before all; with ``explicit`` of the stored ones."""
    return _extreme(x, axis, keepdims, np.maximum, "argmax", explicit)


def argmin(x: Any, /, axis: int | None = None, *, keepdims: bool = False, explicit: bool = False) -> Any:
    """The first position of the smallest element along an axis, NaN before all; with ``explicit`` of stored ones."""
    return _extreme(x, axis, keepdims, np.minimum, "argmin", explicit)


def _extreme(x: Any, axis: int | None, keepdims: bool, best: np.ufunc, name: str, explicit: bool) -> Any:
    storage = storage_of(x)
    n = len(storage.shape)
    along = None if axis is None else normalize_axis_index(axis, max(n, 1))
    along = along if n else None  # an element is all there is along an axis of its own
    if storage.format.is_dense:
        whole = execution.convert(storage, storage.format.dense(n)).to_dense_array()
        found = getattr(np, name)(whole, axis=along, keepdims=keepdims)
        return found if not np.ndim(found) else SparseTensor(Storage.dense(found))
    seen = lines(storage, along)
    if not seen.length and (seen.count or along is None):
        raise ValueError(f"attempt to get {name} of an empty sequence")
    found = _first_extremes(seen, best, explicit).reshape(seen.shape)
    if not seen.shape and not (keepdims and n):
        return found[()]
    result = Storage.dense(found)
    gone = tuple(range(n)) if along is None else (along,)
    return SparseTensor(with_axes(result, gone) if keepdims else result)


def _first_extremes(seen: Lines, best: np.ufunc, explicit: bool) -> np.ndarray[Any, Any]:
    """For each line the first column of its extreme element; 0 where that is to be stored, and none is."""
    require_dense((seen.count,), np.dtype(np.int64), "positions in every line")
    edges, column, values = seen.edges, seen.column, seen.values
    stored = np.diff(edges)
    # The first column that is not stored: where the rank among the entries falls behind the column.
    gap = stored.copy()
    behind = seen.rank != column
    np.minimum.at(gap, seen.row[behind], seen.rank[behind])
    held = np.flatnonzero(stored)
    answer = gap  # a line without entries has its first element
    if len(held):
        starts = edges[held]
        top = best.reduceat(values, starts)
        spread = np.repeat(top, stored[held])
        is_top = (values == spread) | ((values != values) & (spread != spread))
        first = np.minimum.reduceat(np.where(is_top, column, seen.length), starts)
        if explicit:
            answer[:] = 0
            answer[held] = first
            return answer.astype(np.int64)
        whole = stored[held] == seen.length
        with np.errstate(invalid="ignore"):
            both = best(top, seen.fill)
        top_wins = (both == top) | ((both != both) & (top != top))
        fill_wins = (both == seen.fill) | ((both != both) & (seen.fill != seen.fill))
        either = np.where(top_wins & fill_wins, np.minimum(first, gap[held]), np.where(top_wins, first, gap[held]))
        answer[held] = np.where(whole, first, either)
    return answer.astype(np.int64)


# -- where something is --------------------------------------------------------------------------------------------
def _nonzero_rows(x: Any) -> list[np.ndarray[Any, Any]]:
    storage = storage_of(x)
    if not storage.shape:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    coo = drop_explicit_fill(execution.convert(change_fill(storage, 0), coordinates(len(storage.shape))))
    return [row.astype(np.int64) for row in coo.arrays[1:]]


def nonzero(x: Any, /) -> tuple[SparseTensor, ...]:
    """The coordinates of the elements that are not zero: a dense vector for each axis."""
    return tuple(SparseTensor(Storage.dense(row)) for row in _nonzero_rows(x))


def argwhere(x: Any) -> SparseTensor:
    """The coordinates of the elements that are not zero, one in a row."""
    storage = storage_of(x)
    if not storage.shape:  # one place without coordinates, or none
        count = np.count_nonzero(SparseTensor(storage).todense())
        return SparseTensor(Storage.dense(np.empty((count, 0), np.int64)))
    rows = _nonzero_rows(x)
    return SparseTensor(Storage.dense(np.ascontiguousarray(np.stack(rows, axis=1))))


def flatnonzero(x: Any) -> SparseTensor:
    """The positions of the elements that are not zero, among all."""
    return nonzero(ravel(x))[0]


def searchsorted(x1: Any, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> Any:
    """Where elements would go in a sorted vector. Both are taken as dense arrays."""
    first, second, order = (_dense(x) for x in (x1, x2, sorter))
    found = np.searchsorted(first, second, side=side, sorter=order)
    return SparseTensor(Storage.dense(found)) if np.ndim(found) else found


def _dense(x: Any) -> Any:
    if not isinstance(x, StorageHolder):
        return x
    require_dense(x._storage.shape, x._storage.dtype, "all elements of an operand")
    return x.todense()  # type: ignore[attr-defined]


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Which elements of a tensor are among those of another."""
    storage = storage_of(x1)
    if not storage.format.is_unique:
        storage = execution.convert(storage, storage.format.canonical())
    among = _values(x2)
    own = storage.dtype.type(storage.type.fill)
    vals = np.isin(storage.vals, among, invert=invert)
    return SparseTensor(storage.with_values(vals, bool(np.isin(own, among, invert=invert))))


def _values(x: Any) -> np.ndarray[Any, Any]:
    """Every value that a tensor has."""
    storage = storage_of(x)
    if storage.format.is_dense:
        return np.unique(storage.vals)
    seen = lines(storage, None)
    absent = [seen.fill] if len(seen.values) < seen.length else []
    return np.unique(np.concatenate([seen.values, np.array(absent, storage.dtype)]))


# -- choice --------------------------------------------------------------------------------------------------------
def where(condition: Any, x1: Any = None, x2: Any = None, /) -> Any:
    """Elements of ``x1`` where the condition holds, else of ``x2``; of a condition alone, where it is not zero.

    An entry of the result is stored where one of the three is.
    """
    if x1 is None and x2 is None:
        return nonzero(condition)
    if x1 is None or x2 is None:
        raise ValueError("either both or neither of x and y should be given")
    given = [storage_of(x) for x in (condition, x1, x2)]
    found = select.where(given, _result_type(x1, x2))
    scalar = not found.shape and all(s.format.is_dense for s in given)
    return found.to_dense_array()[()] if scalar else SparseTensor(found)


def _result_type(*operands: Any) -> np.dtype[Any]:
    weak = [x if type(x) in (int, float, complex, bool) else storage_of(x).dtype for x in operands]
    return np.result_type(*weak)
