"""Sizes of data from which alternatives are taken, in one record.

Modules read ``thresholds.THRESHOLDS`` when they ask, so that tests can put another record in its place.
"""

from __future__ import annotations

from ..records import record


@record
class Thresholds:
    """Sizes of data from which alternatives are taken."""

    # Coordinates of an axis, up to which a conversion on the way may make an array over it.
    longest_array: int = 1 << 26
    # Coordinates of a result for each entry of the operands, up to which most are expected to get a value.
    coordinates_per_entry: int = 4
    # Coordinates that are flagged, and looked through, in the time that a sort takes to set up.
    flagged_coordinates: int = 1 << 16
    scanned_entries: int = 64  # Entries of a vector that is always scanned
    # How many times as long as a row a vector may be before it is searched for each entry of the row.
    scan_ratio: int = 4
    # Elements of the result for which each entry of an operand must be read, if it is converted so that threads can
    # share loops.
    reads_of_converted: int = 16
    workspace_coordinates: int = 1 << 26  # Coordinates of a workspace with an array; larger ones are hash tables
    entries_per_part: int = 1 << 15  # Entries of the operands for each chunk whose part of the result a thread appends
    # Bytes of a result, up to which it is allocated by an upper bound, which saves a pass that counts.
    bytes_by_bound: int = 1 << 31


THRESHOLDS = Thresholds()
