"""Scheduling by hand: the automatic schedule, changed step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..concrete_notation import Program, to_text, transform, why_not_concrete
from ..errors import ScheduleError
from ..formats import TensorType
from ..index_notation import parse
from ..index_notation import to_text as notation_text
from ..index_notation.nodes import Access, Assignment, Reduce
from ..lowering.iteration_graph import fits
from ..lowering.physical import path
from ..lowering.results import chains
from ..lowering.terms import dtype_of
from ..records import record, replace
from .absorbing import as_planned

__all__ = ["Loops"]


@record
class Loops:
    """The loops of an expression; every method gives the loops after one transformation.

    Printed, it is the concrete index notation as it stands.

    Raises
    ------
    ScheduleError
        By every method, where the transformation does not apply; the message says why, and repeats the expression
        and the formats.
    """

    program: Program
    assignment: Assignment
    types: Mapping[str, TensorType]

    def __str__(self) -> str:
        return to_text(self.program.stmt)

    @property
    def _target(self) -> Access:
        return self.assignment.target

    def _try(self, reason: str | None) -> None:
        if reason is not None:
            formats = ", ".join(f"{name}: {type.format}" for name, type in self.types.items())
            raise ScheduleError(f"{reason}; in {notation_text(self.assignment)} with {formats}")

    def _fits(self, access: Access, order: Sequence[str]) -> str | None:
        type = self.types.get(access.tensor)
        if type is None:
            return None
        known = [v for v in order if v in access.indices]
        variables = path(access, type.format)
        if access == self._target:
            appended = chains(type.format)
            depth = appended[-1].last + 1 if appended else 0
            free = [v for v in order if v in variables]
            if tuple(free[:depth]) != variables[:depth] or tuple(order[:depth]) != variables[:depth]:
                return f"{access.tensor} is appended in the order {', '.join(variables)}"
            return None
        if len(known) == len(set(access.indices)) and not fits(access, type.format, order):
            return f"{access.tensor} is stored {', '.join(variables)} and cannot be traversed {', '.join(known)}"
        return None

    def reorder(self, *order: str) -> Loops:
        """Put directly nested loops in another order."""
        self._try(transform.can_reorder(self.program, order, self._fits))
        return replace(self, program=transform.reorder(self.program, order))

    def precompute(self, part: str, *over: str, name: str = "w", kind: str | None = None) -> Loops:
        """Compute factors into a workspace over the innermost loops ``over`` before they are used.

        ``part`` is index notation, e.g. ``"B(i,k)*C(k,j)"``.
        """
        expr = parse(f"_ = {part}").value
        while isinstance(expr, Reduce):
            expr = expr.body
        expr = as_planned(expr, self.assignment.value)
        kind = kind or ("dense" if over else "scalar")
        self._try(transform.can_precompute(self.program, expr, over, name, kind))
        dtype = dtype_of(expr, {name: type.dtype for name, type in self.types.items()})
        return replace(self, program=transform.precompute(self.program, expr, over, name, dtype, kind))

    def split(self, var: str, outer: str, inner: str, factor: int) -> Loops:
        """Cut a loop into blocks of ``factor`` iterations."""
        self._try(transform.can_split(self.program, var, outer, inner, factor))
        return replace(self, program=transform.split(self.program, var, outer, inner, factor))

    def parallelize(self, var: str) -> Loops:
        """Share the iterations of the outermost loop among threads."""
        self._try(transform.can_parallelize(self.program, var, self._target))
        return replace(self, program=transform.parallelize(self.program, var, self._target))

    def checked(self) -> Program:
        """The program, if it is concrete index notation."""
        self._try(why_not_concrete(self.program, self._target))
        return self.program
