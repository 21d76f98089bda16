"""Checks of a tensor's entries, which a compiled kernel lists: whether a format can hold them, and holds each once."""

from __future__ import annotations

from ..errors import StorageError
from ..formats import Format
from ..remapping.nodes import counters_of
from ..storage import Storage, check
from ..storage.fitness import repeated, why_unfit
from .conversion import list_entries

__all__ = ["verify", "verify_entries"]


def verify(storage: Storage) -> None:
    """Raise unless arrays satisfy every invariant of their format, each by itself and all together.

    Raises
    ------
    StorageError
        Names the level, or the coordinate that is stored twice.
    """
    check(storage)  # first: the kernel that lists the entries trusts the arrays
    verify_entries(storage)


def verify_entries(storage: Storage) -> None:
    """Raise unless arrays, each of which is as its level wants it, hold each entry once and fit the format.

    Raises
    ------
    StorageError
        Names the level, or the coordinate that is stored twice.
    """
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


def _shown_by_levels(format: Format) -> bool:
    """Tell whether levels that check their own segments show that no whole coordinate comes twice.

    Counters make rows of one coordinate differ, and chains without segments compare none of their tuples.
    """
    if any(counters_of(c) for c in format.remapping.coordinates):
        return False
    heads = [format.levels[chain.start] for chain in format.level_groups if len(chain) > 1]
    return all("pos" in head.roles for head in heads)
