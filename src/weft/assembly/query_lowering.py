"""Attribute queries of levels, lowered (2020 paper, section 5.2).

What a level asks is brought to canonical form and optimised by the transformations of Table 1. What is left says how
it is answered in the loops over the source: entry by entry, from the widths of segments, by marking what has been seen
(a temporary of booleans), or from a histogram.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from ..formats import Format
from ..ir import nodes as ir
from ..ir.builder import add, block, cast, gt, if_, increment, lit, mul, ne, sub
from ..queries import Aggregate, Map, Query, Statement, Width
from ..queries.canonical import canonical
from ..queries.table1_rewrites import SourceFacts, optimize
from ..records import record
from ..remapping.emit_ir import emit
from ..remapping.inverse import limits
from ..remapping.nodes import Axis, IndexExpr, substitute

__all__ = [
    "How",
    "LevelQuery",
    "answer",
    "answers",
    "from_histogram",
    "level_queries",
    "mark",
    "place_of",
    "size_of",
    "source_facts",
]

How = Literal["sum", "max", "same"]
"""How the answers of several threads are put together; whoever writes what is the same writes the same."""

_HOW: Mapping[str, How] = {"count": "sum", "id": "same", "max": "max", "min": "max"}


@record
class LevelQuery:
    """One aggregate of a level's queries.

    Parameters
    ----------
    label : str
        The array for the answers.
    place : {'root', 'parent', 'own'}
        What the answers are ordered by: nothing, the positions of the parent, or this level's coordinates.
    statement : Statement
        How it is computed, over the axes of the tensor.
    """

    label: str
    place: Literal["root", "parent", "own"]
    statement: Statement

    @property
    def is_distinct(self) -> bool:
        """Whether coordinates that come up several times count once."""
        made = self.statement.where
        return made is not None and made.op == "|"

    @property
    def is_histogram(self) -> bool:
        """Whether the answer is the largest of what counts entries by their coordinates."""
        made = self.statement.where
        return made is not None and made.op == "+"


@lru_cache(maxsize=1024)
def answers(format: Format, level: int) -> Mapping[str, How]:
    """The arrays that a level's queries are answered in."""
    queries = format.levels[level].queries(level, len(format.levels) - 1)
    return {a.label: _HOW[a.op] for query in queries for a in query.aggregates}


@lru_cache(maxsize=1024)
def level_queries(format: Format, level: int, source: SourceFacts, histograms: bool = True) -> tuple[LevelQuery, ...]:
    """What a level asks, over the axes of the tensor that is converted."""
    coordinates = dict(enumerate(format.remapping.coordinates))
    found = []
    for query in format.levels[level].queries(level, len(format.levels) - 1):
        over = tuple(substitute(e, coordinates) for e in query.over)
        for a in query.aggregates:
            moved = Aggregate(a.op, tuple(substitute(e, coordinates) for e in a.args), a.label)
            stmt = canonical(Query(over, (moved,)), moved, format.order)
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
    """What the passes may know of how a tensor is stored."""
    if format.is_structured or not format.levels:
        return SourceFacts()
    last = format.levels[-1]
    tells = last.iteration == "position" and last.unique and last.gapless and not last.branchless
    return SourceFacts(format.mode_order[-1] if tells else None, only_nonzeros=format.is_compact and format.is_unique)


def answer(stmt: Statement, element: ir.Load, value: Callable[[IndexExpr], ir.Expr]) -> ir.Stmt:
    """Heed one entry, or one segment where a statement asks for widths; ``value`` gives an index expression's IR."""
    assert isinstance(stmt.value, Map | Width)
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
    """``then``, where ``place`` is not marked by ``sign`` yet."""
    element = ir.Load(marks, place)
    return if_(ne(cast(element, "int64"), sign), block(_store(element, sign), then))


def extents(over: Sequence[IndexExpr], dimensions: Sequence[ir.Expr]) -> tuple[tuple[ir.Expr, ir.Expr], ...]:
    """The lowest value of some expressions, and how many they have."""
    found = []
    for e in over:
        low, high = (emit(end, {}, dimensions) for end in limits(e))
        found.append((low, sub(high, low)))
    return tuple(found)


def place_of(
    over: Sequence[IndexExpr], dimensions: Sequence[ir.Expr], value: Callable[[IndexExpr], ir.Expr]
) -> ir.Expr:
    """Where coordinates stand in a row-major array over all that there are."""
    place: ir.Expr = lit(0)
    for e, (low, n) in zip(over, extents(over, dimensions), strict=True):
        place = add(mul(place, n), sub(value(e), low))
    return place


def size_of(over: Sequence[IndexExpr], dimensions: Sequence[ir.Expr]) -> ir.Expr:
    """How many combinations of coordinates there are."""
    size: ir.Expr = lit(1)
    for _, n in extents(over, dimensions):
        size = mul(size, n)
    return size


def from_histogram(stmt: Statement, answers: ir.Var, counts: ir.Var, dimensions: Sequence[ir.Expr]) -> ir.Stmt:
    """The largest of the counts, for each of what the statement is over; these come first among what is counted for."""
    assert stmt.where is not None
    over = stmt.target.indices
    q, r, inner = ir.Var("q"), ir.Var("r"), size_of(stmt.where.target.indices[len(over) :], dimensions)
    here, element = cast(ir.Load(counts, add(mul(q, inner), r)), "int64"), ir.Load(answers, q)
    larger = if_(gt(here, cast(element, "int64")), _store(element, here))
    loop = ir.For(r, lit(0), inner, larger)
    return ir.For(q, lit(0), size_of(over, dimensions), loop)
