"""Functions that move or repeat elements, under the names of NumPy and the array API standard.

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

from .. import execution
from ..dtypes import index_dtype, shifted
from ..operations.axes import normalize_axis_index, normalize_axis_tuple
from ..operations.broadcasting import broadcast
from ..operations.elementwise import without_axes
from ..operations.fill_change import change_fill
from ..operations.indexing import coordinates, expanded, format_for_axes, getitem, take_along, without_long_arrays
from ..operations.operands import any_storage_of, storage_of
from ..operations.reshaping import reshaped
from ..operations.shapes import broadcast_shapes as broadcast_shapes
from ..storage import Storage, checked_shape, coordinate_storage, is_far_longer
from ..tensor.out_argument import put_into
from ..tensor.sparse_tensor import SparseTensor


# -- axes -------------------------------------------------------------------------------------------------------------
def permute_dims(x: Any, /, axes: Sequence[int] | None = None, copy: bool = False) -> SparseTensor:
    """Return a tensor with its axes permuted, which shares all arrays unless a copy is requested.

    Parameters
    ----------
    x : array_like
        The tensor.
    axes : sequence of int, optional
        The axes of ``x`` in their new order, by default reversed.
    copy : bool
        True for a tensor with its own memory.

    Returns
    -------
    SparseTensor
        The permuted tensor: csr becomes csc.

    Raises
    ------
    ValueError
        If ``axes`` is not a permutation.

    Examples
    --------
    >>> import weft
    >>> T = weft.zeros((2, 3, 4), format="csf")
    >>> weft.permute_dims(T, (2, 0, 1)).shape
    (4, 2, 3)
    """
    tensor = x if isinstance(x, SparseTensor) else SparseTensor(any_storage_of(x))
    n = tensor.ndim
    order = tuple(reversed(range(n))) if axes is None else normalize_axis_tuple(axes, n)
    if len(order) != n:
        raise ValueError("axes don't match array")
    found = tensor.transpose(order)
    return found.copy() if copy else found


def transpose(x: Any, /, axes: Sequence[int] | None = None) -> SparseTensor:
    """Return a tensor with its axes permuted, by default reversed, which shares all arrays.

    Unlike NumPy's, the result may have another format: csr becomes csc.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.transpose(A).todense()
    array([[0., 2.],
           [1., 0.]])
    """
    return permute_dims(x, axes)


def matrix_transpose(x: Any, /) -> SparseTensor:
    """Return a tensor with its last two axes exchanged.

    Unlike NumPy's, the result may have another format: csr becomes csc.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.matrix_transpose(A).todense()
    array([[0., 2.],
           [1., 0.]])
    """
    return (x if isinstance(x, SparseTensor) else SparseTensor(any_storage_of(x))).mT


def swapaxes(x: Any, axis1: int, axis2: int) -> SparseTensor:
    """Return a tensor with two axes exchanged.

    Unlike NumPy's, the result may have another format: csr becomes csc.

    Examples
    --------
    >>> import weft
    >>> T = weft.zeros((2, 3, 4), format="csf")
    >>> weft.swapaxes(T, 0, 2).shape
    (4, 3, 2)
    """
    n = _order(x)
    order = list(range(n))
    a, b = normalize_axis_index(axis1, n), normalize_axis_index(axis2, n)
    order[a], order[b] = b, a
    return permute_dims(x, order)


def _order(x: Any) -> int:
    """Return the number of axes."""
    return x.ndim if isinstance(x, SparseTensor) else len(any_storage_of(x).shape)


def moveaxis(x: Any, source: int | Sequence[int], destination: int | Sequence[int], /) -> SparseTensor:
    """Return a tensor with some axes moved to other places; the other axes keep their order.

    Unlike NumPy's, the result may have another format, as with :func:`permute_dims`.

    Examples
    --------
    >>> import weft
    >>> T = weft.zeros((2, 3, 4), format="csf")
    >>> weft.moveaxis(T, 0, -1).shape
    (3, 4, 2)
    """
    n = _order(x)
    sources, goals = normalize_axis_tuple(source, n, "source"), normalize_axis_tuple(destination, n, "destination")
    if len(sources) != len(goals):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [axis for axis in range(n) if axis not in sources]
    for goal, axis in sorted(zip(goals, sources, strict=True)):
        order.insert(goal, axis)
    return permute_dims(x, order)


def rollaxis(x: Any, axis: int, start: int = 0) -> SparseTensor:
    """Return a tensor with one axis moved before another.

    Unlike NumPy's, the result may have another format, as with :func:`permute_dims`.

    Examples
    --------
    >>> import weft
    >>> T = weft.zeros((2, 3, 4), format="csf")
    >>> weft.rollaxis(T, 2).shape
    (4, 2, 3)
    """
    n = _order(x)
    axis = normalize_axis_index(axis, n)
    start = start + n if start < 0 else start
    return moveaxis(x, axis, start - (axis < start))


def expand_dims(x: Any, /, axis: int | Sequence[int] = 0) -> SparseTensor:
    """Return a tensor with new axes of size 1 at the places ``axis`` of the result.

    Unlike NumPy's, ``axis`` is 0 by default. The format is a similar one for more axes.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.expand_dims(A, axis=0).shape
    (1, 2, 2)
    """
    storage = storage_of(x)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    order = len(storage.shape) + len(axes)
    places = tuple(sorted(normalize_axis_tuple(axes, order)))
    return SparseTensor(expanded(storage, places))


def squeeze(x: Any, /, axis: int | Sequence[int] | None = None) -> SparseTensor:
    """Return a tensor without axes of size 1.

    Unlike NumPy's, the result need not share memory. The format is a similar one for fewer axes.

    Examples
    --------
    >>> import weft
    >>> weft.squeeze(weft.zeros((1, 3, 1), format="coo")).shape
    (3,)
    """
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
    # No axis is left: one element.
    if len(axes) == n:
        return reshape(x, ())
    found = without_axes(storage, list(axes))
    return SparseTensor(execution.convert(found, format_for_axes(storage.format, n - len(axes))))


# -- shapes -----------------------------------------------------------------------------------------------------------
def reshape(
    x: Any, /, shape: int | Sequence[int], order: str | None = "C", *, copy: bool | None = None
) -> SparseTensor:
    """Return the same elements, in their order, in another shape.

    Parameters
    ----------
    x : array_like
        The tensor.
    shape : int or sequence of int
        The shape. One size may be -1 and follows from the others.
    order : {'C', 'F'}
        The order of elements. With 'C' the last axis changes fastest, with 'F' the first one.
    copy : bool, optional
        True for a tensor with its own memory. False is refused for sparse formats unless the shape stays the same.

    Returns
    -------
    SparseTensor
        The reshaped tensor, in a similar format.

    Raises
    ------
    ValueError
        If the shape does not have as many elements, or ``copy`` is False and a copy is needed.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.reshape(A, (4,)).todense()
    array([0., 1., 2., 0.])
    """
    storage = storage_of(x)
    new_shape = _new_shape(storage.shape, shape)
    if new_shape == storage.shape and copy is not True:
        return x if isinstance(x, SparseTensor) else SparseTensor(storage)
    if copy is False and not storage.format.is_dense:
        raise ValueError(f"a tensor of format {storage.format} cannot be reshaped without a copy")
    if order not in ("C", "F", "A", None):
        raise ValueError(f"order must be one of 'C', 'F' and 'A' (got {order!r})")
    # A format whose dense levels would be far longer than the entries is replaced by one of compressed levels.
    goal, entries = format_for_axes(storage.format, len(new_shape)), max((*storage.level_sizes, storage.nnz))
    if order == "F":
        # Order F is order C of the reversed axes.
        turned = storage.permuted(tuple(reversed(range(len(storage.shape)))))
        result = reshaped(turned, new_shape[::-1], without_long_arrays(goal, new_shape[::-1], entries))
        back = result.permuted(tuple(reversed(range(len(new_shape)))))
        result = execution.convert(back, without_long_arrays(goal, new_shape, entries))
    else:
        result = reshaped(storage, new_shape, without_long_arrays(goal, new_shape, entries))
    return SparseTensor(result.apart_from(storage) if copy else result)


def _new_shape(old: tuple[int, ...], shape: Any) -> tuple[int, ...]:
    sizes = [operator.index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))]
    size = math.prod(old)
    if sizes.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    # The size that is -1 is the quotient, if the division leaves no remainder.
    if -1 in sizes:
        rest = math.prod(n for n in sizes if n != -1)
        if rest and size % rest == 0:
            sizes[sizes.index(-1)] = size // rest
    if math.prod(sizes) != size or any(n < 0 for n in sizes):
        raise ValueError(f"cannot reshape array of size {size} into shape {tuple(sizes)}".replace(", ", ","))
    return checked_shape(tuple(sizes))


def ravel(x: Any, order: str | None = "C") -> SparseTensor:
    """Return all elements along one axis.

    The order is 'C' or 'F', as for :func:`reshape`. Unlike NumPy's, the result is a copy unless the tensor is dense
    or has one axis already.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.ravel(A).todense()
    array([0., 1., 2., 0.])
    """
    return reshape(x, (-1,) if math.prod(storage_of(x).shape) else (0,), order=order)


def atleast_1d(x: Any) -> SparseTensor:
    """Return a tensor with at least one axis.

    Unlike NumPy's, the function takes one tensor only.

    Examples
    --------
    >>> import weft
    >>> weft.atleast_1d(weft.asarray(3.0)).shape
    (1,)
    """
    return SparseTensor(storage_of(x)) if storage_of(x).shape else reshape(x, (1,))


def atleast_2d(x: Any) -> SparseTensor:
    """Return a tensor with at least two axes; new axes come first.

    Unlike NumPy's, the function takes one tensor only.

    Examples
    --------
    >>> import weft
    >>> weft.atleast_2d(weft.asarray([0.0, 3.0], format="coo")).shape
    (1, 2)
    """
    n = len(storage_of(x).shape)
    return SparseTensor(storage_of(x)) if n > 1 else expand_dims(atleast_1d(x), 0)


def atleast_3d(x: Any) -> SparseTensor:
    """Return a tensor with at least three axes: the axes of a matrix come first, and that of a vector comes second.

    Unlike NumPy's, the function takes one tensor only.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.atleast_3d(A).shape
    (2, 2, 1)
    """
    n = len(storage_of(x).shape)
    return SparseTensor(storage_of(x)) if n > 2 else expand_dims(atleast_2d(x), 2)


def broadcast_to(x: Any, /, shape: int | Sequence[int], *, out: Any = None) -> SparseTensor:
    """Return a tensor repeated along new axes and axes of size 1.

    Unlike NumPy's, the result is a copy: stored entries are stored as often as they are repeated.

    Parameters
    ----------
    x : array_like
        The tensor.
    shape : int or sequence of int
        The shape of the result.
    out : ndarray or SparseTensor, optional
        The array or tensor into which the result is written.

    Returns
    -------
    SparseTensor
        The repeated tensor; or ``out``.

    Raises
    ------
    ResultTooLargeError
        If the result does not fit in memory.
    ShapeError
        If an axis is too long for 64-bit integers.
    ValueError
        If the tensor cannot be broadcast to the shape.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0], format="coo")
    >>> weft.broadcast_to(x, (2, 2)).todense()
    array([[0., 3.],
           [0., 3.]])
    """
    new_shape = tuple(shape) if isinstance(shape, (tuple, list)) else (operator.index(shape),)  # type: ignore[arg-type]
    return put_into(out, SparseTensor(broadcast(storage_of(x), new_shape)), "broadcast_to")  # type: ignore[no-any-return]


def broadcast_arrays(*arrays: Any) -> tuple[SparseTensor, ...]:
    """Return all tensors broadcast to one shape.

    Unlike NumPy's, the results are copies; see :func:`broadcast_to`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> [x.shape for x in weft.broadcast_arrays(A, weft.asarray([1.0, 0.0]))]
    [(2, 2), (2, 2)]
    """
    shape = broadcast_shapes(*(storage_of(x).shape for x in arrays))
    return tuple(broadcast_to(x, shape) for x in arrays)


# -- elements in other places -----------------------------------------------------------------------------------------
def flip(x: Any, /, axis: int | Sequence[int] | None = None) -> SparseTensor:
    """Return a tensor with the elements along some axes reversed.

    Unlike NumPy's, the result of a sparse tensor is a copy.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.flip(A, axis=0).todense()
    array([[2., 0.],
           [0., 1.]])
    """
    tensor = SparseTensor(storage_of(x))
    axes = range(tensor.ndim) if axis is None else normalize_axis_tuple(axis, tensor.ndim)
    key = tuple(slice(None, None, -1 if a in axes else 1) for a in range(tensor.ndim))
    return SparseTensor(getitem(storage_of(tensor), key)) if key else tensor


def fliplr(x: Any) -> SparseTensor:
    """Return a tensor with its columns (axis 1) reversed.

    Unlike NumPy's, the result of a sparse tensor is a copy.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.fliplr(A).todense()
    array([[1., 0.],
           [0., 2.]])
    """
    return flip(x, axis=1)


def flipud(x: Any) -> SparseTensor:
    """Return a tensor with its rows (axis 0) reversed.

    Unlike NumPy's, the result of a sparse tensor is a copy.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.flipud(A).todense()
    array([[2., 0.],
           [0., 1.]])
    """
    return flip(x, axis=0)


def rot90(x: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> SparseTensor:
    """Return a tensor rotated by right angles in the plane of two axes, from the first axis towards the second.

    Unlike NumPy's, the result of a sparse tensor is a copy unless nothing is reversed.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.rot90(A).todense()
    array([[1., 0.],
           [0., 2.]])
    """
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
    """Return a tensor with its elements shifted cyclically along some axes.

    Without an axis, the flattened tensor is shifted, as in NumPy. The time depends on the number of stored entries.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 0.0, 1.0], format="coo")
    >>> weft.roll(x, 1).todense()
    array([1., 0., 3., 0.])
    """
    storage = storage_of(x)
    if axis is None:
        return reshape(roll(ravel(x), shift, axis=0), storage.shape)
    # Shifts of one axis add up.
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
            # Coordinates that leave at the end come in at the beginning.
            rows[a] = np.where(rows[a] >= n - s, shifted(rows[a], s - n, n), shifted(rows[a], s, n))
        return rows

    return _moved(storage, turn, storage.shape) if moved else SparseTensor(storage).copy()


def _moved(storage: Storage, move: Any, shape: tuple[int, ...]) -> SparseTensor:
    """Return a tensor with its entries at other coordinates, which a function of the coordinate arrays computes."""
    coo = execution.convert(storage, coordinates(len(storage.shape)))
    return placed(storage, shape, move(list(coo.arrays[1:])), coo.vals)


def placed(
    storage: Storage, shape: tuple[int, ...], rows: Sequence[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any]
) -> SparseTensor:
    """Return a tensor with entries at given coordinates, in the fill value and a similar format of another tensor."""
    narrow = [np.ascontiguousarray(row, index_dtype(size)) for row, size in zip(rows, shape, strict=True)]
    coo = coordinate_storage(shape, narrow, vals, storage.type.fill)
    entries = max((*storage.level_sizes, coo.nnz))
    return SparseTensor(
        execution.convert(coo, without_long_arrays(format_for_axes(storage.format, len(shape)), shape, entries))
    )


def pad(x: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = None) -> SparseTensor:
    """Return a tensor with elements added around it, which are implicit entries.

    Parameters
    ----------
    x : array_like
        The tensor.
    pad_width : int or sequence
        The numbers of elements before and after each axis: one number, a pair, or a pair for each axis.
    mode : {'constant'}
        The mode. Results of NumPy's other modes are not sparse.
    constant_values : scalar, optional
        The value of added elements, by default the fill value. For another value the tensor is first stored with that
        fill value.

    Returns
    -------
    SparseTensor
        The larger tensor.

    Raises
    ------
    NotImplementedError
        If the mode is another one.
    ValueError
        If a width is negative.
    DensifyError
        If another fill value needs more than ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.pad(A, 1).todense()
    array([[0., 0., 0., 0.],
           [0., 0., 1., 0.],
           [0., 2., 0., 0.],
           [0., 0., 0., 0.]])
    """
    if mode != "constant":
        raise NotImplementedError(f"pad of mode {mode!r} does not give sparse tensors; use np.pad(A.todense(), ...)")
    storage = storage_of(x)
    if constant_values is not None:
        storage = change_fill(storage, constant_values)
    # One number, one pair and one pair for each axis broadcast to the latter.
    widths = np.broadcast_to(np.asarray(pad_width), (len(storage.shape), 2)).tolist()
    if any(w < 0 for pair in widths for w in pair):
        raise ValueError("index can't contain negative values")
    shape = tuple(a + n + b for (a, b), n in zip(widths, storage.shape, strict=True))
    checked_shape(tuple(shape), f"a tensor of shape {storage.shape} padded by {widths}")

    def shift(rows: list[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        return [shifted(row, before, n) for row, (before, _), n in zip(rows, widths, shape, strict=True)]

    return _moved(storage, shift, shape)


def repeat(x: Any, /, repeats: Any, axis: int | None = None) -> SparseTensor:
    """Return a tensor with each element repeated along an axis.

    Parameters
    ----------
    x : array_like
        The tensor.
    repeats : int or array_like of int
        The number of repetitions, or one number for each index of the axis.
    axis : int, optional
        The axis. If it is None, the tensor is flattened.

    Returns
    -------
    SparseTensor
        The repeated tensor.

    Raises
    ------
    TypeError
        If ``repeats`` is not of integers.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0], format="coo")
    >>> weft.repeat(x, 2).todense()
    array([0., 0., 3., 3.])
    """
    tensor, axis = _with_axis(x, axis)
    storage = storage_of(tensor)
    counts = np.asarray(repeats.todense() if isinstance(repeats, SparseTensor) else repeats)
    if counts.dtype.kind not in "iu":
        raise TypeError(f"Cannot cast array data from {counts.dtype!r} to dtype('int64') according to the rule 'safe'")
    n = storage.shape[axis]
    # An axis far longer than the number of entries is not listed index by index.
    if counts.size == 1 and is_far_longer(n * max(counts.item(), 1), storage.nnz):
        return _stretched(storage, axis, axis + 1, counts.item())
    return _taken(storage, np.repeat(np.arange(n), counts), axis)


def _stretched(storage: Storage, axis: int, place: int, count: int) -> SparseTensor:
    """Return a tensor repeated along an axis: broadcast along a new axis at ``place``, then merged with ``axis``."""
    shape = list(storage.shape)
    checked_shape((shape[axis] * count,), f"a tensor of shape {storage.shape} {count} times along axis {axis}")
    whole = broadcast_to(expand_dims(SparseTensor(storage), place), (*shape[:place], count, *shape[place:]))
    shape[axis] *= count
    found: SparseTensor = reshape(whole, shape)
    return found.asformat(without_long_arrays(storage.format, tuple(shape), storage.nnz))


def _taken(storage: Storage, index: np.ndarray[Any, Any], axis: int) -> SparseTensor:
    return SparseTensor(execution.convert(take_along(storage, axis, index), storage.format))


def tile(x: Any, repetitions: int | Sequence[int], /) -> SparseTensor:
    """Return a tensor repeated as a whole along each axis.

    Parameters
    ----------
    x : array_like
        The tensor.
    repetitions : int or sequence of int
        The number of repetitions along each of the last axes. More numbers than axes add axes in front.

    Returns
    -------
    SparseTensor
        The repeated tensor.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0], format="coo")
    >>> weft.tile(x, (2, 2)).todense()
    array([[0., 3., 0., 3.],
           [0., 3., 0., 3.]])
    """
    times = (repetitions,) if isinstance(repetitions, int) else tuple(repetitions)
    storage = storage_of(x)
    more = len(times) - len(storage.shape)
    if more > 0:
        storage = storage_of(expand_dims(x, tuple(range(more))))
    # NumPy aligns the numbers of repetitions with the last axes.
    times = (1,) * -more + times if more < 0 else times
    if all(count == 1 for count in times):
        return SparseTensor(storage).copy()
    for axis, count in enumerate(times):
        if count != 1:
            n = storage.shape[axis]
            # Such an axis is not listed index by index, as in repeat().
            if is_far_longer(n * max(count, 1), storage.nnz):
                storage = storage_of(_stretched(storage, axis, axis, count))
            else:
                storage = storage_of(_taken(storage, np.tile(np.arange(n), count), axis))
    return SparseTensor(storage)


def take(x: Any, /, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> SparseTensor:
    """Return the elements at some indices along an axis.

    Parameters
    ----------
    x : array_like
        The tensor.
    indices : array_like of int
        The indices. The axes of ``indices`` replace the axis.
    axis : int, optional
        The axis. If it is None, the tensor is flattened.
    out : ndarray or SparseTensor, optional
        The array or tensor into which the result is written.
    mode : {'raise', 'wrap', 'clip'}
        The treatment of indices beyond the axis: an error, the rest of a division by its size, or the nearest index
        from 0 on.

    Returns
    -------
    SparseTensor
        The elements; or ``out``.

    Raises
    ------
    IndexError
        If an index is beyond the axis and ``mode`` is 'raise'.
    TypeError
        If the indices are not integers.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.take(A, [1, 1], axis=0).todense()
    array([[2., 0.],
           [2., 0.]])
    """
    tensor, axis = _with_axis(x, axis)
    positions = indices.todense() if isinstance(indices, SparseTensor) else np.asarray(indices)
    if not np.can_cast(positions.dtype, np.int64, "same_kind") and positions.size:
        raise TypeError(f"take needs integers as indices, not {positions.dtype}")
    positions, size = positions.astype(np.int64), tensor.shape[axis]
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"mode of take is 'raise', 'wrap' or 'clip', not {mode!r}")
    if mode != "raise" and positions.size:
        if not size:
            raise IndexError("cannot do a non-empty take from an empty axis")
        positions = positions % size if mode == "wrap" else np.clip(positions, 0, size - 1)
    return put_into(out, tensor[(*(slice(None),) * axis, positions, ...)], "take")  # type: ignore[no-any-return]


def _with_axis(x: Any, axis: int | None) -> tuple[SparseTensor, int]:
    """Return a tensor and one of its axes; without an axis, the tensor as a vector, as NumPy takes a 0-d array."""
    tensor = SparseTensor(storage_of(x))
    if axis is None or (not tensor.ndim and axis in (0, -1)):
        return ravel(tensor), 0
    return tensor, normalize_axis_index(axis, tensor.ndim)


def take_along_axis(x: Any, indices: Any, /, axis: int | None = -1) -> SparseTensor:
    """Return one element for each index along an axis.

    Parameters
    ----------
    x : array_like
        The tensor.
    indices : array_like of int
        The indices along the axis, with as many axes as ``x``; the other axes broadcast.
    axis : int, optional
        The axis, by default the last one. If it is None, the tensor is flattened.

    Returns
    -------
    SparseTensor
        A tensor of the shape of ``indices``, broadcast.

    Raises
    ------
    IndexError
        If ``indices`` is not of integers, or an index is beyond the axis.
    ValueError
        If ``indices`` has another number of axes.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.take_along_axis(A, weft.argsort(A, axis=1), axis=1).todense()
    array([[0., 1.],
           [0., 2.]])
    """
    tensor = ravel(x) if axis is None else SparseTensor(storage_of(x))
    axis = 0 if axis is None else normalize_axis_index(axis, tensor.ndim)
    positions = indices.todense() if isinstance(indices, SparseTensor) else np.asarray(indices)
    if positions.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if positions.ndim != tensor.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    key: list[Any] = []
    # Open grids select all coordinates of the other axes.
    for a, n in enumerate(tensor.shape):
        key.append(positions if a == axis else np.arange(n).reshape([n if b == a else 1 for b in range(tensor.ndim)]))
    return tensor[tuple(key)]
