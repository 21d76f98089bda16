"""Passes over the entries of one tensor, in which each entry is handled otherwise than by an assignment."""

from __future__ import annotations

from collections.abc import Sequence

from ..concrete_notation.nodes import Forall
from ..concrete_notation.traversal import assignments
from ..concrete_notation.values import without_conversions
from ..formats.tensor_vars import TensorVars
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import block
from ..lowering.lowerer import Lowerer
from ..lowering.result_writer import ResultWriter
from ..records import cached, replace


class EntryWriter(ResultWriter):
    """Writer for loops over the entries of one tensor; ``store`` of a subclass writes the code for one entry.

    Nothing is appended, and the loops locate no position of the result.
    """

    apart = places = True
    located = False

    def __init__(self, owner: Lowerer, access: Access):
        super().__init__(owner, access)
        self.append_nothing()

    @cached
    def source(self) -> Access:
        """Return the access that reads the tensor whose entries the loops are over."""
        values = (without_conversions(s.value) for s in assignments(self.owner.program.stmt))
        return next(a for value in values for a in value.distinct_accesses)

    def take(self, vars: TensorVars, arrays: Sequence[ir.Var]) -> None:
        """Add ``arrays`` to the parameters of the function, after the arrays of the result."""
        self.vars = replace(vars, arrays=(*vars.arrays, *arrays))
        self.owner.tensors[self.access.tensor] = self.vars

    def shares(self, loop: Forall) -> bool:
        return False

    def init(self) -> ir.Stmt:
        return block()

    def epilogue(self) -> ir.Stmt:
        return block()
