"""Text of tensors: NumPy's for dense ones, and the lines that ``print`` shows below the ``repr`` of others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ..operations import foreign_tensors
from ..remapping.nodes import evaluate
from ..storage import Storage, Walk

_SHOWN = 12
_VISITED = 10_000  # largest number of coordinates to visit, which takes some hundredths of a second


def array_repr(storage: Storage, name: str) -> str:
    """Return the ``repr`` of a dense tensor whose format is called ``name``, as NumPy writes that of a subclass.

    Examples
    --------
    >>> import weft
    >>> weft.asarray([[0.5, 1.0], [0.0, 2.0]])
    SparseTensor([[0.5, 1. ],
                  [0. , 2. ]], format='dense')
    """
    text = repr(storage.to_dense_array().view(_NAMED))[:-1]
    last = text.rpartition("\n")[2]
    format = f"format={str(name)!r})"
    fits = len(last) + len(format) + 2 <= np.get_printoptions()["linewidth"]
    return f"{text},{' ' if fits else _BREAK}{format}"


_BREAK = "\n" + " " * len("SparseTensor(")
_NAMED = type("SparseTensor", (np.ndarray,), {"__slots__": ()})  # NumPy's text begins with the name of the class


def entry_lines(storage: Storage) -> list[str]:
    """Return a line for each of the first entries, and a line with the number of the others.

    Examples
    --------
    >>> import weft
    >>> coords = [[0, 0, 2], [0, 2, 1]]
    >>> A = weft.from_coords(coords, [1.5, 2.0, 3.0], (3, 3), format="csc")
    >>> print(A)
    <SparseTensor: shape=(3, 3), dtype=float64, format=csc, nnz=3, fill_value=0>
      (0, 0)  1.5
      (2, 1)  3.0
      (0, 2)  2.0
    """
    inverse = storage.format.remapping.inverse()
    shown = []
    for path, position in itertools.islice(_FirstEntries(storage).leaves(), _SHOWN):
        place = tuple(0 if e is None else evaluate(e, path, shape=storage.shape) for e in inverse)
        shown.append((str(place), str(storage.vals[position])))
    width = max((len(place) for place, _ in shown), default=0)
    lines = [f"  {place:<{width}}  {value}" for place, value in shown]
    more = foreign_tensors.count_entries(storage) - len(shown)
    return [*lines, f"  ... {more} more"] if more else lines


class _FirstEntries(Walk):
    """A walk that ends after a number of coordinates, and skips parents that an array ``pos`` shows to be empty."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self._visits = _VISITED

    def children(self, level: int, parent: int, coords: tuple[int, ...]) -> Iterator[tuple[int, int]]:
        """Yield coordinates and positions, leaving out those that an array ``pos`` shows to be empty."""
        edges = self._edges(level)
        found = super().children(level, parent, coords) if edges is None else self._filled(level, parent, edges)
        for coordinate, position in found:
            if self._visits == 0:
                return
            self._visits -= 1
            yield coordinate, position

    def _edges(self, level: int) -> np.ndarray[tuple[int], np.dtype[np.integer]] | None:
        """Return the array ``pos`` of the next level, if this level has a position for every coordinate; else None."""
        if self.format.is_structured or level + 1 == len(self.levels):
            return None
        here, below = self.levels[level : level + 2]
        if not here.row_major or here.partial or below.roles[:1] != ("pos",):
            return None
        return self.names[self.vars.levels[level + 1]["pos"].name]  # type: ignore[no-any-return]

    def _filled(
        self, level: int, parent: int, edges: np.ndarray[tuple[int], np.dtype[np.integer]]
    ) -> Iterator[tuple[int, int]]:
        size = self.format.level_shape(self.shape)[level]
        first, end = parent * size, (parent + 1) * size
        position = first
        while position < end:
            # Of all positions whose children begin at the same place, only the last one can have children.
            position = int(np.searchsorted(edges, edges[position], side="right")) - 1
            if position < end:
                yield position - first, position
            position += 1
