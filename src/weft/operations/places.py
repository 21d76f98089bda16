"""Single elements by their coordinates: keys of integers alone, for which a lookup in the storage is enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..storage import Storage
from .indexing import position


def element_at(storage: Storage, place: tuple[int, ...], written: Mapping[tuple[int, ...], Any]) -> Any:
    """Return the element at a place; None if the format has no direct lookup of its position.

    The result is None, too, if the place has another number of coordinates than the tensor has axes.
    """
    if len(place) != len(storage.shape):
        return None
    place = inside(place, storage.shape)
    if place in written:
        return written[place]
    p = position(storage, place)
    if p is None:
        return None
    return storage.vals[p] if p >= 0 else storage.dtype.type(storage.type.fill)


def place_of(key: Any) -> tuple[int, ...] | None:
    """Return the integers of a key that has only integers; None for any other key."""
    if type(key) is not tuple or not key:
        return None
    if len(key) == 2 and type(key[0]) is int and type(key[1]) is int:
        return key
    for k in key:
        if type(k) is not int:
            return tuple(map(int, key)) if all(type(k) is int or isinstance(k, np.integer) for k in key) else None
    return key


def inside(place: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return coordinates counted from the start of each axis."""
    for k, size in zip(place, shape, strict=True):
        if not 0 <= k < size:
            break
    else:
        return place
    for axis, (k, size) in enumerate(zip(place, shape, strict=True)):
        if not -size <= k < size:
            raise IndexError(f"index {k} is out of bounds for axis {axis} with size {size}")
    return tuple([k + size if k < 0 else k for k, size in zip(place, shape, strict=True)])
