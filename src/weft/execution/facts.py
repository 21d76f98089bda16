"""Facts that the compiler leaves to those who run its kernels: plain records, which the index of plans can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..code_options import CodeOptions
from ..formats import Format, TensorType
from ..formats.size_bound import SizeBound
from ..index_notation.nodes import Access, Assignment
from ..records import record
from ..remapping.nodes import IndexExpr
from ..variant import Variant

if TYPE_CHECKING:
    from .loops import Loops

__all__ = [
    "EntryRequest", "InSteps", "InsertionFacts", "InsertionLevel", "KernelPlan", "LoopFacts", "LoopRequest",
    "PlanFacts", "PlanRequest", "RunFacts", "Steps", "StoredAgain", "ValuesOnly", "WithFills", "WorkspaceFacts",
]  # fmt: skip


@record
class LoopRequest:
    """A request for loops: an assignment, and all that decides how it is computed.

    Parameters
    ----------
    assignment : Assignment
        What they compute.
    types : mapping
        The type of every tensor, the result's included.
    variant : Variant
        What else they are planned for.
    skip_fill : bool
        True to store no entries equal to the fill value.
    lead : Access, optional
        The operand whose index arrays the result shares.
    wide : bool
        True for 64-bit index arrays in the result.
    """

    assignment: Assignment
    types: Mapping[str, TensorType]
    variant: Variant
    skip_fill: bool = False
    lead: Access | None = None
    wide: bool = False


@record
class EntryRequest:
    """A conversion by insertion, for which loops over the entries of the source are planned.

    ``curved`` says that entries come in the order of the target's space-filling curves.
    """

    source: TensorType
    target: TensorType
    skip_fill: bool
    curved: bool
    options: CodeOptions


@record
class WorkspaceFacts:
    """A workspace with an array over ``indices``: the bytes of each element, and whether elements are listed."""

    indices: tuple[str, ...]
    bytes: int
    listed: bool


@record
class StoredAgain:
    """An operand that is converted before the loops run, its new name and format, and the accesses that read it."""

    tensor: str
    name: str
    format: Format
    accesses: tuple[Access, ...]


@record
class InsertionLevel:
    """Assembly of one level of an inserted result, as far as it depends on neither the shape nor the level itself.

    Parameters
    ----------
    passes : tuple of str
        Names of its query pass, and of the pass that collects its coordinates.
    shared : bool
        True if its positions are shared by several entries, which come in any order.
    marks : tuple of (str, tuple of IndexExpr)
        Roles of the arrays in which coordinates are marked, with the coordinates.
    own : str or None
        Role of the array of which each thread has one for itself.
    source_level : int or None
        The level of the source whose coordinate array it takes over.
    """

    passes: tuple[str, ...]
    shared: bool
    marks: tuple[tuple[str, tuple[IndexExpr, ...]], ...]
    own: str | None
    source_level: int | None


@record
class InsertionFacts:
    """The way in which a result is assembled by insertion.

    Parameters
    ----------
    source : TensorType or None
        Type of the tensor whose entries are copied; None for a computation, and where values are added.
    phases : tuple of str
        Names of the passes.
    levels : tuple of InsertionLevel
        The assembly of each level.
    stays : int or None
        The level whose entries keep their positions in the source.
    shares : bool
        True if the result takes over the values of the source.
    copies : bool
        True if the entries keep their order.
    counters : tuple of int
        Levels whose counters are arrays.
    roles : tuple of (int, str)
        Arrays that only the assembly needs, in the order in which the passes take them.
    """

    source: TensorType | None
    phases: tuple[str, ...]
    levels: tuple[InsertionLevel, ...]
    stays: int | None
    shares: bool
    copies: bool
    counters: tuple[int, ...]
    roles: tuple[tuple[int, str], ...]


@record
class LoopFacts:
    """Facts about loops, once they are planned.

    Parameters
    ----------
    text : str
        The assignment.
    target : Access
        The result.
    type : TensorType
        Type of the result.
    operands : tuple of str
        Names of the operands, in the order in which functions take them.
    accesses : tuple of Access
        The distinct accesses to them.
    reductions : tuple of (str, str)
        The reduced variables, each with its operator.
    workspaces : tuple of WorkspaceFacts
        The workspaces that have arrays over variables.
    stored_again : tuple of StoredAgain
        The operands that are converted first.
    final_format : Format or None
        The format to which the result is converted afterwards.
    skip_fill : bool
        True if entries equal to the fill value are not stored.
    variant : Variant
        What they are planned for.
    lead : str or None
        The operand whose index arrays the result shares.
    fills : tuple of (str, RuntimeValue)
        The fill values that functions read when they run, by name.
    insertion : InsertionFacts or None
        How the result is assembled by insertion, if it is.
    """

    text: str
    target: Access
    type: TensorType
    operands: tuple[str, ...]
    accesses: tuple[Access, ...]
    reductions: tuple[tuple[str, str], ...]
    workspaces: tuple[WorkspaceFacts, ...]
    stored_again: tuple[StoredAgain, ...]
    final_format: Format | None
    skip_fill: bool
    variant: Variant
    lead: str | None
    fills: tuple[tuple[str, Any], ...]
    insertion: InsertionFacts | None

    @property
    def appends(self) -> bool:
        """True if entries are appended to a sparse result or located in it; not inserted, nor put at known places."""
        return self.lead is None and self.insertion is None


@record
class RunFacts:
    """Facts about loops, once their functions are lowered.

    Parameters
    ----------
    described : str
        The assignment with the formats and dtypes of its tensors, for messages.
    chunked : bool
        True if threads can share the outermost loop, or the passes of an insertion.
    unsequenced : frozenset of int
        Levels of the result whose arrays functions expect to hold zeros.
    counted : tuple of tuple of str
        The variables of each reduction that counts implicit entries.
    bounds : tuple of SizeBound, or None
        A bound of the size of each append chain; None if the sizes of the operands do not tell it.
    bounded : bool
        True if there is a function that bounds the sizes.
    in_parts : bool
        True if threads can append in parts.
    visited_axes : tuple of int
        Axes of the result all of whose coordinates are visited.
    sums : tuple of tuple of str, or None
        The order in which each element is summed, if it is known and may matter.
    """

    described: str
    chunked: bool = False
    unsequenced: frozenset[int] = frozenset()
    counted: tuple[tuple[str, ...], ...] = ()
    bounds: tuple[SizeBound, ...] | None = None
    bounded: bool = False
    in_parts: bool = False
    visited_axes: tuple[int, ...] = ()
    sums: tuple[tuple[str, ...], ...] | None = None


@record
class Steps:
    """Assignments in the order in which they run; each reads the operands and the results of those before it.

    Parameters
    ----------
    parts : tuple of Assignment
        The intermediate results.
    last : Assignment
        The result, in terms of the parts.
    whole : Assignment
        The result, in terms of the operands.
    reason : str
        Reason why the result is not computed in one step.
    """

    parts: tuple[Assignment, ...]
    last: Assignment
    whole: Assignment
    reason: str

    @property
    def all(self) -> tuple[Assignment, ...]:
        return (*self.parts, self.last)


@record
class KernelPlan:
    """An expression that one kernel computes.

    Parameters
    ----------
    loops : Loops
        The loops of the kernel.
    target : TensorType
        Type of the result.
    alternatives : tuple of str
        Names of the alternatives that the operands of a call may want.
    varies : bool
        True if the result has another format for dimensions that are too large for dense levels.
    alike : tuple of int
        Places of operands whose structure the result has if it is the same for all of them.
    scans : tuple of (int, int)
        Places of vectors that are iterated many times, each with that of the operand whose coordinates cause that.
    """

    loops: Loops
    target: TensorType
    alternatives: tuple[str, ...] = ()
    varies: bool = False
    alike: tuple[int, ...] = ()
    scans: tuple[tuple[int, int], ...] = ()


@record
class ValuesOnly:
    """An expression that reads the stored values of operands as vectors.

    Parameters
    ----------
    assignment : Assignment
        The assignment.
    values : Assignment
        The assignment over stored values.
    target : TensorType
        Type of the result.
    lead : Access or None
        The operand whose index arrays the result shares; None for a number.
    stored : frozenset of str
        Names of the operands whose stored values are vectors; the others are numbers.
    """

    assignment: Assignment
    values: Assignment
    target: TensorType
    lead: Access | None
    stored: frozenset[str]


@record
class InSteps:
    """An expression that several kernels compute, and the format of the result."""

    steps: Steps
    format: Format | None


@record
class WithFills:
    """An expression that is planned for operands of other types, whose fill values the kernel reads when it runs."""

    types: Mapping[str, TensorType]
    fills: Mapping[str, Any]


@record
class PlanFacts:
    """The way in which an expression is computed for operands of certain types.

    Parameters
    ----------
    how : KernelPlan, ValuesOnly, InSteps or WithFills
        The way.
    spreads : bool
        True if the result has elements that no operand stores, by the fill values of its operands.
    may_spread : bool
        True if it may have them, also by a function of a sum.
    """

    how: KernelPlan | ValuesOnly | InSteps | WithFills
    spreads: bool
    may_spread: bool


@record
class PlanRequest:
    """A question for a plan, as ``plan_for`` takes it."""

    assignment: Assignment
    types: tuple[TensorType, ...]
    format: Format | None
    dtype: str | None
    prune: bool
    variant: Variant
