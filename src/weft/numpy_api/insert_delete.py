"""Functions that insert, delete, append or select slices of a tensor along an axis, under NumPy's names.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 3.0, 1.0]], format="csr")
>>> weft.delete(A, 1, axis=1).todense(), weft.insert(A, 1, 7.0, axis=1).todense()
(array([[0., 1.]]), array([[0., 7., 3., 1.]]))
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import execution
from ..dtypes import as_values
from ..operations.axes import normalize_axis_index, normalize_axis_tuple
from ..operations.fill_change import change_fill
from ..operations.indexing import coordinates
from ..operations.operands import storage_of
from ..runtime import memory
from ..storage import checked_shape
from ..tensor.out_argument import write_out
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import broadcast_to, moveaxis, placed, ravel, reshape, take, tile
from .stacking import concat


def append(x: Any, values: Any, axis: int | None = None) -> SparseTensor:
    """Return the elements of two tensors, one after the other along an axis.

    Parameters
    ----------
    x : array_like
        The first tensor.
    values : array_like
        The second tensor.
    axis : int, optional
        The axis. If it is None, both tensors are flattened.

    Returns
    -------
    SparseTensor
        The joined tensor. Its format and fill value are those of :func:`weft.concat`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0], format="coo")
    >>> weft.append(x, [0.0, 5.0]).todense()
    array([0., 3., 0., 5.])
    """
    if axis is None:
        return concat([ravel(x), ravel(values)], axis=0)
    return concat([SparseTensor(storage_of(x)), SparseTensor(storage_of(values))], axis=axis)


def _along(x: Any, axis: int | None) -> tuple[SparseTensor, int]:
    if axis is None:
        return ravel(x), 0
    tensor = SparseTensor(storage_of(x))
    return tensor, normalize_axis_index(axis, tensor.ndim)


def _positions(obj: Any, size: int, last: int, axis: int) -> np.ndarray[Any, Any]:
    """Return the nonnegative indices of a key; ``last`` is the greatest allowed index."""
    if isinstance(obj, slice):
        return np.arange(*obj.indices(size))
    selection = np.asarray(obj.todense() if isinstance(obj, SparseTensor) else obj)
    if selection.dtype == bool:
        if selection.shape != (size,):
            raise ValueError(f"boolean array argument obj to delete must be one dimensional and match the axis length "
                             f"of {size}")  # fmt: skip
        # A mask selects the indices at which it holds.
        return np.flatnonzero(selection)
    if not selection.size:  # NumPy makes an empty list an array of float64
        selection = selection.astype(np.int64)
    if selection.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    beyond = (selection < -size) | (selection > last)
    if beyond.any():
        raise IndexError(f"index {selection[beyond].ravel()[0]} is out of bounds for axis {axis} with size {size}")
    wide = selection.astype(np.int64)
    return np.where(wide < 0, wide + size, wide)


def _without(removed: range | np.ndarray[Any, Any], coords: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the number of removed indices, which ascend, below each coordinate."""
    if isinstance(removed, range):
        passed = -((removed.start - coords) // removed.step)  # rounded up
        within: np.ndarray[Any, Any] = np.clip(passed, 0, len(removed))
        return within
    return np.searchsorted(removed, coords)


@memory.guarded
def delete(x: Any, obj: Any, axis: int | None = None) -> SparseTensor:
    """Delete slices along an axis of a tensor; without an axis, delete elements of the flattened tensor.

    The time depends on the number of stored entries and not on the length of the axis.

    Parameters
    ----------
    x : array_like
        The tensor.
    obj : int, slice, or array of int or bool
        The indices that are deleted.
    axis : int, optional
        The axis. If it is None, the tensor is flattened.

    Returns
    -------
    SparseTensor
        A tensor of the same dtype and fill value with a shorter axis.

    Raises
    ------
    IndexError
        If an index is beyond the axis.
    ValueError
        If a mask does not have the length of the axis.

    Examples
    --------
    >>> import weft
    >>> A = weft.from_coords([[3, 2**40], [0, 1]], [1.0, 2.0], shape=(2**50, 2))
    >>> weft.delete(A, slice(10, 2**39), axis=0)
    <SparseTensor: shape=(1125350151028746, 2), dtype=float64, format=coo, nnz=2, fill_value=0>
    """
    tensor, along = _along(x, axis)
    size = tensor.shape[along]
    if isinstance(obj, slice):
        found = range(*obj.indices(size))
        removed: range | np.ndarray[Any, Any] = found if found.step > 0 else found[::-1]
    else:
        removed = np.unique(_positions(obj, size, size - 1, along))
    if tensor.layout.is_dense:
        return take(tensor, np.delete(np.arange(size), removed), axis=along)
    coo = execution.convert(storage_of(tensor), coordinates(tensor.ndim))
    rows = [*coo.arrays[1:]]
    places = rows[along].astype(np.int64)
    # A coordinate is deleted if the number of deleted ones below it differs from that up to and including it.
    below = _without(removed, places)
    remaining = _without(removed, places + 1) == below
    rows[along] = places - below
    shape = (*tensor.shape[:along], size - len(removed), *tensor.shape[along + 1 :])
    return placed(storage_of(tensor), shape, [row[remaining] for row in rows], coo.vals[remaining])


@memory.guarded
def insert(x: Any, obj: Any, values: Any, axis: int | None = None) -> SparseTensor:
    """Insert values into a tensor before some indices of an axis; without an axis, insert into the flattened tensor.

    The time depends on the number of stored entries of both tensors and not on the length of the axis.

    Parameters
    ----------
    x : array_like
        The tensor.
    obj : int, slice, or array of int or bool
        The indices of ``x`` before which values are inserted.
    values : array_like
        The values, which are broadcast and converted to the dtype of ``x``.
    axis : int, optional
        The axis. If it is None, the tensor is flattened.

    Returns
    -------
    SparseTensor
        A tensor of the same dtype and fill value with a longer axis.

    Raises
    ------
    IndexError
        If an index is beyond the axis.
    ValueError
        If a mask does not have the length of the axis, or the values have too many axes.
    ShapeError
        If the axis becomes too long for 64-bit integers.
    ResultTooLargeError
        If the values, broadcast, do not fit in memory.

    Examples
    --------
    >>> import weft
    >>> A = weft.from_coords([[3, 2**40], [0, 1]], [1.0, 2.0], shape=(2**50, 2))
    >>> weft.insert(A, 10, [0.0, 5.0], axis=0).to_coo()[0].tolist()
    [[3, 10, 1099511627777], [0, 1, 1]]
    """
    tensor, along = _along(x, axis)
    size = tensor.shape[along]
    places = _positions(obj, size, size, along)
    new = SparseTensor(storage_of(values if hasattr(values, "dtype") else as_values(values, tensor.dtype)))
    if new.ndim > tensor.ndim:
        raise ValueError(f"could not broadcast input array from shape {new.shape} into shape {tensor.shape}")
    if not places.ndim and new.ndim:  # as in NumPy, the values of one index have the axis in front
        new = moveaxis(reshape(new, (1,) * (tensor.ndim - new.ndim) + new.shape), 0, along)
    count = places.size if places.ndim or not new.ndim else new.shape[along]
    checked_shape((*tensor.shape[:along], size + count))
    shape = (*tensor.shape[:along], count, *tensor.shape[along + 1 :])
    at = np.broadcast_to(places.ravel(), count)
    order = np.argsort(at, kind="stable")
    if new.dtype != tensor.dtype:
        new = new.astype(tensor.dtype)
    target = np.empty(count, np.int64)  # the coordinate of each inserted slice in the result
    target[order] = at[order] + np.arange(count)
    if tensor.layout.is_dense:
        # A dense result is gathered from the old slices, followed by the new ones.
        source = np.empty(size + count, np.int64)
        source[target] = size + np.arange(count)
        source[np.delete(np.arange(size + count), target)] = np.arange(size)
        return take(concat([tensor, broadcast_to(new, shape)], axis=along), source, axis=along)
    return _inserted(tensor, broadcast_to(_sparse_as(new, tensor), shape), at[order], target, along)


def _sparse_as(new: SparseTensor, tensor: SparseTensor) -> SparseTensor:
    """Return values as a coordinate list without entries that equal the fill value of the tensor."""
    storage = change_fill(storage_of(reshape(new, (1,) * (tensor.ndim - new.ndim) + new.shape)), tensor.fill_value)
    return SparseTensor(execution.convert(storage, coordinates(tensor.ndim), prune=True))


def _inserted(
    tensor: SparseTensor,
    new: SparseTensor,
    at: np.ndarray[Any, Any],
    target: np.ndarray[Any, Any],
    along: int,
) -> SparseTensor:
    """Return a tensor with the entries of both: the old ones shifted, the new ones at their target coordinates."""
    old, more = (execution.convert(storage_of(x), coordinates(tensor.ndim)) for x in (tensor, new))
    rows = []
    for axis, (first, second) in enumerate(zip(old.arrays[1:], more.arrays[1:], strict=True)):
        if axis == along:
            first, second = first + np.searchsorted(at, first, "right"), target[second]
        rows.append(np.concatenate([first, second]))
    shape = (*tensor.shape[:along], tensor.shape[along] + len(target), *tensor.shape[along + 1 :])
    return placed(storage_of(tensor), shape, rows, np.concatenate([old.vals, more.vals]))


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> SparseTensor | Any:
    """Return the slices along an axis that a boolean vector selects.

    Parameters
    ----------
    condition : array_like of bool
        One boolean for each index of the axis; missing ones are false.
    a : array_like
        The tensor.
    axis : int, optional
        The axis. If it is None, the tensor is flattened.
    out : ndarray or SparseTensor, optional
        The array into which the result is written.

    Returns
    -------
    SparseTensor or ndarray
        The selected slices, or ``out``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.compress([False, True], A, axis=0).todense()
    array([[2., 0.]])
    """
    tensor, along = _along(a, axis)
    chosen = np.flatnonzero(condition.todense() if isinstance(condition, SparseTensor) else condition)
    found = take(tensor, chosen, axis=along)
    return found if out is None else write_out(found, out, "compress")


def extract(condition: Any, arr: Any) -> SparseTensor:
    """Return the elements at which a condition holds, as a vector.

    Parameters
    ----------
    condition : array_like
        A tensor of as many elements, of which those that are nonzero select.
    arr : array_like
        The tensor.

    Returns
    -------
    SparseTensor
        The selected elements in the order of the flattened tensor.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.extract(A > 1, A).todense()
    array([2.])
    """
    (chosen,) = ravel(condition).nonzero()
    return take(ravel(arr), chosen, axis=0)


def trim_zeros(filt: Any, trim: str = "fb", axis: int | Sequence[int] | None = None) -> SparseTensor:
    """Return a tensor without the zeros at the front and the back of some axes.

    Parameters
    ----------
    filt : array_like
        The tensor.
    trim : {'fb', 'f', 'b'}
        The ends that are trimmed: the front, the back or both.
    axis : int or sequence of int, optional
        The axes, by default all.

    Returns
    -------
    SparseTensor
        The trimmed tensor.

    Raises
    ------
    ValueError
        If ``trim`` has other letters.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 0.0, 1.0, 0.0], format="coo")
    >>> weft.trim_zeros(x).todense()
    array([3., 0., 1.])
    """
    tensor = SparseTensor(storage_of(filt))
    axes = tuple(range(tensor.ndim)) if axis is None else normalize_axis_tuple(axis, tensor.ndim)
    if set(trim.lower()) - set("fb"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    rows = tensor.nonzero()
    key = [slice(None)] * tensor.ndim
    for k in axes:
        # A tensor of zeros has no first and no last nonzero coordinate, and nothing remains.
        first, last = (int(rows[k].min()), int(rows[k].max()) + 1) if len(rows[k]) else (0, 0)
        key[k] = slice(first if "f" in trim.lower() else None, last if "b" in trim.lower() else None)
        if not len(rows[k]):
            key[k] = slice(0)
    return tensor[tuple(key)]


def resize(x: Any, new_shape: int | Sequence[int]) -> SparseTensor:
    """Return the elements in another shape, repeated if there are not enough elements.

    Parameters
    ----------
    x : array_like
        The tensor, which is flattened.
    new_shape : int or sequence of int
        The other shape.

    Returns
    -------
    SparseTensor
        A tensor of the shape. If the shape or ``x`` has no elements, the result is a dense tensor of zeros.

    Raises
    ------
    ValueError
        If the shape has a negative size.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0], format="coo")
    >>> weft.resize(x, (2, 3)).todense()
    array([[0., 3., 0.],
           [3., 0., 3.]])
    """
    shape = tuple(new_shape) if isinstance(new_shape, Sequence) else (operator.index(new_shape),)
    if any(size < 0 for size in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    flat, count = ravel(x), math.prod(shape)
    if not flat.shape[0] or not count:
        return SparseTensor(storage_of(np.zeros(shape, flat.dtype)))
    repeated = tile(flat, -(-count // flat.shape[0]))
    return reshape(repeated[:count], shape)
