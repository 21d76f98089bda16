"""Contents of each level of a stored tensor, read by means of the level functions alone.

For each level: its arrays, the positions below each parent, the coordinate at each position, and the elements of
arrays that each of these was read from. The level functions return IR, which is evaluated on arrays that remember
which of their elements are read. No level format is known by its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..formats.capabilities import Locate, PositionIteration, ValueIteration
from ..ir.builder import lit
from ..ir.interpreter import value_of
from ..ir.nodes import Binary, Call, Cast, Const, Expr, Select, Var
from ..ir.printer import expression_text
from ..ir.traversal import Node, rewrite
from ..records import record
from ..remapping.nodes import evaluate
from ..storage import Storage, Walk
from ..tensor.tree import level_names

Element: TypeAlias = tuple[int, str, int]
"""An element of an index array: the level that has the array, the role of the array, and the index."""


@record
class Position:
    """A position of a level that an iteration visits."""

    parent: int  # the position of the parent
    coordinate: int  # the coordinate at the position
    holds: bool  # False for padding, for an empty slot of a hash table, and for a part of a block beyond the edge
    read: frozenset[Element]  # the elements from which the coordinate was read; empty if it was computed
    path: tuple[int, ...]  # the coordinates from the root to this one


@record
class StoredLevel:
    """One level of a stored tensor."""

    name: str  # the coordinate that the level stores, as the remapping spells it
    kind: str
    # Sentences on the positions and the coordinates, in terms of the position ``p`` of the parent.
    rules: tuple[str, ...]
    arrays: Mapping[str, np.ndarray[Any, Any]]  # the arrays of the level by role
    size: int  # the number of positions
    segments: tuple[tuple[int, int], ...]  # the half-open interval of positions below each position of the level above
    positions: Mapping[int, Position]  # the positions that an iteration visits
    aligned: tuple[str, ...]  # the roles of arrays whose element ``q`` is the coordinate at position ``q``
    # The roles of arrays whose elements ``p`` and ``p + 1`` are the ends of the segment below position ``p``.
    edges: tuple[str, ...]
    # The roles of arrays whose element ``p`` is the beginning of the segment below position ``p``.
    starts: tuple[str, ...]

    @property
    def is_chain(self) -> bool:
        """True if each position has the number of its parent."""
        return self.segments == tuple((p, p + 1) for p in range(len(self.segments)))


@record
class StoredTensor:
    """All levels of a stored tensor, and the places of its values."""

    storage: Storage
    levels: tuple[StoredLevel, ...]  # the levels, from the root
    # The coordinates in the tensor of each value that an iteration visits, by the position of the value.
    elements: Mapping[int, tuple[int, ...]]
    # The positions of values that the format stores only since it stores all values around them: their value is the
    # fill value, and the format cannot tell them from entries.
    filled: frozenset[int]


def read_levels(storage: Storage) -> StoredTensor:
    """Return the contents of each level of a tensor.

    Examples
    --------
    >>> import weft
    >>> A = weft.from_coords([[0, 2], [1, 0]], [1.5, 2.0], shape=(3, 2), format="csr")
    >>> found = read_levels(A._storage)
    >>> found.levels[1].segments, found.levels[1].edges, found.levels[1].aligned
    (((0, 1), (1, 1), (1, 2)), ('pos',), ('crd',))
    >>> dict(found.elements)
    {0: (0, 1), 1: (2, 0)}
    """
    reader = _Reader(storage)
    parents: Mapping[int, tuple[int, ...]] = {0: ()}
    count, levels = 1, []
    for k in range(len(storage.format.levels)):
        level = reader.level(k, count, parents)
        levels.append(level)
        parents = {q: at.path for q, at in level.positions.items() if at.holds}
        count = level.size
    elements = {q: reader.axes(path) for q, path in parents.items()}
    filled = frozenset(q for q in elements if _equal(storage.vals[q], storage.type.fill)) if _fills(storage) else ()
    return StoredTensor(storage, tuple(levels), elements, frozenset(filled))


def _fills(storage: Storage) -> bool:
    """Return whether the format stores fill values that are no entries, and does not mark them."""
    for level in reversed(storage.format.levels):
        if not level.gapless:
            return False
        if level.pads:
            return True
        if not level.branchless:
            return False
    return False


def _equal(a: Any, b: Any) -> bool:
    return bool(a == b or (a != a and b != b))


class _Watched:
    """An array that remembers which of its elements are read."""

    def __init__(self, array: np.ndarray[Any, Any], level: int, role: str, read: set[Element]) -> None:
        self.array, self.level, self.role, self.read = array, level, role, read

    def __getitem__(self, index: int) -> Any:
        self.read.add((self.level, self.role, index))
        return self.array[index]


def _searched(crd: _Watched, begin: int, end: int, value: int) -> int:
    """Return the position of a coordinate in a segment, or -1: what the compiled search functions return."""
    return next((q for q in range(begin, end) if crd[q] == value), -1)


def _slot(crd: _Watched, begin: int, width: int, value: int) -> int:
    return _searched(crd, begin, begin + width, value)


class _Reader(Walk):
    """Reader of the levels of one tensor, which knows the elements that each coordinate is read from."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self.storage = storage
        self.texts = level_names(self.format)
        self.read: set[Element] = set()
        self.source: frozenset[Element] = frozenset()  # elements that the last coordinate was read from
        self.spelled = {v.name: str(n) for v, n in zip(self.vars.dimensions, storage.shape, strict=True)}
        for var, (k, role), array in zip(self.vars.arrays, self.format.roles, storage.arrays, strict=True):
            self.names[var.name] = _Watched(array, k, role, self.read)
            self.spelled[var.name] = role
            functions = {"weft_search": _searched, "weft_find": _searched, "weft_hash_find": _slot}
            self.names.update({f"{name}_{array.dtype.name}": f for name, f in functions.items()})

    def level(self, k: int, count: int, parents: Mapping[int, tuple[int, ...]]) -> StoredLevel:
        """Return one level, whose parents have ``count`` positions, of which ``parents`` lead to entries."""
        format = self.levels[k]
        arrays = {
            role: array for (n, role), array in zip(self.format.roles, self.storage.arrays, strict=True) if n == k
        }
        size = self.storage.level_sizes[k]
        positions: dict[int, Position] = {}
        bounds: dict[int, tuple[int, int]] = {}
        elements: set[Element] = set()
        for parent, path in parents.items():
            self.read.clear()
            bounds[parent] = self.bounds(k, parent, path)
            elements |= self.read
            below = dict(self._positions(k, parent, path))
            if format.capability(ValueIteration) is not None:  # the bounds are those of coordinates
                bounds[parent] = min(below, default=0), max(below, default=-1) + 1
            positions.update(below)
        segments = _segments(count, size, bounds)
        roles = {role for n, role, _ in elements if n == k}
        occupied = [p for p, (begin, end) in enumerate(segments) if p in bounds and begin < end]
        return StoredLevel(
            self.texts[k],
            str(format),
            tuple(self._rules(k)),
            arrays,
            size,
            segments,
            positions,
            tuple(role for role, array in arrays.items() if _is_aligned(k, role, array, positions, size)),
            tuple(r for r, a in arrays.items() if r in roles and _are_edges(a, count, segments, occupied)),
            tuple(r for r, a in arrays.items() if r in roles and _are_starts(a, count, segments, occupied)),
        )

    def axes(self, path: tuple[int, ...]) -> tuple[int, ...]:
        """Return the coordinates of an element in the tensor, given those of the levels."""
        shape = self.storage.shape
        return tuple(evaluate(e, path, shape=shape) for e in self.format.remapping.inverse() if e is not None)

    def coordinate(self, level: int, position: int, parent: int, coords: tuple[int, ...]) -> int:
        """Return the coordinate at a position, and remember the elements that it is read from."""
        self.read.clear()
        coordinate = super().coordinate(level, position, parent, coords)
        self.source = frozenset(self.read)
        return coordinate

    def _positions(self, k: int, parent: int, path: tuple[int, ...]) -> Iterator[tuple[int, Position]]:
        self.source = frozenset()  # of computed coordinates
        for c, q, holds in self.visits(k, parent, path):
            yield q, Position(parent, c, holds, self.source, (*path, c))

    # -- rules ---------------------------------------------------------------------------------------------------
    def _rules(self, k: int) -> Iterator[str]:
        """Yield the positions and the coordinates of a level as formulas of the position ``p`` of the parent."""
        level, m, name = self.levels[k], self.vars.levels[k], self.texts[k]
        parent: Expr = lit(0) if k == 0 else Var("p")
        coords = tuple(Var(_in_parentheses(text)) for text in self.texts[:k])
        coordinate = Var(_in_parentheses(name))
        if (by_value := level.capability(ValueIteration)) is not None:
            begin, end = (self._text(e) for e in by_value.coord_bounds(m, parent, coords))
            yield f"{begin} ≤ {name} < {end}"
            if level.locates == "direct":
                yield f"position {self._text(level.require(Locate).locate(m, parent, coordinate))}"
            return
        by_position = level.require(PositionIteration)
        begin, end = (self._text(e) for e in by_position.pos_bounds(m, parent))
        yield f"position {begin}" if level.branchless else f"positions {begin} : {end}"
        at: Expr = parent if level.branchless else Var("q")
        yield f"{name} = {self._text(by_position.pos_access(m, at, parent, coords))}"

    def _text(self, expr: Expr) -> str:
        def plain(node: Node) -> Node | None:
            match node:
                case Cast(a=a):
                    return a
                case Var(name=name) if name in self.spelled:
                    text = self.spelled[name]
                    return Const(int(text)) if text.isdigit() else Var(text, node.ty)
                case Select(cond=Binary(op=op, a=a, b=b), a=first, b=second) if (a, b) == (first, second):
                    name = "max" if op[0] == ">" else "min"
                    return Call(name, (*_arguments(a, name), *_arguments(b, name)), "int64")
                case Binary(a=Const(), b=Const()):
                    return Const(value_of(node, {}))
            return None

        text = rewrite(expr, plain)
        assert isinstance(text, Expr)
        return expression_text(text)


