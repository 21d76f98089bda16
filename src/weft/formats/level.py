"""The interface every level format implements (2018 paper, section 3; 2020 paper, section 6).

A level format stores one level of a coordinate hierarchy. It declares capabilities and properties, and implements
level functions that return IR. The compiler reasons about capabilities and properties only; it never asks which
level format it has. In the signatures below ``p`` are positions, ``i`` coordinates, ``k`` this level.
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
"""The first of some consecutive coordinates, and how many."""
LevelSlice = tuple[Arrays, int, int]
"""The arrays of a part of a level, and where its positions began and ended."""


class LevelEntries(NamedTuple):
    """Entries of a level: the positions that they are below, their coordinates and values, and the fill value."""

    parents: np.ndarray[Any, Any]
    coords: np.ndarray[Any, Any]
    vals: np.ndarray[Any, Any]
    fill: Any


_ZERO = lit(0)


def ask(op: Literal["count", "max", "min", "id"], label: str, over: Sequence[int], args: Sequence[int] = ()) -> Query:
    """A query with one aggregate, of the coordinates of some levels over those of others."""
    aggregate = Aggregate(op, tuple(map(Axis, args)), label)
    return Query(tuple(map(Axis, over)), (aggregate,))


@record
class LevelVars:
    """What a level function may refer to, as IR.

    Parameters
    ----------
    level : int
        Which level, from 0.
    dimension : Expr
        How many coordinates the level can have.
    arrays : mapping
        The level's arrays by role.
    lowest : Expr
        The lowest coordinate that the level can have.
    interval : callable, optional
        From the coordinates of the ancestors to the half-open interval of coordinates that the format's remapping
        leaves to this level, where it is not all that the level can have.
    computed : callable, optional
        From the coordinates of the ancestors to this level's only one, where the remapping determines it.
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
        """The half-open interval of coordinates that the level can have below these ancestors."""
        if self.interval is not None:
            return self.interval(ancestors)
        return self.lowest, add(self.lowest, self.dimension)


