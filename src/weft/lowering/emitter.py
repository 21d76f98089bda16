"""The emitter of a function's statements, as the parts of the lowering see it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

from ..analysis.merge_lattice import LevelIterator
from ..concrete_notation.nodes import Forall, Stmt
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..records import replace
from .append_writer import AppendWriter
from .environment import Environment
from .function_state import FunctionState
from .positions import locate_levels
from .result_writer import ResultWriter

Bounds = tuple[ir.Expr, ir.Expr] | Mapping[LevelIterator, tuple[ir.Expr, ir.Expr]]
"""The part of a loop that is lowered: its edges, or those of each iterator of a merge."""


class Emitter(ABC):
    """Emitter of statements of one function, whose result ``writer`` writes."""

    def __init__(self, state: FunctionState, writer: ResultWriter):
        self.state, self.context, self.writer = state, state.context, writer
        self.appending = writer if isinstance(writer, AppendWriter) else None  # the writer, if it appends

    @abstractmethod
    def statement(self, stmt: Stmt, env: Environment) -> ir.Stmt:
        """Return the code of a statement."""

    @abstractmethod
    def forall(self, stmt: Forall, env: Environment, bounds: Bounds | None = None) -> ir.Stmt:
        """Return the code of a loop, or of the part of it within ``bounds``."""

    def resolve(self, env: Environment, accesses: Iterable[Access]) -> tuple[Environment, list[ir.Stmt]]:
        """Return ``env`` with levels located whose parent and coordinate are known, and declarations of positions."""
        pos = dict(env.pos)
        stmts: list[ir.Stmt] = []
        for access in dict.fromkeys(accesses):
            if access == self.writer.access:
                stmts += self.writer.locate(replace(env, pos=pos), pos)
            elif access.tensor in self.state.tensors:
                stmts += locate_levels(self.state, access, env, pos)
        return replace(env, pos=pos), stmts
