"""Distinct elements and set operations, under the names of NumPy and the array API standard; implicit entries count.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 3.0, 3.0, 1.0]], format="csr")
>>> found = weft.unique_counts(A)
>>> found.values.todense(), found.counts.todense()
(array([0., 1., 3.]), array([1, 1, 2]))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..operations.fill_change import require_dense
from ..operations.operands import storage_of
from ..storage import Storage
from ..tensor.sparse_tensor import SparseTensor
from .reductions import number
from .statistics import stored_values


class UniqueAll(NamedTuple):
    """Result of :func:`unique_all`."""

    values: SparseTensor
    indices: SparseTensor
    inverse_indices: SparseTensor
    counts: SparseTensor


class UniqueCounts(NamedTuple):
    """Result of :func:`unique_counts`."""

    values: SparseTensor
    counts: SparseTensor


class UniqueInverse(NamedTuple):
    """Result of :func:`unique_inverse`."""

    values: SparseTensor
    inverse_indices: SparseTensor


def _vector(array: np.ndarray[Any, Any]) -> SparseTensor:
    return SparseTensor(Storage.dense(np.asarray(array, order="C")))


def unique_counts(x: Any, /) -> UniqueCounts:
    """Return the distinct elements in ascending order and their numbers of occurrences.

    Each NaN is distinct from all others.

    Parameters
    ----------
    x : array_like
        The tensor.

    Returns
    -------
    UniqueCounts
        Dense vectors ``values`` and ``counts``.

    Raises
    ------
    DensifyError
        If the fill value is NaN and the implicit entries exceed ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0, 3, 0, 1], format="coo")
    >>> found = weft.unique_counts(x)
    >>> found.values.todense(), found.counts.todense()
    (array([0, 1, 3]), array([2, 1, 1]))
    """
    values, counts = _distinct(x, lambda absent: int(number(absent)))
    return UniqueCounts(_vector(values), _vector(counts))


def _distinct(x: Any, times: Callable[[int], int]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the distinct elements and their numbers; ``times`` returns what counts for the implicit entries."""
    stored, fill, absent = stored_values(x)
    values, counts = np.unique(stored, return_counts=True, equal_nan=False)
    # The fill value occurs as often as there are implicit entries. It may be among the stored values, too.
    if absent and fill != fill:
        require_dense((absent,), values.dtype, "as many NaN, each different from the others,")
        values, counts = np.append(values, np.full(absent, fill)), np.append(counts, np.ones(absent, int))
    elif absent:
        place = int(np.searchsorted(values, fill))
        if place < len(values) and values[place] == fill:
            counts[place] += times(absent)
        else:
            values, counts = np.insert(values, place, fill), np.insert(counts, place, times(absent))
    return values, counts


def unique_values(x: Any, /) -> SparseTensor:
    """Return the distinct elements in ascending order, as a dense vector.

    Each NaN is distinct from all others. Errors are those of :func:`unique_counts`.

    Parameters
    ----------
    x : array_like
        The tensor.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0, 3, 0, 1], format="coo")
    >>> weft.unique_values(x).todense()
    array([0, 1, 3])
    """
    return _vector(_distinct(x, lambda absent: 1)[0])  # their number may be too large for an integer


