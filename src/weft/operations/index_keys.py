"""Keys between the brackets of ``A[...]``, by NumPy's rules and with NumPy's errors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..records import record
from . import foreign_tensors
from .operands import StorageHolder, storage_of


@record
class Span:
    """Slice of one axis: ``count`` coordinates from ``start`` in steps of ``step``."""

    axis: int
    start: int
    step: int
    count: int

    def is_whole(self, shape: tuple[int, ...]) -> bool:
        """Return whether the span is all of its axis, in order."""
        return self.start == 0 and self.step == 1 and self.count == shape[self.axis]


@record
class Arrays:
    """Arrays of integers for some axes, broadcast to one ``shape``; all of them give one group of axes of the result.

    A boolean without axes broadcasts with the arrays: True like an array of one index, and False like an array of none.
    """

    axes: tuple[int, ...]  # the axes that the arrays index; none if there are only booleans
    indices: tuple[np.ndarray[Any, Any], ...]  # One array for each axis, of ``shape``, without negative indices
    shape: tuple[int, ...]  # the shape to which the arrays broadcast
    first: bool  # True if the axes of the arrays come first in the result, as they do if a slice separates the arrays


@record
class Key:
    """Parsed key."""

    # One span for each axis that no array indexes. The axis of an integer is in ``dropped``, too.
    spans: tuple[Span, ...]
    dropped: tuple[int, ...]  # Axes of one coordinate that the result does not have
    arrays: Arrays | None  # the part of the key that consists of arrays
    # The axes of the result in order: an axis of the tensor, None for a new one, -1 for those of the arrays.
    places: tuple[int | None, ...]


_WHOLE = slice(None)


def leading_span(key: Any, shape: tuple[int, ...]) -> tuple[Span, bool] | None:
    """Return the span of a key that is one integer, or one slice with step 1, of the first axis.

    The second value is true if the key drops the axis. The result is None for any other key.
    """
    if not shape:
        return None
    size = shape[0]
    if type(key) is int or isinstance(key, np.integer):
        at = int(key)
        return (Span(0, at + size if at < 0 else at, 1, 1), True) if -size <= at < size else None
    if type(key) is not slice:
        return None
    start, stop, step = key.indices(size)
    return (Span(0, start, 1, max(stop - start, 0)), False) if step == 1 else None


def one_vector(key: Any, shape: tuple[int, ...]) -> tuple[int, np.ndarray[Any, Any]] | None:
    """Return the axis and the coordinates of a key that is one vector, or a whole axis and then one vector.

    The result is None for any other key. Most keys with arrays have this form, which is quickly recognized.
    """
    # A vector alone is for the first axis, and a vector after ``:`` is for the second.
    axis, item = 0, key
    if type(key) is tuple:
        if len(key) != 2 or type(key[0]) is not slice or key[0] != _WHOLE:
            return None
        axis, item = 1, key[1]
    if type(item) is list and item:
        item = np.asarray(item)
    if type(item) is not np.ndarray or item.ndim != 1 or axis >= len(shape):
        return None
    size, kind = shape[axis], item.dtype.kind
    # A mask selects the coordinates where it is true.
    if kind == "b":
        return (axis, np.flatnonzero(item)) if len(item) == size else None
    if kind != "i":
        return None
    if len(item):
        low = int(item.min())
        # The general parser raises the error.
        if low < -size or int(item.max()) >= size:
            return None
        item = item.astype(np.int64, copy=False)
        if low < 0:
            item = np.where(item < 0, item + size, item)
    return axis, item.astype(np.int64, copy=False)


def crossed(key: Any, shape: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None:
    """Return the rows and columns of a key for a matrix that ``np.ix_`` made; None for any other key."""
    if type(key) is not tuple or len(key) != 2 or len(shape) != 2:
        return None
    rows, columns = key
    if not (isinstance(rows, np.ndarray) and isinstance(columns, np.ndarray) and rows.ndim == 2 == 1 + rows.shape[1]):
        return None
    if columns.ndim not in (1, 2) or (columns.ndim == 2 and columns.shape[0] != 1):
        return None
    return (rows[:, 0], columns.reshape(-1)) if rows.dtype.kind == columns.dtype.kind == "i" else None


def parse_key(key: Any, shape: tuple[int, ...]) -> Key:
    """Return the parsed key for a tensor of a shape."""
    # From here on each axis has one item: a slice, an integer or an array.
    items = _every_axis(_expanded(key, shape), shape)
    several = any(isinstance(item, (np.ndarray, bool)) for item in items)
    spans: list[Span] = []
    dropped: list[int] = []
    places: list[int | None] = []
    axes: list[int] = []
    indices: list[np.ndarray[Any, Any]] = []
    truths: list[np.ndarray[Any, Any]] = []
    # Runs of consecutive arrays. If there are several, NumPy puts the arrays' axes first in the result.
    runs, inside, axis = 0, False, 0
    for item in items:
        if item is None or item is Ellipsis:
            places += [None] * (item is None)
            inside = False
            continue
        # Beside arrays, integers are arrays, too.
        if several and not isinstance(item, slice) and not inside:
            runs, inside = runs + 1, True
            if runs == 1:
                places.append(-1)
        if isinstance(item, bool):
            # An array with one element or none, to broadcast with the others.
            truths.append(np.zeros(int(item), np.int64))
            continue
        size = shape[axis]
        if isinstance(item, slice):
            start, stop, step = item.indices(size)
            count = len(range(start, stop, step))
            # Less than two coordinates need no step, which may be large. An empty span may not start at -1.
            spans.append(Span(axis, start if count else 0, step if count > 1 else 1, count))
            places.append(axis)
            inside = False
        elif several:
            indices.append(_wrapped(np.asarray(item), axis, size))
            axes.append(axis)
        else:
            if not -size <= item < size:
                raise _out_of_bounds(item, axis, size)
            spans.append(Span(axis, item + size if item < 0 else item, 1, 1))
            dropped.append(axis)
        axis += 1
    # Integers and slices alone: no arrays to broadcast.
    if not several:
        return Key(tuple(spans), tuple(dropped), None, tuple(places))
    try:
        broadcast = np.broadcast_arrays(*indices, *truths)
    except ValueError:
        shapes = "".join(str(i.shape).replace(", ", ",") + " " for i in (*indices, *truths) if i.ndim)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}"
        ) from None
    if runs > 1:
        places.remove(-1)
        places.insert(0, -1)
    own = tuple(np.ascontiguousarray(a) for a in broadcast[: len(axes)])
    arrays = Arrays(tuple(axes), own, broadcast[0].shape, runs > 1)
    return Key(tuple(spans), (), arrays, tuple(places))


def _expanded(key: Any, shape: tuple[int, ...]) -> list[Any]:
    """Return the items of a key: slices, integers, arrays of integers, None and Ellipsis.

    Masks become the indices of their true elements. A mask without axes stays a boolean.
    """
    items: list[Any] = []
    axis = 0
    entries = key if isinstance(key, tuple) else (key,)
    # An ellipsis takes the axes that no other item takes.
    axes_used = sum(_axes_taken(item) for item in entries)
    if axes_used > len(shape):
        raise IndexError(f"too many indices for array: array is {len(shape)}-dimensional, but {axes_used} were indexed")
    for item in entries:
        if item is Ellipsis:
            items.append(item)
            axis += len(shape) - axes_used
            continue
        if item is None or isinstance(item, slice):
            items.append(item)
            axis += item is not None
            continue
        # A mask of several axes becomes one array of indices for each of them.
        if isinstance(item, StorageHolder):
            pieces = _of_tensor(item, shape[axis:], axis)
        else:
            pieces = _of_array(item, shape[axis:], axis)
        items += pieces
        axis += sum(map(_names_axis, pieces))
    return items


def _names_axis(item: Any) -> bool:
    """Return whether an item of an expanded key belongs to an axis of the tensor."""
    return item is not None and item is not Ellipsis and not isinstance(item, bool)


def _axes_taken(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, (slice, int, np.integer)) and not isinstance(item, bool):
        return 1
    if isinstance(item, StorageHolder):
        return len(storage_of(item).shape) if storage_of(item).dtype == bool else 1
    array = np.asarray(item)
    return array.ndim if array.dtype == bool else 1


_WRONG = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
    "indices"
)


def _of_array(item: Any, shape: tuple[int, ...], axis: int) -> list[Any]:
    if isinstance(item, (int, np.integer)) and not isinstance(item, (bool, np.bool_)):
        return [operator.index(item)]
    array = np.asarray(item)
    if array.size == 0 and not isinstance(item, np.ndarray):
        array = array.astype(np.intp)  # an empty list, which NumPy reads as float64
    if array.dtype == bool:
        _fits(array.shape, shape, axis)
        return list(np.nonzero(array)) if array.ndim else [bool(array)]
    if array.dtype.kind not in "iu":
        if isinstance(item, np.ndarray):
            raise IndexError(f"arrays used as indices must be of integer (or boolean) type, not {item.dtype}")
        if hasattr(item, "__index__"):
            return [operator.index(item)]
        raise IndexError(_WRONG)
    return [array if array.ndim else int(array)]


def _of_tensor(item: StorageHolder, shape: tuple[int, ...], axis: int) -> list[Any]:
    storage = storage_of(item)
    if storage.dtype == bool:
        _fits(storage.shape, shape, axis)
        if not storage.shape:
            return [bool(item)]
        if storage.type.fill:  # true almost everywhere: as many indices as elements
            return list(np.nonzero(item.todense()))  # type: ignore[attr-defined]
        found = foreign_tensors.convert(storage, "coo")
        return [crd[found.vals].astype(np.intp) for crd in found.arrays[1:]]
    if storage.dtype.kind not in "iu":
        raise IndexError(_WRONG)
    return [item.todense()]  # type: ignore[attr-defined]


def _fits(mask: tuple[int, ...], shape: tuple[int, ...], axis: int) -> None:
    for k, (have, want) in enumerate(zip(mask, shape, strict=False)):
        if have not in (0, want):  # a mask without elements chooses none of any axis
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + k}; size of axis is {want} "
                f"but size of corresponding boolean axis is {have}"
            )


def _every_axis(items: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """Return the items with a slice for each axis that no item names, at the ellipsis or at the end.

    An ellipsis that means no axis is kept, since it separates the arrays at its sides.
    """
    dots = [k for k, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    rest = len(shape) - sum(map(_names_axis, items))
    slices: list[Any] = [slice(None)] * rest
    if not dots:
        return [*items, *slices]
    return [*items[: dots[0]], *(slices or [Ellipsis]), *items[dots[0] + 1 :]]


def _out_of_bounds(index: int, axis: int, size: int) -> IndexError:
    return IndexError(f"index {index} is out of bounds for axis {axis} with size {size}")


def _wrapped(index: np.ndarray[Any, Any], axis: int, size: int) -> np.ndarray[Any, Any]:
    """Return indices counted from the start of the axis; raise an error for one out of bounds."""
    outside = (index < -size) | (index >= size)
    if outside.any():
        raise _out_of_bounds(int(index[outside].reshape(-1)[0]), axis, size)
    wide = index.astype(np.int64)  # int64 holds the size, whatever the dtype of the indices
    wrapped: np.ndarray[Any, Any] = np.where(wide < 0, wide + size, wide)
    return wrapped
