"""A tensor as lines along one axis: what searching, sorting and counting need, on arrays as long as what is stored.

The lines are the rows of a matrix whose columns are that axis; entries come line by line, by column. Line ``r`` holds
entries ``edges[r]`` to ``edges[r + 1]``; what it does not hold is the fill value.
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

__all__ = ["Lines", "lines"]

Array = np.ndarray[Any, Any]


@record
class Lines:
    """The entries of a tensor, line by line.

    Parameters
    ----------
    row, column : ndarray
        Where each entry is, in lexicographic order.
    values : ndarray
        The entries.
    fill : object
        The value of what is not stored, a NumPy scalar.
    count, length : int
        How many lines there are, and how many elements each has.
    shape : tuple of int
        The shape that the lines have: the tensor's, without the axis.
    """

    row: Array
    column: Array
    values: Array
    fill: Any
    count: int
    length: int
    shape: tuple[int, ...]

    @property
    def edges(self) -> Array:
        """Where each line begins among the entries, and the end."""
        require_dense((self.count + 1,), np.dtype(np.int64), "positions of every line")
        return np.searchsorted(self.row, np.arange(self.count + 1))

    @property
    def rank(self) -> Array:
        """How many entries come before each in its line."""
        starts, held = self._runs
        found: Array = np.arange(len(self.row)) - np.repeat(starts, held)
        return found

    @property
    def held(self) -> Array:
        """How many entries the line of each has."""
        _, held = self._runs
        found: Array = np.repeat(held, held)
        return found

    @property
    def _runs(self) -> tuple[Array, Array]:
        """Where each line that has entries begins among them, and how many it has."""
        n = len(self.row)
        first = np.ones(n, bool)
        first[1:] = self.row[1:] != self.row[:-1]
        starts = np.flatnonzero(first)
        return starts, np.diff(np.append(starts, n))


def lines(storage: Storage, axis: int | None) -> Lines:
    """The lines of a tensor along an axis; all elements as one line for None."""
    shape = storage.shape
    rest: tuple[int, ...] = ()
    if axis is None:
        turned, length = storage, math.prod(shape)
    else:
        order = (*(a for a in range(len(shape)) if a != axis), axis)
        turned, rest, length = storage.permuted(order), tuple(shape[a] for a in order[:-1]), shape[axis]
    count = math.prod(rest)
    flat = reshaped(turned, (count, length), coordinates(2))
    flat = execution.convert(flat, coordinates(2))
    fill = storage.dtype.type(storage.type.fill)
    row, column = (a.astype(np.int64, copy=False) for a in flat.arrays[1:])
    return Lines(row, column, flat.vals, fill, count, length, rest)
