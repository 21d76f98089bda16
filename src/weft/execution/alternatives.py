"""Alternatives of a plan: other kernels for the same operand types, chosen for each call by the data.

A plan depends on types alone. Each alternative has a condition on the data of a call, which costs next to nothing to
ask. They are asked in the order of ``ALTERNATIVES``, and the first that holds is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..formats.format import level_variables, lists_diagonals
from ..records import record
from ..runtime import for_work
from ..storage import Storage
from ..storage.statistics import is_diagonal
from ..storage.views import share
from . import thresholds
from .assembly import Assembly
from .facts import LoopFacts
from .long_rows import has_long_row
from .structure import same_structure

if TYPE_CHECKING:
    from ..compiler import PlannedLoops


class Plan(Protocol):
    """A plan, as far as the conditions ask it."""

    @property
    def facts(self) -> Any: ...
    @property
    def kernel(self) -> Kernel: ...
    @property
    def has_equal_parallel_loops(self) -> bool: ...
    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]: ...
    def taking(self, alternative: Alternative) -> Plan: ...


class Kernel(Protocol):
    """A kernel, as far as the conditions ask it."""

    @property
    def facts(self) -> LoopFacts: ...
    @property
    def assembly(self) -> Assembly: ...
    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]: ...
    def threads(self, storages: Sequence[Storage]) -> int: ...


Taker = TypeVar("Taker", bound=Any)


@record
class Choice:
    """Loops that are planned, from which a plan may turn to alternatives."""

    loops: PlannedLoops
    operands: tuple[str, ...]  # names of the plan's operands, in order
    varies: bool  # True if the result has another format for dimensions that are too large for dense levels
    structure_operands: tuple[int, ...]  # positions of operands that may all share the result's sparsity structure
    diagonals: bool  # True if operands that list their diagonals may turn out to have one

    @property
    def converts(self) -> bool:
        """True if operands or the result are converted, or values are inserted."""
        s = self.loops.schedule
        made = bool(s.conversions) or self.loops.converts_to is not None or s.insertion is not None
        return made or self.loops.operands != self.operands

    def may_be(self, alternative: Alternative) -> bool:
        """Return whether a plan can have an alternative: one that differs, and keeps the user's own loops."""
        loops = self.loops
        if alternative.optimization in loops.options.disabled:
            return False
        differs = any(getattr(loops.variant, name) != value for name, value in alternative.change.items())
        return differs and (alternative.keeps_order or loops.user_schedule is None) and alternative.possible(self)


@record
class Alternative:
    """Other loops for a plan."""

    name: str
    reason: str  # the condition on the data, in words
    change: Mapping[str, Any]  # Fields of the plan's variant that differ
    possible: Callable[[Choice], bool]  # whether a plan can have it, by types alone
    wanted: Callable[[Any, Sequence[Storage]], bool]  # whether the operands of a call want it, of a plan or kernel
    optimization: str | None = None  # the optimisation that it is, if it is one: ``config.disable`` switches it off
    keeps_order: bool = False  # True if loops that the user has scheduled stay as they are
    # True if calls wait for its kernel to be compiled although that of the usual loops is there, as these may take many
    # times as long.
    must_wait: bool = False


def work(storages: Sequence[Storage]) -> int:
    """Return the number of stored entries of the operands, as an estimate of the work on them."""
    entries = 0
    for s in storages:
        entries += s.vals.size if not s.type.format.is_partial else int(s.vals.size * share(s))
    return entries


def _has_long_axis(plan: Plan, storages: Sequence[Storage]) -> bool:
    """Return whether an axis of an operand is too long for an array over it."""
    return any(max(s.shape, default=0) > thresholds.THRESHOLDS.longest_array for s in storages)


def _has_long_result(plan: Plan, storages: Sequence[Storage]) -> bool:
    """Return whether an axis of the result, which is one of an operand, is too long for an array over it."""
    longest = thresholds.THRESHOLDS.longest_array
    return _has_long_axis(plan, storages) and max(plan.shape(storages), default=0) > longest


def _fills_result(plan: Plan, storages: Sequence[Storage]) -> bool:
    """Return whether most coordinates of the result are expected to get a value."""
    sizes = thresholds.THRESHOLDS
    return prod(plan.shape(storages)) <= sizes.flagged_coordinates + sizes.coordinates_per_entry * work(storages)


