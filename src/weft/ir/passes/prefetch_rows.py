"""Prefetch rows: rows of arrays at the places that a list of coordinates names, prefetched some entries ahead.

MTTKRP and SDDMM read rows of their factors so. Rows that lie together or in a cache need no prefetch, and rows of less
than two cache lines gain none for sure: at four float64 they took from 0.6 to 1.5 of the time.
"""

from __future__ import annotations

from collections.abc import Set

from .. import nodes as ir
from ..builder import add, lit, mul, sub
from ..traversal import assigned_names, declared_names, statements, used_names
from ..types import size_of
from .adjacent_ranges import put
from .prefetch_gathers import Leaps, elements, expanded, has_fixed_bounds, kept, nests, reached

BY = 8
"""Entries between the prefetch of the row that a coordinate names and its use."""


def row_leaps(loop: ir.For, until: ir.Var, assigned: Set[str]) -> Leaps | None:
    """Return the prefetches of the rows whose coordinates a loop reads in order, or None without any."""
    hidden = {*declared_names(loop.body), *assigned}
    rows = _row_loops(loop, hidden)
    if not rows or not has_fixed_bounds(loop):
        return None
    lists: dict[tuple[ir.Expr, ir.Expr], None] = {}
    asks: dict[ir.Stmt, None] = {}
    values = kept(loop.body, assigned)
    written = {array for array, _, write in elements(loop.body) if write}
    for inner in rows:
        for array, index, _ in elements(inner.body):
            match expanded(index, values):
                case ir.Binary(op="+", a=row, b=inner.var) if array not in written and not used_names(array) & hidden:
                    if (found := reached(array, row, loop, hidden)) is None:
                        continue
                    lists[found] = None
                    first = put(add(row, inner.start), loop.var, add(loop.var, lit(BY)))
                    size = mul(sub(inner.stop, inner.start), lit(size_of(array.ty[:-1])))
                    asks[ir.Evaluate(ir.Call("weft_prefetch_row", (add(array, first), size), "int64"))] = None
    return Leaps(until, tuple(lists), tuple(asks), by=BY, rows=True) if asks else None


def reads_rows(body: ir.Stmt) -> bool:
    """Return whether there may be such rows in the loops of a function."""
    assigned = assigned_names(body)
    loops = [n for n in statements(body) if isinstance(n, ir.For | ir.While) and nests(n)]
    return any(_row_loops(n, {*declared_names(n.body), *assigned}) for n in loops)


def _row_loops(loop: ir.For | ir.While, hidden: Set[str]) -> list[ir.For]:
    """Return the innermost loops inside a loop that run over the same range in each of its iterations."""
    # Loops over strips of rows, which registers hold, are unrolled: these gain nothing.
    inner = [n for n in statements(loop.body) if isinstance(n, ir.For) and not (n.unroll or n.step or nests(n))]
    changing = {*hidden, loop.var.name} if isinstance(loop, ir.For) else hidden
    return [n for n in inner if not (used_names(n.start) | used_names(n.stop)) & changing]
