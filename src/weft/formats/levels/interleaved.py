"""Array-of-structs variants of compressed and singleton levels: the coordinates of one entry are side by side.

They differ in two ways from those levels. One array, which the first level owns, holds the coordinates of all levels.
``pos_access`` therefore reads a coordinate from another place (2018 paper, section 3.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...ir.builder import add, lit, mul
from ...ir.nodes import Expr, Stmt
from ...records import record
from ...remapping import Remapping
from ..capabilities import ComputedCoordinates
from ..level import Arrays, LevelFormat, LevelSlice, LevelVars, Span
from .access import element, put
from .compressed import Segments
from .singleton import SingleCoordinates

__all__ = ["InterleavedCompressed", "InterleavedSingleton"]


def _place(p: Expr, of: int, place: int) -> Expr:
    return add(mul(p, lit(of)), lit(place))


@record
class InterleavedCompressed(Segments, ComputedCoordinates):
    """A compressed level that stores the coordinate of position ``p`` at ``crd[p * of]``.

    Parameters
    ----------
    of : int
        The number of levels that share the array.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["coo_aos"](2).levels]
    ['interleavedcompressed(¬U)', 'interleavedsingleton']
    """

    of: int = 2

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        rest = levels[k + 1 : k + self.of]
        if self.of < 1 or [getattr(v, "place", None) for v in rest] != list(range(1, self.of)):
            return f"below it come the interleaved singleton levels that share its array, in places 1 to {self.of - 1}"
        return None

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return element(m["crd"], _place(p, self.of, 0))

    def append_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        return put(m["crd"], _place(p, self.of, 0), coord)

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return parent_size + 1, size * self.of

    def stored(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        return arrays["crd"][:: self.of]

    def cut(self, arrays: Arrays, dimension: int, begin: int, end: int, span: Span | None) -> LevelSlice | None:
        # Cut the first column as a compressed level does. The others keep their coordinates.
        table = arrays["crd"].reshape(-1, self.of)
        piece = super().cut({**arrays, "crd": table[:, 0]}, dimension, begin, end, span)
        if piece is None:
            return None
        column, first, last = piece
        rows = table[first:last].copy()
        rows[:, 0] = column["crd"]
        return {**column, "crd": rows.reshape(-1)}, first, last

    def moved(
        self, arrays: Mapping[str, np.ndarray[Any, Any]], by: int, dtype: np.dtype[Any]
    ) -> Mapping[str, np.ndarray[Any, Any]] | None:
        return None  # the coordinates of all axes are in one array

    def joined(
        self, parts: Sequence[Mapping[str, np.ndarray[Any, Any]]], parents: Sequence[int], offsets: Sequence[int] | None
    ) -> Mapping[str, np.ndarray[Any, Any]] | None:
        # Join the first column as a compressed level does. The others are only concatenated.
        tables = [part["crd"].reshape(-1, self.of) for part in parts]
        columns = [{**part, "crd": table[:, 0]} for part, table in zip(parts, tables, strict=True)]
        arrays = super().joined(columns, parents, offsets)
        if arrays is None:
            return None
        ends = [int(part["pos"][n]) for part, n in zip(parts, parents, strict=True)]
        others = np.concatenate([table[:n, 1:] for table, n in zip(tables, ends, strict=True)])
        return {**arrays, "crd": np.column_stack([arrays["crd"], others]).ravel()}

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        crd = np.asarray(arrays["crd"])
        if len(crd) % self.of:
            return f"crd has {len(crd)} entries, which {self.of} levels cannot share"
        return super().check(parent_size, dimension, {**arrays, "crd": crd[:: self.of]})


@record
class InterleavedSingleton(SingleCoordinates, ComputedCoordinates):
    """A singleton level that stores the coordinate of position ``p`` at ``crd[p * of + place]``.

    The array belongs to the interleaved compressed level above.

    Parameters
    ----------
    of : int
        The number of levels that share the array.
    place : int
        The number of this level among them, from 1.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["coo_aos"](2).levels]
    ['interleavedcompressed(¬U)', 'interleavedsingleton']
    """

    of: int = 2
    place: int = 1

    roles: ClassVar[tuple[str, ...]] = ()
    borrows: ClassVar[tuple[str, ...]] = ("crd",)

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return element(m["crd"], _place(p, self.of, self.place))

    def append_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        return put(m["crd"], _place(p, self.of, self.place), coord)

    def cut(self, arrays: Arrays, dimension: int, begin: int, end: int, span: Span | None) -> LevelSlice | None:
        return {}, begin, end  # the first level has cut the array

    def moved(
        self, arrays: Mapping[str, np.ndarray[Any, Any]], by: int, dtype: np.dtype[Any]
    ) -> Mapping[str, np.ndarray[Any, Any]] | None:
        return None  # the coordinates of all axes are in one array

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return ()

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        first = levels[k - self.place] if 0 < self.place <= k else None
        if not 0 < self.place < self.of:
            return f"place {self.place} is not one of {self.of} in the shared array"
        if not isinstance(first, InterleavedCompressed) or first.of != self.of:
            return f"{self.place} levels above it there is no interleaved compressed level of {self.of} coordinates"
        return None

    def stored(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        return arrays["crd"][self.place :: self.of]

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        crd = np.asarray(arrays["crd"])[self.place :: self.of]
        return super().check(parent_size, dimension, {"crd": crd})
