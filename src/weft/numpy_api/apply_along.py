"""Functions applied along axes, piecewise functions and polynomials, under NumPy's names.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 3.0], [2.0, 0.0]], format="csr")
>>> weft.apply_along_axis(lambda line: line.max(), 1, A).todense(), weft.polyval([1, 0, 2], A).todense().tolist()
(array([3., 2.]), [[2.0, 11.0], [6.0, 2.0]])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..operations.axes import normalize_axis_index
from ..operations.operands import storage_of
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import broadcast_to, expand_dims, moveaxis, reshape
from .searching import where
from .stacking import stack


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> SparseTensor:
    """Return the results of a function of vectors, applied to every line along an axis.

    Unlike NumPy's, the function is called with sparse vectors.

    Parameters
    ----------
    func1d : callable
        A function from a sparse vector to a scalar or a tensor. The axes of its result replace the axis of the line.
    axis : int
        The axis along which lines are taken.
    arr : array_like
        The tensor.
    *args, **kwargs
        Further arguments of the function.

    Returns
    -------
    SparseTensor
        The results of all lines, stacked.

    Raises
    ------
    ValueError
        If another axis of the tensor has size 0.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.apply_along_axis(np.sort, 1, A).todense()
    array([[0., 1.],
           [0., 2.]])
    """
    tensor = SparseTensor(storage_of(arr))
    along = normalize_axis_index(axis, tensor.ndim)
    # NumPy refuses an empty grid of lines: without one result the shape of the whole is unknown.
    rest = tuple(n for k, n in enumerate(tensor.shape) if k != along)
    if 0 in rest:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    lines = moveaxis(tensor, along, -1)
    found = [func1d(lines[place], *args, **kwargs) for place in np.ndindex(*rest)]
    parts = [SparseTensor(storage_of(x)) for x in found]
    # The results are stacked with their own axes last. These axes then move to the place of the removed axis.
    whole = reshape(stack(parts), (*rest, *parts[0].shape))
    made = range(len(rest), len(rest) + parts[0].ndim)
    return moveaxis(whole, tuple(made), tuple(range(along, along + len(made)))) if made else whole


def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: Any) -> SparseTensor:
    """Return ``func(a, axis)``, applied over several axes one after another.

    An axis that ``func`` removes is put back with size 1, as in NumPy.

    Parameters
    ----------
    func : callable
        A function of a tensor and an axis.
    a : array_like
        The tensor.
    axes : int or sequence of int
        The axes over which ``func`` is applied.

    Returns
    -------
    SparseTensor
        A tensor with as many axes as ``a``.

    Raises
    ------
    ValueError
        If ``func`` changes the number of axes by more than one.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.apply_over_axes(weft.sum, A, [0, 1]).todense()
    array([[3.]])
    """
    tensor = SparseTensor(storage_of(a))
    for axis in [axes] if np.ndim(axes) == 0 else axes:
        along = normalize_axis_index(axis, tensor.ndim)
        result = SparseTensor(storage_of(func(tensor, along)))
        if result.ndim != tensor.ndim:
            result = expand_dims(result, along)
        if result.ndim != tensor.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        tensor = result
    return tensor


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> SparseTensor:
    """Return a tensor whose elements are computed by the function whose condition holds.

    Unlike NumPy's, each function is called with all elements of ``x``.

    Parameters
    ----------
    x : array_like
        The tensor.
    condlist : sequence of array_like of bool
        The conditions. If several hold, the last one decides.
    funclist : sequence of callable or scalar
        One function or value for each condition. One more is for elements at which no condition holds; it is zero by
        default.
    *args, **kw
        Further arguments of the functions.

    Returns
    -------
    SparseTensor
        A tensor of the shape and dtype of ``x``.

    Raises
    ------
    ValueError
        If the number of functions does not fit the number of conditions.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, -3.0, 4.0], format="coo")
    >>> weft.piecewise(x, [x < 0, x > 0], [-1.0, lambda v: v / 2]).todense()
    array([ 0., -1.,  2.])
    """
    tensor = SparseTensor(storage_of(x))
    # One condition may be given without a list, as in NumPy.
    conditions = condlist if isinstance(condlist, (list, tuple)) and len(condlist) else [condlist]
    if np.ndim(conditions[0]) == 0 and tensor.ndim:
        conditions = [condlist]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions are "
            "expected"
        )

    def value(function: Any) -> Any:
        result = function(tensor, *args, **kw) if callable(function) else function
        return SparseTensor(storage_of(result)).astype(tensor.dtype)

    result = value(funclist[-1] if len(funclist) > len(conditions) else 0)
    # A later choice overrides an earlier one, so that the last condition decides.
    for condition, function in zip(conditions, funclist, strict=False):
        result = SparseTensor(storage_of(where(condition, value(function), result)))
    return broadcast_to(result, tensor.shape)


def polyval(p: Any, x: Any) -> SparseTensor | Any:
    """Return the values of a polynomial at every element of a tensor.

    Parameters
    ----------
    p : array_like
        The coefficients, that of the highest power first.
    x : array_like
        The elements at which the polynomial is evaluated.

    Returns
    -------
    SparseTensor
        A tensor of the shape of ``x``. Its fill value is the value of the polynomial at the fill value of ``x``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 2.0], format="coo")
    >>> weft.polyval([1.0, 0.0, 3.0], x)
    <SparseTensor: shape=(2,), dtype=float64, format=coo, nnz=1, fill_value=3.0>
    >>> weft.polyval([1.0, 0.0, 3.0], x).todense()
    array([3., 7.])
    """
    coefficients = p.todense() if isinstance(p, SparseTensor) else np.asarray(p)
    tensor = SparseTensor(storage_of(x))
    result: Any = tensor * 0
    # Horner's rule.
    for coefficient in coefficients:
        result = result * tensor + coefficient
    return result
