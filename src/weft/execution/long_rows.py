"""A question about an operand: whether it has long rows. A few entries that are far apart tell it."""

from __future__ import annotations

import numpy as np

from ..storage import Storage
from .facts import RowFacts


def has_long_row(storage: Storage, rows: RowFacts) -> bool:
    """Return whether a row has more entries than a piece, and than the usual part of all entries."""
    # One of the entries that are as many apart is in such a row.
    if rows.listed:
        (coordinates,) = [storage.arrays[n] for n in rows.arrays]
        most = max(rows.piece, coordinates.size // rows.parts + 1)
        seen = coordinates[most::most]
        first, last = (np.searchsorted(coordinates, seen, side) for side in ("left", "right"))
    else:
        edges = [storage.arrays[n] for n in rows.arrays]
        begin, total = int(edges[0][0]), int(edges[0][-1] - edges[0][0])
        most = max(rows.piece, total // rows.parts + 1)
        first = np.arange(begin + most, begin + total, most)
        for array in edges:
            first = np.searchsorted(array, first.astype(array.dtype), "right") - 1
        last = first + 1
        for array in reversed(edges):
            first, last = array[first], array[last]
    return bool((last - first > most).any())