def _scans_long_vector(plan: Plan, storages: Sequence[Storage]) -> bool:
    """Return whether a vector has many more entries than the rows for each of which it would be scanned."""
    sizes = thresholds.THRESHOLDS
    for vector, other in plan.facts.how.scans:
        entries, around, size = storages[vector].vals.size, storages[other], storages[vector].shape[0]
        rows = min(prod(around.shape) // max(size, 1), around.vals.size)
        if entries > sizes.scanned_entries and entries * rows > sizes.scan_ratio * around.vals.size:
            return True
    return False


def _has_one_structure(plan: Plan, storages: Sequence[Storage]) -> bool:
    """Return whether the operands that may have one structure have it."""
    return same_structure([storages[n] for n in plan.facts.how.structure_operands])


def _has_work_for_threads(plan: Plan, storages: Sequence[Storage]) -> bool:
    """Return whether several threads have enough to do, and each element is summed in the same order by them.

    A sparse operand that is converted must be read for many elements of the result.
    """
    if for_work(work(storages)) < 2 or not plan.has_equal_parallel_loops:
        return False
    facts = plan.taking(PARALLEL_LOOPS).kernel.facts
    extents = dict(zip(facts.target.indices, plan.shape(storages), strict=True))
    converted = [a for c in facts.stored_again if not c.format.is_dense for a in c.accesses]
    reads = (prod(n for v, n in extents.items() if v not in a.indices) for a in converted)
    return all(n >= thresholds.THRESHOLDS.reads_of_converted for n in reads)


def _has_one_diagonal(plan: Plan, storages: Sequence[Storage]) -> bool:
    """Return whether operands that list their diagonals have no other than the main one."""
    return all(is_diagonal(s) for s in storages if lists_diagonals(s.type.format))


FEW_FOR_ROWS = 1 << 18
"""Entries of an operand up to which it is not asked whether a row has many of them, since that takes some time."""


def _has_long_row(plan: Plan, storages: Sequence[Storage]) -> bool:
    """Return whether a row has so many entries that threads share it, whatever their number is."""
    rows = plan.facts.how.rows
    storage = storages[rows.operand]
    return storage.vals.size > FEW_FOR_ROWS and has_long_row(storage, rows)


def _sizes(kernel: Kernel, storages: Sequence[Storage]) -> dict[str, int]:
    shapes = {name: s.shape for name, s in zip(kernel.facts.operands, storages, strict=True)}
    return {v: n for a in kernel.facts.accesses for v, n in zip(a.indices, shapes[a.tensor], strict=True)}


def _level_sizes(kernel: Kernel, storages: Sequence[Storage]) -> dict[str, int]:
    """Return the number of coordinates of each variable, those of levels among them."""
    facts, sizes = kernel.facts, _sizes(kernel, storages)
    formats = {name: s.type.format for name, s in zip(facts.operands, storages, strict=True)}
    for a in (*facts.accesses, facts.target):
        format = formats.get(a.tensor, facts.type.format)
        if format.is_structured:
            ends = format.remapping.extents([sizes[v] for v in a.indices])
            levels = zip(level_variables(a, format), ends, strict=True)
            sizes |= {v: end[1] - end[0] for v, end in levels if end is not None}
    return sizes


def _has_large_workspace(kernel: Kernel, storages: Sequence[Storage]) -> bool:
    """Return whether a workspace that lists coordinates has too many for an array."""
    listed = [w for w in kernel.facts.workspaces if w.listed]
    sizes, most = _level_sizes(kernel, storages) if listed else {}, thresholds.THRESHOLDS.workspace_coordinates
    return any(prod(sizes[v] for v in w.indices) > most for w in listed)


def _has_far_coordinates(kernel: Kernel, storages: Sequence[Storage]) -> bool:
    """Return whether coordinates of the result do not fit its index arrays; those of a conversion are its caller's."""
    sizes, facts = _sizes(kernel, storages), kernel.facts
    return not facts.variant.conversion and kernel.assembly.needs_wide_index(
        tuple([sizes[v] for v in facts.target.indices])
    )


def _appends_in_parts(kernel: Kernel, storages: Sequence[Storage]) -> bool:
    """Return whether threads append parts of the result, if the parts fit in memory."""
    return kernel.threads(storages) > 1 and kernel.assembly.appends_in_parts(kernel.shape(storages))


EQUAL_STRUCTURES = Alternative(
    "equal structures",
    "operands of one format have equal index arrays, so that the result shares them, and only values are computed",
    {"same_structure": True},
    lambda choice: bool(choice.structure_operands),
    _has_one_structure,
    "equal-structures",
)
ONE_DIAGONAL = Alternative(
    "one diagonal",
    "an operand has the main diagonal alone, so that a product with it scales rows or columns",
    {"one_diagonal": True},
    attrgetter("diagonals"),
    _has_one_diagonal,
    "one-diagonal",
    must_wait=True,
)
NO_DENSE_LEVELS = Alternative(
    "no dense levels",
    f"an axis has more than {thresholds.Thresholds().longest_array} coordinates, so that no array is made over it",
    {"no_dense_levels": True},
    lambda choice: choice.converts,  # which may make a dense level that large axes do not allow
    _has_long_axis,
    keeps_order=True,
)
NO_DENSE_RESULT = Alternative(
    "no dense result",
    f"an axis of the result has more than {thresholds.Thresholds().longest_array} coordinates, so that no array is "
    "made over it",
    {"no_dense_result": True},
    lambda choice: choice.varies,
    _has_long_result,
    keeps_order=True,
)
DENSE_RESULT = Alternative(
    "dense result",
    "most coordinates of the result are expected to get a value, so that all are flagged instead of listed",
    {"accumulator": "dense"},
    attrgetter("loops.schedule.dense_result_possible"),
    _fills_result,
    "dense-result",
)
HASH_LOOKUP = Alternative(
    "hash lookup",
    "a vector has many more entries than the rows that it is multiplied with, so that it is looked up, not scanned",
    {"hash_lookup": True},
    attrgetter("loops.schedule.repeated_scans"),  # an empty tuple if there are none
    _scans_long_vector,
    "hash-lookup",
    must_wait=True,
)
LONG_ROWS = Alternative(
    "long rows",
    "a row has a large part of the entries, so that it is cut into pieces, whose sums are joined in order",
    {"long_rows": True},
    attrgetter("loops.schedule.rows"),  # None if rows cannot be cut
    _has_long_row,
    "positions",
    must_wait=True,
)
PARALLEL_LOOPS = Alternative(
    "parallel loops",
    "several threads have enough to do, so that they get loops that they can share",
    {"parallel_loops": True},
    attrgetter("loops.schedule.serial"),
    _has_work_for_threads,
    "parallel-loops",
)


def _by_kernel(choice: Choice) -> bool:
    """Return False: a plan has no such alternative, since its kernel takes it by itself."""
    return False


HASH_WORKSPACE = Alternative(
    "hash workspace",
    f"a workspace over more than {thresholds.Thresholds().workspace_coordinates} coordinates would be too large, "
    "so that it is a hash table",
    {"accumulator": "hash"},
    _by_kernel,
    _has_large_workspace,
)
WIDE_INDEX = Alternative(
    "wide index",
    "coordinates of the result exceed 32 bits, so that its index arrays have 64 bits",
    {"wide_index": True},
    _by_kernel,
    _has_far_coordinates,
    keeps_order=True,
)
PARALLEL_APPEND = Alternative(
    "parallel append",
    "several threads have enough to do, so that each appends parts of the result to memory of its own",
    {},  # other functions of the same loops
    _by_kernel,
    _appends_in_parts,
)
BY_SHAPE = (HASH_WORKSPACE, WIDE_INDEX)
"""The alternatives that kernels take by themselves, once for all operands of some shapes.

No call asks for them: small ones would take longer. Kernels of conversions, which no plan has planned, take them, too.
Positions beyond 32 bits, which only a run can count, lead to wide index arrays as well.
"""

ALTERNATIVES = (
    *(
        ONE_DIAGONAL,
        EQUAL_STRUCTURES,
        NO_DENSE_LEVELS,
        NO_DENSE_RESULT,
        DENSE_RESULT,
        HASH_LOOKUP,
        LONG_ROWS,
        PARALLEL_LOOPS,
    ),
    *(*BY_SHAPE, PARALLEL_APPEND),
)
"""The alternatives in the order in which they are tried."""


def follow(taker: Taker, storages: Sequence[Storage]) -> tuple[Taker, list[Alternative]]:
    """Return the plan or kernel that runs for these operands, and the alternatives that lead to it."""
    taken = list[Alternative]()
    while (alternative := taker.wanted(storages)) is not None:
        taken.append(alternative)
        taker = taker.taking(alternative)
    return taker, taken
