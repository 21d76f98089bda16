"""Means, variances and standard deviations: sums over stored entries, completed for the implicit ones.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 3.0], [0.0, 0.0]], format="csr")
>>> mean(A, axis=1).todense(), float(var(A))
(array([1.5, 0. ]), 1.6875)
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike

from .. import execution
from ..dtypes import value_dtype
from ..execution.plan_cache import kept
from ..formats import Format, TensorType
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Reduce
from ..index_notation.operator_table import OPERATORS
from ..operations import foreign_tensors
from ..operations.canonical import stored_only
from ..operations.elementwise import apply_scalar, apply_unary, flat_map, plan_operation, vector
from ..operations.operands import operand_anywhere, storage_anywhere, storage_of
from ..storage import Storage
from ..tensor.lazy import is_lazy, node_of, record
from ..tensor.operators import elementwise
from ..tensor.sparse_tensor import SparseTensor
from .masked import masked_mean, masked_variance
from .reductions import (
    Axes,
    Axis,
    becomes_array,
    count_stored,
    finish_reduction,
    free_first,
    number,
    operand,
    reduce_storage,
    same_structure,
)

if TYPE_CHECKING:
    from ..tensor.types import Array, Scalar


def _computed(storage: Storage, dtype: DTypeLike | None) -> np.dtype[Any]:
    """Return the dtype in which a mean is computed."""
    result_dtype = value_dtype(dtype) if dtype is not None else storage.dtype
    return np.dtype(np.float64) if dtype is None and result_dtype.kind in "biu" else result_dtype


def _mean_chain(storage: Storage, dtype: DTypeLike | None) -> tuple[str, ...]:
    result_dtype = _computed(storage, dtype)
    return () if result_dtype == storage.dtype else (result_dtype.name,)


def _divided(total: Storage, count: float) -> Storage:
    """Divide a sum by a count of elements."""
    return apply_scalar("divide", total, _divisor(count), False)


def _divisor(count: float) -> float:
    """Return a count as a divisor, with a warning, as NumPy gives it, if the count is not positive."""
    if count <= 0:
        warnings.warn("Mean or variance of too few elements.", RuntimeWarning, stacklevel=5)
    return float(max(count, 0))


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
    if is_lazy(x) and where is True and out is None:
        return lazy_mean(x, axis, dtype, keepdims)
    storage, has_array = operand(x, "mean", operand_anywhere)
    axes = Axes.of(axis, storage.shape)
    if where is not True:
        means = masked_mean(x, where, axis, _computed(storage, dtype))
    else:
        means = _divided(reduce_storage("add", _mean_chain(storage, dtype), storage, axes), axes.count)
    return finish_reduction(_as_asked(means, dtype), axes, keepdims, has_array, out, "mean")


def _as_asked(quotient: Storage, dtype: DTypeLike | None) -> Storage:
    """Return a quotient in the requested dtype; NumPy truncates it for a dtype of integers."""
    if dtype is None or value_dtype(dtype) == quotient.dtype:
        return quotient
    return storage_anywhere(SparseTensor(quotient).astype(dtype))


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
    storage, has_array = operand(x, "nanmean")
    axes = Axes.of(axis, storage.shape)
    total = reduce_storage("add", ("nan_as_zero", *_mean_chain(storage, dtype)), storage, axes)
    numbers = reduce_storage("add", ("isnan", "logical_not", total.type.dtype), storage, axes)
    # A slice without numbers has a count of zero, stored or implicit.
    if not numbers.vals.all() or (numbers.type.fill == 0 and len(numbers.vals) < math.prod(numbers.shape)):
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=2)
    means = elementwise("divide", SparseTensor(total), SparseTensor(numbers), SparseTensor)
    result = _as_asked(storage_of(means), dtype)
    return finish_reduction(result, axes, keepdims, has_array, out, "nanmean", "same_kind")


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
    if is_lazy(x) and where is True and out is None:
        return _lazy_variance(x, axis, dtype, _freedom(ddof, correction), keepdims)
    result, axes, has_array = _variance("var", x, axis, dtype, ddof, correction, where)
    return finish_reduction(_as_asked(result, dtype), axes, keepdims, has_array, out, "var")


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
    if is_lazy(x) and where is True and out is None:
        return np.sqrt(_lazy_variance(x, axis, dtype, _freedom(ddof, correction), keepdims))
    is_integer = dtype is not None and value_dtype(dtype).kind in "biu"  # the variance is truncated before its root
    result, axes, has_array = _variance("std", x, axis, dtype, ddof, correction, where, root=not is_integer)
    if is_integer:
        result = _as_asked(result, dtype)
        if result.dtype.kind in "iu":  # NumPy's roots of small integers are float16
            result = _as_asked(result, np.float64)
        result = apply_unary("sqrt", result)
    return finish_reduction(_as_asked(result, dtype), axes, keepdims, has_array, out, "std", "same_kind")


def _freedom(ddof: float, correction: float | None) -> float:
    """Return the number that is subtracted from the number of elements, which has two names."""
    if correction is not None and ddof:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return ddof if correction is None else correction


def lazy_mean(x: Any, axis: Axis, dtype: DTypeLike | None, keepdims: bool) -> Any:
    """Return the mean of a lazy tensor as an expression."""
    computed = np.dtype(np.float64) if dtype is None and x.dtype.kind in "biu" else value_dtype(dtype or x.dtype)
    total = x.astype(computed, copy=False).sum(axis=axis, keepdims=keepdims)
    return (total / _divisor(Axes.of(axis, x.shape).count)).astype(dtype or computed, copy=False)


def _lazy_variance(x: Any, axis: Axis, dtype: DTypeLike | None, ddof: float, keepdims: bool) -> Any:
    """Return the variance of a lazy tensor as an expression, whose loops visit what is stored."""
    middle, count, fill = lazy_mean(x, axis, dtype, True), Axes.of(axis, x.shape).count, node_of(x).fill

    def square(distance: Any) -> Any:
        if distance.dtype.kind != "c":
            return np.square(distance)
        return np.square(distance.real) + np.square(distance.imag)

    if fill is None:
        total = square(x - middle).sum(axis=axis, keepdims=keepdims)
    else:
        # Each element that is the fill value has the same distance from the mean.
        differs = x != fill
        total = record("select", differs, square(x - middle)).sum(axis=axis, keepdims=keepdims)
        absent = count - differs.sum(axis=axis, keepdims=True)
        absent = record("repeat_add", absent, square(fill - middle))
        total = total + (absent if keepdims else absent.sum(axis=axis))
    return total / _divisor(count - ddof)


def _variance(
    name: str, x: Any, axis: Axis, dtype: DTypeLike | None, ddof: float, correction: float | None, where: Any,
    root: bool = False,
) -> tuple[Storage, Axes, bool]:  # fmt: skip
    """Return the variance or its root, the axes, and whether the operand was an array."""
    ddof = _freedom(ddof, correction)
    storage, has_array = operand(x, name)
    axes = Axes.of(axis, storage.shape)
    if where is not True:
        masked = masked_variance(x, where, axis, _computed(storage, dtype), ddof)[0]
        return apply_unary("sqrt", masked) if root else masked, axes, has_array
    return _mean_and_variance(storage, axes, dtype, ddof, root)[1], axes, has_array


def mean_and_variance(x: Any, axis: Axis, dtype: DTypeLike) -> tuple[Storage, Storage]:
    """Return the means and the variances of an operand, which cost little more than the variances."""
    storage, _ = operand(x, "var")
    return _mean_and_variance(storage, Axes.of(axis, storage.shape), dtype, 0, False)


def _mean_and_variance(
    storage: Storage, axes: Axes, dtype: DTypeLike | None, ddof: float, root: bool
) -> tuple[Storage, Storage]:
    """Return the means, and the variances or their roots."""
    storage = stored_only(storage)
    if not storage.format.is_dense and not storage.format.is_unique:
        storage = foreign_tensors.convert(storage, storage.format.canonical())
    for conversion in _mean_chain(storage, dtype):
        storage = apply_unary(conversion, storage)
    # Two passes: the mean of each slice, then the squared distances from it.
    if not becomes_array(storage, axes):
        storage = free_first(storage, axes)
    middle = _divided(reduce_storage("add", (), storage, axes), axes.count)
    stored = _squares(storage, middle, axes)
    divisor = _divisor(axes.count - ddof)
    if storage.format.is_dense:
        # A dense tensor has no implicit entries.
        result = apply_scalar("divide", stored, divisor, False)
        return middle, apply_unary("sqrt", result) if root else result
    return middle, _with_absent(storage, middle, stored, axes, divisor, root)


def _squared_distance(dtype: np.dtype[Any], a: Expr, b: Expr) -> Expr:
    distance = Apply("subtract", (a, b))
    if dtype.kind != "c":
        return Apply("square", (distance,))
    re, im = (Apply("square", (Apply(part, (distance,)),)) for part in ("real", "imag"))
    return Apply("add", (re, im))


def _squares(storage: Storage, middle: Storage, axes: Axes) -> Storage:
    """Return the sum of the squared distances of stored entries from the mean of their slice."""
    values, over = (storage, axes.over) if axes.free else (vector(storage.vals), (0,))
    storages: tuple[Storage, ...] = (values, middle)
    if axes.free and not storage.format.is_dense:  # a mask limits the sum to stored entries
        mask = storage.with_values(np.ones(len(storage.vals), middle.vals.real.dtype), 0)
        storages = (mask, values, middle)
    return _squares_plan(tuple([s.type for s in storages]), over).run(storages)


@kept
def _squares_plan(types: tuple[TensorType, ...], over: tuple[int, ...]) -> execution.Plan:
    """Return the plan of a sum of squared distances over some axes, of a mask if there is one, values and means."""
    *masks, values, middle = types
    order = values.format.order
    indices = tuple(f"i{axis}" for axis in range(order)) if len(over) < order else ("i",)
    free = tuple(v for axis, v in enumerate(indices) if axis not in over)
    value = _squared_distance(np.dtype(values.dtype), Access("A", indices), Access("M", free))
    if masks:
        value = Apply("multiply", (Access("K", indices), value))
    if over:
        value = Reduce("add", tuple(indices[axis] for axis in over), value)
    return plan_operation(Assignment(Access("C", free), value), types, middle.format)


def _with_absent(storage: Storage, middle: Storage, stored: Storage, axes: Axes, divisor: float, root: bool) -> Storage:
    """Return the variance or its root, with the implicit entries added to the squared distances of the stored ones."""
    counts = count_stored(storage, axes, middle.format)
    # Values are combined one by one, which needs equal coordinates.
    if not same_structure(stored, middle, counts):
        format = Format.dense(len(axes.free))
        stored, middle, counts = (foreign_tensors.convert(t, format) for t in (stored, middle, counts))
    absent = Apply("subtract", (Access("n", ()), Access("K", ("i",))))
    distance = _squared_distance(storage.dtype, Access("f", ()), Access("M", ("i",)))
    total = Apply("add", (Access("S", ("i",)), Apply("repeat_add", (absent, distance))))
    value: Expr = Apply("divide", (total, Access("d", ())))
    # Each of the (n - stored) implicit entries has the same squared distance from the mean.
    fill, n, by = storage.dtype.type(storage.type.fill), number(axes.count), np.asarray(divisor, stored.dtype)
    s, k, m = (vector(t.vals) for t in (stored, counts, middle))
    scalars = [Storage.dense(np.asarray(x)) for x in (n, fill, by)]
    operands = (s, scalars[0], k, scalars[1], m, scalars[2])
    vals = flat_map(Apply("sqrt", (value,)) if root else value, operands)
    # A slice without stored entries is an implicit entry of the result.
    with np.errstate(all="ignore"):
        far = np.abs(fill - middle.dtype.type(middle.type.fill)) ** 2
        everything = OPERATORS["repeat_add"].ufunc(n, far) / by
    return stored.with_values(vals, np.sqrt(everything) if root else everything)
