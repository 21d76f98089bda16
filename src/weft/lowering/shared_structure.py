"""Results that share the index arrays of an operand, so that values are stored at the operand's positions."""

from __future__ import annotations

from ..index_notation.nodes import Access
from .function_kind import FunctionKind
from .lowerer import Lowerer
from .result_writer import ResultWriter


class SharedStructureWriter(ResultWriter):
    """Writer of a result that has the index arrays of an operand, so that only values are stored."""

    apart = True  # duplicates of the operand become duplicates of the result
    located = False  # the result has no positions of its own

    def __init__(self, owner: Lowerer, access: Access, lead: Access):
        super().__init__(owner, access)
        self.append_nothing()
        self.lead = lead
        self.kind = FunctionKind.COMPUTE  # the arrays of the operand stay as they are

    @property
    def stands_at(self) -> Access:
        return self.lead
