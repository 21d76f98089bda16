"""Insertion of entries into tensors in batches: hash tables grow (2018 paper, section 3.4), segments lengthen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..abi import FULL
from ..config import config
from ..dtypes import INT32_MAX, index_dtype, name_of
from ..formats import Format, TensorType
from ..formats.append_chains import coordinate_list_format
from ..formats.capabilities import GrowingSegments, HashTable
from ..formats.growing_tables import tables_of
from ..formats.level import LevelEntries
from ..remapping import Remapping
from ..runtime import memory
from ..runtime.interrupts import fail
from ..runtime.structs import counts_pointer
from ..storage import Storage, tensor_type
from .entry_lists import list_entries
from .facts import TableRequest
from .loops import Loops, show
from .plan_cache import kept

Ints = np.ndarray[Any, np.dtype[np.int64]]


def list_of(shape: tuple[int, ...], rows: Sequence[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any]) -> Storage:
    """Return entries as an unsorted coordinate list, which may have duplicates."""
    arrays = (np.array([0, len(vals)]), *(np.ascontiguousarray(row, np.int64) for row in rows))
    return Storage(shape, _list_type(name_of(vals.dtype), len(shape)), arrays, np.ascontiguousarray(vals))


@lru_cache(maxsize=256)
def _list_type(dtype: str, order: int) -> TensorType:
    return tensor_type(dtype, coordinate_list_format(Remapping.identity(order)), ("int64",) * (order + 1))


_LEAST = 16  # slots of the smallest table


def _with_widths(shape: tuple[int, ...], type: TensorType, widths: Ints) -> Storage:
    """Return a tensor without stored entries, whose hash tables have these numbers of slots."""
    edges = np.concatenate([[0], np.cumsum(widths)])
    size, arrays = int(edges[-1]), []
    if size > INT32_MAX and "int32" in type.index_dtypes:
        type = tensor_type(type.dtype, type.format, ("int64",) * len(type.index_dtypes), type.fill)
    for (_, role), dtype in zip(type.format.roles, type.index_dtypes, strict=True):
        if role == "crd":
            array = memory.empty(size, np.dtype(dtype))
            array[...] = -1  # marks a free slot
        else:
            array = (edges if role == "pos" else widths).astype(dtype)
        arrays.append(array)
    vals = memory.empty(size, np.dtype(type.dtype))
    vals[...] = type.fill
    return Storage(shape, type, tuple(arrays), vals)


def _widths(storage: Storage) -> Ints:
    """Return the number of slots of each table."""
    role = dict(zip((role for _, role in storage.format.roles), storage.arrays, strict=True))
    return np.diff(role["pos"]).astype(np.int64) if "pos" in role else role["width"].astype(np.int64)


def _tables(type: TensorType, shape: tuple[int, ...]) -> int:
    """Return the number of hash tables of a tensor."""
    seen = tables_of(type.format)
    assert seen is not None
    parents = 1
    for level, n in zip(seen.levels[:-1], seen.level_shape(shape), strict=False):
        parents = level.size(parents, n, {})
    return seen.levels[-1].require(HashTable).tables(parents)


def inserted(storage: Storage, entries: Storage, adds: bool) -> Storage:
    """Insert entries, in any order and with duplicates, into a copy of a tensor."""
    room = HashTables(storage)
    room.put(entries, adds)
    return room.storage


class InsertionTarget(ABC):
    """A copy of a tensor into which entries are inserted in place, one batch after another.

    If the insertion of a batch is interrupted, it is continued before the tensor is next read.
    """

    def __init__(self, storage: Storage) -> None:
        # New entries may come with any coordinates of the shape.
        wide = index_dtype(max(storage.shape, default=0))
        arrays = tuple([array.astype(np.promote_types(array.dtype, wide)) for array in storage.arrays])
        old = storage.type
        type = tensor_type(old.dtype, old.format, tuple([name_of(array.dtype) for array in arrays]), old.fill)
        self.made = Storage(storage.shape, type, arrays, storage.vals.copy())

    @property
    @abstractmethod
    def storage(self) -> Storage:
        """Tensor with all entries that were inserted."""

    @abstractmethod
    def insert(self, rows: Sequence[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any]) -> None:
        """Insert entries, each in place of the one with its coordinates; of duplicates the last one stays."""


def insertion_target(storage: Storage) -> InsertionTarget | None:
    """Return a copy of a tensor for insertion in place; None if its format has to be assembled anew for new entries."""
    if tables_of(storage.format) is not None:
        return HashTables(storage)
    return LongerSegments(storage) if takes_insertions(storage.format) else None


def takes_insertions(format: Format) -> bool:
    """Return whether entries are inserted in place into tensors of a format."""
    if tables_of(format) is not None:
        return True
    # Else segments of the last level may grow, if the levels above have every coordinate and no arrays.
    above = format.levels[:-1]
    if format.is_structured or not format.is_unique or not format.levels:
        return False
    if format.levels[-1].capability(GrowingSegments) is None:
        return False
    return all(level.row_major and not level.roles for level in above)


class HashTables(InsertionTarget):
    """Hash tables that grow: once a table is half full, those that entries to come may fill are hashed anew."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        # The kernel keeps a count of the taken slots of each table, which the format does not store.
        taken = np.concatenate([[0], np.cumsum(self.made.arrays[1] >= 0)])
        self.used = np.diff(taken[np.concatenate([[0], np.cumsum(_widths(self.made))])])
        # The batch that is being inserted: the list, its first entry that is left, and the rule for duplicates.
        self._left: tuple[Storage, int, bool] | None = None

    @property
    def storage(self) -> Storage:
        self._go_on()
        return self.made

    def insert(self, rows: Sequence[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any]) -> None:
        self.put(list_of(self.made.shape, rows, vals), adds=False)

    def put(self, entries: Storage, adds: bool) -> None:
        """Insert a coordinate list, duplicates included.

        Values are added to those at the same coordinates if ``adds`` is true, and replace these otherwise.
        """
        self._go_on()
        self._left = entries, 0, adds
        self._go_on()

    def _go_on(self) -> None:
        """Insert the entries that are left of a batch.

        After an interrupt, the entries since the last growth of the tables are inserted once more.
        """
        counts = np.array([0], np.int64)
        while self._left is not None:
            entries, start, adds = self._left
            if not _run(self.made, entries, start, self.used, counts, adds):
                self._left = None
                break
            self._left = entries, int(counts[0]), adds
            # A table is full: entries move to tables of twice the width where more may come, then the batch goes on.
            coming = np.bincount(self._tables_of(entries, int(counts[0])), minlength=len(self.used))
            widths = _widths(self.made)
            widths[2 * (self.used + coming) > widths] *= 2
            larger = _with_widths(self.made.shape, self.made.type, widths)
            used = np.zeros(len(self.used), np.int64)
            _run(larger, list_entries(self.made), 0, used, np.zeros(1, np.int64), False)
            self.made, self.used = larger, used

    def _tables_of(self, entries: Storage, start: int) -> Ints:
        """Return the table of each entry of a list from a place on."""
        if len(self.used) == 1:
            return np.zeros(len(entries.vals) - start, np.int64)
        return _parents(self.made, [row[start:] for row in entries.arrays[1:]])


