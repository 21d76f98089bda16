"""Coordinates, and the truth about their order.

Kernels rely on what a format's levels promise, so what is recorded is what one pass over the coordinates finds, not
what a container's flags say.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..dtypes import name_of
from ..formats import Compressed, Format, LevelFormat, Singleton
from ..remapping import Remapping
from .storage import Storage, checked_shape, fill_of, tensor_type

__all__ = ["chain_order", "coordinate_format", "coordinate_storage", "segment_order"]

Array = np.ndarray[Any, Any]


def segment_order(pos: Array, crd: Array) -> tuple[bool, bool]:
    """Whether ``crd`` is ordered within the segments that ``pos`` bounds, and whether that shows it to be unique.

    Coordinates out of order are not searched for duplicates: ``unique`` is then False, which promises nothing.

    Examples
    --------
    >>> segment_order(np.array([0, 2, 4]), np.array([1, 2, 0, 0]))
    (True, False)
    """
    if len(crd) < 2:
        return True, True
    strict = crd[1:] > crd[:-1]
    if strict.all():
        return True, True
    starts = pos[1:-1]
    starts = starts[(starts > 0) & (starts < len(crd))] - 1
    strict[starts] = True
    if strict.all():
        return True, True
    weak = crd[1:] >= crd[:-1]
    weak[starts] = True
    return bool(weak.all()), False


def chain_order(crds: Sequence[Array], segments: Array | None = None) -> tuple[tuple[bool, bool], ...]:
    """For each prefix of a list of coordinate tuples: is it in lexicographic order, and then without duplicates?

    Parameters
    ----------
    crds : sequence of ndarray
        One array of coordinates for each axis.
    segments : ndarray, optional
        Positions where a new segment begins; tuples are not compared across its bounds.

    Examples
    --------
    >>> chain_order((np.array([0, 0, 1]), np.array([2, 1, 0])))
    ((True, False), (False, False))
    """
    n = len(crds[0])
    if n < 2:
        return ((True, True),) * len(crds)
    equal: Array = np.ones(n - 1, dtype=bool)  # the tuples so far are equal to their predecessors
    if segments is not None:
        equal[segments[(segments > 0) & (segments < n)] - 1] = False
    found: list[tuple[bool, bool]] = []
    for crd in crds:
        if found and not found[-1][0]:
            found.append((False, False))
            continue
        ordered = not (equal & (crd[1:] < crd[:-1])).any()
        equal &= crd[1:] == crd[:-1]
        found.append((ordered, ordered and not equal.any()))
    return tuple(found)


@lru_cache(maxsize=256)
def coordinate_format(order: tuple[tuple[bool, bool], ...]) -> Format:
    """The coordinate format (compressed, then singletons) that promises what ``chain_order`` found."""
    levels: list[LevelFormat] = []
    for k, (ordered, unique) in enumerate(order):
        make = Singleton if k else Compressed
        levels.append(make(ordered=ordered, unique=unique and k + 1 == len(order)))
    return Format(Remapping.identity(len(order)), levels)


def coordinate_storage(shape: tuple[int, ...], crds: Sequence[Array], vals: Array, fill: Any = 0) -> Storage:
    """Coordinates and values as storage, without a copy.

    Parameters
    ----------
    shape : tuple of int
        Sizes of the axes.
    crds : sequence of ndarray
        One array of coordinates for each axis, contiguous, int32 or int64, in range.
    vals : ndarray
        As many values, contiguous.
    fill : object, optional
        The value of absent entries.

    Raises
    ------
    ShapeError
        When an axis is too long for 64-bit integers.
    """
    crds, shape = tuple(crds), checked_shape(shape)
    format = coordinate_format(chain_order(crds) if crds else ())
    if not crds:  # one element: the sum of what is given of it
        if len(vals) != 1:
            vals = np.add.reduce(vals, dtype=vals.dtype, keepdims=True) if len(vals) else np.full(1, fill, vals.dtype)
        return Storage(shape, tensor_type(name_of(vals.dtype), format, (), fill_of(vals.dtype, fill)), (), vals)
    bounds = np.array([0, len(vals)], crds[0].dtype if len(vals) <= np.iinfo(np.int32).max else np.int64)
    arrays = (bounds, *crds)
    names = tuple(name_of(array.dtype) for array in arrays)
    return Storage(shape, tensor_type(name_of(vals.dtype), format, names, fill_of(vals.dtype, fill)), arrays, vals)
