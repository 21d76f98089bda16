"""Levels of workspaces: a list of the coordinates that were written, an array of marks, or one number for all.

The values are in an array over the dimension, in a hash table, or in a list. The levels store workspaces, never
tensors. A workspace with a list is iterated through the list. Its values are located by coordinate.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from ..ir.builder import add, cast, ge, lit, mul, ne, sub
from ..ir.nodes import Call, Expr, Load, Select
from ..records import record
from .capabilities import Locate, PositionIteration
from .level import LevelVars


@record
class Listed(PositionIteration):
    """A level whose written coordinates are in ``list[0:size]``; values and marks have their coordinate as position."""

    letter: ClassVar[str] = "w"
    roles: ClassVar[tuple[str, ...]] = ("list", "size")

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        return lit(0), m["size"]

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        # Scalar loads: a vector load from a list whose elements were stored just before would wait for the stores.
        return Call("weft_unvectorized", (cast(Load(m["list"], p), "int64"),), "int64")

    def child_pos(self, m: LevelVars, p: Expr, coord: Expr) -> Expr:
        return coord


@record
class ListedHashed(Listed):
    """A level whose written coordinates are in ``list[0:size]``; the position of a value is a slot of a hash table."""

    roles: ClassVar[tuple[str, ...]] = ("list", "size", "keys", "mask")

    def child_pos(self, m: LevelVars, p: Expr, coord: Expr) -> Expr:
        return Call("weft_hash_slot", (m["keys"], m["mask"], coord), "int64")


@record
class Paired(Listed):
    """A level whose coordinates are in ``list[0:size]``; a value has the position of its coordinate in the list."""

    def child_pos(self, m: LevelVars, p: Expr, coord: Expr) -> Expr:
        return p


@record
class Whole(PositionIteration):
    """A level of which all coordinates were written, and ``size`` is the dimension, or none, and it is 0."""

    letter: ClassVar[str] = "w"
    roles: ClassVar[tuple[str, ...]] = ("size",)

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        return lit(0), m["size"]

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return p


@record
class Marked(PositionIteration, Locate):
    """A level with a flag ``mark[p]`` for every coordinate under every parent, true if the coordinate was written.

    There is no list, so all flags are iterated. A mark may also be the number of times that a coordinate was written.
    """

    letter: ClassVar[str] = "w"
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "direct"
    roles: ClassVar[tuple[str, ...]] = ("mark",)
    compact: ClassVar[bool] = False

    @property
    def gapless(self) -> bool:
        return False

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        return mul(parent, m.dimension), mul(add(parent, lit(1)), m.dimension)

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        # -1 is the coordinate of a position that was not written. ``valid`` excludes it.
        mark = Load(m["mark"], p)
        is_set = mark if mark.ty == "bool" else ne(mark, lit(0, mark.ty))
        return Select(is_set, sub(p, mul(parent, m.dimension)), lit(-1))

    def valid(self, m: LevelVars, coord: Expr) -> Expr | None:
        return ge(coord, lit(0))

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        return add(mul(parent, m.dimension), coord)
