"""Views: storage that shares all arrays of another tensor, and shows some coordinates of each of its axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..dtypes import index_dtype, name_of
from ..errors import FormatError
from ..formats import Format, LevelFormat, Picked, TensorType, Window
from .storage import Storage, tensor_type

Part = tuple[int, int, int] | np.ndarray[Any, Any]
"""Coordinates of an axis that a view shows: ``(start, step, count)``, or an array of coordinates."""


def part_of(storage: Storage, parts: Sequence[Part]) -> Storage:
    """Return a view of ``(start, step, count)`` of each axis, or of an array of coordinates that can be located."""
    format = storage.format
    if format.is_structured:
        raise FormatError(
            f"a tensor in {format} has no view of a part; convert it to a format with a level for each axis"
        )
    arrays: list[np.ndarray[Any, Any]] = []
    shown: list[tuple[int | None, tuple[str, ...]]] = []
    given = iter(storage.arrays)
    for level, axis in zip(format.levels, format.mode_order, strict=True):
        level_arrays, size, part = [next(given) for _ in level.roles], storage.shape[axis], parts[axis]
        if isinstance(part, tuple) and part == (0, 1, size):
            arrays += level_arrays
            shown.append((None, ()))
            continue
        if isinstance(level, (Window, Picked)):  # a view of a view becomes one view of the tensor below both
            part, size, level_arrays = _composed(level, part, level_arrays)
        if isinstance(part, tuple):
            start, step, _ = part
            # The arrays of a window: start, step and size of the whole axis.
            new = [np.array([start, step, size], index_dtype(max(size, abs(step))))]
            kind = step if abs(step) == 1 else _EVERY if step > 0 else -_EVERY
        else:
            # The arrays of a picked axis: the coordinates, and the size of the whole axis.
            new = [part, np.array([size], index_dtype(size))]
            kind = _PICKED
        arrays += level_arrays + new
        shown.append((kind, tuple([name_of(a.dtype) for a in new])))
    shape = tuple(len(part) if isinstance(part, np.ndarray) else part[2] for part in parts)
    return _sized(Storage(shape, _shown(storage.type, tuple(shown)), tuple(arrays), storage.vals), storage)


def _sized(view: Storage, storage: Storage) -> Storage:
    """Return the view, with the level sizes of the tensor that it shows, all of whose positions it has."""
    view.level_sizes = storage.level_sizes
    return view


def picked(storage: Storage, axis: int, index: np.ndarray[Any, Any]) -> Storage:
    """Return ``part_of`` for an array of coordinates of one axis, with all other axes whole."""
    place, shown = _where(storage.type, axis, name_of(index.dtype))
    if shown is None:
        return part_of(storage, [index if a == axis else (0, 1, n) for a, n in enumerate(storage.shape)])
    shape, arrays = storage.shape, storage.arrays
    new = (index, np.array([shape[axis]], index.dtype))
    whole = (*arrays[:place], *new, *arrays[place:])
    return _sized(Storage((*shape[:axis], len(index), *shape[axis + 1 :]), shown, whole, storage.vals), storage)


@lru_cache(maxsize=1024)
def _where(type: TensorType, axis: int, dtype: str) -> tuple[int, TensorType | None]:
    """Return the place of a picked axis' arrays among all arrays, and the view's type; None for a view of a view."""
    levels, k = type.format.levels, type.format.mode_order.index(axis)
    place = sum(len(level.roles) for level in levels[: k + 1])
    if any(isinstance(level, (Window, Picked)) for level in levels):
        return place, None
    nothing: tuple[int | None, tuple[str, ...]] = (None, ())
    return place, _shown(type, tuple((_PICKED, (dtype, dtype)) if j == k else nothing for j in range(len(levels))))


def share(storage: Storage) -> float:
    """Return the fraction of the stored entries that a view shows, estimated from the sizes of its axes."""
    fraction, arrays = 1.0, iter(storage.arrays)
    for level, axis in zip(storage.format.levels, storage.format.mode_order, strict=True):
        level_arrays = [next(arrays) for _ in level.roles]
        if isinstance(level, (Window, Picked)):
            fraction *= storage.shape[axis] / max(int(level_arrays[-1][-1]), 1)
    return fraction


# Kinds of a shown level beside 1 and -1, the steps of a window: picked coordinates, and a window with a longer step.
_PICKED, _EVERY = 2, 3


def _composed(
    level: Window | Picked, part: Part, level_arrays: list[np.ndarray[Any, Any]]
) -> tuple[Part, int, list[np.ndarray[Any, Any]]]:
    """Return the part of a tensor that a part of a view shows, the size of the axis, and the inner level's arrays."""
    if isinstance(level, Picked):
        *inner, picked, axis_size = level_arrays
        if isinstance(part, np.ndarray):
            return picked[part], int(axis_size[0]), inner
        start, step, count = part
        return picked[np.arange(count) * step + start], int(axis_size[0]), inner
    *inner, window = level_arrays
    first, by, size = window.tolist()
    if isinstance(part, np.ndarray):
        wide = np.result_type(part, index_dtype(max(size, abs(by))))
        # Coordinates of the view in terms of the tensor below: ``first + by*c``, in a dtype that holds the axis.
        return part * wide.type(by) + wide.type(first), size, inner
    start, step, count = part
    return (first + by * start, by * step, count), size, inner


@lru_cache(maxsize=4096)
def _shown(old: TensorType, shown: tuple[tuple[int | None, tuple[str, ...]], ...]) -> TensorType:
    """Return the type of a view: ``shown`` has each level's kind (None: all of it) and dtypes of new arrays."""
    levels: list[LevelFormat] = []
    dtypes: list[str] = []
    remaining = iter(old.index_dtypes)
    for level, (kind, new) in zip(old.format.levels, shown, strict=True):
        if kind is None:
            levels.append(level)
            dtypes += [next(remaining) for _ in level.roles]
            continue
        level_dtypes = [next(remaining) for _ in level.roles]
        if isinstance(level, (Window, Picked)):
            # The new view replaces the old one, and its arrays.
            level_dtypes = level_dtypes[: len(level.inner.roles)]
            level = level.inner
        if kind == _PICKED:
            levels.append(Picked(ordered=True, unique=True, inner=level))
        else:
            # A backward step reverses the order of stored coordinates. Levels with every coordinate have no stored
            # order.
            ordered = level.has_every or (level.ordered and kind > 0)
            step = kind if abs(kind) == 1 else 0
            levels.append(Window(ordered=ordered, unique=level.unique, inner=level, step=step))
        dtypes += [*level_dtypes, *new]
    return tensor_type(old.dtype, Format(old.format.remapping, levels), tuple(dtypes), old.fill)
