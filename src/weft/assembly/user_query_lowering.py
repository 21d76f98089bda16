"""Lowering of attribute queries of users: one pass over a tensor answers several queries (2020 paper, section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..code_options import CodeOptions
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
    """Lowerer of queries of one tensor, which all ask for widths of segments of its last level, or none does.

    The results are arrays of int64 in row-major order of the coordinates that the queries are over. The arrays must be
    zeroed. The temporaries of the statements that have one are parameters after the results.

    Parameters
    ----------
    program : Program
        Loops over the tensor around one assignment.
    target : Access
        The assigned tensor, of which nothing is stored.
    types : mapping
        The type of every tensor by name.
    names : mapping
        The C name of every tensor and index variable.
    statements : sequence of Statement
        The statements of the queries.
    options : CodeOptions
        The settings that affect code.
    """

    def __init__(
        self,
        program: Program,
        target: Access,
        types: Mapping[str, TensorType],
        names: Mapping[str, str],
        statements: Sequence[Statement],
        options: CodeOptions,
    ):
        super().__init__(program, target, types, names, FunctionKind.ASSEMBLE, options)
        self.statements = tuple(statements)
        self.answers = [ir.Var(f"answer{n + 1}", "int64*") for n in range(len(statements))]
        self.temporaries = {
            n: ir.Var(f"temporary{n + 1}", "int64*") for n, s in enumerate(statements) if s.where is not None
        }
        self.take(replace(self.made, arrays=()), (*self.answers, *self.temporaries.values()))
        # Widths are answered from the bounds of the innermost loop, which is then not emitted.
        last = list(foralls_of(program.stmt))[-1:]
        widths = all(isinstance(s.value, Width) for s in statements)
        self.segments = last[0] if widths and last else None

    @staticmethod
    def innermost(program: Program) -> str | None:
        """Return the variable of the innermost loop, whose segments have the queried widths, or None without loops."""
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
            ((it,),) = (point.coiterate for point in self.lattice(stmt, env))
            begin, end = self.bounds_of(it, stmt.var, env)
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

        # Without a temporary the answer is updated at once; a histogram is evaluated after the loops; otherwise only
        # coordinates without a mark count.
        if s.where is None:
            return query_lowering.answer(s, self._element(n, s, env), index)
        place = query_lowering.place_of(s.where.target.indices, self.made.dimensions, index)
        if s.where.op == "+":
            return increment(ir.Load(self.temporaries[n], place))
        # The statement's coordinates stand for the leading coordinates of its temporary.
        over = s.where.target.indices[: len(s.target.indices)]
        element = ir.Load(self.answers[n], query_lowering.place_of(over, self.made.dimensions, index))
        return query_lowering.mark(self.temporaries[n], place, lit(1), query_lowering.answer(s, element, index))

    def _element(self, n: int, s: Statement, env: Environment) -> ir.Load:
        place = query_lowering.place_of(s.target.indices, self.made.dimensions, lambda e: self._index(e, env))
        return ir.Load(self.answers[n], place)

    def _index(self, expr: IndexExpr, env: Environment) -> ir.Expr:
        axes = {axis: env.coords[v] for axis, v in enumerate(self.target.access.indices) if v in env.coords}
        return emit(expr, axes, self.made.dimensions)
