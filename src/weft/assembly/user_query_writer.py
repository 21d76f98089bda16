"""Lowering of attribute queries of users: one pass over a tensor answers several queries (2020 paper, section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence

from ..concrete_notation.nodes import Assign, Forall, Program
from ..concrete_notation.traversal import foralls_of
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import block, increment, lit, sub
from ..lowering.environment import Environment
from ..lowering.function_state import FunctionState
from ..lowering.positions import bounds_of
from ..queries import Statement, Width
from ..records import replace
from ..remapping.emit_ir import emit
from ..remapping.nodes import IndexExpr
from . import query_lowering
from .entry_writer import EntryWriter


class UserQueryWriter(EntryWriter):
    """Writer of answers to queries of one tensor, which all ask for widths of segments of its last level, or none does.

    The results are arrays of int64 in row-major order of the coordinates that the queries are over. The arrays must be
    zeroed. The temporaries of the statements that have one are parameters after the results.
    """

    def __init__(self, f: FunctionState, access: Access, statements: Sequence[Statement]):
        super().__init__(f, access)
        self.statements = tuple(statements)
        self.answers = [ir.Var(f"answer{n + 1}", "int64*") for n in range(len(statements))]
        self.temporaries = {
            n: ir.Var(f"temporary{n + 1}", "int64*") for n, s in enumerate(statements) if s.where is not None
        }
        self.use(replace(self.vars, arrays=(*self.answers, *self.temporaries.values())))
        # Widths are answered from the bounds of the innermost loop, which is then not emitted.
        last = foralls_of(f.context.program.stmt)[-1:]
        widths = all(isinstance(s.value, Width) for s in statements)
        self.segments = last[0] if widths and last else None

    @staticmethod
    def innermost(program: Program) -> str | None:
        """Return the variable of the innermost loop, whose segments have the queried widths, or None without loops."""
        loops = foralls_of(program.stmt)
        return loops[-1].var if loops else None

    def epilogue(self) -> ir.Stmt:
        return block(
            *(
                query_lowering.from_histogram(s, self.answers[n], self.temporaries[n], self.vars.dimensions)
                for n, s in enumerate(self.statements)
                if s.where is not None and s.where.op == "+"
            )
        )

    def in_place_of(self, loop: Forall, env: Environment) -> ir.Stmt | None:
        if loop is not self.segments:
            return None
        ((it,),) = (point.coiterate for point in self.f.lattice(loop))
        begin, end = bounds_of(self.f, it, loop.var, env)
        width = sub(end, begin)
        return block(
            *(
                query_lowering.answer(s, self._element(n, s, env), lambda _: width)
                for n, s in enumerate(self.statements)
            )
        )

    def store(self, stmt: Assign, env: Environment) -> ir.Stmt:
        return block(*(self._answer(n, s, env) for n, s in enumerate(self.statements)))

    def _answer(self, n: int, s: Statement, env: Environment) -> ir.Stmt:
        def index(e: IndexExpr) -> ir.Expr:
            return self._expression(e, env)

        # Without a temporary the answer is updated at once; a histogram is evaluated after the loops; otherwise only
        # coordinates without a mark count.
        if s.where is None:
            return query_lowering.answer(s, self._element(n, s, env), index)
        place = query_lowering.place_of(s.where.target.indices, self.vars.dimensions, index)
        if s.where.op == "+":
            return increment(ir.Load(self.temporaries[n], place))
        # The statement's coordinates stand for the leading coordinates of its temporary.
        over = s.where.target.indices[: len(s.target.indices)]
        element = ir.Load(self.answers[n], query_lowering.place_of(over, self.vars.dimensions, index))
        return query_lowering.mark(self.temporaries[n], place, lit(1), query_lowering.answer(s, element, index))

    def _element(self, n: int, s: Statement, env: Environment) -> ir.Load:
        place = query_lowering.place_of(s.target.indices, self.vars.dimensions, lambda e: self._expression(e, env))
        return ir.Load(self.answers[n], place)

    def _expression(self, expr: IndexExpr, env: Environment) -> ir.Expr:
        axes = {axis: env.coords[v] for axis, v in enumerate(self.access.indices) if v in env.coords}
        return emit(expr, axes, self.vars.dimensions)
