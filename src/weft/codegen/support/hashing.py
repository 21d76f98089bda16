"""Hash tables of coordinates: open addressing, with a size that is a power of two. -1 marks an empty slot."""

from __future__ import annotations

from ...formats.levels.hash_tables import MOST
from .snippet import Snippet

_SLOT = """\
/* Return the slot of the hash table keys[0 .. mask] that holds key, or the empty slot where key belongs. The table must
   have an empty slot, which -1 marks. */
static inline int64_t weft_hash_slot(const int64_t *keys, int64_t mask, int64_t key) {
  int64_t slot = (int64_t)((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & mask;
  while (keys[slot] != key && keys[slot] != -1) slot = (slot + 1) & mask;
  return slot;
}
"""
_SIZE = """\
/* Return the size of a hash table that n keys fill by half at most. */
static inline int64_t weft_hash_size(int64_t n) {
  int64_t size = 16;
  while (size < 2 * n) size *= 2;
  return size;
}
"""

_FIND = """\
/* Return the position that holds coord in the hash table crd[begin .. begin + width), or -1. Empty slots hold -1. */
static inline int64_t weft_hash_find_@(const @_t *crd, int64_t begin, int64_t width, int64_t coord) {
  int64_t slot = (int64_t)((uint64_t)coord * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (width - 1);
  for (int64_t tried = 0; tried < width; tried++) {
    const int64_t held = crd[begin + slot];
    if (held == coord) return begin + slot;
    if (held == -1) return -1;
    slot = (slot + 1) & (width - 1);
  }
  return -1;
}
"""
_FREE = """\
/* Return the first empty position for key in the hash table crd[begin .. begin + width), which must have one. */
static inline int64_t weft_hash_free_@(const @_t *crd, int64_t begin, int64_t width, int64_t key) {
  int64_t slot = (int64_t)((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (width - 1);
  while (crd[begin + slot] != -1) slot = (slot + 1) & (width - 1);
  return begin + slot;
}
"""
_PLACE = """\
/* Return the position that holds key in the hash table crd[begin .. begin + width), or the empty one where key
   belongs. */
static inline int64_t weft_hash_place_@(const @_t *crd, int64_t begin, int64_t width, int64_t key) {
  int64_t slot = (int64_t)((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (width - 1);
  while (crd[begin + slot] != key && crd[begin + slot] != -1) slot = (slot + 1) & (width - 1);
  return begin + slot;
}
"""


def _whole(name: str, arity: int, ty: str, comment: str, loop: str) -> str:
    """Return the text of a function of one table over the coordinates of several levels.

    The word ``same`` in ``loop`` becomes the condition that the slot holds the coordinates.
    """
    levels = range(1, arity + 1)
    crds = ", ".join(f"const {ty}_t *crd{n}" for n in levels)
    coords = ", ".join(f"int64_t i{n}" for n in levels)
    same = " && ".join(f"crd{n}[begin + slot] == i{n}" for n in levels)
    return (
        f"/* {comment} Empty slots hold -1. */\n"
        f"static inline int64_t weft_hash_{name}_{arity}_{ty}({crds}, int64_t begin, int64_t width,\n"
        f"    int64_t key, {coords}) {{\n"
        "  int64_t slot = (int64_t)((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (width - 1);\n"
        f"{loop.replace('same', same)}"
        "}\n"
    )


def _find_whole(arity: int, ty: str) -> str:
    """Return the text of a function that locates the coordinates of several levels in one table."""
    return _whole(
        "find", arity, ty,
        "Return the position of a whole coordinate in a hash table with an array for each level, or -1.",
        "  for (int64_t tried = 0; tried < width && crd1[begin + slot] != -1; tried++) {\n"
        "    if (same) return begin + slot;\n"
        "    slot = (slot + 1) & (width - 1);\n"
        "  }\n"
        "  return -1;\n",
    )  # fmt: skip


def _place_whole(arity: int, ty: str) -> str:
    """Return the text of a function that returns the slot of the coordinates of several levels, or the empty one."""
    return _whole(
        "place", arity, ty,
        "Return the position of a whole coordinate in a hash table, or the empty one where it belongs.",
        "  while (crd1[begin + slot] != -1 && !(same)) slot = (slot + 1) & (width - 1);\n"
        "  return begin + slot;\n",
    )  # fmt: skip


SNIPPETS: dict[str, Snippet] = {"weft_hash_slot": Snippet(_SLOT), "weft_hash_size": Snippet(_SIZE)}
for _ty in ("int32", "int64"):
    SNIPPETS[f"weft_hash_find_{_ty}"] = Snippet(_FIND.replace("@", _ty))
    SNIPPETS[f"weft_hash_free_{_ty}"] = Snippet(_FREE.replace("@", _ty))
    SNIPPETS[f"weft_hash_place_{_ty}"] = Snippet(_PLACE.replace("@", _ty))
    for _arity in range(1, MOST + 1):
        SNIPPETS[f"weft_hash_find_{_arity}_{_ty}"] = Snippet(_find_whole(_arity, _ty))
        SNIPPETS[f"weft_hash_place_{_arity}_{_ty}"] = Snippet(_place_whole(_arity, _ty))
