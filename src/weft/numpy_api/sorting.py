"""Sorting along an axis, and order statistics. Implicit entries are a run of equal values.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 3.0, -1.0, 0.0, 2.0]], format="csr")
>>> weft.sort(A).todense(), weft.median(A, axis=1).todense()
(array([[-1.,  0.,  0.,  2.,  3.]]), array([0.]))
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import execution
from ..operations.axes import normalize_axis_index, normalize_axis_tuple
from ..operations.axis_lines import Lines, lines
from ..operations.elementwise import with_axes
from ..operations.fill_change import as_array, require_dense
from ..operations.indexing import format_for_axes
from ..operations.operands import storage_of
from ..operations.reshaping import reshaped
from ..records import replace
from ..storage import Storage, coordinate_storage
from ..tensor.out_argument import put_into
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import ravel
from .reductions import with_warning

Array = np.ndarray[Any, Any]


def _refuse_fields(order: Any) -> None:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")


def _sorted(seen: Lines) -> Array:
    """Return the values of stored entries, sorted within their lines."""
    return seen.values[np.lexsort((seen.values, seen.row))]


def sort(
    x: Any, /, axis: int | None = -1, kind: Any = None, order: Any = None, *, descending: bool = False,
    stable: bool = True,
) -> SparseTensor:  # fmt: skip
    """Return the elements sorted along an axis, with NaN last.

    Implicit entries stay implicit and become one run of each line.

    Parameters
    ----------
    x : array_like
        The tensor.
    axis : int, optional
        The axis. If it is None, the tensor is flattened.
    kind, order : object
        Arguments of NumPy's function, of which ``kind`` has no effect and ``order`` must be None.
    descending : bool
        True for descending order. NaN is last in any case.
    stable : bool
        An argument of the standard, which has no effect: every sort is stable.

    Returns
    -------
    SparseTensor
        A tensor in the format of ``x``.

    Raises
    ------
    ValueError
        If an ``order`` of fields is given, since no dtype of a tensor has fields.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([4.0, 0.0, 3.0, 1.0], format="coo")
    >>> weft.sort(x).todense()
    array([0., 1., 3., 4.])
    """
    _refuse_fields(order)
    storage = storage_of(ravel(x) if axis is None else x)
    axis = normalize_axis_index(-1 if axis is None else axis, len(storage.shape))
    seen = lines(storage, axis)
    values = _sorted(seen)
    nan = values != values
    if seen.fill == seen.fill:
        after = nan | (values >= seen.fill)
    else:
        after = nan
    if descending:
        # NaN stays last. The other values are reversed, line by line.
        key = np.lexsort((np.arange(len(values))[::-1], nan, seen.row))
        values, nan = values[key], nan[key]
        after = nan | (values < seen.fill) if seen.fill == seen.fill else nan
    # Values before the run of implicit entries are at the front of their line, the others at its end.
    column = np.where(after, seen.length - seen.held + seen.rank, seen.rank)
    moved = replace(seen, column=column, values=values)
    return _tensor_of(moved, storage, axis)


def _tensor_of(seen: Lines, like: Storage, axis: int) -> SparseTensor:
    """Return the tensor that lines make, in the format of another."""
    flat = coordinate_storage((seen.count, seen.length), [seen.row, seen.column], seen.values, seen.fill)
    shape = (*seen.shape, seen.length)
    tensor = reshaped(flat, shape, format_for_axes(flat.format, len(shape)))
    back = list(range(len(shape) - 1))
    back.insert(axis, len(shape) - 1)
    return SparseTensor(execution.convert(tensor.permuted(tuple(back)), like.format))


def argsort(
    x: Any, /, axis: int | None = -1, kind: Any = None, order: Any = None, *, descending: bool = False,
    stable: bool = True, out: Any = None,
) -> SparseTensor:  # fmt: skip
    """Return the indices that sort the elements along an axis, a dense tensor.

    Parameters
    ----------
    x : array_like
        The tensor. One without axes is a vector of one element.
    axis : int, optional
        The axis. If it is None, the tensor is flattened.
    kind, order : object
        Arguments of NumPy's function, of which ``kind`` has no effect and ``order`` must be None.
    descending : bool
        True for descending order. NaN is last in any case.
    stable : bool
        An argument of the standard, which has no effect: every sort is stable.
    out : ndarray or SparseTensor, optional
        The array or tensor into which the result is written.

    Returns
    -------
    SparseTensor
        The indices; or ``out``.

    Raises
    ------
    ValueError
        If an ``order`` of fields is given, since no dtype of a tensor has fields.
    DensifyError
        If the indices exceed ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([4.0, 0.0, 3.0, 1.0], format="coo")
    >>> weft.argsort(x).todense()
    array([1, 3, 2, 0])
    """
    _refuse_fields(order)
    storage = storage_of(ravel(x) if axis is None or not storage_of(x).shape else x)
    axis = normalize_axis_index(-1 if axis is None else axis, len(storage.shape))
    require_dense(storage.shape, np.dtype(np.int64), "positions of all elements")
    dense = SparseTensor(storage).todense()
    if not descending:
        positions = np.argsort(dense, axis=axis, kind="stable")
    else:  # a stable order of the reversed elements, reversed
        turned = np.flip(dense, axis)
        positions = dense.shape[axis] - 1 - np.flip(np.argsort(turned, axis=axis, kind="stable"), axis)
        nan = dense != dense
        if nan.any():  # which come last in any case
            last = np.take_along_axis(nan, positions, axis)
            positions = np.take_along_axis(positions, np.argsort(last, axis=axis, kind="stable"), axis)
    return put_into(out, SparseTensor(Storage.dense(positions)), "argsort")  # type: ignore[no-any-return]


def partition(x: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> SparseTensor:
    """Return the elements partitioned along an axis at position ``kth``; all elements are sorted.

    Parameters
    ----------
    x : array_like
        The tensor.
    kth : int or sequence of int
        The positions.
    axis : int, optional
        The axis. If it is None, the tensor is flattened.
    kind, order : object
        Arguments of NumPy's function, of which ``kind`` has no effect and ``order`` must be None.

    Returns
    -------
    SparseTensor
        The result of :func:`sort`.

    Raises
    ------
    ValueError
        If there is no position ``kth``, or an ``order`` of fields is given.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([4.0, 0.0, 3.0, 1.0], format="coo")
    >>> sorted(weft.partition(x, 1).todense()[:2].tolist())
    [0.0, 1.0]
    """
    tensor, axis = _with_positions(x, kth, axis)
    return sort(tensor, axis, kind, order)


def argpartition(
    x: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None, *, out: Any = None
) -> SparseTensor:
    """Return the indices of the elements in the order of :func:`partition`, a dense tensor.

    The arguments are those of :func:`partition` and the ``out`` of :func:`argsort`; so are the errors.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([4.0, 0.0, 3.0, 1.0], format="coo")
    >>> chosen = weft.argpartition(x, 1).todense()[:2]
    >>> sorted(chosen.tolist())
    [1, 3]
    """
    tensor, axis = _with_positions(x, kth, axis)
    return argsort(tensor, axis, kind, order, out=out)


def _with_positions(x: Any, kth: Any, axis: int | None) -> tuple[SparseTensor, int]:
    tensor = ravel(x) if axis is None else SparseTensor(storage_of(x))
    axis = normalize_axis_index(-1 if axis is None else axis, tensor.ndim)
    size = tensor.shape[axis]
    for k in np.ravel(kth):
        if not -size <= operator.index(k) < size:
            raise ValueError(f"kth(={k}) out of bounds ({size})")
    return tensor, axis


def lexsort(keys: Any, axis: int = -1) -> SparseTensor:
    """Return the indices that sort by several keys, of which the last is compared first: a dense tensor.

    Parameters
    ----------
    keys : sequence of array_like, or tensor
        Keys of one shape, or a tensor whose slices along the first axis are the keys.
    axis : int
        The axis along which indices are sorted.

    Returns
    -------
    SparseTensor
        The indices.

    Raises
    ------
    TypeError
        If there are no keys.
    DensifyError
        If the keys exceed ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> weft.lexsort(([1, 0, 1], [2, 2, 1])).todense()
    array([2, 1, 0])
    """
    storages = [storage_of(key) for key in keys]
    if not storages:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    require_dense((len(storages), *storages[0].shape), storages[0].dtype, "keys of all elements")
    return SparseTensor(Storage.dense(np.lexsort([SparseTensor(key).todense() for key in storages], axis=axis)))


# -- order statistics ----------------------------------------------------------------------------------------------
def median(
    x: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> SparseTensor | Any:
    """Return the median over some axes; implicit entries count.

    Parameters
    ----------
    x : array_like
        The tensor. Complex numbers are ordered as by :func:`sort`.
    axis : int or tuple of int, optional
        The axes, by default all.
    out : ndarray or SparseTensor, optional
        The array or tensor into which the result is written.
    overwrite_input : bool
        An argument of NumPy's function, which has no effect.
    keepdims : bool
        True to keep the axes with size 1.

    Returns
    -------
    SparseTensor or NumPy scalar
        The medians, a dense tensor; a scalar if no axis is left.

    Raises
    ------
    DensifyError
        If the result exceeds ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.median(A), weft.median(A, axis=0).todense()
    (np.float64(0.5), array([1. , 0.5]))
    """
    return put_into(out, _quantile(x, 0.5, axis, _MEAN, keepdims, skips_nan=False), "median")


def nanmedian(
    x: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> SparseTensor | Any:
    """Return the median over some axes of the elements that are not NaN; see :func:`median`.

    A slice of NaN alone has the median NaN, with a ``RuntimeWarning``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, float("nan"), 2.0, 5.0], format="coo")
    >>> weft.nanmedian(x)
    np.float64(2.0)
    """
    return put_into(out, with_warning(_quantile(x, 0.5, axis, _MEAN, keepdims, skips_nan=True)), "nanmedian")


def percentile(
    x: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Return percentiles over some axes: quantiles of ``q / 100``; see :func:`quantile`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 1.0, 2.0, 5.0], format="coo")
    >>> weft.percentile(x, 50)
    np.float64(1.5)
    """
    return quantile(x, np.true_divide(as_array(q), 100), axis, out, method=method, keepdims=keepdims, weights=weights)


