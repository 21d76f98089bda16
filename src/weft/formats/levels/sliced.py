"""Levels with the coordinates from 0 to a stored bound, such as those of a counter.

Sliced levels have one bound for all parents (2020 paper, Figs. 7 and 11), ragged levels one for each parent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np

from ...ir.builder import add, lit, mul, sub
from ...ir.nodes import Expr, For, Load, Stmt, Update, Var
from ...queries import Query
from ...records import record
from ...remapping import Remapping
from ..capabilities import Insertion, Locate, QueriedEdges, ValueIteration
from ..level import LevelFormat, LevelVars, Placing, ask
from .access import element

__all__ = ["Ragged", "Sliced"]


@record
class Sliced(ValueIteration, Locate, Insertion):
    """A level with the coordinates ``[0, size)`` under every parent.

    In ELL, a coordinate is a slice, and ``size`` is the number of entries of the row that has the most.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["ell"](2).levels]
    ['sliced', 'dense', 'singleton']
    """

    letter: ClassVar[str] = "l"
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "direct"
    full = True
    counts: ClassVar[bool] = True
    compact: ClassVar[bool] = False
    placing: ClassVar[Placing | None] = "get"
    apart: ClassVar[bool] = True
    roles: ClassVar[tuple[str, ...]] = ("size",)

    def coord_bounds(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> tuple[Expr, Expr]:
        return lit(0), element(m["size"], lit(0))

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        return add(mul(parent, element(m["size"], lit(0))), coord)

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return self.locate(m, parent, coords[m.level])

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"size": 1}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        return (ask("max", "size", (), (level,)),)

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return mul(parent_size, element(m["size"], lit(0)))

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return (1,)

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return parent_size * int(np.asarray(arrays["size"])[0])

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        size = np.asarray(arrays["size"])
        if len(size) != 1 or size[0] < 0:
            return f"size is one number that is not negative, not {size.tolist()}"
        return None


@record
class Ragged(ValueIteration, Locate, Insertion, QueriedEdges):
    """A level with the coordinates from 0 to a bound under each parent, at ``slices[p_{k-1}]:slices[p_{k-1} + 1]``.

    In sliced ELL, each block of rows has as many slices as its longest row has entries.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["sell"](2).levels]
    ['dense', 'ragged', 'jagged(¬O)', 'singleton']
    """

    letter: ClassVar[str] = "a"
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "direct"
    counts: ClassVar[bool] = True
    compact: ClassVar[bool] = False
    placing: ClassVar[Placing | None] = "get"
    apart: ClassVar[bool] = True
    shifted: ClassVar[tuple[str, ...]] = ("slices",)
    roles: ClassVar[tuple[str, ...]] = ("slices",)

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        # The longest row below each position is asked for before any entry takes a position.
        found = all(level.placing == "get" for level in levels[:k])
        return None if found else "positions of the levels above it must follow from coordinates"

    def coord_bounds(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> tuple[Expr, Expr]:
        return lit(0), sub(element(m["slices"], add(parent, lit(1))), element(m["slices"], parent))

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        return add(element(m["slices"], parent), coord)

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return self.locate(m, parent, coords[m.level])

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"slices": parent_size + 1}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        return (ask("max", "slices", range(level), (level,)),)

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        q, slices = Var("q"), m["slices"]
        return For(q, lit(0), parent_size, Update("+", Load(slices, add(q, lit(1))), Load(slices, q)))

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return element(m["slices"], parent_size)

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return (parent_size + 1,)

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return int(np.asarray(arrays["slices"])[parent_size])

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        slices = np.asarray(arrays["slices"])
        if len(slices) != parent_size + 1 or slices[0] != 0 or (slices[1:] < slices[:-1]).any():
            return f"slices has {len(slices)} entries for {parent_size} parents, or does not start at 0, or decreases"
        return None
