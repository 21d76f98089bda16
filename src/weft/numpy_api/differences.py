"""Derivatives and integrals by differences of neighbours, as NumPy names them; they are sparse where the values are.

Examples
--------
>>> import weft
>>> A = weft.asarray([0.0, 0.0, 2.0, 0.0, 0.0, 0.0], format="coo")
>>> weft.gradient(A).todense(), weft.trapezoid(A)
(array([ 0.,  1.,  0., -1.,  0.,  0.]), np.float64(2.0))
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ..operations.operands import storage_of
from ..runtime import memory
from ..tensor.sparse_tensor import SparseTensor
from .cumulative import diff
from .manipulation import ravel
from .reductions import sum as total
from .stacking import concat

__all__ = ["ediff1d", "gradient", "trapezoid"]


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> SparseTensor:
    """The differences of neighbours of all elements as a vector, between what is given."""
    parts = [ravel(diff(ravel(ary)))]
    for more, place in ((to_begin, 0), (to_end, 2)):
        if more is not None:
            if not np.can_cast(storage_of(more).dtype, parts[0].dtype, "same_kind"):
                name = "to_end" if place else "to_begin"
                raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
            parts.insert(place, ravel(more).astype(parts[0 if len(parts) == 1 else -1].dtype))
    return concat(parts) if len(parts) > 1 else parts[0]


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """The integral along an axis by the trapezoidal rule.

    Parameters
    ----------
    y : array_like
        The values.
    x : array_like, optional
        Where they are: a vector, or one place for each value.
    dx : float
        How far they are apart, where ``x`` is not given.
    axis : int
        Along which.
    """
    values = SparseTensor(storage_of(y))
    along = normalize_axis_index(axis, values.ndim)
    if x is None:
        steps: Any = dx
    else:
        places = np.asarray(x.todense() if isinstance(x, SparseTensor) else x)
        steps = np.diff(places, axis=0 if places.ndim == 1 else axis)
        if places.ndim == 1:
            steps = steps.reshape([-1 if k == along else 1 for k in range(values.ndim)])
    sums = _part(values, along, 1, None) + _part(values, along, None, -1)
    return total(sums * (steps / 2.0), axis=along)


def _part(x: SparseTensor, axis: int, start: int | None, stop: int | None) -> Any:
    return x[(slice(None),) * axis + (slice(start, stop),)]


@memory.guarded
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The derivative along each axis by central differences, and by one-sided ones at the edges.

    Parameters
    ----------
    f : array_like
        The values.
    *varargs : scalar or array_like
        How far they are apart: nothing for 1, a number for all axes, or for each axis a number or the places.
    axis : int or tuple of int, optional
        Along which; by default along all.
    edge_order : {1, 2}
        The order of the differences at the edges.

    Returns
    -------
    SparseTensor or tuple of SparseTensor
        One for each axis.

    Raises
    ------
    ValueError
        When there are fewer than ``edge_order + 1`` values along an axis, or places that are not as many.
    """
    values = SparseTensor(storage_of(f))
    axes = tuple(range(values.ndim)) if axis is None else normalize_axis_tuple(axis, values.ndim)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError("invalid number of arguments")
    spacings = varargs if len(varargs) == len(axes) else (varargs or (1.0,)) * len(axes)
    if len(varargs) == 1 and len(axes) > 1 and np.ndim(varargs[0]):
        raise TypeError("invalid number of arguments")
    if values.dtype.kind not in "fc":
        values = values.astype(np.float64)
    found = tuple(_along(values, k, h, edge_order) for k, h in zip(axes, spacings, strict=True))
    return found[0] if len(found) == 1 else found


def _along(f: SparseTensor, axis: int, spacing: Any, edge_order: int) -> SparseTensor:
    n = f.shape[axis]
    if n < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
            "required."
        )
    h = np.asarray(spacing, float)
    if h.ndim > 1:
        raise ValueError("distances must be either scalars or 1d")
    if h.ndim and len(h) != n:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    steps = np.diff(h) if h.ndim else np.full(n - 1, float(h))
    shape = [-1 if k == axis else 1 for k in range(f.ndim)]

    def at(*weights: tuple[int, Any]) -> Any:
        """The sum of single slices, each with its weight."""
        parts = [_part(f, axis, k, k + 1 or None) * w for k, w in weights]
        return sum(parts[1:], start=parts[0])

    before, after = (part.reshape(shape) for part in (steps[:-1], steps[1:]))
    middle = (
        _part(f, axis, None, -2) * (-after / (before * (before + after)))
        + _part(f, axis, 1, -1) * ((after - before) / (before * after))
        + _part(f, axis, 2, None) * (before / (after * (before + after)))
        if (steps != steps[0]).any()
        else (_part(f, axis, 2, None) - _part(f, axis, None, -2)) / (2.0 * steps[0])
    )
    if edge_order == 1:
        first = at((1, 1.0), (0, -1.0)) / steps[0]
        last = at((-1, 1.0), (-2, -1.0)) / steps[-1]
    else:
        a, b = steps[0], steps[1]
        first = at((0, -(2 * a + b) / (a * (a + b))), (1, (a + b) / (a * b)), (2, -a / (b * (a + b))))
        a, b = steps[-2], steps[-1]
        last = at((-3, b / (a * (a + b))), (-2, -(b + a) / (a * b)), (-1, (2 * b + a) / (b * (a + b))))
    return concat([first, middle, last] if n > 2 else [first, last], axis=axis)
