"""NumPy's statistics beyond the standard, computed from reductions, or from stored entries and the fill value.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 3.0, 1.0], [0.0, 0.0, 2.0]], format="csr")
>>> weft.average(A, axis=1, weights=[1, 1, 2]).todense(), weft.ptp(A, axis=1).todense()
(array([1.25, 1.  ]), array([3., 2.]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import execution
from ..operations.fill_change import as_array
from ..operations.operands import storage_of
from ..runtime import memory
from ..tensor.operators import elementwise
from ..tensor.out_argument import put_into
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import broadcast_to, expand_dims
from .moments import mean
from .reductions import Axes, Axis, all, max, min, sum
from .reductions import any as any_of
from .searching import argmax, argmin
from .unlisted_ufuncs import map


def _binary(op: str, a: Any, b: Any) -> Any:
    return elementwise(op, a, b, SparseTensor)


def ptp(x: Any, axis: Axis = None, out: Any = None, keepdims: bool = False) -> SparseTensor | Any:
    """Return the range over some axes: the maximum minus the minimum.

    Unlike NumPy's, the function has no default for slices without elements.

    Parameters
    ----------
    x : array_like
        The tensor.
    axis : int or tuple of int, optional
        The axes, by default all.
    out : ndarray or SparseTensor, optional
        The array into which the result is written.
    keepdims : bool
        True to keep the axes with size 1.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        The ranges: a scalar if no axis is left, or ``out``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.ptp(A), weft.ptp(A, axis=1).todense()
    (np.float64(2.0), array([1., 2.]))
    """
    top = max(x, axis=axis, keepdims=keepdims)
    bottom = min(x, axis=axis, keepdims=keepdims)
    return put_into(out, top - bottom, "ptp")


def average(x: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """Return the weighted mean over some axes.

    Parameters
    ----------
    x : array_like
        The tensor.
    axis : int or tuple of int, optional
        The axes, by default all.
    weights : array_like, optional
        The weights, of the shape of ``x`` or of its reduced axes. By default all are one.
    returned : bool
        True to return the sums of weights, too.
    keepdims : bool
        True to keep the axes with size 1.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar, or a pair of them
        The means, and the sums of weights if requested.

    Raises
    ------
    TypeError
        If weights of another shape are given without an axis.
    ValueError
        If weights do not fit the axes.
    ZeroDivisionError
        If weights sum to zero, or the result has no elements.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 0.0, 1.0], format="coo")
    >>> weft.average(x, weights=[1.0, 1.0, 0.0, 2.0])
    np.float64(1.25)
    """
    storage = storage_of(x)
    axes = Axes.of(axis, storage.shape)
    if weights is None:
        means = mean(x, axis=axis, keepdims=keepdims)
        if 0 in [storage.shape[a] for a in axes.free]:
            raise ZeroDivisionError("division by zero")  # NumPy divides by the size of the result
        return (means, _like(means, float(axes.count))) if returned else means
    w = SparseTensor(storage_of(weights))
    if w.shape != storage.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        given = axis if isinstance(axis, tuple) else (axis,)
        # NumPy also takes weights of the reduced axes alone.
        along = [a % len(storage.shape) for a in given]
        if w.shape != tuple(storage.shape[a] for a in along):
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        if along != sorted(along):
            raise ValueError("weights over several axes are given in the order of the axes")
        # The weights broadcast along the axes that they do not have.
        w = expand_dims(w, tuple(a for a in range(len(storage.shape)) if a not in along))
    total = sum(broadcast_to(w, storage.shape), axis=axis, keepdims=keepdims)
    if any_of(SparseTensor(storage_of(total)) == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    means = _binary("divide", sum(_binary("multiply", SparseTensor(storage), w), axis=axis, keepdims=keepdims), total)
    return (means, total) if returned else means


def _like(found: Any, value: float) -> Any:
    return map(lambda v: np.full(v.shape, value), found) if isinstance(found, SparseTensor) else type(found)(value)


def _nan_extreme(x: Any, axis: int | None, keepdims: bool, worst: float, function: Any) -> Any:
    tensor = SparseTensor(storage_of(x))
    if tensor.dtype.kind not in "fc":
        return function(tensor, axis=axis, keepdims=keepdims)
    # NaN is replaced by the worst value.
    indices = function(map(lambda v: np.where(np.isnan(v), worst, v), tensor), axis=axis, keepdims=keepdims)
    if any_of(SparseTensor(storage_of(all(map(np.isnan, tensor), axis=axis)))):
        raise ValueError("All-NaN slice encountered")
    return indices


def nanargmax(x: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> SparseTensor | Any:
    """Return the index of the first maximum along an axis of the elements that are not NaN.

    Parameters
    ----------
    x : array_like
        The tensor.
    axis : int, optional
        The axis. If it is None, the index is that of the flattened tensor.
    out : ndarray or SparseTensor, optional
        The array or tensor into which the result is written.
    keepdims : bool
        True to keep the axis with size 1.

    Returns
    -------
    SparseTensor or NumPy integer
        The indices, a dense tensor; an integer if no axis is left.

    Raises
    ------
    ValueError
        If a slice has only NaN.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, float("nan"), 2.0], format="coo")
    >>> weft.nanargmax(x)
    np.int64(2)
    """
    return put_into(out, _nan_extreme(x, axis, keepdims, -np.inf, argmax), "nanargmax")


def nanargmin(x: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> SparseTensor | Any:
    """Return the index of the first minimum along an axis of the elements that are not NaN.

    The arguments and results are those of :func:`nanargmax`.

    Raises
    ------
    ValueError
        If a slice has only NaN.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, float("nan"), 2.0], format="coo")
    >>> weft.nanargmin(x)
    np.int64(0)
    """
    return put_into(out, _nan_extreme(x, axis, keepdims, np.inf, argmin), "nanargmin")


# -- counts: stored values, and the fill value once for each implicit entry -----------------------------------------
def stored_values(x: Any) -> tuple[np.ndarray[Any, Any], Any, int]:
    """Return the stored values, the fill value, and the number of implicit entries."""
    storage = storage_of(x)
    if not (storage.format.is_dense or (storage.format.is_unique and storage.format.is_compact)):
        storage = execution.convert(storage, storage.plain_format.canonical())
    total = 1
    for size in storage.shape:
        total *= size
    return storage.vals, storage.dtype.type(storage.type.fill), total - len(storage.vals)


@memory.guarded
def histogram(
    x: Any, bins: Any = 10, range: tuple[float, float] | None = None, density: bool | None = None, weights: Any = None
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the number of elements in each bin, or the sum of their weights, and the edges of the bins.

    Parameters
    ----------
    x : array_like
        The tensor.
    bins : int or array of edges
        The number of bins or their edges. NumPy's names of rules are refused, since rules need all elements.
    range : (float, float), optional
        The lowest edge and the highest.
    density : bool
        True for the probability density instead of numbers.
    weights : array_like, optional
        One weight for each element. The tensor is then made dense.

    Returns
    -------
    tuple of ndarray
        The numbers, sums or densities, and the edges.

    Raises
    ------
    TypeError
        If ``bins`` is the name of a rule.
    DensifyError
        If weights are given and exceed ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 0.0, 1.0], format="coo")
    >>> counts, edges = weft.histogram(x, bins=3)
    >>> counts.tolist(), edges.tolist()
    ([2, 1, 1], [0.0, 1.0, 2.0, 3.0])
    """
    if isinstance(bins, str):
        raise TypeError(f"bins={bins!r} needs all elements; give a number of bins or their edges")
    vals, fill, absent = stored_values(x)
    # The edges depend on the range of values alone, for which one fill value is enough.
    seen = np.concatenate([vals, np.full(int(absent > 0), fill, vals.dtype)])
    edges = np.histogram_bin_edges(seen, as_array(bins), range)
    if weights is not None:
        return np.histogram(as_array(SparseTensor(storage_of(x))), edges, density=density, weights=as_array(weights))
    counts = np.histogram(vals, edges)[0]
    if absent:
        counts = counts + absent * np.histogram(np.array([fill]), edges)[0]
    if density:
        return counts / (np.diff(edges) * counts.sum()), edges
    return counts, edges


