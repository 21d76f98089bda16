"""Assignment ``A[key] = value``: replacement of the entries in a region.

A dense tensor is written in place. Some formats (hash tables, rows that can lengthen) take new entries without storing
the whole tensor anew. The first assignment to such a tensor copies it, since other tensors may share its arrays. Later
assignments are made in the copy, until the tensor is read as a whole. A tensor of any other format is stored anew, from
its entries outside the region and those of the value. Assignments to single elements are collected first, and then made
together.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import execution
from ..dtypes import as_values, index_dtype
from ..errors import ShapeError
from ..formats import Format
from ..records import cached
from ..storage import Storage, coordinate_storage
from .broadcasting import broadcast
from .elementwise import without_axes
from .entry_changes import assign_mask, listed, put, without
from .fill_change import require_dense, same_number
from .index_keys import Key, parse_key
from .indexing import coordinates
from .operands import StorageHolder, as_operand, storage_of
from .pending_writes import same_bits


def setitem(
    storage: Storage, room: execution.InsertionTarget | None, key: Any, value: Any
) -> tuple[Storage, execution.InsertionTarget | None]:
    """Return the tensor with the elements of ``key`` replaced.

    If a key selects an element more than once, the last value counts.
    """
    if not storage.format.is_dense and (mask := _sparse_mask(key, storage.shape)) is not None and np.ndim(value) == 0:
        number = _number(value, storage.dtype)
        removes = number is not None and same_number(number, storage.dtype.type(storage.type.fill))
        if removes or (number is not None and not execution.takes_insertions(storage.format)):
            return assign_mask(storage, mask, number), None
    parsed = parse_key(key, storage.shape)
    if storage.format.is_dense:
        _in_place(storage, key, value)
        return storage, None
    if np.ndim(value) and parsed.is_everything(storage.shape):
        operand = as_operand(value)
        if operand is not None and _replaces(source := operand.storage, storage):
            return execution.convert(source, storage.format).apart_from(source), None
    region = _Region(parsed, storage.shape)
    rows, vals = _entries(value, storage, region)
    if not region.elements:
        return storage, room
    if len(vals) == region.elements:  # each element of the region is stored: entries are only put in
        room = room or execution.insertion_target(storage)
        if room is not None:
            room.insert(rows, vals)
            return room.storage, room
        return put(storage, rows, vals), None
    if region.names_elements:
        mask = listed(storage.shape, region.named, np.ones(len(region.named[0]), bool))
        rest = without(storage, mask)
        return (put(rest, rows, vals) if len(vals) else rest), None
    # Entries of the region that become implicit must be taken out: the tensor is stored anew.
    coo = execution.convert(storage, coordinates(len(storage.shape)))
    outside = ~region.holds(coo.arrays[1:])
    dtypes = [index_dtype(n) for n in storage.shape]
    both = [
        np.concatenate([old[outside].astype(d, copy=False), new.astype(d, copy=False)])
        for old, new, d in zip(coo.arrays[1:], rows, dtypes, strict=True)
    ]
    every = np.concatenate([coo.vals[outside], vals])
    made = coordinate_storage(storage.shape, both, every, storage.type.fill)
    return execution.convert(made, storage.format), None


def _replaces(value: Storage, storage: Storage) -> bool:
    """Return whether a value that is assigned to a whole tensor has its elements as they are."""
    if value.is_on_device or value.shape != storage.shape or value.dtype != storage.dtype:
        return False
    return same_number(storage.dtype.type(value.type.fill), storage.dtype.type(storage.type.fill))


def _in_place(storage: Storage, key: Any, value: Any) -> None:
    items = key if isinstance(key, tuple) else (key,)
    dense = tuple(item.todense() if isinstance(item, StorageHolder) else item for item in items)  # type: ignore[attr-defined]
    storage.to_dense_array()[dense] = value.todense() if isinstance(value, StorageHolder) else value  # type: ignore[attr-defined]


class _Region:
    """Elements that a key selects, and the place of each in the key's result."""

    def __init__(self, key: Key, shape: tuple[int, ...]) -> None:
        self.key, self.tensor = key, shape
        self.arrays = key.arrays if key.arrays is not None and key.arrays.axes else None
        spans = {span.axis: span for span in key.spans}
        self.spans = spans
        self.shape: tuple[int, ...] = ()
        # The axis of the result at which an axis of the tensor, or those of the arrays (-1), begin.
        self.at: dict[int, int] = {}
        for place in key.places:
            if place is not None:
                self.at[place] = len(self.shape)
            arrays = key.arrays.shape if key.arrays is not None else ()
            self.shape += arrays if place == -1 else (1,) if place is None else (spans[place].count,)

    def holds(self, rows: tuple[np.ndarray[Any, Any], ...]) -> np.ndarray[Any, Any]:
        """Return a mask that says which of some coordinates are in the region."""
        inside = np.ones(len(rows[0]) if rows else 1, bool)
        for axis, span in self.spans.items():
            far = rows[axis].astype(np.int64) - span.start
            place, rest = np.divmod(far, span.step)
            inside &= (rest == 0) & (place >= 0) & (place < span.count)
        arrays = self.arrays
        if arrays is not None:
            sizes = [self.tensor[axis] for axis in arrays.axes]
            wanted = _numbered(tuple(index.reshape(-1) for index in arrays.indices), sizes)
            inside &= np.isin(_numbered(tuple(rows[axis] for axis in arrays.axes), sizes), wanted)
        return inside

    @cached
    def elements(self) -> int:
        """Return the number of elements of the tensor in the region."""
        if not self.repeats:
            return math.prod(self.shape)
        return self._distinct * math.prod(self.shape) // max(self._numbers.size, 1)

    @cached
    def repeats(self) -> bool:
        """Return whether the key selects an element twice; implicit entries of a value then matter, too."""
        return self.arrays is not None and self._distinct < len(self._numbers)

    @cached
    def _numbers(self) -> np.ndarray[Any, Any]:
        """Return a number for each tuple of indices in the arrays."""
        arrays = self.arrays
        assert arrays is not None
        return _numbered(tuple(i.reshape(-1) for i in arrays.indices), [self.tensor[axis] for axis in arrays.axes])

    @cached
    def _distinct(self) -> int:
        number = self._numbers
        # Numbers that increase, as those of a diagonal, are distinct without being sorted.
        return len(number) if (number[1:] > number[:-1]).all() else len(np.unique(number))

    @cached
    def names_elements(self) -> bool:
        """Return whether arrays name each element of the region."""
        return self.arrays is not None and len(self.arrays.axes) == len(self.tensor)

    @cached
    def named(self) -> list[np.ndarray[Any, Any]]:
        """Return the coordinates that arrays name, one array for each axis."""
        assert self.arrays is not None
        by_axis = dict(zip(self.arrays.axes, self.arrays.indices, strict=True))
        return [by_axis[axis].reshape(-1) for axis in range(len(self.tensor))]

    def coordinates(self, places: tuple[np.ndarray[Any, Any], ...]) -> list[np.ndarray[Any, Any]]:
        """Return the tensor's coordinates for some places of the result, one integer array for each axis."""
        rows: list[np.ndarray[Any, Any]] = [np.empty(0)] * len(self.tensor)
        for axis, span in self.spans.items():
            if axis in self.key.dropped:
                rows[axis] = np.full(len(places[0]) if places else 1, span.start)
            else:
                rows[axis] = span.start + places[self.at[axis]].astype(np.int64) * span.step
        arrays = self.arrays
        if arrays is not None:
            # The axes of the arrays are consecutive in the result.
            begin = self.at[-1]
            which = tuple(places[begin : begin + len(arrays.shape)])
            for axis, index in zip(arrays.axes, arrays.indices, strict=True):
                rows[axis] = index[which] if which else np.full(len(places[0]) if places else 1, index)
        return rows


