"""Long rows: rows with a large part of all entries, which threads add up piece by piece.

Which rows these are, and where they are cut, follows from the operand alone, so that a sum has the same bits on any
number of threads. Threads first share the rows between the long ones; then they share the pieces of each long row.
"""

from __future__ import annotations

from functools import partial

from ..concrete_notation.nodes import Assign, Fill, Forall, Positions
from ..concrete_notation.traversal import foralls_of, statements
from ..formats.adjoining import counts_coordinates, first_below, lists_entries
from ..formats.capabilities import PositionIteration
from ..formats.format import level_variables
from ..index_notation.operator_table import OPERATORS
from ..ir import nodes as ir
from ..ir.builder import add, block, gt, if_, increment, le, lit, lt, maximum, minimum, mul, sub
from ..scheduling.long_rows import PARTS
from .bisection import move_forward
from .duplicates import behind_run
from .emitter import Emitter
from .environment import Environment
from .positions import bounds_of, coordinate
from .result_writer import LocatedWriter
from .scalar_expressions import update
from .thread_partials import THREADS

PER_ELEMENT = 32
"""Number of entries in a part for each element of the result, so that filling and joining parts takes little time."""

Edges = tuple[ir.Expr, ir.Expr]


class LongRows:
    """The long rows of the loop that threads share."""

    def __init__(self, emitter: Emitter, writer: LocatedWriter, loop: Forall, positions: Positions):
        self.emitter, self.writer, self.loop, self.positions = emitter, writer, loop, positions
        self.f = f = emitter.state
        self.tensor, driver = f.tensors[positions.access.tensor], f.driver_of(loop)
        assert driver is not None
        self.driver, self.listed = driver, lists_entries(self.tensor)
        self.begin, self.end = bounds_of(f, driver, loop.var, Environment())
        # How many long rows there are, and where each begins and ends, between the edges of the loop.
        self.count = f.name("long_rows")
        self.edges = ir.Var(f.name(f"{self.count.name}_edges").name, "int64*")
        self.between = f.name("range_begin"), f.name("range_end")  # a range between two of them

    def _entries(self, p: ir.Expr) -> ir.Expr:
        """Return the number of entries before an iteration."""
        return sub(*(first_below(self.tensor, self.positions.level, each) for each in (p, self.begin)))

    def _coordinate(self, p: ir.Expr) -> ir.Expr:
        if self.driver.format.iteration != "position":
            return p
        return coordinate(self.f, self.driver, p, Environment())

    def _edge(self, number: ir.Expr) -> ir.Expr:
        return ir.Load(self.edges, number)

    def search(self) -> ir.Stmt:
        """Return the code that looks for long rows: each has one of the entries that are so many apart."""
        name, count = self.f.name, self.count
        total, most, k, first, last = map(name, ("entries", "most", "k", "row_begin", "row_end"))
        before = mul(k, most)
        if self.listed:
            here = self._coordinate(add(self.begin, before))
            row, row_is = name("row"), here
            within = [lambda p: lt(self._coordinate(p), row), lambda p: le(self._coordinate(p), row)]
            until = block(ir.Declare(last, first), move_forward(last, self.end, within[1]))
        else:
            row, row_is = name("before"), before
            within = [lambda p: le(self._entries(add(p, lit(1))), row)]
            until = ir.Declare(last, minimum(add(first, lit(1)), self.end))
        number = mul(lit(2), count)
        keeps = block(
            ir.Store(self.edges, add(number, lit(1)), first),
            ir.Store(self.edges, add(number, lit(2)), last),
            increment(count),
        )
        step = block(
            ir.Declare(row, row_is),
            ir.Declare(first, self._edge(number)),
            move_forward(first, self.end, within[0]),
            until,
            if_(gt(sub(self._entries(last), self._entries(first)), most), keeps),
        )
        steps = ir.Binary("/", add(total, sub(most, lit(1))), most)
        return block(
            ir.Declare(total, self._entries(self.end)),
            ir.Declare(most, maximum(lit(self.positions.share), add(ir.Binary("/", total, lit(PARTS)), lit(1)))),
            ir.Allocate(self.edges, lit(2 * PARTS + 2)),
            ir.Declare(count, lit(0)),
            ir.Store(self.edges, lit(0), self.begin),
            ir.For(k, lit(1), steps, step),
            ir.Store(self.edges, add(number, lit(1)), self.end),
        )

    def range_of(self, chunk: ir.Expr, chunks: ir.Expr) -> tuple[ir.Stmt, ir.Expr, ir.Expr]:
        """Return the declaration of the range of a chunk, the chunk's number in it, and the number of all chunks.

        Each of the ranges between long rows is cut into so many ``chunks``.
        """
        number = mul(lit(2), ir.Binary("/", chunk, chunks))
        places = number, add(number, lit(1))
        declared = block(*[ir.Declare(v, self._edge(at)) for v, at in zip(self.between, places, strict=True)])
        return declared, ir.Binary("%", chunk, chunks), mul(chunks, add(self.count, lit(1)))

    def cut(self) -> ir.Stmt:
        """Return the loop over long rows, each of which threads share by pieces."""
        f, writer, share = self.f, self.writer, lit(self.positions.share)
        row, first, last, count, pieces, base, size = map(
            f.name, ("row", "row_begin", "row_end", "row_entries", "pieces", "row_values", "size")
        )
        piece, q, vals = f.name("piece"), writer.index, writer.vars.vals
        parts = ir.Var(f.name(f"{vals.name}_pieces").name, vals.ty)
        number = add(mul(lit(2), row), lit(1))
        (begin, end), declared = self._segment(first, last)
        start = lit(OPERATORS["add"].start(vals.ty[:-1]), vals.ty[:-1])
        value = ir.Load(vals, add(base, q))
        join = update("add", value, ir.Load(parts, add(mul(piece, size), q)))
        inside = statements(self.loop)
        assigned = any(
            isinstance(s, Fill) or (isinstance(s, Assign) and s.target == writer.access and s.op is None)
            for s in inside
        )
        clear = ir.For(q, lit(0), size, ir.Store(vals, value.index, start)) if assigned else block()
        most = ir.Binary("/", count, mul(lit(PER_ELEMENT), maximum(size, lit(1))))
        each = block(
            ir.Declare(first, self._edge(number)),
            ir.Declare(last, self._edge(add(number, lit(1)))),
            declared,
            ir.Declare(count, sub(self._entries(last), self._entries(first))),
            ir.Declare(pieces, maximum(lit(1), minimum(ir.Binary("/", add(count, sub(share, lit(1))), share), most))),
            ir.Declare(base, mul(self._coordinate(first), size)),
            ir.Allocate(parts, mul(pieces, size)),
            ir.Parallel(
                THREADS,
                block(*f.scratch),
                ir.For(
                    piece,
                    lit(0),
                    pieces,
                    self._piece((piece, pieces), (first, last), (begin, end), count, (parts, size, base), start),
                ),
                block(*f.release),
            ),
            clear,
            ir.For(piece, lit(0), pieces, ir.For(q, lit(0), size, join)),
            ir.Free(parts),
        )
        f.chunked = True
        rows = ir.For(row, lit(0), self.count, each)
        return block(ir.Declare(size, writer.values_below(1)), rows, ir.Free(self.edges))

    def _segment(self, first: ir.Var, last: ir.Var) -> tuple[tuple[ir.Var, ir.Var], ir.Stmt]:
        """Return the bounds of the positions by which a row is cut, and their declarations."""
        if self.listed:
            return (first, last), block()
        level, m = self.tensor.type.format.levels[1], self.tensor.levels[1]
        names = self.f.name("cut_begin"), self.f.name("cut_end")
        bounds = level.require(PositionIteration).pos_bounds(m, first)
        return names, block(*map(ir.Declare, names, bounds))

    def _piece(
        self,
        number: Edges,
        row: tuple[ir.Var, ir.Var],
        segment: tuple[ir.Var, ir.Var],
        count: ir.Expr,
        parts: tuple[ir.Var, ir.Expr, ir.Expr],
        start: ir.Expr,
    ) -> ir.Stmt:
        """Return the code of one piece of a row, which goes into a part of its own."""
        (piece, pieces), (array, size, base), access, q = number, parts, self.positions.access, self.writer.index
        edges = self.f.name("piece_begin"), self.f.name("piece_end")
        cuts = [ir.Var(f"{edge.name}_cut") for edge in edges]
        goals = [ir.Binary("/", mul(count, e), pieces) for e in (piece, add(piece, lit(1)))]
        part = add(array, mul(piece, size))
        env = Environment(limits={(access, 0 if self.listed else 1): edges})
        bounds = edges if self.listed else row
        with self.writer.into(part, base):
            work = self.emitter.forall(self.loop, env, bounds=bounds)
        return block(
            *(self._cut_at(cut, goal, segment, row[0]) for cut, goal in zip(cuts, goals, strict=True)),
            *map(ir.Declare, edges, cuts),
            ir.For(q, lit(0), size, ir.Store(part, q, start)),
            work,
        )

    def _cut_at(self, cut: ir.Var, goal: ir.Expr, segment: tuple[ir.Var, ir.Var], row: ir.Expr) -> ir.Stmt:
        """Return the declaration of an edge between pieces: the position before which a row has so many entries."""
        (begin, end), level = segment, self.tensor.type.format.levels[1]
        if self.listed or self.positions.level == 1:
            declared: ir.Stmt = ir.Declare(cut, add(begin, goal))
        else:
            before = ir.Var(f"{cut.name}_entries")

            def entries(p: ir.Expr) -> ir.Expr:
                return sub(*(first_below(self.tensor, self.positions.level, e, above=1) for e in (p, begin)))

            search = move_forward(cut, end, lambda p: lt(entries(p), before))
            declared = block(ir.Declare(before, goal), ir.Declare(cut, begin), search)
        if level.unique:
            return declared
        above = (self._coordinate(row),)
        at = partial(level.require(PositionIteration).pos_access, self.tensor.levels[1])
        return block(declared, behind_run(cut, segment, lambda p: at(p, p if self.listed else row, above)))


def long_rows(emitter: Emitter, loop: Forall) -> LongRows | None:
    """Return the long rows of a loop that cuts them, or None if it is no plain loop over an operand."""
    f, positions, writer = emitter.state, loop.positions, emitter.writer
    if positions is None or not loop.parallel or not isinstance(writer, LocatedWriter) or writer.shared:
        return None
    access = positions.access
    tensor, driver = f.tensors[access.tensor], f.driver_of(loop)
    if not f.kind.values or f.context.derived or driver is None:
        return None
    if driver.access != access and not (driver.certain and counts_coordinates(tensor)):
        return None
    inner = level_variables(access, tensor.type.format)[1]
    if any(inner in counted.over for counted in f.context.implicit_entries.values()):
        return None
    drivers = [f.driver_of(each) for each in foralls_of(loop) if each.var == inner]
    if not drivers or any(each is None or each.access != access for each in drivers):
        return None
    return LongRows(emitter, writer, loop, positions)
