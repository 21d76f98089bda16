"""The automatic schedule: from index notation and formats to concrete index notation.

A schedule chooses a loop order and inserts workspaces for a result that is reduced or scattered into. The schedule also
hoists factors that a loop does not change, converts operands whose order does not fit, and marks the parallel loop.
The ways to nest a statement are in ``scheduling/strategies.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from types import MappingProxyType

from ..analysis.derived_variables import radix_components
from ..analysis.insertion_plan import InsertionPlan
from ..analysis.terms import Dtypes
from ..concrete_notation.nodes import Fill, Forall, Positions, Program, Split, Stmt, Where
from ..concrete_notation.nodes import Sequence as Seq
from ..concrete_notation.traversal import result_of
from ..errors import DeviceError, ScheduleError
from ..formats import TensorType
from ..formats.format import dtypes_of, level_variables
from ..index_notation import to_text
from ..index_notation.nodes import Access, Assignment
from ..index_notation.traversal import outermost_reductions
from ..optimiser.rules import Facts, in_form, independent_sums
from ..records import cached, record, replace
from ..variant import DEFAULT, Variant
from .draft import Draft
from .format_views import FormatView, format_views
from .loop_orders import scanned_again
from .loop_problem import LoopProblem
from .operand_conversions import OperandConversion, SegmentCopy
from .strategies import DENSE_RESULT, cheapest
from .strategy import Candidate


@record
class Schedule:
    """The way in which one assignment is computed."""

    candidate: Candidate  # the strategy and the loop orders that were chosen
    program: Program  # Concrete index notation with explicit conversions of dtypes
    # The types of all tensors that the program uses, converted operands and the result included.
    types: Mapping[str, TensorType]
    conversions: tuple[OperandConversion, ...] = ()  # Conversions that come first
    copies: Mapping[str, SegmentCopy] = MappingProxyType({})  # operands whose segments workspaces sort, by their names
    insertion: InsertionPlan | None = None  # how the result is assembled by insertion, if it is
    rows: Positions | None = None  # the positions by which long rows can be cut
    decisions: tuple[str, ...] = ()  # Decisions and their reasons

    @property
    def problem(self) -> LoopProblem:
        """The problem that the schedule solves."""
        return self.candidate.problem

    @property
    def target(self) -> Access:
        """The result."""
        return self.problem.target

    @property
    def result(self) -> TensorType:
        """The type of the result that the loops write, or into which they insert values."""
        return self.types[self.target.tensor]

    @property
    def names(self) -> set[str]:
        """The names of tensors, index variables and workspaces."""
        splits = {name for split in self.program.splits for name in (split.outer, split.inner)}
        return {*self.problem.names, *self.types, *(w.name for w in self.program.workspaces), *splits}

    @cached
    def dense_result_possible(self) -> bool:
        """Return whether a flags workspace over the whole result, if it is dense, spares a sort or a conversion."""
        chosen = self.candidate
        listed = chosen.writes != self.problem.result and self.problem.outermost_to_add is None
        reorders = chosen.converts or listed or chosen.strategy.sorts(self.problem)
        return reorders and DENSE_RESULT.propose(self.problem) is not None

    @cached
    def repeated_scans(self) -> tuple[tuple[str, str], ...]:
        """Return vectors that are iterated many times, each with the operand whose coordinates cause the iterations."""
        return () if self.problem.variant.hash_lookup else scanned_again(self.problem, self.candidate.nests)

    @cached
    def serial(self) -> bool:
        """Return whether threads cannot share the loops, but might share others."""
        # Only a scatter into a dense result of several axes has other loops that threads might share.
        problem = self.problem
        if not (problem.dense and len(problem.view.free_loops) > 1 and self.candidate.strategy.accumulates(problem)):
            return False
        return not (problem.variant.parallel_loops or self.program.shared_loop or self.program.shares)

    @property
    def notes(self) -> tuple[str, ...]:
        """Decisions and their reasons, and the data for which others are taken, for ``explain``."""
        notes = [*self.decisions]
        if self.dense_result_possible:
            notes.append("where most coordinates will come up: all are marked in one workspace instead")
        if self.repeated_scans:
            vectors = ", ".join(dict.fromkeys(name for name, _ in self.repeated_scans))
            notes.append(f"where {vectors} has many entries: they are found in a hash table instead")
        if self.rows is not None and not self.program.shares:
            notes.append(
                f"where a row has a large part of the entries of {self.rows.access.tensor}: it is cut for threads"
            )
        return tuple(notes)


def forms_of(
    assignment: Assignment, types: Mapping[str, TensorType], variant: Variant = DEFAULT
) -> tuple[Assignment, ...]:
    """Return the assignment and, if it differs, its form with independent sums split."""
    if not variant.options.enabled("independent-sums"):
        return (assignment,)
    facts = Facts(Dtypes(dtypes_of(types)), types)
    independent = replace(assignment, value=in_form(assignment.value, independent_sums, facts))
    return tuple(dict.fromkeys((assignment, independent)))


def views_of(
    forms: Sequence[Assignment], types: Mapping[str, TensorType], variant: Variant = DEFAULT
) -> tuple[FormatView, ...]:
    """Return the views of structured operands and results, for each form of an assignment."""
    target = forms[0].target.tensor
    seen = [
        view for form in forms for view in format_views(form, types, variant.no_dense_levels, variant.converts_operands)
    ]
    return tuple(_allowed(view, target, types[target], variant) for view in seen)


def _allowed(view: FormatView, target: str, result: TensorType, variant: Variant) -> FormatView:
    """Return a view, with the reason why a variant does not allow it."""
    if view.why_not is not None:
        return view
    if not variant.stores_again and (view.stored_plainly or view.looked_up or view.types[target] != result):
        return replace(view, why_not="a conversion must not ask for another, and a device has none")
    signed = result.format.is_signed and target in view.kept
    if signed and not variant.conversion and outermost_reductions(view.assignment.value):
        return replace(view, why_not="workspaces are over coordinates from 0")
    return view


def cheapest_schedule(
    views: Sequence[FormatView], assignment: Assignment, types: Mapping[str, TensorType], variant: Variant = DEFAULT
) -> Schedule:
    """Return the cheapest of the schedules of all views."""
    wanted = types[assignment.target.tensor].format
    chosen: Candidate | None = None
    for view in views:
        if view.why_not is None:
            problem = LoopProblem(view, variant, wanted)
            c = cheapest(problem, inf if chosen is None else problem.most_loops(chosen.price))
            if c is not None and (chosen is None or c.price < chosen.price):
                chosen = c
    if chosen is None:
        formats = ", ".join(f"{name}: {type.format}" for name, type in types.items())
        if not variant.converts_operands:
            raise DeviceError(
                f"no loops compute {to_text(assignment)} with the formats {formats} as they are stored, and devices "
                "convert no operands; convert one on the CPU, after to_device('cpu')"
            )
        raise ScheduleError(
            f"no loops compute {to_text(assignment)} with the formats {formats}; convert an operand, or omit format="
        )
    return written(chosen)


def written(candidate: Candidate) -> Schedule:
    """Return the schedule with the statement of a candidate."""
    draft = Draft(candidate.problem, candidate.writes)
    stmt = draft.with_copies(candidate.strategy.write(candidate, draft))
    return Schedule(
        candidate=candidate,
        program=Program(stmt, tuple(draft.workspaces), tuple(draft.strips)),
        types=draft.types,
        conversions=tuple(draft.conversions),
        copies=draft.copies,
        decisions=tuple(draft.notes),
    )


# -- the parallel loop ----------------------------------------------------------------------------------------------
def share_loop(schedule: Schedule) -> Schedule:
    """Return the schedule with its outermost loop marked parallel, if the iterations write different elements."""
    stmt = _with_shared_loop(schedule.program.stmt, schedule)
    return replace(schedule, program=replace(schedule.program, stmt=stmt))


def _with_shared_loop(stmt: Stmt, schedule: Schedule) -> Stmt:
    problem, format, splits = schedule.problem, schedule.candidate.writes.format, schedule.program.splits
    match stmt:
        # A loop over tiles: they are parts of a dense result, or of its outermost level.
        case Forall(var=v, body=body) if any(isinstance(s, Split) and s.outer == v for s in splits):
            tiles = next(s.tiles for s in splits if isinstance(s, Split) and s.outer == v)
            outermost = level_variables(schedule.target, format)[0]
            dense = tiles in problem.view.free_loops and format.is_dense
            return Forall(v, body, parallel=dense or tiles == outermost)
        # A loop over a free variable writes different elements. A loop over a counter (#) stays serial. If the
        # result is appended, the loop must be over its outermost level, or over the most significant digit of that.
        case Forall(var=v, body=body) if v in problem.view.free_loops and "#" not in v:
            first = level_variables(schedule.target, format)[:1]
            if format.is_dense or (first and radix_components(first[0], problem.view.derived)[:1] == (v,)):
                return Forall(v, body, parallel=True)
        # A fill comes first, outside the parallel loop. A scalar does too.
        case Seq(stmts=stmts) if isinstance(stmts[0], Fill) and len(stmts) == 2:
            return Seq((stmts[0], _with_shared_loop(stmts[1], schedule)))
        case Where(consumer=consumer, producer=producer) if not result_of(producer).target.indices:
            return Where(_with_shared_loop(consumer, schedule), producer)
    return stmt