@record
class LevelFormat:
    """One level format, configured.

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
        Which access capability iterates the level: coordinate value or coordinate position iteration.
    locates : {None, 'direct', 'probe', 'search'}
        Random access: not at all, by arithmetic, in a hash table, or by searching a segment (never used where
        iterating is cheaper). All but the first may find that a coordinate is not stored.
    walks : bool
        Whether it can be iterated; a level that cannot is only asked for coordinates.
    inserts, appends : bool
        The assembly capabilities.
    full, branchless, compact : bool
        Properties, as in section 3.3.
    bounded : bool
        Whether it leaves out coordinates that lie beyond the tensor, given those above.
    misses : bool
        Whether a coordinate that is iterated by value may turn out to have no position: ``locate`` tells.
    scattered : bool
        Whether positions of coordinates that follow each other may lie anywhere.
    partial : bool
        Whether it shows only some of its positions, or some more than once: sizes do not say how many are visited.
    sortable : bool
        Whether the level can store its coordinates in order.
    grows : bool
        Whether it is made of tables that may become larger ones: its arrays are ``width``, how many slots a table has,
        and the coordinates, by slot and -1 where there is none.
    lengthens : bool
        Whether the segment of a parent may become longer where it stands, or elsewhere: ``lengthened`` does it.
    signed : bool
        Whether coordinates may be below 0, as those of diagonals are.
    counts : bool
        Whether it holds the coordinates from 0 to a bound that it stores, as those of a counter are.
    curved : bool
        Whether its coordinates come in another order than their own, by the ``codes`` of a space-filling curve.
    placing : {None, 'get', 'find', 'yield'}
        How an entry finds its position when it is inserted: not at all; by what a query found; as the one that another
        with its coordinate has taken, or else a free one; or as the next free one of its parent.
    shares : bool
        Whether several entries may be inserted at one position, those of one parent coming together.
    apart : bool
        Whether an insertion writes nothing but elements of its own position, and takes the next one of its parent, so
        that threads need not heed each other.
    shifted : tuple of str
        Arrays of answers to queries in which each stands one place further on: they become where segments begin.
    flags : tuple of str
        Arrays of the assembly that say yes or no, a byte each.
    unread : tuple of str
        Arrays made before a level is queried that are written before they are read: others start zeroed.
    blank : int
        What arrays that are not written hold.
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
        """Return what the level misses in its neighbours or in its coordinate, or None.

        Parameters
        ----------
        levels : sequence of LevelFormat
            All levels of the format, those that show a part of another replaced by it; this is ``levels[k]``.
        remapping : Remapping
            Makes one coordinate for each of them.
        k : int
            Which level this is, from 0.
        """
        return None

    @property
    def shown(self) -> LevelFormat:
        """The level whose arrays this one reads: itself, unless it shows a part of another."""
        return self

    @property
    def has_every(self) -> bool:
        """Whether every coordinate has a position, found by arithmetic: the level can be located without a miss."""
        return self.full and self.locates == "direct"

    @property
    def spans(self) -> bool:
        """Whether, below any parent, it has all coordinates of its dimension, or all that lie inside the tensor."""
        return self.has_every

    @property
    def gapless(self) -> bool:
        """Whether every position that is iterated holds an entry."""
        return True

    @property
    def pads(self) -> bool:
        """Whether positions are visited at which nothing was put."""
        return (self.iteration == "value" and not self.misses) or (not self.compact and self.gapless)

    @property
    def picks(self) -> bool:
        """Whether coordinates are found one by one, each in less time than it takes to walk past all."""
        found = self.locates == "probe" or (self.locates == "search" and self.ordered)
        return self.has_every or (found and self.walks and self.unique and not self.branchless)

    @property
    def merges(self) -> bool:
        """Whether the level can be walked together with others, by increasing coordinate."""
        return self.has_every or (self.walks and self.ordered and self.gapless and self.iteration == "position")

    # -- as the level of a tensor whose axes are the coordinates of the levels -----------------------------------------
    def over_own_axis(self, level: int) -> LevelFormat | None:
        """The level that stores the same where the coordinate is that of an axis, if there is one."""
        return None

    def to_own_axis(self, arrays: Arrays, dimension: int, lowest: int) -> tuple[int, Arrays] | None:
        """The size of that axis, whose coordinates count from 0, and the arrays over it, if they fit."""
        return dimension, arrays

    def from_own_axis(self, arrays: Arrays, dimension: int, lowest: int) -> Arrays:
        """The arrays of the level, from those over an axis of its own."""
        return arrays

    # -- access: coordinate value iteration ---------------------------------------------------------------------
    def coord_bounds(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> tuple[Expr, Expr]:
        """``coord_bounds(p_{k-1}, i_1, ..., i_{k-1}) -> <begin_k, end_k>``."""
        raise NotImplementedError(f"{self} has no coordinate value iteration")

    # -- access: coordinate position iteration ------------------------------------------------------------------
    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        """``pos_bounds(p_{k-1}) -> <pbegin_k, pend_k>``."""
        raise NotImplementedError(f"{self} has no coordinate position iteration")

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        """``pos_access(p_k, p_{k-1}, i_1, ..., i_{k-1}) -> i_k``."""
        raise NotImplementedError(f"{self} has no coordinate position iteration")

    def valid(self, m: LevelVars, coord: Expr) -> Expr | None:
        """Whether a position that is iterated holds an entry, given its coordinate; None where all do."""
        return None

    # -- access: locate -----------------------------------------------------------------------------------------
    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        """``locate(p_{k-1}, i_1, ..., i_k) -> p_k``; negative when a searching level does not hold ``i_k``."""
        raise NotImplementedError(f"{self} cannot locate")

    def probe(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        """``locate``, given the coordinates of the ancestors too, for a table that is over all of them."""
        return self.locate(m, parent, coords[-1])

    def looked_up(self, below: Sequence[LevelFormat]) -> tuple[LevelFormat, ...] | None:
        """The levels as which the arrays of this level and of those below find whole coordinates; None if they do not.

        Their arrays are the same, in the same order.
        """
        return None

    def child_pos(self, m: LevelVars, p: Expr, coord: Expr) -> Expr:
        """The position that children and values hang on, for a coordinate iterated at ``p_k``: ``p_k`` itself."""
        return p

    # -- sizes --------------------------------------------------------------------------------------------------
    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        """``get_size(sz_{k-1}) -> sz_k``: positions of the level, given those of its parent."""
        raise NotImplementedError(f"{self} does not size itself")

    # -- assembly: append (2018) and edge insertion (2020) ------------------------------------------------------
    def append_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        """``append_coord(p_k, i_k)``: store a coordinate at the end of the level."""
        raise NotImplementedError(f"{self} cannot be appended to")

    def seq_insert_edges(self, m: LevelVars, parent: Expr, end: Expr) -> Stmt:
        """Edges of the parents visited in order: the children of ``p_{k-1}`` end at ``end``."""
        raise NotImplementedError(f"{self} has no edges to insert")

    def seq_init_edges(self, m: LevelVars, begin: Expr) -> Stmt:
        """Before the first parent: its children start at 0."""
        return Block()

    def seq_finalize_edges(self, m: LevelVars, parents: tuple[Expr, Expr], begin: Expr, index: Var) -> Stmt:
        """After ``seq_insert_edges`` for those of ``parents`` that have children: others have none.

        ``parents`` are the first and the one behind the last, and the children of the first begin at ``begin``. Arrays
        start zeroed. ``index`` is a fresh variable.
        """
        raise NotImplementedError(f"{self} has no edges to insert")

    def shift_edges(self, m: LevelVars, parent: Expr, by: Expr) -> Stmt:
        """After ``seq_insert_edges``: the children of ``p_{k-1}`` end so many positions later."""
        raise NotImplementedError(f"{self} has no edges to insert")

    def unseq_insert_edges(self, m: LevelVars, parent: Expr, count: Expr) -> Stmt:
        """Edges of parents visited in any order: ``p_{k-1}`` gets ``count`` children. Arrays start zeroed."""
        raise NotImplementedError(f"{self} has no edges to insert")

    def unseq_finalize_edges(self, m: LevelVars, parent_size: Expr, index: Var) -> Stmt:
        """After ``unseq_insert_edges`` for every parent: turn counts into positions. ``index`` is a fresh variable."""
        raise NotImplementedError(f"{self} has no edges to insert")

    # -- assembly by insertion (2020, section 6): queries, then edges, then coordinates in the order of the source ---
    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        """Lengths of the arrays that must be there before the level is queried; others come after."""
        return {}

    def scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        """Lengths of arrays that only assembly needs."""
        return {}

    def queries(self, level: int, last: int) -> tuple[Query, ...]:
        """What the level must know of the entries (2020, section 5): ``Axis(n)`` is the coordinate of level ``n``.

        Levels count from 0 to ``last``. A query is over nothing, over the coordinates of all ancestors, or over this
        level's own; its labels name the arrays for the answers, which are in that order: one for each position of the
        parent, or for each coordinate.
        """
        return ()

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        """After the queries: where the children of every parent will be."""
        return Block()

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        """The position of an entry, from what the query found."""
        raise NotImplementedError(f"{self} cannot place an entry")

    def insert_coord(self, m: LevelVars, p: Expr, coord: Expr) -> Stmt:
        """Store the coordinate of an entry at its position."""
        return Block()

    def next_pos(self, m: LevelVars, parent: Expr) -> Expr | None:
        """The position that ``yield_pos`` would give, where it can be told without taking it."""
        return None

    def yield_pos(self, m: LevelVars, parent: Expr, into: Var) -> Stmt:
        """Declare ``into`` as the next free position under ``p_{k-1}`` and take it."""
        raise NotImplementedError(f"{self} cannot yield positions")

    def finalize_yield_pos(self, m: LevelVars, parent_size: Expr, index: Var) -> Stmt:
        """Undo what ``yield_pos`` did to the edges."""
        return Block()

    # -- insertion into tables that grow (2018, section 3.4) ---------------------------------------------------------
    def tables(self, parent_size: int) -> int:
        """How many tables there are."""
        raise NotImplementedError(f"{self} has no table")

    def table_of(self, parent: Expr) -> Expr:
        """Which table the children of ``p_{k-1}`` are in."""
        raise NotImplementedError(f"{self} has no table")

    def slot(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        """The position of a coordinate, or the free one where it belongs."""
        raise NotImplementedError(f"{self} has no table")

    def is_free(self, m: LevelVars, p: Expr) -> Expr:
        """Whether nothing is stored at a position."""
        raise NotImplementedError(f"{self} has no table")

    def settle(self, m: LevelVars, p: Expr, coords: tuple[Expr, ...]) -> Stmt:
        """Store a coordinate at a free position."""
        raise NotImplementedError(f"{self} has no table")

    # -- the same where several entries share a position, those of one parent coming together ------------------------
    def shared_scratch(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        """Lengths of zeroed arrays that assembling with shared positions needs."""
        return {}

    def shared_collect(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Stmt:
        """After the edges: store each coordinate below a parent once."""
        raise NotImplementedError(f"{self} cannot share positions")

    def shared_finish(self, m: LevelVars, parent_size: Expr) -> Stmt:
        """After every coordinate has been collected: put them in order."""
        raise NotImplementedError(f"{self} cannot share positions")

    def shared_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...], into: Var) -> Stmt:
        """Declare ``into`` as the position of a coordinate that has been collected."""
        raise NotImplementedError(f"{self} cannot share positions")

    # -- order along a curve ------------------------------------------------------------------------------------
    def codes(self, coords: Sequence[IndexExpr], intervals: Sequence[Span]) -> tuple[IndexExpr, ...]:
        """What entries below a parent are ordered by, given the coordinates of this level and of the branchless below.

        ``intervals`` holds the half-open interval of each.
        """
        raise NotImplementedError(f"{self} follows no curve")

    def uncurved(self) -> LevelFormat:
        """The level that stores the same arrays in the order of coordinates."""
        return self

    # -- storage, outside generated code ------------------------------------------------------------------------
    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        """Lengths of the level's arrays, given the positions of the parent level and of this one."""
        return ()

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        """Positions the level holds, from its stored arrays."""
        raise NotImplementedError

    def size_to_be(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        """Positions the level will hold, from its arrays after ``insert_edges``."""
        return self.size(parent_size, dimension, arrays)

    def find(self, parent: int, coord: int, dimension: int, arrays: Mapping[str, np.ndarray[Any, Any]]) -> int | None:
        """The position of a coordinate below ``p_{k-1}``, -1 where there is none; None where that takes a kernel."""
        return None

    def find_whole(self, coords: tuple[int, ...], arrays: Arrays) -> int | None:
        """``find`` for a table over whole coordinates; None where the level has none."""
        return None

    def lengthened(
        self, arrays: Arrays, vals: np.ndarray[Any, Any], entries: LevelEntries
    ) -> tuple[Arrays, np.ndarray[Any, Any]]:
        """The arrays and values once entries are put in, in the place of those with their coordinates.

        They may be the same arrays, which are then changed.
        """
        raise NotImplementedError(f"{self} does not lengthen")

    def moved(
        self, arrays: Mapping[str, np.ndarray[Any, Any]], by: int, dtype: np.dtype[Any]
    ) -> Mapping[str, np.ndarray[Any, Any]] | None:
        """The same positions at coordinates larger by ``by``, stored as ``dtype``; None where they are not stored."""
        return None

    def cut(self, arrays: Arrays, dimension: int, begin: int, end: int, span: Span | None) -> LevelSlice | None:
        """Arrays of what is below the parents ``begin`` to ``end`` alone, and where its positions began and ended.

        At the root ``span`` says which coordinates are meant: the first, and how many. None where the level cannot be
        cut so.
        """
        return None

    def narrowed(self, below: LevelFormat) -> LevelFormat | None:
        """The level with the coordinates of the branchless one below it in place of its own, which are all the same.

        None where the two store them in other ways.
        """
        return None

    def joined(
        self, parts: Sequence[Mapping[str, np.ndarray[Any, Any]]], parents: Sequence[int], offsets: Sequence[int] | None
    ) -> Mapping[str, np.ndarray[Any, Any]] | None:
        """The arrays of several tensors' levels as one, the positions of each after those of the one before.

        ``parents`` says how many parents each has. At the root there are ``offsets`` instead, which the coordinates of
        each are to be moved by. None where the level cannot be joined so.
        """
        return None

    def stored(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any] | None:
        """The level's coordinates by position, where it stores one for each."""
        return arrays.get("crd")

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        """A reason why the stored arrays break this level's invariants, or None."""
        return None

    def __repr__(self) -> str:
        """Return the expression that makes it, with nothing that goes without saying.

        Examples
        --------
        >>> from weft.formats import Compressed
        >>> Compressed(), Compressed(unique=False)
        (Compressed(), Compressed(unique=False))
        """
        shown = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in shown)})"

    def __str__(self) -> str:
        marks = "".join(mark for flag, mark in ((self.ordered, "¬O"), (self.unique, "¬U")) if not flag)
        return type(self).__name__.lower() + (f"({marks})" if marks else "")


def lists(level: LevelFormat) -> bool:
    """Tell whether ``crd`` holds the level's coordinates, one for each position."""
    return "crd" in level.roles and type(level).stored is LevelFormat.stored
