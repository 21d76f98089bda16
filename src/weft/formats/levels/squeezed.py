"""Squeezed levels: the coordinates that occur under any parent, stored once for all (2020 paper, Figs. 7 and 11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...ir.builder import add, block, if_, increment, lit, mul, ne, sub
from ...ir.nodes import Binary, Declare, Expr, For, Stmt, Var
from ...queries import Query
from ..level import LevelFormat, LevelVars, Placing, ask
from .access import element, put

__all__ = ["Squeezed"]


@dataclass(frozen=True)
class Squeezed(LevelFormat):
    """``crd[0:size]`` under every parent; the position of its ``n``-th coordinate is ``p_{k-1} * size + n``."""

    letter: ClassVar[str] = "z"
    compact: ClassVar[bool] = False
    signed = True
    placing: ClassVar[Placing | None] = "get"
    apart: ClassVar[bool] = True
    roles: ClassVar[tuple[str, ...]] = ("size", "crd")

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        size = element(m["size"], lit(0))
        return mul(parent, size), mul(add(parent, lit(1)), size)

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        at = p if m.level == 0 else Binary("%", p, element(m["size"], lit(0)))
        return element(m["crd"], at)

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return mul(parent_size, element(m["size"], lit(0)))

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"size": 1, "crd": dimension}

    def scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"rank": dimension}

    def _place(self, m: LevelVars, coord: Expr) -> Expr:
        """Where the rank of a coordinate stands."""
        return sub(coord, m.lowest)

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        return (ask("id", "rank", (level,)),)

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        q, n = Var("q"), Var("n")
        found = element(m["rank"], q)
        place = block(put(m["crd"], n, add(q, m.lowest)), put(m["rank"], q, n), increment(n))
        return block(
            Declare(n, lit(0)),
            For(q, lit(0), m.dimension, if_(ne(found, lit(0)), place)),
            put(m["size"], lit(0), n),
        )

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return add(mul(parent, element(m["size"], lit(0))), element(m["rank"], self._place(m, coords[m.level])))

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return 1, size // max(parent_size, 1)

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return parent_size * int(np.asarray(arrays["size"])[0])

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        size, crd = np.asarray(arrays["size"]), np.asarray(arrays["crd"])
        if len(size) != 1 or size[0] != len(crd):
            return f"size is {size.tolist()} for {len(crd)} coordinates"
        step = np.diff(crd.astype(np.int64))
        if self.ordered and (step < 0).any():
            return "crd is not sorted"
        if self.unique and len(np.unique(crd)) < len(crd):
            return "crd holds duplicates"
        return None
