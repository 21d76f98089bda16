"""Keys between the brackets of ``A[...]``, by NumPy's rules and with NumPy's errors."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..records import cached, record
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
    parts: tuple[np.ndarray[Any, Any], ...]  # one array for each axis, as in the key, but without negative indices
    shape: tuple[int, ...]  # the shape to which the arrays broadcast
    first: bool  # True if the axes of the arrays come first in the result, as they do if a slice separates the arrays

    @cached
    def indices(self) -> tuple[np.ndarray[Any, Any], ...]:
        """Return the arrays, each of ``shape``."""
        return tuple(np.ascontiguousarray(np.broadcast_to(part, self.shape)) for part in self.parts)


@record
class Key:
    """Parsed key."""

    # One span for each axis that no array indexes. The axis of an integer is in ``dropped``, too.
    spans: tuple[Span, ...]
    dropped: tuple[int, ...]  # Axes of one coordinate that the result does not have
    arrays: Arrays | None  # the part of the key that consists of arrays
    # The axes of the result in order: an axis of the tensor, None for a new one, -1 for those of the arrays.
    places: tuple[int | None, ...]

    def is_everything(self, shape: tuple[int, ...]) -> bool:
        """Return whether the key selects a whole tensor as it is."""
        plain = self.arrays is None and not self.dropped and self.places == (*range(len(shape)),)
        return plain and all(span.is_whole(shape) for span in self.spans)

    def vectors(self, shape: tuple[int, ...]) -> list[tuple[int, np.ndarray[Any, Any]]] | None:
        """Return axes and a vector of coordinates for each, if the key selects these and all of every other axis.

        One vector is such a key, and those that ``np.ix_`` makes are. The result is None for any other key.
        """
        arrays = self.arrays
        if arrays is None or arrays.first or None in self.places or len(arrays.shape) != (n := len(arrays.axes)):
            return None
        for k, (part, count) in enumerate(zip(arrays.parts, arrays.shape, strict=True)):
            # Each array varies along an axis of its own, the first array along the first one.
            if not part.size == count == (part.shape[k - n] if part.ndim >= n - k else 1):
                return None
        if not all(span.is_whole(shape) for span in self.spans):
            return None
        return [(axis, part.reshape(-1)) for axis, part in zip(arrays.axes, arrays.parts, strict=True)]


_WHOLE = slice(None)


def plain_item(key: Any, shape: tuple[int, ...]) -> tuple[Span | np.ndarray[Any, Any], int, bool] | None:
    """Return what a key of one item selects along an axis, the axis, and whether the key drops it; None for others.

    An integer, a slice or a vector, alone or behind ``:``, is quickly recognized.
    """
    axis, item = 0, key
    if type(key) is tuple and len(key) == 2 and type(key[0]) is slice and key[0] == _WHOLE:
        axis, item = 1, key[1]
    if axis >= len(shape):
        return None
    if type(item) is slice:
        return _of_slice(item, axis, shape[axis]), axis, False
    if type(item) is int or isinstance(item, np.integer):
        return _of_integer(int(item), axis, shape[axis]), axis, True
    if type(item) is np.ndarray or type(item) is list:
        vector = np.asarray(item)
        if vector.ndim == 1 and vector.dtype.kind in "biu":
            return _indices(vector, axis, shape)[0], axis, False
    return None


def parse_key(key: Any, shape: tuple[int, ...]) -> Key:
    """Return the parsed key for a tensor of a shape."""
    items = _of_every_axis([_item(part) for part in (key if isinstance(key, tuple) else (key,))], shape)
    several = any(isinstance(item, (np.ndarray, bool, StorageHolder)) for item in items)
    spans: list[Span] = []
    dropped: list[int] = []
    places: list[int | None] = []
    indices: list[np.ndarray[Any, Any]] = []
    truths: list[np.ndarray[Any, Any]] = []
    axes: list[int] = []
    # Runs of consecutive arrays. If there are several, NumPy puts the arrays' axes first in the result.
    runs, inside, axis = 0, False, 0
    for item in items:
        if item is None or item is Ellipsis:
            places += [None] * (item is None)
            inside = False
        elif isinstance(item, slice):
            spans.append(_of_slice(item, axis, shape[axis]))
            places.append(axis)
            inside = False
            axis += 1
        elif not several:
            spans.append(_of_integer(item, axis, shape[axis]))
            dropped.append(axis)
            axis += 1
        else:  # beside arrays, integers are arrays, too
            if not inside:
                runs, inside = runs + 1, True
                places += [-1] * (runs == 1)
            if isinstance(item, bool):  # an array with one element or none, to broadcast with the others
                truths.append(np.zeros(int(item), np.int64))
                continue
            for index in _indices(item, axis, shape):
                indices.append(index)
                axes.append(axis)
                axis += 1
    if not several:
        return Key(tuple(spans), tuple(dropped), None, tuple(places))
    if runs > 1:
        places.remove(-1)
        places.insert(0, -1)
    arrays = Arrays(tuple(axes), tuple(indices), _broadcast(indices, truths), runs > 1)
    return Key(tuple(spans), (), arrays, tuple(places))


_WRONG = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
    "indices"
)


def _item(part: Any) -> Any:
    """Return a part of a key as a slice, None, Ellipsis, an integer, a boolean, an array, or a tensor of booleans."""
    if part is None or part is Ellipsis or isinstance(part, slice):
        return part
    if isinstance(part, StorageHolder):
        storage = storage_of(part)
        if storage.dtype == bool:
            return part if storage.shape else bool(part)
        if storage.dtype.kind not in "iu":
            raise IndexError(_WRONG)
        part = part.todense()  # type: ignore[attr-defined]
    if isinstance(part, (int, np.integer)) and not isinstance(part, bool):
        return operator.index(part)
    array = np.asarray(part)
    if array.size == 0 and not isinstance(part, np.ndarray):
        array = array.astype(np.intp)  # an empty list, which NumPy reads as float64
    if array.dtype == bool:
        return array if array.ndim else bool(array)
    if array.dtype.kind not in "iu":
        if isinstance(part, np.ndarray):
            raise IndexError(f"arrays used as indices must be of integer (or boolean) type, not {part.dtype}")
        if hasattr(part, "__index__"):
            return operator.index(part)
        raise IndexError(_WRONG)
    return array if array.ndim else int(array)


def _axes_of(item: Any) -> int:
    """Return how many axes of the tensor an item is for: a mask is for several, and a boolean for none."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, StorageHolder):
        return len(storage_of(item).shape)
    return item.ndim if isinstance(item, np.ndarray) and item.dtype == bool else 1


