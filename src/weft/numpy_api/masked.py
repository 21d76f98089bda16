"""Reductions of some elements only: those that a mask selects (``where=``), or those that are not NaN.

Examples
--------
>>> import numpy as np
>>> import weft
>>> A = weft.asarray([[0.0, 3.0, np.nan], [0.0, 4.0, 8.0]], format="csr")
>>> weft.nanvar(A, axis=1).todense(), float(weft.sum(A, where=A > 3))
(array([ 2.25      , 10.66666667]), 12.0)
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .. import execution
from ..dtypes import name_of, value_dtype
from ..formats import Format
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Reduce
from ..operations import select
from ..operations.canonical import stored_only
from ..operations.fill_change import relabel_fill, require_dense
from ..operations.operands import storage_of
from ..storage import Storage
from ..tensor.operators import elementwise
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import broadcast_to
from .reductions import Axes, Axis, finish_reduction, reduce_storage


def masked_mean(x: Any, mask: Any, axis: Axis, dtype: np.dtype[Any]) -> Storage:
    """Return the mean over some axes of the elements that a mask selects."""
    storage = storage_of(x)
    axes = Axes.of(axis, storage.shape)
    chain = () if storage.dtype == dtype else (name_of(dtype),)
    total = reduce_storage("add", chain, select.chosen(storage, storage_of(mask), 0), axes)
    count = reduce_storage("add", (name_of(dtype),), _whole(mask, storage.shape), axes)
    # NumPy warns of slices of which the mask selects nothing.
    if not count.vals.all() or (not count.format.is_dense and not count.type.fill):
        warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=4)
    found = elementwise("divide", SparseTensor(total), SparseTensor(count), SparseTensor)
    return storage_of(found)


def _whole(mask: Any, shape: tuple[int, ...]) -> Storage:
    """Return the mask broadcast to all elements."""
    select.require_booleans(storage_of(mask))
    return storage_of(broadcast_to(mask, shape))


def masked_variance(x: Any, mask: Any, axis: Axis, dtype: np.dtype[Any], ddof: float) -> tuple[Storage, Axes]:
    """Return the variance over some axes of the elements of a mask, or without one of those that are not NaN.

    The distances are taken from the fill value, so that they are sparse. One kernel squares the distances of stored
    entries from the mean. Each implicit entry adds the square of the mean's distance from the fill value.
    """
    storage = storage_of(x)
    axes = Axes.of(axis, storage.shape)
    require_dense(tuple(storage.shape[a] for a in axes.free), dtype, "variances of all slices")
    entries = stored_only(storage)
    if not entries.format.is_dense and not entries.format.is_unique:
        entries = execution.convert(entries, entries.format.canonical())
    if entries.dtype != dtype:
        entries = entries.with_values(entries.vals.astype(dtype), dtype.type(storage.type.fill))
    fill = entries.dtype.type(entries.type.fill)
    is_number = ~np.isnan(entries.vals)
    finite = bool(np.isfinite(fill))
    # ``holds`` marks the stored entries that count, ``count`` is the number of all elements that count.
    if mask is None:
        holds = entries.with_values(is_number, False)
        count = reduce_storage("add", ("isnan", "logical_not", "float64"), entries, axes)
    else:
        pattern = SparseTensor(entries.with_values(np.ones(len(is_number), bool), False))
        holds = storage_of(elementwise("logical_and", pattern, mask, SparseTensor))
        count = reduce_storage("add", ("float64",), _whole(mask, storage.shape), axes)
    # An infinite fill value cannot be subtracted. Slices with such implicit entries are NaN below.
    far = entries.with_values(entries.vals - fill if finite else entries.vals, 0)
    n = _dense(count)
    stored = _dense(reduce_storage("add", ("float64",), relabel_fill(holds, False), axes))
    near = _sum(holds, far, None, axes)
    with np.errstate(all="ignore"):
        middle = np.asarray(near / n, dtype)
    # Second pass: squares of distances from the mean, which keeps their digits.
    squares = _sum(holds, far, middle, axes)
    with np.errstate(all="ignore"):
        absent = n - stored
        total = squares + np.where(absent > 0, absent * np.abs(middle) ** 2 if finite else np.nan, 0)
        if (n - ddof <= 0).any():
            warnings.warn("Degrees of freedom <= 0 for slice.", RuntimeWarning, stacklevel=4)
        found = np.where(n - ddof > 0, total / (n - ddof), np.nan)
    real = np.zeros(0, dtype).real.dtype
    return Storage.dense(np.asarray(found, real, order="C")), axes


def _dense(storage: Storage) -> np.ndarray[Any, Any]:
    return execution.convert(storage, Format.dense(len(storage.shape))).to_dense_array()


def _sum(holds: Storage, far: Storage, middle: np.ndarray[Any, Any] | None, axes: Axes) -> np.ndarray[Any, Any]:
    """Return the sums of the values that a mask selects, or of the squares of their distances from ``middle``."""
    indices = tuple(f"i{axis}" for axis in range(len(far.shape)))
    free = tuple(indices[a] for a in axes.free)
    value: Expr = Access("Z", indices)
    operands = {"K": holds, "Z": far}
    # Squared distances from the mean of the slice.
    if middle is not None:
        operands["M"] = Storage.dense(middle)
        distance = Apply("subtract", (value, Access("M", free)))
        parts = [Apply("square", (d,)) for d in _parts(distance, far.dtype)]
        value = parts[0] if len(parts) == 1 else Apply("add", (parts[0], parts[1]))
    # The mask selects and does not multiply, since 0 * NaN is NaN.
    value = Apply("select", (Access("K", indices), value))
    if axes.over:
        value = Reduce("add", tuple(indices[a] for a in axes.over), value)
    assignment = Assignment(Access("C", free), value)
    return execution.evaluate(assignment, operands, format=Format.dense(len(free))).to_dense_array()


def _parts(distance: Expr, dtype: np.dtype[Any]) -> list[Expr]:
    # The square of a complex distance is the sum of the squares of its parts.
    return [Apply(part, (distance,)) for part in ("real", "imag")] if dtype.kind == "c" else [distance]


def _floating(x: Any, dtype: DTypeLike | None) -> np.dtype[Any]:
    own = value_dtype(dtype) if dtype is not None else storage_of(x).dtype
    return np.dtype(np.float64) if own.kind in "biu" else own


def nanvar(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """Return the variance over some axes of the elements that are not NaN.

    The arguments are those of :func:`weft.var`. Unlike NumPy's, the function has no ``correction``, ``where`` or
    ``mean``.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        A dense result; a scalar if no axis is left.

    Raises
    ------
    DensifyError
        If the result exceeds ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, float("nan"), 2.0], format="coo")
    >>> weft.nanvar(x)
    np.float64(1.0)
    """
    found, axes = masked_variance(x, None, axis, _floating(x, dtype), ddof)
    return finish_reduction(found, axes, keepdims, isinstance(x, np.ndarray), out, "nanvar", "same_kind")


def nanstd(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """Return the standard deviation over some axes of the elements that are not NaN.

    The arguments, results and errors are those of :func:`nanvar`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, float("nan"), 2.0], format="coo")
    >>> weft.nanstd(x)
    np.float64(1.0)
    """
    found, axes = masked_variance(x, None, axis, _floating(x, dtype), ddof)
    root = found.with_values(np.sqrt(found.vals), 0)
    return finish_reduction(root, axes, keepdims, isinstance(x, np.ndarray), out, "nanstd", "same_kind")
