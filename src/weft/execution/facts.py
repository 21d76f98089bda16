"""Facts that the compiler leaves to those who run its kernels: plain records, which the index of plans can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..code_options import CodeOptions
from ..formats import Format, TensorType
from ..formats.append_chains import AppendChain, append_chains
from ..formats.size_bound import SizeBound
from ..index_notation.nodes import Access, Assignment
from ..index_notation.standard_names import copy_of
from ..queries import Statement
from ..records import record
from ..remapping.nodes import IndexExpr
from ..variant import Variant


@record
class Source:
    """An assignment and the types of its operands: all that a result follows from. A conversion is one that copies."""

    assignment: Assignment
    types: tuple[TensorType, ...]  # in the order in which the assignment reads the operands
    skip_fill: bool = False  # whether to leave out entries equal to the fill value
    variant: Variant = Variant(conversion=True)  # what else the loops of an expression are planned for

    @classmethod
    def copy(cls, type: TensorType, skip_fill: bool = False) -> Source:
        """Return what is copied from a tensor of a type."""
        return cls(copy_of(type.format.order), (type,), skip_fill)

    @property
    def type(self) -> TensorType:
        """The type of the tensor that is copied."""
        return self.types[0]

    def with_result(self, target: TensorType) -> dict[str, TensorType]:
        """Return the types of all tensors, by name."""
        names = dict.fromkeys(a.tensor for a in self.assignment.value.distinct_accesses)
        return {self.assignment.target.tensor: target, **dict(zip(names, self.types, strict=True))}


@record
class LoopRequest:
    """A request for loops: an assignment, and all that decides how it is computed."""

    assignment: Assignment  # what they compute
    types: Mapping[str, TensorType]  # the type of every tensor, the result's included
    variant: Variant  # what else they are planned for
    skip_fill: bool = False  # whether to store no entries equal to the fill value
    lead: Access | None = None  # the operand whose index arrays the result shares
    via: Format | None = None  # the format that they write if it is converted to that of the result


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
class TableRequest:
    """An insertion of coordinate lists into hash tables, for which loops over the list are planned."""

    source: TensorType
    target: TensorType
    adds: bool  # whether values are added to stored ones, which they replace otherwise
    options: CodeOptions


@record
class QueryRequest:
    """Attribute queries about a tensor, which one pass over its entries answers."""

    type: TensorType
    statements: tuple[Statement, ...]
    options: CodeOptions


Request = LoopRequest | EntryRequest | TableRequest | QueryRequest
"""A question for loops."""


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
    """Assembly of one level of an inserted result, as far as it depends on neither the shape nor the level itself."""

    passes: tuple[str, ...]  # names of its query pass, and of the pass that collects its coordinates
    shared: bool  # whether its positions are shared by several entries, which come in any order
    # Roles of the arrays in which coordinates are marked, with the coordinates.
    marks: tuple[tuple[str, tuple[IndexExpr, ...]], ...]
    own: str | None  # role of the array of which each thread has one for itself
    source_level: int | None  # the level of the source whose coordinate array it takes over


@record
class InsertionFacts:
    """The way in which a result is assembled by insertion."""

    # Type of the tensor whose entries are copied; None for a computation, and where values are added.
    source: TensorType | None
    phases: tuple[str, ...]  # names of the passes
    levels: tuple[InsertionLevel, ...]  # the assembly of each level
    stays: int | None  # the level whose entries keep their positions in the source
    shares: bool  # whether the result takes over the values of the source
    fills_rows: bool  # whether loops fill the values, row by row
    copies: bool  # whether the entries keep their order
    counters: tuple[int, ...]  # levels whose counters are arrays
    # Arrays that only the assembly needs, in the order in which the passes take them.
    roles: tuple[tuple[int, str], ...]


@record
class LoopFacts:
    """Facts about loops, once they are planned."""

    text: str  # the assignment
    target: Access  # the result
    type: TensorType  # that of the result
    operands: tuple[str, ...]  # names of the operands, in the order in which functions take them
    accesses: tuple[Access, ...]  # the distinct accesses to them
    reductions: tuple[tuple[str, str], ...]  # the reduced variables, each with its operator
    workspaces: tuple[WorkspaceFacts, ...]  # the workspaces that have arrays over variables
    stored_again: tuple[StoredAgain, ...]  # the operands that are converted first
    converts_to: Format | None  # the format to which a step converts the result
    skip_fill: bool  # whether entries equal to the fill value are not stored
    variant: Variant  # what they are planned for
    lead: str | None  # the operand whose index arrays the result shares
    fills: tuple[tuple[str, Any], ...]  # the fill values that functions read when they run, by name
    insertion: InsertionFacts | None  # how the result is assembled by insertion, if it is
    # Whether values are appended in the order of a source, so that the result takes them over if it has all of them.
    keeps_values: bool = False
    kept_levels: tuple[tuple[int, int], ...] = ()  # levels whose coordinates it takes over, each with the source's

    @property
    def appends(self) -> bool:
        """True if entries are appended to a sparse result or located in it; not inserted, nor put at known places."""
        return self.lead is None and self.insertion is None

    @property
    def chains(self) -> tuple[AppendChain, ...]:
        """The append chains of a result to which entries are appended; none for other results."""
        return append_chains(self.type.format) if self.appends else ()

    @property
    def inserted(self) -> InsertionFacts:
        """The way in which a result is assembled by insertion, if it is."""
        assert self.insertion is not None
        return self.insertion


@record
class RunFacts:
    """Facts about loops, once their functions are lowered."""

    described: str  # the assignment with the formats and dtypes of its tensors, for messages
    chunked: bool = False  # whether threads can share the outermost loop, or the passes of an insertion
    unsequenced: frozenset[int] = frozenset()  # levels of the result whose arrays functions expect to hold zeros
    counted: tuple[tuple[str, ...], ...] = ()  # the variables of each reduction that counts implicit entries
    # A bound of the size of each append chain; None if the sizes of the operands do not tell it.
    bounds: tuple[SizeBound, ...] | None = None
    bounded: bool = False  # whether there is a function that bounds the sizes
    in_parts: bool = False  # whether threads can append in parts
    visited_axes: tuple[int, ...] = ()  # axes of the result all of whose coordinates are visited
    # The order in which each element is summed, if it is known and may matter.
    sums: tuple[tuple[str, ...], ...] | None = None


@record
class RowFacts:
    """An operand whose rows may be cut, and the arrays that tell how many entries each has.

    These are the edges of segments, from the innermost level up, or the first coordinates of all entries.
    """

    operand: int  # its place
    arrays: tuple[int, ...]  # places among its arrays
    listed: bool  # whether there is one array of coordinates
    piece: int  # the number of entries in a piece
    parts: int  # a long row has more than all entries divided by this number
