"""Hashed levels: a hash table of coordinates under each parent (2018 paper, Table 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ...ir.builder import add, block, ge, gt, if_, lit, mul
from ...ir.nodes import Call, Declare, Expr, For, Load, Set, Stmt, Update, Var
from ..level import LevelFormat, LevelVars
from .access import element, put

__all__ = ["Hashed", "Slots"]

_MIX = 1000003


@dataclass(frozen=True)
class Slots(LevelFormat):
    """``width`` slots under each parent; ``crd`` is -1 in those that are empty.

    On its own a set of slots for tuples, the levels below storing what is left of each: one table over a whole
    coordinate (DOK).
    """

    ordered: bool = False
    unique: bool = False

    letter: ClassVar[str] = "k"
    sortable: ClassVar[bool] = False
    compact: ClassVar[bool] = False
    placing: ClassVar[Literal["get", "yield"] | None] = "get"
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

    def query(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Stmt:
        return Update("+", Load(m["count"], parent), lit(1))

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        q, most = Var("q"), Var("most")
        here = Load(m["count"], q)
        return block(
            Declare(most, lit(0)),
            For(q, lit(0), parent_size, if_(gt(here, most), Set(most, here))),
            put(m["width"], lit(0), Call("weft_hash_size", (most,), "int64")),
        )

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        crd, width = m["crd"], element(m["width"], lit(0))
        key: Expr = lit(0)
        for coord in coords:
            key = add(mul(key, lit(_MIX)), coord)
        return Call(f"weft_hash_free_{crd.ty[:-1]}", (crd, mul(parent, width), width, key), "int64")

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


@dataclass(frozen=True)
class Hashed(Slots):
    """A hash table of ``width`` slots under each parent, open addressing; ``crd`` is -1 in those that are empty."""

    unique: bool = True

    letter: ClassVar[str] = "h"
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "probe"

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        crd, width = m["crd"], element(m["width"], lit(0))
        return Call(f"weft_hash_free_{crd.ty[:-1]}", (crd, mul(parent, width), width, coords[m.level]), "int64")

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        crd, width = m["crd"], element(m["width"], lit(0))
        return Call(f"weft_hash_find_{crd.ty[:-1]}", (crd, mul(parent, width), width, coord), "int64")

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        reason = super().check(parent_size, dimension, arrays)
        if reason is not None:
            return reason
        width = int(np.asarray(arrays["width"])[0])
        rows = np.sort(np.asarray(arrays["crd"]).reshape(parent_size, width), axis=1)
        if ((rows[:, 1:] == rows[:, :-1]) & (rows[:, 1:] >= 0)).any():
            return "a table holds a coordinate twice"
        return None
