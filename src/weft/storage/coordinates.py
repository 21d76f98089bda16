"""Storage of coordinates and values, in a format whose properties one pass over the coordinates establishes.

Kernels rely on the properties that a format's levels promise. A flag of another container that claims sorted
coordinates is therefore not trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..dtypes import name_of
from ..formats import Compressed, Format, LevelFormat, Singleton
from ..remapping import Remapping
from .entry_order import chain_order
from .shapes import checked_shape
from .storage import Storage, fill_of, tensor_type

Array = np.ndarray[Any, Any]


@lru_cache(maxsize=256)
def coordinate_format(order: tuple[tuple[bool, bool], ...]) -> Format:
    """Return the coordinate format (compressed, then singletons) with the properties that ``chain_order`` returns."""
    levels: list[LevelFormat] = []
    for k, (ordered, unique) in enumerate(order):
        make = Singleton if k else Compressed
        # Only the last level promises unique tuples. As in coo, the levels above may repeat a coordinate.
        levels.append(make(ordered=ordered, unique=unique and k + 1 == len(order)))
    return Format(Remapping.identity(len(order)), levels)


def coordinate_storage(shape: tuple[int, ...], crds: Sequence[Array], vals: Array, fill: Any = 0) -> Storage:
    """Return storage over arrays of coordinates and values, without a copy.

    A tensor without axes has one element. The values that are given for that element are summed.
    """
    crds, shape = tuple(crds), checked_shape(shape)
    format = coordinate_format(chain_order(crds) if crds else ())
    if not crds:  # no axes: one element, the sum of the given values
        if len(vals) != 1:
            vals = np.add.reduce(vals, dtype=vals.dtype, keepdims=True) if len(vals) else np.full(1, fill, vals.dtype)
        return Storage(shape, tensor_type(name_of(vals.dtype), format, (), fill_of(vals.dtype, fill)), (), vals)
    # The root level is compressed and has one parent: its positions are bounded by 0 and the number of entries.
    bounds = np.array([0, len(vals)], crds[0].dtype if len(vals) <= np.iinfo(np.int32).max else np.int64)
    arrays = (bounds, *crds)
    names = tuple(name_of(array.dtype) for array in arrays)
    return Storage(shape, tensor_type(name_of(vals.dtype), format, names, fill_of(vals.dtype, fill)), arrays, vals)
