"""Hash tables of coordinates: what they are looked up by, and whether looking up finds what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.builder import add, lit, mul
from ...ir.nodes import Expr

__all__ = ["MIX", "MOST", "home", "key_of", "misplaced"]

MIX = 1000003
MOST = 12
"""Coordinates that a whole one may have where a table is asked for it."""


def key_of(coords: tuple[Expr, ...]) -> Expr:
    """Return the key by which a whole coordinate is hashed."""
    key: Expr = lit(0)
    for coord in coords:
        key = add(mul(key, lit(MIX)), coord)
    return key


def home(key: int, width: int) -> int:
    """Return the slot of a table where looking for a key begins."""
    return (key * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF) >> 20 & width - 1


def misplaced(keys: np.ndarray[Any, Any], taken: np.ndarray[Any, Any]) -> str | None:
    """Say why looking up would miss a key that a table holds: an empty slot comes before it, from where it belongs.

    Parameters
    ----------
    keys : ndarray
        Shape ``(width,)`` for one table or ``(tables, width)``; what is not ``taken`` is ignored.
    taken : ndarray of bool
        The slots that are not empty.
    """
    keys, taken = np.atleast_2d(keys), np.atleast_2d(taken)
    width = keys.shape[1]
    table, slot = np.nonzero(taken)
    hashed = keys[table, slot].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)
    home = (hashed & np.uint64(width - 1)).astype(np.int64)
    empty = np.zeros((len(taken), 2 * width + 1), np.int64)  # empty slots before each, going round once
    np.cumsum(np.concatenate([~taken, ~taken], axis=1), axis=1, out=empty[:, 1:])
    end = slot + width * (slot < home)
    lost = empty[table, end] > empty[table, home]
    return f"position {slot[lost][0]} of a table holds what is not looked for there" if lost.any() else None