def _of_every_axis(items: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """Return the items with a slice for each axis that no item names, at the ellipsis or at the end.

    An ellipsis that means no axis is kept, since it separates the arrays at its sides.
    """
    named = sum(map(_axes_of, items))
    if named > len(shape):
        raise IndexError(f"too many indices for array: array is {len(shape)}-dimensional, but {named} were indexed")
    slices: list[Any] = [slice(None)] * (len(shape) - named)
    dots = [k for k, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if not dots:
        return [*items, *slices]
    return [*items[: dots[0]], *(slices or [Ellipsis]), *items[dots[0] + 1 :]]


def _of_slice(item: slice, axis: int, size: int) -> Span:
    start, stop, step = item.indices(size)
    count = len(range(start, stop, step))
    # Less than two coordinates need no step, which may be large. An empty span may not start at -1.
    return Span(axis, start if count else 0, step if count > 1 else 1, count)


def _of_integer(index: int, axis: int, size: int) -> Span:
    if not -size <= index < size:
        raise _out_of_bounds(index, axis, size)
    return Span(axis, index + size if index < 0 else index, 1, 1)


def _indices(item: Any, axis: int, shape: tuple[int, ...]) -> Sequence[np.ndarray[Any, Any]]:
    """Return an array of indices for each axis of an item, counted from the start; those of a mask's true elements."""
    if isinstance(item, StorageHolder):
        storage = storage_of(item)
        _fits(storage.shape, shape, axis)
        if storage.type.fill:  # true almost everywhere: as many indices as elements
            return np.nonzero(item.todense())  # type: ignore[attr-defined]
        coo = foreign_tensors.convert(storage, "coo")
        return [crd[coo.vals].astype(np.intp) for crd in coo.arrays[1:]]
    index, size = np.asarray(item), shape[axis]
    if index.dtype == bool:
        _fits(index.shape, shape, axis)
        return index.nonzero()
    if not index.size:
        return (index.astype(np.int64),)
    low = index.min()
    if low < -size or index.max() >= size:
        outside = (index < -size) | (index >= size)
        raise _out_of_bounds(int(index[outside].reshape(-1)[0]), axis, size)
    index = index.astype(np.int64, copy=False)  # int64 holds the size, whatever the dtype of the indices
    return (np.where(index < 0, index + size, index) if low < 0 else index,)


def _fits(mask: tuple[int, ...], shape: tuple[int, ...], axis: int) -> None:
    for k, (have, want) in enumerate(zip(mask, shape[axis:], strict=False)):
        if have not in (0, want):  # a mask without elements chooses none of any axis
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + k}; size of axis is {want} "
                f"but size of corresponding boolean axis is {have}"
            )


def _broadcast(indices: list[np.ndarray[Any, Any]], truths: list[np.ndarray[Any, Any]]) -> tuple[int, ...]:
    """Return the shape to which arrays broadcast."""
    shape: tuple[int, ...]
    try:
        shape = np.broadcast_shapes(*(index.shape for index in (*indices, *truths)))
    except ValueError:
        shapes = "".join(str(i.shape).replace(", ", ",") + " " for i in (*indices, *truths) if i.ndim)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}"
        ) from None
    return shape


def _out_of_bounds(index: int, axis: int, size: int) -> IndexError:
    return IndexError(f"index {index} is out of bounds for axis {axis} with size {size}")
