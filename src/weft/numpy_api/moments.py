"""Means, variances and standard deviations: sums over stored entries, completed for the implicit ones.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 3.0], [0.0, 0.0]], format="csr")
>>> mean(A, axis=1).todense(), float(var(A))
(array([1.5, 0. ]), 1.6875)
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike

from ..dtypes import value_dtype
from ..operations.elementwise import apply_scalar
from ..operations.operands import operand_anywhere, storage_anywhere, storage_of
from ..operations.select import require_booleans
from ..tensor.lazy import apart, chosen, fused, node_of, record
from ..tensor.out_argument import write_out
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import broadcast_to
from .reductions import Axes, Axis, as_tensor, finish_reduction, nansum, number, reduce_storage, sum

if TYPE_CHECKING:
    from ..tensor.types import Array, Scalar


def _floating(dtype: np.dtype[Any], asked: DTypeLike | None) -> np.dtype[Any]:
    """Return the dtype in which a mean is computed."""
    if asked is not None:
        return value_dtype(asked)
    return np.dtype(np.float64) if dtype.kind in "biu" else dtype


def _put(result: Any, dtype: DTypeLike | None, out: Any, name: str, casting: str = "unsafe") -> Any:
    """Return a result in the dtype that is asked for; NumPy truncates it for integers. Or put it into ``out``."""
    if dtype is not None and result.dtype != dtype:
        result = result.astype(value_dtype(dtype))
    return result if out is None else write_out(result, out, name, casting=casting)


def _divisor(count: float) -> float:
    """Return a count as a divisor, with a warning, as NumPy gives it, if the count is not positive."""
    if count <= 0:
        warnings.warn("Mean or variance of too few elements.", RuntimeWarning, stacklevel=3)
    return float(max(count, 0))


def _mask(where: Any, shape: tuple[int, ...]) -> Any:
    """Return a mask of all elements; None if it is True."""
    if where is True:
        return None
    require_booleans(storage_of(where))
    return broadcast_to(where, shape)


# -- written on lazy tensors ----------------------------------------------------------------------------------------
@fused(static=True)
def _variance_of_all(
    x: Any, over: tuple[int, ...], dtype: np.dtype[Any], keepdims: bool, count: int, divisor: float, root: bool
) -> Any:
    variance = _squares(x.astype(dtype, copy=False), over, keepdims, count)[0] / divisor
    return np.sqrt(variance) if root else variance


@fused(static=True)
def _mean_and_squares(x: Any, over: tuple[int, ...], dtype: np.dtype[Any], count: int) -> tuple[Any, Any]:
    """Return the means, and the sums of squared distances from them."""
    squares, middle = _squares(x.astype(dtype, copy=False), over, False, count)
    return middle.sum(axis=over), squares


@fused(static=True)
def _variance_of_some(
    x: Any, mask: Any, over: tuple[int, ...], dtype: np.dtype[Any], keepdims: bool, ddof: float, root: bool
) -> Any:
    """Return the variance, or its root, of the elements that a mask selects, or that are not NaN, and their number."""
    x = x.astype(dtype, copy=False)
    holds = np.logical_not(np.isnan(x)) if mask is None else mask
    count = holds.sum(axis=over, keepdims=True, dtype=np.int64)
    squares, _ = _squares(x, over, keepdims, count, holds, mask is None)
    freedom = (count if keepdims else count.sum(axis=over)) - ddof
    variance = np.where(freedom > 0, squares / freedom, np.nan)
    return np.sqrt(variance) if root else variance, freedom


def _squares(
    x: Any, over: tuple[int, ...], keepdims: bool, count: Any, holds: Any = None, without_nan: bool = False
) -> tuple[Any, Any]:
    """Return the sums of squared distances from the mean, over loops that visit what is stored, and the mean.

    Only elements that ``holds`` selects, if it is there, count: those that are not NaN if ``without_nan`` is true.
    """
    fill = node_of(x).fill
    shift = fill.item() if isinstance(fill, np.generic) else fill
    if shift and np.isfinite(shift):  # distances from another value are sparse
        x = x - shift
    else:
        shift = 0
    if holds is not None:
        x = record("nan_as_zero", x) if without_nan else chosen(holds, x, 0)
    middle = apart(x.sum(axis=over, keepdims=True) / count)
    fill = node_of(x).fill
    if fill is None or not np.isfinite(fill):
        squares = _square(x - middle)
        squares = squares if holds is None else record("select", holds, squares)
        return squares.sum(axis=over, keepdims=keepdims), middle + shift if shift else middle
    # Each element that is the fill value has the same distance from the mean.
    differs = x != fill
    total = record("select", differs, _square(x - middle)).sum(axis=over, keepdims=keepdims)
    absent = record("repeat_add", count - differs.sum(axis=over, keepdims=True), _square(fill - middle))
    if fill == 0:  # where nothing is stored, nothing is added
        absent = record("select", middle != 0, absent)
    total = total + (absent if keepdims else absent.sum(axis=over))
    return total, middle + shift if shift else middle


def _square(distance: Any) -> Any:
    """Return the square of the absolute value."""
    if distance.dtype.kind != "c":
        return np.square(distance)
    return np.square(distance.real) + np.square(distance.imag)


# -- NumPy's functions ----------------------------------------------------------------------------------------------
@overload
def mean(
    x: SparseTensor | Array, /, axis: None = None, dtype: DTypeLike | None = None, out: None = None,
    keepdims: Literal[False] = False, *, where: Any = True,
) -> Scalar: ...  # fmt: skip
@overload
def mean(
    x: SparseTensor, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False, *,
    where: Any = True,
) -> SparseTensor | Any: ...  # fmt: skip
@overload
def mean(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False, *,
    where: Any = True,
) -> Any: ...  # fmt: skip
def mean(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False, *,
    where: Any = True,
) -> Any:  # fmt: skip
    """Return the mean over some axes.

    Parameters
    ----------
    x : array_like
        The tensor.
    axis : int or tuple of int, optional
        The axes that are reduced, by default all.
    dtype : dtype, optional
        The dtype of the computation and of the result, by default float64 for integers.
    keepdims : bool
        True to keep the reduced axes with size 1.
    out : ndarray or SparseTensor, optional
        The array into which the result is written.
    where : array_like of bool
        A mask of the elements that count, broadcast.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        The means: a scalar if no axis is left, or ``out``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.mean(A), weft.mean(A, axis=0).todense()
    (np.float64(0.75), array([1. , 0.5]))
    """
    x = as_tensor(x, "mean", out, operand_anywhere)
    floating = _floating(x.dtype, dtype)
    if where is True and type(x) is SparseTensor:
        axes, storage = Axes.of(axis, x.shape), storage_anywhere(x)
        chain = () if floating == x.dtype else (floating.name,)
        means = apply_scalar("divide", reduce_storage("add", chain, storage, axes), _divisor(axes.count), False)
        return _put(finish_reduction(means, axes, keepdims, False, None, "mean"), dtype, out, "mean")
    total = sum(x, axis=axis, dtype=floating, keepdims=keepdims, where=where)
    if where is True:
        return _put(np.divide(total, _divisor(Axes.of(axis, x.shape).count)), dtype, out, "mean")
    counts = sum(broadcast_to(where, x.shape), axis=axis, dtype=floating, keepdims=keepdims)
    _warn_of_empty(counts)
    return _put(np.divide(total, counts), dtype, out, "mean")


def _warn_of_empty(counts: Any) -> None:
    if not counts.all():
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=3)


def nanmean(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False
) -> Any:
    """Return the mean over some axes of the elements that are not NaN.

    The arguments and results are those of :func:`mean`, without ``where``. A slice of NaN alone has the mean NaN,
    with a ``RuntimeWarning``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, float("nan"), 2.0], format="coo")
    >>> weft.nanmean(x)
    np.float64(1.0)
    """
    x = as_tensor(x, "nanmean", out)
    floating = _floating(x.dtype, dtype)
    counts = sum(np.logical_not(np.isnan(x)), axis=axis, dtype=floating, keepdims=keepdims)
    _warn_of_empty(counts)
    means = np.divide(nansum(x, axis=axis, dtype=floating, keepdims=keepdims), counts)
    return _put(means, dtype, out, "nanmean", "same_kind")


@overload
def var(
    x: SparseTensor | Array, /, axis: None = None, dtype: DTypeLike | None = None, out: None = None, ddof: float = 0,
    keepdims: Literal[False] = False, *, correction: float | None = None, where: Any = True,
) -> Scalar: ...  # fmt: skip
@overload
def var(
    x: SparseTensor, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, correction: float | None = None, where: Any = True,
) -> SparseTensor | Any: ...  # fmt: skip
@overload
def var(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, correction: float | None = None, where: Any = True,
) -> Any: ...  # fmt: skip
def var(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, correction: float | None = None, where: Any = True,
) -> Any:  # fmt: skip
    """Return the variance over some axes: the mean of the squared distances from the mean.

    Parameters
    ----------
    x : array_like
        The tensor.
    axis : int or tuple of int, optional
        The axes that are reduced, by default all.
    dtype : dtype, optional
        The dtype of the computation and of the result, by default float64 for integers.
    ddof, correction : float
        The number that is subtracted from the number of elements, under NumPy's and under the standard's name.
    keepdims : bool
        True to keep the reduced axes with size 1.
    out : ndarray or SparseTensor, optional
        The array into which the result is written.
    where : array_like of bool
        A mask of the elements that count, broadcast.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        The variances: a scalar if no axis is left, or ``out``.

    Raises
    ------
    ValueError
        If both ``ddof`` and ``correction`` are given.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.var(A), weft.var(A, axis=0).todense()
    (np.float64(0.6875), array([1.  , 0.25]))
    """
    ddof = _freedom(ddof, correction)
    return _put(_variance(as_tensor(x, "var", out), axis, dtype, ddof, keepdims, where), dtype, out, "var")


@overload
def std(
    x: SparseTensor | Array, /, axis: None = None, dtype: DTypeLike | None = None, out: None = None, ddof: float = 0,
    keepdims: Literal[False] = False, *, correction: float | None = None, where: Any = True,
) -> Scalar: ...  # fmt: skip
@overload
def std(
    x: SparseTensor, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, correction: float | None = None, where: Any = True,
) -> SparseTensor | Any: ...  # fmt: skip
@overload
def std(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, correction: float | None = None, where: Any = True,
) -> Any: ...  # fmt: skip
def std(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, correction: float | None = None, where: Any = True,
) -> Any:  # fmt: skip
    """Return the standard deviation over some axes: the square root of the variance.

    The arguments, results and errors are those of :func:`var`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.std(A), weft.std(A, axis=0).todense()
    (np.float64(0.82915619758885), array([1. , 0.5]))
    """
    ddof, truncated = _freedom(ddof, correction), dtype is not None and value_dtype(dtype).kind in "biu"
    result = _variance(as_tensor(x, "std", out), axis, dtype, ddof, keepdims, where, not truncated)
    if truncated and dtype is not None:  # NumPy truncates the variance before its root, which is float64
        result = np.sqrt(result.astype(value_dtype(dtype)).astype(np.float64))
    return _put(result, dtype, out, "std", "same_kind")


def _freedom(ddof: float, correction: float | None) -> float:
    """Return the number that is subtracted from the number of elements, which has two names."""
    if correction is not None and ddof:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return ddof if correction is None else correction


def _variance(
    x: Any, axis: Axis, dtype: DTypeLike | None, ddof: float, keepdims: bool, where: Any = True, root: bool = False
) -> Any:
    """Return the variance or its root; ``where`` is None to leave out NaN."""
    axes, floating = Axes.of(axis, x.shape), _floating(x.dtype, dtype)
    if where is True:
        number(axes.count)
        return _variance_of_all(x, axes.over, floating, keepdims, axes.count, _divisor(axes.count - ddof), root)
    mask = None if where is None else _mask(where, x.shape)
    result, freedom = _variance_of_some(x, mask, axes.over, floating, keepdims, ddof, root)
    if (freedom <= 0).any():
        warnings.warn("Degrees of freedom <= 0 for slice.", RuntimeWarning, stacklevel=3)
    return result


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
    result = _variance(as_tensor(x, "nanvar", out), axis, dtype, ddof, keepdims, None)
    return _put(result, dtype, out, "nanvar", "same_kind")


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
    result = _variance(as_tensor(x, "nanstd", out), axis, dtype, ddof, keepdims, None, True)
    return _put(result, dtype, out, "nanstd", "same_kind")


def mean_and_squares(x: Any, axis: tuple[int, ...], dtype: DTypeLike) -> tuple[Any, Any]:
    """Return the means over some axes, and the sums of squared distances from them."""
    axes = Axes.of(axis, x.shape)
    return _mean_and_squares(x, axes.over, value_dtype(dtype), axes.count)
