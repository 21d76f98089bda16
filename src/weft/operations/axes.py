"""NumPy's rules about the argument ``axis``, with errors that say what an axis is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib import array_utils


def normalize_axis_index(axis: Any, ndim: int) -> int:
    """Return an axis counted from the front."""
    try:
        return array_utils.normalize_axis_index(axis, ndim)
    except TypeError:
        raise _no_axis(axis, "an integer", ndim) from None


def normalize_axis_tuple(axis: Any, ndim: int, name: str | None = None) -> tuple[int, ...]:
    """Return several axes, or the only one, counted from the front."""
    try:
        return array_utils.normalize_axis_tuple(axis, ndim, name)
    except np.exceptions.AxisError:
        raise
    except TypeError:
        raise _no_axis(axis, "an integer or a tuple of integers", ndim) from None


def reduced_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes over which a reduction goes: all of them for None, and for the 0 or -1 of what has none."""
    if axis is None or (not ndim and isinstance(axis, int | np.integer) and axis in (0, -1)):
        return tuple(range(ndim))
    over = [normalize_axis_index(one, ndim) for one in (axis if isinstance(axis, tuple) else (axis,))]
    if len({*over}) != len(over):
        raise ValueError("duplicate value in 'axis'")
    return tuple(sorted(over))


def _no_axis(axis: Any, kind: str, ndim: int) -> TypeError:
    return TypeError(f"axis is {kind} from {-ndim} to {ndim - 1}, not {axis!r}")
