"""Loops over an operand that store values at the operand's positions, since the result shares its index arrays."""

from __future__ import annotations

from collections.abc import Sequence

from ..index_notation.nodes import Access
from ..ir import nodes as ir
from .environment import Environment
from .lowerer import Lowerer
from .result_writer import FunctionKind

__all__ = ["SharedStructureLowerer"]


class SharedStructureLowerer(Lowerer):
    """Lowerer of one program whose result has the index arrays of an operand, so that only values are stored."""

    apart = True  # duplicates of the operand become duplicates of the result
    lead: Access

    def share(self, lead: Access) -> None:
        """Store values at the positions of an operand, and append nothing.

        Parameters
        ----------
        lead : Access
            The operand.
        """
        self.lead = lead
        self.target.chains, self.target.counters = (), ()
        self.target.kind = FunctionKind.COMPUTE  # the arrays of the operand stay as they are

    def position(self, access: Access, env: Environment) -> ir.Expr:
        return super().position(self.lead if access == self.target.access else access, env)

    def resolve(self, env: Environment, targets: Sequence[Access]) -> tuple[Environment, list[ir.Stmt]]:
        # The result has no positions of its own.
        return super().resolve(env, [a for a in targets if a != self.target.access])
