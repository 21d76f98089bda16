"""The interface every level format implements (2018 paper, section 3; 2020 paper, section 6).

A level format stores one level of a coordinate hierarchy. It declares capabilities and properties, and implements
level functions, which return IR. The compiler reasons about capabilities and properties only. It never tests which
level format it has. In the signatures below, ``p`` are positions, ``i`` are coordinates, and ``k`` is this level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..ir.builder import add, lit
from ..ir.nodes import Block, Expr, Stmt, Var
from ..queries import Aggregate, Query
from ..records import record
from ..remapping import Axis, IndexExpr, Remapping

__all__ = ["Arrays", "LevelEntries", "LevelFormat", "LevelSlice", "LevelVars", "Placing", "Span", "ask", "lists"]

Arrays = Mapping[str, np.ndarray[Any, Any]]
"""A level's arrays by role."""
Placing = Literal["get", "find", "yield"]
Span = tuple[int, int]
"""The first of some consecutive coordinates, and their number."""
LevelSlice = tuple[Arrays, int, int]
"""The arrays of a part of a level, and the half-open interval of its positions in the whole level."""


class LevelEntries(NamedTuple):
    """Entries of a level: the positions of their parents, their coordinates and values, and the fill value."""

    parents: np.ndarray[Any, Any]
    coords: np.ndarray[Any, Any]
    vals: np.ndarray[Any, Any]
    fill: Any


_ZERO = lit(0)


def ask(op: Literal["count", "max", "min", "id"], label: str, over: Sequence[int], args: Sequence[int] = ()) -> Query:
    """Return a query with one aggregate.

    Parameters
    ----------
    op : {'count', 'max', 'min', 'id'}
        The statistic.
    label : str
        The name of the result.
    over : sequence of int
        The levels for each combination of whose coordinates the statistic is computed.
    args : sequence of int, optional
        The levels whose coordinates the statistic is of.
    """
    aggregate = Aggregate(op, tuple(map(Axis, args)), label)
    return Query(tuple(map(Axis, over)), (aggregate,))


@record
class LevelVars:
    """The IR expressions that level functions may refer to.

    Parameters
    ----------
    level : int
        The number of the level, from 0.
    dimension : Expr
        The number of coordinates that the level can have.
    arrays : mapping
        The level's arrays by role.
    lowest : Expr
        The lowest coordinate that the level can have.
    interval : callable, optional
        The half-open interval of coordinates that the format's remapping leaves to this level, as a function of the
        coordinates of the ancestors. None if the remapping leaves all coordinates that the level can have.
    computed : callable, optional
        The only coordinate of this level, as a function of the coordinates of the ancestors. None if the remapping does
        not determine it.
    """

    level: int
    dimension: Expr
    arrays: Mapping[str, Var]
    lowest: Expr = _ZERO
    interval: Callable[[tuple[Expr, ...]], tuple[Expr, Expr]] | None = None
    computed: Callable[[tuple[Expr, ...]], Expr] | None = None

    def __getitem__(self, role: str) -> Var:
        return self.arrays[role]

    def coordinates(self, ancestors: tuple[Expr, ...]) -> tuple[Expr, Expr]:
        """Return the half-open interval of coordinates that the level can have below some ancestors.

        Parameters
        ----------
        ancestors : tuple of Expr
            The coordinates of the levels above, from the root down.
        """
        if self.interval is not None:
            return self.interval(ancestors)
        return self.lowest, add(self.lowest, self.dimension)


