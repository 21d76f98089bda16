"""Functions applied to lines, axes, pieces and polynomials, as NumPy names it.

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
from numpy.lib.array_utils import normalize_axis_index

from ..operations.operands import storage_of
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import broadcast_to, expand_dims, moveaxis, reshape
from .searching import where
from .stacking import stack

__all__ = ["apply_along_axis", "apply_over_axes", "piecewise", "polyval"]


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> SparseTensor:
    """A function of vectors applied to every line along an axis.

    Parameters
    ----------
    func1d : callable
        From a vector, which is sparse, to a scalar or a tensor; the axes of that take the place of the line's.
    axis : int
        Along which.
    arr : array_like
        The tensor.
    *args, **kwargs
        For the function.
    """
    tensor = SparseTensor(storage_of(arr))
    along = normalize_axis_index(axis, tensor.ndim)
    rest = tuple(n for k, n in enumerate(tensor.shape) if k != along)
    if 0 in rest:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    lines = moveaxis(tensor, along, -1)
    found = [func1d(lines[place], *args, **kwargs) for place in np.ndindex(*rest)]
    parts = [SparseTensor(storage_of(x)) for x in found]
    whole = reshape(stack(parts), (*rest, *parts[0].shape))
    made = range(len(rest), len(rest) + parts[0].ndim)
    return moveaxis(whole, tuple(made), tuple(range(along, along + len(made)))) if made else whole


def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: Any) -> SparseTensor:
    """``func(a, axis)`` for one axis after another; axes that it takes away come back with size 1."""
    found = SparseTensor(storage_of(a))
    for axis in [axes] if np.ndim(axes) == 0 else axes:
        along = normalize_axis_index(axis, found.ndim)
        made = SparseTensor(storage_of(func(found, along)))
        if made.ndim != found.ndim:
            made = expand_dims(made, along)
        if made.ndim != found.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        found = made
    return found


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> SparseTensor:
    """Functions of ``x``, each where its condition holds; one more is for where none does, else zero.

    Parameters
    ----------
    x : array_like
        The tensor.
    condlist : sequence of array_like of bool
        The last that holds decides.
    funclist : sequence of callable or scalar
        As many as conditions, or one more.
    *args, **kw
        For the functions, which are called with all of ``x``.
    """
    tensor = SparseTensor(storage_of(x))
    conditions = condlist if isinstance(condlist, (list, tuple)) and len(condlist) else [condlist]
    if np.ndim(conditions[0]) == 0 and tensor.ndim:
        conditions = [condlist]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions are "
            "expected"
        )

    def value(function: Any) -> Any:
        found = function(tensor, *args, **kw) if callable(function) else function
        return SparseTensor(storage_of(found)).astype(tensor.dtype)

    found = value(funclist[-1] if len(funclist) > len(conditions) else 0)
    for condition, function in zip(conditions, funclist, strict=False):
        found = SparseTensor(storage_of(where(condition, value(function), found)))
    return broadcast_to(found, tensor.shape)


def polyval(p: Any, x: Any) -> Any:
    """The polynomial with coefficients ``p``, the highest first, of every element."""
    coefficients = p.todense() if isinstance(p, SparseTensor) else np.asarray(p)
    tensor = SparseTensor(storage_of(x))
    found: Any = tensor * 0
    for coefficient in coefficients:
        found = found * tensor + coefficient
    return found
