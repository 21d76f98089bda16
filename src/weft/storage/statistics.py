"""Numbers of entries along the axes of a tensor, which say how many pairs a join of two tensors makes at most.

They are computed when a choice needs them, and kept with the storage: a tensor to which something is assigned has
another storage. Estimates may be those of coordinates that the owner of the memory has changed since.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..formats import LevelFormat
from ..records import record
from .storage import Storage

_POSITIONS, _COORDINATES = ("pos", "crd"), ("crd",)


@record
class Degrees:
    """Numbers of the entries that each coordinate of one axis has."""

    distinct: int  # coordinates that have entries
    largest: int  # most entries of one coordinate
    norm: float  # the square root of the sum of the squares


def degrees(storage: Storage, axis: int) -> Degrees | None:
    """Return the numbers of an axis; None for formats whose structure says more than the numbers would."""
    known = storage.degrees
    if axis not in known:
        known = storage.degrees = {**known, axis: _degrees(storage, axis)}
    return known[axis]  # type: ignore[no-any-return]


def _degrees(storage: Storage, axis: int) -> Degrees | None:
    format = storage.format
    known = all(level.roles in (_POSITIONS, _COORDINATES) or _is_array(level) for level in format.levels)
    if format.is_structured or not known or storage.is_on_device:
        return None
    counts = _entries_at(storage, format.mode_order.index(axis))
    counts = counts[counts > 0]
    if not len(counts):
        return Degrees(0, 0, 0.0)
    return Degrees(len(counts), int(counts.max()), math.sqrt(float(np.square(counts.astype(np.float64)).sum())))


def is_diagonal(storage: Storage) -> bool:
    """Return whether a square matrix that lists its diagonals has no other than the main one."""
    rows, columns = storage.shape
    offsets = storage.level_arrays(0)["crd"]
    return rows == columns and len(offsets) == 1 and not offsets[0]


def _is_array(level: LevelFormat) -> bool:
    return level.full and not level.roles


def _entries_at(storage: Storage, level: int) -> np.ndarray[Any, Any]:
    """Return the number of entries at each coordinate of a level's axis."""
    format, sizes = storage.format, storage.level_sizes
    extents = [storage.shape[axis] for axis in format.mode_order]
    below = np.ones(sizes[-1], np.int64)  # entries below each position, from the last level up
    for k in range(len(sizes) - 1, level - 1, -1):
        arrays = storage.level_arrays(k)
        if _is_array(format.levels[k]):
            rows = below.reshape(sizes[k] // extents[k], extents[k]) if extents[k] else below.reshape(sizes[k - 1], 0)
            below = rows.sum(axis=int(k > level))
            continue
        coordinates = arrays["crd"]
        if len(coordinates) and coordinates.min() < 0:  # slots of hash tables may be empty
            below, coordinates = np.where(coordinates >= 0, below, 0), np.maximum(coordinates, 0)
        if k == level:
            return np.bincount(coordinates, below)
        if format.levels[k].roles == _POSITIONS:
            below = np.diff(np.concatenate([[0], np.cumsum(below)])[arrays["pos"]])
    return below