@memory.guarded
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> np.ndarray[Any, Any]:
    """Return the number of occurrences of each integer from 0 on in a vector, or the sums of weights.

    Parameters
    ----------
    x : array_like of int
        The vector. Negative integers are refused.
    weights : array_like, optional
        One weight for each element. The vector is then made dense.
    minlength : int
        The least length of the result.

    Returns
    -------
    ndarray
        The numbers or sums.

    Raises
    ------
    ValueError
        If there is not exactly one axis, or an element is negative.
    DensifyError
        If weights are given and exceed ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0, 1, 1, 3], format="coo")
    >>> weft.bincount(x)
    array([1, 2, 0, 1])
    """
    storage = storage_of(x)
    if len(storage.shape) != 1:
        raise ValueError("object too deep for desired array" if len(storage.shape) > 1 else "object of too small depth")
    if weights is not None:
        return np.bincount(as_array(SparseTensor(storage)), as_array(weights), minlength)
    vals, fill, absent = stored_values(x)
    counts = np.bincount(vals, minlength=np.maximum(minlength, fill + 1 if absent else 0))
    if absent:
        if fill < 0:
            raise ValueError("'list' argument must have no negative elements")
        counts[int(fill)] += absent  # an index of bool would be a mask
    return counts


def digitize(x: Any, bins: Any, right: bool = False) -> SparseTensor:
    """Return the bin of each element.

    Unlike NumPy's, the result is as sparse as ``x``: implicit entries have the bin of the fill value.

    Parameters
    ----------
    x : array_like
        The tensor.
    bins : array_like
        The edges of the bins, ascending or descending.
    right : bool
        True if bins include their right edge instead of the left one.

    Returns
    -------
    SparseTensor
        The indices of the bins.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 7.0], format="coo")
    >>> weft.digitize(x, [1.0, 5.0]).todense()
    array([0, 1, 2])
    """
    edges = bins.todense() if isinstance(bins, SparseTensor) else bins
    return map(lambda v: np.digitize(v, edges, right=right), x)
