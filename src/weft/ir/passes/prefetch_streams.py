"""Prefetch streams: lists that loops read from one end to the other, prefetched some entries ahead.

Processors detect by themselves that memory is read in order. But the detection begins anew with each page. Short rows
have branches and other streams, which delay it. Loops over short rows are up to half faster with explicit prefetches.
Loops over lists whose entries scatter gain as well. Long rows need no prefetch, and partial prefetches slow them down.
Prefetches slow down loops inside as well, since compilers then vectorize these in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import TypeVar

from ...records import record, replace
from .. import nodes as ir
from ..builder import add, block, eq, if_, lit, lt, mul, sub
from ..traversal import (
    Node,
    assigned_names,
    declared_names,
    fresh_variables,
    rewrite,
    statements,
    used_names,
    walk,
    with_body,
)
from ..types import size_of
from .adjacent_ranges import adjoin, put
from .prefetch_gathers import Leaps, ask, computed_leaps, elements, expanded, kept, leaps, nests
from .prefetch_rows import reads_rows, row_leaps

AHEAD = 256
"""Entries of a list between the prefetch of an entry and its use."""
FEW = 12
"""Average number of entries in a row from which its list is not prefetched."""
ROWS = 64
"""Rows between the prefetch of the entries of a row and their use, if the rows lie across adjacent lists."""
LINE_ROWS = 8
"""Rows between two prefetches of such entries before loops over strips."""
STRETCH = 16
"""Entries of a list that are prefetched together."""
_LINE = 64  # bytes of a cache line


_Loop = TypeVar("_Loop", bound=ir.For | ir.While)


@record
class _Rows:
    """Adjoining rows from ``begin`` up to ``end``, which have the entries from ``first`` up to ``last``.

    ``asks`` are the prefetch instructions of one row, ``distance`` entries ahead. ``leaps`` are the prefetch gathers of
    the coordinates of the entries, or None.
    """

    distance: ir.Var
    asks: tuple[ir.Stmt, ...]
    begin: ir.Expr
    end: ir.Expr
    first: ir.Expr
    last: ir.Expr
    leaps: Leaps | None

    def around(self, loop: ir.For, values: Mapping[str, ir.Expr]) -> _Rows | None:
        """Return the rows of all iterations of a loop around these rows, or None if the rows do not adjoin."""
        begin, end, first = (expanded(e, values) for e in (self.begin, self.end, self.first))
        sizes = self.leaps.names if self.leaps else set()
        hidden = {*declared_names(loop.body)} & (used_names(begin) | used_names(first) | sizes)
        if hidden or loop.var.name in sizes or not adjoin(begin, end, loop.var, _after(loop)):
            return None
        low, high, lowest, highest = (put(e, loop.var, at) for e in (begin, first) for at in (loop.start, loop.stop))
        return replace(self, begin=low, end=high, first=lowest, last=highest)

    def declared(self, values: Mapping[str, ir.Expr]) -> ir.Stmt:
        """Return the declarations that must precede the loop over the rows, behind those of ``values``."""
        declarations = [self.leaps.declared(self.first, self.last)] if self.leaps else []
        if self.asks:
            few = lt(sub(self.last, self.first), mul(lit(FEW), sub(self.end, self.begin)))
            declarations.append(ir.Declare(self.distance, ir.Select(few, lit(AHEAD), lit(0))))
        # The larger of two bounds may lie behind the end of the loop, and then outside the rows.
        if any(isinstance(n, ir.Select) for e in (self.begin, self.end) for n in walk(expanded(e, values))):
            some = lt(self.begin, self.end)
            declarations = [ir.Declare(d.var, ir.Select(some, d.value, lit(0))) for d in declarations if d.value]
        return block(*declarations)


def prefetch_memory(function: ir.Function) -> ir.Function:
    """Return the function with prefetches of the memory that loops read; its results do not change.

    The example is a loop over rows. The row is prefetched 256 entries ahead if the average row has fewer than 12.

    Examples
    --------
    >>> from weft.ir.printer import function_text
    >>> from weft.ir.nodes import Update
    >>> n, i, p, y = ir.Var("n"), ir.Var("i"), ir.Var("p"), ir.Var("y", "float64*")
    >>> pos, vals = ir.Var("pos", "int64*"), ir.Var("vals", "float64*")
    >>> row = ir.For(p, ir.Load(pos, i), ir.Load(pos, add(i, lit(1))), ir.Update("+", ir.Load(y, i), ir.Load(vals, p)))
    >>> print(function_text(prefetch_memory(ir.Function("g", (), ir.For(i, lit(0), n, row)))), end="")
    function g()
      p_prefetch_ahead: int64 = 256 if pos[n] - pos[0] < 12 * n else 0
      for i in 0 .. n:
        weft_prefetch_read(vals + (pos[i] + p_prefetch_ahead))
        for p in pos[i] .. pos[i + 1]:
          y[i] += vals[p]
    """
    body, _ = _Reader(function).read(function.body, None, {})
    return with_body(function, body)


def prefetch_rows(function: ir.Function) -> ir.Function:
    """Return the function with prefetches of rows that its loops read where coordinates lead; results do not change."""
    if not reads_rows(function.body):
        return function
    body, _ = _Reader(function, row_leaps).read(function.body, None, {})
    return with_body(function, body)


class _Reader:
    def __init__(self, function: ir.Function, find: Callable[..., Leaps | None] = leaps):
        self.leaps = find
        self.streams = find is leaps  # loops around others have no streams
        self.assigned = assigned_names(function.body)
        self.fresh = fresh_variables(function.body)

    def read(
        self, stmt: ir.Stmt, loop: ir.For | None, above: Mapping[str, ir.Expr], alone: bool = True
    ) -> tuple[ir.Stmt, list[_Rows]]:
        """Return a statement with prefetches, and the rows whose declarations must precede ``loop``."""
        values = dict(above)
        rewritten: list[ir.Stmt] = []
        rows_here: list[_Rows] = []
        stmts = stmt.stmts if isinstance(stmt, ir.Block) else (stmt,)
        for s in stmts:
            match s:
                case ir.If(cond=cond, then=then, orelse=orelse):
                    then, rows_then = self.read(then, loop, values, alone)
                    other, more = (None, []) if orelse is None else self.read(orelse, loop, values, alone)
                    rows_here += [*rows_then, *more]
                    same = then is s.then and other is orelse
                    rewritten.append(s if same else ir.If(cond, then, other))
                case ir.Parallel(loop=chunks):  # declarations stay inside, so that each chunk has its own
                    body, _ = self.read(chunks.body, None, {}, alone)
                    rewritten.append(s if body is chunks.body else replace(s, loop=replace(chunks, body=body)))
                case ir.While(body=body) if self.streams or (walk := _segments(s, rewritten)) is None:
                    body, _ = self.read(body, None, {}, alone=False)
                    rewritten.append(_around(s, body))
                case ir.For(body=body) | ir.While(body=body):
                    if isinstance(s, ir.For):
                        walk = s
                    assert walk is not None
                    body, inside = self.read(body, walk, {}, alone=False)
                    # Declarations move out of as many loops as possible, as long as the rows of these adjoin.
                    for inner in inside:
                        wider = None if loop is None else inner.around(loop, values)
                        rewritten.append(inner.declared(values)) if wider is None else rows_here.append(wider)
                    inner_loop = _around(s, body, *self.across(walk, loop, values), *self.beyond(walk))
                    if (rows := self.rows(walk, loop, values)) is not None:
                        rows_here.append(rows)
                        rewritten += [
                            *rows.asks,
                            rows.leaps.taken(inner_loop, over_list=False) if rows.leaps else inner_loop,
                        ]
                    else:
                        rewritten.append(self.listed(walk, inner_loop) if alone else inner_loop)
                case _:
                    rewritten.append(s)
            # The statements that follow see the value of this declaration.
            if isinstance(s, ir.Declare) and s.value is not None and s.var.name not in self.assigned:
                values[s.var.name] = s.value
        # Most statements stay as they are. A block stays the same object only if no other is directly in it.
        same = len(rewritten) == len(stmts) and all(a is b for a, b in zip(rewritten, stmts, strict=True))
        flat = len(stmts) != 1 and not any(isinstance(s, ir.Block) for s in stmts)
        return stmt if same and (flat or stmt is stmts[0]) else block(*rewritten), rows_here

    def rows(self, s: ir.For, loop: ir.For | None, values: Mapping[str, ir.Expr]) -> _Rows | None:
        """Return the rows of ``loop`` of which ``s`` is one, or None if they do not adjoin or ``s`` is not plain."""
        if loop is None or loop.unroll or not _is_plain(s) or (self.streams and nests(s)):
            return None
        first, last = expanded(s.start, values), expanded(s.stop, values)
        # The bounds are evaluated before the loop, so that they must not use a variable of its body.
        within = {*declared_names(loop.body), *self.assigned} - {loop.var.name}
        if used_names(first) & within or not adjoin(first, last, loop.var, _after(loop)):
            return None
        distance = self.fresh(f"{s.var.name}_prefetch_ahead", "int64")
        asks = tuple(ask(array, add(s.start, distance)) for array in _along(s) if self.streams)
        # Gathers with an element size that is not known before the loop are left out.
        gathers = self.leaps(s, self.fresh(f"{s.var.name}_prefetch_until", "int64"), self.assigned)
        if gathers is not None and gathers.names & {loop.var.name, *within}:
            gathers = None
        if gathers is None and not self.streams:
            return None
        lowest, highest = (put(first, loop.var, at) for at in (loop.start, loop.stop))
        return _Rows(distance, asks, loop.start, loop.stop, lowest, highest, gathers)

    def across(self, s: ir.For, loop: ir.For | None, values: Mapping[str, ir.Expr]) -> list[ir.Stmt]:
        """Return the prefetches of ``s`` if each iteration of ``loop`` reads one entry of many adjacent lists.

        Such lists have an index that is the sum of the begin of a list, which depends on ``s.var``, and ``loop.var``.
        """
        if not self.streams or loop is None or loop.unroll or not _is_plain(s) or nests(s):
            return []
        return list(self.adjacent(s, loop, values))

    def beyond(self, loop: ir.For) -> list[ir.Stmt]:
        """Return the prefetches of such lists before loops that each read all of them, as loops over strips do."""
        if not self.streams or loop.unroll or not _is_plain(loop):
            return []
        strips = [n for n in statements(loop.body) if isinstance(n, ir.For) and nests(n)]
        if not strips:
            return []
        asks: dict[Node, None] = {}
        changing = {*declared_names(loop.body), *self.assigned, loop.var.name}
        inside = [n for one in strips for n in statements(one.body) if isinstance(n, ir.For) and _is_plain(n)]
        for n in dict.fromkeys(inside):
            if (used_names(n.start) | used_names(n.stop)) & changing:
                continue
            # The loops over strips of several widths read the same lists.
            if some := self.adjacent(n, loop, {}):
                at = {n.var: ir.Var(f"{strips[0].var.name}_ahead")}
                asks[rewrite(ir.For(n.var, n.start, n.stop, block(*some)), at.get)] = None  # type: ignore[arg-type]
        # A line of each list lasts for several iterations.
        return [if_(eq(ir.Binary("&", loop.var, lit(LINE_ROWS - 1)), lit(0)), block(*asks))] if asks else []  # type: ignore[arg-type]

    def adjacent(self, s: ir.For, loop: ir.For, values: Mapping[str, ir.Expr]) -> dict[ir.Stmt, None]:
        """Return the prefetches of adjacent lists in a loop over these."""
        inside = {**values, **kept(s.body, self.assigned)}
        used = [(array, expanded(index, inside)) for array, index, _ in elements(s.body)]
        if not any(_reads(place) for _, place in used):
            return {}  # loops over plain arrays, which compilers optimize best
        hidden = ({*declared_names(loop.body), *self.assigned} - {s.var.name}) | {loop.var.name}
        asks: dict[ir.Stmt, None] = {}
        for array, place in used:
            match place:
                case ir.Binary(op="+", a=first, b=along) if along == loop.var and not _reads(first):
                    of = used_names(first)
                    if s.var.name in of and not hidden & of:
                        asks[ask(array, add(first, add(loop.var, lit(ROWS))))] = None
        return asks

    def listed(self, s: ir.For, rewritten: ir.For | ir.While) -> ir.Stmt:
        """Return ``rewritten``, a loop over a whole list, with prefetch gathers, and streams if its entries scatter.

        ``s`` is the loop before its body was rewritten.
        """
        if not _is_plain(s):
            return rewritten
        until = self.fresh(f"{s.var.name}_prefetch_until", "int64")
        gathers = self.leaps(s, until, self.assigned)
        asks: list[ir.Stmt] = []
        arrays = _along(s)
        if self.streams and len(arrays) > 1 and _scatters(s) and not nests(s):
            asks = [a for array in arrays for a in _stretch(array, add(s.var, lit(AHEAD)))]
        # One test for each stretch costs less than a prefetch in each iteration.
        begins = ir.Binary("==", ir.Binary("&", s.var, lit(STRETCH - 1)), lit(0))
        stretch = if_(begins, block(*asks)) if asks else block()
        # Loops that compute where they write gain from streams only if that is scattered.
        if gathers is None and asks and (gathers := computed_leaps(s, until, self.assigned)) is not None:
            gathers, stretch = replace(gathers, asks=(stretch, *gathers.asks)), block()
        if gathers is None:
            return _around(rewritten, rewritten.body, *([stretch] if asks else []))
        return block(gathers.declared(s.start, s.stop), gathers.taken(rewritten, over_list=True, before=stretch))


def _segments(loop: ir.While, before: Sequence[ir.Stmt]) -> ir.For | None:
    """Return a loop that walks a list by segments as one whose step is the length of a segment; None for others."""
    match loop:
        case ir.While(cond=ir.Binary("<", position, end), body=ir.Block(stmts=(*others, ir.Set(var, after)))) if (
            var == position and nests(loop) and isinstance(after, ir.Var)
        ):
            declared = takewhile(lambda n: isinstance(n, ir.Declare), reversed(before))
            starts = [n.value for n in declared if n.var == var and n.value is not None]  # type: ignore[attr-defined]
            if starts and var.name not in assigned_names(block(*others)):
                return ir.For(var, starts[0], end, loop.body, step=sub(after, var))
    return None


def _around(loop: _Loop, body: ir.Stmt, *before: ir.Stmt) -> _Loop:
    """Return a loop with another body behind other statements, or ``loop`` itself if the body is its own."""
    return loop if body is loop.body and not before else replace(loop, body=block(*before, body))


def _after(loop: ir.For) -> ir.Expr:
    """Return the value of the variable of a loop in its next iteration."""
    match loop.step:
        case ir.Binary("-", after, loop.var):
            return after
    return add(loop.var, loop.step or lit(1))


def _stretch(array: ir.Expr, place: ir.Expr) -> list[ir.Stmt]:
    """Return the prefetch instructions for the cache lines of the stretch that begins at ``place``."""
    step = max(_LINE // size_of(array.ty[:-1]), 1)
    return [ask(array, add(place, lit(k))) for k in range(0, STRETCH, step)]


def _is_plain(loop: ir.For) -> bool:
    """Return whether a loop is neither to be vectorized nor to be unrolled."""
    return loop.simd is None and not loop.unroll


def _reads(expr: ir.Expr) -> bool:
    return any(isinstance(n, ir.Load) for n in walk(expr))


def _along(loop: ir.For) -> list[ir.Expr]:
    """Return the arrays of which a loop reads one element after the other."""
    return list(dict.fromkeys(n.array for n in walk(loop) if type(n) is ir.Load and n.index == loop.var))


def _scatters(loop: ir.For) -> bool:
    """Return whether a loop writes to an index that depends on an element that it reads."""
    values = kept(loop.body, set())
    places = [expanded(index, values) for _, index, write in elements(loop.body) if write]
    return any(_reads(place) for place in places)
