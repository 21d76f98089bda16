"""Lines of a tensor along one axis, for searching, sorting and counting.

The lines are the rows of a matrix whose columns are that axis. Entries are ordered by line, then by column. Line ``r``
holds entries ``edges[r]`` to ``edges[r + 1]``; all its other elements are implicit. Arrays are as long as the number of
stored entries, except ``edges``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import execution
from ..records import record
from ..storage import Storage
from .fill_change import require_dense
from .indexing import coordinates
from .reshaping import reshaped

Array = np.ndarray[Any, Any]


@record
class Lines:
    """Entries of a tensor, line by line."""

    row: Array  # the line of each entry; entries are in lexicographic order
    column: Array  # the place of each entry in its line
    values: Array  # the values of the entries
    fill: Any  # the value of implicit entries, a NumPy scalar
    count: int  # the number of lines
    length: int  # the number of elements in each
    shape: tuple[int, ...]  # the shape in which the lines are arranged: the tensor's, without the axis

    @property
    def edges(self) -> Array:
        """Position of the first entry of each line, and the end of the last line."""
        require_dense((self.count + 1,), np.dtype(np.int64), "positions of every line")
        return np.searchsorted(self.row, np.arange(self.count + 1))

    @property
    def rank(self) -> Array:
        """Number of entries before each entry in its line."""
        starts, held = self._runs
        found: Array = np.arange(len(self.row)) - np.repeat(starts, held)
        return found

    @property
    def held(self) -> Array:
        """Number of entries in the line of each entry."""
        _, held = self._runs
        found: Array = np.repeat(held, held)
        return found

    @property
    def _runs(self) -> tuple[Array, Array]:
        """Position of the first entry of each line that has entries, and the number of its entries."""
        n = len(self.row)
        first = np.ones(n, bool)
        first[1:] = self.row[1:] != self.row[:-1]
        starts = np.flatnonzero(first)
        return starts, np.diff(np.append(starts, n))


def lines(storage: Storage, axis: int | None) -> Lines:
    """Return the lines of a tensor along an axis."""
    shape = storage.shape
    rest: tuple[int, ...] = ()
    if axis is None:
        turned, length = storage, math.prod(shape)
    else:
        # The axis becomes the last one, and all other axes are numbered together as the lines.
        order = (*(a for a in range(len(shape)) if a != axis), axis)
        turned, rest, length = storage.permuted(order), tuple(shape[a] for a in order[:-1]), shape[axis]
    count = math.prod(rest)
    flat = reshaped(turned, (count, length), coordinates(2))
    flat = execution.convert(flat, coordinates(2))
    fill = storage.dtype.type(storage.type.fill)
    row, column = (a.astype(np.int64, copy=False) for a in flat.arrays[1:])
    return Lines(row, column, flat.vals, fill, count, length, rest)
