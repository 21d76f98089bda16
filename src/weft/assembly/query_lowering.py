"""Lowering of attribute queries of levels (2020 paper, section 5.2).

A query of a level is brought to canonical form and optimized by the transformations of Table 1. The resulting statement
decides how loops over the source answer the query: entry by entry, from the widths of segments, by marking coordinates
that have been visited (a temporary of booleans), or from a histogram.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from ..formats import Format
from ..formats.capabilities import Insertion
from ..ir import nodes as ir
from ..ir.builder import add, block, cast, gt, if_, increment, lit, mul, ne, sub
from ..queries import Aggregate, Map, Query, Statement, Width
from ..queries.canonical import canonical
from ..queries.table1_rewrites import SourceFacts, optimize
from ..records import record
from ..remapping.emit_ir import emit
from ..remapping.inverse import limits
from ..remapping.nodes import Axis, IndexExpr, substitute

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
        made = self.statement.where
        return made is not None and made.op == "|"

    @property
    def needs(self) -> tuple[IndexExpr, ...]:
        """The index expressions that an answer for one value depends on."""
        s = self.statement
        value = (s.value.value,) if isinstance(s.value, Map) else ()
        return (*s.target.indices, *value, *(() if s.where is None else s.where.target.indices))

    @property
    def is_histogram(self) -> bool:
        """True if the answer is the largest count of a histogram of coordinates."""
        made = self.statement.where
        return made is not None and made.op == "+"


@lru_cache(maxsize=1024)
def answers(format: Format, level: int) -> Mapping[str, How]:
    """Return the arrays of answers of a level, each with the way to combine the answers of threads."""
    queries = format.levels[level].require(Insertion).queries(level, len(format.levels) - 1)
    return {a.label: _HOW[a.op] for query in queries for a in query.aggregates}


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

    def moved(exprs: tuple[IndexExpr, ...]) -> tuple[IndexExpr, ...]:
        return tuple(substitute(e, coordinates) for e in exprs)

    return tuple(
        Query(moved(query.over), tuple(Aggregate(a.op, moved(a.args), a.label) for a in query.aggregates))
        for query in format.levels[level].require(Insertion).queries(level, len(format.levels) - 1)
    )


@lru_cache(maxsize=1024)
def level_queries(format: Format, level: int, source: SourceFacts, histograms: bool = True) -> tuple[LevelQuery, ...]:
    """Return the queries of a level as optimized statements over the axes of the converted tensor."""
    asked = format.levels[level].require(Insertion).queries(level, len(format.levels) - 1)
    found = []
    for query, moved in zip(asked, queries_over_axes(format, level), strict=True):
        for a in moved.aggregates:
            stmt = canonical(Query(moved.over, (a,)), a, format.order)
            found.append(LevelQuery(a.label, _place(query, level), optimize(stmt, source, histograms)))
    return tuple(found)


def _place(query: Query, level: int) -> Literal["root", "parent", "own"]:
    if query.over == ():
        return "root"
    if query.over == (Axis(level),):
        return "own"
    if query.over == tuple(map(Axis, range(level))):
        return "parent"
    raise NotImplementedError(f"a level asks over its ancestors or itself, not {query}")


def source_facts(format: Format) -> SourceFacts:
    """Return the facts about the storage of a tensor that the transformations of Table 1 may use."""
    if format.is_structured or not format.levels:
        return SourceFacts()
    # A segment of such a level has as many entries as positions.
    last = format.levels[-1]
    tells = last.iteration == "position" and last.unique and last.gapless and not last.branchless
    return SourceFacts(format.mode_order[-1] if tells else None, only_nonzeros=format.is_compact and format.is_unique)


def answer(stmt: Statement, element: ir.Load, value: Callable[[IndexExpr], ir.Expr]) -> ir.Stmt:
    """Return the update of ``element`` for one entry, or for one segment if the statement asks for widths."""
    assert isinstance(stmt.value, Map | Width)
    # ``value`` returns the mapped value of an entry, or the width of a segment.
    new = value(stmt.value.value) if isinstance(stmt.value, Map) else value(stmt.value.times)
    match stmt.op:
        case "+" if new == lit(1):
            return increment(element)
        case "+":
            return increment(element, new)
        case "max":
            return if_(gt(new, cast(element, "int64")), _store(element, new))
    return _store(element, new)


def _store(element: ir.Load, value: ir.Expr) -> ir.Stmt:
    return ir.Store(element.array, element.index, cast(value, element.array.ty[:-1]))


def mark(marks: ir.Var, place: ir.Expr, sign: ir.Expr, then: ir.Stmt) -> ir.Stmt:
    """Return code that marks ``place`` with ``sign`` and runs ``then``, unless ``place`` has that mark already."""
    element = ir.Load(marks, place)
    return if_(ne(cast(element, "int64"), sign), block(_store(element, sign), then))


def extents(over: Sequence[IndexExpr], dimensions: Sequence[ir.Expr]) -> tuple[tuple[ir.Expr, ir.Expr], ...]:
    """Return the lowest value and the number of values of each expression."""
    found = []
    for e in over:
        low, high = (emit(end, {}, dimensions) for end in limits(e))
        found.append((low, sub(high, low)))
    return tuple(found)


def place_of(
    over: Sequence[IndexExpr], dimensions: Sequence[ir.Expr], value: Callable[[IndexExpr], ir.Expr]
) -> ir.Expr:
    """Return the index of coordinates in a row-major array over all possible coordinates."""
    place: ir.Expr = lit(0)
    for e, (low, n) in zip(over, extents(over, dimensions), strict=True):
        place = add(mul(place, n), sub(value(e), low))
    return place


def size_of(over: Sequence[IndexExpr], dimensions: Sequence[ir.Expr]) -> ir.Expr:
    """Return the number of combinations of coordinates."""
    size: ir.Expr = lit(1)
    for _, n in extents(over, dimensions):
        size = mul(size, n)
    return size


def from_histogram(stmt: Statement, answers: ir.Var, counts: ir.Var, dimensions: Sequence[ir.Expr]) -> ir.Stmt:
    """Return loops that store the largest count of a histogram for each combination of the statement's coordinates."""
    assert stmt.where is not None
    over = stmt.target.indices
    q, r, inner = ir.Var("q"), ir.Var("r"), size_of(stmt.where.target.indices[len(over) :], dimensions)
    # Row-major: the counts for one answer are ``inner`` consecutive elements.
    here, element = cast(ir.Load(counts, add(mul(q, inner), r)), "int64"), ir.Load(answers, q)
    larger = if_(gt(here, cast(element, "int64")), _store(element, here))
    loop = ir.For(r, lit(0), inner, larger)
    return ir.For(q, lit(0), size_of(over, dimensions), loop)
