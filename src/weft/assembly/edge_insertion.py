"""Edges of a level whose entries keep their positions (2020 paper, section 6.3, sequenced edge insertion).

Entries come in the order of their parents, and each entry keeps the position that it had in the source. Each entry
stores the position behind itself as the end of its parent's children, so the last entry of a parent decides. Nothing is
counted before, and no branch depends on the end of a parent. The edges of parents without entries are inserted
afterwards.

Threads share the entries such that the entries of one parent are never divided. If a chunk would begin among entries of
one coordinate, it begins behind them. So each chunk has parents of its own: those from the parent of its first entry to
that of its last. Each chunk inserts the edges of its parents without children while they are in the cache.
"""

from __future__ import annotations

from ..formats import Format, LevelFormat, LevelVars, TensorType
from ..formats.capabilities import ChildlessEdges, Locate, PositionIteration, SequencedEdges, ValueIteration
from ..ir import nodes as ir
from ..ir.builder import add, block, declare, eq, lit, sub
from ..lowering.duplicates import behind_run
from ..lowering.function_kind import COUNTS
from ..records import record


@record
class EdgeSource:
    """Outermost loop over the entries of the source."""

    type: TensorType  # the type of the source
    levels: tuple[LevelVars, ...]  # the variables of the levels of the source
    begin: ir.Expr  # the loop begins here: a position or coordinate of the outermost level
    end: ir.Expr  # and ends before this one

    @property
    def _level(self) -> LevelFormat:
        return self.type.format.levels[0]

    @property
    def _by_value(self) -> bool:
        return self._level.capability(ValueIteration) is not None

    def _coordinate(self, at: ir.Expr) -> ir.Expr:
        if self._by_value:
            return at
        return self._level.require(PositionIteration).pos_access(self.levels[0], at, lit(0), ())

    def behind(self, edge: ir.Var) -> ir.Stmt:
        """Return code that moves an edge between chunks behind all entries with the coordinate of the entry before."""
        if self._level.unique:
            return block()
        return behind_run(edge, (self.begin, self.end), self._coordinate)

    def coordinates_before(self, edge: ir.Expr, lowest: ir.Expr, all: ir.Expr) -> ir.Expr:
        """Return the number of coordinates, of ``all`` from ``lowest`` on, that belong to chunks before ``edge``."""
        behind = edge if self._by_value else add(self._coordinate(sub(edge, lit(1))), lit(1))
        return ir.Select(eq(edge, self.begin), lit(0), ir.Select(eq(edge, self.end), all, sub(behind, lowest)))

    def entries_before(self, edge: ir.Expr) -> ir.Expr:
        """Return the position of the first entry behind an edge, if the entries of coordinates adjoin."""
        # Descend to the first child of each level.
        at: ir.Expr = edge
        for k, (level, m) in enumerate(zip(self.type.format.levels, self.levels, strict=True)):
            if _every(level):
                parent, first = (at, level.require(ValueIteration).coord_bounds(m, at, ())[0]) if k else (lit(0), edge)
                at = level.require(Locate).locate(m, parent, first)
            elif k:
                at = level.require(PositionIteration).pos_bounds(m, at)[0]
        return at


def adjoining(format: Format) -> bool:
    """Return whether the entries of each coordinate, even of one without entries, begin where those before end."""
    return all(level.capability(PositionIteration) or _every(level) for level in format.levels)


def _every(level: LevelFormat) -> bool:
    """Return whether every coordinate has a position, next to that of the coordinate before."""
    return level.row_major and not level.roles


@record
class EdgeWriter:
    """Writer of the edges of a level as entries are visited."""

    # The levels of the result down to the level with the edges. The levels above have every coordinate. The first level
    # has the coordinates of the source's outermost loop. If there is no level above, ``counts`` holds the number of
    # positions.
    levels: tuple[LevelFormat, ...]
    vars: tuple[LevelVars, ...]  # the variables of these levels

    @property
    def has_parents(self) -> bool:
        """True if there are parents other than the root."""
        return len(self.levels) > 1

    @property
    def _level(self) -> tuple[LevelFormat, LevelVars]:
        return self.levels[-1], self.vars[-1]

    @property
    def _first(self) -> ir.Expr:
        """Number of coordinates of the first level."""
        return self.levels[0].get_size(self.vars[0], lit(1))

    def _parents(self, first: ir.Expr) -> ir.Expr:
        """Return the number of parents below the first ``first`` coordinates of the first level."""
        size = first
        for level, m in zip(self.levels[1:-1], self.vars[1:-1], strict=True):
            size = level.get_size(m, size)
        return size

    def entry(self, parent: ir.Expr, p: ir.Expr) -> ir.Stmt:
        """Return the edge insertion at an entry of ``parent`` with position ``p``."""
        if not self.has_parents:
            return block()
        level, m = self._level
        return level.require(SequencedEdges).seq_insert_edges(m, parent, add(p, lit(1)))

    def finish(self, source: EdgeSource, chunk: tuple[ir.Expr, ir.Expr]) -> ir.Stmt:
        """Return edge insertions for the parents without children of a chunk, given its bounds in the source."""
        level, m = self._level
        # The parents of the chunk, from those that chunks before it have.
        lowest = self.vars[0].lowest
        before = [self._parents(source.coordinates_before(edge, lowest, self._first)) for edge in chunk]
        begin, begin_is = declare("parents_begin", before[0])
        end, end_is = declare("parents_end", before[1])
        edges = level.require(ChildlessEdges)
        childless = edges.seq_finalize_edges(m, (begin, end), source.entries_before(chunk[0]), ir.Var("q"))
        return block(begin_is, end_is, childless)

    def after(self, in_chunks: bool) -> ir.Stmt:
        """Return the edge insertions after the last entry; ``in_chunks`` if ``finish`` was called for each chunk."""
        level, m = self._level
        sequenced = level.require(SequencedEdges)
        begin = sequenced.seq_init_edges(m, lit(0))
        if not self.has_parents:
            return block(begin, sequenced.seq_insert_edges(m, lit(0), ir.Load(COUNTS, lit(0))))
        if in_chunks:
            return begin
        # Without chunks, the edges of all parents without children are inserted at once.
        parents = lit(0), self._parents(self._first)
        return block(begin, level.require(ChildlessEdges).seq_finalize_edges(m, parents, lit(0), ir.Var("q")))
