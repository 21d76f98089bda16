"""The compiler: index notation and tensor types to C, as one list of passes. All C of weft is made here.

``plan_loops`` is the front half, which decides by types alone in which loops an assignment is computed.
``Lowered.function`` makes a function of these loops, and ``lower`` one by any lowerer, such as those of conversions.
``generate`` is the back half: passes that make the same loops faster, then C. A ``Trace`` checks the result of each
pass, or keeps it for ``explain`` and ``WEFT_DEBUG``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from math import inf
from typing import Literal as OneOf

from .analysis import merge_lattice
from .analysis.derived_variables import spelling
from .analysis.insertion_plan import InsertionPass
from .analysis.level_queries import queries_over_axes
from .analysis.runtime_fills import fill_operands
from .analysis.summation_order import order_of_sums
from .assembly.insertion_writer import InsertionWriter, can_share, insertion_lowerer
from .assembly.placement import place_result
from .code_options import CodeOptions
from .codegen import CText, NameMaker, print_module
from .codegen.prelude import LONG
from .codegen.support.arithmetic import SCALAR_POWERS
from .codegen.support.vectors import MANY
from .concrete_notation import Workspace
from .concrete_notation import to_text as statement_text
from .concrete_notation.nodes import Forall
from .concrete_notation.traversal import assignments, foralls_of
from .concrete_notation.values import RuntimeValue
from .errors import ScheduleError
from .formats import Dense, Format, TensorType
from .formats.append_chains import append_chains, coordinate_list_format
from .formats.format import level_variables
from .index_notation import explicit_sums, to_text
from .index_notation.nodes import Access, Assignment, Expr
from .index_notation.traversal import accesses
from .ir import Function
from .ir.passes.polling import with_polls
from .ir.passes.prefetch_streams import prefetch_memory
from .ir.passes.reciprocals import divide_by_reciprocals
from .ir.passes.scalar_powers import scalar_powers
from .ir.passes.simplify import simplify
from .ir.passes.vector_math import batch_math_calls
from .ir.printer import function_text
from .lowering.append_writer import usual_writer
from .lowering.context import LoweringContext
from .lowering.function_kind import FunctionKind
from .lowering.implicit_entries import lowering_context
from .lowering.lowerer import Lowerer
from .lowering.parallel_append import ParallelAppendWriter, why_not_in_parts
from .lowering.result_writer import LocatedWriter, WriterOf
from .lowering.workspace_types import LISTED
from .records import cached, record, replace
from .remapping import Remapping
from .scheduling.schedule import Schedule, cheapest_schedule, forms_of, one_reduction, share_loop, views_of
from .scheduling.tiling import Tiler, tile_loops
from .scheduling.user_schedule import LoopNest
from .tracing import Trace
from .variant import DEFAULT, Variant

_PLAIN = re.compile(r"[a-z]+$")
_TAKEN = ("q", "chunk", "chunks", "counts", "threads")


@record
class LoweredFunction:
    """A function as simplified IR, and what its lowering found out."""

    ir: Function
    chunked: bool  # whether threads share the outermost loop
    unsequenced: frozenset[int]  # levels of the result whose arrays the function expects to hold zeros
    lattices: tuple[tuple[str, tuple[merge_lattice.Point, ...]], ...]  # the variable and the lattice of each loop


@record
class Lowered:
    """An assignment on its way to C."""

    assignment: Assignment
    schedule: Schedule  # How it is computed
    operands: tuple[str, ...]  # the kernel's operands in order, converted ones under their new names
    skip_fill: bool = False  # Entries equal to the fill value are not stored
    types: Mapping[str, TensorType] = field(default_factory=dict)  # the types it was planned for
    user_schedule: Callable[[LoopNest], LoopNest] | None = None  # the user's changes of the automatic schedule
    variant: Variant = DEFAULT  # what else it was planned for
    # The operand whose index arrays the result shares; the result has arrays of its own by default.
    structure: Access | None = None

    def with_accumulator(self, how: OneOf["hash", "dense"]) -> Lowered:
        """Return the same with other workspaces: ``"hash"`` or ``"dense"``."""
        return plan_loops(self.assignment, self.types, replace(self.variant, accumulator=how), skip_fill=self.skip_fill)

    def with_wide_index(self) -> Lowered:
        """Return the same with 64-bit index arrays in the result."""
        name = self.schedule.target.tensor
        old = self.schedule.types[name]
        wide = replace(old, index_dtypes=("int64",) * len(old.index_dtypes))
        return replace(self, schedule=replace(self.schedule, types={**self.schedule.types, name: wide}))

    @property
    def options(self) -> CodeOptions:
        """The settings that affect code."""
        return self.variant.options

    @cached
    def fills(self) -> Mapping[str, RuntimeValue]:
        """Return the fill values that the kernel reads when it runs, as operands behind the others."""
        return fill_operands(self.types)

    @cached
    def fill_types(self) -> dict[str, TensorType]:
        """Return the types of the operands that hold fill values."""
        return {name: TensorType.of(fill.dtype, Format.dense(0)) for name, fill in self.fills.items()}

    @cached
    def list_workspaces(self) -> tuple[Workspace, ...]:
        """Return the workspaces that have an array over a dimension."""
        return tuple(w for w in self.schedule.program.workspaces if w.kind in ("list", "pairs"))

    @cached
    def names(self) -> Mapping[str, str]:
        """Return the C names. Index variables of lower-case letters keep theirs; no other generated name looks so."""
        maker = NameMaker(_TAKEN)
        names: dict[str, str] = {}
        variables = _variables(self.schedule)
        for v in variables:
            names[v] = maker.fresh(v if _PLAIN.match(v) else f"{v}_" if v.isidentifier() else spelling(v))
        for name in [self.schedule.target.tensor, *self.operands, *(w.name for w in self.schedule.program.workspaces)]:
            names.setdefault(name, maker.fresh(name)) if name not in variables else None
        for name in (*self.schedule.types, *self.fills):
            if name not in names:
                names[name] = maker.fresh(name.replace(".", "_"))  # fill values are read from A.fill
        return names

    @cached
    def described(self) -> str:
        """Return the expression with the formats and dtypes of its tensors, for messages."""
        target = self.assignment.target.tensor
        kinds = {name: f"{type.format} {type.dtype}" for name, type in self.types.items()}
        given = ", ".join(f"{name}: {kind}" for name, kind in kinds.items() if name != target)
        return f"{to_text(self.assignment)} for {given or 'numbers'} as {kinds.get(target, 'a number')}"

    @cached
    def renamed_value(self) -> Expr:
        """Return the right-hand side in terms of the kernel's own operands."""
        value = self.assignment.value
        for c in self.schedule.conversions:
            value = c.renamed(value)
        return value

    @cached
    def implicit_value(self) -> object:
        """Return the value of the program where no operand has a stored entry."""
        return self.context.implicit_value

    @cached
    def counted_reductions(self) -> tuple[tuple[str, ...], ...]:
        """Return the variables over which a reduction counts implicit entries, for each such reduction."""
        return tuple(c.over for c in self.context.implicit_entries.values() if c.needs_number)

    @cached
    def reaches_stored_only(self) -> bool:
        """Return whether only coordinates that stored entries reach are appended."""
        return self.context.reaches_stored_only

    @cached
    def visited_axes(self) -> tuple[int, ...]:
        """Return the axes of a result all of whose coordinates are visited, if not because an operand has them all.

        Loops over a function of a sum are such, as each element has a value of its own.
        """
        indices, accesses = self.schedule.target.indices, self.assignment.value.distinct_accesses
        levels = [(a, self.types[a.tensor].format) for a in accesses]
        told = {
            v for a, format in levels for v, k in zip(level_variables(a, format), format.levels, strict=True) if k.full
        }
        lattices = self.evaluation.lattices
        every = {v for v, points in lattices if any(all(it.full for it in point.coiterate) for point in points)}
        # The outermost loop alone may visit the rows of an operand that is stored again.
        visited, outermost = every.intersection(indices) - told, {v for v, _ in lattices[:1]}
        arrays = {v for a, format in levels if format.is_dense for v in a.indices}
        alone = visited <= outermost and (arrays.intersection(indices) or not every.issuperset(indices))
        if len(indices) < 2 or not visited or alone:
            return ()
        return tuple([axis for axis, v in enumerate(indices) if v in every])

    @cached
    def sums(self) -> tuple[tuple[str, ...], ...] | None:
        """Return the order in which each element is summed; None if it is unknown."""
        s = self.schedule
        return order_of_sums(s.program, s.target, s.types, self.options.reassociates)

    def is_within(self, most: float) -> bool:
        """Return whether the merges have at most ``most`` cases."""
        try:
            self.function(FunctionKind.EVALUATE, most=most)
        except merge_lattice.TooManyCases:
            return False
        return True

    @cached
    def context(self) -> LoweringContext:
        """Return the context in which functions are lowered."""
        s, skip_fill = self.schedule, self.skip_fill and self.structure is None
        return lowering_context(s.program, s.target, self.used_types, self.names, self.options, skip_fill)

    def lowerer(self, kind: FunctionKind, writer: WriterOf = usual_writer, most: float = inf) -> Lowerer:
        """Return the lowerer of one function, whose result ``writer`` writes if it is appended to or located in."""
        if self.schedule.insertion is not None:  # the last pass, which computes the values
            *_, last = self.insertion_lowerers()
            last.state.most = most
            return last
        if self.structure is not None:
            writer = partial(LocatedWriter, lead=self.structure)
        return Lowerer(self.context, kind, writer, most)

    @cached
    def used_types(self) -> Mapping[str, TensorType]:
        """Return the types of the tensors that the kernel takes."""
        used = {self.schedule.target.tensor, *self.operands}
        return {name: type for name, type in self.schedule.types.items() if name in used} | self.fill_types

    @cached
    def insertion_passes(self) -> tuple[InsertionPass, ...]:
        """Return the passes that assemble the result by insertion; none if it is not inserted."""
        return () if self.schedule.insertion is None else self.schedule.insertion.passes

    def insertion_lowerers(self, *, threads: bool = False) -> list[Lowerer]:
        """Return a lowerer for each pass that assembles the result by insertion."""
        plan = self.schedule.insertion
        assert plan is not None
        return [insertion_lowerer(self.context, plan, replace(each, threads=threads)) for each in plan.passes]

    @cached
    def inserts_in_parallel(self) -> bool:
        """Return whether threads can share the passes of an insertion."""
        s = self.schedule
        if s.insertion is None or self.skip_fill or not s.insertion.shareable:
            return False
        return self.variant.conversion or can_share(self.context)

    def insertion_functions(self, *, threads: bool = False, trace: Trace | None = None) -> tuple[Function, ...]:
        """Return the function of each pass that assembles the result by insertion."""
        if trace is None:
            return self._shared_passes if threads else self._passes
        return self._lowered_passes(threads, trace)

    @cached
    def _passes(self) -> tuple[Function, ...]:
        return self._lowered_passes(False, None)

    @cached
    def _shared_passes(self) -> tuple[Function, ...]:
        return self._lowered_passes(True, None)

    def _lowered_passes(self, threads: bool, trace: Trace | None) -> tuple[Function, ...]:
        given = (*self.operands, *self.fills)
        return tuple(lower(lowerer, given, trace) for lowerer in self.insertion_lowerers(threads=threads))

    @cached
    def queries(self) -> str:
        """Return the attribute queries of each level, then the statements by which its pass answers them."""
        return "\n".join(self._queries()) if self.schedule.insertion is not None else ""

    def _queries(self) -> Iterator[str]:
        format = self.schedule.result.format
        for lowerer in self.insertion_lowerers():
            writer = lowerer.writer
            assert isinstance(writer, InsertionWriter)
            if (asked := writer.queries) is not None and asked.asked:
                queries = "; ".join(map(str, queries_over_axes(format, asked.k)))
                yield f"level {asked.k + 1} ({format.levels[asked.k]}): {queries}"
                yield from (f"  {writer.name}: {a.statement}" for a in asked.asked)

    def all_functions(self, trace: Trace | None = None) -> tuple[Function, ...]:
        """Return the functions that compute the whole result: one, or one for each pass of an insertion."""
        if self.schedule.insertion is not None:
            return self.insertion_functions(trace=trace)
        return (self.function(FunctionKind.EVALUATE, trace=trace).ir,)

    def function(
        self,
        kind: FunctionKind,
        writer: WriterOf = usual_writer,
        most: float = inf,
        trace: Trace | None = None,
    ) -> LoweredFunction:
        """Return one function of the kernel."""
        lowerer = self.lowerer(kind, writer, most)
        try:
            function = lower(lowerer, (*self.operands, *self.fills), trace)
        except ScheduleError as error:
            raise ScheduleError(f"{error}; in {to_text(self.assignment)}") from None
        unsequenced = frozenset(lowerer.appending.unsequenced if lowerer.appending else ())
        return LoweredFunction(function, lowerer.state.chunked, unsequenced, tuple(lowerer.state.lattices))

    @cached
    def evaluation(self) -> LoweredFunction:
        """Return the function that computes the whole result."""
        return self.function(FunctionKind.EVALUATE)

    @cached
    def source(self) -> CText:
        """Return C text that stands alone, with a function for each kind."""
        inserted = self.schedule.insertion is not None
        functions = self.insertion_functions() if inserted else [self._of(kind).ir for kind in self.kinds]
        return generate(functions, self.options)

    def text(self, kind: FunctionKind) -> CText:
        """Return the C text of one function, as it is compiled."""
        return generate([self._of(kind).ir], self.options, shared=True)

    def parallel_append_text(self, kind: FunctionKind) -> CText:
        """Return the C text of one of the functions by which threads append in parts."""
        return generate([self.function(kind, ParallelAppendWriter).ir], self.options, shared=True)

    @property
    def appends(self) -> bool:
        """True if entries are appended to a sparse result or located in it; not inserted, nor put at known places."""
        return self.structure is None and self.schedule.insertion is None

    @cached
    def appends_in_parallel(self) -> bool:
        """Return whether threads can append in parts."""
        if not self.options.enabled("parallel-append") or not self.appends:
            return False
        return why_not_in_parts(self.context) is None and self.reaches_stored_only

    def _of(self, kind: FunctionKind) -> LoweredFunction:
        return self.evaluation if kind is FunctionKind.EVALUATE else self.function(kind)

    @cached
    def kinds(self) -> tuple[FunctionKind, ...]:
        """Return the kinds of functions that an ordinary run calls."""
        appended = append_chains(self.schedule.types[self.schedule.target.tensor].format)
        if not appended or not self.appends:
            return (FunctionKind.EVALUATE,)
        gathers = any(w.kind in LISTED for w in self.schedule.program.workspaces)
        bounded = gathers and self.reaches_stored_only
        return (
            (FunctionKind.COUNT, FunctionKind.BOUND, FunctionKind.EVALUATE)
            if bounded
            else (FunctionKind.COUNT, FunctionKind.EVALUATE)
        )

    def passes(self) -> dict[str, str]:
        """Return the text of what each pass makes of this assignment, by the name of the pass, in their order."""
        trace = Trace(keep=True)
        if self.structure is None:
            _planned(self.assignment, self.types, self.variant, self.user_schedule, trace)
        else:
            _over_entries(self.assignment, self.types, self.variant, trace)
        generate(self.all_functions(trace), self.options, trace=trace)
        return trace.texts()

    @cached
    def stages(self) -> dict[str, str]:
        """Return the text of every stage, by name."""
        function, s = self.evaluation, self.schedule
        functions = (function.ir,) if s.insertion is None else self.insertion_functions()
        lattices = dict.fromkeys(f"{v}: {merge_lattice.to_text(points)}" for v, points in function.lattices)
        return {
            "index notation": to_text(self.assignment),
            "formats": types_text(s.types),
            "schedule": "\n".join(s.notes),
            "attribute queries": self.queries,
            "concrete notation": statement_text(s.program.stmt),
            "lattices": "\n".join(lattices),
            "ir": "\n".join(map(function_text, functions)),
            "c": self.source,
        }


