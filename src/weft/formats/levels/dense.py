"""Dense levels: every coordinate of ``[0, N)``, without arrays (2018 paper, Table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from ...ir.builder import add, lit, mul
from ...ir.nodes import Expr
from ...records import record
from ..capabilities import ArrayEditing, ElementLookup, Insertion, Locate, ValueIteration
from ..level import Arrays, LevelSlice, LevelVars, Placing, Span

__all__ = ["Dense"]


@record
class Dense(ValueIteration, Locate, ElementLookup, Insertion, ArrayEditing):
    """A level with the coordinates ``[0, N)`` under every parent; the position of ``i_k`` is ``p_{k-1} * N + i_k``.

    Examples
    --------
    >>> import weft
    >>> rows = weft.Format("(i,j) -> (i,j)", [weft.Dense(), weft.Compressed()])
    >>> rows == weft.formats["csr"]
    False
    """

    letter: ClassVar[str] = "d"
    spelled: ClassVar[bool] = True
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "direct"
    full = True
    row_major = True
    placing: ClassVar[Placing | None] = "get"
    apart: ClassVar[bool] = True

    def coord_bounds(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> tuple[Expr, Expr]:
        return lit(0), m.dimension

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        return add(mul(parent, m.dimension), coord)

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return self.locate(m, parent, coords[m.level])

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return mul(parent_size, m.dimension)

    def find(self, parent: int, coord: int, dimension: int, arrays: Mapping[str, np.ndarray[Any, Any]]) -> int | None:
        return parent * dimension + coord

    def cut(self, arrays: Arrays, dimension: int, begin: int, end: int, span: Span | None) -> LevelSlice | None:
        if span is not None:  # at the root, positions are coordinates
            return {}, span[0], sum(span)
        return {}, begin * dimension, end * dimension

    def joined(
        self, parts: Sequence[Mapping[str, np.ndarray[Any, Any]]], parents: Sequence[int], offsets: Sequence[int] | None
    ) -> Mapping[str, np.ndarray[Any, Any]] | None:
        return {}

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return parent_size * dimension
