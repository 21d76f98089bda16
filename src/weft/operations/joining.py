"""Concatenation of tensors along an axis.

If the axis is the root of the operands' hierarchies, level arrays are concatenated. For an axis below the root, each
tensor is moved along the axis, and a kernel adds the tensors. If coordinates of the axis are computed, the entries of
all tensors become one coordinate list, which is sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from .. import execution
from ..dtypes import index_dtype, name_of, shifted
from ..errors import ShapeError
from ..execution.plan_cache import kept
from ..formats import Format, TensorType
from ..formats.capabilities import ArrayEditing
from ..index_notation.nodes import Access, Apply, Assignment
from ..runtime import memory
from ..storage import Storage, checked_shape, coordinate_storage, tensor_type
from .elementwise import plan_operation
from .fill_change import change_fill, relabel_fill, same_fill
from .indexing import coordinates, format_for_axes


def joined(storages: Sequence[Storage], axis: int) -> Storage:
    """Return tensors concatenated along one of their axes.

    The result has the format and the fill value of the first tensor that is not dense.
    """
    # Errors have NumPy's words.
    first = storages[0]
    for k, other in enumerate(storages[1:], 1):
        if len(other.shape) != len(first.shape):
            raise ShapeError(
                "all the input array dimensions except for the concatenation axis must match exactly, but along "
                f"dimension {axis} the array at index 0 has {len(first.shape)} axes and the array at index {k} has "
                f"{len(other.shape)}, in shapes {first.shape} and {other.shape}"
            )
        for a, (mine, its) in enumerate(zip(first.shape, other.shape, strict=True)):
            if a != axis and mine != its:
                raise ShapeError(
                    "all the input array dimensions except for the concatenation axis must match exactly, but along "
                    f"dimension {a}, the array at index 0 has size {mine} and the array at index {k} has size {its}"
                )
    # Operands of one type need no conversion of dtypes or fill values.
    alike = all(s.type is first.type for s in storages)
    dtype = first.dtype if alike else np.result_type(*(s.dtype for s in storages))
    sparse = [s for s in storages if not s.format.is_dense]
    # Memory and shape are checked before anything is copied.
    memory.require(sum([s.nbytes for s in storages]), f"joining {len(storages)} tensors along axis {axis}")
    size = sum(s.shape[axis] for s in storages)
    shape = checked_shape(
        (*first.shape[:axis], size, *first.shape[axis + 1 :]), f"the tensors joined along axis {axis}"
    )
    if not sparse:
        dense_array = np.concatenate(
            [
                execution.convert(s, Format.dense(len(shape))).to_dense_array().astype(dtype, copy=False)
                for s in storages
            ],
            axis,
        )
        return Storage.dense(dense_array)
    model = sparse[0]
    parts = storages
    if not alike:
        # All tensors get the result's dtype and fill value.
        fill = model.dtype.type(model.type.fill).astype(dtype)
        typed = [s if s.dtype == dtype else execution.in_dtype(s, dtype) for s in storages]
        parts = [s if same_fill(dtype.type(s.type.fill), fill) else change_fill(s, fill.item()) for s in typed]
    goal = format_for_axes(model.format, len(shape))
    result = None
    if not goal.is_curved:  # each piece follows the curve, but the pieces together do not
        result = _rooted(parts, goal, shape, axis) or _moved(parts, goal, shape, axis)
    return result or _as_coordinates(parts, goal, shape, axis)


def _rooted(parts: Sequence[Storage], goal: Format, shape: tuple[int, ...], axis: int) -> Storage | None:
    """Return the tensors with concatenated level arrays; None if the axis is not the root of the goal's hierarchy.

    The result is None, too, if the arrays of a level cannot be concatenated.
    """
    if goal.is_structured or goal.mode_order[0] != axis:
        return None
    goal = goal.canonical()
    same = [part if part.format == goal else execution.convert(part, goal) for part in parts]
    offsets = list(accumulate([s.shape[axis] for s in same[:-1]], initial=0))
    arrays: list[np.ndarray[Any, Any]] = []
    parents = [1] * len(same)
    for k, level in enumerate(goal.levels):
        level_arrays = [s.level_arrays(k) for s in same]
        # Only coordinates of the root change, by the sizes of the tensors before.
        edited = level.capability(ArrayEditing)
        edit = None if edited is None else edited.joined(level_arrays, parents, offsets if k == 0 else None)
        if edit is None:
            return None
        arrays += [edit[role] for role in level.roles]
        parents = [s.level_sizes[k] for s in same]
    vals = np.concatenate([s.vals[:n] for s, n in zip(same, parents, strict=True)])
    names = tuple([name_of(a.dtype) for a in arrays])
    type = tensor_type(name_of(vals.dtype), goal, names, same[0].type.fill)
    return Storage(shape, type, tuple(arrays), vals)


def _moved(parts: Sequence[Storage], goal: Format, shape: tuple[int, ...], axis: int) -> Storage | None:
    """Return the sum of the tensors, each moved to its place along the axis; None if coordinates are computed.

    No two tensors have entries at the same coordinates.
    """
    if goal.is_structured:
        return None
    goal = goal.canonical()
    k = goal.mode_order.index(axis)
    dtype, fill = parts[0].type.dtype, parts[0].type.fill
    wide = index_dtype(max(*shape, sum(len(s.vals) for s in parts)))
    moved: list[Storage] = []
    offset = 0
    for part in parts:
        converted = part if part.format == goal else execution.convert(part, goal)
        # Only the level of the axis changes: its coordinates grow by the offset.
        edited = goal.levels[k].capability(ArrayEditing)
        edit = None if edited is None else edited.moved(converted.level_arrays(k), offset, wide)
        if edit is None:
            return None
        arrays = [
            edit[role] if level == k else array
            for (level, role), array in zip(goal.roles, converted.arrays, strict=True)
        ]
        names = tuple([name_of(a.dtype) for a in arrays])
        # With fill value 0 each stored entry is added to nothing, and stays as it is.
        moved.append(Storage(shape, tensor_type(dtype, goal, names, 0), tuple(arrays), converted.vals))
        offset += part.shape[axis]
    # Sums in pairs: each entry takes part in a logarithmic number of sums.
    while len(moved) > 1:
        pairs = zip(moved[::2], moved[1::2], strict=False)
        moved = [_sum(a.type, b.type).run((a, b)) for a, b in pairs] + moved[len(moved) // 2 * 2 :]
    return relabel_fill(moved[0], fill)


@kept
def _sum(left: TensorType, right: TensorType) -> execution.Plan:
    indices = tuple(f"i{axis}" for axis in range(left.format.order))
    value = Apply("add", (Access("A", indices), Access("B", indices)))
    return plan_operation(Assignment(Access("C", indices), value), (left, right), left.format)


def _as_coordinates(parts: Sequence[Storage], goal: Format, shape: tuple[int, ...], axis: int) -> Storage:
    """Return the tensors as one coordinate list, converted to the goal's format."""
    same = [execution.convert(part, coordinates(len(shape))) for part in parts]
    offsets = list(accumulate([s.shape[axis] for s in same[:-1]], initial=0))
    rows: list[np.ndarray[Any, Any]] = []
    for a, size in enumerate(shape):
        columns = [s.arrays[1 + a] for s in same]
        if a == axis:
            # Coordinates of the axis grow by the sizes of the tensors before.
            columns = [shifted(column, by, size) for column, by in zip(columns, offsets, strict=True)]
        rows.append(np.concatenate(columns))
    vals = np.concatenate([s.vals for s in same])
    return execution.convert(coordinate_storage(shape, rows, vals, same[0].type.fill), goal)