def types_text(types: Mapping[str, TensorType]) -> str:
    """Return a line with dtype and format for each tensor."""
    return "\n".join(f"{name}: {t.dtype}, {t.format} ({t.format.letters})" for name, t in types.items())


def _variables(s: Schedule) -> list[str]:
    variables: dict[str, None] = dict.fromkeys(
        (*s.target.indices, *level_variables(s.target, s.types[s.target.tensor].format))
    )
    for cut in s.program.splits:
        variables.update(dict.fromkeys((cut.outer, cut.inner)))
    for a in assignments(s.program.stmt):
        for access in (a.target, *accesses(a.value)):
            variables.update(dict.fromkeys(access.indices))
            if access.tensor in s.types:
                variables.update(dict.fromkeys(level_variables(access, s.types[access.tensor].format)))
    return list(variables)


def plan_loops(
    assignment: Assignment,
    types: Mapping[str, TensorType],
    variant: Variant = DEFAULT,
    *,
    skip_fill: bool = False,
    user_schedule: Callable[[LoopNest], LoopNest] | None = None,
) -> Lowered:
    """Decide in which loops an assignment is computed (see the list of passes in ``_planned``)."""
    explicit, planned = _planned(assignment, types, variant, user_schedule, _usual_trace(variant.options))
    read = _read(planned)
    known = dict.fromkeys([*types, *(c.name for c in planned.conversions)])
    operands = [n for n in known if n in read and n != planned.target.tensor]
    return Lowered(explicit, planned, tuple(operands), skip_fill, types, user_schedule, variant)


