"""Assignments in which fill values decide operators (see ``data_annihilators``), and which assignments may be such."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ..doors import Door
from ..index_notation.nodes import Apply, Assignment, Literal
from ..index_notation.operator_table import ABSORBING
from ..index_notation.traversal import walk
from ..records import record

if TYPE_CHECKING:
    from . import data_annihilators
    from .data_annihilators import Absorption
else:
    data_annihilators = Door("weft.execution.data_annihilators")


@record
class Absorbed:
    """An assignment with absorbing operators."""

    assignment: Assignment  # the assignment to be planned
    holding: tuple[Absorption, ...] = ()  # the operators that a fill value decides
    refused: tuple[Absorption, ...] = ()  # the operators that a fill value was expected to decide, and does not
    undecided: tuple[Absorption, ...] = ()  # the operators that a fill value might have decided, and does not

    @property
    def depends_on_values(self) -> bool:
        """True if values of the operands were looked at; those of literals stay the same."""
        return any(a.other.distinct_accesses for a in (*self.holding, *self.refused, *self.undecided))

    def notes(self, assumed: bool) -> str:
        """Return a line for each operator that was looked at: the values, and the consequences.

        The lines say that the values are ``assumed``, or that they were looked at.
        """
        return data_annihilators.notes(self, assumed) if self.holding or self.refused else ""


@lru_cache(maxsize=1024)
def might_absorb(assignment: Assignment) -> bool:
    """Return whether an assignment has operators that might absorb. Operators of constants alone are left out."""
    operators = (node for node in walk(assignment.value) if isinstance(node, Apply) and node.op in ABSORBING)
    return any(any(not isinstance(part, Literal | Apply) for part in walk(operator)) for operator in operators)
