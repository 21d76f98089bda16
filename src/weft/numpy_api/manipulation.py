"""Functions that give elements other places, as NumPy and the array API standard name them.

Examples
--------
>>> import weft
>>> A = weft.from_coords([[0, 1], [2, 0]], [1.5, 2.0], shape=(2, 3), format="csr")
>>> print(weft.reshape(A, (3, 2)).format, weft.roll(A, 1).todense().tolist())
csr [[0.0, 0.0, 0.0], [1.5, 2.0, 0.0]]
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from .. import execution
from ..dtypes import index_dtype, shifted
from ..operations.broadcasting import broadcast
from ..operations.elementwise import with_axes, without_axes
from ..operations.fill_change import change_fill
from ..operations.indexing import coordinates, format_for_axes, getitem, take_along, without_long_arrays
from ..operations.operands import storage_of
from ..operations.reshaping import reshaped
from ..operations.shapes import broadcast_shapes
from ..storage import Storage, checked_shape, coordinate_storage, is_far_longer
from ..tensor.sparse_tensor import SparseTensor

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "expand_dims",
    "flip", "fliplr", "flipud", "matrix_transpose", "moveaxis", "pad", "permute_dims", "ravel", "repeat", "reshape",
    "roll", "rollaxis", "rot90", "squeeze", "swapaxes", "take", "take_along_axis", "tile", "transpose",
]  # fmt: skip


# -- axes -------------------------------------------------------------------------------------------------------------
def permute_dims(x: Any, /, axes: Sequence[int] | None = None, copy: bool = False) -> SparseTensor:
    """The axes in another order, by default reversed, sharing all arrays where it is no copy."""
    storage = storage_of(x)
    n = len(storage.shape)
    order = tuple(reversed(range(n))) if axes is None else normalize_axis_tuple(axes, n)
    if len(order) != n:
        raise ValueError("axes don't match array")
    found = SparseTensor(storage.permuted(order))
    return found.copy() if copy else found


def transpose(x: Any, /, axes: Sequence[int] | None = None) -> SparseTensor:
    """The axes in another order, by default reversed, sharing all arrays."""
    return permute_dims(x, axes)


def matrix_transpose(x: Any, /) -> SparseTensor:
    """The last two axes exchanged."""
    return SparseTensor(storage_of(x)).mT


def swapaxes(x: Any, axis1: int, axis2: int) -> SparseTensor:
    """Two axes exchanged."""
    n = len(storage_of(x).shape)
    order = list(range(n))
    a, b = normalize_axis_index(axis1, n), normalize_axis_index(axis2, n)
    order[a], order[b] = b, a
    return permute_dims(x, order)


def moveaxis(x: Any, source: int | Sequence[int], destination: int | Sequence[int], /) -> SparseTensor:
    """Some axes moved to other places, the others in their order."""
    n = len(storage_of(x).shape)
    sources, goals = normalize_axis_tuple(source, n, "source"), normalize_axis_tuple(destination, n, "destination")
    if len(sources) != len(goals):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [axis for axis in range(n) if axis not in sources]
    for goal, axis in sorted(zip(goals, sources, strict=True)):
        order.insert(goal, axis)
    return permute_dims(x, order)


def rollaxis(x: Any, axis: int, start: int = 0) -> SparseTensor:
    """One axis moved before another."""
    n = len(storage_of(x).shape)
    axis = normalize_axis_index(axis, n)
    start = start + n if start < 0 else start
    return moveaxis(x, axis, start - (axis < start))


def expand_dims(x: Any, /, axis: int | Sequence[int] = 0) -> SparseTensor:
    """New axes of size 1 at the places ``axis`` of the result."""
    storage = storage_of(x)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    order = len(storage.shape) + len(axes)
    places = tuple(sorted(normalize_axis_tuple(axes, order)))
    return SparseTensor(execution.convert(with_axes(storage, places), format_for_axes(storage.format, order)))


def squeeze(x: Any, /, axis: int | Sequence[int] | None = None) -> SparseTensor:
    """Without axes of size 1."""
    storage = storage_of(x)
    n = len(storage.shape)
    if axis is None:
        axes = tuple(a for a, size in enumerate(storage.shape) if size == 1)
    else:
        axes = normalize_axis_tuple(axis, n)
    if any(storage.shape[a] != 1 for a in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    if not axes:
        return SparseTensor(storage)
    if len(axes) == n:
        return reshape(x, ())
    found = without_axes(storage, list(axes))
    return SparseTensor(execution.convert(found, format_for_axes(storage.format, n - len(axes))))


# -- shapes -----------------------------------------------------------------------------------------------------------
def reshape(
    x: Any, /, shape: int | Sequence[int], *, order: str | None = "C", copy: bool | None = None
) -> SparseTensor:
    """The same elements in their order, in another shape.

    Parameters
    ----------
    x : array_like
        Any tensor.
    shape : int or sequence of int
        One of them may be -1: what is left.
    order : {'C', 'F'}
        Whether the last axis or the first is the fastest.
    copy : bool, optional
        False is refused, except where nothing is to be done; True shares no memory, as the result may otherwise.

    Raises
    ------
    ValueError
        When there are not as many elements.
    """
    storage = storage_of(x)
    wanted = _new_shape(storage.shape, shape)
    if wanted == storage.shape and copy is not True:
        return x if isinstance(x, SparseTensor) else SparseTensor(storage)
    if copy is False and not storage.format.is_dense:
        raise ValueError(f"a tensor of format {storage.format} cannot be reshaped without a copy")
    if order not in ("C", "F", "A", None):
        raise ValueError(f"order must be one of 'C', 'F' and 'A' (got {order!r})")
    goal, entries = format_for_axes(storage.format, len(wanted)), max((*storage.level_sizes, storage.nnz))
    if order == "F":
        turned = storage.permuted(tuple(reversed(range(len(storage.shape)))))
        found = reshaped(turned, wanted[::-1], without_long_arrays(goal, wanted[::-1], entries))
        back = found.permuted(tuple(reversed(range(len(wanted)))))
        found = execution.convert(back, without_long_arrays(goal, wanted, entries))
    else:
        found = reshaped(storage, wanted, without_long_arrays(goal, wanted, entries))
    return SparseTensor(found.apart_from(storage) if copy else found)


def _new_shape(old: tuple[int, ...], shape: Any) -> tuple[int, ...]:
    wanted = [operator.index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))]
    size = math.prod(old)
    if wanted.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    if -1 in wanted:
        rest = math.prod(n for n in wanted if n != -1)
        if rest and size % rest == 0:
            wanted[wanted.index(-1)] = size // rest
    if math.prod(wanted) != size or any(n < 0 for n in wanted):
        raise ValueError(f"cannot reshape array of size {size} into shape {tuple(wanted)}".replace(", ", ","))
    return checked_shape(tuple(wanted))


def ravel(x: Any, order: str | None = "C") -> SparseTensor:
    """All elements along one axis."""
    return reshape(x, (-1,) if math.prod(storage_of(x).shape) else (0,), order=order)


def atleast_1d(x: Any) -> SparseTensor:
    """The tensor with at least one axis."""
    return SparseTensor(storage_of(x)) if storage_of(x).shape else reshape(x, (1,))


def atleast_2d(x: Any) -> SparseTensor:
    """The tensor with at least two axes, new ones first."""
    n = len(storage_of(x).shape)
    return SparseTensor(storage_of(x)) if n > 1 else expand_dims(atleast_1d(x), 0)


def atleast_3d(x: Any) -> SparseTensor:
    """The tensor with at least three axes: those of a matrix come first, that of a vector second."""
    n = len(storage_of(x).shape)
    return SparseTensor(storage_of(x)) if n > 2 else expand_dims(atleast_2d(x), 2)


def broadcast_to(x: Any, /, shape: int | Sequence[int]) -> SparseTensor:
    """The tensor repeated along new axes and those of size 1; what is stored is stored as often.

    Raises
    ------
    ResultTooLargeError
        Where that does not fit in memory.
    ShapeError
        When an axis is too long for 64-bit integers.
    """
    wanted = tuple(shape) if isinstance(shape, (tuple, list)) else (operator.index(shape),)  # type: ignore[arg-type]
    return SparseTensor(broadcast(storage_of(x), wanted))


def broadcast_arrays(*arrays: Any) -> tuple[SparseTensor, ...]:
    """All of them in the shape that they broadcast to."""
    shape = broadcast_shapes(*(storage_of(x).shape for x in arrays))
    return tuple(broadcast_to(x, shape) for x in arrays)


# -- elements in other places -----------------------------------------------------------------------------------------
def flip(x: Any, /, axis: int | Sequence[int] | None = None) -> SparseTensor:
    """The elements along some axes in reverse order."""
    tensor = SparseTensor(storage_of(x))
    axes = range(tensor.ndim) if axis is None else normalize_axis_tuple(axis, tensor.ndim)
    key = tuple(slice(None, None, -1 if a in axes else 1) for a in range(tensor.ndim))
    return SparseTensor(getitem(tensor._storage, key)) if key else tensor


def fliplr(x: Any) -> SparseTensor:
    """Columns in reverse order."""
    return flip(x, axis=1)


def flipud(x: Any) -> SparseTensor:
    """Rows in reverse order."""
    return flip(x, axis=0)


def rot90(x: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> SparseTensor:
    """The plane of two axes turned by right angles, from the first axis towards the second."""
    first, second = normalize_axis_tuple(axes, len(storage_of(x).shape))
    match k % 4:
        case 0:
            return SparseTensor(storage_of(x))
        case 1:
            return swapaxes(flip(x, axis=second), first, second)
        case 2:
            return flip(x, axis=(first, second))
    return flip(swapaxes(x, first, second), axis=second)


def roll(x: Any, /, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> SparseTensor:
    """The elements moved along some axes, those that leave at one end coming in at the other."""
    storage = storage_of(x)
    if axis is None:
        return reshape(roll(ravel(x), shift, axis=0), storage.shape)
    pairs = np.broadcast(shift, axis)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    by = [0] * len(storage.shape)
    for s, a in pairs:
        by[normalize_axis_index(a, len(by))] += operator.index(s)
    moved = [(a, s % n) for a, (s, n) in enumerate(zip(by, storage.shape, strict=True)) if n and s % n]

    def turn(rows: list[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        for a, s in moved:
            n = storage.shape[a]
            rows[a] = np.where(rows[a] >= n - s, shifted(rows[a], s - n, n), shifted(rows[a], s, n))
        return rows

    return _moved(storage, turn, storage.shape) if moved else SparseTensor(storage)


def _moved(storage: Storage, move: Any, shape: tuple[int, ...]) -> SparseTensor:
    """Every entry at other coordinates: a function of the rows of coordinates, one for each axis."""
    coo = execution.convert(storage, coordinates(len(storage.shape)))
    return placed(storage, shape, move(list(coo.arrays[1:])), coo.vals)


def placed(
    storage: Storage, shape: tuple[int, ...], rows: Sequence[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any]
) -> SparseTensor:
    """Entries at some coordinates, stored beside a tensor as that is, with its fill value."""
    narrow = [np.ascontiguousarray(row, index_dtype(size)) for row, size in zip(rows, shape, strict=True)]
    found = coordinate_storage(shape, narrow, vals, storage.type.fill)
    entries = max((*storage.level_sizes, found.nnz))
    return SparseTensor(
        execution.convert(found, without_long_arrays(format_for_axes(storage.format, len(shape)), shape, entries))
    )


def pad(x: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = None) -> SparseTensor:
    """Elements put around the tensor: its fill value, which is what ``constant_values`` must be.

    Parameters
    ----------
    x : array_like
        Any tensor.
    pad_width : int or sequence
        How many before and after: one number, a pair, or a pair for each axis.
    mode : {'constant'}
        Others are not sparse.
    constant_values : scalar, optional
        By default the fill value; where it is another, the tensor is stored anew with that as its fill value.
    """
    if mode != "constant":
        raise NotImplementedError(f"pad of mode {mode!r} does not give sparse tensors; use np.pad(A.todense(), ...)")
    storage = storage_of(x)
    if constant_values is not None:
        storage = change_fill(storage, constant_values)
    widths = np.broadcast_to(np.asarray(pad_width), (len(storage.shape), 2)).tolist()
    if any(w < 0 for pair in widths for w in pair):
        raise ValueError("index can't contain negative values")
    shape = tuple(a + n + b for (a, b), n in zip(widths, storage.shape, strict=True))
    checked_shape(tuple(shape), f"a tensor of shape {storage.shape} padded by {widths}")

    def shift(rows: list[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        return [shifted(row, before, n) for row, (before, _), n in zip(rows, widths, shape, strict=True)]

    return _moved(storage, shift, shape)


def repeat(x: Any, /, repeats: Any, axis: int | None = None) -> SparseTensor:
    """Each element several times in a row along an axis; None means of all elements as a vector."""
    storage = storage_of(ravel(x) if axis is None else x)
    axis = 0 if axis is None else normalize_axis_index(axis, len(storage.shape))
    counts = np.asarray(repeats.todense() if isinstance(repeats, SparseTensor) else repeats)
    if counts.dtype.kind not in "iu":
        raise TypeError(f"Cannot cast array data from {counts.dtype!r} to dtype('int64') according to the rule 'safe'")
    n = storage.shape[axis]
    if counts.size == 1 and is_far_longer(n * max(counts.item(), 1), storage.nnz):
        return _stretched(storage, axis, axis + 1, counts.item())
    return _taken(storage, np.repeat(np.arange(n), counts), axis)


def _stretched(storage: Storage, axis: int, place: int, count: int) -> SparseTensor:
    """The tensor several times along a new axis at ``place``, which is one with ``axis`` then."""
    shape = list(storage.shape)
    checked_shape((shape[axis] * count,), f"a tensor of shape {storage.shape} {count} times along axis {axis}")
    whole = broadcast_to(expand_dims(SparseTensor(storage), place), (*shape[:place], count, *shape[place:]))
    shape[axis] *= count
    found: SparseTensor = reshape(whole, shape)
    return found.asformat(without_long_arrays(storage.format, tuple(shape), storage.nnz))


def _taken(storage: Storage, index: np.ndarray[Any, Any], axis: int) -> SparseTensor:
    return SparseTensor(execution.convert(take_along(storage, axis, index), storage.format))


def tile(x: Any, repetitions: int | Sequence[int], /) -> SparseTensor:
    """The tensor several times along each axis."""
    times = (repetitions,) if isinstance(repetitions, int) else tuple(repetitions)
    storage = storage_of(x)
    more = len(times) - len(storage.shape)
    if more > 0:
        storage = expand_dims(x, tuple(range(more)))._storage
    times = (1,) * -more + times if more < 0 else times
    for axis, count in enumerate(times):
        if count != 1:
            n = storage.shape[axis]
            if is_far_longer(n * max(count, 1), storage.nnz):
                storage = _stretched(storage, axis, axis, count)._storage
            else:
                storage = _taken(storage, np.tile(np.arange(n), count), axis)._storage
    return SparseTensor(storage)


def take(x: Any, indices: Any, /, axis: int | None = None) -> SparseTensor:
    """The elements at some coordinates of an axis; None means of all elements as a vector."""
    tensor = ravel(x) if axis is None else SparseTensor(storage_of(x))
    axis = 0 if axis is None else normalize_axis_index(axis, tensor.ndim)
    given = indices.todense() if isinstance(indices, SparseTensor) else np.asarray(indices)
    found: SparseTensor = tensor[(*(slice(None),) * axis, given.astype(np.intp) if not given.size else given, ...)]
    return found


def take_along_axis(x: Any, indices: Any, /, axis: int | None = -1) -> SparseTensor:
    """One element for each of ``indices``, which says where along the axis."""
    tensor = ravel(x) if axis is None else SparseTensor(storage_of(x))
    axis = 0 if axis is None else normalize_axis_index(axis, tensor.ndim)
    given = indices.todense() if isinstance(indices, SparseTensor) else np.asarray(indices)
    if given.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if given.ndim != tensor.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    key: list[Any] = []
    for a, n in enumerate(tensor.shape):
        key.append(given if a == axis else np.arange(n).reshape([n if b == a else 1 for b in range(tensor.ndim)]))
    return tensor[tuple(key)]
