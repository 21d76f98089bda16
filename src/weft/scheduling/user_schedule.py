"""Scheduling by hand: the automatic schedule, changed step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.iteration_graph import fits
from ..analysis.terms import dtype_of
from ..concrete_notation import Program, assignments, to_text, transformations, why_not_concrete
from ..concrete_notation.nodes import Positions
from ..concrete_notation.traversal import foralls_of
from ..errors import ScheduleError
from ..formats import TensorType
from ..formats.append_chains import append_chains
from ..formats.format import dtypes_of, level_variables
from ..index_notation import parse
from ..index_notation import to_text as notation_text
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Reduce
from ..index_notation.operator_table import ABSORBING
from ..index_notation.traversal import accesses, rewrite, rewrite_outermost, walk
from ..records import record, replace
from .long_rows import why_rows_stay_whole, with_rows_cut
from .positions import ENTRIES, cut_sums, why_no_scatter, why_not_cut


@record
class LoopNest:
    """The loops of an expression, with concrete notation as text; methods return the loops after a transformation."""

    program: Program
    assignment: Assignment  # the assignment that they compute
    types: Mapping[str, TensorType]  # Types of the tensors

    def __str__(self) -> str:
        return to_text(self.program.stmt)

    @property
    def _target(self) -> Access:
        return self.assignment.target

    def _try(self, reason: str | None) -> None:
        if reason is not None:
            formats = ", ".join(f"{name}: {type.format}" for name, type in self.types.items())
            raise ScheduleError(f"{reason}; in {notation_text(self.assignment)} with {formats}")

    # The reason for which the loop order does not suit an access; None if it does.
    def _fits(self, access: Access, order: Sequence[str]) -> str | None:
        type = self.types.get(access.tensor)
        if type is None:
            return None
        loops = [v for v in order if v in access.indices]
        variables = level_variables(access, type.format)
        if access == self._target:
            appended = append_chains(type.format)
            depth = appended[-1].last + 1 if appended else 0
            free = [v for v in order if v in variables]
            if tuple(free[:depth]) != variables[:depth] or tuple(order[:depth]) != variables[:depth]:
                return f"{access.tensor} is appended in the order {', '.join(variables)}"
            return None
        if len(loops) == len(set(access.indices)) and not fits(access, type.format, order):
            return f"{access.tensor} is stored {', '.join(variables)} and cannot be traversed {', '.join(loops)}"
        return None

    def reorder(self, *order: str) -> LoopNest:
        """Put directly nested loops in another order."""
        self._try(transformations.can_reorder(self.program, order, self._fits))
        return replace(self, program=transformations.reorder(self.program, order))

    def precompute(self, part: str, *over: str, name: str = "w", kind: str | None = None) -> LoopNest:
        """Compute factors into a workspace over the innermost loops ``over`` before they are used."""
        expr = parse(f"_ = {part}").value
        while isinstance(expr, Reduce):
            expr = expr.body
        expr = _as_planned(expr, self.assignment.value)
        kind = kind or ("dense" if over else "scalar")
        self._try(transformations.can_precompute(self.program, expr, over, name, kind))
        dtype = dtype_of(expr, dtypes_of(self.types))
        return replace(self, program=transformations.precompute(self.program, expr, over, name, dtype, kind))

    def split(self, var: str, outer: str, inner: str, factor: int) -> LoopNest:
        """Cut a loop into blocks of ``factor`` iterations."""
        self._try(transformations.can_split(self.program, var, outer, inner, factor))
        return replace(self, program=transformations.split(self.program, var, outer, inner, factor))

    def parallelize(self, var: str) -> LoopNest:
        """Share the iterations of the outermost loop among threads."""
        self._try(transformations.can_parallelize(self.program, var, self._target))
        return replace(self, program=transformations.parallelize(self.program, var, self._target))

    def positions(self, operand: str, level: int, share: int = ENTRIES) -> LoopNest:
        """Cut the loop over an operand's outermost level into shares of ``share`` positions of a level of it.

        Levels count from 1. Threads sum shares apart, and the sums are joined in order. If threads share the rows of
        the result, only long rows are cut.
        """
        read = [a for s in assignments(self.program.stmt) for a in accesses(s.value) if a.tensor == operand]
        self._try(None if read and operand in self.types else f"{operand} is no operand of these loops")
        self._try(why_not_cut(read[0], self.types, self._target, level, share))
        shared = Positions(read[0], level - 1, share)
        if self.program.shared_loop is not None:
            self._try(why_rows_stay_whole(self.program, self._target, self.types, read[0], level - 1))
            return replace(self, program=with_rows_cut(self.program, shared))
        v = level_variables(read[0], self.types[operand].format)[0]
        stmt = cut_sums(self.program.stmt, self._target, lambda loop: shared if loop.var == v else loop.positions)
        program = replace(self.program, stmt=stmt)
        loops = [loop for loop in foralls_of(self.program.stmt) if loop.var == v]
        reasons = [reason for loop in loops if (reason := why_no_scatter(loop, self._target)) is not None]
        other = f"the loop over {v} is inside another one, or what it computes is collected first"
        self._try(None if program.shares == shared else next(iter(reasons), other))
        return replace(self, program=program)

    def checked(self) -> Program:
        """Return the program if it is concrete index notation; raise ScheduleError otherwise."""
        self._try(why_not_concrete(self.program, self._target))
        return self.program


def _as_planned(part: Expr, expr: Expr) -> Expr:
    """Return an expression as part of a planned one, with the planned operators that absorb.

    An operator that the plan replaced by an absorbing one is found by its plain name.
    """
    plain = {name: op for op, names in ABSORBING.items() for name in names.values()}

    def spelt(node: Expr) -> Expr | None:
        return Apply(plain[node.op], node.args) if isinstance(node, Apply) and node.op in plain else None

    planned = {rewrite(node, spelt): node for node in walk(expr)}
    return rewrite_outermost(part, planned.get)
