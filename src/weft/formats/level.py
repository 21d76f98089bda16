"""The interface every level format implements (2018 paper, section 3; 2020 paper, section 6).

A level format stores one level of a coordinate hierarchy. It states its properties, lists the groups of its
capabilities (``formats/capabilities.py``) and implements their level functions, which return IR. The compiler asks for
capabilities and properties only. It never tests which level format it has. In signatures, ``p`` are positions, ``i``
are coordinates, and ``k`` is this level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from inspect import get_annotations
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np

from ..ir.builder import add, lit
from ..ir.nodes import Expr, Var
from ..queries import Aggregate, Query
from ..records import record
from ..remapping import Axis, Remapping

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

_Group = TypeVar("_Group", bound="LevelFormat")
_GROUPS: dict[type[LevelFormat], tuple[str, ...]] = {}
"""The groups of capabilities, each with the names that tell that a level has it."""


def ask(op: Literal["count", "max", "min", "id"], label: str, over: Sequence[int], args: Sequence[int] = ()) -> Query:
    """Return a query with one aggregate."""
    aggregate = Aggregate(op, tuple(map(Axis, args)), label)
    return Query(tuple(map(Axis, over)), (aggregate,))


@record
class LevelVars:
    """The IR expressions that level functions may refer to."""

    level: int  # the number of the level, from 0
    dimension: Expr  # the number of coordinates that the level can have
    arrays: Mapping[str, Var]  # the level's arrays by role
    lowest: Expr = _ZERO  # the lowest coordinate that the level can have
    # The half-open interval of coordinates that the format's remapping leaves to this level, as a function of the
    # coordinates of the ancestors. None if the remapping leaves all coordinates that the level can have.
    interval: Callable[[tuple[Expr, ...]], tuple[Expr, Expr]] | None = None
    # The only coordinate of this level, as a function of the coordinates of the ancestors. None if the remapping does
    # not determine it.
    computed: Callable[[tuple[Expr, ...]], Expr] | None = None

    def __getitem__(self, role: str) -> Var:
        return self.arrays[role]

    def coordinates(self, ancestors: tuple[Expr, ...]) -> tuple[Expr, Expr]:
        """Return the half-open interval of coordinates that the level can have below some ancestors."""
        if self.interval is not None:
            return self.interval(ancestors)
        return self.lowest, add(self.lowest, self.dimension)


_NO_ROLES: Mapping[str, str] = MappingProxyType({})


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
    repeated_letter : str or None
        taco's letter of a level that is not unique, or None if taco has none.
    spelled : bool
        True if letters name the level in the text of a format, as in ``"ds"``.
    roles : tuple of str
        The level's arrays, in storage order.
    earlier_roles : mapping of str to str
        The names of arrays that earlier versions of weft stored under other names, and perhaps in another form.
    borrows : tuple of str
        Arrays that the level reads but that belong to the nearest level above that has them.
    full, branchless, compact : bool
        Properties (2018, section 3.3).
    gapless : bool
        True if every position that is iterated holds an entry.
    partial : bool
        True if the level shows only some of its positions, or some more than once. The size of the level then does not
        tell the number of visited positions.
    row_major : bool
        True if positions are those of an array in row-major order: the coordinates from 0 to ``size - 1`` below the
        parent ``p`` have the positions from ``p * size`` on, in order and without gaps. Levels that do not say so are
        read and written by their level functions alone.
    sortable : bool
        True if the level can store its coordinates in order.
    signed : bool
        True if coordinates may be below 0, as those of diagonals are.
    counts : bool
        True if the level holds the coordinates from 0 to a stored bound, as those of a counter are.
    implied : bool
        True if each parent has all coordinates that lie inside the tensor, given those of its ancestors, so that the
        remapping alone decides them. Arrays may be too short for the last ones.
    iteration : {'value', 'position'}
        The access capability that iterates the level: ``ValueIteration`` or ``PositionIteration``.
    walks : bool
        True if the level can be iterated. A level that cannot be iterated can only locate coordinates.
    locates : {None, 'direct', 'probe', 'search'}
        The way to locate a coordinate: none, by arithmetic, in a hash table, or by searching a segment (never used
        where iterating is cheaper). A hash table and a search may find that the coordinate is not stored. Not None if
        the level has the group ``Locate``.
    placing : {None, 'get', 'find', 'yield'}
        The way in which an inserted entry gets its position. ``'get'``: from the answers to queries. ``'find'``: the
        position of another entry with the same coordinate, or else a free one. ``'yield'``: the next free position of
        its parent. Not None if the level has the group ``Insertion``.
    appends, shares, grows, lengthens, curved : bool
        True if the level has the group ``Append``, ``SharedPositions``, ``HashTable``, ``GrowingSegments`` or
        ``CurveOrder``.

    Examples
    --------
    >>> import weft
    >>> [type(level).__name__ for level in weft.formats["csr"](2).levels]
    ['Dense', 'Compressed']
    """

    ordered: bool = True
    unique: bool = True

    letter: ClassVar[str] = "?"
    repeated_letter: ClassVar[str | None] = None
    spelled: ClassVar[bool] = False
    roles: ClassVar[tuple[str, ...]] = ()
    earlier_roles: ClassVar[Mapping[str, str]] = _NO_ROLES
    borrows: ClassVar[tuple[str, ...]] = ()

    # Properties.
    full = False
    branchless: ClassVar[bool] = False
    compact: ClassVar[bool] = True
    partial = False
    row_major = False
    sortable: ClassVar[bool] = True
    signed = False
    counts: ClassVar[bool] = False
    implied: ClassVar[bool] = False

    # What a level says of its capabilities. Groups set it, and a level or one of its objects may say otherwise.
    iteration: ClassVar[Literal["value", "position"]] = "position"
    walks: ClassVar[bool] = False
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = None
    placing: ClassVar[Placing | None] = None
    appends: ClassVar[bool] = False
    shares: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    lengthens: ClassVar[bool] = False
    curved: ClassVar[bool] = False

    def __init_subclass__(cls, told_by: tuple[str, ...] = (), **options: Any):
        """Add the groups of capabilities that the body of a class tells of and that its bases do not list.

        Parameters
        ----------
        told_by : tuple of str, optional
            If given, the class is a group of capabilities. A class whose body defines one of these names has the group,
            unless its value is false.
        """
        super().__init_subclass__(**options)
        if told_by:
            _GROUPS[cls] = told_by
            return
        body = dict(vars(cls))
        # Dataclasses take no defaults from a body without annotations.
        said = {name: "bool" for name in ("ordered", "unique") if isinstance(body.get(name), bool)}
        cls.__annotations__ = {**said, **get_annotations(cls)}
        # Every coordinate is located, so that loops count, and meet coordinates in order and no position beside them.
        counted = cls.full is True and cls.locates == "direct" and cls.iteration == "position"
        if counted:
            cls.iteration = "value"
        missing = [
            g
            for g, names in _GROUPS.items()
            if not issubclass(cls, g) and (not body.keys().isdisjoint(names) or (counted and "coord_bounds" in names))
        ]
        if missing:
            # The groups derive from the base class of all levels, and so take its place.
            bases = cls.__bases__ if LevelFormat in cls.__bases__ else (*cls.__bases__, LevelFormat)
            cls.__bases__ = tuple(b for base in bases for b in (missing if base is LevelFormat else (base,)))

    def capability(self, group: type[_Group]) -> _Group | None:
        """Return the level if it has a group of capabilities, or None.

        Parameters
        ----------
        group : type
            A group, such as ``Locate``.

        Examples
        --------
        >>> from weft.formats import Append, Compressed, Dense, Locate
        >>> Compressed().capability(Append), Dense().capability(Append)
        (Compressed(), None)
        >>> Dense().capability(Locate).locates
        'direct'
        """
        if not isinstance(self, group):
            return None
        for name in _GROUPS[group]:  # a loop, since single elements are looked up in a few microseconds
            if not getattr(self, name):
                return None
        return self

    def require(self, group: type[_Group]) -> _Group:
        """Return the level, which must have a group of capabilities.

        Parameters
        ----------
        group : type
            A group, such as ``Locate``.

        Raises
        ------
        NotImplementedError
            If the level does not have the group.
        """
        capability = self.capability(group)
        if capability is None:
            raise NotImplementedError(f"{self} has no capability {group.__name__}")
        return capability

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

        Such a level can locate every coordinate, and loops over it count.
        """
        return self.full and self.locates == "direct" and self.iteration == "value"

    @property
    def stores(self) -> bool:
        """Return whether the level has arrays that depend on the entries, and not on the shape of the tensor alone."""
        return bool(self.roles)

    @property
    def spans(self) -> bool:
        """Return whether each parent has all coordinates of the dimension, or all that lie inside the tensor."""
        return self.has_every

    @property
    def gapless(self) -> bool:
        """Return whether every position that is iterated holds an entry."""
        return True

    @property
    def iterates_positions(self) -> bool:
        """Return whether the level is iterated by coordinate position."""
        return self.walks and self.iteration == "position"

    @property
    def iterates_values(self) -> bool:
        """Return whether the level is iterated by coordinate value."""
        return self.walks and self.iteration == "value"

    @property
    def inserts(self) -> bool:
        """Return whether values can be put at located positions of a result (2018, section 3.2)."""
        return self.placing == "get" and self.locates == "direct"

    @property
    def pads(self) -> bool:
        """Return whether iterating visits positions at which no entry was stored."""
        # Iteration by position visits padding, unless the level marks it.
        return not self.compact and self.gapless

    @property
    def picks(self) -> bool:
        """Return whether the level locates a single coordinate in less time than iterating all of them takes."""
        found = self.locates == "probe" or (self.locates == "search" and self.ordered)
        return self.has_every or (found and self.walks and self.unique and not self.branchless)

    @property
    def merges(self) -> bool:
        """Return whether the level can be iterated together with others, by increasing coordinate."""
        return self.has_every or (self.walks and self.ordered and self.gapless and self.iteration == "position")

    # -- sizes and storage ---------------------------------------------------------------------------------------
    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        """Return the number of positions, given that of the parent level: ``get_size(sz_{k-1}) -> sz_k``."""
        raise NotImplementedError(f"{self} does not size itself")

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        """Return the lengths of the level's arrays, given the sizes of the parent level and of this level."""
        return ()

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        """Return the number of positions of the level, from its stored arrays."""
        raise NotImplementedError

    def current(self, parent_size: int, arrays: Arrays) -> Arrays:
        """Return the arrays by role; those that an earlier version stored in another form are made anew."""
        return arrays

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
