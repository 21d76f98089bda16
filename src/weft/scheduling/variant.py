"""What a schedule is made for, beyond the types of the tensors."""

from __future__ import annotations

from ..records import record

__all__ = ["DEFAULT", "Variant"]


@record
class Variant:
    """What is known of the assignment, its data and the machine where a schedule is chosen.

    A plan begins with the defaults, and makes another with what its operands turn out to be.

    Parameters
    ----------
    copying : bool
        The assignment is a conversion: it must not ask for another.
    gathering : {'list', 'hash', 'dense'}
        The workspaces that gather coordinates: hash tables where dimensions are too large for an array over one, and
        where most coordinates of the whole result will come up, arrays without a list.
    tiling : bool
        Cut loops into tiles where that helps; loops that are to be scheduled by hand stay whole.
    wide : bool
        Dimensions are too large for dense levels: what is stored plainly, or converted on the way, has none.
    finding : bool
        Vectors have so many entries that none is walked for each row of something else.
    sharing : bool
        Threads are to share the loops.
    """

    conversion: bool = False
    accumulator: str = "list"
    tile: bool = True
    no_dense_levels: bool = False
    hash_lookup: bool = False
    parallel_loops: bool = False


DEFAULT = Variant()
