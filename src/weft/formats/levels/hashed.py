"""Hashed levels: a hash table of coordinates under each parent (2018 paper, Table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np

from ...ir.builder import add, block, ge, gt, if_, lit, lt, mul
from ...ir.nodes import Call, Declare, Expr, For, Set, Stmt, Var
from ...queries import Query
from ...records import record
from ...remapping import Remapping
from ..capabilities import ElementLookup, HashTable, Insertion, Locate, PositionIteration, QueriedEdges, WholeLookup
from ..level import Arrays, LevelFormat, LevelVars, Placing, ask
from .access import element, put
from .dense import Dense
from .hash_tables import MOST, home, key_of, misplaced
from .spanned import Spanned

__all__ = ["Hashed", "Slots"]


@record
class SlotTables(PositionIteration, Insertion, QueriedEdges):
    """A level with ``width`` slots under each parent; ``crd`` is -1 in empty slots."""

    ordered: bool = False

    sortable: ClassVar[bool] = False
    compact: ClassVar[bool] = False
    blank: ClassVar[int] = -1
    roles: ClassVar[tuple[str, ...]] = ("width", "crd")

    @property
    def gapless(self) -> bool:
        return False

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        width = element(m["width"], lit(0))
        return mul(parent, width), mul(add(parent, lit(1)), width)

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return element(m["crd"], p)

    def valid(self, m: LevelVars, coord: Expr) -> Expr | None:
        return ge(coord, lit(0))

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"width": 1}

    def scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"count": parent_size}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        return (ask("count", "count", range(level), range(level, last + 1)),)

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        # All tables have the width that the fullest one needs.
        q, most = Var("q"), Var("most")
        here = element(m["count"], q)
        return block(
            Declare(most, lit(0)),
            For(q, lit(0), parent_size, if_(gt(here, most), Set(most, here))),
            put(m["width"], lit(0), Call("weft_hash_size", (most,), "int64")),
        )

    def insert_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        return put(m["crd"], p, coord)

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return mul(parent_size, element(m["width"], lit(0)))

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return 1, size

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return parent_size * int(np.asarray(arrays["width"])[0])

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        width, crd = np.asarray(arrays["width"]), np.asarray(arrays["crd"])
        if len(width) != 1 or width[0] < 1 or int(width[0]) & (int(width[0]) - 1):
            return f"width is one power of two, not {width.tolist()}"
        if len(crd) != parent_size * int(width[0]):
            return f"crd has {len(crd)} entries; {parent_size} parents need {parent_size * int(width[0])}"
        if len(crd) and (crd.min() < -1 or crd.max() >= dimension):
            return f"crd holds coordinates outside [0, {dimension})"
        return None


@record
class Slots(SlotTables, WholeLookup):
    """A level with ``width`` slots under each parent; ``crd`` is -1 in empty slots.

    A slot holds one coordinate of a tuple, and the levels below store the rest. Together they are one hash table over
    whole coordinates (DOK).

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["dok"](2).levels]
    ['slots(¬O¬U)', 'singleton(¬O)']
    """

    unique: bool = False

    letter: ClassVar[str] = "k"
    own_positions: ClassVar[bool] = True

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        if all(below.branchless for below in levels[k + 1 :]):
            return None
        return "each entry has a slot of its own, below which no level can have several"

    def looked_up(self, below: Sequence[LevelFormat]) -> tuple[LevelFormat, ...] | None:
        entries = len(below) < MOST and all(level.branchless and level.roles == ("crd",) for level in below)
        return (*(Dense() for _ in below), Spanned(arity=1 + len(below))) if entries else None

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        # The key is the whole coordinate, so that ``Spanned`` can locate it later.
        crd, width = m["crd"], element(m["width"], lit(0))
        return Call(f"weft_hash_free_{crd.ty[:-1]}", (crd, mul(parent, width), width, key_of(coords)), "int64")


@record
class Hashed(SlotTables, Locate, ElementLookup, HashTable):
    """A level with a hash table of ``width`` slots under each parent; ``crd`` is -1 in empty slots.

    The tables use open addressing.

    Parameters
    ----------
    full : bool
        If true, every coordinate occurs under every parent.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["hash"](2).levels]
    ['dense', 'hashed(¬O)']
    """

    full: bool = False

    letter: ClassVar[str] = "h"
    placing: ClassVar[Placing | None] = "find"
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "probe"

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return self.slot(m, parent, coords)

    def tables(self, parent_size: int) -> int:
        return parent_size

    def table_of(self, parent: Expr) -> Expr:
        return parent

    def slot(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        crd, width = m["crd"], element(m["width"], lit(0))
        return Call(f"weft_hash_place_{crd.ty[:-1]}", (crd, mul(parent, width), width, coords[m.level]), "int64")

    def is_free(self, m: LevelVars, p: Expr) -> Expr:
        return lt(element(m["crd"], p), lit(0))

    def settle(self, m: LevelVars, p: Expr, coords: tuple[Expr, ...]) -> Stmt:
        return put(m["crd"], p, coords[m.level])

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        crd, width = m["crd"], element(m["width"], lit(0))
        return Call(f"weft_hash_find_{crd.ty[:-1]}", (crd, mul(parent, width), width, coord), "int64")

    def find(self, parent: int, coord: int, dimension: int, arrays: Arrays) -> int | None:
        width, crd = int(arrays["width"][0]), arrays["crd"]
        first, slot = parent * width, home(coord, width)
        for _ in range(width):  # linear probing, as in C; a full table has no empty slot to stop at
            held = crd[first + slot]
            if held == coord:
                return first + slot
            if held == -1:
                break
            slot = slot + 1 & width - 1
        return -1

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        reason = super().check(parent_size, dimension, arrays)
        if reason is not None:
            return reason
        width = int(np.asarray(arrays["width"])[0])
        tables = np.asarray(arrays["crd"]).reshape(parent_size, width)
        # Equal coordinates are neighbors after sorting. Only empty slots (-1) may repeat.
        rows = np.sort(tables, axis=1)
        if ((rows[:, 1:] == rows[:, :-1]) & (rows[:, 1:] >= 0)).any():
            return "a table holds a coordinate twice"
        return misplaced(tables.astype(np.int64), tables >= 0)
