"""Modules: the functions that planned loops become, each of which is lowered and printed when it is first asked for.

A function is known by a group and its name in C. ``kernel/`` are those of a result that is appended or located,
``parts/`` those by which threads append in parts, ``passes/`` and ``shared passes/`` the passes of an insertion by one
thread and by several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from math import inf

from .analysis import merge_lattice
from .analysis.contributions import contribution_path, copied_access, visits_positions_in_order
from .analysis.derived_variables import spelling
from .analysis.insertion_plan import shared_coordinates
from .analysis.level_queries import queries_over_axes
from .analysis.merge_lattice import TooManyCases
from .analysis.runtime_fills import fill_operands
from .assembly.insertion_writer import InsertionWriter, can_share, insertion_function
from .codegen import CText, NameMaker
from .compiler import LoweredFunction, PlannedLoops, generate, lower
from .concrete_notation import to_text as statement_text
from .concrete_notation.traversal import assignments, foralls_of
from .concrete_notation.values import RuntimeValue
from .device_code import device_program, usual_choice
from .errors import ScheduleError
from .formats import Format, TensorType
from .formats.append_chains import append_chains
from .formats.format import level_variables
from .index_notation import to_text
from .index_notation.traversal import accesses
from .ir.printer import function_text
from .lowering.append_writer import usual_writer
from .lowering.context import LoweringContext
from .lowering.function_kind import FunctionKind
from .lowering.function_spec import FunctionSpec
from .lowering.implicit_entries import lowering_context
from .lowering.lowerer import Lowerer
from .lowering.parallel_append import ParallelAppendWriter
from .lowering.result_writer import LocatedWriter, WriterOf
from .lowering.workspace_types import LISTED
from .records import cached, replace
from .scheduling.schedule import Schedule
from .tracing import Trace

_PLAIN = re.compile(r"[a-z]+$")
_KINDS = {kind.value: kind for kind in FunctionKind if kind is not FunctionKind.WIDEST}
_TAKEN = ("q", "chunk", "chunks", "counts", "threads", "lane", "team", "teams")


class Module:
    """The functions of loops: those of a kernel, or others that are specified."""

    def __init__(self, loops: PlannedLoops, specs: Mapping[str, FunctionSpec] | None = None, described: str = ""):
        self.loops, self.schedule, self.options = loops, loops.schedule, loops.options
        # The fill values that functions read when they run, as operands behind the others.
        self.fills: Mapping[str, RuntimeValue] = fill_operands(loops.types)
        self.operands = (*loops.operands, *self.fills)
        # The function that computes the values of the result.
        self.main = "kernel/evaluate" if self.schedule.insertion is None else "passes/insert"
        self.is_specified = specs is not None
        if specs is not None:
            self.specs, self.described = specs, described
            self.main = next(iter(specs))
        self._lowered: dict[str, LoweredFunction] = {}

    @cached
    def context(self) -> LoweringContext:
        """Return the context in which all functions are lowered."""
        s, loops = self.schedule, self.loops
        used = {s.target.tensor, *loops.operands}
        types = {name: type for name, type in s.types.items() if name in used}
        types |= {name: TensorType.of(fill.dtype, Format.dense(0)) for name, fill in self.fills.items()}
        names = names_of(s, loops.operands, self.fills)
        skip_fill = loops.skip_fill and loops.lead is None
        return lowering_context(s.program, s.target, types, names, self.options, skip_fill)

    # -- which functions ----------------------------------------------------------------------------------------
    @cached
    def specs(self) -> Mapping[str, FunctionSpec]:
        """Return all functions that the loops can become, by group and name."""
        return functions_of(self.loops, self.context)

    @cached
    def ordinary(self) -> tuple[str, ...]:
        """Return the functions that an ordinary run by one thread calls."""
        if self.is_specified or self.schedule.insertion is not None:
            return tuple([name for name in self.specs if not name.startswith("shared passes/")])
        if not (self.loops.appends and append_chains(self.schedule.result.format)):
            return (self.main,)
        gathers = any(w.kind in LISTED and not w.copies for w in self.schedule.program.workspaces)
        bounds = ("kernel/bound",) if gathers and self.context.reaches_stored_only else ()
        return ("kernel/count", *bounds, self.main)

    @property
    def inserts_in_parallel(self) -> bool:
        """True if threads can share the passes of an insertion."""
        plan = self.schedule.insertion
        if plan is None or self.loops.skip_fill or plan.why_serial is not None:
            return False
        return self.loops.variant.conversion or can_share(self.context)

    # -- functions ----------------------------------------------------------------------------------------------
    def lowered(self, name: str, most: float = inf) -> LoweredFunction:
        """Return a function; raises ``TooManyCases`` if its merges have more than ``most`` cases."""
        function = self._lowered.get(name)
        if function is None:
            function = self._lowered[name] = self._lower(name, most=most)
        return function

    def _lower(self, name: str, trace: Trace | None = None, most: float = inf) -> LoweredFunction:
        try:
            return lower(self.context, self.specs[name], self.operands, trace, most)
        except ScheduleError as error:
            raise ScheduleError(f"{error}; in {to_text(self.loops.assignment)}") from None

    def is_within(self, most: float) -> bool:
        """Return whether the merges have at most ``most`` cases."""
        try:
            self.lowered(self.main, most)
        except TooManyCases:
            return False
        return True

    @property
    def evaluation(self) -> LoweredFunction:
        """The function that computes the values of the result."""
        return self.lowered(self.main)

    def text(self, name: str) -> CText:
        """Return the C text of one function, as it is compiled."""
        text = generate([self.lowered(name).ir], self.options, shared=True)
        self._lowered.pop(name, None)  # a third of a plan's memory, for those who ask how its kernel was made
        return text

    # -- what is shown ------------------------------------------------------------------------------------------
    @cached
    def source(self) -> CText:
        """Return text that stands alone, with the functions of an ordinary run."""
        if self.options.target == "cuda":
            return CText.of(device_program(self, usual_choice(self)).source)
        return self.standing_alone(self.ordinary)

    def standing_alone(self, names: Iterable[str]) -> CText:
        """Return text with some of the functions that needs nothing else."""
        return generate([self.lowered(name).ir for name in names], self.options)

    @cached
    def described(self) -> str:
        """Return the computation with the formats and dtypes of the tensors, for messages."""
        s = self.schedule
        if copies_entries(self.loops):
            source = s.types["A"]
            return f"the conversion of {source.format} {source.dtype} to {s.result.format} {s.result.dtype}"
        result, types = s.target.tensor, self.loops.types
        kinds = {name: f"{type.format} {type.dtype}" for name, type in types.items()}
        operands = ", ".join(f"{name}: {kind}" for name, kind in kinds.items() if name != result)
        return f"{to_text(self.loops.assignment)} for {operands or 'numbers'} as {kinds.get(result, 'a number')}"

    @cached
    def queries(self) -> str:
        """Return the attribute queries of each level, then the statements by which its pass answers them."""
        return "\n".join(self._queries()) if self.schedule.insertion is not None else ""

    def _queries(self) -> Iterator[str]:
        format = self.schedule.result.format
        for name in self.ordinary:
            writer = Lowerer(self.context, self.specs[name]).writer
            assert isinstance(writer, InsertionWriter)
            if (asked := writer.queries) is not None and asked.asked:
                queries = "; ".join(map(str, queries_over_axes(format, asked.k)))
                yield f"level {asked.k + 1} ({format.levels[asked.k]}): {queries}"
                yield from (f"  {self.specs[name].name}: {a.statement}" for a in asked.asked)

    @property
    def _writing(self) -> list[str]:
        """The functions of an ordinary run that write the result: one, or one for each pass of an insertion."""
        return [name for name in self.ordinary if self.specs[name].kind not in (FunctionKind.COUNT, FunctionKind.BOUND)]

    @cached
    def stages(self) -> dict[str, str]:
        """Return the text of every stage, by name."""
        s = self.schedule
        stages = {
            "index notation": to_text(self.loops.assignment),
            "formats": types_text(s.types),
            "schedule": "\n".join(self.loops.notes),
            "attribute queries": self.queries,
            "concrete notation": statement_text(s.program.stmt),
            "lattices": "\n".join(
                dict.fromkeys(f"{v}: {merge_lattice.to_text(points)}" for v, points in self.evaluation.lattices)
            ),
            "ir": "\n".join([function_text(self.lowered(name).ir) for name in self._writing]),
            self.options.target: self.source,
        }
        if copies_entries(self.loops):
            order = ", ".join(loop.var for loop in foralls_of(s.program.stmt))
            passes = ", ".join(self.specs[name].name for name in self.ordinary)
            shared = "threads share the passes" if self.inserts_in_parallel else "one thread"
            types = {name: self.context.types[name] for name in self.context.tensors}
            stages |= {"formats": types_text(types), "schedule": f"passes {passes}; loop order {order}\n{shared}"}
            del stages["lattices"]
        elif self.is_specified:
            stages["formats"] = types_text(self.loops.types)
            for name in ("schedule", "attribute queries", "lattices"):
                del stages[name]
        return stages

    @property
    def passes(self) -> dict[str, str]:
        """The text of what each pass of the compiler makes, by the name of the pass, in their order."""
        trace = Trace(keep=True)
        self.loops.replan(trace=trace)
        functions = [self._lower(name, trace).ir for name in self._writing]
        if self.options.target == "c":
            generate(functions, self.options, trace=trace)
        return trace.texts()


def functions_of(loops: PlannedLoops, context: LoweringContext) -> dict[str, FunctionSpec]:
    """Return the functions that loops can become, by group and name."""
    plan = loops.schedule.insertion
    if plan is not None:
        return {
            f"{group}/{phase.name}": insertion_function(context, plan, replace(phase, threads=threads))
            for group, threads in (("passes", False), ("shared passes", True))
            for phase in plan.passes
        }
    usual: WriterOf = usual_writer if loops.lead is None else partial(LocatedWriter, lead=loops.lead)
    kept = kept_levels(loops)
    structure = partial(usual_writer, kept=frozenset(kept)) if kept else usual
    writers: dict[str, WriterOf] = {"kernel": usual}
    if loops.appends and append_chains(loops.schedule.result.format):
        writers["parts"] = ParallelAppendWriter
    return {
        f"{group}/{name}": FunctionSpec(name, kind, structure if kind is FunctionKind.ASSEMBLE else writer)
        for group, writer in writers.items()
        for name, kind in _KINDS.items()
    }


def kept_levels(loops: PlannedLoops) -> Mapping[int, int] | None:
    """Return the source's level for each level that takes over its coordinates, if loops append what a source stores.

    They append its values in their order, each once, and as they are. The answer is None if they do not.
    """
    s = loops.schedule
    copied = copied_access(s.program, s.target)
    if copied is None or not loops.appends or loops.skip_fill or not loops.variant.conversion or s.conversions:
        return None
    source, chains = s.types[copied.tensor], append_chains(s.result.format)
    alike = source.dtype == s.result.dtype and source.format.is_unique and not source.format.is_dense
    if not (chains and alike and loops.options.enabled("shared-arrays")):
        return None
    inside, order = contribution_path(s.program.stmt, s.target)[0], level_variables(copied, source.format)
    # Below what is appended, both must store every coordinate, in the same order.
    tail = level_variables(s.target, s.result.format)[chains[-1].last + 1 :]
    first = len(order) - len(tail)
    same = order[first:] == tail and all(level.row_major for level in source.format.levels[first:])
    if not (same and visits_positions_in_order(source.format) and tuple(v.var for v in inside) == order):
        return None
    return shared_coordinates(source, s.result, chains[-1].first, len(tail))


def copies_entries(loops: PlannedLoops) -> bool:
    """Return whether loops convert a tensor by inserting its entries."""
    return loops.variant.conversion and loops.schedule.insertion is not None


def types_text(types: Mapping[str, TensorType]) -> str:
    """Return a line with dtype and format for each tensor."""
    return "\n".join(f"{name}: {t.dtype}, {t.format} ({t.format.letters})" for name, t in types.items())


def names_of(s: Schedule, operands: Iterable[str], fills: Iterable[str]) -> Mapping[str, str]:
    """Return the C names. Index variables of lower-case letters keep theirs; no other generated name looks so."""
    maker = NameMaker(_TAKEN)
    names: dict[str, str] = {}
    for v in _variables(s):
        names[v] = maker.fresh(v if _PLAIN.match(v) else f"{v}_" if v.isidentifier() else spelling(v))
    for name in [s.target.tensor, *operands, *(w.name for w in s.program.workspaces)]:
        if name not in names:
            names[name] = maker.fresh(name)
    for name in (*s.types, *fills):
        if name not in names:
            names[name] = maker.fresh(name.replace(".", "_"))  # fill values are read from A.fill
    return names


def _variables(s: Schedule) -> list[str]:
    variables: dict[str, None] = dict.fromkeys((*s.target.indices, *level_variables(s.target, s.result.format)))
    for cut in s.program.splits:
        variables.update(dict.fromkeys((cut.outer, cut.inner)))
    for a in assignments(s.program.stmt):
        for access in (a.target, *accesses(a.value)):
            variables.update(dict.fromkeys(access.indices))
            if access.tensor in s.types:
                variables.update(dict.fromkeys(level_variables(access, s.types[access.tensor].format)))
    return list(variables)
