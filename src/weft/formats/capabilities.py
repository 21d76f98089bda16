"""The groups of capabilities of level formats (2018 paper, sections 3.2 and 3.4; 2020 paper, sections 5 and 6).

A level lists its groups as bases, and implements their level functions. The compiler asks a level for a group with
``LevelFormat.capability``. A class that derives from ``LevelFormat`` alone gets the groups of which its body tells:
by a function of the group, or by an attribute such as ``appends = True``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from ..ir.builder import add
from ..ir.nodes import Block, Expr, Stmt, Var
from ..queries import Query
from ..remapping import IndexExpr
from .level import Arrays, LevelEntries, LevelFormat, LevelSlice, LevelVars, Placing, Span

__all__ = [
    "Append",
    "ArrayEditing",
    "ChildlessEdges",
    "ComputedCoordinates",
    "CurveOrder",
    "ElementLookup",
    "GrowingSegments",
    "HashTable",
    "Insertion",
    "Locate",
    "PositionIteration",
    "PositionTiles",
    "QueriedEdges",
    "SequencedEdges",
    "SharedPositions",
    "ShiftedEdges",
    "UnsequencedEdges",
    "ValueIteration",
    "WholeLookup",
    "is_appendable_at",
    "lists",
]


class PositionIteration(LevelFormat, told_by=("pos_bounds", "iterates_positions")):
    """Coordinate position iteration (2018, section 3.2).

    Loops walk the positions below a parent and read the coordinate at each. Ordered levels can be merged with others.
    """

    iteration: ClassVar[Literal["value", "position"]] = "position"
    walks = True

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        """Return the positions to iterate: ``pos_bounds(p_{k-1}) -> <pbegin_k, pend_k>``."""
        raise NotImplementedError(f"{self} has no coordinate position iteration")

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        """Return the coordinate at a position: ``pos_access(p_k, p_{k-1}, i_1, ..., i_{k-1}) -> i_k``."""
        raise NotImplementedError(f"{self} has no coordinate position iteration")

    def valid(self, m: LevelVars, coord: Expr) -> Expr | None:
        """Return whether an iterated position holds an entry, given its coordinate; None if all positions do."""
        return None

    def child_pos(self, m: LevelVars, p: Expr, coord: Expr) -> Expr:
        """Return the position whose children and value belong to a coordinate iterated at ``p_k``: ``p_k`` itself.

        Levels that iterate a list of coordinates, or show a part of another level, return another position.
        """
        return p


class PositionTiles(LevelFormat, told_by=("tile_bounds",)):
    """Cutting of the positions below every parent into tiles that have no coordinate in common.

    Each coordinate has a number from 0 on, below the dimension, which is the same under every parent. Threads share the
    intervals of these numbers, where loops come back to the coordinates of a result under each parent.
    """

    def tile_bounds(self, m: LevelVars, parent: Expr, tile: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
        """Return the positions below a parent of the coordinates whose numbers are in an interval."""
        raise NotImplementedError(f"{self} has no tiles")


class ValueIteration(LevelFormat, told_by=("coord_bounds", "iterates_values")):
    """Coordinate value iteration (2018, section 3.2).

    Loops count through an interval of coordinates, and ``locate`` gives the position of each. A level that is full and
    locates by arithmetic is iterated so, whether or not it can iterate positions.

    Attributes
    ----------
    bounded : bool
        True if the level leaves out coordinates that lie beyond the tensor, given those above.
    misses : bool
        True if a coordinate that is iterated may have no position, which ``locate`` tells.
    scattered : bool
        True if the positions of consecutive coordinates may lie anywhere.
    """

    iteration: ClassVar[Literal["value", "position"]] = "value"
    walks = True
    bounded: ClassVar[bool] = False
    misses = False
    scattered = False

    @property
    def pads(self) -> bool:
        # Iteration by value visits all coordinates.
        return (self.iterates_values and not self.misses) or super().pads

    def coord_bounds(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> tuple[Expr, Expr]:
        """Return the coordinates to iterate: ``coord_bounds(p_{k-1}, i_1, ..., i_{k-1}) -> <begin_k, end_k>``.

        Unless a level says otherwise, these are all that it can have.
        """
        return m.lowest, add(m.lowest, m.dimension)


class Locate(LevelFormat, told_by=("locates",)):
    """Locating a coordinate (2018, section 3.2).

    Loops walk other operands alone, and look up their coordinates in this level. Results are written at random.
    """

    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "probe"

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        """Return the position of a coordinate: ``locate(p_{k-1}, i_1, ..., i_k) -> p_k``.

        The position is negative if a level with a hash table or a search does not hold ``i_k``.
        """
        raise NotImplementedError(f"{self} cannot locate")

    def probe(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        """Return the position of a coordinate, given those of its ancestors, too.

        A hash table over whole coordinates needs them. Other levels call ``locate``.
        """
        return self.locate(m, parent, coords[-1])


class WholeLookup(LevelFormat, told_by=("looked_up",)):
    """Locating whole coordinates with the arrays of several levels.

    The 2018 paper locates one coordinate at a time (section 3.2). With this group, a table over whole coordinates (DOK)
    is located, too: by other levels over the same arrays.
    """

    def looked_up(self, below: Sequence[LevelFormat]) -> tuple[LevelFormat, ...] | None:
        """Return the levels with which the arrays of this level and those below locate whole coordinates, or None.

        The returned levels have the same arrays, in the same order.
        """
        return None


class ElementLookup(LevelFormat, told_by=("find", "find_whole")):
    """Finding the position of a single element without a kernel.

    ``A[i, j]`` then needs no generated code, unlike the ``locate`` of the 2018 paper (section 3.2).
    """

    def find(self, parent: int, coord: int, dimension: int, arrays: Mapping[str, np.ndarray[Any, Any]]) -> int | None:
        """Return the position of a coordinate below ``p_{k-1}``, or -1 if there is none.

        None means that only a kernel can locate the coordinate.
        """
        return None

    def find_whole(self, coords: tuple[int, ...], arrays: Arrays) -> int | None:
        """Return the position of a whole coordinate in a table over all levels, or -1 if there is none.

        None means that the level has no such table.
        """
        return None


class Append(LevelFormat, told_by=("appends",)):
    """Appending coordinates, those of one parent after another (2018, section 3.4).

    Results are assembled in the order of their coordinates, in one pass. A level with several children below a parent
    needs ``SequencedEdges``, too.

    Attributes
    ----------
    rooted : bool
        True if only the root can be appended to, since all parents have the same coordinates.
    """

    appends = True
    rooted: ClassVar[bool] = False

    def append_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        """Store a coordinate at the end of the level: ``append_coord(p_k, i_k)``."""
        raise NotImplementedError(f"{self} cannot be appended to")

    def can_append(self, m: LevelVars, coord: Expr) -> Expr | None:
        """Return the condition that a coordinate of an operand is to be appended; None if all of them are."""
        return None


class SequencedEdges(LevelFormat, told_by=("seq_insert_edges",)):
    """Sequenced edge insertion: the parents are visited in order (2020, section 6.1; 2018, section 3.4).

    Loops over the parents of a result store where the children of each parent end.
    """

    def seq_init_edges(self, m: LevelVars, begin: Expr) -> Stmt:
        """Initialize the edges before the first parent is visited, whose children begin at ``begin``."""
        return Block()

    def seq_insert_edges(self, m: LevelVars, parent: Expr, end: Expr) -> Stmt:
        """Insert the edge of a parent, parents being visited in order: the children of ``p_{k-1}`` end at ``end``."""
        raise NotImplementedError(f"{self} has no edges to insert")


class ChildlessEdges(LevelFormat, told_by=("seq_finalize_edges",)):
    """Sequenced edge insertion that visits only parents with children (2020, section 6.1).

    Entries can then keep the positions that they have in the source of a conversion, and nothing is counted before.
    """

    def seq_finalize_edges(self, m: LevelVars, parents: tuple[Expr, Expr], begin: Expr, index: Var) -> Stmt:
        """Insert the edges of parents without children, after ``seq_insert_edges`` for those that have children.

        ``parents`` are the first parent and the one behind the last. The children of the first begin at ``begin``.
        Arrays start zeroed. ``index`` is a fresh variable.
        """
        raise NotImplementedError(f"{self} has no edges to insert")


class ShiftedEdges(LevelFormat, told_by=("shift_edges",)):
    """Shifting of edges that were inserted in sequence (2020, section 6.1).

    Threads append parts of a result, and move the edges of each part to its place.
    """

    def shift_edges(self, m: LevelVars, parent: Expr, by: Expr) -> Stmt:
        """Shift an edge after ``seq_insert_edges``: the children of ``p_{k-1}`` end ``by`` positions later."""
        raise NotImplementedError(f"{self} has no edges to insert")


class UnsequencedEdges(LevelFormat, told_by=("unseq_insert_edges",)):
    """Unsequenced edge insertion: the parents are visited in any order (2020, section 6.1).

    Loops over the parents of a result may leave some out, or visit them in another order than that of their positions.
    """

    def unseq_insert_edges(self, m: LevelVars, parent: Expr, count: Expr) -> Stmt:
        """Insert the edge of a parent, parents being visited in any order: ``p_{k-1}`` gets ``count`` children.

        Arrays start zeroed.
        """
        raise NotImplementedError(f"{self} has no edges to insert")

    def unseq_finalize_edges(self, m: LevelVars, parent_size: Expr, index: Var) -> Stmt:
        """Turn counts into positions, after ``unseq_insert_edges`` for every parent.

        ``index`` is a fresh variable.
        """
        raise NotImplementedError(f"{self} has no edges to insert")


class Insertion(LevelFormat, told_by=("placing",)):
    """Insertion of entries in any order (2020, sections 5 and 6.1; the insert capability of 2018, section 3.4).

    Conversions query the source, allocate arrays of the right size, and put each entry at its position.

    Attributes
    ----------
    apart : bool
        True if an insertion writes only elements of its own position, and takes the next position of its parent.
        Threads then need no synchronization.
    shifted : tuple of str
        Arrays of answers to queries in which each answer is stored one place later, so that they become the beginnings
        of segments.
    flags : tuple of str
        Arrays of the assembly that hold true or false, one byte each.
    unread : tuple of str
        Arrays that are allocated before the level is queried, and whose elements are written before they are read.
        Other arrays start zeroed.
    blank : int
        The value of array elements that are never written.
    own_positions : bool
        True if ``get_pos`` gives each entry a position of its own, also where a coordinate comes again.
    """

    placing: ClassVar[Placing | None] = "get"
    own_positions: ClassVar[bool] = False
    apart: ClassVar[bool] = False
    shifted: ClassVar[tuple[str, ...]] = ()
    flags: ClassVar[tuple[str, ...]] = ()
    unread: ClassVar[tuple[str, ...]] = ()
    blank: ClassVar[int] = 0

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        """Return the lengths of the arrays that are allocated before the level is queried.

        Other arrays are allocated after the queries.
        """
        return {}

    def scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        """Return the lengths of arrays that only assembly needs."""
        return {}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        """Return the attribute queries whose answers the assembly of the level needs (2020, section 5).

        ``Axis(n)`` is the coordinate of level ``n``. Levels count from 0 to ``last``. A query is over nothing, over the
        coordinates of all ancestors, or over this level's own coordinate. The arrays for the answers have the names of
        the labels. They hold one number, one for each position of the parent, or one for each coordinate.
        """
        return ()

    def size_to_be(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        """Return the number of positions that the level will have, from its arrays after ``insert_edges``."""
        return self.size(parent_size, dimension, arrays)

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        """Return the position of an entry, computed from the answers to the queries."""
        raise NotImplementedError(f"{self} cannot place an entry")

    def insert_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        """Store the coordinate of an entry at its position."""
        return Block()

    def next_pos(self, m: LevelVars, parent: Expr) -> Expr | None:
        """Return the position that ``yield_pos`` would give, or None if it cannot be told without taking it."""
        return None

    def yield_pos(self, m: LevelVars, parent: Expr, into: Var) -> Stmt:
        """Declare ``into`` as the next free position under ``p_{k-1}`` and take it."""
        raise NotImplementedError(f"{self} cannot yield positions")

    def finalize_yield_pos(self, m: LevelVars, parent_size: Expr, index: Var) -> Stmt:
        """Undo the changes that ``yield_pos`` made to the edges."""
        return Block()


class QueriedEdges(LevelFormat, told_by=("insert_edges",)):
    """Edges that are computed from the answers to queries (2020, section 6.1).

    Before entries are inserted, one loop over the parents gives their children their positions.
    """

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        """Compute the positions that the children of every parent will have, after the queries."""
        return Block()


class SharedPositions(LevelFormat, told_by=("shares",)):
    """Insertion of several entries at one position, if the entries of one parent come together.

    A block is inserted once, however many of its elements come (2020, section 6.1, has no such case).
    """

    shares = True

    def shared_scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        """Return the lengths of zeroed arrays that assembly with shared positions needs."""
        return {}

    def shared_collect(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Stmt:
        """Store a coordinate below a parent, after the edges have been inserted.

        The caller collects each coordinate of a parent once.
        """
        raise NotImplementedError(f"{self} cannot share positions")

    def shared_finish(self, m: LevelVars, parent_size: Expr) -> Stmt:
        """Restore the edges, after all coordinates have been collected."""
        raise NotImplementedError(f"{self} cannot share positions")

    def shared_sort(self, m: LevelVars, parent: Expr) -> Stmt:
        """Put the coordinates below a parent in order, after ``shared_finish``."""
        raise NotImplementedError(f"{self} cannot share positions")

    def shared_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...], into: Var, first: Stmt) -> Stmt:
        """Declare ``into`` as the position of a coordinate that has been collected; ``first`` runs once a parent."""
        raise NotImplementedError(f"{self} cannot share positions")


class HashTable(LevelFormat, told_by=("grows",)):
    """Hash tables that can be replaced by larger ones (2018, section 3.4, inserts into tables of fixed size).

    Entries are inserted in any order and with duplicates, without queries. The level's arrays are ``pos``, the first
    slot of each table, or ``width``, the number of slots of the only one; and the coordinates by slot, -1 in empty
    slots.
    """

    grows = True

    def tables(self, parent_size: int) -> int:
        """Return the number of tables."""
        raise NotImplementedError(f"{self} has no table")

    def table_of(self, parent: Expr) -> Expr:
        """Return the table that holds the children of ``p_{k-1}``."""
        raise NotImplementedError(f"{self} has no table")

    def slots(self, m: LevelVars, table: Expr) -> Expr:
        """Return the number of slots of a table."""
        raise NotImplementedError(f"{self} has no table")

    def slot(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        """Return the position of a coordinate, or the free position where it belongs."""
        raise NotImplementedError(f"{self} has no table")

    def is_free(self, m: LevelVars, p: Expr) -> Expr:
        """Return whether a position is free."""
        raise NotImplementedError(f"{self} has no table")

    def settle(self, m: LevelVars, p: Expr, coords: tuple[Expr, ...]) -> Stmt:
        """Store a coordinate at a free position."""
        raise NotImplementedError(f"{self} has no table")


class GrowingSegments(LevelFormat, told_by=("lengthens",)):
    """Segments of coordinates that can become longer, in place or elsewhere (the assembly of LIL; 2018, section 2.1).

    Assignment to single elements changes the tensor without assembling it anew.
    """

    lengthens = True

    def lengthened(
        self, arrays: Arrays, vals: np.ndarray[Any, Any], entries: LevelEntries
    ) -> tuple[Arrays, np.ndarray[Any, Any]]:
        """Return the arrays and values after entries are put in.

        An entry replaces a stored one with the same coordinates. The given arrays may be modified and returned.
        """
        raise NotImplementedError(f"{self} does not lengthen")


class CurveOrder(LevelFormat, told_by=("curved",)):
    """Order along a space-filling curve (2020, section 4.1).

    Entries are sorted by the codes of the curve, not by their coordinates, before they are appended.
    """

    curved = True

    def codes(self, coords: Sequence[IndexExpr], intervals: Sequence[Span]) -> tuple[IndexExpr, ...]:
        """Return the codes of a curve by which the entries below a parent are sorted.

        ``coords`` are the coordinates of this level and of the branchless levels below it. ``intervals`` holds the
        half-open interval of each.
        """
        raise NotImplementedError(f"{self} follows no curve")

    def uncurved(self) -> LevelFormat:
        """Return the level that has the same arrays, sorted by coordinate."""
        return self


class ArrayEditing(LevelFormat, told_by=("moved", "cut", "narrowed", "joined")):
    """Changing the arrays of a level as a whole, without a kernel.

    Slices, concatenation and the removal of axes of size 1 copy arrays instead of inserting entries (2020, section 6).
    Each function may return None, and a kernel does the work.
    """

    def moved(
        self, arrays: Mapping[str, np.ndarray[Any, Any]], by: int, dtype: np.dtype[Any]
    ) -> Mapping[str, np.ndarray[Any, Any]] | None:
        """Return the arrays with all coordinates larger by ``by`` and stored as ``dtype``.

        None means that the level does not store its coordinates, or not in an array of their own.
        """
        return None

    def cut(self, arrays: Arrays, dimension: int, begin: int, end: int, span: Span | None) -> LevelSlice | None:
        """Return the arrays of the part of the level below the parents ``begin`` to ``end``, and its old positions.

        At the root, ``span`` gives the coordinates of the part: the first one, and their number. None means that the
        level cannot be cut in this way.
        """
        return None

    def narrowed(self, below: LevelFormat) -> LevelFormat | None:
        """Return the level that stores the coordinates of the branchless level below it instead of its own.

        All of its own coordinates are equal. None means that the two levels store coordinates in different ways.
        """
        return None

    def joined(
        self, parts: Sequence[Mapping[str, np.ndarray[Any, Any]]], parents: Sequence[int], offsets: Sequence[int] | None
    ) -> Mapping[str, np.ndarray[Any, Any]] | None:
        """Return the joined arrays of the same level of several tensors, with their positions one after another.

        ``parents`` holds the number of parents in each tensor. At the root, ``offsets`` holds the number by which the
        coordinates of each tensor are increased. None means that the level cannot be joined in this way.
        """
        return None


class ComputedCoordinates(LevelFormat, told_by=("stored",)):
    """Coordinates that are stored otherwise than one for each position in the array ``crd``.

    Checks of order and uniqueness read them (2018, section 3.3). The coordinates are not copied as an array.
    """

    def stored(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any] | None:
        """Return the level's coordinates by position, or None if it does not store one for each position."""
        return None


def is_appendable_at(level: LevelFormat, k: int) -> bool:
    """Return whether a result can be assembled in coordinate order, as far as its level ``k`` decides.

    The level must either be appended to, or be located without arrays that depend on the entries, and in the order of
    its coordinates.
    """
    append = level.capability(Append)
    if append is not None:
        return not (append.rooted and k > 0)
    return level.inserts and not level.stores and (level.row_major or level.implied)


def lists(level: LevelFormat) -> bool:
    """Return whether ``crd`` holds the level's coordinates, one for each position."""
    return "crd" in level.roles and level.capability(ComputedCoordinates) is None
