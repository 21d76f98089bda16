"""Attribute queries of levels, over the axes of the tensor and optimized for its storage (2020 paper, section 5.2).

A query of a level is brought to canonical form and optimized by the transformations of Table 1. The resulting statement
decides how loops over the source answer the query: entry by entry, from the widths of segments, by marking coordinates
that have been visited (a temporary of booleans), or from a histogram.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from ..formats import Format
from ..formats.capabilities import Insertion
from ..queries import Aggregate, Map, Query, Statement, Width
from ..queries.canonical import canonical
from ..queries.table1_rewrites import SourceFacts, optimize
from ..records import record
from ..remapping.nodes import Axis, Binary, Constant, Counter, IndexExpr, axes_of, counters_of, substitute

How = Literal["sum", "max", "same"]
"""Way to combine the answers of threads: by sums, by maxima, or not at all, since all threads store the same value."""

_HOW: Mapping[str, How] = {"count": "sum", "id": "same", "max": "max", "min": "max"}


@record
class LevelQuery:
    """One aggregate of the queries of a level."""

    label: str  # the role of the array for the answers
    # The index of the array: always 0, the position of the parent, or the coordinate of this level.
    place: Literal["root", "parent", "own"]
    statement: Statement  # the computation, over the axes of the tensor

    @property
    def is_distinct(self) -> bool:
        """True if coordinates that occur several times are counted once."""
        temporary = self.statement.where
        return temporary is not None and temporary.op == "|"

    @property
    def needs(self) -> tuple[IndexExpr, ...]:
        """The index expressions that an answer for one value depends on."""
        s = self.statement
        value = (s.value.value,) if isinstance(s.value, Map) else ()
        return (*s.target.indices, *value, *(() if s.where is None else s.where.target.indices))

    @property
    def is_histogram(self) -> bool:
        """True if the answer is the largest count of a histogram of coordinates."""
        temporary = self.statement.where
        return temporary is not None and temporary.op == "+"


def answers(format: Format, level: int) -> Mapping[str, How]:
    """Return the arrays of answers of a level, each with the way to combine the answers of threads."""
    return {a.label: _HOW[a.op] for query in _asked_by(format, level) for a in query.aggregates}


def _asked_by(format: Format, level: int) -> tuple[Query, ...]:
    return format.levels[level].require(Insertion).queries(level, len(format.levels) - 1)


@lru_cache(maxsize=1024)
def queries_over_axes(format: Format, level: int) -> tuple[Query, ...]:
    """Return the attribute queries of a level, over the axes of the converted tensor.

    Examples
    --------
    >>> from weft.formats import parse_format
    >>> [str(query) for query in queries_over_axes(parse_format("csc", 2), 1)]
    ['select [j] -> count(i) as pos']
    """
    # Queries name coordinates of levels; the remapping expresses them by axes.
    coordinates = dict(enumerate(format.remapping.coordinates))

    def over_axes(exprs: tuple[IndexExpr, ...]) -> tuple[IndexExpr, ...]:
        return tuple(substitute(e, coordinates) for e in exprs)

    return tuple(
        Query(over_axes(query.over), tuple(Aggregate(a.op, over_axes(a.args), a.label) for a in query.aggregates))
        for query in _asked_by(format, level)
    )


@lru_cache(maxsize=1024)
def level_queries(format: Format, level: int, source: SourceFacts, histograms: bool = True) -> tuple[LevelQuery, ...]:
    """Return the queries of a level as optimized statements over the axes of the converted tensor."""
    queries = []
    for query, over_axes in zip(_asked_by(format, level), queries_over_axes(format, level), strict=True):
        for a in over_axes.aggregates:
            stmt, place = canonical(Query(over_axes.over, (a,)), a, format.order), _place(query, level)
            one = LevelQuery(a.label, place, optimize(stmt, source, histograms))
            if one.is_histogram and place != "root":  # a histogram has no positions of parents
                one = LevelQuery(a.label, place, optimize(stmt, source, histograms=False))
            queries.append(one)
    return tuple(queries)


def _place(query: Query, level: int) -> Literal["root", "parent", "own"]:
    if query.over == ():
        return "root"
    if query.over == (Axis(level),):
        return "own"
    if query.over == tuple(map(Axis, range(level))):
        return "parent"
    raise NotImplementedError(f"a level asks over its ancestors or itself, not {query}")


Answered = Literal["width", "once", "first", "last", "histogram"]
"""How a segment answers a query: by its width, by any of its entries, by its first or last one, or in a histogram."""


def answered_by_segment(query: LevelQuery, inner: int, ordered: bool, over: frozenset[int]) -> Answered | None:
    """Return how all entries of a segment over the axis ``inner`` answer a query at once; None if they do not.

    There is one segment for each combination of coordinates of the axes ``over``.
    """
    s = query.statement
    if isinstance(s.value, Width):
        return "width"
    if not isinstance(s.value, Map) or query.is_histogram:
        return None
    depends = [axes for e in query.needs if inner in (axes := axes_of(e)) or counters_of(e)]
    if not depends:
        return "once" if query.is_distinct or s.op in ("max", None) else None
    value, target = s.value.value, s.target.indices
    if query.is_distinct or any(inner in axes_of(e) and not isinstance(e, Counter) for e in target):
        return None
    match target:
        # Of each combination with n entries, one entry has each number below n.
        case (Counter(over=counted),) if s.op == "+" and query.place == "parent" and value == Constant(1):
            whole = frozenset(axis for e in counted for axis in axes_of(e)) == over
            return "histogram" if whole and all(isinstance(e, Axis) for e in counted) else None
    if s.op != "max" or not ordered or any(counters_of(e) for e in (value, *target)):
        return None
    sign = _slope(value, inner)
    return None if sign is None else "last" if sign > 0 else "first"


def _slope(e: IndexExpr, axis: int) -> int | None:
    """Return 1 if an expression is an axis plus what does not depend on it, -1 if it is minus the axis, else None."""
    sign = 1
    while isinstance(e, Binary) and e.op in ("+", "-"):
        falls = e.op == "-" and axis in axes_of(e.right)
        below = [part for part in (e.left, e.right) if axis in axes_of(part)]
        if len(below) != 1:
            return None
        (e,), sign = below, -sign if falls else sign
    return sign if e == Axis(axis) else None


def source_facts(format: Format) -> SourceFacts:
    """Return the facts about the storage of a tensor that the transformations of Table 1 may use."""
    if format.is_structured or not format.levels:
        return SourceFacts()
    # A segment of such a level has as many entries as positions.
    last = format.levels[-1]
    counts = last.iteration == "position" and last.unique and last.gapless and not last.branchless
    return SourceFacts(format.mode_order[-1] if counts else None, only_nonzeros=format.is_compact and format.is_unique)
