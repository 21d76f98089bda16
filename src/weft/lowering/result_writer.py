"""Result side of a kernel: storing values, appending coordinates and edges (2017, section 6.3; 2020, section 6)."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from enum import Enum

from ..analysis.append_chains import AppendChain, append_chains
from ..analysis.derived_variables import DerivedVariable, level_variables, radix_components
from ..formats.capabilities import Append, Locate, QueriedEdges, SequencedEdges, UnsequencedEdges
from ..formats.tensor_vars import TensorVars
from ..index_notation.nodes import Access
from ..ir.builder import add, block, cast, gt, if_, increment, land, lit, lt, mul, sub
from ..ir.nodes import Declare, Expr, For, Load, Stmt, Store, Var

__all__ = ["COUNTS", "FunctionKind", "ResultWriter"]

COUNTS = Var("counts", "int64*")


class FunctionKind(Enum):
    """Function of a module that a loop nest becomes.

    ``COUNT`` counts the coordinates of each appended level. ``BOUND`` computes an upper bound of that count: equal
    coordinates that reach a workspace are counted separately. ``WIDEST`` is no function, but the loops that determine
    the largest number of values that reach a workspace at one time. ``ASSEMBLE`` writes level arrays, ``COMPUTE``
    writes values, and ``EVALUATE`` writes both.
    """

    COUNT = "count"
    BOUND = "bound"
    WIDEST = "widest"
    ASSEMBLE = "assemble"
    COMPUTE = "compute"
    EVALUATE = "evaluate"

    @property
    def structure(self) -> bool:
        """True if level arrays are written."""
        return self in (FunctionKind.ASSEMBLE, FunctionKind.EVALUATE)

    @property
    def values(self) -> bool:
        """True if values are written."""
        return self in (FunctionKind.COMPUTE, FunctionKind.EVALUATE)


@dataclass
class ResultWriter:
    """Result of a kernel while the kernel is lowered."""

    vars: TensorVars
    access: Access
    kind: FunctionKind
    chains: tuple[AppendChain, ...] = ()
    counters: tuple[Var, ...] = ()
    unsequenced: set[int] = field(default_factory=set)
    derived: tuple[DerivedVariable, ...] = ()
    bounded: bool = False  # true if the code reads ``end``, which ``start`` must then declare

    def __post_init__(self) -> None:
        self.format = self.vars.type.format
        self.path = level_variables(self.access, self.format)
        self.chains = append_chains(self.format)
        self.counters = tuple(Var(f"p{self.vars.name}{chain.last + 1}") for chain in self.chains)

    def level_of(self, var: str) -> int | None:
        """Return the level whose coordinate is ``var``, or has it as its most significant component, or None."""
        return next((k for k, v in enumerate(self.path) if radix_components(v, self.derived)[:1] == (var,)), None)

    def variable(self, level: int) -> str:
        """Return the index variable of a level."""
        return self.path[level]

    def chain_completed(self, new: Set[str], coords: Mapping[str, Expr]) -> AppendChain | None:
        """Return the chain whose variables are all in ``coords`` and not all outside ``new``, or None."""
        for chain in self.chains:
            variables = [self.variable(k) for k in range(chain.first, chain.last + 1)]
            if not new.isdisjoint(variables) and all(v in coords for v in variables):
                return chain
        return None

    def chain_starting(self, level: int | None) -> AppendChain | None:
        return next((c for c in self.chains if c.first == level), None)

    # -- counters -----------------------------------------------------------------------------------------------
    def start(self, chunk: Expr) -> Stmt:
        """Return declarations of the counters: the first positions of a chunk, or 0 in functions that count."""
        n = len(self.chains)
        counting = self.kind in (FunctionKind.COUNT, FunctionKind.BOUND)
        stmts: list[Stmt] = [
            Declare(counter, lit(0) if counting else Load(COUNTS, add(mul(chunk, lit(n)), lit(k))))
            for k, counter in enumerate(self.counters)
        ]
        if self.bounded:
            stmts.append(Declare(self.end, Load(COUNTS, add(mul(add(chunk, lit(1)), lit(n)), lit(n - 1)))))
        return block(*stmts)

    def finish(self, chunk: Expr) -> Stmt:
        """Return stores of the counters at the end of a chunk, as the first positions of the next chunk."""
        n = len(self.chains)
        return block(
            *(
                Store(COUNTS, add(mul(add(chunk, lit(1)), lit(n)), lit(k)), counter)
                for k, counter in enumerate(self.counters)
            )
        )

    @property
    def end(self) -> Var:
        """End of the positions of a chunk in the last chain, or of the room for them."""
        return Var(f"{self.counters[-1].name}_end")

    # -- appending ----------------------------------------------------------------------------------------------
    def append(self, chain: AppendChain, coords: Mapping[str, Expr], body: Stmt) -> Stmt:
        """Return ``body`` and the append of a coordinate to ``chain``, which is kept if ``body`` appends children."""
        counter = self.counters[chain.index]
        keep = [*self._coordinates(chain, coords), increment(counter)]
        if chain.index + 1 == len(self.chains):
            return block(body, *keep)
        below = self.counters[chain.index + 1]
        before = Var(f"{below.name}_begin_{chain.index}")
        return block(Declare(before, below), body, if_(gt(below, before), block(*keep)))

    def append_if(self, kept: Expr, coords: Mapping[str, Expr], body: Stmt, even: bool) -> Stmt:
        """Return ``body`` and the append of a coordinate to the last chain, both only if ``kept`` is true.

        If ``even`` is true, ``kept`` is about as often true as false, and processors cannot predict a branch on it.
        Then every coordinate is written but the counter advances only for those to keep, so the next coordinate
        overwrites one that is not kept. The only branch is on the room up to the end of the chunk.
        """
        chain, counter = self.chains[-1], self.counters[-1]
        step = increment(counter, cast(kept, counter.ty))
        if not even or self.kind not in (FunctionKind.COUNT, FunctionKind.EVALUATE):
            return if_(kept, self.append(chain, coords, body))
        if self.kind is FunctionKind.COUNT:
            return step
        self.bounded = True
        return block(if_(lt(counter, self.end), block(body, *self._coordinates(chain, coords))), step)

    def can_append(self, chain: AppendChain, coords: Mapping[str, Expr]) -> Expr:
        """Return the condition that the coordinates of ``chain`` are to be appended."""
        found = [
            self.format.levels[k].require(Append).can_append(self.vars.levels[k], coords[self.variable(k)])
            for k in range(chain.first, chain.last + 1)
        ]
        return land(*(condition for condition in found if condition is not None))

    def _coordinates(self, chain: AppendChain, coords: Mapping[str, Expr]) -> list[Stmt]:
        """Return stores of the coordinates that a chain appends."""
        counter = self.counters[chain.index]
        levels = range(chain.first, chain.last + 1) if self.kind.structure else ()
        return [
            self.format.levels[k].require(Append).append_coord(self.vars.levels[k], counter, coords[self.variable(k)])
            for k in levels
        ]

    def edges(self, chain: AppendChain, parent: Expr, begin: Var, sequenced: bool) -> Stmt:
        """Return the insertion of edges that connect the coordinates appended by a loop to their parent."""
        level = self.format.levels[chain.first]
        if not self.kind.structure or not level.roles or level.branchless:
            return block()
        counter = self.counters[chain.index]
        m = self.vars.levels[chain.first]
        if sequenced:
            return level.require(SequencedEdges).seq_insert_edges(m, parent, counter)
        self.unsequenced.add(chain.first)
        return level.require(UnsequencedEdges).unseq_insert_edges(m, parent, sub(counter, begin))

    def init(self) -> Stmt:
        """Return the initialization of arrays before anything is appended."""
        if not self.kind.structure:
            return block()
        stmts = []
        # Located levels have arrays that follow from the shape, such as the width of a range.
        for level, m in zip(self.format.levels, self.vars.levels, strict=True):
            if level.roles and not level.stores:
                stmts.append(level.require(QueriedEdges).insert_edges(m, lit(1)))
        for chain in self.chains:
            edges = self.format.levels[chain.first].capability(SequencedEdges)
            if edges is not None and edges.roles:
                stmts.append(edges.seq_init_edges(self.vars.levels[chain.first], lit(0)))
        return block(*stmts)

    def finalize(self, counts: tuple[Expr, ...]) -> Stmt:
        """Return the completion of root edges and unsequenced edges, given the number of positions in each chain."""
        if not self.kind.structure:
            return block()
        stmts: list[Stmt] = []
        for chain in self.chains:
            level, m = self.format.levels[chain.first], self.vars.levels[chain.first]
            if chain.first == 0:
                stmts.append(level.require(SequencedEdges).seq_insert_edges(m, lit(0), counts[chain.index]))
            elif chain.first in self.unsequenced:
                index = Var(f"q{self.vars.name}{chain.first + 1}")
                parents = self.size(chain.first - 1, counts)
                stmts.append(level.require(UnsequencedEdges).unseq_finalize_edges(m, parents, index))
        return block(*stmts)

    def size(self, level: int, counts: tuple[Expr, ...]) -> Expr:
        """Return the number of positions of a level, given the number of positions in each chain."""
        if level < 0:
            return lit(1)
        for chain in self.chains:
            if chain.first <= level <= chain.last:
                return counts[chain.index]
        return self.format.levels[level].get_size(self.vars.levels[level], self.size(level - 1, counts))

    def _below(self, level: int) -> Expr:
        """Return the number of positions in the last level below one parent of ``level``; all levels are located."""
        size: Expr = lit(1)
        for k in range(level, len(self.format.levels)):
            size = self.format.levels[k].get_size(self.vars.levels[k], size)
        return size

    def fill(self, resolved: int, base: Expr, value: Expr, part: tuple[Expr, Expr] | None = None) -> Stmt:
        """Return a loop that fills values below ``base`` in level ``resolved - 1``, or below ``part`` of level 0."""
        if not self.kind.values:
            return block()
        size = self._below(resolved)
        index = self._index
        if part is not None:
            size = self._below(1)
            return For(index, mul(part[0], size), mul(part[1], size), Store(self.vars.vals, index, value))
        start = Var(f"{index.name}_begin")
        loop = For(index, start, add(start, size), Store(self.vars.vals, index, value))
        return block(Declare(start, mul(base, size)), loop)

    @property
    def _index(self) -> Var:
        """Index of loops that fill values."""
        return Var(f"q{self.vars.name}")

    def padding(self, level: int, parent: Expr, within: tuple[Expr, Expr], value: Expr) -> tuple[Stmt, Stmt]:
        """Return loops that fill the values below a parent before and behind an interval of a level's coordinates."""
        m, located = self.vars.levels[level], self.format.levels[level].require(Locate)
        size = self._below(level + 1)
        first, last = located.get_size(m, parent), located.get_size(m, add(parent, lit(1)))
        begin, end = (located.locate(m, parent, coord) for coord in within)
        return self._filled(first, begin, size, value), self._filled(end, last, size, value)

    def _filled(self, first: Expr, last: Expr, size: Expr, value: Expr) -> Stmt:
        """Return a loop that fills the values below positions of a level, each of which has ``size``."""
        return For(self._index, mul(first, size), mul(last, size), Store(self.vars.vals, self._index, value))
