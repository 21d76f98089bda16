"""The different elements of a tensor, as the array API standard and NumPy name it; absent elements count.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 3.0, 3.0, 1.0]], format="csr")
>>> found = weft.unique_counts(A)
>>> found.values.todense(), found.counts.todense()
(array([0., 1., 3.]), array([1, 1, 2]))
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..operations.axis_lines import lines
from ..operations.fill_change import require_dense
from ..operations.operands import storage_of
from ..storage import Storage
from ..tensor.sparse_tensor import SparseTensor

__all__ = [
    "intersect1d", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse",
    "unique_values",
]  # fmt: skip


class UniqueAll(NamedTuple):
    """What :func:`unique_all` gives."""

    values: SparseTensor
    indices: SparseTensor
    inverse_indices: SparseTensor
    counts: SparseTensor


class UniqueCounts(NamedTuple):
    """What :func:`unique_counts` gives."""

    values: SparseTensor
    counts: SparseTensor


class UniqueInverse(NamedTuple):
    """What :func:`unique_inverse` gives."""

    values: SparseTensor
    inverse_indices: SparseTensor


def _vector(array: np.ndarray[Any, Any]) -> SparseTensor:
    return SparseTensor(Storage.dense(np.asarray(array, order="C")))


def unique_counts(x: Any, /) -> UniqueCounts:
    """The different elements in order, and how often each comes; each NaN counts as another."""
    seen = lines(storage_of(x), None)
    values, counts = np.unique(seen.values, return_counts=True, equal_nan=False)
    absent = seen.length - len(seen.values)
    if absent and seen.fill != seen.fill:
        require_dense((absent,), values.dtype, "as many NaN, each different from the others,")
        values, counts = np.append(values, np.full(absent, seen.fill)), np.append(counts, np.ones(absent, int))
    elif absent:
        place = int(np.searchsorted(values, seen.fill))
        if place < len(values) and values[place] == seen.fill:
            counts[place] += absent
        else:
            values, counts = np.insert(values, place, seen.fill), np.insert(counts, place, absent)
    return UniqueCounts(_vector(values), _vector(counts))


def unique_values(x: Any, /) -> SparseTensor:
    """The different elements in order; each NaN counts as another."""
    return unique_counts(x).values


def _dense(x: Any) -> np.ndarray[Any, Any]:
    storage = storage_of(x)
    require_dense(storage.shape, np.dtype(np.int64), "positions of all elements")
    return SparseTensor(storage).todense()


def unique_inverse(x: Any, /) -> UniqueInverse:
    """The different elements in order, and for every element its place among them, a dense tensor."""
    dense = _dense(x)
    values, inverse = np.unique(dense, return_inverse=True, equal_nan=False)
    return UniqueInverse(_vector(values), _vector(inverse.reshape(dense.shape)))


def unique_all(x: Any, /) -> UniqueAll:
    """The different elements in order, where each comes first, every element's place among them, and how often each."""
    dense = _dense(x)
    found = np.unique(dense, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    values, indices, inverse, counts = found
    return UniqueAll(_vector(values), _vector(indices), _vector(inverse.reshape(dense.shape)), _vector(counts))


def unique(
    x: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, *, equal_nan: bool = True,
) -> Any:  # fmt: skip
    """NumPy's ``unique``: the different elements in order, and what else is asked for; NaN are one."""
    if axis is None and not (return_index or return_inverse):
        seen = lines(storage_of(x), None)
        if not (seen.fill != seen.fill and equal_nan) and not (equal_nan and (seen.values != seen.values).any()):
            values, counts = unique_counts(x)
            return (values, counts) if return_counts else values
    dense: Any = _dense(x)
    whole: Any = np.unique
    found = whole(
        dense, return_index=return_index, return_inverse=return_inverse, return_counts=return_counts, axis=axis,
        equal_nan=equal_nan,
    )  # fmt: skip
    return tuple(map(_vector, found)) if isinstance(found, tuple) else _vector(found)


def _different(x: Any) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = unique(x).todense()
    return found


def union1d(ar1: Any, ar2: Any) -> SparseTensor:
    """The elements that either tensor has, in order."""
    return _vector(np.union1d(_different(ar1), _different(ar2)))


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The elements that both tensors have, in order; with ``return_indices`` also where each comes first."""
    if return_indices:
        first, second = (_dense(x).ravel() for x in (ar1, ar2))
        found = np.intersect1d(first, second, assume_unique=assume_unique, return_indices=True)
        return tuple(_vector(array) for array in found)
    return _vector(np.intersect1d(_different(ar1), _different(ar2), assume_unique=True))


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> SparseTensor:
    """The elements of one tensor that another has not; in order, or as they come where ``assume_unique``."""
    own = _dense(ar1).ravel() if assume_unique else _different(ar1)
    return _vector(np.setdiff1d(own, _different(ar2), assume_unique=True))


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> SparseTensor:
    """The elements that one of two tensors has, in order."""
    return _vector(np.setxor1d(_different(ar1), _different(ar2), assume_unique=True))
