"""Entries put into tensors one batch after another: tables grow (2018 paper, section 3.4), rows lengthen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..assembly.hash_insertion import FULL, HashInsertionLowerer, tables_of
from ..codegen import print_module
from ..compiler import schedule_entry_loops
from ..dtypes import name_of
from ..formats import TensorType
from ..formats.level import LevelEntries
from ..ir.passes.simplify import simplify
from ..remapping import Remapping
from ..runtime import memory
from ..runtime.interrupts import fail
from ..runtime.loader import load
from ..runtime.structs import counts_pointer
from ..scheduling.operand_conversions import coordinate_list_format
from ..storage import Storage, tensor_type
from .entry_lists import list_entries

__all__ = ["InsertionTarget", "empty_tables", "inserted", "insertion_target", "list_of"]


def list_of(shape: tuple[int, ...], rows: Sequence[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any]) -> Storage:
    """Entries as a list that promises nothing."""
    arrays = (np.array([0, len(vals)]), *(np.ascontiguousarray(row, np.int64) for row in rows))
    return Storage(shape, _list_type(name_of(vals.dtype), len(shape)), arrays, np.ascontiguousarray(vals))


@lru_cache(maxsize=256)
def _list_type(dtype: str, order: int) -> TensorType:
    return tensor_type(dtype, coordinate_list_format(Remapping.identity(order)), ("int64",) * (order + 1))


def empty_tables(shape: tuple[int, ...], type: TensorType) -> Storage:
    """A tensor of no entries, whose tables are as small as tables are."""
    return _with_width(shape, type, _LEAST)


_LEAST = 16


def _with_width(shape: tuple[int, ...], type: TensorType, width: int) -> Storage:
    """A tensor of no entries whose tables have ``width`` slots."""
    tables = _tables(type, shape)
    size = tables * width
    arrays = []
    for (_, role), dtype in zip(type.format.roles, type.index_dtypes, strict=True):
        array = memory.empty(1 if role == "width" else size, np.dtype(dtype))
        array[...] = width if role == "width" else -1
        arrays.append(array)
    vals = memory.empty(size, np.dtype(type.dtype))
    vals[...] = type.fill
    return Storage(shape, type, tuple(arrays), vals)


def _tables(type: TensorType, shape: tuple[int, ...]) -> int:
    """How many tables there are."""
    seen = tables_of(type.format)
    assert seen is not None
    parents = 1
    for level, n in zip(seen.levels[:-1], seen.level_shape(shape), strict=False):
        parents = level.size(parents, n, {})
    return seen.levels[-1].tables(parents)


def inserted(storage: Storage, entries: Storage, adds: bool) -> Storage:
    """A tensor with more entries, which come in any order and more than once.

    Parameters
    ----------
    storage : Storage
        Tables; they stay as they are.
    entries : Storage
        A list of coordinates.
    adds : bool
        Whether a value is added to one that is there, or takes its place.
    """
    room = HashTables(storage)
    room.put(entries, adds)
    return room.storage


class InsertionTarget(ABC):
    """A copy of a tensor that entries are put into where it stands, one batch after another.

    A batch whose insertion is interrupted is inserted from where that was before the tensor is looked at.
    """

    def __init__(self, storage: Storage) -> None:
        arrays = tuple(array.copy() for array in storage.arrays)
        self.made = Storage(storage.shape, storage.type, arrays, storage.vals.copy())

    @property
    @abstractmethod
    def storage(self) -> Storage:
        """The tensor with all that was put in."""

    @abstractmethod
    def insert(self, rows: Sequence[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any]) -> None:
        """Put entries in, each in the place of one with its coordinates; what comes last stays."""


def insertion_target(storage: Storage) -> InsertionTarget | None:
    """Where entries can be put into a tensor of this format; None where it has to be stored anew for them."""
    format = storage.format
    if tables_of(format) is not None:
        return HashTables(storage)
    above = format.levels[:-1]
    if format.is_structured or not format.is_unique or not format.levels or not format.levels[-1].lengthens:
        return None
    return GrowingSegments(storage) if all(level.has_every and not level.roles for level in above) else None


class HashTables(InsertionTarget):
    """Hash tables, which grow and are hashed anew when they are half full."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        made = self.made
        tables = _tables(made.type, made.shape)
        taken = made.arrays[1].reshape(tables, len(made.vals) // max(tables, 1)) >= 0
        self.used = taken.sum(axis=1, dtype=np.int64)
        self._left: tuple[Storage, int, bool] | None = None

    @property
    def storage(self) -> Storage:
        self._go_on()
        return self.made

    def insert(self, rows: Sequence[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any]) -> None:
        self.put(list_of(self.made.shape, rows, vals), adds=False)

    def put(self, entries: Storage, adds: bool) -> None:
        """Insert a list of coordinates, whose values are added to those that are there, or take their place."""
        self._go_on()
        self._left = entries, 0, adds
        self._go_on()

    def _go_on(self) -> None:
        """Insert what is left; where that is interrupted the entries since ``start`` come once more."""
        counts = np.array([0], np.int64)
        while self._left is not None:
            entries, start, adds = self._left
            if not _run(self.made, entries, start, self.used, counts, adds):
                self._left = None
                break
            self._left = entries, int(counts[0]), adds
            larger = _with_width(self.made.shape, self.made.type, 2 * int(self.made.arrays[0][0]))
            used = np.zeros(len(self.used), np.int64)
            _run(larger, list_entries(self.made), 0, used, np.zeros(1, np.int64), False)
            self.made, self.used = larger, used


class GrowingSegments(InsertionTarget):
    """Segments of coordinates, which become longer."""

    @property
    def storage(self) -> Storage:
        return self.made

    def insert(self, rows: Sequence[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any]) -> None:
        made = self.made
        format, last = made.format, made.format.levels[-1]
        *outer, axis = format.mode_order
        parents = np.zeros(len(vals), np.int64)
        for mode in outer:
            parents = parents * made.shape[mode] + rows[mode]
        entries = LevelEntries(parents, rows[axis], vals, made.type.fill)
        arrays, values = last.lengthened(dict(zip(last.roles, made.arrays, strict=True)), made.vals, entries)
        self.made = Storage(made.shape, made.type, tuple(arrays[role] for role in last.roles), values)


def _run(made: Storage, entries: Storage, start: int, used: np.ndarray, counts: np.ndarray, adds: bool) -> bool:
    """Insert the entries from ``start`` on; whether a table became full, at the entry that ``counts`` says then."""
    bounds = np.array([start, len(entries.vals)], entries.arrays[0].dtype)
    rest = Storage(entries.shape, entries.type, (bounds, *entries.arrays[1:]), entries.vals)
    result = Storage(made.shape, made.type, (*made.arrays, used), made.vals)
    status = _module(entries.type, made.type, adds)["grow"](result.struct, rest.struct, counts_pointer(counts), 1)
    if status and status != FULL:
        fail(status, f"inserting entries into a tensor of shape {made.shape} in format {made.format}")
    return bool(status == FULL)


@lru_cache(maxsize=256)
def _module(source: TensorType, target: TensorType, adds: bool) -> Any:
    seen = tables_of(target.format)
    assert seen is not None
    # What is absent from the list stays as it is, whatever that is.
    entries = TensorType(source.dtype, source.format, source.index_dtypes, target.fill)
    lowered = schedule_entry_loops(entries, target)
    s = lowered.schedule
    types = {**s.types, "B": TensorType(target.dtype, seen, target.index_dtypes, target.fill)}
    function = HashInsertionLowerer(s.program, s.target, types, lowered.names, adds).lower(("A",))
    what = f"the insertion of entries into {target.format} {target.dtype}"
    return load(print_module((simplify(function),), shared=True), ["grow"], 2, what)