def plan_on_structure(
    assignment: Assignment, types: Mapping[str, TensorType], lead: Access, variant: Variant = DEFAULT
) -> Lowered | None:
    """Return loops that compute the values of a result which shares the index arrays of an operand."""
    name = assignment.target.tensor
    try:
        planned = _over_entries(assignment, types, variant, _usual_trace(variant.options))
    except ScheduleError:
        return None
    program, stored = planned.program, [a for a in assignments(planned.program.stmt) if a.target.tensor == name]
    plain = not program.splits and all(w.kind == "scalar" for w in program.workspaces)
    made_apart = planned.final_format is not None or planned.insertion is not None
    if not plain or planned.conversions or made_apart or len(stored) != 1:
        return None
    # Each position is written once, so that threads share the outermost loop, whatever it is over.
    stmt = program.stmt
    if isinstance(stmt, Forall):
        stmt = replace(stmt, parallel=True)
    order = ", ".join(loop.var for loop in foralls_of(stmt))
    schedule = replace(
        planned,
        program=replace(program, stmt=stmt),
        types={**planned.types, name: types[name]},
        decisions=(f"loop order {order}; {name} shares the index arrays of {lead.tensor}: only values are computed",),
    )
    operands = tuple([n for n in types if n in _read(planned) and n != name])
    return Lowered(assignment, schedule, operands, types=types, variant=variant, structure=lead)


