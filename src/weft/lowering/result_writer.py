"""Writers of results: how a function stores the values that loops contribute (2017, section 6.3; 2020, section 6).

Loops are lowered by a ``Lowerer``, which asks a writer for all that depends on how the result is stored. There are
three kinds. A ``LocatedWriter`` stores values at positions that the loops locate; an ``AppendWriter``
(``lowering/append_writer.py``) also appends coordinates. An ``EntryWriter`` (``assembly/entry_writer.py``) handles the
entries of one tensor otherwise: it inserts them, or answers queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ..abi import CHUNKS_PER_THREAD
from ..concrete_notation.nodes import Assign, Forall
from ..concrete_notation.nodes import Stmt as Statement
from ..formats.capabilities import QueriedEdges
from ..formats.format import level_variables
from ..index_notation.nodes import Access
from ..ir.builder import add, block, cast, lit, mul, sub
from ..ir.nodes import Binary, Declare, Expr, For, Load, Select, Stmt, Store, Var
from .environment import Environment
from .function_state import FunctionState
from .operand_values import value_of
from .positions import locate_levels, position
from .scalar_expressions import update
from .thread_partials import THREADS


class ResultWriter:
    """Writer of a result. The answers here are those of a writer that has nothing to say."""

    keeps_duplicates = False  # whether duplicate entries are handled one by one, since each has its own position
    finds_positions = False  # whether values are put at positions that the loops do not locate

    def __init__(self, f: FunctionState, access: Access):
        self.f, self.access = f, access
        self.vars = f.tensors[access.tensor]
        self.format = self.vars.type.format
        self.path = level_variables(access, self.format)

    # -- the function -------------------------------------------------------------------------------------------
    @property
    def needs_loops(self) -> bool:
        """True if the function has loops."""
        return True

    def shares(self, loop: Forall) -> bool:
        """Return whether threads share the outermost loop, if it can be cut into chunks."""
        return loop.parallel

    def init(self) -> Stmt:
        """Return the initialization of arrays before all else."""
        return block()

    def prologue(self) -> Stmt:
        """Return the statements before the loops, outside the region of threads."""
        return block()

    def epilogue(self) -> Stmt:
        """Return the statements after the loops, outside the region of threads."""
        return block()

    # -- statements ---------------------------------------------------------------------------------------------
    def before(self, stmt: Statement) -> Sequence[Stmt]:
        """Return the statements before a statement of the program."""
        return ()

    def in_place_of(self, loop: Forall, env: Environment) -> Stmt | None:
        """Return the code in place of a loop, or None if the loop is lowered."""
        return None

    def locate(self, env: Environment, pos: dict[tuple[Access, int], Expr]) -> Sequence[Stmt]:
        """Add positions of the result that are known to ``pos``, and return their declarations."""
        return ()

    def store(self, stmt: Assign, env: Environment) -> Stmt:
        """Return the code for one value that an assignment contributes to the result."""
        raise NotImplementedError

    # -- chunks -------------------------------------------------------------------------------------------------
    @property
    def can_be_cut(self) -> bool:
        """True if threads can share the outermost loop by chunks."""
        return True

    @property
    def chunks(self) -> Expr:
        """Number of chunks into which the outermost loop is cut."""
        return Select(Binary(">", THREADS, lit(1)), mul(THREADS, lit(CHUNKS_PER_THREAD)), lit(1))

    def align_chunk(self, edges: tuple[Var, Var], limits: tuple[Expr, Expr]) -> Sequence[Stmt]:
        """Return statements that change the edges of a chunk, given the limits of the whole loop."""
        return ()

    def start(self, chunk: Expr) -> Stmt:
        """Return the statements before the loops of a chunk."""
        return block()

    def finish(self, chunk: Expr) -> Stmt:
        """Return the statements after the loops of a chunk."""
        return block()


class LocatedWriter(ResultWriter):
    """Writer that stores values at positions which the loops locate.

    They are positions of the result, or of ``lead``: an operand whose index arrays the result shares.
    """

    def __init__(self, f: FunctionState, access: Access, lead: Access | None = None):
        super().__init__(f, access)
        self.shared, self.positions_of = lead is not None, lead or access
        self.keeps_duplicates = self.shared  # duplicates of the operand become duplicates of the result
        # An array into which values go instead of the result's, and the position in the result where it begins.
        self._instead: tuple[Expr, Expr] | None = None

    @contextmanager
    def into(self, array: Expr, begin: Expr = lit(0)) -> Iterator[None]:  # noqa: B008
        """Store the values of a located result from a position on in another array."""
        self._instead = array, begin
        yield
        self._instead = None

    def init(self) -> Stmt:
        if self.shared or not self.f.kind.structure:
            return block()
        # Levels without coordinates have arrays that follow from the shape, such as the width of a range.
        pairs = zip(self.format.levels, self.vars.levels, strict=True)
        computed = [(level, m) for level, m in pairs if level.roles and not level.stores]
        return block(*(level.require(QueriedEdges).insert_edges(m, lit(1)) for level, m in computed))

    def locate(self, env: Environment, pos: dict[tuple[Access, int], Expr]) -> Sequence[Stmt]:
        return () if self.shared else locate_levels(self.f, self.access, env, pos)

    def store(self, stmt: Assign, env: Environment) -> Stmt:
        f, (vals, begin) = self.f, self._instead or (self.vars.vals, lit(0))
        if not f.kind.values:
            return block()
        value = cast(value_of(f, stmt.value, env), self.vars.type.dtype)
        p = sub(position(f, self.positions_of, env), begin)
        return Store(vals, p, value) if stmt.op is None else update(stmt.op, Load(vals, p), value)

    def fill(self, resolved: int, base: Expr, value: Expr, part: tuple[Expr, Expr] | None = None) -> Stmt:
        """Return a loop that fills values below ``base`` in level ``resolved - 1``, or below ``part`` of level 0."""
        if not self.f.kind.values:
            return block()
        (vals, begin), size, index = self._instead or (self.vars.vals, lit(0)), self.values_below(resolved), self.index
        if part is not None:
            size = self.values_below(1)
            return For(index, mul(part[0], size), mul(part[1], size), Store(vals, index, value))
        start = Var(f"{index.name}_begin")
        loop = For(index, start, add(start, size), Store(vals, index, value))
        return block(Declare(start, sub(mul(base, size), begin)), loop)

    def values_below(self, level: int) -> Expr:
        """Return the number of values below one parent of ``level``; all levels from it on are located."""
        return self.vars.values_below(level)

    @property
    def index(self) -> Var:
        """Index of loops that fill values."""
        return Var(f"q{self.vars.name}")


WriterOf = Callable[[FunctionState, Access], ResultWriter]
"""Function that makes the writer of a result for a function."""
