"""Checks of a tensor's entries, which a compiled kernel lists: each is stored once, and the format can hold them."""

from __future__ import annotations

from functools import lru_cache

from ..errors import StorageError
from ..formats import Format
from ..remapping.nodes import counters_of
from ..storage import Storage, check
from ..storage.fitness import repeated, why_unfit
from .entry_lists import list_entries


def verify(storage: Storage) -> None:
    """Check the arrays of a tensor for every invariant of its format."""
    check(storage)  # first, since the kernel that lists the entries trusts the arrays
    verify_entries(storage)


def verify_entries(storage: Storage) -> None:
    """Check that a tensor stores each entry once, and only entries that fit its format."""
    format = storage.format
    twice = format.is_unique and not _shown_by_levels(format)
    if not (twice or format.conditions) or not storage.shape:
        return
    coords = list_entries(storage).arrays[1:]
    reason = why_unfit(format, storage.shape, coords)
    if reason is None and twice and (found := repeated(coords)) is not None:
        reason = f"the coordinate {found} is stored twice"
    if reason is not None:
        raise StorageError(f"{reason}; the tensor has shape {storage.shape} and format {format}")


@lru_cache(maxsize=1024)
def _shown_by_levels(format: Format) -> bool:
    """Return whether the checks of single levels show that no coordinate is stored twice.

    Such checks are not enough for formats with counters, which make rows of one coordinate differ. Nor are they enough
    for chains of levels without segments, whose tuples of coordinates are not compared with each other.
    """
    if any(counters_of(c) for c in format.remapping.coordinates):
        return False
    heads = [format.levels[chain.start] for chain in format.level_groups if len(chain) > 1]
    return all("pos" in head.roles for head in heads)
