"""How a result is assembled: which levels are located and which are appended, and their counters."""

from __future__ import annotations

from ..formats import Format
from ..records import record

__all__ = ["AppendChain", "append_chains", "is_appendable", "is_unordered_list"]


@record
class AppendChain:
    """Result levels appended together: one that branches, and the branchless ones below it.

    Parameters
    ----------
    first, last : int
        Level numbers, from 0.
    index : int
        Which counter it has.
    """

    first: int
    last: int
    index: int


def append_chains(format: Format) -> tuple[AppendChain, ...]:
    """The appended levels of a result format, grouped by the counter they share."""
    found: list[AppendChain] = []
    for k, level in enumerate(format.levels):
        if level.locates == "direct" and level.inserts:
            continue
        if level.branchless and found and found[-1].last == k - 1:
            found[-1] = AppendChain(found[-1].first, k, found[-1].index)
        else:
            found.append(AppendChain(k, k, len(found)))
    return tuple(found)


def is_appendable(format: Format) -> bool:
    """Whether every level can be appended to in the order of coordinates, or be located with nothing stored of it.

    Where all are located it takes the tensor's own axes: elements of a structured format may lie beyond its edge.
    """
    if format.is_curved or format.conditions or (format.is_structured and not append_chains(format)):
        return False  # whether a format can hold the entries is asked before any is stored
    return all(level.appends or (level.inserts and not level.roles) for level in format.levels)


def is_unordered_list(format: Format) -> bool:
    """Whether coordinates can be appended as they come: one chain that promises neither order nor uniqueness."""
    found = append_chains(format)
    whole = len(found) == 1 and found[0].first == 0 and found[0].last + 1 == len(format.levels)
    return whole and is_appendable(format) and not any(level.ordered or level.unique for level in format.levels)
