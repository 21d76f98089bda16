"""Text of tensors: the coordinate hierarchy (2018 paper, Fig. 3), and what ``repr`` and ``print`` show.

The hierarchy depends on :class:`~weft.storage.Walk` and the property ``branchless`` of levels alone. The name of a
level is the text of its coordinate in the remapping, so that ``(i,j) -> (j-i,i)`` has levels ``j-i`` and ``i``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ..formats import Format
from ..operations import foreign_tensors
from ..remapping.nodes import evaluate, to_text
from ..storage import Storage, Walk

_SHOWN = 12
_VISITED = 10_000  # largest number of coordinates to visit, which takes some hundredths of a second


# -- the coordinate hierarchy ---------------------------------------------------------------------------------------
class Tree(str):
    """Text whose ``repr`` is the text itself, so that an interactive prompt shows it without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def level_names(format: Format) -> tuple[str, ...]:
    """Return the text of the coordinate that each level of a format stores, from its remapping.

    Examples
    --------
    >>> from weft.formats import parse_format
    >>> level_names(parse_format("csc", 2))
    ('j', 'i')
    """
    axes = str(format.remapping).partition("->")[0].strip()[1:-1].split(",")
    return tuple(to_text(c, axes) for c in format.remapping.coordinates)


def tree(storage: Storage, name: str, max_entries: int = 50) -> Tree:
    """Return the coordinate hierarchy of a tensor whose format is called ``name``."""
    if max_entries < 0:
        raise ValueError(f"max_entries is a number of entries, not {max_entries}")
    format = storage.format
    names, stored = level_names(format), foreign_tensors.count_entries(storage)
    lines = [
        f"{name}, {storage.dtype.name}, shape {storage.shape}, {stored} stored, fill value {storage.type.fill}",
        f"levels of {format.remapping}: "
        + (", ".join(f"{name} {level}" for name, level in zip(names, format.levels, strict=True)) or "none"),
    ]
    if not names:  # a tensor without axes has no levels, and its value is at the root
        return Tree("\n".join([*lines, f"root: {storage.vals[0]!s}"]))
    lines.append("root")
    shown = ended = 0
    # Coordinates with nothing below them count against the limit, too, since an empty tensor may have many of them.
    for line, ends, is_entry in _Drawing(storage, names).branches():
        if ended == max_entries:
            lines.append(f"… {shown} of {stored} stored values shown, max_entries={max_entries}")
            break
        lines.append(line)
        ended += ends
        shown += is_entry
    return Tree("\n".join(lines))


class _Drawing:
    """Generator of the lines of a tree, from the top, of which only the lines that are shown are made."""

    def __init__(self, storage: Storage, names: tuple[str, ...]) -> None:
        self.walk, self.vals, self.names = Walk(storage), storage.vals, names

    def branches(
        self, level: int = 0, parent: int = 0, coords: tuple[int, ...] = (), indent: str = ""
    ) -> Iterator[tuple[str, bool, bool]]:
        """Yield each line, with true if its path ends there, and with true if it ends at a value."""
        siblings = iter(self.walk.children(level, parent, coords))
        node = next(siblings, None)
        while node is not None:
            after = next(siblings, None)  # the last sibling is drawn with another branch
            label, below, position, path = self._chain(level, node, coords)
            if below == len(self.names):
                inner: Iterator[tuple[str, bool, bool]] = iter(())
                label = f"{label}: {self.vals[position]!s}"
            else:
                inner = self.branches(below, position, path, indent + ("│  " if after else "   "))
            first = next(inner, None)  # a coordinate without anything below it ends a path, too
            yield indent + ("├─ " if after else "└─ ") + label, first is None, below == len(self.names)
            if first is not None:
                yield from itertools.chain((first,), inner)
            node = after

    def _chain(
        self, level: int, node: tuple[int, int], coords: tuple[int, ...]
    ) -> tuple[str, int, int, tuple[int, ...]]:
        """Return the label of a coordinate, joined with the coordinates of the branchless levels below it.

        The level below, the position and the path of the last of these coordinates follow.
        """
        coordinate, position = node
        label, path, below = f"{self.names[level]}={coordinate}", (*coords, coordinate), level + 1
        while below < len(self.names) and self.walk.levels[below].branchless:
            only = list(itertools.islice(self.walk.children(below, position, path), 2))
            if len(only) != 1:
                break
            coordinate, position = only[0]
            label, path = f"{label} ─ {self.names[below]}={coordinate}", (*path, coordinate)
            below += 1
        return label, below, position, path


# -- repr and print -------------------------------------------------------------------------------------------------
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
