"""Levels with the coordinates that occur under any parent, stored once.

Squeezed levels (2020 paper, Figs. 7 and 11) list them. Bitset levels also have a bit for each coordinate, by which one
is located.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np

from ...ir.builder import add, block, ge, increment, land, lit, lt, mul, sub
from ...ir.nodes import Binary, Call, Declare, Evaluate, Expr, Set, Stmt, Var, While
from ...queries import Query
from ...records import record
from ...remapping import Remapping
from ..capabilities import Append, ElementLookup, Insertion, Locate, PositionIteration, QueriedEdges, SequencedEdges
from ..level import Arrays, LevelFormat, LevelVars, Placing, ask
from .access import element, put

__all__ = ["Bitset", "Squeezed"]


@record
class OccurringCoordinates(PositionIteration, Insertion, QueriedEdges):
    """A level with the coordinates ``crd[0:size]`` under every parent; the n-th has position ``p_{k-1} * size + n``."""

    compact: ClassVar[bool] = False
    signed = True
    placing: ClassVar[Placing | None] = "get"
    apart: ClassVar[bool] = True
    flags: ClassVar[tuple[str, ...]] = ("nz",)
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

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"size": 1, "crd": dimension}

    def scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"nz": dimension}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        return (ask("id", "nz", (level,)),)

    def _next(self, m: LevelVars, first: Expr) -> Expr:
        """Return the first coordinate that occurs, from ``first`` on."""
        return Call("weft_next_flag", (m["nz"], first, m.dimension), "int64")

    def _place(self, m: LevelVars, coord: Expr) -> Expr:
        """Return the index of a coordinate among all that the level can have."""
        return sub(coord, m.lowest)

    def _listing(self, m: LevelVars, *others: Stmt) -> Stmt:
        """Return the loop that lists the flagged coordinates ``q + lowest``, with other statements for the n-th."""
        q, n = Var("q"), Var("n")
        place = block(put(m["crd"], n, add(q, m.lowest)), *others, increment(n))
        return block(
            Declare(n, lit(0)),
            Declare(q, self._next(m, lit(0))),
            While(lt(q, m.dimension), block(place, Set(q, self._next(m, add(q, lit(1)))))),
            put(m["size"], lit(0), n),
        )

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


@record
class Squeezed(OccurringCoordinates, Append, SequencedEdges):
    """A level with the coordinates ``crd[0:size]`` under every parent; the n-th has position ``p_{k-1} * size + n``.

    At the root there is one parent, and the coordinates can be appended.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["dia"](2).levels]
    ['squeezed', 'range', 'offset']
    """

    letter: ClassVar[str] = "z"
    rooted: ClassVar[bool] = True
    unread: ClassVar[tuple[str, ...]] = ("crd", "rank")

    def append_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        return put(m["crd"], p, coord)

    def can_append(self, m: LevelVars, coord: Expr) -> Expr | None:
        # Arrays from other packages may hold coordinates outside the tensor, such as the offsets of SciPy's dia.
        return land(ge(coord, m.lowest), lt(coord, add(m.lowest, m.dimension)))

    def seq_insert_edges(self, m: LevelVars, parent: Expr, end: Expr) -> Stmt:
        return put(m["size"], lit(0), end)

    def scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"nz": dimension, "rank": dimension}

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        # ``rank`` is the inverse of ``crd``.
        return self._listing(m, put(m["rank"], Var("q"), Var("n")))

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return add(mul(parent, element(m["size"], lit(0))), element(m["rank"], self._place(m, coords[m.level])))


@record
class Bitset(OccurringCoordinates, Locate, ElementLookup):
    """A level with the coordinates ``crd[0:size]`` under every parent, and a bit for each that can occur.

    ``bits`` holds, for each 32 coordinates, a word with their bits, and how many coordinates of words before it occur.
    A coordinate is located by one read, where a hash table needs several.

    Examples
    --------
    >>> import weft
    >>> from weft.formats import Bitset
    >>> looked_up = weft.Format("(i) -> (i)", [Bitset()])
    >>> x = weft.asarray([0, 1.5, 0, 0, 2.5]).asformat(looked_up)
    >>> x[4], x.todense()
    (np.float64(2.5), array([0. , 1.5, 0. , 0. , 2.5]))
    """

    letter: ClassVar[str] = "t"
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "probe"
    unread: ClassVar[tuple[str, ...]] = ("crd",)
    roles: ClassVar[tuple[str, ...]] = ("size", "crd", "bits")

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        return None if self.unique else "a bit tells whether a coordinate occurs, not how often"

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {**super().first_arrays(parent_size, dimension), "bits": _words(dimension)}

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        bits = m["bits"]
        pack = Call(f"weft_pack_bits_{bits.ty[:-1]}", (m["nz"], m.dimension, bits), "int64")
        return block(self._listing(m), Evaluate(pack))

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return self.locate(m, parent, coords[m.level])

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        bits, first = m["bits"], self.pos_bounds(m, parent)[0]
        return Call(f"weft_find_bit_{bits.ty[:-1]}", (bits, first, self._place(m, coord), m.dimension), "int64")

    def find(self, parent: int, coord: int, dimension: int, arrays: Arrays) -> int | None:
        size, crd = int(arrays["size"][0]), arrays["crd"]
        rank = int(crd[:size].searchsorted(coord))
        return parent * size + rank if rank < size and crd[rank] == coord else -1

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return *super().array_sizes(parent_size, size, dimension), _words(dimension)

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        reason = super().check(parent_size, dimension, arrays)
        if reason is not None:
            return reason
        crd, bits = np.asarray(arrays["crd"]).astype(np.int64), np.asarray(arrays["bits"])
        if len(bits) != _words(dimension):
            return f"bits has {len(bits)} entries; {dimension} coordinates need {_words(dimension)}"
        occurs = np.unpackbits(bits[::2].astype(np.uint32).view(np.uint8), bitorder="little")
        lowest = int(crd[0] - occurs.argmax()) if len(crd) else 0
        ranks = np.cumsum(np.add.reduce(occurs.reshape(-1, 32), axis=1, dtype=np.int64))
        if not np.array_equal(np.flatnonzero(occurs) + lowest, crd) or (bits[3::2] != ranks[:-1]).any() or bits[1] != 0:
            return "bits and crd hold different coordinates"
        return None


def _words(dimension: int) -> int:
    """Return the length of an array with a word and a number for each 32 coordinates, at least for one word."""
    return 2 * max(-(-dimension // 32), 1)
