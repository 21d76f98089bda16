"""Operators on two tensors of one structured format, over the coordinates of levels instead of axes.

Diagonals are stored as rows of an array, by offset and column. An elementwise operator on such tensors is an
elementwise operator on these rows. The kernel is therefore that of two tensors with one axis for each level, which have
the same arrays.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .. import execution
from ..dtypes import name_of
from ..execution.plan_cache import kept
from ..formats import Format, TensorType
from ..formats.capabilities import OwnAxis
from ..index_notation.nodes import Access, Apply, Assignment
from ..remapping import Remapping
from ..storage import Storage, tensor_type

__all__ = ["apply", "is_apt"]


def is_apt(left: Storage, right: Storage) -> bool:
    """Return whether two tensors have one shape and one structured format, whose levels can be axes.

    Parameters
    ----------
    left, right : Storage
        The tensors.
    """
    if not left.format.is_structured or left.shape != right.shape:
        return False
    format = left.format.canonical()
    return format == right.format.canonical() and _over_levels(format) is not None


def apply(op: str, left: Storage, right: Storage) -> Storage | None:
    """Return ``left op right`` computed over levels, or None.

    The result is None if the tensors are not apt, if their levels have different sizes, or if implicit entries would
    have to be computed.

    Parameters
    ----------
    op : str
        The name of an operator.
    left, right : Storage
        The operands.
    """
    if not is_apt(left, right):
        return None
    format = left.format.canonical()
    left, right = (execution.convert(storage, format) for storage in (left, right))
    a, b = _with_axes(left), _with_axes(right)
    if a is None or b is None or a.shape != b.shape:
        return None
    plan = _plan(op, a.type, b.type)
    return None if plan is None else _with_levels(plan.run((a, b)), left)


@lru_cache(maxsize=1024)
def _over_levels(format: Format) -> Format | None:
    """Return the format whose axes are the levels with arrays, or None if there is no such format.

    Coordinates of the other levels must follow from those of the levels with arrays.
    """
    if not format.is_structured:
        return None
    own = [(k, level.capability(OwnAxis)) for k, level in enumerate(format.levels) if level.roles]
    found = [None if level is None else level.over_own_axis(k) for k, level in own]
    rest = [level for level in format.levels if not level.roles]
    if not found or not all(level.branchless for level in rest):
        return None
    levels = [level for level in found if level is not None]
    return Format(Remapping.identity(len(levels)), levels) if len(levels) == len(found) else None


@kept
def _plan(op: str, left: TensorType, right: TensorType) -> execution.Plan | None:
    """Return the plan over levels; None if its result has another format than the operands."""
    axes = tuple(f"i{k}" for k in range(left.format.order))
    assignment = Assignment(Access("C", axes), Apply(op, (Access("A", axes), Access("B", axes))))
    plan = execution.plan_for(assignment, (left, right))
    return plan if plan.target.format == left.format else None


def _with_axes(storage: Storage) -> Storage | None:
    format = storage.format
    wanted = _over_levels(format)
    assert wanted is not None
    shape: list[int] = []
    arrays: list[np.ndarray] = []
    # An axis counts from 0, but a level may count from a negative coordinate, such as the lowest diagonal's offset.
    extents = format.remapping.extents(storage.shape)
    sizes = format.level_shape(storage.shape)
    for k, level in enumerate(format.levels):
        if level.roles:
            lowest = (extents[k] or (0, 0))[0]
            found = level.require(OwnAxis).to_own_axis(storage.level_arrays(k), sizes[k], lowest)
            if found is None:
                return None
            shape.append(found[0])
            arrays += found[1].values()
    type = storage.type
    index = tuple(name_of(a.dtype) for a in arrays)
    return Storage(tuple(shape), tensor_type(type.dtype, wanted, index, type.fill), tuple(arrays), storage.vals)


def _with_levels(found: Storage, like: Storage) -> Storage:
    format, type, own = like.format, found.type, 0
    arrays: list[np.ndarray] = []
    extents = format.remapping.extents(like.shape)
    for k, level in enumerate(format.levels):
        if level.roles:
            lowest = (extents[k] or (0, 0))[0]
            given = level.require(OwnAxis).from_own_axis(found.level_arrays(own), found.shape[own], lowest)
            index = [dtype for (j, _), dtype in zip(format.roles, like.type.index_dtypes, strict=True) if j == k]
            # The inverse of _with_axes, with the dtypes that the index arrays of the operands have.
            arrays += [np.asarray(a, dtype) for a, dtype in zip(given.values(), index, strict=True)]
            own += 1
    wanted = tensor_type(type.dtype, format, like.type.index_dtypes, type.fill)
    return Storage(like.shape, wanted, tuple(arrays), found.vals)
