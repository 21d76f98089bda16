"""Some consecutive coordinates of the outermost level: pieces of all arrays, whatever the levels below are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .storage import Storage

__all__ = ["cut"]


def cut(storage: Storage, first: int, count: int) -> Storage | None:
    """A tensor of its own that holds coordinates ``first`` to ``first + count`` of the axis that the root stores.

    None where a level's arrays are not in the order of its parents.
    """
    format = storage.format
    if format.is_structured or not format.levels:
        return None
    given, arrays = iter(storage.arrays), []
    begin, end = 0, 1
    span: tuple[int, int] | None = (first, count)
    for level, axis in zip(format.levels, format.mode_order, strict=True):
        own: dict[str, np.ndarray[Any, Any]] = {role: next(given) for role in level.roles}
        found = level.cut(own, storage.shape[axis], begin, end, span)
        if found is None:
            return None
        made, begin, end = found
        arrays += [made[role] for role in level.roles]
        span = None
    root = format.mode_order[0]
    shape = (*storage.shape[:root], count, *storage.shape[root + 1 :])
    return Storage(shape, storage.type, tuple(arrays), storage.vals[begin:end].copy())
