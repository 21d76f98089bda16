"""Writers of results: how a function stores the values that loops contribute (2017, section 6.3; 2020, section 6).

``Lowerer`` lowers loops, and asks a writer for all that depends on how the result is stored. ``ResultWriter`` appends
to the result or stores at positions that the loops locate. Its subclasses insert, share the arrays of an operand,
append in parts, or answer queries in place of storing values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import pairwise
from typing import TYPE_CHECKING

from ..abi import CHUNKS_PER_THREAD
from ..analysis.derived_variables import radix_components
from ..concrete_notation.nodes import Assign, Forall
from ..concrete_notation.nodes import Stmt as Statement
from ..formats.append_chains import AppendChain, append_chains
from ..formats.capabilities import Append, Locate, QueriedEdges, SequencedEdges, UnsequencedEdges
from ..formats.format import level_variables
from ..index_notation.nodes import Access
from ..ir.builder import add, block, cast, gt, if_, increment, land, lit, lt, mul, sub
from ..ir.nodes import Binary, Declare, Expr, For, Load, Select, Stmt, Store, Var
from .environment import Environment
from .function_kind import COUNTS, FunctionKind
from .scalar_expressions import lower_expr, update
from .thread_partials import THREADS, among_threads

if TYPE_CHECKING:
    from .lowerer import Lowerer


class ResultWriter:
    """Writer that appends to the result of a function, or stores at positions that the loops locate."""

    apart = False
    """True if duplicate entries are handled one by one, since each has its own position."""
    places = False
    """True if values are put at positions that the loops do not locate."""
    located = True
    """True if the loops locate positions of the result where its levels allow it."""

    def __init__(self, owner: Lowerer, access: Access):
        self.owner, self.access, self.kind = owner, access, owner.kind
        self.vars = owner.tensors[access.tensor]
        self.format = self.vars.type.format
        self.path = level_variables(access, self.format)
        self.chains = append_chains(self.format)
        self.counters = tuple(Var(f"p{self.vars.name}{chain.last + 1}") for chain in self.chains)
        self.unsequenced: set[int] = set()
        self.bounded = False  # true if the code reads ``end``, which ``start`` must then declare

    def append_nothing(self) -> None:
        """Make a writer without chains, since its values have positions that are found otherwise."""
        self.chains, self.counters = (), ()

    @property
    def stands_at(self) -> Access:
        """Access whose positions are those of the result."""
        return self.access

    # -- the function -------------------------------------------------------------------------------------------
    @property
    def name(self) -> str:
        """Name of the function."""
        return self.owner.kind.value

    @property
    def needs_loops(self) -> bool:
        """True if the function has loops."""
        return True

    def shares(self, loop: Forall) -> bool:
        """Return whether threads share the outermost loop, if it can be cut into chunks."""
        return loop.parallel

    def prologue(self) -> Stmt:
        """Return the statements before the loops, outside the region of threads."""
        return block()

    def epilogue(self) -> Stmt:
        """Return the statements after the loops, outside the region of threads."""
        # The edges of the root and edges that were inserted out of order need the totals of all chunks.
        totals = self._totals()
        ends = self.finalize(tuple(v for v, _ in totals)) if totals else block()
        return block(*(d for _, d in totals), ends) if ends != block() else block()

    def _totals(self) -> list[tuple[Var, Stmt]]:
        # After the last chunk, ``counts`` holds the position of each chain at the end of the result.
        n, chunks = len(self.chains), self.owner.chunks
        found = [Var(f"total{k + 1}") for k in range(n)]
        return [(v, Declare(v, Load(COUNTS, add(mul(chunks, lit(n)), lit(k))))) for k, v in enumerate(found)]

    # -- statements ---------------------------------------------------------------------------------------------
    def before(self, stmt: Statement) -> Sequence[Stmt]:
        """Return the statements before a statement of the program."""
        return ()

    def in_place_of(self, loop: Forall, env: Environment) -> Stmt | None:
        """Return the code in place of a loop, or None if the loop is lowered."""
        return None

    def locate(self, env: Environment, pos: dict[tuple[Access, int], Expr]) -> Sequence[Stmt]:
        """Add positions of a result that the loops do not locate to ``pos``, and return their declarations."""
        return ()

    def store(self, stmt: Assign, env: Environment) -> Stmt:
        """Return the code for one value that an assignment contributes to the result."""
        if not self.owner.kind.values:
            return block()
        owner, vals = self.owner, self.vars.vals
        value = cast(lower_expr(stmt.value, lambda a: owner.read(a, env)), owner.types[stmt.target.tensor].dtype)
        p = owner.position(stmt.target, env)
        return Store(vals, p, value) if stmt.op is None else update(stmt.op, Load(vals, p), value)

    # -- chunks -------------------------------------------------------------------------------------------------
    @property
    def can_be_cut(self) -> bool:
        """True if threads can share the outermost loop by chunks."""
        # A parent without children is not kept, but dense levels below it have edges.
        return not any(c.first > above.last + 1 for above, c in pairwise(self.chains))

    @property
    def chunks(self) -> Expr:
        """Number of chunks into which the outermost loop is cut."""
        return Select(Binary(">", THREADS, lit(1)), mul(THREADS, lit(CHUNKS_PER_THREAD)), lit(1))

    def moved(self, edges: tuple[Var, Var], limits: tuple[Expr, Expr]) -> Sequence[Stmt]:
        """Return statements that move the edges of a chunk, given the limits of the whole loop."""
        return ()

    # -- levels -------------------------------------------------------------------------------------------------
    def level_of(self, var: str) -> int | None:
        """Return the level whose coordinate is ``var``, or has it as its most significant component, or None."""
        derived = self.owner.derived
        return next((k for k, v in enumerate(self.path) if radix_components(v, derived)[:1] == (var,)), None)

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
        ends = block(
            *(
                Store(COUNTS, add(mul(add(chunk, lit(1)), lit(n)), lit(k)), counter)
                for k, counter in enumerate(self.counters)
            )
        )
        # The next chunk reads them at the same time, if they were counted before: they are the same.
        counts = self.kind in (FunctionKind.COUNT, FunctionKind.BOUND)
        return among_threads(ends) if self.owner.chunked and not counts else ends

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


WriterOf = Callable[["Lowerer", Access], ResultWriter]
"""Function that makes the writer of a result for a lowerer."""
