"""Results that are appended: loops reach coordinates in the order in which the result stores them (2018, Fig. 9)."""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import pairwise

from ..analysis.derived_variables import radix_components
from ..formats.append_chains import AppendChain, append_chains
from ..formats.capabilities import Append, Locate, SequencedEdges, UnsequencedEdges
from ..index_notation.nodes import Access
from ..index_notation.nodes import Expr as Expression
from ..ir.builder import add, block, cast, gt, if_, increment, land, lit, lt, mul, sub
from ..ir.nodes import Declare, Expr, For, Load, Stmt, Store, Var
from .function_kind import COUNTS, FunctionKind
from .function_state import FunctionState
from .result_writer import LocatedWriter, ResultWriter
from .thread_partials import among_threads


def usual_writer(f: FunctionState, access: Access, kept: Set[int] = frozenset()) -> ResultWriter:
    """Return the writer of a result whose coordinates the loops reach in order, or whose positions they locate."""
    appends = append_chains(f.tensors[access.tensor].type.format)
    return AppendWriter(f, access, kept) if appends else LocatedWriter(f, access)


class AppendWriter(LocatedWriter):
    """Writer that appends coordinates, and stores values at the positions that they get."""

    def __init__(self, f: FunctionState, access: Access, kept_levels: Set[int] = frozenset()):
        super().__init__(f, access)
        self.kept_levels = kept_levels  # whose coordinates are not written, since they are those of a source
        self.whole = self.vars  # the arrays of the whole result, even if chunks append to others
        self.chains = append_chains(self.format)
        self.counters = tuple(Var(f"p{self.vars.name}{chain.last + 1}") for chain in self.chains)
        self.unsequenced: set[int] = set()
        self.bounded = False  # true if the code reads ``end``, which ``start`` must then declare
        # The value below the coordinate that loops are to append, if whether they reach anything decides about it.
        self.undecided: Expression | None = None

    # -- the function -------------------------------------------------------------------------------------------
    def init(self) -> Stmt:
        if not self.f.kind.structure:
            return block()
        stmts = [super().init()]
        for chain in self.chains:
            edges = self.format.levels[chain.first].capability(SequencedEdges)
            if edges is not None and edges.roles:
                stmts.append(edges.seq_init_edges(self.whole.levels[chain.first], lit(0)))
        return block(*stmts)

    def epilogue(self) -> Stmt:
        # The edges of the root and edges that were inserted out of order need the totals of all chunks. After the last
        # chunk, ``counts`` holds the position of each chain at the end of the result.
        n, chunks = len(self.chains), self.chunks if self.f.chunked else lit(1)
        totals = [Var(f"total{k + 1}") for k in range(n)]
        ends = self.finalize(tuple(totals))
        if ends == block():
            return block()
        at_end = (Load(COUNTS, add(mul(chunks, lit(n)), lit(k))) for k in range(n))
        return block(*map(Declare, totals, at_end), ends)

    def finalize(self, counts: tuple[Expr, ...]) -> Stmt:
        """Return the completion of root edges and unsequenced edges, given the number of positions in each chain."""
        if not self.f.kind.structure:
            return block()
        stmts: list[Stmt] = []
        for chain in self.chains:
            level, m = self.format.levels[chain.first], self.whole.levels[chain.first]
            if chain.first == 0:
                stmts.append(level.require(SequencedEdges).seq_insert_edges(m, lit(0), counts[chain.index]))
            elif chain.first in self.unsequenced:
                index = Var(f"q{self.vars.name}{chain.first + 1}")
                parents = self._size(chain.first - 1, counts)
                stmts.append(level.require(UnsequencedEdges).unseq_finalize_edges(m, parents, index))
        return block(*stmts)

    def _size(self, level: int, counts: tuple[Expr, ...]) -> Expr:
        """Return the number of positions of a level, given the number of positions in each chain."""
        if level < 0:
            return lit(1)
        for chain in self.chains:
            if chain.first <= level <= chain.last:
                return counts[chain.index]
        return self.format.levels[level].get_size(self.vars.levels[level], self._size(level - 1, counts))

    # -- chunks -------------------------------------------------------------------------------------------------
    @property
    def can_be_cut(self) -> bool:
        # A parent without children is not kept, but dense levels below it have edges.
        return not any(c.first > above.last + 1 for above, c in pairwise(self.chains))

    def start(self, chunk: Expr) -> Stmt:
        """Return declarations of the counters: the first positions of a chunk, or 0 in functions that count."""
        n = len(self.chains)
        counting = self.f.kind in (FunctionKind.COUNT, FunctionKind.BOUND)
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
        ends = block(
            *(
                Store(COUNTS, add(mul(add(chunk, lit(1)), lit(n)), lit(k)), counter)
                for k, counter in enumerate(self.counters)
            )
        )
        # The next chunk reads them at the same time, if they were counted before: they are the same.
        counting = self.f.kind in (FunctionKind.COUNT, FunctionKind.BOUND)
        return among_threads(ends) if self.f.chunked and not counting else ends

    @property
    def end(self) -> Var:
        """End of the positions of a chunk in the last chain, or of the room for them."""
        return Var(f"{self.counters[-1].name}_end")

    # -- chains -------------------------------------------------------------------------------------------------
    def chain_completed(self, new: Set[str], coords: Mapping[str, Expr]) -> AppendChain | None:
        """Return the chain whose variables are all in ``coords`` and not all outside ``new``, or None."""
        for chain in self.chains:
            variables = self.path[chain.first : chain.last + 1]
            if not new.isdisjoint(variables) and all(v in coords for v in variables):
                return chain
        return None

    def chain_starting(self, var: str) -> AppendChain | None:
        """Return the chain whose first level has ``var`` as its coordinate, or as its most significant component."""
        derived = self.f.context.derived
        level = next((k for k, v in enumerate(self.path) if radix_components(v, derived)[:1] == (var,)), None)
        return next((c for c in self.chains if c.first == level), None)

    def visits_every_parent(self, chain: AppendChain) -> bool:
        """Return whether loops visit every possible parent of a chain, including parents without children."""
        # Located levels above need loops over all coordinates; parents in appended levels are visited as they are made.
        context, variables = self.f.context, self.path[: chain.first]
        components = [radix_components(v, context.derived) for v in variables]
        appended = [any(c.first <= k <= c.last for c in self.chains) for k in range(chain.first)]
        located = [v for digits, below in zip(components, appended, strict=True) for v in digits if not below]
        # If the result has blocks, parents in a block that reach beyond the edge of the tensor are not visited.
        partial = [d for d in context.derived if not d.inside and d.var not in variables]
        return context.visits_every(located) and not any(d.needs <= set().union(*components) for d in partial)

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

    def has_values_below(self, chain: AppendChain) -> bool:
        """Return whether loops may reach no value below a coordinate of a chain, and are asked whether they do."""
        return self.f.kind is not FunctionKind.BOUND and self.chains[-1] is chain and chain.last < len(self.path) - 1

    @property
    def kept(self) -> Var:
        """True if loops have reached a value below the coordinate that is to be appended."""
        return Var(f"{self.counters[-1].name}_kept", "bool")

    def append_if_kept(self, coords: Mapping[str, Expr], body: Stmt) -> Stmt:
        """Return ``body`` and the append of a coordinate to the last chain if ``body`` reaches a value below it.

        There is room only for the values of coordinates that are kept: behind the last one, nothing runs.
        """
        kept, counter = self.kept, self.counters[-1]
        keep = block(*self._coordinates(self.chains[-1], coords), increment(counter))
        code = block(Declare(kept, lit(False, "bool")), body, if_(kept, keep))
        if not self.f.kind.values:
            return code
        self.bounded = True
        return if_(lt(counter, self.end), code)

    def append_if(self, is_entry: Expr, coords: Mapping[str, Expr], body: Stmt, even: bool) -> Stmt:
        """Return ``body`` and the append of a coordinate to the last chain, both only if ``is_entry`` is true.

        If ``even`` is true, ``is_entry`` is about as often true as false, and processors cannot predict a branch on it.
        Then every coordinate is written but the counter advances only for entries, so the next coordinate overwrites
        one that is no entry. The only branch is on the room up to the end of the chunk.
        """
        kind, chain, counter = self.f.kind, self.chains[-1], self.counters[-1]
        step = increment(counter, cast(is_entry, counter.ty))
        if not even or kind not in (FunctionKind.COUNT, FunctionKind.EVALUATE):
            return if_(is_entry, self.append(chain, coords, body))
        if kind is FunctionKind.COUNT:
            return step
        self.bounded = True
        return block(if_(lt(counter, self.end), block(body, *self._coordinates(chain, coords))), step)

    def can_append(self, chain: AppendChain, coords: Mapping[str, Expr]) -> Expr:
        """Return the condition that the coordinates of ``chain`` are to be appended."""
        conditions = [
            self.format.levels[k].require(Append).can_append(self.vars.levels[k], coords[self.path[k]])
            for k in range(chain.first, chain.last + 1)
        ]
        return land(*(condition for condition in conditions if condition is not None))

    def _coordinates(self, chain: AppendChain, coords: Mapping[str, Expr]) -> list[Stmt]:
        """Return stores of the coordinates that a chain appends."""
        counter = self.counters[chain.index]
        levels = range(chain.first, chain.last + 1) if self.f.kind.structure else ()
        return [
            self.format.levels[k].require(Append).append_coord(self.vars.levels[k], counter, coords[self.path[k]])
            for k in levels
            if k not in self.kept_levels
        ]

    def edges(self, chain: AppendChain, parent: Expr, begin: Var, sequenced: bool) -> Stmt:
        """Return the insertion of edges that connect the coordinates appended by a loop to their parent."""
        level, m = self.format.levels[chain.first], self.vars.levels[chain.first]
        if not self.f.kind.structure or not level.roles or level.branchless:
            return block()
        counter = self.counters[chain.index]
        if sequenced:
            return level.require(SequencedEdges).seq_insert_edges(m, parent, counter)
        self.unsequenced.add(chain.first)
        return level.require(UnsequencedEdges).unseq_insert_edges(m, parent, sub(counter, begin))

    # -- padding ------------------------------------------------------------------------------------------------
    def padding(self, level: int, parent: Expr, within: tuple[Expr, Expr], value: Expr) -> tuple[Stmt, Stmt]:
        """Return loops that fill the values below a parent before and behind an interval of a level's coordinates."""
        m, located = self.vars.levels[level], self.format.levels[level].require(Locate)
        size = self.values_below(level + 1)
        first, last = located.get_size(m, parent), located.get_size(m, add(parent, lit(1)))
        begin, end = (located.locate(m, parent, coord) for coord in within)
        return self._filled(first, begin, size, value), self._filled(end, last, size, value)

    def _filled(self, first: Expr, last: Expr, size: Expr, value: Expr) -> Stmt:
        """Return a loop that fills the values below positions of a level, each of which has ``size``."""
        return For(self.index, mul(first, size), mul(last, size), Store(self.vars.vals, self.index, value))
