"""Derivatives and integrals from differences of neighbors, under NumPy's names: sparse for sparse values.

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

from ..operations.axes import normalize_axis_index, normalize_axis_tuple
from ..operations.operands import storage_of
from ..runtime import memory
from ..tensor.sparse_tensor import SparseTensor
from .cumulative import diff
from .manipulation import ravel
from .reductions import sum as total
from .stacking import concat


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> SparseTensor:
    """Return the differences of neighbors among all elements, as a vector.

    Parameters
    ----------
    ary : array_like
        The tensor, which is flattened.
    to_end, to_begin : array_like, optional
        Elements that are put after or before the differences.

    Returns
    -------
    SparseTensor
        The vector, sparse if the tensor is.

    Raises
    ------
    TypeError
        If the dtype of ``to_end`` or ``to_begin`` cannot be cast to that of ``ary``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 0.0, 1.0], format="coo")
    >>> weft.ediff1d(x).todense()
    array([ 3., -3.,  1.])
    """
    parts = [ravel(diff(ravel(ary)))]
    for more, place in ((to_begin, 0), (to_end, 2)):
        if more is not None:
            if not np.can_cast(storage_of(more).dtype, parts[0].dtype, "same_kind"):
                name = "to_end" if place else "to_begin"
                raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
            parts.insert(place, ravel(more).astype(parts[0 if len(parts) == 1 else -1].dtype))
    return concat(parts) if len(parts) > 1 else parts[0]


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> SparseTensor | Any:
    """Return the integral along an axis by the trapezoidal rule.

    Parameters
    ----------
    y : array_like
        The values.
    x : array_like, optional
        The points of the values: a vector, or one point for each value.
    dx : float
        The distance of neighbors, if ``x`` is not given.
    axis : int
        The axis.

    Returns
    -------
    SparseTensor or NumPy scalar
        The integrals, a scalar for a vector.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 0.0, 1.0], format="coo")
    >>> weft.trapezoid(x)
    np.float64(3.5)
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
    # The mean of two neighbors times their distance.
    sums = _part(values, along, 1, None) + _part(values, along, None, -1)
    return total(sums * (steps / 2.0), axis=along)


def _part(x: SparseTensor, axis: int, start: int | None, stop: int | None) -> Any:
    return x[(slice(None),) * axis + (slice(start, stop),)]


@memory.guarded
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return the derivative along each axis by central differences, one-sided at the edges.

    Parameters
    ----------
    f : array_like
        The values.
    *varargs : scalar or array_like
        The spacing: by default 1, one number for all axes, or for each axis a number or the points.
    axis : int or tuple of int, optional
        The axes, by default all.
    edge_order : {1, 2}
        The order of the differences at the edges.

    Returns
    -------
    SparseTensor or tuple of SparseTensor
        One tensor for each axis; for one axis no tuple.

    Raises
    ------
    ValueError
        If there are fewer than ``edge_order + 1`` values along an axis, or not as many points as values.
    TypeError
        If the number of spacings does not fit the number of axes.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 0.0, 1.0], format="coo")
    >>> weft.gradient(x).todense()
    array([ 3.,  0., -1.,  1.])
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
    # Differences of integers could overflow.
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
        """Return the weighted sum of slices."""
        parts = [_part(f, axis, k, k + 1 or None) * w for k, w in weights]
        return sum(parts[1:], start=parts[0])

    # Uneven spacing has the weights of the parabola through three neighbors.
    before, after = (part.reshape(shape) for part in (steps[:-1], steps[1:]))
    middle = (
        _part(f, axis, None, -2) * (-after / (before * (before + after)))
        + _part(f, axis, 1, -1) * ((after - before) / (before * after))
        + _part(f, axis, 2, None) * (before / (after * (before + after)))
        if (steps != steps[0]).any()
        else (_part(f, axis, 2, None) - _part(f, axis, None, -2)) / (2.0 * steps[0])
    )
    if edge_order == 1:
        # First order: the slope of the line through the two outermost values.
        first = at((1, 1.0), (0, -1.0)) / steps[0]
        last = at((-1, 1.0), (-2, -1.0)) / steps[-1]
    else:
        a, b = steps[0], steps[1]
        # Second order: the slope of the parabola through the three outermost values.
        first = at((0, -(2 * a + b) / (a * (a + b))), (1, (a + b) / (a * b)), (2, -a / (b * (a + b))))
        a, b = steps[-2], steps[-1]
        last = at((-3, b / (a * (a + b))), (-2, -(b + a) / (a * b)), (-1, (2 * b + a) / (b * (a + b))))
    return concat([first, middle, last] if n > 2 else [first, last], axis=axis)