def _parents(storage: Storage, rows: Sequence[np.ndarray[Any, Any]]) -> Ints:
    """Return the parent of each entry in the last level, above which levels have every coordinate."""
    parents = np.zeros(len(rows[0]), np.int64)
    for mode in storage.format.mode_order[:-1]:
        parents = parents * storage.shape[mode] + rows[mode]
    return parents


class LongerSegments(InsertionTarget):
    """Segments of coordinates that are lengthened."""

    @property
    def storage(self) -> Storage:
        return self.made

    def insert(self, rows: Sequence[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any]) -> None:
        result = self.made
        format, last = result.format, result.format.levels[-1].require(GrowingSegments)
        entries = LevelEntries(_parents(result, rows), rows[format.mode_order[-1]], vals, result.type.fill)
        arrays, values = last.lengthened(dict(zip(last.roles, result.arrays, strict=True)), result.vals, entries)
        self.made = Storage(result.shape, result.type, tuple(arrays[role] for role in last.roles), values)


def _run(table: Storage, entries: Storage, start: int, used: np.ndarray, counts: np.ndarray, adds: bool) -> bool:
    """Insert entries from ``start`` on, and return whether a table became full.

    If so, ``counts`` holds the first entry that is left.
    """
    # The pass over a list begins at the bounds of its first level: the rest of a list is the list with other bounds.
    bounds = np.array([start, len(entries.vals)], entries.arrays[0].dtype)
    rest = Storage(entries.shape, entries.type, (bounds, *entries.arrays[1:]), entries.vals)
    result = Storage(table.shape, table.type, (*table.arrays, used), table.vals)
    grow = table_insertion(entries.type, table.type, adds).functions("tables")["grow"]
    status = grow(result.struct, rest.struct, counts_pointer(counts), 1)
    if status and status != FULL:
        fail(status, f"inserting entries into a tensor of shape {table.shape} in format {table.format}")
    return bool(status == FULL)


@kept
def table_insertion(source: TensorType, target: TensorType, adds: bool) -> Loops:
    """Return the loops that insert a coordinate list into hash tables, until a table is full."""
    loops = Loops(TableRequest(source, target, adds, config.code))
    show(loops)
    return loops
