"""The compiler: index notation and tensor types to C, as one list of passes. All C of weft is made here.

``plan_loops`` is the front half, which decides by types alone in which loops an assignment is computed. ``lower`` makes
a function of these loops. ``generate`` is the back half: passes that make the same loops faster, then C. A ``Trace``
checks the result of each pass, or keeps it for ``explain`` and ``WEFT_DEBUG``. ``module.py`` knows which functions
loops become.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from math import inf

from .analysis.iteration_graph import Types
from .analysis.merge_lattice import Point
from .assembly.placement import placed
from .code_options import CodeOptions
from .codegen import CText, print_module
from .codegen.prelude import LONG
from .codegen.support.arithmetic import SCALAR_POWERS
from .codegen.support.vectors import MANY
from .concrete_notation.traversal import assignments
from .errors import ScheduleError
from .formats import Format, TensorType
from .formats.append_chains import coordinate_list_format, is_unordered_list
from .index_notation import explicit_sums
from .index_notation.nodes import Access, Assignment
from .index_notation.standard_names import copy_of
from .index_notation.traversal import accesses
from .ir import Function
from .ir.passes.merge_branches import merge_branches
from .ir.passes.partial_sums import partial_sums
from .ir.passes.polling import with_polls
from .ir.passes.prefetch_streams import prefetch_memory, prefetch_rows
from .ir.passes.reciprocals import divide_by_reciprocals
from .ir.passes.register_blocks import blocks_in_registers
from .ir.passes.scalar_powers import scalar_powers
from .ir.passes.serial_scans import serial_scans
from .ir.passes.simplify import simplify
from .ir.passes.single_entries import single_entries
from .ir.passes.vector_math import batch_math_calls
from .lowering.context import LoweringContext
from .lowering.function_spec import FunctionSpec
from .lowering.lowerer import Lowerer
from .optimiser import one_order, one_sum
from .records import record, replace
from .remapping import Remapping
from .scheduling.operand_conversions import widest_index
from .scheduling.positions import share_positions
from .scheduling.schedule import Schedule, cheapest_schedule, forms_of, share_loop, views_of
from .scheduling.shared_structure import share_structure
from .scheduling.tiling import tile_entries, tile_loops
from .scheduling.user_schedule import LoopNest
from .tracing import Trace
from .variant import DEFAULT, Variant

UserSchedule = Callable[[LoopNest], LoopNest]
"""A user's changes of the automatic schedule."""


@record
class PlannedLoops:
    """The loops in which an assignment is computed, and what they are planned for."""

    assignment: Assignment  # with explicit sums
    schedule: Schedule
    operands: tuple[str, ...]  # those of the functions in order, converted ones under their new names
    types: Mapping[str, TensorType]
    variant: Variant
    replan: Callable[..., object]  # plans them again, with a ``trace`` that keeps what each pass returns
    skip_fill: bool = False  # whether entries equal to the fill value are not stored
    user_schedule: UserSchedule | None = None
    lead: Access | None = None  # the operand whose index arrays the result shares, instead of arrays of its own
    via: Format | None = None  # the format near by that they write, if that was asked for

    @property
    def options(self) -> CodeOptions:
        """The settings that affect code."""
        return self.variant.options

    @property
    def appends(self) -> bool:
        """True if entries are appended to a sparse result or located in it; not inserted, nor put at known places."""
        return self.lead is None and self.schedule.insertion is None

    @property
    def converts_to(self) -> Format | None:
        """The format to which a step converts the result; None if the loops write it, or insert values into it."""
        schedule, wanted = self.schedule, self.types[self.schedule.target.tensor].format
        return None if schedule.insertion is not None or schedule.result.format == wanted else wanted

    @property
    def notes(self) -> tuple[str, ...]:
        """Decisions and their reasons, and the data for which others are taken, for ``explain``."""
        format, to = self.schedule.result.format, self.converts_to
        if self.schedule.insertion is not None:
            first = [f"values are inserted into {format} as they are computed"]
        elif to is not None and is_unordered_list(format):
            sorts = "a coordinate list is appended, sorted and summed"
            first = [f"no level of {to} can be assembled in this loop order: {sorts}"]
        else:
            first = [] if to is None else [f"the result is computed in {format} and converted to {to}"]
        return (*first, *self.schedule.notes)


