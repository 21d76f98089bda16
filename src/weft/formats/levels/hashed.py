"""Hashed levels: a hash table of coordinates under each parent (2018 paper, Table 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ...ir.builder import add, ge, lit, mul
from ...ir.nodes import Call, Expr
from ..level import LevelFormat, LevelVars
from .access import element

__all__ = ["Hashed", "Slots"]


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