def quantile(
    x: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Return quantiles over some axes; implicit entries count.

    Parameters
    ----------
    x : array_like
        The tensor, of real numbers.
    q : float or array of float
        The probabilities, between 0 and 1. The axes of ``q`` come first in the result.
    axis : int or tuple of int, optional
        The axes, by default all.
    out : ndarray or SparseTensor, optional
        The array or tensor into which the result is written.
    overwrite_input : bool
        An argument of NumPy's function, which has no effect.
    method : str
        The interpolation between two elements: 'linear', 'lower', 'higher', 'nearest' or 'midpoint'. With another of
        NumPy's methods the tensor is made dense.
    keepdims : bool
        True to keep the axes with size 1.
    weights : array_like, optional
        The weights of the elements, for the method 'inverted_cdf'. The tensor is then made dense.

    Returns
    -------
    SparseTensor or NumPy scalar
        The quantiles, a dense tensor; a scalar if no axis is left.

    Raises
    ------
    TypeError
        If the tensor is complex.
    ValueError
        If a probability is not between 0 and 1, or the method is unknown.
    DensifyError
        If the result exceeds ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 1.0, 2.0, 5.0], format="coo")
    >>> weft.quantile(x, [0.25, 0.5])
    SparseTensor([0.75, 1.5 ], format='dense')
    """
    if weights is not None or method in _OF_NUMPY:
        result = _numpys(np.quantile, x, q, axis, method, keepdims, weights)
    else:
        result = _quantile(x, q, axis, method, keepdims, skips_nan=False)
    return put_into(out, result, "quantile")


def nanquantile(
    x: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Return quantiles over some axes of the elements that are not NaN; see :func:`quantile`.

    A slice of NaN alone has the quantile NaN, with a ``RuntimeWarning``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, float("nan"), 2.0, 5.0], format="coo")
    >>> weft.nanquantile(x, 0.5)
    np.float64(2.0)
    """
    if weights is not None or method in _OF_NUMPY:
        result = _numpys(np.nanquantile, x, q, axis, method, keepdims, weights)
    else:
        result = with_warning(_quantile(x, q, axis, method, keepdims, skips_nan=True))
    return put_into(out, result, "nanquantile")


