"""Passes over the entries of one tensor, in which each entry is handled otherwise than by an assignment."""

from __future__ import annotations

from ..concrete_notation.nodes import Forall
from ..formats.tensor_vars import TensorVars
from ..lowering.result_writer import ResultWriter


class EntryWriter(ResultWriter):
    """Writer for loops over the entries of one tensor; ``store`` of a subclass writes the code for one entry."""

    keeps_duplicates = finds_positions = True

    def use(self, vars: TensorVars) -> None:
        """Have other variables for the result, whose arrays are parameters of the function."""
        self.vars = self.f.tensors[self.access.tensor] = vars

    def shares(self, loop: Forall) -> bool:
        return False
