"""Lowering of attribute queries: updates of answers, marks of visited coordinates, and histograms (2020, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir import nodes as ir
from ..ir.builder import add, block, cast, gt, if_, increment, lit, mul, ne, sub
from ..queries import Map, Statement, Width
from ..remapping.emit_ir import emit
from ..remapping.inverse import limits
from ..remapping.nodes import IndexExpr


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
    ends = [[emit(end, {}, dimensions) for end in limits(e)] for e in over]
    return tuple((low, sub(high, low)) for low, high in ends)


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
