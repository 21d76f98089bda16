"""Single elements by their places: keys of integers alone, which need no more than a look into the storage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..storage import Storage
from .indexing import position

__all__ = ["element_at", "inside", "place_of"]


def element_at(storage: Storage, place: tuple[int, ...], written: Mapping[tuple[int, ...], Any]) -> Any:
    """The element at a place, if the format says where it is stored; None otherwise."""
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
    """The integers of a key of nothing else; None for any other key."""
    if type(key) is not tuple or not key:
        return None
    for k in key:
        if type(k) is not int:
            return tuple(map(int, key)) if all(type(k) is int or isinstance(k, np.integer) for k in key) else None
    return key


def inside(place: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The same counted from the start of each axis."""
    for axis, (k, size) in enumerate(zip(place, shape, strict=True)):
        if not -size <= k < size:
            raise IndexError(f"index {k} is out of bounds for axis {axis} with size {size}")
    return tuple([k + size if k < 0 else k for k, size in zip(place, shape, strict=True)])
