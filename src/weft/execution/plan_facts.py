"""Plans as the compiler decides them: plain records over facts and loops, which the index of plans can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..formats import Format, TensorType
from ..index_notation.nodes import Access, Assignment
from ..index_notation.program import Program
from ..records import record
from ..variant import Variant
from .facts import RowFacts
from .loops import Loops


@record
class KernelPlan:
    """An expression that one kernel computes."""

    loops: Loops  # the loops of the kernel
    target: TensorType  # type of the result
    alternatives: tuple[str, ...] = ()  # names of the alternatives that the operands of a call may want
    varies: bool = False  # whether the result has another format for dimensions that are too large for dense levels
    structure_operands: tuple[int, ...] = ()  # positions of operands that may all share the result's sparsity structure
    # Places of vectors that are iterated many times, each with that of the operand whose coordinates cause that.
    scans: tuple[tuple[int, int], ...] = ()
    rows: RowFacts | None = None  # the operand whose rows may be cut


@record
class ValuesOnly:
    """An expression that reads the stored values of operands as vectors."""

    assignment: Assignment
    values: Assignment  # the assignment over stored values
    target: TensorType  # type of the result
    lead: Access | None  # the operand whose index arrays the result shares; None for a number
    stored: frozenset[str]  # names of the operands whose stored values are vectors; the others are numbers


@record
class InSteps:
    """An expression that several kernels compute, and the format of the result."""

    program: Program
    format: Format | None
    diagonals: bool = False  # whether operands that list their diagonals may turn out to have one


@record
class WithFills:
    """An expression that is planned for operands of other types, whose fill values the kernel reads when it runs."""

    types: Mapping[str, TensorType]
    fills: Mapping[str, Any]


@record
class PlanFacts:
    """The way in which an expression is computed for operands of certain types."""

    how: KernelPlan | ValuesOnly | InSteps | WithFills | None  # None for a conversion
    spreads: bool = False  # whether the result has elements that no operand stores, by the fill values of its operands
    may_spread: bool = False  # whether it may have them, also by a function of a sum


@record
class PlanRequest:
    """A question for a plan, as ``plan_for`` takes it."""

    assignment: Assignment
    types: tuple[TensorType, ...]
    format: Format | None
    dtype: str | None
    prune: bool
    variant: Variant