def _arguments(expr: Expr, name: str) -> tuple[Expr, ...]:
    """Return the arguments of a call of ``name``, or the expression if it is another one."""
    return expr.args if isinstance(expr, Call) and expr.name == name else (expr,)


def _in_parentheses(text: str) -> str:
    return text if text.isalnum() or text.startswith("#") else f"({text})"


def _segments(count: int, size: int, bounds: Mapping[int, tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the interval of positions that belongs to each of ``count`` parents.

    An iteration may leave out padding at the ends of a segment. If the positions that it visits lie in segments of one
    width, these are the segments.
    """
    width = size // count if count and size % count == 0 else 0
    visited = {p: (begin, end) for p, (begin, end) in bounds.items() if begin < end}
    if width and all(p * width <= begin and end <= (p + 1) * width for p, (begin, end) in visited.items()):
        return tuple((p * width, (p + 1) * width) for p in range(count))
    return tuple(bounds.get(p, (0, 0)) for p in range(count))


def _is_aligned(k: int, role: str, array: np.ndarray[Any, Any], positions: Mapping[int, Position], size: int) -> bool:
    """Return whether element ``q`` of an array is the coordinate at position ``q``."""
    if not positions:  # nothing is read from a level without positions
        return len(array) == size == 0
    return len(array) >= size and all((k, role, q) in at.read for q, at in positions.items())


def _are_edges(
    array: np.ndarray[Any, Any], count: int, segments: Sequence[tuple[int, int]], occupied: Sequence[int]
) -> bool:
    """Return whether two neighboring elements of an array are the ends of each segment."""
    if len(array) != count + 1:
        return False
    return all((int(array[p]), int(array[p + 1])) == segments[p] for p in occupied)


def _are_starts(
    array: np.ndarray[Any, Any], count: int, segments: Sequence[tuple[int, int]], occupied: Sequence[int]
) -> bool:
    """Return whether each element of an array is the beginning of a segment."""
    return len(array) == count and bool(occupied) and all(int(array[p]) == segments[p][0] for p in occupied)
