"""Coordinate hierarchy of one tensor, iterated in Python level by level (2018 paper, Fig. 3).

Access functions of level formats return IR. Compiled code executes that IR, and this module evaluates it on the stored
arrays. The module serves the display and the tests of storage, and no computation. All level formats are handled
alike, through their access functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..formats.capabilities import Locate, PositionIteration, ValueIteration
from ..formats.tensor_vars import TensorVars
from ..ir.builder import lit
from ..ir.interpreter import value_of
from ..remapping.nodes import evaluate
from .storage import Storage


class Walk:
    """Coordinate hierarchy of one tensor: positions, and the coordinates below them.

    Examples
    --------
    >>> import weft
    >>> A = weft.from_coords([[0, 2], [1, 0]], [1.5, 2.0], shape=(3, 2), format="csr")
    >>> walk = Walk(A._storage)
    >>> list(walk.children(0, 0, ()))  # the root has position 0
    [(0, 0), (1, 1), (2, 2)]
    >>> list(walk.children(1, 2, (2,)))
    [(0, 1)]
    """

    def __init__(self, storage: Storage) -> None:
        self.format, self.shape = storage.format, storage.shape
        self.levels = self.format.levels
        self.vars = TensorVars.of("A", storage.type, str)
        # Values of the variables that occur in the IR of access functions: dimensions and arrays.
        self.names: dict[str, Any] = {v.name: n for v, n in zip(self.vars.dimensions, storage.shape, strict=True)}
        self.names.update({v.name: a for v, a in zip(self.vars.arrays, storage.arrays, strict=True)})

    def bounds(self, level: int, parent: int, coords: tuple[int, ...]) -> tuple[int, int]:
        """Return the interval that an iteration of ``level`` below ``parent`` visits: coordinates, or positions."""
        m, above = self.vars.levels[level], lit(parent)
        by_value = self.levels[level].capability(ValueIteration)
        if by_value is not None:
            begin, end = by_value.coord_bounds(m, above, tuple(map(lit, coords)))
        else:
            begin, end = self.levels[level].require(PositionIteration).pos_bounds(m, above)
        return value_of(begin, self.names), value_of(end, self.names)

    def visits(self, level: int, parent: int, coords: tuple[int, ...]) -> Iterator[tuple[int, int, bool]]:
        """Yield each coordinate and position that an iteration visits, and whether there is an entry.

        There is none in padding, in empty slots, and in the part of a block beyond the edge.
        """
        format, m, above = self.levels[level], self.vars.levels[level], lit(parent)
        begin, end = self.bounds(level, parent, coords)
        # Iteration by coordinate value (2018 paper, section 3.2): each coordinate within the bounds is located.
        if format.capability(ValueIteration) is not None:
            locate = format.require(Locate).locate
            for c in range(begin, end):
                p = value_of(locate(m, above, lit(c)), self.names)
                if p >= 0:
                    yield c, p, self._inside((*coords, c))
            return
        # Iteration by position: each position within the bounds yields its coordinate.
        by_position = format.require(PositionIteration)
        for p in range(begin, end):
            c = self.coordinate(level, p, parent, coords)
            valid = by_position.valid(m, lit(c))
            holds = (valid is None or bool(value_of(valid, self.names))) and self._inside((*coords, c))
            yield c, value_of(by_position.child_pos(m, lit(p), lit(c)), self.names), holds

    def coordinate(self, level: int, position: int, parent: int, coords: tuple[int, ...]) -> int:
        """Return the coordinate at a position of a level that is iterated by position."""
        access = self.levels[level].require(PositionIteration).pos_access
        return value_of(
            access(self.vars.levels[level], lit(position), lit(parent), tuple(map(lit, coords))), self.names
        )

    def children(self, level: int, parent: int, coords: tuple[int, ...]) -> Iterator[tuple[int, int]]:
        """Yield coordinates and positions of entries of ``level`` (from 0) below ``parent``, with path ``coords``."""
        return ((c, p) for c, p, holds in self.visits(level, parent, coords) if holds)

    def _inside(self, coords: tuple[int, ...]) -> bool:
        """Return whether the axes that follow from the coordinates so far lie inside the tensor."""
        if not self.format.is_structured:
            return True
        for size, expr in zip(self.shape, self.format.remapping.inverse(), strict=True):
            try:
                if expr is not None and not 0 <= evaluate(expr, coords, shape=self.shape) < size:
                    return False
            except IndexError:  # not all of its levels are known yet
                continue
        return True

    def leaves(self, level: int = 0, parent: int = 0, coords: tuple[int, ...] = ()) -> Iterator[tuple[Any, int]]:
        """Yield each path from ``parent`` to a leaf, with the position of its value."""
        if level == len(self.levels):
            yield coords, parent
            return
        for coordinate, position in self.children(level, parent, coords):
            yield from self.leaves(level + 1, position, (*coords, coordinate))


def entries(storage: Storage) -> list[tuple[tuple[int, ...], int]]:
    """Return every stored entry: its coordinates, one for each level, and the position of its value.

    Examples
    --------
    >>> import weft
    >>> A = weft.from_coords([[0, 2], [1, 0]], [1.5, 2.0], shape=(3, 2), format="csc")
    >>> entries(A._storage)  # columns are stored first
    [((0, 2), 0), ((1, 0), 1)]
    """
    return list(Walk(storage).leaves())
