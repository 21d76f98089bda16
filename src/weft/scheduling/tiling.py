"""Loops cut so that what they come back to is still in the cache: tiles of a dense result, and lines of arrays.

Some go over the whole of a dense result again and again, and are cut so that they do for one part of it at a time.
Diagonals of dia, columns of a matrix stored by columns: the outer loop does not decide what is written, the inner one
does, and by the time it comes round again what it wrote has left the cache. With a loop over *tiles* of the result
outside both, it has not; and tiles can be filled where they are computed, and shared by threads.

Others pass along one array and across another, as a transposition does: of a line of the cache that is fetched they use
one element. Over a few rows at a time, the next iterations use the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..analysis.derived_variables import DerivedVariable, level_variables, radix_components, single_coordinate_levels
from ..analysis.iteration_graph import places
from ..concrete_notation.nodes import Fill, Forall, Split, Stmt, TileSweep, accesses, assignments
from ..concrete_notation.nodes import Sequence as Seq
from ..formats import TensorType
from ..index_notation.nodes import Access
from ..records import replace
from ..remapping.inverse import linear
from .cost_model import is_strided

__all__ = ["FEW", "LINE", "ROOM", "TILE", "Tiler", "across"]

TILE = 64
"""Coordinates in a tile that few lines of memory lead to: so short that all these are read side by side, as streams."""

FEW = 14
"""How many such lines a processor follows at once: prefetchers know sixteen or so, the vectors among them."""

ROOM = 1 << 19
"""Bytes in a tile that more lines lead to: as many as stay in a second-level cache while each line is followed."""

LINE = 16
"""Rows that are passed across at a time: elements of one or two lines of the cache."""


def across(
    order: Sequence[str],
    target: Access,
    read: Sequence[Access],
    types: Mapping[str, TensorType],
    fresh: Callable[[str], str],
) -> tuple[Split, tuple[str, ...]] | None:
    """The loops over arrays of different orders, and how one is cut; None where all are passed along."""
    formats = [types[a.tensor].format for a in (target, *read)]
    if not all(f.is_dense and not f.is_structured for f in formats) or not target.indices:
        return None
    along = level_variables(target, formats[0])[-1]
    others = [level_variables(a, f)[-1] for a, f in zip(read, formats[1:], strict=True) if is_strided(a, along, f)]
    if not others:
        return None
    cut = Split(along, fresh(f"{along}_line"), fresh(f"{along}_inside"), LINE, tiles=along)
    return cut, (*(v for v in order if v not in (along, others[0])), cut.outer, others[0], cut.inner)


@dataclass
class Tiler:
    """Cuts the loops of a statement that accumulates into a dense result.

    Parameters
    ----------
    target : Access
        The result.
    types : mapping
        The types of all tensors.
    derived : sequence of DerivedVariable
        What follows from the loops.
    fresh : callable
        A name that is not taken, from one that may be.
    over : tuple of str
        The variables of the result to cut over; any by default.
    size : int, optional
        How many coordinates every tile has; by default what lines of memory there are decides.
    """

    target: Access
    types: Mapping[str, TensorType]
    derived: Sequence[DerivedVariable]
    fresh: Callable[[str], str]
    over: tuple[str, ...] = ()
    size: int | None = None
    splits: list[Split] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def cut(self, stmt: Stmt) -> Stmt:
        """The statement with each nest cut that gains by it."""
        if not self._variables():
            return stmt
        match stmt:
            case Forall():
                return self._tiled(stmt) or stmt
            case Seq(stmts=(Fill() as fill, Forall() as loops)) if (tile := self._tiled(loops)) is not None:
                if self.splits[-1].tiles == self._variables()[0]:
                    return replace(tile, body=Seq((fill, tile.body)))
                return Seq((fill, tile))
            case Seq(stmts=stmts):
                return Seq(tuple(self.cut(s) for s in stmts))
        return stmt

    def _variables(self) -> tuple[str, ...]:
        return self.over or level_variables(self.target, self.types[self.target.tensor].format)

    def _tiled(self, loops: Forall) -> Forall | None:
        """One nest cut into tiles; None where its first loop decides already what of the result is written."""
        order: list[str] = []
        body: Stmt = loops
        while isinstance(body, Forall):
            order.append(body.var)
            body = body.body
        stored = [a for s in assignments(body) for a in (*accesses(s.value), s.target) if a.tensor in self.types]
        none = single_coordinate_levels(stored, self.types)
        order = [v for v in order if all(v != d.var for d in none)]
        derived = (*self.derived, *none)
        place = places(order, derived)
        known = [(place[u], u) for u in self._variables() if u in place]
        if not known:
            return None
        depth, u = min(known)
        v = order[depth]
        if depth == 0 or set(order[:depth]) & set(radix_components(u, derived)) or not self._spans(v, stored):
            return None
        if u != v:
            d = next(d for d in derived if d.var == u)
            factors = linear(d.value)
            if factors is None or factors.get(d.of.index(v)) != 1:
                return None
        outer, inner = self.fresh(f"{u}_tile"), self.fresh(f"{v}_inside")
        sweep = self._sweep(order[:depth], u) if self.size is None else None
        self.splits.append(Split(v, outer, inner, self.size or TILE, tiles=u, sweep=sweep))
        each = f"{TILE} coordinates or {ROOM >> 10} KiB" if sweep else f"{self.size} coordinates"
        self.notes.append(f"loops are cut into tiles over {u}, of {each}: what they accumulate into stays in the cache")

        def within(s: Stmt) -> Stmt:
            assert isinstance(s, Forall)
            return Forall(inner, s.body) if s.var == v else Forall(s.var, within(s.body))

        return Forall(outer, within(loops))

    def _sweep(self, above: Sequence[str], u: str) -> TileSweep:
        """What goes round for each tile."""
        type = self.types[self.target.tensor]
        room = ROOM // np.dtype(type.dtype).itemsize
        # Several loops above go round too often to be few.
        return TileSweep(above[0], FEW if len(above) == 1 else 0, room, tuple(w for w in self._variables() if w != u))

    def _spans(self, v: str, stored: Sequence[Access]) -> bool:
        """Whether the loop over ``v`` reaches all coordinates: else loops above would be repeated for little."""
        levels = [
            level
            for a in stored
            for w, level in zip(
                level_variables(a, self.types[a.tensor].format), self.types[a.tensor].format.levels, strict=True
            )
            if w == v
        ]
        driving = [level for level in levels if not level.has_every]
        return bool(levels) and len(driving) < 2 and all(u.iteration == "value" and u.spans for u in levels)