@record
class LevelFormat:
    """A level format with its properties; the base class of all level formats.

    Parameters
    ----------
    ordered : bool
        Coordinates that share their ancestors are stored in increasing order.
    unique : bool
        No two coordinates that share their ancestors are equal.

    Attributes
    ----------
    letter : str
        taco's letter.
    iteration : {'value', 'position'}
        The access capability that iterates the level: coordinate value or coordinate position iteration.
    locates : {None, 'direct', 'probe', 'search'}
        The way to locate a coordinate: none, by arithmetic, in a hash table, or by searching a segment (never used
        where iterating is cheaper). A hash table and a search may find that the coordinate is not stored.
    walks : bool
        True if the level can be iterated. A level that cannot be iterated can only locate coordinates.
    inserts, appends : bool
        The assembly capabilities.
    full, branchless, compact : bool
        Properties (2018, section 3.3).
    bounded : bool
        True if the level leaves out coordinates that lie beyond the tensor, given those above.
    misses : bool
        True if a coordinate that is iterated by value may have no position, which ``locate`` tells.
    scattered : bool
        True if the positions of consecutive coordinates may lie anywhere.
    partial : bool
        True if the level shows only some of its positions, or some more than once. The size of the level then does not
        tell the number of visited positions.
    sortable : bool
        True if the level can store its coordinates in order.
    grows : bool
        True if the level consists of hash tables that can be replaced by larger ones. Its arrays are ``width``, the
        number of slots of a table, and the coordinates by slot, -1 in empty slots.
    lengthens : bool
        True if the segment of a parent can become longer, in place or elsewhere, by ``lengthened``.
    signed : bool
        True if coordinates may be below 0, as those of diagonals are.
    counts : bool
        True if the level holds the coordinates from 0 to a stored bound, as those of a counter are.
    curved : bool
        True if coordinates are sorted by the ``codes`` of a space-filling curve, not by their values.
    placing : {None, 'get', 'find', 'yield'}
        The way in which an inserted entry gets its position. None: the level has no insertion. ``'get'``: from the
        answers to queries. ``'find'``: the position of another entry with the same coordinate, or else a free one.
        ``'yield'``: the next free position of its parent.
    shares : bool
        True if several entries may be inserted at one position, if the entries of one parent come together.
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
    roles : tuple of str
        The level's arrays, in storage order.
    borrows : tuple of str
        Arrays that the level reads but that belong to the nearest level above that has them.
    """

    ordered: bool = True
    unique: bool = True

    letter: ClassVar[str] = "?"
    iteration: ClassVar[Literal["value", "position"]] = "position"
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = None
    walks: ClassVar[bool] = True
    inserts: ClassVar[bool] = False
    appends: ClassVar[bool] = False
    full = False
    branchless: ClassVar[bool] = False
    compact: ClassVar[bool] = True
    bounded: ClassVar[bool] = False
    misses = False
    scattered = False
    partial = False
    sortable: ClassVar[bool] = True
    grows: ClassVar[bool] = False
    lengthens: ClassVar[bool] = False
    signed = False
    counts: ClassVar[bool] = False
    curved: ClassVar[bool] = False
    placing: ClassVar[Placing | None] = None
    apart: ClassVar[bool] = False
    shifted: ClassVar[tuple[str, ...]] = ()
    flags: ClassVar[tuple[str, ...]] = ()
    unread: ClassVar[tuple[str, ...]] = ()
    blank: ClassVar[int] = 0
    shares: ClassVar[bool] = False
    roles: ClassVar[tuple[str, ...]] = ()
    borrows: ClassVar[tuple[str, ...]] = ()

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        """Return the reason why the level cannot have its neighbors or its coordinate, or None if it can.

        Parameters
        ----------
        levels : sequence of LevelFormat
            All levels of the format; this one is ``levels[k]``. A level that shows a part of another is replaced by
            that other level.
        remapping : Remapping
            The remapping, which makes one coordinate for each level.
        k : int
            The number of this level, from 0.
        """
        return None

    @property
    def shown(self) -> LevelFormat:
        """Level whose arrays this one reads: itself, unless it shows a part of another level."""
        return self

    @property
    def has_every(self) -> bool:
        """Return whether every coordinate has a position that is computed by arithmetic.

        Such a level can locate every coordinate.
        """
        return self.full and self.locates == "direct"

    @property
    def spans(self) -> bool:
        """Return whether each parent has all coordinates of the dimension, or all that lie inside the tensor."""
        return self.has_every

    @property
    def gapless(self) -> bool:
        """Return whether every position that is iterated holds an entry."""
        return True

    @property
    def pads(self) -> bool:
        """Return whether iterating visits positions at which no entry was stored."""
        # Iteration by value visits all coordinates. Iteration by position visits padding, unless the level marks it.
        return (self.iteration == "value" and not self.misses) or (not self.compact and self.gapless)

    @property
    def picks(self) -> bool:
        """Return whether the level locates a single coordinate in less time than iterating all of them takes."""
        found = self.locates == "probe" or (self.locates == "search" and self.ordered)
        return self.has_every or (found and self.walks and self.unique and not self.branchless)

    @property
    def merges(self) -> bool:
        """Return whether the level can be iterated together with others, by increasing coordinate."""
        return self.has_every or (self.walks and self.ordered and self.gapless and self.iteration == "position")

    # -- as the level of a tensor whose axes are the coordinates of the levels -----------------------------------------
    def over_own_axis(self, level: int) -> LevelFormat | None:
        """Return the level format that stores the same coordinates as those of an axis of their own, or None.

        Elementwise operations on structured tensors use such levels. For dia, the axes are diagonal and column.
        """
        return None

    def to_own_axis(self, arrays: Arrays, dimension: int, lowest: int) -> tuple[int, Arrays] | None:
        """Return the size of the level's own axis and the arrays over that axis, or None if they do not fit.

        The coordinates of the axis begin at 0.
        """
        return dimension, arrays

    def from_own_axis(self, arrays: Arrays, dimension: int, lowest: int) -> Arrays:
        """Return the arrays of this level, given those of the level over an axis of its own."""
        return arrays

    # -- access: coordinate value iteration ---------------------------------------------------------------------
    def coord_bounds(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> tuple[Expr, Expr]:
        """Return the coordinates to iterate: ``coord_bounds(p_{k-1}, i_1, ..., i_{k-1}) -> <begin_k, end_k>``."""
        raise NotImplementedError(f"{self} has no coordinate value iteration")

    # -- access: coordinate position iteration ------------------------------------------------------------------
    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        """Return the positions to iterate: ``pos_bounds(p_{k-1}) -> <pbegin_k, pend_k>``."""
        raise NotImplementedError(f"{self} has no coordinate position iteration")

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        """Return the coordinate at a position: ``pos_access(p_k, p_{k-1}, i_1, ..., i_{k-1}) -> i_k``."""
        raise NotImplementedError(f"{self} has no coordinate position iteration")

    def valid(self, m: LevelVars, coord: Expr) -> Expr | None:
        """Return whether an iterated position holds an entry, given its coordinate; None if all positions do."""
        return None

    # -- access: locate -----------------------------------------------------------------------------------------
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

    def looked_up(self, below: Sequence[LevelFormat]) -> tuple[LevelFormat, ...] | None:
        """Return the levels with which the arrays of this level and those below locate whole coordinates, or None.

        The returned levels have the same arrays, in the same order.
        """
        return None

    def child_pos(self, m: LevelVars, p: Expr, coord: Expr) -> Expr:
        """Return the position whose children and value belong to a coordinate iterated at ``p_k``: ``p_k`` itself.

        Levels that iterate a list of coordinates, or show a part of another level, return another position.
        """
        return p

    # -- sizes --------------------------------------------------------------------------------------------------
    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        """Return the number of positions, given that of the parent level: ``get_size(sz_{k-1}) -> sz_k``."""
        raise NotImplementedError(f"{self} does not size itself")

    # -- assembly: append (2018) and edge insertion (2020) ------------------------------------------------------
    def append_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        """Store a coordinate at the end of the level: ``append_coord(p_k, i_k)``."""
        raise NotImplementedError(f"{self} cannot be appended to")

    def seq_insert_edges(self, m: LevelVars, parent: Expr, end: Expr) -> Stmt:
        """Insert the edge of a parent, parents being visited in order: the children of ``p_{k-1}`` end at ``end``."""
        raise NotImplementedError(f"{self} has no edges to insert")

    def seq_init_edges(self, m: LevelVars, begin: Expr) -> Stmt:
        """Initialize the edges before the first parent is visited, whose children begin at ``begin``."""
        return Block()

    def seq_finalize_edges(self, m: LevelVars, parents: tuple[Expr, Expr], begin: Expr, index: Var) -> Stmt:
        """Insert the edges of parents without children, after ``seq_insert_edges`` for those that have children.

        ``parents`` are the first parent and the one behind the last. The children of the first begin at ``begin``.
        Arrays start zeroed. ``index`` is a fresh variable.
        """
        raise NotImplementedError(f"{self} has no edges to insert")

    def shift_edges(self, m: LevelVars, parent: Expr, by: Expr) -> Stmt:
        """Shift an edge after ``seq_insert_edges``: the children of ``p_{k-1}`` end ``by`` positions later."""
        raise NotImplementedError(f"{self} has no edges to insert")

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

    # -- assembly by insertion (2020, section 6): queries, then edges, then coordinates in the order of the source ---
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

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        """Compute the positions that the children of every parent will have, after the queries."""
        return Block()

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

    # -- insertion into tables that grow (2018, section 3.4) ---------------------------------------------------------
    def tables(self, parent_size: int) -> int:
        """Return the number of tables."""
        raise NotImplementedError(f"{self} has no table")

    def table_of(self, parent: Expr) -> Expr:
        """Return the table that holds the children of ``p_{k-1}``."""
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

    # -- the same where several entries share a position, those of one parent coming together ------------------------
    def shared_scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        """Return the lengths of zeroed arrays that assembly with shared positions needs."""
        return {}

    def shared_collect(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Stmt:
        """Store a coordinate below a parent, after the edges have been inserted.

        The caller collects each coordinate of a parent once.
        """
        raise NotImplementedError(f"{self} cannot share positions")

    def shared_finish(self, m: LevelVars, parent_size: Expr) -> Stmt:
        """Put the coordinates in order, after all of them have been collected."""
        raise NotImplementedError(f"{self} cannot share positions")

    def shared_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...], into: Var) -> Stmt:
        """Declare ``into`` as the position of a coordinate that has been collected."""
        raise NotImplementedError(f"{self} cannot share positions")

    # -- order along a curve ------------------------------------------------------------------------------------
    def codes(self, coords: Sequence[IndexExpr], intervals: Sequence[Span]) -> tuple[IndexExpr, ...]:
        """Return the codes of a curve by which the entries below a parent are sorted.

        ``coords`` are the coordinates of this level and of the branchless levels below it. ``intervals`` holds the
        half-open interval of each.
        """
        raise NotImplementedError(f"{self} follows no curve")

    def uncurved(self) -> LevelFormat:
        """Return the level that has the same arrays, sorted by coordinate."""
        return self

    # -- storage, outside generated code ------------------------------------------------------------------------
    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        """Return the lengths of the level's arrays, given the sizes of the parent level and of this level."""
        return ()

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        """Return the number of positions of the level, from its stored arrays."""
        raise NotImplementedError

    def size_to_be(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        """Return the number of positions that the level will have, from its arrays after ``insert_edges``."""
        return self.size(parent_size, dimension, arrays)

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

    def lengthened(
        self, arrays: Arrays, vals: np.ndarray[Any, Any], entries: LevelEntries
    ) -> tuple[Arrays, np.ndarray[Any, Any]]:
        """Return the arrays and values after entries are put in.

        An entry replaces a stored one with the same coordinates. The given arrays may be modified and returned.
        """
        raise NotImplementedError(f"{self} does not lengthen")

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

    def stored(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any] | None:
        """Return the level's coordinates by position, or None if it does not store one for each position."""
        return arrays.get("crd")

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        """Return the reason why the stored arrays violate an invariant of the level, or None if they do not."""
        return None

    def __repr__(self) -> str:
        """Return the constructor call of the level, without arguments that have their default value.

        Examples
        --------
        >>> from weft.formats import Compressed
        >>> Compressed(), Compressed(unique=False)
        (Compressed(), Compressed(unique=False))
        """
        # A field without a default is always shown.
        shown = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in shown)})"

    def __str__(self) -> str:
        marks = "".join(mark for flag, mark in ((self.ordered, "¬O"), (self.unique, "¬U")) if not flag)
        return type(self).__name__.lower() + (f"({marks})" if marks else "")


def lists(level: LevelFormat) -> bool:
    """Return whether ``crd`` holds the level's coordinates, one for each position.

    Parameters
    ----------
    level : LevelFormat
        The level.
    """
    return "crd" in level.roles and type(level).stored is LevelFormat.stored