def _numbered(rows: tuple[np.ndarray[Any, Any], ...], sizes: list[int]) -> np.ndarray[Any, Any]:
    """Return one integer for each tuple of coordinates, different for different tuples."""
    # Python integers serve if 64-bit integers are too few.
    number = np.zeros(len(rows[0]), np.int64 if math.prod(sizes) < 2**63 else object)
    for row, size in zip(rows, sizes, strict=True):
        number = number * size + row
    return number


def _entries(value: Any, storage: Storage, region: _Region) -> tuple[list[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """Return the coordinates in the tensor, and the values, of the entries to store for a value.

    Entries equal to the tensor's fill value are left out, unless they are stored in a sparse value.
    """
    dtype, fill = storage.dtype, storage.dtype.type(storage.type.fill)
    tensor = None if np.isscalar(value) else as_operand(value)
    if tensor is not None and not tensor.storage.format.is_dense:
        # A sparse value of the same fill value is not made dense: its stored entries are all there is to store.
        if same_number(dtype.type(tensor.storage.type.fill), fill) and not region.repeats:
            fits = _trimmed(tensor.storage.shape, region.shape)
            more = len(tensor.storage.shape) - len(fits)
            whole = broadcast(without_axes(tensor.storage, list(range(more))), region.shape)
            coo = execution.convert(whole, coordinates(len(region.shape)))
            places = tuple(coo.arrays[1:])
            return _last(region.coordinates(places), coo.vals.astype(dtype, copy=False), storage.shape)
        require_dense(tensor.storage.shape, dtype, "all elements of the value")
        value = execution.convert(tensor.storage, Format.dense(len(tensor.storage.shape))).to_dense_array()
    values = as_values(value.todense() if isinstance(value, StorageHolder) else value, dtype)  # type: ignore[attr-defined]
    values = values.reshape(_trimmed(values.shape, region.shape))
    size = math.prod(region.shape)
    if values.size == 1 and same_number(values.reshape(-1)[0], fill):
        return [np.empty(0, np.int64)] * len(storage.shape), np.empty(0, dtype)
    require_dense(region.shape, dtype, "the elements of the region")
    whole_values = np.ascontiguousarray(np.broadcast_to(values, region.shape)).reshape(-1)
    # Elements equal to the fill value must take part: for an element selected twice, the last value counts.
    if region.names_elements:
        rows = region.named
    else:
        rows = region.coordinates(np.unravel_index(np.arange(size), region.shape) if region.shape else ())
    rows, vals = _last(rows, whole_values, storage.shape) if region.repeats else (rows, whole_values)
    # Compared bit by bit, so that NaN equals NaN and -0.0 differs from 0.0.
    same = same_bits(vals, fill)
    return ([row[~same] for row in rows], vals[~same]) if same.any() else (rows, vals)


def _sparse_mask(key: Any, shape: tuple[int, ...]) -> Storage | None:
    """Return a key that is one sparse tensor of booleans over all axes, true where it has entries; None for others."""
    if not isinstance(key, StorageHolder):
        return None
    mask = storage_of(key)
    fits = mask.type.dtype == "bool" and mask.shape == shape and shape and not mask.format.is_dense
    return mask if fits and not mask.type.fill else None


def _number(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a number in a dtype; None if a value is none."""
    if isinstance(value, StorageHolder):
        return None
    found = as_values(value, dtype)
    return found[()] if found.shape == () else None


def _trimmed(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """Return ``shape`` without superfluous leading axes of size 1; raise an error if it does not fit ``wanted``."""
    trimmed = shape
    while len(trimmed) > len(target) and trimmed[0] == 1:
        trimmed = trimmed[1:]
    fits = len(trimmed) <= len(target) and all(
        a in (1, b) for a, b in zip(trimmed, target[len(target) - len(trimmed) :], strict=True)
    )
    if not fits:
        raise ShapeError(f"could not broadcast input array from shape {shape} into shape {target}".replace(", ", ","))
    return trimmed


def _last(
    rows: list[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any], shape: tuple[int, ...]
) -> tuple[list[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """Return the last of all entries with the same coordinates."""
    if len(vals) < 2:
        return rows, vals
    number = _numbered(tuple(rows), list(shape))
    # The first occurrence in reversed order is the last occurrence.
    _, first = np.unique(number[::-1], return_index=True)
    if len(first) == len(vals):
        return rows, vals
    keep = len(vals) - 1 - first
    return [row[keep] for row in rows], vals[keep]
