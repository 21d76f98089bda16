"""Singleton levels: one coordinate under each parent, stored in ``crd`` (2018 paper, Table 2).

Interleaved singleton levels have fewer capabilities. They share functions by the class from which both derive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from ...ir.builder import add, eq, ge, lit
from ...ir.nodes import Expr, Select, Stmt
from ...records import record
from ..capabilities import Append, ArrayEditing, Insertion, Locate, PositionIteration
from ..level import Arrays, LevelSlice, LevelVars, Span
from .access import element, put

__all__ = ["Singleton"]


@record
class SingleCoordinates(PositionIteration, Append, ArrayEditing):
    """A level with a single coordinate under each parent, at the position of the parent.

    Parameters
    ----------
    padded : bool
        If true, a coordinate of -1 marks a position without an entry, such as the padding of rows in ELL.
    full : bool
        If true, every coordinate occurs with every tuple of coordinates above.
    """

    padded: bool = False
    full: bool = False

    letter: ClassVar[str] = "q"
    repeated_letter: ClassVar[str | None] = "c"
    branchless: ClassVar[bool] = True
    roles: ClassVar[tuple[str, ...]] = ("crd",)

    @property
    def gapless(self) -> bool:
        return not self.padded

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        return parent, add(parent, lit(1))

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return element(m["crd"], p)

    def valid(self, m: LevelVars, coord: Expr) -> Expr | None:
        return ge(coord, lit(0)) if self.padded else None

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return parent_size

    def append_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        return put(m["crd"], p, coord)

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return (size,)

    def cut(self, arrays: Arrays, dimension: int, begin: int, end: int, span: Span | None) -> LevelSlice | None:
        return {"crd": arrays["crd"][begin:end].copy()}, begin, end

    def moved(
        self, arrays: Mapping[str, np.ndarray[Any, Any]], by: int, dtype: np.dtype[Any]
    ) -> Mapping[str, np.ndarray[Any, Any]] | None:
        if self.padded:
            return None  # -1 must stay in empty positions, and in hash tables the coordinate determines the slot
        return {**arrays, "crd": np.add(arrays["crd"], dtype.type(by), dtype=dtype)}

    def joined(
        self, parts: Sequence[Mapping[str, np.ndarray[Any, Any]]], parents: Sequence[int], offsets: Sequence[int] | None
    ) -> Mapping[str, np.ndarray[Any, Any]] | None:
        return {"crd": np.concatenate([part["crd"][:n] for part, n in zip(parts, parents, strict=True)])}

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return parent_size

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        crd = np.asarray(arrays["crd"])
        if len(crd) < parent_size:
            return f"crd has {len(crd)} entries; {parent_size} parents need as many"
        crd = crd[:parent_size]
        # Negative coordinates are larger than all others as unsigned integers.
        below = self.padded and len(crd) and crd.min() < -1
        if len(crd) and (below or (crd if self.padded else crd.view(f"u{crd.itemsize}")).max() >= dimension):
            return f"crd holds coordinates outside [0, {dimension})"
        return None


@record
class Singleton(SingleCoordinates, Locate, Insertion):
    """A level that stores a single coordinate under each parent, at the position of the parent.

    Parameters
    ----------
    padded : bool
        If true, a coordinate of -1 marks a position without an entry, such as the padding of rows in ELL.
    full : bool
        If true, every coordinate occurs with every tuple of coordinates above.

    Examples
    --------
    >>> import weft
    >>> levels = [weft.Compressed(unique=False), weft.Singleton()]
    >>> weft.Format("(i,j) -> (i,j)", levels) == weft.formats["coo"]
    False
    """

    spelled: ClassVar[bool] = True
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "search"
    apart: ClassVar[bool] = True
    blank: ClassVar[int] = -1

    @property
    def signed(self) -> bool:  # type: ignore[override]
        return not self.padded  # -1 is the mark of padding

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        return Select(eq(self.pos_access(m, parent, parent, ()), coord), parent, lit(-1))

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return parent

    def insert_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        return put(m["crd"], p, coord)
