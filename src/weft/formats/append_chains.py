"""Append chains: which levels of a result are located, which are appended, and with which counters."""

from __future__ import annotations

from functools import lru_cache

from ..records import record
from ..remapping import Remapping
from .capabilities import is_appendable_at
from .format import Format


@record
class AppendChain:
    """Result levels that are appended together: one that branches, and the branchless levels below it."""

    first: int  # number of the first level, from 0
    last: int  # number of the last level
    index: int  # number of the counter that the levels share, from 0


@lru_cache(maxsize=1024)
def append_chains(format: Format) -> tuple[AppendChain, ...]:
    """Return the appended levels of a result format, grouped by the counter that they share."""
    chains: list[AppendChain] = []
    for k, level in enumerate(format.levels):
        if level.inserts:
            continue
        # A branchless level has one entry for each of its parent, and so shares the parent's counter (2018, section
        # 3.3).
        if level.branchless and chains and chains[-1].last == k - 1:
            chains[-1] = AppendChain(chains[-1].first, k, chains[-1].index)
        else:
            chains.append(AppendChain(k, k, len(chains)))
    return tuple(chains)


@record
class AppendedArray:
    """An array to which parts of a result are appended: coordinates, values, or edges of the chain above."""

    level: int | None  # None for values
    role: str
    chain: int  # the chain with one element for each coordinate
    of_parents: bool  # whether these are edges: element 0 belongs to no parent


def appended_arrays(format: Format) -> tuple[AppendedArray, ...]:
    """Return the arrays to which parts of a result are appended, in the order of the levels."""
    arrays: list[AppendedArray] = []
    for chain in append_chains(format):
        for k in range(chain.first, chain.last + 1):
            for role in format.levels[k].roles:
                if role == "crd":
                    arrays.append(AppendedArray(k, role, chain.index, False))
                elif chain.index:
                    arrays.append(AppendedArray(k, role, chain.index - 1, True))
    return (*arrays, AppendedArray(None, "vals", len(append_chains(format)) - 1, False))


def is_appendable(format: Format) -> bool:
    """Return whether a result in this format can be assembled in coordinate order.

    Each level must either be appended, or be located without arrays that depend on the entries. A format whose levels
    are all located is refused unless it is dense: its elements may lie beyond the edge of the tensor, so that such a
    result takes the tensor's own axes. A level with one position for each of its parent is appended with a parent that
    is, or not at all: the positions of a located parent do not come one after the other. A format that follows a
    space-filling curve or that sets conditions on its data is refused, too.
    """
    chains = append_chains(format)
    if format.is_curved or format.conditions or not (format.is_dense or chains):
        return False  # conditions are checked before any entry is stored
    if any(format.levels[chain.first].branchless for chain in chains):
        return False
    return all(is_appendable_at(level, k) for k, level in enumerate(format.levels))


def is_unordered_list(format: Format) -> bool:
    """Return whether coordinates can be appended in any order, and more than once.

    All levels must form one chain that guarantees neither order nor uniqueness.
    """
    found = append_chains(format)
    whole = len(found) == 1 and found[0].first == 0 and found[0].last + 1 == len(format.levels)
    return whole and is_appendable(format) and not any(level.ordered or level.unique for level in format.levels)


@lru_cache(maxsize=1024)
def coordinate_list_format(remapping: Remapping) -> Format:
    """Return the list of the coordinates that a remapping makes, neither ordered nor unique."""
    return Format.list_of(remapping)