def plan_loops(
    assignment: Assignment,
    types: Mapping[str, TensorType],
    variant: Variant = DEFAULT,
    *,
    skip_fill: bool = False,
    user_schedule: UserSchedule | None = None,
    via: Format | None = None,
    trace: Trace | None = None,
) -> PlannedLoops:
    """Decide in which loops an assignment is computed, and perhaps ``via`` which format, which is then converted."""
    again = partial(plan_loops, assignment, types, variant, skip_fill=skip_fill, user_schedule=user_schedule, via=via)
    result = types[assignment.target.tensor]
    near = result if via is None else TensorType.of(result.dtype, via, widest_index(result), result.fill)
    known = {**types, assignment.target.tensor: near}
    uncut = replace(variant, tile=user_schedule is None)  # user schedules start from loops that are not cut
    key = assignment, tuple(known.items()), uncut
    explicit, planned = _automatic(*key) if trace is None else _automatic.__wrapped__(*key, trace)
    trace = trace or Trace(verify=variant.options.verify)
    if user_schedule is not None:
        planned = trace("user schedule", _scheduled_by_user, planned, explicit, user_schedule)
    # What the loops do not append is inserted, if the result takes it.
    planned = trace("result placement", placed, planned, known)
    if variant.wide_index:
        wide = replace(planned.result, index_dtypes=("int64",) * len(planned.result.index_dtypes))
        planned = replace(planned, types={**planned.types, planned.target.tensor: wide})
    read = {a.tensor for stmt in assignments(planned.program.stmt) for a in accesses(stmt.value)}
    names = dict.fromkeys([*types, *(c.name for c in planned.conversions)])
    operands = tuple([name for name in names if name in read and name != planned.target.tensor])
    return PlannedLoops(explicit, planned, operands, types, variant, again, skip_fill, user_schedule, via=via)


@lru_cache(maxsize=512)
def _automatic(
    assignment: Assignment, kinds: Types, variant: Variant, trace: Trace | None = None
) -> tuple[Assignment, Schedule]:
    """Return an assignment with explicit sums, and its automatic schedule, which conversions to many formats share."""
    known, trace = dict(kinds), trace or Trace(verify=variant.options.verify)
    # In which forms. Sums over different variables may stand apart, where that is cheaper.
    explicit = trace("explicit sums", explicit_sums, assignment)
    summed = trace("one sum", one_sum, explicit, known, variant.options)
    normal = trace("one order", one_order, summed, known, variant.options)
    forms = trace("independent sums", forms_of, normal, known, variant)
    # In which views. A structured operand is walked by its own levels, or stored plainly first.
    views = trace("format views", views_of, forms, known, variant)
    # In which loops. Every strategy prices every view; only the cheapest is written out as concrete index notation.
    planned = trace("cheapest schedule", cheapest_schedule, views, normal, known, variant)
    # Loops are cut where that keeps data in the cache. Threads share the outermost one if iterations are independent.
    if variant.tiles:
        planned = trace("tiling", tile_loops, planned)
    planned = trace("parallel loop", share_loop, planned)
    return explicit, trace("positions", share_positions, planned)


def _scheduled_by_user(planned: Schedule, explicit: Assignment, change: UserSchedule) -> Schedule:
    loops = change(LoopNest(planned.program, explicit, planned.types))
    return replace(planned, program=loops.checked(), decisions=(*planned.decisions, "scheduled by hand"))


def plan_on_structure(
    assignment: Assignment, types: Mapping[str, TensorType], lead: Access, variant: Variant = DEFAULT
) -> PlannedLoops | None:
    """Return loops that compute the values of a result which shares the index arrays of an operand."""
    # They reach the entries in any order, as the loops do by which their coordinates would be listed.
    name, result = assignment.target.tensor, types[assignment.target.tensor]
    listed = coordinate_list_format(Remapping.identity(result.format.order))
    known = {**types, name: TensorType.of(result.dtype, listed, "int64", result.fill)}
    try:
        loops = plan_loops(assignment, known, replace(variant, conversion=True))
    except ScheduleError:
        return None
    schedule = share_structure(loops.schedule, result, lead)
    if schedule is None:
        return None
    return replace(loops, schedule=schedule, types=types, variant=variant, lead=lead)


