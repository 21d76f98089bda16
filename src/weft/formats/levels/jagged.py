"""Jagged levels: the first coordinates of one permutation under each parent, as in jagged diagonals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from ...ir.builder import add, block, cast, increment, lit, sub
from ...ir.nodes import Expr, For, Load, Stmt, Update, Var
from ...queries import Query
from ...records import record
from ...remapping import Counter, Remapping
from ..capabilities import Insertion, PositionIteration, QueriedEdges
from ..level import LevelFormat, LevelVars, Placing, ask
from .access import element, put

__all__ = ["Jagged"]


@record
class Jagged(PositionIteration, Insertion, QueriedEdges):
    """A level with the coordinates ``perm[0:n]`` under each parent, ``n`` being ``pos[p_{k-1} + 1] - pos[p_{k-1}]``.

    The rows are sorted by length, the longest first. The rows with an entry in a jagged diagonal are then the first
    ``n``.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["jad"](2).levels]
    ['sliced', 'jagged(¬O)', 'singleton']
    """

    ordered: bool = False

    letter: ClassVar[str] = "j"
    sortable: ClassVar[bool] = False
    placing: ClassVar[Placing | None] = "get"
    unread: ClassVar[tuple[str, ...]] = ("perm", "rank")
    shifted: ClassVar[tuple[str, ...]] = ("pos",)
    roles: ClassVar[tuple[str, ...]] = ("pos", "perm")

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        counter = remapping.coordinates[0]
        if k != 1 or not isinstance(counter, Counter) or counter.over != remapping.coordinates[1:2]:
            return "it is the second level, below one that counts the entries of its coordinate"
        return None

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        return element(m["pos"], parent), element(m["pos"], add(parent, lit(1)))

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        # Every diagonal uses ``perm`` from its beginning.
        return element(m["perm"], sub(p, element(m["pos"], parent)))

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"pos": parent_size + 1, "perm": dimension}

    def scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"length": dimension, "rank": dimension, "next": parent_size + 1}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        entries = range(level, last + 1)
        return ask("count", "pos", range(level), entries), ask("count", "length", (level,), entries)

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        """Sort the rows by length, the longest first, and turn the counts of diagonals into positions.

        The number of rows before those of length ``n`` is the number of entries in diagonal ``n``.
        """
        # A counting sort: ``next[n]`` is the place of the next row of length ``n``.
        q, pos = Var("q"), m["pos"]
        at = Load(m["next"], element(m["length"], q))
        place = block(put(m["rank"], q, at), put(m["perm"], cast(at, "int64"), q), increment(at))
        return block(
            For(q, lit(0), parent_size, put(m["next"], q, element(pos, add(q, lit(1))))),
            For(q, lit(0), m.dimension, place),
            For(q, lit(0), parent_size, Update("+", Load(pos, add(q, lit(1))), Load(pos, q))),
        )

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        # ``rank`` is the inverse of ``perm``.
        return add(element(m["pos"], parent), element(m["rank"], coords[m.level]))

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return element(m["pos"], parent_size)

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return parent_size + 1, dimension

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return int(np.asarray(arrays["pos"])[parent_size])

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        pos, perm = np.asarray(arrays["pos"]).astype(np.int64), np.asarray(arrays["perm"])
        if len(pos) != parent_size + 1 or pos[0] != 0 or (np.diff(pos) < 0).any():
            return f"pos has {len(pos)} entries for {parent_size} parents, or does not start at 0, or decreases"
        if len(pos) > 1 and np.diff(pos).max(initial=0) > len(perm):
            return f"a diagonal is longer than the {len(perm)} coordinates of perm"
        if sorted(perm.tolist()) != list(range(dimension)):
            return f"perm is not a permutation of the {dimension} coordinates"
        return None
