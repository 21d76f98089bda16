"""Other shapes for the same elements: axes stored as one axis, which is then read as other axes.

A format may store a linear combination of axes, as ``gcxs`` does: ``(i,j) -> (i*size(j)+j)``. Arrays that hold such a
coordinate for one shape hold it for any other shape with as many elements. Reshaping therefore consists of two
conversions of formats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from .. import execution
from ..dtypes import INT64_MAX, name_of
from ..errors import IndexOverflowError
from ..formats import Compressed, Format, LevelFormat, TensorType
from ..records import record
from ..remapping import Remapping
from ..storage import Storage, tensor_type

Groups = tuple[tuple[int, ...], ...]
"""Groups of axes; the axes of a group are numbered as one axis."""


@lru_cache(maxsize=256)
def linear(groups: Groups) -> Format:
    """Return the format that stores groups of axes, each as one axis in a compressed level."""
    order = sum(map(len, groups))
    stored = []
    for first, *others in groups:
        text = f"i{first}"
        for axis in others:
            # Row-major numbering of the axes in a group.
            text = f"({text})*size(i{axis})+i{axis}"
        stored.append(text)
    axes = ",".join(f"i{axis}" for axis in range(order))
    return Format(Remapping.parse(f"({axes}) -> ({','.join(stored)})"), [Compressed()] * len(groups))


def merged_axes(storage: Storage, axes: Sequence[int]) -> Storage:
    """Return the tensor with some axes as one, which comes first, in compressed levels."""
    size = math.prod(storage.shape[axis] for axis in axes)
    _require(size, storage.shape)
    rest = [axis for axis in range(len(storage.shape)) if axis not in axes]
    linear_storage = execution.convert(storage, linear((tuple(axes), *((axis,) for axis in rest))))
    shape = (size, *(storage.shape[axis] for axis in rest))
    old = linear_storage.type
    format = Format(Remapping.identity(len(shape)), linear_storage.format.levels)
    return Storage(
        shape, tensor_type(old.dtype, format, old.index_dtypes, old.fill), linear_storage.arrays, linear_storage.vals
    )


def reshaped(storage: Storage, shape: tuple[int, ...], format: Format) -> Storage:
    """Return the elements in their order, last axis fastest, as a tensor of another shape."""
    if storage.shape == shape:
        return execution.convert(storage, format)
    old = storage.type
    if storage.format.is_dense:
        whole = execution.convert(storage, Format.dense(len(storage.shape)))
        seen = tensor_type(old.dtype, Format.dense(len(shape)), (), old.fill)
        return execution.convert(Storage(shape, seen, (), whole.vals), format)
    if 0 in storage.shape:
        return execution.convert(nothing(shape, old), format)
    if not storage.shape or not shape:  # one element
        return _of_one(storage, shape, format)
    # If last axes stay the same, only the levels above them are reshaped.
    if (found := _above(storage, shape, format)) is not None:
        return found
    mine, its = _groups(storage.shape, shape)
    flat = execution.convert(storage, linear(mine))
    seen = tensor_type(old.dtype, linear(its), flat.type.index_dtypes, old.fill)
    return execution.convert(Storage(shape, seen, flat.arrays, flat.vals), format)


def _groups(old: tuple[int, ...], new: tuple[int, ...]) -> tuple[Groups, Groups]:
    """Return the axes of two shapes that are numbered together.

    All axes form one group if 64-bit integers can number the elements. Else each group is as small as possible.
    """
    if math.prod(old) <= INT64_MAX:
        return (tuple(range(len(old))),), (tuple(range(len(new))),)
    ends, i, j = [(0, 0)], 0, 0
    while i < len(old) and j < len(new):
        p, q = old[i], new[j]
        i, j = i + 1, j + 1
        # A group ends at the first place where both shapes have the same number of elements.
        while p != q:
            if p < q:
                p, i = p * old[i], i + 1
            else:
                q, j = q * new[j], j + 1
        _require(p, old)
        ends.append((i, j))
    ends[-1] = len(old), len(new)  # axes of size 1 at the end belong to the last
    mine, its = (tuple(tuple(range(*pair)) for pair in pairwise(side)) for side in zip(*ends, strict=True))
    return mine, its


def _above(storage: Storage, shape: tuple[int, ...], format: Format) -> Storage | None:
    """Return a reshaped tensor that shares the innermost levels, if these stay the same; else None.

    Only the levels above are reshaped, with positions as values.
    """
    n = 0
    for mine, its in zip(storage.shape[:0:-1], shape[:0:-1], strict=False):
        if mine != its:
            break
        n += 1
    cut = _cut(storage.format, format, n) if n else None
    if cut is None:
        return None
    storage = execution.convert(storage, cut.source)
    old, order = storage.type, len(cut.upper.levels)
    positions = np.arange(storage.level_sizes[order - 1])  # values that show where each position has moved
    type = tensor_type(name_of(positions.dtype), cut.upper, old.index_dtypes[: cut.split])
    upper = Storage(storage.shape[:order], type, storage.arrays[: cut.split], positions)
    reshaped_upper = reshaped(upper, shape[: len(cut.goal.levels)], cut.goal)
    # The inner levels can be shared only if their parents keep their order.
    if not np.array_equal(reshaped_upper.vals, positions):
        return None
    index_dtypes = (*reshaped_upper.type.index_dtypes, *old.index_dtypes[cut.split :])
    type = tensor_type(old.dtype, cut.target, index_dtypes, old.fill)
    whole = Storage(shape, type, (*reshaped_upper.arrays, *storage.arrays[cut.split :]), storage.vals)
    return execution.convert(whole, format)


@record
class _Cut:
    """Two formats, cut above their last levels, which are the same."""

    source: (
        Format  # upper levels that all have every coordinate are replaced by compressed ones, here and in the target
    )
    target: Format
    upper: Format  # the upper levels of the source
    goal: Format  # the upper levels of the target
    split: int  # the number of arrays of the source's upper levels


@lru_cache(maxsize=256)
def _cut(old: Format, new: Format, n: int) -> _Cut | None:
    """Return two formats cut above their common innermost levels, at most ``n``; None if there are none."""
    if old.is_dense or not (old.remapping.is_identity and new.remapping.is_identity and old.is_unique):
        return None
    k = 0
    while k < n and old.levels[-1 - k] == new.levels[-1 - k] and not old.levels[-1 - k].borrows:
        k += 1
    if not k:
        return None
    above, goal, below = _stored(old.levels[:-k]), _stored(new.levels[:-k]), old.levels[-k:]
    source, target = _plain((*above, *below)), _plain((*goal, *below))
    return _Cut(source, target, _plain(above), _plain(goal), sum(len(level.roles) for level in above))


def _plain(levels: Sequence[LevelFormat]) -> Format:
    return Format(Remapping.identity(len(levels)), levels)


def _stored(levels: Sequence[LevelFormat]) -> tuple[LevelFormat, ...]:
    """Return the levels, or compressed ones if all of them have every coordinate."""
    every = all(level.has_every for level in levels)
    return (Compressed(),) * len(levels) if every else tuple(levels)


def nothing(shape: tuple[int, ...], like: TensorType) -> Storage:
    """Return a tensor without entries."""
    n = len(shape)
    type = TensorType.of(like.dtype, Format(Remapping.identity(n), [Compressed()] * n), fill=like.fill)
    arrays = [np.zeros(length, np.int32) for k in range(n) for length in (2 if k == 0 else 1, 0)]
    return Storage(shape, type, tuple(arrays), np.empty(0, like.dtype))


def _of_one(storage: Storage, shape: tuple[int, ...], format: Format) -> Storage:
    value = execution.convert(storage, Format.dense(len(storage.shape))).vals
    dense = Storage(shape, tensor_type(storage.type.dtype, Format.dense(len(shape)), (), storage.type.fill), (), value)
    return execution.convert(dense, format)


def _require(size: int, shape: tuple[int, ...]) -> None:
    if size > INT64_MAX:
        raise IndexOverflowError(f"the {size} elements of shape {shape} cannot be numbered by 64-bit integers")