def _over_entries(assignment: Assignment, types: Mapping[str, TensorType], variant: Variant, trace: Trace) -> Schedule:
    """Return loops that reach the entries of the result in any order, without conversions."""
    # These are the loops by which the coordinates would be listed.
    name, result = assignment.target.tensor, types[assignment.target.tensor]
    listed = coordinate_list_format(Remapping.identity(result.format.order))
    known = {**types, name: TensorType.of(result.dtype, listed, "int64", result.fill)}
    return _planned(assignment, known, replace(variant, conversion=True), None, trace)[1]


def _planned(
    assignment: Assignment,
    types: Mapping[str, TensorType],
    variant: Variant,
    user_schedule: Callable[[LoopNest], LoopNest] | None,
    trace: Trace,
) -> tuple[Assignment, Schedule]:
    """Run the front half: return the assignment with explicit sums, and its loops."""
    uncut = replace(variant, tile=user_schedule is None)  # user schedules start from loops that are not cut
    # In which forms. Sums over different variables may stand apart, where that is cheaper.
    explicit = trace("explicit sums", explicit_sums, assignment)
    merged = trace("merged reductions", one_reduction, explicit, types)
    forms = trace("independent sums", forms_of, merged, types, uncut)
    # In which views. A structured operand is walked by its own levels, or stored plainly first.
    views = trace("format views", views_of, forms, types, uncut)
    # In which loops. Every strategy prices every view; only the cheapest is written out as concrete index notation.
    planned = trace("cheapest schedule", cheapest_schedule, views, merged, types, uncut)
    # Loops are cut where that keeps data in the cache. Threads share the outermost one if iterations are independent.
    if uncut.tiles:
        planned = trace("tiling", tile_loops, planned)
    planned = trace("parallel loop", share_loop, planned)
    if user_schedule is not None:
        planned = trace("user schedule", _scheduled_by_user, planned, explicit, user_schedule)
    # Values go to their places at once, if the result would have to be converted otherwise.
    if variant.options.enabled("direct-insertion") and not variant.conversion:
        planned = trace("result placement", place_result, planned, types[assignment.target.tensor])
    return explicit, planned


