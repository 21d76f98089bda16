"""Cumulative sums and products, differences of neighbors, and linear interpolation.

Cumulative sums and products have no value that most elements share. The results are dense tensors, which are refused
above ``weft.config.max_densify_bytes``. Differences are sparse.

Examples
--------
>>> import weft
>>> A = weft.asarray([0.0, 2.0, 0.0, 3.0], format="coo")
>>> weft.cumulative_sum(A).todense(), weft.diff(A).todense()
(array([0., 2., 2., 5.]), array([ 2., -2.,  3.]))
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..operations.axes import normalize_axis_index
from ..operations.fill_change import require_dense
from ..operations.operands import storage_of
from ..storage import Storage
from ..tensor.out_argument import put_into
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import broadcast_to, ravel
from .stacking import concat
from .unlisted_ufuncs import map


def _accumulated(x: Any, axis: int | None, dtype: DTypeLike | None, initial: bool, name: str) -> SparseTensor:
    storage = storage_of(x if storage_of(x).shape else ravel(x))
    if axis is None and len(storage.shape) != 1:
        raise ValueError(f"{name} of shape {storage.shape} needs an axis")
    require_dense(storage.shape, storage.dtype, f"the elements of a {name}")
    axis = normalize_axis_index(0 if axis is None else axis, len(storage.shape))
    function = np.cumsum if name == "cumulative_sum" else np.cumprod
    sums = function(SparseTensor(storage).todense(), axis=axis, dtype=dtype)
    # The sum or product of no elements comes first.
    if initial:
        shape = (*sums.shape[:axis], 1, *sums.shape[axis + 1 :])
        first = np.full(shape, 0 if name == "cumulative_sum" else 1, sums.dtype)
        sums = np.concatenate([first, sums], axis)
    return SparseTensor(Storage.dense(sums))


def cumulative_sum(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
    out: Any = None,
) -> SparseTensor:
    """Return the cumulative sum of the elements along an axis, a dense tensor.

    Parameters
    ----------
    x : array_like
        The tensor.
    axis : int, optional
        The axis. Only a vector or a scalar needs none.
    dtype : dtype, optional
        The dtype of the result.
    include_initial : bool
        True if the result is to begin with zero.
    out : ndarray or SparseTensor, optional
        The array or tensor into which the result is written.

    Returns
    -------
    SparseTensor
        The sums, in a dense format.

    Raises
    ------
    ValueError
        If a tensor of several axes is given without an axis.
    DensifyError
        If the tensor is larger than ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 0.0, 1.0], format="coo")
    >>> weft.cumulative_sum(x, include_initial=True).todense()
    array([0., 0., 3., 3., 4.])
    """
    return put_into(out, _accumulated(x, axis, dtype, include_initial, "cumulative_sum"), "cumulative_sum")  # type: ignore[no-any-return]


def cumulative_prod(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
    out: Any = None,
) -> SparseTensor:
    """Return the cumulative product of the elements along an axis, a dense tensor.

    The arguments and errors are those of :func:`cumulative_sum`. With ``include_initial`` the result begins with one.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([1.0, 3.0, 2.0], format="coo")
    >>> weft.cumulative_prod(x).todense()
    array([1., 3., 6.])
    """
    return put_into(out, _accumulated(x, axis, dtype, include_initial, "cumulative_prod"), "cumulative_prod")  # type: ignore[no-any-return]


def cumsum(x: Any, axis: int | None = None, dtype: DTypeLike | None = None, out: Any = None) -> SparseTensor:
    """Return the cumulative sum along an axis, or without an axis that of all elements as a vector.

    Unlike NumPy's, the result is a dense tensor, which is refused above ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 0.0, 1.0], format="coo")
    >>> weft.cumsum(x).todense()
    array([0., 3., 3., 4.])
    """
    return cumulative_sum(ravel(x) if axis is None else x, axis=axis, dtype=dtype, out=out)


def cumprod(x: Any, axis: int | None = None, dtype: DTypeLike | None = None, out: Any = None) -> SparseTensor:
    """Return the cumulative product along an axis, or without an axis that of all elements as a vector.

    Unlike NumPy's, the result is a dense tensor, which is refused above ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([1.0, 3.0, 2.0], format="coo")
    >>> weft.cumprod(x).todense()
    array([1., 3., 6.])
    """
    return cumulative_prod(ravel(x) if axis is None else x, axis=axis, dtype=dtype, out=out)


def nancumsum(x: Any, axis: int | None = None, dtype: DTypeLike | None = None, out: Any = None) -> SparseTensor:
    """Return the cumulative sum with NaN taken as zero; see :func:`cumsum`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([2.0, float("nan"), 3.0], format="coo")
    >>> weft.nancumsum(x).todense()
    array([2., 2., 5.])
    """
    return cumsum(map(lambda v: np.where(np.isnan(v), v.dtype.type(0), v), x), axis, dtype, out)


def nancumprod(x: Any, axis: int | None = None, dtype: DTypeLike | None = None, out: Any = None) -> SparseTensor:
    """Return the cumulative product with NaN taken as one; see :func:`cumprod`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([2.0, float("nan"), 3.0], format="coo")
    >>> weft.nancumprod(x).todense()
    array([2., 2., 6.])
    """
    return cumprod(map(lambda v: np.where(np.isnan(v), v.dtype.type(1), v), x), axis, dtype, out)


def diff(x: Any, /, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> SparseTensor | Any:
    """Return the differences of neighbors along an axis, taken ``n`` times.

    Parameters
    ----------
    x : array_like
        The tensor.
    n : int
        The number of times the differences are taken.
    axis : int
        The axis.
    prepend, append : array_like, optional
        Elements that are put before or after ``x`` along the axis. A scalar is broadcast.

    Returns
    -------
    SparseTensor
        The differences, sparse if the tensor is. Differences of booleans are booleans.

    Raises
    ------
    ValueError
        If ``n`` is negative or the tensor has no axis.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 0.0, 1.0], format="coo")
    >>> weft.diff(x).todense()
    array([ 3., -3.,  1.])
    """
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    tensor = SparseTensor(storage_of(x))
    if not tensor.ndim:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis_index(axis, tensor.ndim)
    parts: list[Any] = [tensor]
    # A scalar is broadcast to one slice.
    for place, more in ((0, prepend), (len(parts), append)):
        if more is not None:
            edge = SparseTensor(storage_of(more))
            if not edge.ndim:
                edge = broadcast_to(edge, (*tensor.shape[:axis], 1, *tensor.shape[axis + 1 :]))
            parts.insert(place if place == 0 else len(parts), edge)
    tensor = concat(parts, axis=axis) if len(parts) > 1 else tensor
    front = (slice(None),) * axis
    for _ in range(n):
        # NumPy's difference of booleans is their exclusive or.
        after, before = tensor[(*front, slice(1, None))], tensor[(*front, slice(None, -1))]
        tensor = after != before if tensor.dtype == bool else after - before
    return tensor


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None) -> SparseTensor:
    """Return the linear interpolation of a function at every element.

    Unlike NumPy's, the result is as sparse as ``x``: its fill value is interpolated at the fill value of ``x``. The
    points ``xp`` and ``fp`` are made dense.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 0.5, 2.0], format="coo")
    >>> weft.interp(x, [0.0, 1.0, 2.0], [0.0, 10.0, 40.0]).todense()
    array([ 0.,  5., 40.])
    """
    points = [p.todense() if isinstance(p, SparseTensor) else p for p in (xp, fp)]
    interpolate: Any = np.interp
    return map(lambda v: interpolate(v, *points, left=left, right=right, period=period), x)
