"""Attribute queries of users, lowered: one pass over a tensor answers what is asked of it (2020 paper, section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..concrete_notation.nodes import Assign, Forall, Program, Stmt, foralls_of
from ..formats import TensorType
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import block, increment, lit, sub
from ..lowering.environment import Environment
from ..lowering.result_writer import FunctionKind
from ..queries import Statement, Width
from ..records import replace
from ..remapping.emit_ir import emit
from ..remapping.nodes import IndexExpr
from . import query_lowering
from .entry_lowering import EntryLowerer

__all__ = ["UserQueryLowerer"]


class UserQueryLowerer(EntryLowerer):
    """Lowers statements over one tensor; all ask for widths of its last level, or none does.

    The results are arrays of int64, zeroed, in row-major order of what the queries are over; after them come the
    temporaries, one for each statement that has one.

    Parameters
    ----------
    program : Program
        Loops over the tensor around one assignment.
    target : Access
        What is assigned to, which nothing is stored of.
    types : mapping
        The type of every tensor.
    names : mapping
        C names.
    statements : sequence of Statement
        What is asked.
    """

    def __init__(
        self,
        program: Program,
        target: Access,
        types: Mapping[str, TensorType],
        names: Mapping[str, str],
        statements: Sequence[Statement],
    ):
        super().__init__(program, target, types, names, FunctionKind.ASSEMBLE)
        self.statements = tuple(statements)
        self.answers = [ir.Var(f"answer{n + 1}", "int64*") for n in range(len(statements))]
        self.temporaries = {
            n: ir.Var(f"temporary{n + 1}", "int64*") for n, s in enumerate(statements) if s.where is not None
        }
        self.take(replace(self.made, arrays=()), (*self.answers, *self.temporaries.values()))
        last = list(foralls_of(program.stmt))[-1:]
        widths = all(isinstance(s.value, Width) for s in statements)
        self.segments = last[0] if widths and last else None

    @staticmethod
    def innermost(program: Program) -> str | None:
        """The variable of the loop whose segments can be asked for their widths."""
        loops = list(foralls_of(program.stmt))
        return loops[-1].var if loops else None

    def lower(self, operands: Sequence[str]) -> ir.Function:
        body = self.statement(self.program.stmt, Environment())
        ends = [
            query_lowering.from_histogram(s, self.answers[n], self.temporaries[n], self.made.dimensions)
            for n, s in enumerate(self.statements)
            if s.where is not None and s.where.op == "+"
        ]
        return self.function("ask", operands, block(*self.scratch, body, *ends, *self.release))

    def statement(self, stmt: Stmt, env: Environment) -> ir.Stmt:
        if isinstance(stmt, Forall) and stmt is self.segments:
            ((it,),) = (point.coiterate for point in self._lattice(stmt, env))
            begin, end = self._bounds(it, stmt.var, env)
            width = sub(end, begin)
            return block(
                *(
                    query_lowering.answer(s, self._element(n, s, env), lambda _: width)
                    for n, s in enumerate(self.statements)
                )
            )
        return super().statement(stmt, env)

    def assign(self, stmt: Assign, env: Environment) -> ir.Stmt:
        return block(*(self._answer(n, s, env) for n, s in enumerate(self.statements)))

    def _answer(self, n: int, s: Statement, env: Environment) -> ir.Stmt:
        def index(e: IndexExpr) -> ir.Expr:
            return self._index(e, env)

        if s.where is None:
            return query_lowering.answer(s, self._element(n, s, env), index)
        place = query_lowering.place_of(s.where.target.indices, self.made.dimensions, index)
        if s.where.op == "+":
            return increment(ir.Load(self.temporaries[n], place))
        # The statement's own coordinates are names for what the temporary is over.
        over = s.where.target.indices[: len(s.target.indices)]
        element = ir.Load(self.answers[n], query_lowering.place_of(over, self.made.dimensions, index))
        return query_lowering.mark(self.temporaries[n], place, lit(1), query_lowering.answer(s, element, index))

    def _element(self, n: int, s: Statement, env: Environment) -> ir.Load:
        place = query_lowering.place_of(s.target.indices, self.made.dimensions, lambda e: self._index(e, env))
        return ir.Load(self.answers[n], place)

    def _index(self, expr: IndexExpr, env: Environment) -> ir.Expr:
        axes = {axis: env.coords[v] for axis, v in enumerate(self.target.access.indices) if v in env.coords}
        return emit(expr, axes, self.made.dimensions)