def _scheduled_by_user(planned: Schedule, explicit: Assignment, change: Callable[[LoopNest], LoopNest]) -> Schedule:
    loops = change(LoopNest(planned.program, explicit, planned.types))
    return replace(planned, program=loops.checked(), decisions=(*planned.decisions, "scheduled by hand"))


def lower(lowerer: Lowerer, operands: Sequence[str], trace: Trace | None = None) -> Function:
    """Return the function that a lowerer makes of its loops, as simplified IR."""
    trace = trace or _usual_trace(lowerer.context.options)
    return trace("simplify", simplify, trace("lowering", lowerer.lower, operands))


def generate(
    functions: Sequence[Function],
    options: CodeOptions,
    *,
    shared: bool = False,
    trace: Trace | None = None,
) -> CText:
    """Run the back half: return the C text of functions whose IR is simplified."""
    trace = trace or _usual_trace(options)
    return print_module([_optimized(function, options, trace) for function in functions], shared=shared)


def _optimized(function: Function, options: CodeOptions, trace: Trace) -> Function:
    """Return a function with the same results whose loops are faster, and can be interrupted."""
    if options.enabled("reciprocals"):
        function = trace("reciprocals", divide_by_reciprocals, function)
    if options.enabled("scalar-powers"):
        function = trace("scalar powers", scalar_powers, function, SCALAR_POWERS)
    if options.vector_functions and options.enabled("vector-math"):
        function = trace("vector math", batch_math_calls, function, MANY)
    # Prefetching copies the expressions of addresses, so it comes after what changes these.
    if options.enabled("prefetch"):
        function = trace("prefetch", prefetch_memory, function)
    return trace("polling", with_polls, function, LONG)


