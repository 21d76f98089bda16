"""Sums and products of all elements up to each, differences of neighbours, and linear interpolation.

What accumulates has no value that most elements share: cumulative sums and products are dense tensors, and refused
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
from numpy.lib.array_utils import normalize_axis_index
from numpy.typing import DTypeLike

from ..operations.fill_change import require_dense
from ..operations.operands import storage_of
from ..storage import Storage
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import broadcast_to, ravel
from .stacking import concat
from .unlisted_ufuncs import map

__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "diff", "interp", "nancumprod", "nancumsum"]


def _accumulated(x: Any, axis: int | None, dtype: DTypeLike | None, initial: bool, name: str) -> SparseTensor:
    storage = storage_of(x if storage_of(x).shape else ravel(x))
    if axis is None and len(storage.shape) != 1:
        raise ValueError(f"{name} of shape {storage.shape} needs an axis")
    require_dense(storage.shape, storage.dtype, f"the elements of a {name}")
    axis = normalize_axis_index(0 if axis is None else axis, len(storage.shape))
    function = np.cumsum if name == "cumulative_sum" else np.cumprod
    found = function(SparseTensor(storage).todense(), axis=axis, dtype=dtype)
    if initial:
        shape = (*found.shape[:axis], 1, *found.shape[axis + 1 :])
        first = np.full(shape, 0 if name == "cumulative_sum" else 1, found.dtype)
        found = np.concatenate([first, found], axis)
    return SparseTensor(Storage.dense(found))


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> SparseTensor:
    """The sums of the elements up to each along an axis, a dense tensor."""
    return _accumulated(x, axis, dtype, include_initial, "cumulative_sum")


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> SparseTensor:
    """The products of the elements up to each along an axis, a dense tensor."""
    return _accumulated(x, axis, dtype, include_initial, "cumulative_prod")


def cumsum(x: Any, axis: int | None = None, dtype: DTypeLike | None = None) -> SparseTensor:
    """NumPy's name of :func:`cumulative_sum`; without an axis of all elements as a vector."""
    return cumulative_sum(ravel(x) if axis is None else x, axis=axis, dtype=dtype)


def cumprod(x: Any, axis: int | None = None, dtype: DTypeLike | None = None) -> SparseTensor:
    """NumPy's name of :func:`cumulative_prod`; without an axis of all elements as a vector."""
    return cumulative_prod(ravel(x) if axis is None else x, axis=axis, dtype=dtype)


def nancumsum(x: Any, axis: int | None = None, dtype: DTypeLike | None = None) -> SparseTensor:
    """:func:`cumsum`, NaN taken for zero."""
    return cumsum(map(lambda v: np.where(np.isnan(v), v.dtype.type(0), v), x), axis, dtype)


def nancumprod(x: Any, axis: int | None = None, dtype: DTypeLike | None = None) -> SparseTensor:
    """:func:`cumprod`, NaN taken for one."""
    return cumprod(map(lambda v: np.where(np.isnan(v), v.dtype.type(1), v), x), axis, dtype)


def diff(x: Any, /, n: int = 1, axis: int = -1, *, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along an axis, ``n`` times."""
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    tensor = SparseTensor(storage_of(x))
    if not tensor.ndim:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis_index(axis, tensor.ndim)
    parts: list[Any] = [tensor]
    for place, more in ((0, prepend), (len(parts), append)):
        if more is not None:
            found = SparseTensor(storage_of(more))
            if not found.ndim:
                found = broadcast_to(found, (*tensor.shape[:axis], 1, *tensor.shape[axis + 1 :]))
            parts.insert(place if place == 0 else len(parts), found)
    tensor = concat(parts, axis=axis) if len(parts) > 1 else tensor
    front = (slice(None),) * axis
    for _ in range(n):
        after, before = tensor[(*front, slice(1, None))], tensor[(*front, slice(None, -1))]
        tensor = after != before if tensor.dtype == bool else after - before
    return tensor


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None) -> SparseTensor:
    """Linear interpolation of every element, as ``numpy.interp``; ``xp`` and ``fp`` are dense."""
    points = [p.todense() if isinstance(p, SparseTensor) else p for p in (xp, fp)]
    interpolate: Any = np.interp
    return map(lambda v: interpolate(v, *points, left=left, right=right, period=period), x)
