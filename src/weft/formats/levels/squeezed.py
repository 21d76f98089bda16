"""Squeezed levels: the coordinates that occur under any parent, stored once (2020 paper, Figs. 7 and 11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ...ir.builder import add, block, ge, increment, land, lit, lt, mul, sub
from ...ir.nodes import Binary, Call, Declare, Expr, Set, Stmt, Var, While
from ...queries import Query
from ...records import record
from ..capabilities import Append, Insertion, PositionIteration, QueriedEdges, SequencedEdges
from ..level import LevelVars, Placing, ask
from .access import element, put

__all__ = ["Squeezed"]


@record
class Squeezed(PositionIteration, Append, SequencedEdges, Insertion, QueriedEdges):
    """A level with the coordinates ``crd[0:size]`` under every parent; the n-th has position ``p_{k-1} * size + n``.

    At the root there is one parent, and the coordinates can be appended.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["dia"](2).levels]
    ['squeezed', 'range', 'offset']
    """

    letter: ClassVar[str] = "z"
    compact: ClassVar[bool] = False
    signed = True
    rooted: ClassVar[bool] = True
    placing: ClassVar[Placing | None] = "get"
    apart: ClassVar[bool] = True
    flags: ClassVar[tuple[str, ...]] = ("nz",)
    unread: ClassVar[tuple[str, ...]] = ("crd", "rank")
    roles: ClassVar[tuple[str, ...]] = ("size", "crd")

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        size = element(m["size"], lit(0))
        return mul(parent, size), mul(add(parent, lit(1)), size)

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        # The root has one parent, so that no remainder is needed.
        at = p if m.level == 0 else Binary("%", p, element(m["size"], lit(0)))
        return element(m["crd"], at)

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return mul(parent_size, element(m["size"], lit(0)))

    def append_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        return put(m["crd"], p, coord)

    def can_append(self, m: LevelVars, coord: Expr) -> Expr | None:
        # Arrays from other packages may hold coordinates outside the tensor, such as the offsets of SciPy's dia.
        return land(ge(coord, m.lowest), lt(coord, add(m.lowest, m.dimension)))

    def seq_insert_edges(self, m: LevelVars, parent: Expr, end: Expr) -> Stmt:
        return put(m["size"], lit(0), end)

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"size": 1, "crd": dimension}

    def scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"nz": dimension, "rank": dimension}

    def _next(self, m: LevelVars, first: Expr) -> Expr:
        """Return the first coordinate that occurs, from ``first`` on."""
        return Call("weft_next_flag", (m["nz"], first, m.dimension), "int64")

    def _place(self, m: LevelVars, coord: Expr) -> Expr:
        """Return the index of a coordinate in the array ``rank``."""
        return sub(coord, m.lowest)

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        return (ask("id", "nz", (level,)),)

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        # Compact the flags of the coordinates that occur into ``crd``. ``rank`` is the inverse of ``crd``.
        q, n = Var("q"), Var("n")
        place = block(put(m["crd"], n, add(q, m.lowest)), put(m["rank"], q, n), increment(n))
        return block(
            Declare(n, lit(0)),
            Declare(q, self._next(m, lit(0))),
            While(lt(q, m.dimension), block(place, Set(q, self._next(m, add(q, lit(1)))))),
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
