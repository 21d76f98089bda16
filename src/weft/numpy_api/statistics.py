"""Statistics that NumPy has beyond the standard: made of the reductions, or of what is stored and its fill value.

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
from ..operations.fill_change import require_dense
from ..operations.operands import storage_of
from ..runtime import memory
from ..tensor.operators import elementwise
from ..tensor.out_argument import write_out
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import broadcast_to, expand_dims
from .moments import mean
from .reductions import Axes, Axis, all, max, min, sum
from .reductions import any as any_of
from .searching import argmax, argmin
from .unlisted_ufuncs import map

__all__ = ["average", "bincount", "digitize", "histogram", "nanargmax", "nanargmin", "ptp"]


def _binary(op: str, a: Any, b: Any) -> Any:
    return elementwise(op, a, b, SparseTensor)


def ptp(x: Any, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Any:
    """The largest element over some axes less the smallest."""
    top = max(x, axis=axis, keepdims=keepdims)
    bottom = min(x, axis=axis, keepdims=keepdims)
    found = top - bottom
    if out is None:
        return found
    return write_out(found, out, "ptp")


def average(x: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """The mean over some axes, each element counted as often as its weight says.

    Raises
    ------
    TypeError
        When weights of another shape are given without an axis.
    ValueError
        When weights do not fit the axes.
    ZeroDivisionError
        When weights sum to zero, or the result has no elements.
    """
    storage = storage_of(x)
    axes = Axes.of(axis, storage.shape)
    if weights is None:
        found = mean(x, axis=axis, keepdims=keepdims)
        if 0 in [storage.shape[a] for a in axes.kept]:
            raise ZeroDivisionError("division by zero")  # NumPy counts elements by the result's
        return (found, _like(found, float(axes.count))) if returned else found
    w = SparseTensor(storage_of(weights))
    if w.shape != storage.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        given = axis if isinstance(axis, tuple) else (axis,)
        along = [a % len(storage.shape) for a in given]
        if w.shape != tuple(storage.shape[a] for a in along):
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        if along != sorted(along):
            raise ValueError("weights over several axes are given in the order of the axes")
        w = expand_dims(w, tuple(a for a in range(len(storage.shape)) if a not in along))
    total = sum(broadcast_to(w, storage.shape), axis=axis, keepdims=keepdims)
    if any_of(SparseTensor(storage_of(total)) == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    found = _binary("divide", sum(_binary("multiply", SparseTensor(storage), w), axis=axis, keepdims=keepdims), total)
    return (found, total) if returned else found


def _like(found: Any, value: float) -> Any:
    return map(lambda v: np.full(v.shape, value), found) if isinstance(found, SparseTensor) else type(found)(value)


def _nan_extreme(x: Any, axis: int | None, keepdims: bool, worst: float, function: Any) -> Any:
    tensor = SparseTensor(storage_of(x))
    if tensor.dtype.kind not in "fc":
        return function(tensor, axis=axis, keepdims=keepdims)
    found = function(map(lambda v: np.where(np.isnan(v), worst, v), tensor), axis=axis, keepdims=keepdims)
    if any_of(SparseTensor(storage_of(all(map(np.isnan, tensor), axis=axis)))):
        raise ValueError("All-NaN slice encountered")
    return found


def nanargmax(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """The first position of the largest element that is not NaN.

    Raises
    ------
    ValueError
        When a slice has none.
    """
    return _nan_extreme(x, axis, keepdims, -np.inf, argmax)


def nanargmin(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """The first position of the smallest element that is not NaN.

    Raises
    ------
    ValueError
        When a slice has none.
    """
    return _nan_extreme(x, axis, keepdims, np.inf, argmin)


# -- counts: of what is stored, and of the fill value as often as it stands for an element --------------------------
def _values(x: Any) -> tuple[np.ndarray[Any, Any], Any, int]:
    """The stored values, the fill value, and how many elements have it."""
    storage = storage_of(x)
    if not (storage.format.is_dense or (storage.format.is_unique and storage.format.is_compact)):
        storage = execution.convert(storage, storage.plain_format.canonical())
    total = 1
    for size in storage.shape:
        total *= size
    return storage.vals, storage.dtype.type(storage.type.fill), total - len(storage.vals)


@memory.guarded
def histogram(
    x: Any, bins: Any = 10, range: tuple[float, float] | None = None, density: bool = False
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """How many elements are in each bin, and the edges of the bins.

    Parameters
    ----------
    x : array_like
        A tensor.
    bins : int or array of edges
        How many, or where; rules by name need all elements at hand.
    range : (float, float), optional
        The lowest edge and the highest.
    density : bool
        The probability density instead of counts.
    """
    if isinstance(bins, str):
        raise TypeError(f"bins={bins!r} needs all elements; give a number of bins or their edges")
    vals, fill, absent = _values(x)
    seen = np.concatenate([vals, np.full(int(absent > 0), fill, vals.dtype)])
    edges = np.histogram_bin_edges(seen, bins, range)
    counts = np.histogram(vals, edges)[0]
    if absent:
        counts = counts + absent * np.histogram(np.array([fill]), edges)[0]
    if density:
        return counts / (np.diff(edges) * counts.sum()), edges
    return counts, edges


@memory.guarded
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> np.ndarray[Any, Any]:
    """How often each number from 0 on is an element of a vector, or the sum of the weights where it is."""
    storage = storage_of(x)
    if len(storage.shape) != 1:
        raise ValueError("object too deep for desired array" if len(storage.shape) > 1 else "object of too small depth")
    if weights is not None:
        require_dense(storage.shape, np.dtype(np.float64), "weights of all elements")
        given = weights.todense() if isinstance(weights, SparseTensor) else weights
        return np.bincount(SparseTensor(storage).todense(), given, minlength)
    vals, fill, absent = _values(x)
    found = np.bincount(vals, minlength=np.maximum(minlength, fill + 1 if absent else 0))
    if absent:
        if fill < 0:
            raise ValueError("'list' argument must have no negative elements")
        found[int(fill)] += absent  # True and False would be masks
    return found


def digitize(x: Any, bins: Any, right: bool = False) -> SparseTensor:
    """The bin of each element, by edges that increase or decrease."""
    edges = bins.todense() if isinstance(bins, SparseTensor) else bins
    return map(lambda v: np.digitize(v, edges, right=right), x)
