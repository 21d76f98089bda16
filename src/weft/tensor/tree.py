"""Coordinate hierarchy of a tensor as text (2018 paper, Fig. 3), from the root over the levels to the values.

The drawing depends on :class:`~weft.storage.Walk` and the property ``branchless`` of levels alone. The name of a level
is the text of its coordinate in the remapping, so that ``(i,j) -> (j-i,i)`` has levels ``j-i`` and ``i``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ..formats import Format
from ..operations import foreign_tensors
from ..remapping.nodes import to_text
from ..storage import Storage, Walk


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
