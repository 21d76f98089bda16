"""Assembly by insertion (2020 paper, section 6), for structures whose coordinates cannot be appended in order.

The loops that contribute values to the result run once for each level with an attribute query, from the root down, and
once more to insert every value. They copy the entries of a tensor in a conversion, and compute values otherwise.
Threads share a pass by chunks of the outermost loop.

Each pass has three parts: ``InsertionPlacing`` determines positions, ``InsertionQueries`` answers queries, and
``InsertionThreads`` has the arrays of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..analysis.contributions import contribution_path
from ..analysis.insertion_plan import InsertionPass, InsertionPlan
from ..concrete_notation.nodes import Assign, Forall, Stmt
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import block, cast, if_, lit
from ..lowering.context import LoweringContext
from ..lowering.environment import Environment
from ..lowering.function_kind import FunctionKind
from ..lowering.function_spec import FunctionSpec
from ..lowering.function_state import FunctionState
from ..lowering.operand_values import is_entry, value_of
from ..lowering.scalar_expressions import update
from ..records import replace
from .edge_insertion import EdgeSource, EdgeWriter, adjoining
from .entry_writer import EntryWriter
from .insertion_pass import Reuse, pass_context
from .insertion_placing import InsertionPlacing
from .insertion_queries import InsertionQueries
from .insertion_threads import InsertionThreads


def insertion_function(context: LoweringContext, plan: InsertionPlan, phase: InsertionPass) -> FunctionSpec:
    """Return the function of a pass that assembles a result by insertion."""
    writes_values = (phase.level is None and not Reuse.of(context, plan).values) or context.skip_fill
    kind = FunctionKind.COMPUTE if writes_values else FunctionKind.ASSEMBLE
    return FunctionSpec(phase.name, kind, partial(InsertionWriter, plan=plan, phase=phase))


def can_share(context: LoweringContext) -> bool:
    """Return whether threads can share the outermost loop of a computation."""
    stmt = context.program.stmt
    points = context.lattice(stmt) if isinstance(stmt, Forall) and stmt.parallel else ()
    if len(points) != 1 or len(points[0].coiterate) != 1:
        return False
    (driver,) = points[0].coiterate
    return driver.certain or (driver.level == 0 and driver.format.unique)


class InsertionWriter(EntryWriter):
    """Writer of a pass that assembles a result by insertion."""

    def __init__(self, f: FunctionState, access: Access, plan: InsertionPlan, phase: InsertionPass):
        super().__init__(f, access)
        self.of = of = pass_context(f, plan, phase, self.vars)
        self.use(of.vars)
        self.keeps_duplicates = of.reuse.copied is not None and self._adds_or_keeps(of.reuse.copied)
        self.threads = InsertionThreads(of)
        # Edges of a level whose entries keep their positions are inserted in the last pass.
        self.edges: EdgeWriter | None = None
        if of.inserts and plan.preserving is not None:
            last = plan.preserving + 1
            self.edges = EdgeWriter(self.format.levels[:last], of.vars.levels[:last])
        self.chunk: tuple[EdgeSource, tuple[ir.Var, ir.Var]] | None = None
        self.placing = InsertionPlacing(of, self.threads, self.edges)
        k = phase.level
        self.queries = None if k is None else InsertionQueries(of, k, self.threads, self.placing)

    def _adds_or_keeps(self, copied: Access) -> bool:
        """Return whether duplicates of a tensor are added at their places, or have places of their own."""
        # Other values need the sum of duplicates.
        types = self.f.context.types
        _, added = contribution_path(self.f.context.program.stmt, self.access)
        alone = types[copied.tensor].format.is_unique or not self.format.is_unique
        return alone or (isinstance(added, Assign) and added.op is not None)

    # -- the function -------------------------------------------------------------------------------------------
    @property
    def needs_loops(self) -> bool:
        # A pass without queries only inserts edges.
        return self.queries is None or self.of.phase.collects or bool(self.queries.asked)

    def shares(self, loop: Forall) -> bool:
        return self.threads.share and self.needs_loops

    def prologue(self) -> ir.Stmt:
        return block(self.placing.prologue(), self.threads.blank() if self.of.inserts else block())

    def epilogue(self) -> ir.Stmt:
        ends = self.placing.restore_edges() if self.needs_loops else []
        if self.edges:
            ends.append(self.edges.after(in_chunks=self.chunk is not None))
        return block(*ends, self.queries.epilogue() if self.queries else block())

    # -- statements ---------------------------------------------------------------------------------------------
    def before(self, stmt: Stmt) -> Sequence[ir.Stmt]:
        in_segment = self.queries is not None and stmt is self.queries.segments
        return () if in_segment else self.placing.before(stmt)

    def in_place_of(self, loop: Forall, env: Environment) -> ir.Stmt | None:
        return None if self.queries is None else self.queries.in_place_of(loop, env)

    def locate(self, env: Environment, pos: dict[tuple[Access, int], ir.Expr]) -> Sequence[ir.Stmt]:
        return self.placing.locate(env, pos)

    def store(self, stmt: Assign, env: Environment) -> ir.Stmt:
        """Return the code for one value: an update of answers, a collected coordinate, or the insertion."""
        f, of, dtype = self.f, self.of, self.vars.type.dtype
        # Merged coordinates may be narrow.
        env = replace(env, coords={v: cast(coord, "int64") for v, coord in env.coords.items()})
        value = cast(value_of(f, stmt.value, env), dtype) if f.kind.values else lit(0, dtype)
        coords, stmts = self.placing.coordinates(env)
        if self.queries is not None:
            stmts += self.queries.contribution(coords, env)
        else:
            placing, p = self.placing.placed(of.last_level, coords, env)
            stmts += placing
            # Values that came to the position before are reduced.
            if not of.reuse.values:
                here = ir.Load(self.vars.vals, p)
                stmts.append(ir.Store(here.array, p, value) if stmt.op is None else update(stmt.op, here, value))
        if f.context.skip_fill:
            return if_(is_entry(f, stmt.value, value, self.vars.type.fill, env), block(*stmts))
        return block(*stmts)

    # -- chunks -------------------------------------------------------------------------------------------------
    @property
    def chunks(self) -> ir.Expr:
        return self.threads.chunks

    @property
    def can_be_cut(self) -> bool:
        # The number of entries before a chunk must be known.
        if self.edges is None or not self.edges.has_parents:
            return True
        return adjoining(self.f.context.types[self.of.source.tensor].format)

    def align_chunk(self, edges: tuple[ir.Var, ir.Var], limits: tuple[ir.Expr, ir.Expr]) -> Sequence[ir.Stmt]:
        if self.edges is None or not self.edges.has_parents:
            return ()
        tensor = self.f.tensors[self.of.source.tensor]
        source = EdgeSource(tensor.type, tensor.levels, *limits)
        self.chunk = source, edges
        return tuple(source.behind(edge) for edge in edges)

    def start(self, chunk: ir.Expr) -> ir.Stmt:
        return self.threads.start(chunk)

    def finish(self, chunk: ir.Expr) -> ir.Stmt:
        return self.edges.finish(*self.chunk) if self.edges and self.chunk else block()
