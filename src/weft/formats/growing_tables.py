"""Formats whose entries are in hash tables that grow (2018 paper, section 3.4)."""

from __future__ import annotations

from .capabilities import HashTable
from .format import Format


def tables_of(format: Format) -> Format | None:
    """Return the format with the same arrays whose levels are located by arithmetic above growing tables, or None."""
    seen = format.looked_up or format
    if not format.is_unique or format.is_structured or not seen.levels or not seen.levels[-1].capability(HashTable):
        return None
    return seen if all(level.row_major and not level.roles for level in seen.levels[:-1]) else None
