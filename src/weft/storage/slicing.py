"""Slices of consecutive coordinates of the outermost level: a piece of each array, whatever the levels below are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formats.capabilities import ArrayEditing
from .storage import Storage


def cut(storage: Storage, first: int, count: int) -> Storage | None:
    """Return a new tensor with coordinates ``first`` to ``first + count`` of the axis that the root level stores.

    None if a level's arrays are not in the order of its parents, and for structured formats and those without levels.
    """
    format = storage.format
    if format.is_structured or not format.levels:
        return None
    remaining, arrays = iter(storage.arrays), []
    begin, end = 0, 1
    span: tuple[int, int] | None = (first, count)
    for level, axis in zip(format.levels, format.mode_order, strict=True):
        level_arrays: dict[str, np.ndarray[Any, Any]] = {role: next(remaining) for role in level.roles}
        # Each level keeps the children of one range of parents, which is the range that the level above has kept.
        edited = level.capability(ArrayEditing)
        part = None if edited is None else edited.cut(level_arrays, storage.shape[axis], begin, end, span)
        if part is None:
            return None
        cut_arrays, begin, end = part
        arrays += [cut_arrays[role] for role in level.roles]
        span = None  # levels below the root keep all coordinates
    root = format.mode_order[0]
    shape = (*storage.shape[:root], count, *storage.shape[root + 1 :])
    return Storage(shape, storage.type, tuple(arrays), storage.vals[begin:end].copy())
