"""Sliced levels: the coordinates from 0 to a stored bound (2020 paper, Figs. 7 and 11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from ...ir.builder import add, lit, mul
from ...ir.nodes import Expr
from ...queries import Query
from ...records import record
from ..capabilities import Insertion, Locate, ValueIteration
from ..level import LevelVars, Placing, ask
from .access import element

__all__ = ["Sliced"]


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
