"""Invariants that the arrays of a tensor must satisfy before kernels trust them.

Each level checks its own arrays (``LevelFormat.check``). This module checks the conditions that concern several levels:
lengths and dtypes, and the order of the coordinate tuples that a level and the singletons below it store together.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Protocol

import numpy as np

from ..dtypes import INDEX_DTYPES
from ..errors import StorageError
from ..formats import LevelFormat, TensorType
from ..formats.capabilities import ComputedCoordinates, CurveOrder
from ..remapping.nodes import Axis, evaluate
from .entry_order import chain_order
from .shapes import checked_shape


class TensorArrays(Protocol):
    """A tensor, as far as the checks read it."""

    shape: tuple[int, ...]
    type: TensorType
    arrays: tuple[np.ndarray[Any, Any], ...]
    vals: Any

    def level_arrays(self, level: int) -> dict[str, np.ndarray[Any, Any]]: ...


def check(tensor: TensorArrays) -> None:
    """Raise ``StorageError``, which names the level, unless the arrays satisfy every invariant of the format."""
    checked_shape(tensor.shape)
    reason = _reason(tensor)
    if reason is not None:
        raise StorageError(f"{reason}; the tensor has shape {tensor.shape} and format {tensor.type.format}")


def _reason(tensor: TensorArrays) -> str | None:
    format, shape = tensor.type.format, tensor.shape
    if len(shape) != format.order:
        return f"the shape has {len(shape)} axes, the format {format.order}"
    if any(size < 0 for size in shape):
        return "the shape has a negative size"
    reason = _array_reason(tensor)
    if reason is not None:
        return reason
    size, arrays = 1, [tensor.level_arrays(k) for k in range(len(format.levels))]
    level_shape = format.level_shape(shape)
    lowest = [e[0] if e else 0 for e in format.remapping.extents(shape)]
    for k, level in enumerate(format.levels):
        dimension = level_shape[k]
        # Signed coordinates, such as the offsets of diagonals, are checked as if they counted from 0.
        low = lowest[k] if level.signed else 0
        level_arrays = (
            {**arrays[k], "crd": arrays[k]["crd"].astype(np.int64) - low} if low and "crd" in level.roles else arrays[k]
        )
        try:
            reason = level.check(size, dimension, level_arrays)
        except (IndexError, ValueError) as error:  # an array that is too short to be read
            reason = str(error)
        if reason is not None:
            return f"level {k + 1} ({level}): {reason}"
        # The number of positions follows from the arrays of the level, and decides the lengths of all arrays.
        parents, size = size, level.size(size, dimension, arrays[k])
        for role, length in zip(level.roles, level.array_sizes(parents, size, dimension), strict=True):
            if len(arrays[k][role]) != length:
                return f"level {k + 1} ({level}): {role} has {len(arrays[k][role])} entries instead of {length}"
    if len(tensor.vals) != size:
        return f"there are {len(tensor.vals)} values for {size} positions"
    return _chains_reason(tensor, arrays) or _lookup_reason(tensor)


def _lookup_reason(tensor: TensorArrays) -> str | None:
    """Return what is wrong with the lookup of whole coordinates in the arrays; None if nothing, or without one."""
    lookup = tensor.type.format.looked_up
    if lookup is None:
        return None
    level = lookup.levels[-1]
    reason = level.check(1, tensor.shape[-1], dict(zip(level.roles, tensor.arrays, strict=True)))
    return None if reason is None else f"the table of whole coordinates: {reason}"


def _array_reason(tensor: TensorArrays) -> str | None:
    type, roles = tensor.type, tensor.type.format.roles
    if len(tensor.arrays) != len(roles):
        return f"there are {len(tensor.arrays)} index arrays instead of {len(roles)}"
    # Kernels read arrays through pointers, and need their dtypes and contiguous memory.
    for (k, role), array, dtype in zip(roles, tensor.arrays, type.index_dtypes, strict=True):
        if array.ndim != 1 or not array.flags.c_contiguous:
            return f"level {k + 1} ({tensor.type.format.levels[k]}): {role} is not 1-D and contiguous"
        # Equal dtypes are native, as that of the name is.
        if dtype not in INDEX_DTYPES or array.dtype != dtype:
            where = f"level {k + 1} ({tensor.type.format.levels[k]}): {role}"
            return f"{where} has dtype {array.dtype.name} instead of {dtype}; index dtypes are int32 and int64"
    vals = tensor.vals
    if vals.ndim != 1 or not vals.flags.c_contiguous:
        return "the values are not 1-D and contiguous"
    if vals.dtype != type.dtype:
        return f"the values have dtype {vals.dtype} instead of {type.dtype}"
    return None


def _chains_reason(tensor: TensorArrays, arrays: list[dict[str, np.ndarray[Any, Any]]]) -> str | None:
    """Return why a level and the branchless levels below it do not hold tuples in their promised order, or None."""
    levels = tensor.type.format.levels
    for chain in tensor.type.format.level_groups:
        begin = chain.start
        if "pos" not in arrays[begin] or not levels[begin].compact:
            continue  # other levels check their own coordinates
        coordinates = [_coordinates(levels[k], arrays[k]) for k in chain]
        crds = tuple(crd for crd in takewhile(lambda crd: crd is not None, coordinates) if crd is not None)
        # Tuples are compared within a segment only, since each segment has its own parent.
        segments, end = arrays[begin]["pos"], begin + len(crds)
        where = f"levels {begin + 1} to {end}" if end > begin + 1 else f"level {end} ({levels[begin]})"
        for k, (ordered, unique) in zip(chain, chain_order(crds, segments), strict=False):
            if levels[k].ordered and not ordered:
                unsorted = "the coordinates are not in lexicographic order"
                return f"{where}: {unsorted if end > begin + 1 else 'crd is not sorted within its segments'}"
            if levels[k].unique and not unique and _repeats(crds[: k - begin + 1], segments):
                twice = "a coordinate is stored twice"
                if end == begin + 1 and levels[k].ordered:
                    twice = "crd holds duplicates within a segment"
                return f"{where}: {twice}"
        # Along a space-filling curve, such as Morton order, the codes of the tuples are ordered and not the tuples.
        curve = levels[begin].capability(CurveOrder)
        if curve is not None and len(crds) == len(coordinates):
            extents = tensor.type.format.remapping.extents(tensor.shape)
            codes = curve.codes([Axis(k) for k in range(len(crds))], [extents[k] or (0, 1) for k in chain])
            wide = [crd.astype(np.int64) for crd in crds]
            if not chain_order([evaluate(code, wide) for code in codes], segments)[-1][0]:
                return f"{where}: the coordinates do not follow the curve of {curve}"
    return None


def _coordinates(level: LevelFormat, arrays: dict[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any] | None:
    """Return the coordinates of a level by position, or None if it does not store one for each position."""
    computed = level.capability(ComputedCoordinates)
    return arrays.get("crd") if computed is None else computed.stored(arrays)


def _repeats(crds: tuple[np.ndarray[Any, Any], ...], segments: np.ndarray[Any, Any] | None) -> bool:
    n = len(crds[0])
    keys = list(crds)
    if segments is not None:
        keys.insert(0, np.repeat(np.arange(len(segments) - 1), np.diff(segments)))
    # Sorted by segment, then by coordinates: duplicates are neighbors, even if the chain is unordered.
    order = np.lexsort(keys[::-1])
    same = np.ones(max(n - 1, 0), dtype=bool)
    for key in keys:
        turned = key[order]
        same &= turned[1:] == turned[:-1]
    return bool(same.any())
