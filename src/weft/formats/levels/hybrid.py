"""Capped and spilled levels: slices with one entry of each row, and a list of all further entries (HYB).

The hybrid format of Bell and Garland has an ELL part and a COO part. Here both parts are one hierarchy over
``(#i,i,j)``. Under each slice are all rows, as in ELL. Under one more node are the rows of the entries that the slices
do not hold, as in COO.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from ...ir.builder import add, block, ge, gt, if_, lit, lt, minimum, mul, sub
from ...ir.nodes import Binary, Call, Declare, Expr, For, Select, Stmt, Var
from ...queries import Query
from ...records import record
from ...remapping import Counter, Remapping
from ..capabilities import Insertion, PositionIteration, PositionTiles, QueriedEdges
from ..level import LevelFormat, LevelVars, Placing, ask
from .access import element, put
from .sliced import Sliced

__all__ = ["Capped", "Spilled"]


@record
class Capped(Sliced, QueriedEdges):
    """A level with slices ``0`` to ``size - 1``, and slice ``size`` for all entries with larger counters.

    Parameters
    ----------
    width : int
        The number of slices. 0 means the rounded mean number of entries of the rows that have any.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["hyb"](2).levels]
    ['capped', 'spilled(¬O¬U)', 'singleton']
    """

    width: int = 0

    letter: ClassVar[str] = "y"
    apart: ClassVar[bool] = False

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        if self.width < 0:
            return f"a width of {self.width} is negative"
        if k or len(levels) < 3 or not isinstance(levels[1], Spilled):
            return "it is the first level, with a spilled one below it"
        return None

    def coord_bounds(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> tuple[Expr, Expr]:
        return lit(0), add(element(m["size"], lit(0)), lit(1))

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        return coord

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return minimum(coords[m.level], element(m["size"], lit(0)))

    def scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {} if self.width else {"entries": 1, "rows": 1}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        if self.width:
            return ()
        return ask("count", "entries", (), range(1, last + 1)), ask("count", "rows", (), (1,))

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        if self.width:
            return put(m["size"], lit(0), lit(self.width))
        # The rounded quotient: (2 * entries + rows) / (2 * rows).
        entries, rows = element(m["entries"], lit(0)), element(m["rows"], lit(0))
        mean = Binary("/", add(mul(lit(2), entries), rows), mul(lit(2), rows))
        return if_(gt(rows, lit(0)), put(m["size"], lit(0), mean))

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return add(element(m["size"], lit(0)), lit(1))

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return int(np.asarray(arrays["size"])[0]) + 1


@record
class Spilled(PositionIteration, PositionTiles, Insertion, QueriedEdges):
    """A level below a capped one: every coordinate under each slice, and those in ``rest[0:count]`` under the last.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["hyb"](2).levels]
    ['capped', 'spilled(¬O¬U)', 'singleton']
    """

    ordered: bool = False
    unique: bool = False

    letter: ClassVar[str] = "x"
    sortable: ClassVar[bool] = False
    placing: ClassVar[Placing | None] = "get"
    shifted: ClassVar[tuple[str, ...]] = ("before",)
    roles: ClassVar[tuple[str, ...]] = ("count", "rest")
    borrows: ClassVar[tuple[str, ...]] = ("size",)

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        if k != 1 or not isinstance(levels[0], Capped):
            return "it is the second level, below a capped one"
        counter = remapping.coordinates[0]
        if not isinstance(counter, Counter) or counter.over != remapping.coordinates[1:2]:
            return "the first level counts the entries of its coordinate"
        if levels[2].gapless or not levels[2].branchless:
            return "the level below it marks the places that hold no entry"
        return None

    def _slices(self, m: LevelVars) -> Expr:
        return element(m["size"], lit(0))

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        width = Select(lt(parent, self._slices(m)), m.dimension, element(m["count"], lit(0)))
        begin = mul(parent, m.dimension)
        return begin, add(begin, width)

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        nth = sub(p, mul(parent, m.dimension))  # in a full slice, the coordinate itself
        return Select(lt(parent, self._slices(m)), nth, element(m["rest"], nth))

    def tile_bounds(self, m: LevelVars, parent: Expr, tile: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
        # The number of a coordinate is the coordinate, and ``rest`` is in ascending order.
        rest, begin = m["rest"], mul(parent, m.dimension)

        def place(number: Expr) -> Expr:
            search = (rest, lit(0), element(m["count"], lit(0)), number)
            found = Call(f"weft_lower_bound_{rest.ty[:-1]}", search, "int64")
            return add(begin, Select(lt(parent, self._slices(m)), number, found))

        first, last = map(place, tile)
        return first, last

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"count": 1}

    def scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"before": dimension + 1}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        return (ask("count", "before", (level,), range(level, last + 1)),)

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        # Replace the number of entries of each row by the number of further entries in all rows before it.
        q, before, spilt = Var("q"), m["before"], Var("spilt")
        here = element(before, add(q, lit(1)))
        further = Select(gt(here, self._slices(m)), sub(here, self._slices(m)), lit(0))
        step = block(Declare(spilt, further), put(before, add(q, lit(1)), add(element(before, q), spilt)))
        return block(For(q, lit(0), m.dimension, step), put(m["count"], lit(0), element(before, m.dimension)))

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        # The parent is the number of slices here, so the counter minus it numbers the further entries of the row.
        row, further = coords[m.level], sub(coords[m.level - 1], parent)
        nth = Select(lt(parent, self._slices(m)), row, add(element(m["before"], row), further))
        return add(mul(parent, m.dimension), nth)

    def insert_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        nth = sub(p, mul(self._slices(m), m.dimension))  # negative in the slices, which store no rows
        return if_(ge(nth, lit(0)), put(m["rest"], nth, coord))

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return add(mul(self._slices(m), m.dimension), element(m["count"], lit(0)))

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return 1, size - (parent_size - 1) * dimension  # all parents but the last are full slices

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return (parent_size - 1) * dimension + int(np.asarray(arrays["count"])[0])

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        count, rest = np.asarray(arrays["count"]), np.asarray(arrays["rest"])
        if len(count) != 1 or count[0] < 0 or len(rest) < count[0]:
            return f"count is one number that is not negative, not {count.tolist()}, with as many coordinates"
        rest = rest[: int(count[0])]
        if len(rest) and (rest.min() < 0 or rest.max() >= dimension):
            return f"rest holds coordinates outside [0, {dimension})"
        if (rest[1:] < rest[:-1]).any():
            return "rest is not in ascending order"
        return None
