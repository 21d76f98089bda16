"""Tiling: loops are cut so that memory which they use again is still in the cache.

A nest that iterates the whole of a dense result many times is cut so that it iterates one *tile* of the result at a
time. Examples are the diagonals of dia and the columns of a matrix that is stored by columns. There,
the outer loop does not decide which elements are written, but the inner loop does. Without tiles, elements have left
the cache when the next iteration of the outer loop writes them again. A loop over tiles outside both loops keeps them
in the cache. Tiles can also be filled where they are computed, and shared among threads.

A level of positions under each iteration above, such as that of the rows in each jagged diagonal, is cut by the numbers
of its coordinates (``PositionTiles``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..analysis.derived_variables import DerivedVariable, radix_components, single_coordinate_levels
from ..analysis.iteration_graph import places
from ..concrete_notation.nodes import Fill, Forall, Split, Stmt, TileSweep
from ..concrete_notation.nodes import Sequence as Seq
from ..concrete_notation.traversal import assignments, rewrite_outermost
from ..formats import Dense, Format, TensorType
from ..formats.capabilities import PositionTiles
from ..formats.format import level_variables
from ..index_notation.nodes import Access
from ..index_notation.traversal import accesses
from ..records import replace
from ..remapping.inverse import linear
from .loop_problem import fresh_name
from .schedule import Schedule

TILE = 64
"""Coordinates in a tile with few loop iterations above it: so few that the memory of all these is read as streams."""

FEW = 14
"""Largest number of streams above a tile of ``TILE`` coordinates: prefetchers follow about sixteen."""

ROOM = 1 << 19
"""Bytes in a tile with more iterations above it: as many as stay in a second-level cache."""

NUMBERS = 1 << 13
"""Elements in a tile of positions: they stay in a first- or second-level cache, and threads have many tiles."""

ROWS = 256
"""Rows in a tile of entries: those that go to the same rows come while these are in the cache."""


def tile_loops(schedule: Schedule) -> Schedule:
    """Return a schedule with its loops cut, if that keeps in the cache what they use again."""
    if not schedule.candidate.writes.format.is_dense or not schedule.candidate.strategy.accumulates(schedule.problem):
        return schedule
    names = schedule.names

    def fresh(stem: str) -> str:
        name = fresh_name(stem, names)
        names.add(name)
        return name

    program = schedule.program
    tiles = Tiler(schedule.target, schedule.types, schedule.problem.view.derived, fresh)
    stmt = tiles.cut(program.stmt)
    program = replace(program, stmt=stmt, splits=(*program.splits, *tiles.splits))
    return replace(schedule, program=program, decisions=(*schedule.decisions, *tiles.notes))


def tile_entries(schedule: Schedule, format: Format) -> Schedule:
    """Return loops over entries ``B(i0,...) = A(i0,...)`` that are cut into tiles of rows of ``format``, if that helps.

    It helps the cache if the entries of a row come apart, as those of diagonals do.
    """
    if format.is_structured or len(format.levels) < 2 or not format.levels[0].has_every:
        return schedule
    rows = Access("B", tuple(f"i{axis}" for axis in range(format.order)))
    source, program = schedule.types["A"], schedule.program
    dense = TensorType.of(source.dtype, Format(format.remapping, (Dense(),) * format.order), "int64")
    over = level_variables(rows, format)[:1]
    tiles = Tiler(rows, {"A": source, "B": dense}, (), lambda name: name, over=over, size=ROWS)
    stmt = tiles.cut(program.stmt)
    if not tiles.splits:
        return schedule
    return replace(schedule, program=replace(program, stmt=stmt, splits=(*program.splits, *tiles.splits)))


def _arrays_along(v: str, stored: Sequence[Access], types: Mapping[str, TensorType]) -> int:
    """Return the number of arrays of one operand that a loop reads as streams: values, and coordinates below it."""
    arrays = [1]
    for access in stored:
        levels = types[access.tensor].levels_of(access)
        below = next((levels[n + 1 :] for n, (u, _) in enumerate(levels) if u == v), [])
        arrays.append(1 + sum(len(level.roles) for _, level in below if level.branchless))
    return max(arrays)


def _nest_of(stmt: Stmt) -> tuple[list[str], Stmt]:
    """Return the variables of a nest of loops, outermost first, and the statement inside."""
    order: list[str] = []
    while isinstance(stmt, Forall):
        order.append(stmt.var)
        stmt = stmt.body
    return order, stmt


@dataclass
class Tiler:
    """Cutter of the loops of a statement that accumulates into a dense result."""

    target: Access
    types: Mapping[str, TensorType]  # the types of all tensors
    derived: Sequence[DerivedVariable]  # Variables that follow from those of the loops
    fresh: Callable[[str], str]  # Function from a name that may be taken to one that is not
    over: tuple[str, ...] = ()  # the variables of the result to cut over; any by default
    # Number of coordinates of every tile. By default it depends on the number of iterations above.
    size: int | None = None
    numbered: bool = False  # whether the last tiles are intervals of numbers of coordinates, not of coordinates
    splits: list[Split] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def cut(self, stmt: Stmt) -> Stmt:
        """Return a statement in which each nest is cut that gains by it."""
        if not self._variables():
            return stmt
        match stmt:
            case Forall():
                return self._tiled(stmt) or stmt
            case Seq(stmts=(Fill() as fill, Forall() as loops)) if (tile := self._tiled(loops)) is not None:
                # A tile of the outermost axis can be filled when it is computed.
                if self.splits[-1].tiles == self._variables()[0] and not self.numbered:
                    return replace(tile, body=Seq((fill, tile.body)))
                return Seq((fill, tile))
            case Seq(stmts=stmts):
                return Seq(tuple(self.cut(s) for s in stmts))
        return stmt

    def _variables(self) -> tuple[str, ...]:
        return self.over or level_variables(self.target, self.types[self.target.tensor].format)

    def _tiled(self, loops: Forall) -> Forall | None:
        """Return one nest cut into tiles; None if it cannot be or need not be.

        A nest whose outermost loop already decides which part of the result is written need not be cut.
        """
        order, body = _nest_of(loops)
        # Loops over levels with a single coordinate do not count: such a coordinate is derived.
        stored = [a for s in assignments(body) for a in (*accesses(s.value), s.target) if a.tensor in self.types]
        none = single_coordinate_levels(stored, self.types)
        order = [v for v in order if all(v != d.var for d in none)]
        derived = (*self.derived, *none)
        place = places(order, derived)
        # Choose the axis of the result that is known first: at depth 0 nothing is written again.
        candidates = [(place[u], u) for u in self._variables() if u in place]
        if not candidates:
            return None
        depth, u = min(candidates)
        v = order[depth]
        if depth == 0 or set(order[:depth]) & set(radix_components(u, derived)):
            return None
        self.numbered = depth == 1 and u == v and self.size is None and self._is_numbered(order[0], v, stored)
        if not (self.numbered or self._spans(v, stored)):
            return None
        # The loop over v can be cut into tiles of u only if u grows as v does: u is v plus other variables.
        if u != v:
            d = next(d for d in derived if d.var == u)
            factors = linear(d.value)
            if factors is None or factors.get(d.of.index(v)) != 1:
                return None
        outer, inner = self.fresh(f"{u}_tile"), self.fresh(f"{v}_inside")
        # The number of iterations above decides between a small tile and one that is sized for the cache.
        sweep = self._sweep(order[:depth], u, _arrays_along(v, stored, self.types)) if self.size is None else None
        self.splits.append(Split(v, outer, inner, self.size or TILE, tiles=u, sweep=sweep))
        each = f"{TILE} coordinates or {ROOM >> 10} KiB" if sweep else f"{self.size} coordinates"
        each = f"{NUMBERS} elements" if self.numbered else each
        self.notes.append(f"loops are cut into tiles over {u}, of {each}: what they accumulate into stays in the cache")

        def inside(s: Stmt) -> Stmt | None:
            return Forall(inner, s.body) if isinstance(s, Forall) and s.var == v else None

        return Forall(outer, rewrite_outermost(loops, inside))

    def _sweep(self, above: Sequence[str], u: str, streams: int) -> TileSweep:
        """Return the loop above the tiles, which decides how large they are; each iteration begins some streams."""
        across = tuple(w for w in self._variables() if w != u)
        if self.numbered:
            return TileSweep(above[0], 0, NUMBERS, across)
        type = self.types[self.target.tensor]
        room = ROOM // np.dtype(type.dtype).itemsize
        # Several loops above have too many iterations to be few.
        return TileSweep(above[0], FEW // streams if len(above) == 1 else 0, room, across)

    def _is_numbered(self, above: str, v: str, stored: Sequence[Access]) -> bool:
        """Return whether the loop over ``v`` walks positions of one operand, which can be cut by their numbers."""
        driving = [
            (self.types[a.tensor].levels_of(a), k)
            for a in dict.fromkeys(stored)
            for k, (w, level) in enumerate(self.types[a.tensor].levels_of(a))
            if w == v and not level.has_every
        ]
        if len(driving) != 1:
            return False
        ((levels, k),) = driving
        return k == 1 and levels[0][0] == above and levels[k][1].capability(PositionTiles) is not None

    def _spans(self, v: str, stored: Sequence[Access]) -> bool:
        """Return whether the loop over ``v`` reaches all coordinates; else the loops above are repeated for little."""
        levels = [level for a in stored for w, level in self.types[a.tensor].levels_of(a) if w == v]
        driving = [level for level in levels if not level.has_every]
        return bool(levels) and len(driving) < 2 and all(u.iteration == "value" and u.spans for u in levels)