_BETWEEN: dict[str, Callable[[Array], Array]] = {
    "linear": lambda part: part,
    "lower": np.zeros_like,
    "higher": np.ceil,
    "midpoint": lambda part: np.where(part > 0, 0.5, 0.0),
}
_OF_NUMPY = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "median_unbiased", "normal_unbiased",
)  # fmt: skip
_MEAN = "the mean of the two in the middle"  # not interpolated: inf - (inf - 5) / 2 is NaN


def nanpercentile(
    x: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Return percentiles over some axes of the elements that are not NaN; see :func:`nanquantile`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, float("nan"), 2.0, 5.0], format="coo")
    >>> weft.nanpercentile(x, 50)
    np.float64(2.0)
    """
    parts = np.true_divide(as_array(q), 100)
    return nanquantile(x, parts, axis, out, method=method, keepdims=keepdims, weights=weights)


def _numpys(function: Any, x: Any, q: Any, axis: Any, method: str, keepdims: bool, weights: Any) -> Any:
    """Return quantiles by a method, or with weights, for which NumPy needs all elements."""
    given = {} if weights is None else {"weights": as_array(weights)}
    found = function(as_array(x), as_array(q), axis=axis, method=method, keepdims=keepdims, **given)
    return SparseTensor(Storage.dense(found)) if np.ndim(found) else found


def _quantile(x: Any, q: Any, axis: Any, method: str, keepdims: bool, skips_nan: bool) -> Any:
    storage = storage_of(x)
    n = len(storage.shape)
    if storage.dtype.kind == "c" and method != _MEAN:
        raise TypeError("a must be an array of real numbers")
    parts = np.asarray(as_array(q), float)
    if ((parts < 0) | (parts > 1) | (parts != parts)).any():
        raise ValueError("Quantiles must be in the range [0, 1]")
    if method not in (*_BETWEEN, "nearest", _MEAN):
        known = ", ".join(("nearest", *_BETWEEN, *_OF_NUMPY))
        raise ValueError(f"{method!r} is not a method of quantiles; there are {known}")
    axes = tuple(range(n)) if axis is None else normalize_axis_tuple(axis, n)
    free = tuple(a for a in range(n) if a not in axes)
    shape = tuple(storage.shape[a] for a in free)
    size = math.prod(storage.shape[a] for a in axes)
    # The reduced axes are merged to one axis, whose lines have one quantile each.
    turned = storage.permuted((*free, *axes))
    seen = lines(reshaped(turned, (*shape, size), format_for_axes(storage.format, len(shape) + 1)), len(shape))
    require_dense((seen.count, *parts.shape), np.dtype(float), "quantiles of every line")
    # One row of results for each probability.
    quantiles = np.stack([_of_lines(seen, float(p), method, skips_nan) for p in parts.reshape(-1)])
    quantiles = quantiles.reshape((*parts.shape, *shape))
    if not quantiles.ndim and not (keepdims and n):
        return quantiles[()]
    result = Storage.dense(quantiles)
    if keepdims:
        result = with_axes(result, tuple(a + parts.ndim for a in sorted(axes)))
    return SparseTensor(result)


def _of_lines(seen: Lines, part: float, method: str, skips_nan: bool) -> Array:
    """Return the quantile of every line."""
    values = _sorted(seen)
    float_type = np.result_type(values.dtype, np.float64) if values.dtype.kind not in "fc" else values.dtype
    edges = seen.edges
    nan = values != values
    # NaN is at the end of each line. The run of implicit entries begins at ``lower`` and has the length ``absent``.
    nans = np.bincount(seen.row[nan], minlength=seen.count)
    absent = seen.length - np.diff(edges)
    if seen.fill != seen.fill:
        nans = nans + absent
        absent = np.zeros_like(absent)
    length = seen.length - nans if skips_nan else np.full(seen.count, seen.length)
    lower = (
        np.bincount(seen.row[values < seen.fill], minlength=seen.count) if seen.fill == seen.fill else np.diff(edges)
    )

    def at(rank: Array) -> Array:
        """Return the element of each line at a rank: a stored entry, or the fill value within the run."""
        first = rank < lower
        inside = (rank >= lower) & (rank < lower + absent)
        place = edges[:-1] + np.where(first, rank, rank - absent)
        if not len(values):
            return np.full(seen.count, seen.fill, float_type)
        picked = values[np.clip(place, 0, len(values) - 1)].astype(float_type)
        elements: Array = np.where(inside, float_type.type(seen.fill), picked)
        return elements

    with np.errstate(invalid="ignore"):
        where = part * np.maximum(length - 1, 0)
        if method == "nearest":
            low, between = np.rint(where).astype(np.int64), np.zeros(seen.count)
        else:
            # A rank that is not whole lies between two elements.
            low = np.floor(where).astype(np.int64)
            between = _BETWEEN["linear" if method == _MEAN else method](where - low)
        a, b = at(low), at(np.minimum(low + 1, np.maximum(length - 1, 0)))
        if method == _MEAN:
            elements = (a + b) / 2
        else:
            # NumPy interpolates from the nearer element, too, which decides the last digit.
            elements = np.where(between >= 0.5, b - (b - a) * (1 - between), a + (b - a) * between)
        elements = np.where((between == 0) | (a == b), a, elements)
    bad = (length == 0) | ((nans > 0) & (not skips_nan))
    result: Array = np.where(bad, np.nan, elements).astype(float_type)
    return result
