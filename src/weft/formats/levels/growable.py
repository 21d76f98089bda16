"""Growable levels: a segment of coordinates under each parent that can become longer (LIL)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...ir.builder import add, block, increment, lit
from ...ir.nodes import Declare, Expr, For, Load, Stmt, Update, Var
from ...queries import Query
from ...records import record
from ...remapping import Remapping
from ..capabilities import ElementLookup, GrowingSegments, Insertion, PositionIteration, QueriedEdges
from ..level import Arrays, LevelEntries, LevelFormat, LevelVars, Placing, ask
from .access import element, put

__all__ = ["Growable"]

Values = np.ndarray[Any, Any]


def _places(begin: Values, count: Values) -> Values:
    """Return all indices of some segments, one segment after another."""
    ends = np.cumsum(count)
    places: Values = np.arange(ends[-1] if len(ends) else 0) + np.repeat(begin - (ends - count), count)
    return places


@record
class Growable(PositionIteration, ElementLookup, Insertion, QueriedEdges, GrowingSegments):
    """A level that stores the segment ``crd[begin[p_{k-1}]:begin[p_{k-1}] + count[p_{k-1}]]`` under each parent.

    Segments may lie anywhere in ``crd``, with gaps between them.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["lil"](2).levels]
    ['dense', 'growable']
    """

    letter: ClassVar[str] = "g"
    compact: ClassVar[bool] = False
    placing: ClassVar[Placing | None] = "yield"
    roles: ClassVar[tuple[str, ...]] = ("begin", "count", "crd")

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        return None if k + 1 == len(levels) else "its segments move when they grow, and nothing can be below them"

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        begin = element(m["begin"], parent)
        return begin, add(begin, element(m["count"], parent))

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return element(m["crd"], p)

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"begin": parent_size, "count": parent_size}

    def scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"taken": parent_size}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        return (ask("count", "count", range(level), (level,)),)

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        q, end = Var("q"), Var("end")
        step = block(put(m["begin"], q, end), Update("+", end, element(m["count"], q)))
        return block(Declare(end, lit(0)), For(q, lit(0), parent_size, step))

    def yield_pos(self, m: LevelVars, parent: Expr, into: Var) -> Stmt:
        next = add(element(m["begin"], parent), element(m["taken"], parent))
        return block(Declare(into, next), increment(Load(m["taken"], parent)))

    def insert_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        return put(m["crd"], p, coord)

    def find(self, parent: int, coord: int, dimension: int, arrays: Arrays) -> int | None:
        if not self.unique:
            return None
        count = int(arrays["count"][parent])
        if not count:
            return -1
        begin = int(arrays["begin"][parent])
        found = np.flatnonzero(arrays["crd"][begin : begin + count] == coord)
        return begin + int(found[0]) if len(found) else -1

    def lengthened(self, arrays: Arrays, vals: Values, entries: LevelEntries) -> tuple[Arrays, Values]:
        """Return the arrays and values after entries are put in.

        Segments that become longer move behind all others. If there is no room, all segments move to larger arrays.
        """
        # Sort the old and the new entries of the parents that get new ones. The sort is stable.
        begin, count, crd = (arrays[role] for role in self.roles)
        touched, inverse = np.unique(entries.parents, return_inverse=True)
        held, old = count[touched], _places(begin[touched], count[touched])
        rows = np.concatenate([np.repeat(np.arange(len(touched)), held), inverse])
        crds, values = np.concatenate([crd[old], entries.coords]), np.concatenate([vals[old], entries.vals])
        order = np.lexsort((crds, rows))
        rows, crds = rows[order], crds[order]
        last = np.append((rows[1:] != rows[:-1]) | (crds[1:] != crds[:-1]), len(rows) > 0)  # the newest of equal ones
        rows, crds, values = rows[last], crds[last], values[order[last]]
        # Make room for the segments that become longer: twice what is needed, so that growth is amortized.
        lengths = np.bincount(rows, minlength=len(touched))
        longer = lengths > held
        end, need = int((begin + count).max(initial=0)), int(lengths[longer].sum())
        if end + need > len(crd):
            live = _places(begin, count)
            begin, end = (np.cumsum(count) - count).astype(begin.dtype), len(live)
            room = 2 * (end + need)
            if room > np.iinfo(begin.dtype).max:
                raise OverflowError(f"{end + need} entries do not fit positions of {begin.dtype}")
            crd = np.concatenate([crd[live], np.zeros(room - end, crd.dtype)])
            vals = np.concatenate([vals[live], np.full(room - end, entries.fill, vals.dtype)])
        # Write the sorted segments. Those that do not become longer stay where they are.
        starts = begin[touched]
        starts[longer] = end + np.cumsum(lengths[longer]) - lengths[longer]
        place = _places(starts, lengths)
        crd[place], vals[place] = crds, values
        begin[touched], count[touched] = starts, lengths
        return {"begin": begin, "count": count, "crd": crd}, vals

    def size_to_be(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return int(np.asarray(arrays["count"]).sum(dtype=np.int64))

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return parent_size, parent_size, size

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return len(np.asarray(arrays["crd"]))

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        begin, count, crd = (np.asarray(arrays[role]).astype(np.int64) for role in self.roles)
        if len(begin) != parent_size or len(count) != parent_size:
            return f"begin and count have {len(begin)} and {len(count)} entries for {parent_size} parents"
        if len(begin) and (begin.min() < 0 or count.min() < 0 or (begin + count).max() > len(crd)):
            return f"a segment reaches outside the {len(crd)} entries of crd"
        order = np.argsort(begin, kind="stable")
        order = order[count[order] > 0]  # empty segments may begin inside others
        ends = (begin + count)[order]
        if (ends[:-1] > begin[order][1:]).any():
            return "segments overlap"
        for first, n in zip(begin, count, strict=True):
            row = crd[first : first + n]
            if n and (row.min() < 0 or row.max() >= dimension):
                return f"crd holds coordinates outside [0, {dimension})"
            if self.ordered and (np.diff(row) < 0).any():
                return "crd is not sorted within its segments"
            if self.unique and len(np.unique(row)) < n:
                return "crd holds duplicates within a segment"
        return None
