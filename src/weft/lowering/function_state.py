"""The state of one function while it is lowered: its kind, the names that it declares, and its scratch memory."""

from __future__ import annotations

from math import inf

from ..analysis.merge_lattice import LevelIterator, Point, TooManyCases
from ..concrete_notation.nodes import Forall
from ..ir import nodes as ir
from .context import LoweringContext
from .function_kind import FunctionKind


class FunctionState:
    """State of one function of a program; ``context`` is what all functions of the program share."""

    def __init__(self, context: LoweringContext, kind: FunctionKind, most: float = inf):
        self.context, self.kind = context, kind
        self.names = context.used_names.copy()
        # The variables of tensors and workspaces; writers and workspaces add arrays of their own.
        self.tensors = dict(context.tensors)
        # Allocation and release of workspaces, once for each thread.
        self.scratch: list[ir.Stmt] = []
        self.release: list[ir.Stmt] = []
        self.blocks: dict[str, ir.Expr] = {}  # the number of iterations in a block, by the variable of the blocks
        self.widest = ir.Var("widest")  # the variable that loops set which count values (``FunctionKind.WIDEST``)
        self.padded: dict[str, ir.Expr] = {}  # sizes of axes, by the variables of coordinates that mark padding
        self.chunked = False  # whether threads share the outermost loop
        # The lattices of the loops, for explanations; more cases of all together than ``most`` raise ``TooManyCases``.
        self.lattices: list[tuple[str, tuple[Point, ...]]] = []
        self.most, self.cases = most, 0

    def name(self, stem: str) -> ir.Var:
        """Return a variable whose name begins with ``stem`` and is declared nowhere else."""
        return self.names.fresh(stem)

    @property
    def holds_values(self) -> bool:
        """True if workspaces hold values, which are written to the result or decide which entries are stored."""
        decides = self.context.skip_fill and self.kind in (FunctionKind.COUNT, FunctionKind.ASSEMBLE)
        return self.kind.values or decides

    def lattice(self, stmt: Forall) -> tuple[Point, ...]:
        """Return the points of the merge lattice of a loop that is emitted."""
        points = self.context.lattice(stmt, self.most)
        self.lattices.append((stmt.var, points))
        return points

    def driver_of(self, stmt: Forall) -> LevelIterator | None:
        """Return the single iterator of a plain loop, or None for a merge."""
        points = self.context.lattice(stmt, self.most)
        return points[0].coiterate[0] if len(points) == 1 and len(points[0].coiterate) == 1 else None

    def count_cases(self, number: int) -> None:
        """Add ``number`` to the cases of all merges, or raise ``TooManyCases``."""
        self.cases += number
        if self.cases > self.most:
            raise TooManyCases
