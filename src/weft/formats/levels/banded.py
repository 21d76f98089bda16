"""Banded levels: a run of consecutive coordinates under each parent (2020 paper, Figs. 7 and 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np

from ...errors import IndexOverflowError
from ...ir.builder import add, block, gt, if_, lit, minimum, sub
from ...ir.nodes import Expr, For, Select, Stmt, Var
from ...queries import Query
from ...records import record
from ...remapping import Remapping
from ..capabilities import ElementLookup, Insertion, Locate, QueriedEdges, ValueIteration
from ..level import Arrays, LevelFormat, LevelVars, Placing, ask
from .access import element, put

__all__ = ["Banded"]


@record
class Banded(ValueIteration, Locate, ElementLookup, Insertion, QueriedEdges):
    """A level that stores a run of consecutive coordinates under each parent, which begins at ``begin[p_{k-1}]``.

    The positions of the run are ``pos[p_{k-1}]:pos[p_{k-1} + 1]``.

    Parameters
    ----------
    diagonal : bool
        If true, every run reaches the diagonal, or the edge of the tensor beside it, as in a skyline.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["skyline"](2).levels]
    ['dense', 'banded']
    """

    diagonal: bool = False

    letter: ClassVar[str] = "b"
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "direct"
    placing: ClassVar[Placing | None] = "get"
    apart: ClassVar[bool] = True
    roles: ClassVar[tuple[str, ...]] = ("pos", "begin")

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        if self.diagonal and k == 0:
            return "it has no level above whose coordinate is the diagonal's"
        return super().why_not(levels, remapping, k)

    def coord_bounds(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> tuple[Expr, Expr]:
        begin = element(m["begin"], parent)
        count = sub(element(m["pos"], add(parent, lit(1))), element(m["pos"], parent))
        return begin, add(begin, count)  # coordinates, of which only the first is stored

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        return add(sub(element(m["pos"], parent), element(m["begin"], parent)), coord)

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return self.locate(m, parent, coords[m.level])

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"pos": parent_size + 1, "begin": parent_size}

    def scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"end": parent_size, **({"above": parent_size} if self.diagonal else {})}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        above = range(level)
        # The diagonal of a row is at the coordinate of the level above, the same for all entries of the row.
        found = (ask("min", "begin", above, (level,)), ask("max", "end", above, (level,)))
        return (*found, ask("max", "above", above, (level - 1,))) if self.diagonal else found

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        q = Var("q")
        end = element(m["end"], q)
        # The answer of ``min`` counts down from the dimension, and zero means that there is no run.
        begin = Select(gt(end, lit(0)), sub(m.dimension, element(m["begin"], q)), lit(0))
        # This expression is evaluated after ``begin`` has been written, so the difference is the length of the run.
        grown = add(element(m["pos"], q), sub(end, element(m["begin"], q)))
        edges = block(put(m["begin"], q, begin), put(m["pos"], add(q, lit(1)), grown))
        return For(q, lit(0), parent_size, block(self._to_diagonal(m, q), edges) if self.diagonal else edges)

    def _to_diagonal(self, m: LevelVars, parent: Var) -> Stmt:
        """Extend the run below a parent, if there is one, to the diagonal or the edge of the tensor beside it."""
        diagonal = minimum(element(m["above"], parent), m.dimension)  # one more than its coordinate
        back = sub(add(m.dimension, lit(1)), diagonal)
        wider = block(
            if_(gt(back, element(m["begin"], parent)), put(m["begin"], parent, back)),
            if_(gt(diagonal, element(m["end"], parent)), put(m["end"], parent, diagonal)),
        )
        return if_(gt(element(m["end"], parent), lit(0)), wider)

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return parent_size + 1, parent_size

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return element(m["pos"], parent_size)

    def find(self, parent: int, coord: int, dimension: int, arrays: Arrays) -> int | None:
        begin, end = arrays["pos"][parent : parent + 2].tolist()
        p = begin + coord - int(arrays["begin"][parent])
        return p if begin <= p < end else -1

    def size_to_be(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        pos = np.asarray(arrays["pos"])
        total = int(np.diff(pos).sum(dtype=np.int64))  # each run fits the dtype, even if the sum has overflowed
        if total > np.iinfo(pos.dtype).max:
            raise IndexOverflowError(f"{total} positions of {parent_size} runs do not fit {pos.dtype}")
        return total

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return int(np.asarray(arrays["pos"])[parent_size])

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        pos, begin = np.asarray(arrays["pos"]).astype(np.int64), np.asarray(arrays["begin"]).astype(np.int64)
        if len(pos) != parent_size + 1 or len(begin) != parent_size:
            return f"pos and begin have {len(pos)} and {len(begin)} entries for {parent_size} parents"
        if pos[0] != 0 or (np.diff(pos) < 0).any():
            return "pos does not start at 0 or decreases"
        if len(begin) and (begin.min() < 0 or (begin + np.diff(pos)).max() > dimension):
            return f"a band reaches outside [0, {dimension})"
        return None
