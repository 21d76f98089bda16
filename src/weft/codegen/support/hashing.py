"""Hash tables over the coordinates of several levels: functions for each number of levels."""

from __future__ import annotations

from ...formats.levels.hash_tables import MOST
from .snippet import Snippet, parts


def functions() -> dict[str, Snippet]:
    """Return the functions of one table over the coordinates of several levels by name."""
    snippets: dict[str, Snippet] = {}
    for arity in range(1, MOST + 1):
        levels = range(1, arity + 1)
        for dtype in ("int32", "int64"):
            words = {
                "ARITY": str(arity),
                "ARRAYS": ", ".join(f"const {dtype}_t *crd{n}" for n in levels),
                "COORDINATES": ", ".join(f"int64_t i{n}" for n in levels),
                "SAME": " && ".join(f"crd{n}[begin + slot] == i{n}" for n in levels),
            }
            for task in ("find", "place"):
                snippets |= parts("hashing")[f"weft_hash_{task}_ARITY_TYPE"].filled(dtype, words)
    return snippets