def schedule_entry_loops(
    source: TensorType, target: TensorType, options: CodeOptions, trace: Trace | None = None
) -> PlannedLoops:
    """Return loops over the entries of a tensor that assign each to ``B``, whose coordinates are the target's."""
    coordinate_list = TensorType.of(target.dtype, coordinate_list_format(target.format.remapping), "int64", target.fill)
    types, variant = {"B": coordinate_list, "A": source}, Variant(conversion=True, options=options)
    return plan_loops(copy_of(source.format.order), types, variant, trace=trace)


def tile_entry_loops(loops: PlannedLoops, format: Format, trace: Trace | None = None) -> PlannedLoops:
    """Return loops over entries that are cut into tiles of rows of ``format``, if that helps the cache."""
    if not loops.variant.tiles:
        return loops
    trace = trace or Trace(verify=loops.options.verify)
    tiled = trace("entry tiles", tile_entries, loops.schedule, format)
    return loops if tiled is loops.schedule else replace(loops, schedule=tiled)


@record
class LoweredFunction:
    """A function as simplified IR, and what its lowering found out."""

    ir: Function
    chunked: bool  # whether threads share the outermost loop
    unsequenced: frozenset[int]  # levels of the result whose arrays the function expects to hold zeros
    lattices: tuple[tuple[str, tuple[Point, ...]], ...]  # the variable and the lattice of each loop


def lower(
    context: LoweringContext,
    spec: FunctionSpec,
    operands: Sequence[str],
    trace: Trace | None = None,
    most: float = inf,
) -> LoweredFunction:
    """Return a function of loops; raises ``TooManyCases`` if their merges have more than ``most`` cases."""
    trace = trace or Trace(verify=context.options.verify)
    lowerer = Lowerer(context, spec, most)
    function = trace("lowering", lowerer.lower, operands)
    if context.options.target == "c":  # a device computes running totals by its own function
        function = trace("serial scans", serial_scans, function)
    function = trace("simplify", simplify, function)
    unsequenced = frozenset(lowerer.appending.unsequenced if lowerer.appending else ())
    return LoweredFunction(function, lowerer.state.chunked, unsequenced, tuple(lowerer.state.lattices))


def generate(
    functions: Sequence[Function], options: CodeOptions, *, shared: bool = False, trace: Trace | None = None
) -> CText:
    """Run the back half: return the C text of functions whose IR is simplified."""
    trace = trace or Trace(verify=options.verify)
    return print_module([optimize(function, options, trace) for function in functions], shared=shared)


def optimize(function: Function, options: CodeOptions, trace: Trace) -> Function:
    """Return a function with the same results whose loops are faster, and can be interrupted."""
    if options.enabled("prefetch-rows"):
        function = trace("prefetch rows", prefetch_rows, function)
    if options.enabled("single-entries"):
        function = trace("single entries", single_entries, function)
    if options.enabled("register-blocks"):
        function = trace("register blocks", blocks_in_registers, function)
    if options.enabled("reciprocals"):
        function = trace("reciprocals", divide_by_reciprocals, function)
    if options.enabled("scalar-powers"):
        function = trace("scalar powers", scalar_powers, function, SCALAR_POWERS)
    if options.vector_functions and options.enabled("vector-math"):
        function = trace("vector math", batch_math_calls, function, MANY)
    # Prefetching copies the expressions of addresses, so it comes after what changes these.
    if options.enabled("prefetch"):
        function = trace("prefetch", prefetch_memory, function)
    if options.enabled("merge-branches"):
        function = trace("merge branches", merge_branches, function)
    function = trace("polling", with_polls, function, LONG)
    # What comes before knows by the SIMD reductions of a loop that it has no branches and its sums may be reassociated.
    return trace("partial sums", partial_sums, function) if options.enabled("partial-sums") else function