def _usual_trace(options: CodeOptions) -> Trace:
    return Trace(verify=options.verify)


_ROWS = 256
"""Rows in a tile: entries that go to the same ones come while these are in the cache."""


def schedule_entry_loops(
    source: TensorType, target: TensorType, options: CodeOptions, trace: Trace | None = None
) -> Lowered:
    """Return loops over the entries of a tensor that assign each to ``B``, whose coordinates are the target's."""
    indices = tuple(f"i{axis}" for axis in range(source.format.order))
    assignment = Assignment(Access("B", indices), Access("A", indices))
    coordinate_list = TensorType.of(target.dtype, coordinate_list_format(target.format.remapping), "int64", target.fill)
    types, variant = {"B": coordinate_list, "A": source}, Variant(conversion=True, options=options)
    _, planned = _planned(assignment, types, variant, None, trace or _usual_trace(options))
    return Lowered(assignment, planned, ("A",), types=planned.types, variant=variant)


def tile_entry_loops(lowered: Lowered, format: Format, trace: Trace | None = None) -> Lowered:
    """Return loops over entries that are cut into tiles of rows of ``format``, if that helps the cache.

    It helps if the entries of a row come apart, as those of diagonals do.
    """
    if not lowered.variant.tiles:
        return lowered
    tiled = (trace or _usual_trace(lowered.options))("entry tiles", _tiled, lowered.schedule, format)
    return lowered if tiled is lowered.schedule else replace(lowered, schedule=tiled)


def _tiled(s: Schedule, format: Format) -> Schedule:
    if format.is_structured or len(format.levels) < 2 or not format.levels[0].has_every:
        return s
    rows = Access("B", tuple(f"i{axis}" for axis in range(format.order)))
    dense = TensorType.of(s.types["A"].dtype, Format(format.remapping, (Dense(),) * format.order), "int64")
    tiles = Tiler(
        rows, {"A": s.types["A"], "B": dense}, (), lambda name: name, over=level_variables(rows, format)[:1], size=_ROWS
    )
    stmt = tiles.cut(s.program.stmt)
    if not tiles.splits:
        return s
    return replace(s, program=replace(s.program, stmt=stmt, splits=(*s.program.splits, *tiles.splits)))


def _read(s: Schedule) -> set[str]:
    return {a.tensor for stmt in assignments(s.program.stmt) for a in accesses(stmt.value)}