def _dense(x: Any) -> np.ndarray[Any, Any]:
    storage = storage_of(x)
    require_dense(storage.shape, np.dtype(np.int64), "positions of all elements")
    return SparseTensor(storage).todense()


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Return the distinct elements in ascending order, and for every element its index among them.

    The tensor is made dense. Each NaN is distinct from all others.

    Parameters
    ----------
    x : array_like
        The tensor.

    Returns
    -------
    UniqueInverse
        The dense vector ``values``, and a dense tensor ``inverse_indices`` of the shape of ``x``.

    Raises
    ------
    DensifyError
        If the indices exceed ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0, 3, 0, 1], format="coo")
    >>> weft.unique_inverse(x).inverse_indices.todense()
    array([0, 2, 0, 1])
    """
    dense = _dense(x)
    values, inverse = np.unique(dense, return_inverse=True, equal_nan=False)
    return UniqueInverse(_vector(values), _vector(inverse.reshape(dense.shape)))


def unique_all(x: Any, /) -> UniqueAll:
    """Return the distinct elements, their first indices, the inverse indices and the numbers of occurrences.

    The tensor is made dense. Each NaN is distinct from all others.

    Parameters
    ----------
    x : array_like
        The tensor.

    Returns
    -------
    UniqueAll
        The dense tensors ``values``, ``indices``, ``inverse_indices`` and ``counts``.

    Raises
    ------
    DensifyError
        If the indices exceed ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0, 3, 0, 1], format="coo")
    >>> weft.unique_all(x).values.todense()
    array([0, 1, 3])
    """
    dense = _dense(x)
    found = np.unique(dense, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    values, indices, inverse, counts = found
    return UniqueAll(_vector(values), _vector(indices), _vector(inverse.reshape(dense.shape)), _vector(counts))


def unique(
    x: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, *, equal_nan: bool = True,
) -> Any:  # fmt: skip
    """Return the distinct elements in ascending order, by default with all NaN taken as one.

    Unlike NumPy's, the results are dense tensors. The operand is made dense for indices, for an axis, and for NaN.

    Raises
    ------
    DensifyError
        If the operand is made dense and exceeds ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.unique(A).todense()
    array([0., 1., 2.])
    """
    # Stored values and the fill value suffice unless positions are requested or several NaN are to be one.
    if axis is None and not (return_index or return_inverse):
        stored, fill, absent = stored_values(x)
        if not (equal_nan and ((absent and fill != fill) or (stored != stored).any())):
            return tuple(unique_counts(x)) if return_counts else unique_values(x)
    dense: Any = _dense(x)
    whole: Any = np.unique
    result = whole(
        dense, return_index=return_index, return_inverse=return_inverse, return_counts=return_counts, axis=axis,
        equal_nan=equal_nan,
    )  # fmt: skip
    return tuple(map(_vector, result)) if isinstance(result, tuple) else _vector(result)


def _different(x: Any) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = unique(x).todense()
    return found


def union1d(ar1: Any, ar2: Any) -> SparseTensor:
    """Return the distinct elements of either tensor in ascending order.

    Unlike NumPy's, the result is a dense tensor.

    Examples
    --------
    >>> import weft
    >>> weft.union1d([0, 1, 3], weft.asarray([3, 4], format="coo")).todense()
    array([0, 1, 3, 4])
    """
    return _vector(np.union1d(_different(ar1), _different(ar2)))


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Return the distinct elements that both tensors have, in ascending order.

    Unlike NumPy's, the results are dense tensors. The operands are made dense for ``return_indices``, which also
    returns the first index of each element in both flattened operands.

    Examples
    --------
    >>> import weft
    >>> weft.intersect1d([0, 1, 3], weft.asarray([3, 0], format="coo")).todense()
    array([0, 3])
    """
    if return_indices:
        first, second = (_dense(x).ravel() for x in (ar1, ar2))
        found = np.intersect1d(first, second, assume_unique=assume_unique, return_indices=True)
        return tuple(_vector(array) for array in found)
    return _vector(np.intersect1d(_different(ar1), _different(ar2), assume_unique=True))


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> SparseTensor:
    """Return the distinct elements of one tensor that another does not have.

    The elements ascend. With ``assume_unique`` they keep their order in the first tensor, which is made dense. Unlike
    NumPy's, the result is a dense tensor.

    Examples
    --------
    >>> import weft
    >>> weft.setdiff1d([0, 1, 3], weft.asarray([3, 0], format="coo")).todense()
    array([1])
    """
    own = _dense(ar1).ravel() if assume_unique else _different(ar1)
    return _vector(np.setdiff1d(own, _different(ar2), assume_unique=True))


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> SparseTensor:
    """Return the distinct elements that exactly one of two tensors has, in ascending order.

    Unlike NumPy's, the result is a dense tensor.

    Examples
    --------
    >>> import weft
    >>> weft.setxor1d([0, 1, 3], weft.asarray([3, 4], format="coo")).todense()
    array([0, 1, 4])
    """
    return _vector(np.setxor1d(_different(ar1), _different(ar2), assume_unique=True))
