"""Singleton levels: one coordinate under each parent, stored in ``crd`` (2018 paper, Table 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ...ir.builder import add, cast, eq, lit
from ...ir.nodes import Expr, Load, Select, Stmt, Store
from ..level import LevelFormat, LevelVars

__all__ = ["Singleton"]


@dataclass(frozen=True)
class Singleton(LevelFormat):
    """Stores a single coordinate, at the position of its parent."""

    letter: ClassVar[str] = "q"
    locates: ClassVar[Literal["direct", "search"] | None] = "search"
    appends: ClassVar[bool] = True
    branchless: ClassVar[bool] = True
    roles: ClassVar[tuple[str, ...]] = ("crd",)

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        return parent, add(parent, lit(1))

    def pos_access(self, m: LevelVars, p: Expr, coords: tuple[Expr, ...]) -> Expr:
        return cast(Load(m["crd"], p), "int64")

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        return Select(eq(self.pos_access(m, parent, ()), coord), parent, lit(-1))

    def append_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        crd = m["crd"]
        return Store(crd, p, cast(coord, crd.ty[:-1]))

    def array_sizes(self, parent_size: int, size: int) -> tuple[int, ...]:
        return (size,)

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return parent_size

    def children(
        self, parent: int, dimension: int, arrays: Mapping[str, np.ndarray[Any, Any]], coords: tuple[int, ...]
    ) -> Iterable[tuple[int, int]]:
        return ((int(arrays["crd"][parent]), parent),)

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        crd = np.asarray(arrays["crd"])
        if len(crd) < parent_size:
            return f"crd has {len(crd)} entries; {parent_size} parents need as many"
        crd = crd[:parent_size]
        if len(crd) and (crd.min() < 0 or crd.max() >= dimension):
            return f"crd holds coordinates outside [0, {dimension})"
        return None
