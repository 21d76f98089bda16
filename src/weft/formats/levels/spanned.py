"""Spanned levels: one hash table over the coordinates of all levels, which locates whole coordinates.

The 2018 paper does not support DOK, since its locate function would have to span several levels. Here, the levels above
are dense and have no arrays, and the last level locates ``(i_1, ..., i_k)``. A spanned level is never iterated. To
iterate, the same arrays are used as slots with singletons below.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from ...ir.builder import block, lit, lt
from ...ir.nodes import Call, Expr, Stmt
from ...records import record
from ..capabilities import ElementLookup, HashTable, Locate
from ..level import Arrays, LevelVars
from .access import element, put
from .hash_tables import MIX, home, key_of, misplaced

__all__ = ["Spanned"]


@record
class Spanned(Locate, ElementLookup, HashTable):
    """A level with one hash table of ``width`` slots for all levels.

    ``crd1`` to ``crdN`` hold the coordinates of all levels, -1 in empty slots.

    Parameters
    ----------
    arity : int
        The number of coordinates.

    Examples
    --------
    >>> import weft
    >>> from weft.formats import Spanned
    >>> Spanned().ordered, Spanned().unique
    (True, True)
    """

    arity: int = 2

    letter: ClassVar[str] = "m"
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "probe"
    compact: ClassVar[bool] = False

    @property
    def roles(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("width", *(f"crd{n + 1}" for n in range(self.arity)))

    def probe(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        crds = tuple(m[role] for role in self.roles[1:])
        name = f"weft_hash_find_{self.arity}_{crds[0].ty[:-1]}"
        return Call(name, (*crds, lit(0), element(m["width"], lit(0)), key_of(coords), *coords), "int64")

    def tables(self, parent_size: int) -> int:
        return 1

    def table_of(self, parent: Expr) -> Expr:
        return lit(0)

    def slots(self, m: LevelVars, table: Expr) -> Expr:
        return element(m["width"], lit(0))

    def slot(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        crds = tuple(m[role] for role in self.roles[1:])
        name = f"weft_hash_place_{self.arity}_{crds[0].ty[:-1]}"
        return Call(name, (*crds, lit(0), element(m["width"], lit(0)), key_of(coords), *coords), "int64")

    def is_free(self, m: LevelVars, p: Expr) -> Expr:
        return lt(element(m["crd1"], p), lit(0))

    def settle(self, m: LevelVars, p: Expr, coords: tuple[Expr, ...]) -> Stmt:
        return block(*(put(m[role], p, coord) for role, coord in zip(self.roles[1:], coords, strict=True)))

    def find_whole(self, coords: tuple[int, ...], arrays: Arrays) -> int | None:
        # The key and the linear probing are those of the C functions.
        width, crds = int(arrays["width"][0]), [arrays[role] for role in self.roles[1:]]
        key = 0
        for coord in coords:
            key = key * MIX + coord
        slot = home(key, width)
        for _ in range(width):
            if crds[0][slot] == -1:
                break
            if all(crd[slot] == coord for crd, coord in zip(crds, coords, strict=True)):
                return slot
            slot = slot + 1 & width - 1
        return -1

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return 1, *(size,) * self.arity

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return int(np.asarray(arrays["width"])[0])

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        crds: list[np.ndarray[Any, Any]] = [np.asarray(arrays[role]) for role in self.roles[1:]]
        key = np.zeros(len(crds[0]), np.int64)
        with np.errstate(over="ignore"):  # keys overflow as they do in C
            for crd in crds:
                key = key * np.int64(MIX) + crd
        return misplaced(key, crds[0] >= 0, np.array([0, len(key)]))
