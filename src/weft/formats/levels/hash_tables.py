"""Hash tables of coordinates: their keys, and a check that every stored key can be located."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.builder import add, lit, mul
from ...ir.nodes import Expr

__all__ = ["MIX", "MOST", "home", "key_of", "misplaced"]

MIX = 1000003
MOST = 12
"""The largest number of coordinates in a tuple that a hash table can locate."""


def key_of(coords: tuple[Expr, ...]) -> Expr:
    """Return the key by which a whole coordinate is hashed."""
    key: Expr = lit(0)
    for coord in coords:
        key = add(mul(key, lit(MIX)), coord)
    return key


def home(key: int, width: int) -> int:
    """Return the slot of a table at which the search for a key begins."""
    # Fibonacci hashing: 2**64 divided by the golden ratio, the same constant as in C.
    return (key * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF) >> 20 & width - 1


def misplaced(keys: np.ndarray[Any, Any], occupied: np.ndarray[Any, Any], edges: np.ndarray[Any, Any]) -> str | None:
    """Return why a search would miss a key that a table holds, or None; each table has the slots between two edges.

    A search begins at the home slot of a key and ends at an empty slot, so no empty slot may lie between the home slot
    and the key.
    """
    (slot,) = np.nonzero(occupied)
    table = np.searchsorted(edges, slot, side="right") - 1
    begin, end = edges[table], edges[table + 1]
    hashed = keys[slot].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)
    home = begin + (hashed & (end - begin - 1).astype(np.uint64)).astype(np.int64)
    empty = np.concatenate([[0], np.cumsum(~occupied)])  # before each slot
    # A search that has passed the last slot goes on at the first.
    between = empty[slot] - empty[home] + np.where(slot < home, empty[end] - empty[begin], 0)
    lost = between > 0
    return f"position {(slot - begin)[lost][0]} of a table holds what is not looked for there" if lost.any() else None
