"""Entries put into hash tables one by one, the tables growing as they fill (2018 paper, section 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..codegen import emit_module
from ..formats import TensorType
from ..ir import simplify
from ..lowering.conversions import triples_format
from ..lowering.growing import FULL, Growing, tables_of
from ..remapping import Remapping
from ..runtime import load, memory
from ..runtime.structs import counts_pointer
from ..storage import Storage, tensor_type
from .convert import listed
from .passes import over_entries

__all__ = ["empty_tables", "inserted", "list_of"]


def list_of(shape: tuple[int, ...], rows: Sequence[np.ndarray[Any, Any]], vals: np.ndarray[Any, Any]) -> Storage:
    """Entries as a list that promises nothing."""
    arrays = (np.array([0, len(vals)]), *(np.ascontiguousarray(row, np.int64) for row in rows))
    format = triples_format(Remapping.identity(len(shape)))
    type = tensor_type(vals.dtype.name, format, ("int64",) * len(arrays))
    return Storage(shape, type, arrays, np.ascontiguousarray(vals))


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
    made = Storage(storage.shape, storage.type, tuple(a.copy() for a in storage.arrays), storage.vals.copy())
    counts = np.array([0], np.int64)
    while True:
        taken = made.arrays[1].reshape(_tables(made.type, made.shape), -1) >= 0
        used = taken.sum(axis=1, dtype=np.int64)
        if not _run(made, entries, int(counts[0]), used, counts, adds):
            return made
        larger = _with_width(made.shape, made.type, 2 * int(made.arrays[0][0]))
        _run(larger, listed(made), 0, np.zeros(len(used), np.int64), np.zeros(1, np.int64), False)
        made = larger


def _run(made: Storage, entries: Storage, start: int, used: np.ndarray, counts: np.ndarray, adds: bool) -> bool:
    """Insert the entries from ``start`` on; whether a table became full, at the entry that ``counts`` says then."""
    bounds = np.array([start, len(entries.vals)], entries.arrays[0].dtype)
    rest = Storage(entries.shape, entries.type, (bounds, *entries.arrays[1:]), entries.vals)
    result = Storage(made.shape, made.type, (*made.arrays, used), made.vals)
    status = _module(entries.type, made.type, adds)["grow"](result.struct, rest.struct, counts_pointer(counts), 1)
    return bool(status == FULL)


@lru_cache(maxsize=256)
def _module(source: TensorType, target: TensorType, adds: bool) -> Any:
    seen = tables_of(target.format)
    assert seen is not None
    # What is absent from the list stays as it is, whatever that is.
    entries = TensorType(source.dtype, source.format, source.index_dtypes, target.fill)
    lowered = over_entries(entries, target)
    s = lowered.schedule
    types = {**s.types, "B": TensorType(target.dtype, seen, target.index_dtypes, target.fill)}
    function = Growing(s.program, s.target, types, lowered.names, adds).lower(("A",))
    return load(emit_module((simplify(function),)), ["grow"], 2)
