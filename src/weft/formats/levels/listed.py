"""Levels of what was set: values over the dimension, in a hash table or in a list, with a list of the coordinates, or
marks alone.

The storage of a workspace, never of a tensor: iterated through the list, located by coordinate.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from ...ir.builder import add, cast, ge, lit, mul, ne, sub
from ...ir.nodes import Call, Expr, Load, Select
from ...records import record
from ..level import LevelFormat, LevelVars

__all__ = ["Listed", "ListedHashed", "Marked", "Paired"]


@record
class Listed(LevelFormat):
    """``list[0:size]`` holds the coordinates that were set; values and marks stand at the coordinate itself."""

    letter: ClassVar[str] = "w"
    roles: ClassVar[tuple[str, ...]] = ("list", "size")

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        return lit(0), m["size"]

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        # Short lists were stored element by element just before: a vector loaded from them waits for the stores.
        return Call("weft_single", (cast(Load(m["list"], p), "int64"),), "int64")

    def child_pos(self, m: LevelVars, p: Expr, coord: Expr) -> Expr:
        return coord


@record
class ListedHashed(Listed):
    """``list[0:size]`` holds the coordinates that were set; their values stand at their slots of a hash table."""

    roles: ClassVar[tuple[str, ...]] = ("list", "size", "keys", "mask")

    def child_pos(self, m: LevelVars, p: Expr, coord: Expr) -> Expr:
        return Call("weft_hash_slot", (m["keys"], m["mask"], coord), "int64")


@record
class Paired(Listed):
    """``list[0:size]`` holds coordinates, and values stand where these do."""

    def child_pos(self, m: LevelVars, p: Expr, coord: Expr) -> Expr:
        return p


@record
class Marked(LevelFormat):
    """``mark[p]`` says whether a coordinate was set, for every one under every parent: no list, and a walk over all.

    It may also be a number, that says how often.
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
        mark = Load(m["mark"], p)
        is_set = mark if mark.ty == "bool" else ne(mark, lit(0, mark.ty))
        return Select(is_set, sub(p, mul(parent, m.dimension)), lit(-1))

    def valid(self, m: LevelVars, coord: Expr) -> Expr | None:
        return ge(coord, lit(0))

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        return add(mul(parent, m.dimension), coord)
