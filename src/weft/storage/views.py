"""Parts of a tensor that share all its arrays: storage whose levels show some coordinates of another's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..dtypes import index_dtype, name_of
from ..errors import FormatError
from ..formats import Format, LevelFormat, Picked, TensorType, Window
from .storage import Storage, tensor_type

__all__ = ["Part", "part_of", "picked", "share"]

Part = tuple[int, int, int] | np.ndarray[Any, Any]
"""What is shown of an axis: start, step and how many; or an array of coordinates."""


def part_of(storage: Storage, parts: Sequence[Part]) -> Storage:
    """A view of some coordinates of each axis.

    Parameters
    ----------
    storage : Storage
        Any tensor.
    parts : sequence
        For every axis ``(start, step, count)``, or a 1-D array of coordinates where its level finds every one.

    Raises
    ------
    FormatError
        When a level cannot be seen in part: one that stores no axis, or computes its coordinates.
    """
    format = storage.format
    if format.is_structured:
        raise FormatError(f"{format} does not store axes level by level, and cannot be seen in part")
    arrays: list[np.ndarray[Any, Any]] = []
    shown: list[tuple[int | None, tuple[str, ...]]] = []
    given = iter(storage.arrays)
    for level, axis in zip(format.levels, format.mode_order, strict=True):
        own, size, part = [next(given) for _ in level.roles], storage.shape[axis], parts[axis]
        if isinstance(part, tuple) and part == (0, 1, size):
            arrays += own
            shown.append((None, ()))
            continue
        if isinstance(level, (Window, Picked)):
            part, size, own = _composed(level, part, own)
        if isinstance(part, tuple):
            start, step, _ = part
            new = [np.array([start, step, size], index_dtype(max(size, abs(step))))]
            kind = step if abs(step) == 1 else _EVERY if step > 0 else -_EVERY
        else:
            new = [part, np.array([size], index_dtype(size))]
            kind = _PICKED
        arrays += own + new
        shown.append((kind, tuple([name_of(a.dtype) for a in new])))
    shape = tuple(len(part) if isinstance(part, np.ndarray) else part[2] for part in parts)
    return _sized(Storage(shape, _shown(storage.type, tuple(shown)), tuple(arrays), storage.vals), storage)


def _sized(view: Storage, storage: Storage) -> Storage:
    """The view, whose levels have as many positions as those that they show, which are counted once."""
    view.level_sizes = storage.level_sizes
    return view


def picked(storage: Storage, axis: int, index: np.ndarray[Any, Any]) -> Storage:
    """``part_of`` where an array shows one axis, and all others are whole."""
    place, shown = _where(storage.type, axis, name_of(index.dtype))
    if shown is None:
        return part_of(storage, [index if a == axis else (0, 1, n) for a, n in enumerate(storage.shape)])
    shape, arrays = storage.shape, storage.arrays
    new = (index, np.array([shape[axis]], index.dtype))
    whole = (*arrays[:place], *new, *arrays[place:])
    return _sized(Storage((*shape[:axis], len(index), *shape[axis + 1 :]), shown, whole, storage.vals), storage)


@lru_cache(maxsize=1024)
def _where(type: TensorType, axis: int, dtype: str) -> tuple[int, TensorType | None]:
    """Where the arrays of a picked axis go among the others, and the type of the view; None of a view of a view."""
    levels, k = type.format.levels, type.format.mode_order.index(axis)
    place = sum(len(level.roles) for level in levels[: k + 1])
    if any(isinstance(level, (Window, Picked)) for level in levels):
        return place, None
    nothing: tuple[int | None, tuple[str, ...]] = (None, ())
    return place, _shown(type, tuple((_PICKED, (dtype, dtype)) if j == k else nothing for j in range(len(levels))))


def share(storage: Storage) -> float:
    """The part of what is stored that a view shows, as far as the sizes of its axes say."""
    found, arrays = 1.0, iter(storage.arrays)
    for level, axis in zip(storage.format.levels, storage.format.mode_order, strict=True):
        own = [next(arrays) for _ in level.roles]
        if isinstance(level, (Window, Picked)):
            found *= storage.shape[axis] / max(int(own[-1][-1]), 1)
    return found


_PICKED, _EVERY = 2, 3


def _composed(
    level: Window | Picked, part: Part, own: list[np.ndarray[Any, Any]]
) -> tuple[Part, int, list[np.ndarray[Any, Any]]]:
    """Part of a part: of what, its size, and the arrays of the level below both."""
    if isinstance(level, Picked):
        *inner, picked, whole = own
        if isinstance(part, np.ndarray):
            return picked[part], int(whole[0]), inner
        start, step, count = part
        return picked[np.arange(count) * step + start], int(whole[0]), inner
    *inner, window = own
    first, by, size = window.tolist()
    if isinstance(part, np.ndarray):
        wide = np.result_type(part, index_dtype(max(size, abs(by))))
        return part * wide.type(by) + wide.type(first), size, inner
    start, step, count = part
    return (first + by * start, by * step, count), size, inner


@lru_cache(maxsize=4096)
def _shown(old: TensorType, shown: tuple[tuple[int | None, tuple[str, ...]], ...]) -> TensorType:
    """The type of a view."""
    levels: list[LevelFormat] = []
    dtypes: list[str] = []
    given = iter(old.index_dtypes)
    for level, (kind, new) in zip(old.format.levels, shown, strict=True):
        if kind is None:
            levels.append(level)
            dtypes += [next(given) for _ in level.roles]
            continue
        own = [next(given) for _ in level.roles]
        if isinstance(level, (Window, Picked)):
            own = own[: len(level.inner.roles)]
            level = level.inner
        if kind == _PICKED:
            levels.append(Picked(ordered=True, unique=True, inner=level))
        else:
            ordered = level.has_every or (level.ordered and kind > 0)
            step = kind if abs(kind) == 1 else 0
            levels.append(Window(ordered=ordered, unique=level.unique, inner=level, step=step))
        dtypes += [*own, *new]
    return tensor_type(old.dtype, Format(old.format.remapping, levels), tuple(dtypes), old.fill)
