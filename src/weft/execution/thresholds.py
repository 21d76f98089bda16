"""Sizes of data from which alternatives are taken, in one record.

Modules read ``thresholds.THRESHOLDS`` when they ask, so that tests can put another record in its place.
"""

from __future__ import annotations

from ..records import record

__all__ = ["THRESHOLDS", "Thresholds"]


@record
class Thresholds:
    """Sizes of data from which alternatives are taken.

    Parameters
    ----------
    longest_array : int
        Coordinates of an axis, up to which a conversion on the way may make an array over it.
    coordinates_per_entry : int
        Coordinates of a result for each entry of the operands, up to which most are expected to get a value.
    flagged_coordinates : int
        Coordinates that are flagged, and looked through, in the time that a sort takes to set up.
    scanned_entries : int
        Entries of a vector that is always scanned.
    scan_ratio : int
        How many times as long as a row a vector may be before it is searched for each entry of the row.
    reads_of_converted : int
        Elements of the result for which each entry of an operand must be read, if it is converted so that threads can
        share loops.
    workspace_coordinates : int
        Coordinates of a workspace with an array; larger ones are hash tables.
    entries_per_part : int
        Entries of the operands for each chunk whose part of the result a thread appends.
    bytes_by_bound : int
        Bytes of a result, up to which it is allocated by an upper bound, which saves a pass that counts.
    """

    longest_array: int = 1 << 26
    coordinates_per_entry: int = 4
    flagged_coordinates: int = 1 << 16
    scanned_entries: int = 64
    scan_ratio: int = 4
    reads_of_converted: int = 16
    workspace_coordinates: int = 1 << 26
    entries_per_part: int = 1 << 15
    bytes_by_bound: int = 1 << 31


THRESHOLDS = Thresholds()
