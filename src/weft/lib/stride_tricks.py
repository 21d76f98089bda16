"""Windows over tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ShapeError
from ..numpy_api.stacking import stack
from ..operations.axes import normalize_axis_index
from ..tensor import SparseTensor, asarray
from ..tracebacks import ends_at_caller

__all__ = ["sliding_window_view"]


@ends_at_caller
def sliding_window_view(
    x: Any,
    window_shape: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> SparseTensor:
    """Return every window of a tensor, as :func:`numpy.lib.stride_tricks.sliding_window_view` does.

    Parameters
    ----------
    x : array_like
        The tensor.
    window_shape : int or sequence of int
        The size of a window, along each of the axes.
    axis : int or sequence of int, optional
        The axes along which windows move. By default all.
    subok, writeable : bool, optional
        Without effect. An entry is stored once for each window that holds it, so that the result is no view.

    Returns
    -------
    SparseTensor
        A tensor with an axis more for each window, the place in the window.

    Raises
    ------
    ShapeError
        When a window is larger than its axis, or there are not as many sizes as axes.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 1.0, 0.0, 2.0], format="coo")
    >>> weft.lib.stride_tricks.sliding_window_view(x, 2).todense()
    array([[0., 1.],
           [1., 0.],
           [0., 2.]])
    """
    result = asarray(x)
    sizes = tuple(window_shape) if isinstance(window_shape, Sequence) else (int(window_shape),)
    listed = range(result.ndim) if axis is None else axis if isinstance(axis, Sequence) else (axis,)
    axes = tuple(normalize_axis_index(at, result.ndim) for at in listed)
    if len(sizes) != len(axes):
        raise ShapeError(f"windows of shape {sizes} along axes {axes}: there is to be a size for each axis")
    for size, at in zip(sizes, axes, strict=True):
        count = result.shape[at] - size + 1
        if size < 0 or count < 1:
            raise ShapeError(f"windows of {size} elements do not fit axis {at} of shape {asarray(x).shape}")
        before = (slice(None),) * at
        windows = [result[(*before, slice(k, k + count))] for k in range(size)]
        result = stack(windows, axis=-1) if windows else result[..., None][..., :0]
    return result
