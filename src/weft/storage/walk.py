"""A coordinate hierarchy walked in Python, level by level, through ``LevelFormat.children`` (2018 paper, Fig. 3).

For what shows or tests storage. Nothing computes with it, and no level is asked which one it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .storage import Storage

__all__ = ["Walk", "entries"]


class Walk:
    """The coordinate hierarchy of one tensor: positions, and the coordinates below them.

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
        format, shape = storage.format, storage.shape
        self.levels = format.levels
        self.dimensions = tuple(shape[axis] for axis in format.mode_order)
        self.arrays: list[dict[str, Any]] = [storage.level_arrays(k) for k in range(len(format.levels))]

    def children(self, level: int, parent: int, coords: tuple[int, ...]) -> Iterable[tuple[int, int]]:
        """Coordinates and positions in ``level`` (from 0) below position ``parent``, whose path is ``coords``."""
        return self.levels[level].children(parent, self.dimensions[level], self.arrays[level], coords)

    def leaves(self, level: int = 0, parent: int = 0, coords: tuple[int, ...] = ()) -> Iterator[tuple[Any, int]]:
        """Paths from ``parent`` down, each with the position of its value."""
        if level == len(self.levels):
            yield coords, parent
            return
        for coordinate, position in self.children(level, parent, coords):
            yield from self.leaves(level + 1, position, (*coords, coordinate))


def entries(storage: Storage) -> list[tuple[tuple[int, ...], int]]:
    """Every stored entry: its physical coordinates, one for each level, and the position of its value.

    Examples
    --------
    >>> import weft
    >>> A = weft.from_coords([[0, 2], [1, 0]], [1.5, 2.0], shape=(3, 2), format="csc")
    >>> entries(A._storage)  # columns are stored first
    [((0, 2), 0), ((1, 0), 1)]
    """
    return list(Walk(storage).leaves())
