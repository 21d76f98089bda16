"""Compressed levels: a segment of ``crd`` under each parent, bounded by ``pos`` (2018, Table 2; 2020, Fig. 11).

Levels with other capabilities share functions of compressed levels by the two classes from which these derive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, ClassVar, Literal

import numpy as np

from ...dtypes import INT32_MAX, index_dtype
from ...ir.builder import add, block, cast, if_, lit, ne, sub
from ...ir.nodes import Block, Call, Declare, Evaluate, Expr, For, Load, Scan, Stmt, Store, Update, Var
from ...queries import Query
from ...records import record, replace
from ..capabilities import (
    Append,
    ArrayEditing,
    ChildlessEdges,
    ElementLookup,
    Insertion,
    Locate,
    PositionIteration,
    QueriedEdges,
    SequencedEdges,
    SharedPositions,
    ShiftedEdges,
    UnsequencedEdges,
)
from ..level import Arrays, LevelFormat, LevelSlice, LevelVars, Placing, Span, ask
from .access import element, put

__all__ = ["Compressed"]


@record
class Segments(PositionIteration, Append, SequencedEdges, ChildlessEdges, ShiftedEdges, UnsequencedEdges, ArrayEditing):
    """A level with a segment of coordinates under each parent, whose positions are ``pos[p_{k-1}]:pos[p_{k-1} + 1]``.

    Parameters
    ----------
    full : bool
        If true, every coordinate occurs under every parent, as in a coordinate list without an empty row.
    """

    full: bool = False

    letter: ClassVar[str] = "s"
    repeated_letter: ClassVar[str | None] = "u"
    roles: ClassVar[tuple[str, ...]] = ("pos", "crd")

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        pos = m["pos"]
        return element(pos, parent), element(pos, add(parent, lit(1)))

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return element(m["crd"], p)

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return element(m["pos"], parent_size)

    def append_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        return put(m["crd"], p, coord)

    def seq_init_edges(self, m: LevelVars, begin: Expr) -> Stmt:
        return put(m["pos"], lit(0), begin)

    def seq_insert_edges(self, m: LevelVars, parent: Expr, end: Expr) -> Stmt:
        return put(m["pos"], add(parent, lit(1)), end)

    def seq_finalize_edges(self, m: LevelVars, parents: tuple[Expr, Expr], begin: Expr, index: Var) -> Stmt:
        # Edges of parents without children are still zero: such a parent ends at the last edge before it.
        start, stop = (add(parent, lit(1)) for parent in parents)
        return Scan(index, m["pos"], start, stop, "maximum", begin)

    def shift_edges(self, m: LevelVars, parent: Expr, by: Expr) -> Stmt:
        return self.unseq_insert_edges(m, parent, by)

    def unseq_insert_edges(self, m: LevelVars, parent: Expr, count: Expr) -> Stmt:
        pos = m["pos"]
        return Update("+", Load(pos, add(parent, lit(1))), cast(count, pos.ty[:-1]))

    def unseq_finalize_edges(self, m: LevelVars, parent_size: Expr, index: Var) -> Stmt:
        return Scan(index, m["pos"], lit(0), add(parent_size, lit(1)), "+")

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return parent_size + 1, size

    def moved(
        self, arrays: Mapping[str, np.ndarray[Any, Any]], by: int, dtype: np.dtype[Any]
    ) -> Mapping[str, np.ndarray[Any, Any]] | None:
        return {**arrays, "crd": np.add(arrays["crd"], dtype.type(by), dtype=dtype)}

    def cut(self, arrays: Arrays, dimension: int, begin: int, end: int, span: Span | None) -> LevelSlice | None:
        pos, crd = arrays["pos"], arrays["crd"]
        if span is None:
            first, last = int(pos[begin]), int(pos[end])
            return {"pos": pos[begin : end + 1] - pos[begin], "crd": crd[first:last].copy()}, first, last
        if not self.ordered:
            return None
        # At the root, the coordinates are cut, and those of the part begin at 0.
        first, last = (_before(crd[: int(pos[1])], bound) for bound in (span[0], sum(span)))
        edges = np.array([0, last - first], pos.dtype)
        moved = crd[first:last] - crd.dtype.type(span[0]) if last > first else crd[:0]
        return {"pos": edges, "crd": moved}, first, last

    def narrowed(self, below: LevelFormat) -> LevelFormat | None:
        # The level below must have one coordinate for each position, as this level does.
        if below.roles != ("crd",) or not below.gapless:
            return None
        return replace(self, ordered=below.ordered, unique=below.unique, full=False)

    def joined(
        self, parts: Sequence[Mapping[str, np.ndarray[Any, Any]]], parents: Sequence[int], offsets: Sequence[int] | None
    ) -> Mapping[str, np.ndarray[Any, Any]] | None:
        counts = [int(part["pos"][n]) for part, n in zip(parts, parents, strict=True)]
        ends = list(accumulate(counts, initial=0))
        coords = [part["crd"][:count] for part, count in zip(parts, counts, strict=True)]
        if offsets is not None:  # at the root, one segment with the coordinates of all
            last = max((int(c.max(initial=0)) + offset for c, offset in zip(coords, offsets, strict=True)), default=0)
            wide = index_dtype(max(last, ends[-1]))
            moved = [c.astype(wide) + wide.type(offset) for c, offset in zip(coords, offsets, strict=True)]
            return {"pos": np.array([0, ends[-1]], wide), "crd": np.concatenate(moved)}
        # Below the root, coordinates stay, and positions follow those of the tensors before.
        wide = np.result_type(index_dtype(ends[-1]), *(part["pos"] for part in parts))
        pos = np.zeros(sum(parents) + 1, wide)
        at = 1
        for part, n, begin in zip(parts, parents, ends, strict=False):
            np.add(part["pos"][1 : n + 1], wide.type(begin), out=pos[at : at + n])
            at += n
        return {"pos": pos, "crd": np.concatenate(coords)}

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return int(np.asarray(arrays["pos"])[parent_size])

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        pos, crd = np.asarray(arrays["pos"]), np.asarray(arrays["crd"])
        if len(pos) != parent_size + 1:
            return f"pos has {len(pos)} entries; {parent_size} parents need {parent_size + 1}"
        if pos[0] != 0:
            return f"pos starts at {pos[0]}, not 0"
        if (pos[1:] < pos[:-1]).any():
            return "pos decreases"
        count = pos[-1]
        if len(crd) < count:
            return f"pos ends at {count}, but crd has {len(crd)} entries"
        crd = crd[:count]
        # Negative coordinates are larger than all others as unsigned integers.
        if count and crd.view(f"u{crd.itemsize}").max() >= dimension:
            return f"crd holds coordinates outside [0, {dimension})"
        return None


@record
class InsertedSegments(Segments, Locate, ElementLookup, Insertion, QueriedEdges):
    """A level with segments of coordinates that are searched, and into which entries are inserted."""

    signed = True
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "search"
    placing: ClassVar[Placing | None] = "yield"
    apart: ClassVar[bool] = True
    shifted: ClassVar[tuple[str, ...]] = ("pos",)

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        crd = m["crd"]
        how = "search" if self.ordered else "find"  # a binary or a linear search
        begin, end = self.pos_bounds(m, parent)
        return Call(f"weft_{how}_{crd.ty[:-1]}", (crd, begin, end, coord), "int64")

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"pos": parent_size + 1}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        # A unique level stores each coordinate once. Others store it once for each tuple with the coordinates below.
        one = range(level, level + 1) if self.unique else range(level, last + 1)
        return (ask("count", "pos", range(level), one),)

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        return self.unseq_finalize_edges(m, parent_size, Var("q"))

    def insert_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        return self.append_coord(m, p, coord)

    def next_pos(self, m: LevelVars, parent: Expr) -> Expr:
        return element(m["pos"], parent)

    def yield_pos(self, m: LevelVars, parent: Expr, into: Var) -> Stmt:
        pos = m["pos"]  # the beginning of the segment doubles as the counter (2020, Fig. 11)
        return Block((Declare(into, self.next_pos(m, parent)), Update("+", Load(pos, parent), lit(1, pos.ty[:-1]))))

    def finalize_yield_pos(self, m: LevelVars, parent_size: Expr, index: Var) -> Stmt:
        # Each ``pos[p]`` has advanced to the end of its segment, which is the beginning of the next: shift all by one.
        pos = m["pos"]
        back = sub(parent_size, index)
        shift = Store(pos, back, Load(pos, sub(back, lit(1))))
        return Block((For(index, lit(0), parent_size, shift), put(pos, lit(0), lit(0))))

    def find(self, parent: int, coord: int, dimension: int, arrays: Mapping[str, np.ndarray[Any, Any]]) -> int | None:
        if not (self.ordered and self.unique):  # a linear search, or several positions: left to kernels
            return None
        begin, end = arrays["pos"][parent : parent + 2].tolist()
        crd = arrays["crd"]
        p = begin + int(crd[begin:end].searchsorted(coord))
        return p if p < end and crd[p] == coord else -1


@record
class Compressed(InsertedSegments, SharedPositions):
    """A level that stores the coordinates that occur under a parent: ``crd[pos[p_{k-1}]:pos[p_{k-1} + 1]]``.

    Parameters
    ----------
    full : bool
        If true, every coordinate occurs under every parent, as in a coordinate list without an empty row.

    Examples
    --------
    >>> import weft
    >>> some_rows = weft.Format("(i,j) -> (i,j)", [weft.Compressed()] * 2)
    >>> some_rows == weft.formats["dcsr"]
    False
    """

    spelled: ClassVar[bool] = True

    def shared_scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"where": dimension, "spare": dimension, "current": 1}

    def shared_collect(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Stmt:
        p = Var(f"p{m.level}_new")
        return block(self.yield_pos(m, parent, p), self.insert_coord(m, p, coords[m.level]))

    def shared_finish(self, m: LevelVars, parent_size: Expr) -> Stmt:
        return self.finalize_yield_pos(m, parent_size, Var("q"))

    def shared_sort(self, m: LevelVars, parent: Expr) -> Stmt:
        if not self.ordered:
            return Block()
        crd, (begin, end) = m["crd"], self.pos_bounds(m, parent)
        return Evaluate(Call(f"weft_sort_{crd.ty[:-1]}", (add(crd, begin), sub(end, begin), m["spare"]), "int64"))

    def shared_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...], into: Var, first: Stmt) -> Stmt:
        # ``where`` holds the positions of one parent's coordinates. It is filled again whenever the parent changes.
        q, current = Var("q"), element(m["current"], lit(0))
        begin, end = self.pos_bounds(m, parent)
        look = For(q, begin, end, put(m["where"], sub(element(m["crd"], q), m.lowest), q))
        mark = add(parent, lit(1))  # not 0, with which ``current`` starts
        turn = if_(ne(current, mark), block(put(m["current"], lit(0), mark), look, first))
        return block(turn, Declare(into, element(m["where"], sub(coords[m.level], m.lowest))))


def _before(crd: np.ndarray[Any, Any], bound: int) -> int:
    """Return the number of sorted coordinates that are below a bound, which may exceed the range of their dtype."""
    if bound > INT32_MAX and crd.dtype == np.int32:
        return len(crd)
    return int(crd.searchsorted(crd.dtype.type(bound)))
