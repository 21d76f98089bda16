"""Jagged levels: the first coordinates of a permutation under each parent, as in jagged diagonals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from ...ir.builder import add, block, cast, increment, lit, minimum, mul, sub
from ...ir.nodes import Binary as IrBinary
from ...ir.nodes import Expr, For, Load, Stmt, Update, Var
from ...queries import Query
from ...records import record
from ...remapping import Binary, Constant, Counter, Remapping
from ..capabilities import Insertion, PositionIteration, PositionTiles, QueriedEdges
from ..level import LevelFormat, LevelVars, Placing, ask
from .access import element, put
from .sliced import Ragged

__all__ = ["Jagged"]


@record
class Jagged(PositionIteration, PositionTiles, Insertion, QueriedEdges):
    """A level with the coordinates ``perm[0:n]`` under each parent, ``n`` being ``pos[p_{k-1} + 1] - pos[p_{k-1}]``.

    The rows are sorted by length, the longest first. The rows with an entry in a jagged diagonal are then the first
    ``n``.

    Parameters
    ----------
    window : int
        The number of consecutive rows that are sorted together, below a level of windows and a ragged one. 0 means all
        rows, and no level of windows.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["jad"](2).levels]
    ['sliced', 'jagged(¬O)', 'singleton']
    """

    ordered: bool = False
    window: int = 0

    letter: ClassVar[str] = "j"
    sortable: ClassVar[bool] = False
    placing: ClassVar[Placing | None] = "get"
    unread: ClassVar[tuple[str, ...]] = ("perm", "rank")
    shifted: ClassVar[tuple[str, ...]] = ("pos",)
    roles: ClassVar[tuple[str, ...]] = ("pos", "perm")

    borrows = property(lambda self: ("slices",) if self.window > 0 else ())

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        if self.window < 0:
            return f"a window of {self.window} rows is negative"
        at, coordinates = k - 1, remapping.coordinates
        counter = coordinates[at] if at >= 0 else None
        if at != bool(self.window) or not isinstance(counter, Counter) or counter.over != coordinates[k : k + 1]:
            first = "a level of windows and " if self.window else ""
            return f"it is below {first}a level that counts the entries of its coordinate"
        if not self.window:
            return None
        windows = coordinates[0] == Binary("/", coordinates[k], Constant(self.window))
        if not (windows and levels[0].row_major and isinstance(levels[at], Ragged)):
            return f"it is below a dense level of windows of {self.window} coordinates and a ragged level"
        return None

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        return element(m["pos"], parent), element(m["pos"], add(parent, lit(1)))

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        # Every diagonal uses ``perm`` from the beginning of its window.
        nth = sub(p, element(m["pos"], parent))
        return element(m["perm"], add(mul(coords[0], lit(self.window)), nth) if self.window else nth)

    def tile_bounds(self, m: LevelVars, parent: Expr, tile: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
        # The number of a coordinate is its place in ``perm``.
        begin, end = self.pos_bounds(m, parent)
        first, last = (add(begin, number) for number in tile)
        return first, minimum(last, end)

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"pos": parent_size + 1, "perm": dimension}

    def scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"length": dimension, "rank": dimension, "next": parent_size + 1}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        entries = range(level, last + 1)
        return ask("count", "pos", range(level), entries), ask("count", "length", (level,), entries)

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        """Sort the rows of each window, and turn the counts of diagonals into positions."""
        q, w, pos = Var("q"), Var("w"), m["pos"]
        edges = For(q, lit(0), parent_size, Update("+", Load(pos, add(q, lit(1))), Load(pos, q)))
        if not self.window:
            return block(self._sort(m, (lit(0), parent_size), (lit(0), m.dimension)), edges)
        diagonals = element(m["slices"], w), element(m["slices"], add(w, lit(1)))
        begin = mul(w, lit(self.window))
        rows = begin, minimum(add(begin, lit(self.window)), m.dimension)
        windows = IrBinary("/", add(m.dimension, lit(self.window - 1)), lit(self.window))
        longest = put(m["next"], diagonals[1], lit(0))  # written by the window before this one
        return block(For(w, lit(0), windows, block(longest, self._sort(m, diagonals, rows))), edges)

    def _sort(self, m: LevelVars, diagonals: tuple[Expr, Expr], rows: tuple[Expr, Expr]) -> Stmt:
        """Sort rows by length, the longest first.

        The number of rows before those of length ``n`` is the number of entries in diagonal ``n``.
        """
        # A counting sort: ``next[n]`` is the place of the next row of length ``n``.
        q, following = Var("q"), m["next"]
        at = Load(following, add(diagonals[0], element(m["length"], q)))
        place = block(put(m["rank"], q, at), put(m["perm"], add(rows[0], cast(at, "int64")), q), increment(at))
        return block(
            For(q, *diagonals, put(following, q, element(m["pos"], add(q, lit(1))))),
            For(q, *rows, place),
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
        windows = np.arange(dimension) // (self.window or max(dimension, 1))
        slices = np.asarray(arrays["slices"]) if self.window else np.array([0, parent_size])
        if (np.diff(pos) > np.repeat(np.bincount(windows, minlength=len(slices) - 1), np.diff(slices))).any():
            return "a diagonal is longer than the coordinates of perm that it uses"
        if len(perm) != dimension or not np.array_equal(perm[np.lexsort((perm, windows))], np.arange(dimension)):
            where = f" in each window of {self.window}" if self.window else ""
            return f"perm is not a permutation of the {dimension} coordinates{where}"
        return None
