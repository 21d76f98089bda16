"""Edges of a level whose entries stay where they are (2020 paper, section 6.3, sequenced edge insertion).

Entries come in the order of their parents, and each has the position that it had in the source: the children of a
parent end behind the last entry of it that passes. Nothing has to be counted before, and no branch hangs on where a
parent ends. Parents that no entry passes for have no children, which is told afterwards.

Threads share the entries in such a way that none has a part of a parent's: where a chunk would begin among entries of
one coordinate, it begins behind them. So each chunk has parents of its own, those between what its first and its last
entry hang on, and tells of those without children while they are in its cache.
"""

from __future__ import annotations

from ..formats import Format, LevelFormat, LevelVars, TensorType
from ..ir import nodes as ir
from ..ir.builder import add, block, declare, eq, gt, if_, increment, land, lit, lt, sub
from ..lowering.result_writer import COUNTS
from ..records import record

__all__ = ["EdgeSource", "EdgeWriter", "adjoining"]


@record
class EdgeSource:
    """The outermost loop over the entries.

    Parameters
    ----------
    type : TensorType
        Of the tensor whose entries they are.
    levels : tuple of LevelVars
        The variables of its levels.
    begin, end : Expr
        Between which positions or coordinates of the outermost level the loop runs.
    """

    type: TensorType
    levels: tuple[LevelVars, ...]
    begin: ir.Expr
    end: ir.Expr

    @property
    def _level(self) -> LevelFormat:
        return self.type.format.levels[0]

    @property
    def _by_value(self) -> bool:
        return self._level.iteration == "value"

    def _coordinate(self, at: ir.Expr) -> ir.Expr:
        return at if self._by_value else self._level.pos_access(self.levels[0], at, lit(0), ())

    def behind(self, edge: ir.Var) -> ir.Stmt:
        """Move an edge between chunks behind the entries that have the coordinate of the one before it."""
        if self._level.unique:
            return block()
        last, last_is = declare(f"{edge.name}_coordinate", self._coordinate(sub(edge, lit(1))))
        rest, rest_is = declare(f"{edge.name}_rest", sub(self.end, edge))
        half, half_is = declare(f"{edge.name}_half", ir.Binary("/", rest, lit(2)))
        within = eq(self._coordinate(add(edge, half)), last)
        forward = block(increment(edge, add(half, lit(1))), ir.Set(rest, sub(sub(rest, half), lit(1))))
        search = ir.While(gt(rest, lit(0)), block(half_is, if_(within, forward, ir.Set(rest, half))))
        return if_(land(gt(edge, self.begin), lt(edge, self.end)), block(last_is, rest_is, search))

    def coordinates_before(self, edge: ir.Expr, lowest: ir.Expr, all: ir.Expr) -> ir.Expr:
        """How many coordinates of ``all``, from the lowest on, are those of chunks before an edge."""
        behind = edge if self._by_value else add(self._coordinate(sub(edge, lit(1))), lit(1))
        return ir.Select(eq(edge, self.begin), lit(0), ir.Select(eq(edge, self.end), all, sub(behind, lowest)))

    def entries_before(self, edge: ir.Expr) -> ir.Expr:
        """The position of the first entry behind an edge, where they adjoin."""
        at: ir.Expr = edge
        for k, (level, m) in enumerate(zip(self.type.format.levels, self.levels, strict=True)):
            if _every(level):
                parent, first = (at, level.coord_bounds(m, at, ())[0]) if k else (lit(0), edge)
                at = level.locate(m, parent, first)
            elif k:
                at = level.pos_bounds(m, at)[0]
        return at


def adjoining(format: Format) -> bool:
    """Whether the entries of each coordinate begin where those before end, whether it has any or not."""
    return all(level.iteration == "position" or _every(level) for level in format.levels)


def _every(level: LevelFormat) -> bool:
    """Whether every coordinate has a position, which arithmetic finds."""
    return level.has_every and not level.roles


@record
class EdgeWriter:
    """Inserts the edges of a level as entries pass.

    Parameters
    ----------
    levels : tuple of LevelFormat
        The levels of the result down to this one. Those above have every coordinate, and the coordinates of the first
        are those of the source's outermost loop; at the root, ``counts`` says how many positions there are.
    vars : tuple of LevelVars
        Their variables.
    """

    levels: tuple[LevelFormat, ...]
    vars: tuple[LevelVars, ...]

    @property
    def has_parents(self) -> bool:
        """Whether there are parents beside the root."""
        return len(self.levels) > 1

    @property
    def _level(self) -> tuple[LevelFormat, LevelVars]:
        return self.levels[-1], self.vars[-1]

    @property
    def _first(self) -> ir.Expr:
        """How many coordinates the first level has."""
        return self.levels[0].get_size(self.vars[0], lit(1))

    def _parents(self, first: ir.Expr) -> ir.Expr:
        """How many parents there are below so many coordinates of the first level."""
        size = first
        for level, m in zip(self.levels[1:-1], self.vars[1:-1], strict=True):
            size = level.get_size(m, size)
        return size

    def entry(self, parent: ir.Expr, p: ir.Expr) -> ir.Stmt:
        """At an entry of ``parent``, with position ``p``."""
        level, m = self._level
        return level.seq_insert_edges(m, parent, add(p, lit(1))) if self.has_parents else block()

    def finish(self, source: EdgeSource, chunk: tuple[ir.Expr, ir.Expr]) -> ir.Stmt:
        """After the last entry of a chunk, which begins and ends there in the source's outermost level."""
        level, m = self._level
        lowest = self.vars[0].lowest
        before = [self._parents(source.coordinates_before(edge, lowest, self._first)) for edge in chunk]
        begin, begin_is = declare("parents_begin", before[0])
        end, end_is = declare("parents_end", before[1])
        told = level.seq_finalize_edges(m, (begin, end), source.entries_before(chunk[0]), ir.Var("q"))
        return block(begin_is, end_is, told)

    def after(self, told: bool) -> ir.Stmt:
        """After the last entry; ``told`` where chunks have finished with their parents."""
        level, m = self._level
        begin = level.seq_init_edges(m, lit(0))
        if not self.has_parents:
            return block(begin, level.seq_insert_edges(m, lit(0), ir.Load(COUNTS, lit(0))))
        if told:
            return begin
        return block(begin, level.seq_finalize_edges(m, (lit(0), self._parents(self._first)), lit(0), ir.Var("q")))
