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

    def children(self, level: int, parent: int, coords: tuple[int, ...]) -> Iterator[tuple[int, int]]:
        """Yield coordinates and positions of ``level`` (from 0) below position ``parent``, whose path is ``coords``.

        Positions without an entry are left out: padding, empty slots, and the part of a block beyond the edge.
        """
        format, m, above = self.levels[level], self.vars.levels[level], lit(parent)
        path = tuple(lit(c) for c in coords)
        # Iteration by coordinate value (2018 paper, section 3.2): each coordinate within the bounds is located.
        by_value = format.capability(ValueIteration)
        if by_value is not None:
            locate = format.require(Locate).locate
            begin, end = (value_of(e, self.names) for e in by_value.coord_bounds(m, above, path))
            for c in range(begin, end):
                if self._inside((*coords, c)):
                    p = value_of(locate(m, above, lit(c)), self.names)
                    if p >= 0:
                        yield c, p
            return
        # Iteration by position: each position within the bounds yields its coordinate, if it holds an entry.
        by_position = format.require(PositionIteration)
        begin, end = (value_of(e, self.names) for e in by_position.pos_bounds(m, above))
        for p in range(begin, end):
            c = value_of(by_position.pos_access(m, lit(p), above, path), self.names)
            holds = by_position.valid(m, lit(c))
            if (holds is None or value_of(holds, self.names)) and self._inside((*coords, c)):
                yield c, value_of(by_position.child_pos(m, lit(p), lit(c)), self.names)

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
