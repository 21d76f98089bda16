"""Hashed levels: a hash table of coordinates under each parent (2018 paper, Table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np

from ...dtypes import index_dtype
from ...errors import IndexOverflowError
from ...ir.builder import add, block, ge, gt, if_, lit, lt, mul, sub
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
    """A level with a table of slots under each parent; ``crd`` is -1 in empty slots."""

    ordered: bool = False

    sortable: ClassVar[bool] = False
    compact: ClassVar[bool] = False
    blank: ClassVar[int] = -1

    @property
    def gapless(self) -> bool:
        return False

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return element(m["crd"], p)

    def valid(self, m: LevelVars, coord: Expr) -> Expr | None:
        return ge(coord, lit(0))

    def insert_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        return put(m["crd"], p, coord)


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

    roles: ClassVar[tuple[str, ...]] = ("width", "crd")
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

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        width = element(m["width"], lit(0))
        return mul(parent, width), mul(add(parent, lit(1)), width)

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
class Hashed(SlotTables, Locate, ElementLookup, HashTable):
    """A level with a hash table under each parent: ``crd[pos[p_{k-1}]:pos[p_{k-1} + 1]]``, which is -1 in empty slots.

    The tables use open addressing. The number of slots of each is a power of two.

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
    roles: ClassVar[tuple[str, ...]] = ("pos", "crd")
    earlier_roles: ClassVar[Mapping[str, str]] = {"pos": "width"}
    shifted: ClassVar[tuple[str, ...]] = ("pos",)
    placing: ClassVar[Placing | None] = "find"
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "probe"

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        return element(m["pos"], parent), element(m["pos"], add(parent, lit(1)))

    def _table(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        """Return the first slot of a table, and the number of slots."""
        begin, end = self.pos_bounds(m, parent)
        return begin, sub(end, begin)

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"pos": parent_size + 1}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        return (ask("count", "pos", range(level), range(level, last + 1)),)

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        q, pos = Var("q"), m["pos"]
        end = add(q, lit(1))
        width = Call("weft_hash_width", (element(pos, end),), "int64")
        return For(q, lit(0), parent_size, put(pos, end, add(element(pos, q), width)))

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return element(m["pos"], parent_size)

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return self.slot(m, parent, coords)

    def tables(self, parent_size: int) -> int:
        return parent_size

    def table_of(self, parent: Expr) -> Expr:
        return parent

    def slots(self, m: LevelVars, table: Expr) -> Expr:
        return self._table(m, table)[1]

    def slot(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        crd = m["crd"]
        return Call(f"weft_hash_place_{crd.ty[:-1]}", (crd, *self._table(m, parent), coords[m.level]), "int64")

    def is_free(self, m: LevelVars, p: Expr) -> Expr:
        return lt(element(m["crd"], p), lit(0))

    def settle(self, m: LevelVars, p: Expr, coords: tuple[Expr, ...]) -> Stmt:
        return put(m["crd"], p, coords[m.level])

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        crd = m["crd"]
        return Call(f"weft_hash_find_{crd.ty[:-1]}", (crd, *self._table(m, parent), coord), "int64")

    def find(self, parent: int, coord: int, dimension: int, arrays: Arrays) -> int | None:
        first, end = arrays["pos"][parent : parent + 2].tolist()
        width, crd = end - first, arrays["crd"]
        slot = home(coord, width)
        for _ in range(width):  # linear probing, as in C; a full table has no empty slot to stop at
            held = crd[first + slot]
            if held == coord:
                return int(first + slot)
            if held == -1:
                break
            slot = slot + 1 & width - 1
        return -1

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return parent_size + 1, size

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return int(np.asarray(arrays["pos"])[parent_size])

    def size_to_be(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        pos = np.asarray(arrays["pos"])
        # Slots are more than entries: a sum that has become too large for the dtype of positions wraps around.
        size = int(np.diff(pos).view(f"u{pos.itemsize}").sum(dtype=np.int64))
        if size > np.iinfo(pos.dtype).max:
            raise IndexOverflowError(f"{size} slots of hash tables do not fit {pos.dtype} arrays")
        return size

    def current(self, parent_size: int, arrays: Arrays) -> Arrays:
        # Earlier versions stored the number of slots that all tables had.
        edges = arrays["pos"]
        if len(edges) != 1 or not edges[0]:
            return arrays
        pos = np.arange(parent_size + 1, dtype=np.int64) * int(edges[0])
        return {**arrays, "pos": pos.astype(index_dtype(int(pos[-1])))}

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        pos, crd = np.asarray(arrays["pos"]).astype(np.int64), np.asarray(arrays["crd"])
        if len(pos) != parent_size + 1 or pos[0] != 0:
            return f"pos has {len(pos)} entries from {pos[:1]}; {parent_size} parents need {parent_size + 1} from 0"
        widths = np.diff(pos)
        if len(widths) and (widths.min() < 1 or (widths & widths - 1).any()):
            return "the number of slots of a table is not a power of two"
        if len(crd) != pos[-1]:
            return f"crd has {len(crd)} entries; pos ends at {pos[-1]}"
        if len(crd) and (crd.min() < -1 or crd.max() >= dimension):
            return f"crd holds coordinates outside [0, {dimension})"
        # Equal coordinates of a table are neighbors after sorting. Only empty slots (-1) may repeat.
        table = np.repeat(np.arange(parent_size), widths)
        order = np.lexsort((crd, table))
        sorted_, table = crd[order], table[order]
        if ((sorted_[1:] == sorted_[:-1]) & (table[1:] == table[:-1]) & (sorted_[1:] >= 0)).any():
            return "a table holds a coordinate twice"
        return misplaced(crd.astype(np.int64), crd >= 0, pos)
