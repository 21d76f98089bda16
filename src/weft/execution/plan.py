"""Plans: decisions that are made once for an expression and the types of its operands, and then run on any data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

import numpy as np

from ..analysis.append_chains import is_appendable
from ..analysis.implicit_values import RuntimeValue, typed
from ..analysis.iteration_graph import distinct_accesses
from ..analysis.merge_lattice import MANY_CASES
from ..analysis.result_type import dense_format, result_dtype, result_fill, result_format
from ..analysis.runtime_fills import with_runtime_fills
from ..analysis.structure_match import StructureMatch, match_structure, over_values, totals_over_values
from ..analysis.terms import dtype_of, split_narrow_sum
from ..compiler import plan_loops, plan_on_structure
from ..config import config
from ..errors import (
    CompilerError,
    DTypeError,
    FormatError,
    NotationError,
    NotCompiledError,
    ResultTooLargeError,
    ShapeError,
    WeftError,
)
from ..formats import Format, TensorType
from ..index_notation import (
    explicit_sums,
    expression_text,
    free_variables,
    infer_extents,
    sum_with_target,
    to_text,
    use_computation_dtype,
)
from ..index_notation.nodes import Access, Apply, Assignment
from ..index_notation.operator_table import OPERATORS
from ..records import cached, record, replace
from ..runtime import memory
from ..runtime.beside import ready
from ..scheduling.schedule import Schedule
from ..scheduling.user_schedule import LoopNest
from ..scheduling.variant import Variant
from ..storage import Storage, fill_of, tensor_type
from .alternatives import (
    ALTERNATIVES,
    EQUAL_STRUCTURES,
    KERNEL_ALTERNATIVES,
    NO_DENSE_LEVELS,
    NO_DENSE_RESULT,
    PARALLEL_LOOPS,
    Alternative,
    KernelAlternative,
)
from .conversion import convert, convert_result
from .data_annihilators import Absorbed, apply_data_annihilators
from .full_results import announce, may_spread
from .kernel import Kernel, with_fill
from .plan_cache import kept, plans
from .same_structure import same_structure
from .steps import Steps, anonymous, in_pairs, wrapping_first
from .structure import Structure, check_writable, require_structure
from .summary import formats_line, sharing_line

__all__ = [
    "Plan",
    "accumulation",
    "compile",
    "evaluate",
    "looked_up",
    "plan_for",
    "require_operands",
    "target_type",
    "under_standard_names",
]

T = TypeVar("T")


_STEPS_SHOWN = 6
"""Steps of a summary, beyond which those in the middle are counted instead."""


class Plan:
    """Plan of an expression for operands of certain types.

    Parameters
    ----------
    kernel : Kernel
        The kernel that computes the expression.
    operands : tuple of str
        Names of the operands, in the order in which ``run`` takes them.
    target : TensorType
        Type of the result.
    again : callable
        Plans the same expression with another variant.
    varies : bool
        True if the result has another format for dimensions that are too large for dense levels.
    alike : tuple of int
        Places of operands whose structure the result has if it is the same for all of them.
    """

    is_in_steps = False
    schedule: Schedule
    alike: tuple[int, ...] = ()
    _spreads: bool | None = None

    def __init__(
        self,
        kernel: Kernel,
        operands: tuple[str, ...],
        target: TensorType,
        again: Callable[[Variant], Plan],
        varies: bool = False,
        alike: tuple[int, ...] = (),
    ):
        self._plan_again, self.alike = again, alike
        self.kernel, self.operands, self.target = kernel, operands, target
        s = kernel.lowered.schedule
        self._final = s.final_format
        # For each operand of the kernel, its place among those of the plan, and the format to which it is converted.
        place = {name: n for n, name in enumerate(operands)}
        made = {c.name: c for c in s.conversions}
        self._sources = tuple(
            (place[made[name].tensor], made[name].format) if name in made else (place[name], None)
            for name in kernel.operands
        )
        self.schedule, self.varies = s, varies
        inserted = s.entry_order is not None
        self.converts = bool(s.conversions) or self._final is not None or kernel.operands != operands or inserted
        self.scans = tuple([(place[a], place[b]) for a, b in s.repeated_scans])
        self.alternatives = tuple([a for a in ALTERNATIVES if self._may_take(a)])
        self._taken: dict[str, Plan] = {}
        self._ready = set[str]()  # names of the alternatives whose functions need not be waited for
        # Small operands make the time of each step count, so that a plan has no steps that it does not need.
        if self.converts or self.alternatives not in ((), (EQUAL_STRUCTURES,)):
            self.run = self._run
        else:
            self.run = self._run_or_share if self.alternatives else kernel.run

    def with_fills(
        self, types: Mapping[str, TensorType], fills: Mapping[str, Any], again: Callable[[Variant], Plan]
    ) -> Plan:
        """Return the plan for operands of these types, with the fill values that its kernel reads when it runs."""
        kernel = self.kernel.with_fills(fills)
        return Plan(kernel, self.operands, with_fill(self.target, fills), again, self.varies, self.alike)

    def _may_take(self, alternative: Alternative) -> bool:
        """Return whether this plan can have an alternative: one that differs, and keeps the user's own loops."""
        lowered = self.kernel.lowered
        if alternative.optimization in lowered.options.disabled:
            return False
        differs = any(getattr(lowered.variant, name) != value for name, value in alternative.change.items())
        return differs and (alternative.keeps_order or lowered.user_schedule is None) and alternative.possible(self)

    def taking(self, alternative: Alternative) -> Plan:
        """Return the plan with the loops of an alternative."""
        if (found := self._taken.get(alternative.name)) is None:
            variant = replace(self.kernel.lowered.variant, **alternative.change)
            found = self._taken[alternative.name] = self._plan_again(variant)
        return found

    def spreads(self, assignment: Assignment, storages: Sequence[Storage]) -> bool:
        """Return whether the result, of the assignment that is planned, may have elements that no operand stores."""
        if self._spreads is None:
            kinds = zip(_read(assignment)[1], [s.type for s in storages], strict=True)
            self._spreads = may_spread(assignment, tuple(kinds))
        return self._spreads

    @cached
    def has_equal_parallel_loops(self) -> bool:
        """Return whether there are loops that threads can share and that sum each element in the same order."""
        found = self.taking(PARALLEL_LOOPS).kernel
        return self.kernel.lowered.sums == found.lowered.sums is not None and found.chunked

    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]:
        """Return the shape of the result for operands of these shapes."""
        return self.kernel.shape([storages[n] for n, _ in self._sources])

    def wanted(self, storages: Sequence[Storage]) -> Alternative | None:
        """Return the alternative that these operands want; None for the usual loops."""
        for alternative in self.alternatives:
            if alternative.wanted(self, storages):
                return alternative
        return None

    def _takes_now(self, alternative: Alternative) -> bool:
        """Return whether the loops of an alternative run now, rather than the usual ones until they are compiled."""
        if alternative.optimization is None or alternative.name in self._ready:
            return True
        wanted = self.taking(alternative).kernel.entry_points(2 if alternative is PARALLEL_LOOPS else 1)
        if ready(wanted, self.kernel.entry_points(1), wait=alternative.must_wait):
            self._ready.add(alternative.name)
            return True
        return False

    def chosen(self, storages: Sequence[Storage]) -> tuple[Plan, tuple[Alternative | KernelAlternative, ...]]:
        """Return the plan that runs for these operands, with the alternatives that lead to it or its kernel takes."""
        plan, taken = self, list[Alternative | KernelAlternative]()
        while (alternative := plan.wanted(storages)) is not None:
            taken.append(alternative)
            plan = plan.taking(alternative)
        return plan, (*taken, *plan.taken_by_kernel(storages))

    def taken_by_kernel(self, storages: Sequence[Storage]) -> tuple[KernelAlternative, ...]:
        """Return the alternatives that the kernel takes for these operands."""
        given = [storages[n] for n, _ in self._sources]
        return tuple([a for a in KERNEL_ALTERNATIVES if a.wanted(self.kernel, given)])

    def _run_or_share(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        """Run a plan whose only alternative is for operands of equal structures, and that converts none."""
        if same_structure([storages[n] for n in self.alike]) and self._takes_now(EQUAL_STRUCTURES):
            return self.taking(EQUAL_STRUCTURES).run(storages, out)
        return self.kernel.run(storages, out)

    def _run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        if (alternative := self.wanted(storages)) is not None and self._takes_now(alternative):
            return self.taking(alternative).run(storages, out)
        given = tuple(
            storages[n]
            if format is None
            else convert(storages[n], format, index_dtype=_index(storages[n].type), keep_padding=True)
            for n, format in self._sources
        )
        result = self.kernel.run(given, out)
        return result if self._final is None or result.type == self.target else convert_result(result, self.target)

    @property
    def prunes(self) -> bool:
        """True if no stored entry of a result equals the fill value."""
        chains, last = self.kernel.chains, len(self.target.format.levels) - 1
        return self.kernel.lowered.skip_fill and self._final is None and bool(chains) and chains[-1].last == last

    @property
    def phases(self) -> Kernel | TotalPlan | ValuesPlan | None:
        """Object that assembles a result and computes it separately; None if operands are converted first."""
        return self.kernel if self.kernel.operands == self.operands else None

    @property
    def kernels(self) -> Collection[Kernel]:
        """The kernels that the plan runs, each once."""
        return (self.kernel,)

    @property
    def stages(self) -> dict[str, str]:
        """Texts of all stages of the compiler, by name."""
        return self.kernel.stages

    @property
    def passes(self) -> dict[str, str]:
        """The text of what each pass of the compiler returned, by name."""
        return self.kernel.passes

    @property
    def origins(self) -> tuple[str | None, ...]:
        """The origin of each kernel, in words; None for one that is not compiled yet."""
        return self.kernel.origins

    def summary(self, told: Collection[str] = ()) -> str:
        return self.kernel.summary(told)


@record
class _Asked:
    """The keywords of ``plan_for`` that describe the result."""

    format: Format | None
    dtype: str | None
    prune: bool
    variant: Variant


class SteppedPlan(Plan):
    """Plan of an expression in several steps, each of which reads the results of those before it.

    Parameters
    ----------
    steps : Steps
        The steps.
    types : mapping
        Types of the operands, in the order in which ``run`` takes them.
    asked : _Asked
        The format, dtype and variant of the result.
    again : callable
        Plans the same expression with another variant.
    """

    is_in_steps = True

    def __init__(
        self,
        steps: Steps,
        types: Mapping[str, TensorType],
        asked: _Asked,
        again: Callable[[Variant], Plan],
    ):
        self.steps, self.operands, self._asked, self._plan_again = steps, tuple(types), asked, again
        self._types = dict(types)
        # A part is dropped after the last step that reads it.
        self._reads = [_read(step)[1] for step in steps.all]
        self._last_use = {name: n for n, names in enumerate(self._reads) for name in names}
        known, self._plans = dict(types), list[Plan]()
        for n, step in enumerate(steps.all):
            self._plans.append(self._planned(n, known))
            known[step.target.tensor] = self._plans[n].target
        self._known = known
        last = self._plans[-1]
        self.kernel, self.target, self.run = last.kernel, last.target, self._run
        self.alternatives = tuple(
            [a for a in (NO_DENSE_LEVELS, NO_DENSE_RESULT) if not getattr(asked.variant, *a.change)]
        )
        self._taken = {}

    def with_fills(
        self, types: Mapping[str, TensorType], fills: Mapping[str, Any], again: Callable[[Variant], Plan]
    ) -> Plan:
        return SteppedPlan(self.steps, types, self._asked, again)

    @property
    def prunes(self) -> bool:
        return self._plans[-1].prunes

    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]:
        extents = _extents(self.steps.whole, dict(zip(self.operands, storages, strict=True)))
        return tuple([extents[v] for v in self.steps.whole.target.indices])

    def taken_by_kernel(self, storages: Sequence[Storage]) -> tuple[KernelAlternative, ...]:
        """Return nothing: the operands of a step are not known before those ahead of it have run."""
        return ()

    def _planned(self, n: int, types: Mapping[str, TensorType], rename: bool = True) -> Plan:
        """Return the plan of step ``n`` for operands and parts of these types, by default under standard names."""
        step, asked = self.steps.all[n], self._asked
        named, given = anonymous(step) if rename else step, tuple(types[name] for name in self._reads[n])
        if n < len(self.steps.parts):
            made = _format_of_part(step, types, asked.variant.no_dense_levels)
            return plan_for(named, given, format=made, variant=asked.variant)
        return plan_for(named, given, format=asked.format, dtype=asked.dtype, prune=asked.prune, variant=asked.variant)

    def _run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        if (alternative := self.wanted(storages)) is not None:
            return self.taking(alternative).run(storages, out)
        given, as_planned = dict(zip(self.operands, storages, strict=True)), True
        _extents(self.steps.whole, given)  # of shapes that fit together
        for n, step in enumerate(self.steps.all):
            # A part with large dimensions may have wider index arrays than planned: later steps are planned again.
            plan = self._plans[n] if as_planned else self._planned(n, {name: s.type for name, s in given.items()})
            read = [given[name] for name in self._reads[n]]
            found = plan.run(read) if out is None or step is not self.steps.last else plan.run(read, out)
            as_planned &= found.type == self._plans[n].target
            given[step.target.tensor] = found
            for name in self._reads[n]:
                if self._last_use[name] == n:
                    del given[name]
        return found

    @property
    def type(self) -> TensorType:
        return self.target

    @property
    def source(self) -> str:
        """C source of all steps, each kernel once."""
        return "\n".join(dict.fromkeys(kernel.source for kernel in self.kernels))

    @property
    def kernels(self) -> Collection[Kernel]:
        """The kernels of all steps, each once, with the names of the first step that it computes."""
        return self._shown.values()

    @property
    def _listed(self) -> str:
        """The steps, a line each, after their number and the reason for them."""
        return "\n".join((f"{len(self.steps.all)} steps: {self.steps.reason}", *map(to_text, self.steps.all)))

    @cached
    def _shown(self) -> dict[str, Kernel]:
        """Each kernel with the names of its first step, by the steps that it computes."""
        steps: dict[Kernel, list[int]] = {}
        for n, plan in enumerate(self._plans):
            steps.setdefault(plan.kernel, []).append(n)
        shown = {}
        for first, *others in steps.values():
            more = ", ".join(self.steps.all[n].target.tensor for n in others)
            title = f"{to_text(self.steps.all[first])}{more and f'; in the same way {more}'}"
            shown[title] = self._planned(first, self._known, rename=False).kernel
        return shown

    @property
    def stages(self) -> dict[str, str]:
        """Texts of all stages of each kernel, after the list of steps."""
        titles = [f"kernel {n}: {title}" for n, title in enumerate(self._shown, 1)]
        stages = {"steps": "\n".join([self._listed, *titles])}
        for n, kernel in enumerate(self.kernels, 1):
            stages |= {f"{name}, kernel {n}": text for name, text in kernel.stages.items()}
        return stages

    @property
    def passes(self) -> dict[str, str]:
        """The text of what each pass of the compiler returned for every kernel, by name."""
        return {
            f"{name}, kernel {n}": text
            for n, kernel in enumerate(self.kernels, 1)
            for name, text in kernel.passes.items()
        }

    @property
    def origins(self) -> tuple[str | None, ...]:
        run = dict.fromkeys(plan.kernel for plan in self._plans)  # under standard names
        return tuple(origin for kernel in run for origin in kernel.origins)

    def summary(self, told: Collection[str] = ()) -> str:
        """Return the steps, with the conversions and the loops over all coordinates of each."""
        notes = [
            f"{step.target.tensor}: {line}"
            for step, plan in zip(self.steps.all, self._plans, strict=True)
            for line in plan.summary(told).splitlines()
            if line.startswith(("each call", "every "))
        ]
        steps = self._listed.splitlines()
        formats = formats_line({self.steps.last.target.tensor: self.target, **self._types})
        if len(steps) > _STEPS_SHOWN:
            steps[_STEPS_SHOWN // 2 : -1] = [f"... and {len(steps) - _STEPS_SHOWN // 2 - 1} more like these"]
        return "\n".join([formats, *steps, *notes])


class VectorPlan(Plan):
    """Plan that reads the stored values of some operands as vectors, so that all formats have one kernel.

    Parameters
    ----------
    assignment : Assignment
        The assignment.
    vectors : Assignment
        The same, with operands that are vectors.
    stored : collection of str
        The operands whose stored values are these vectors.
    types : mapping
        Types of the operands, in the order in which ``run`` takes them.
    target : TensorType
        Type of the result.
    asked : _Asked
        The format, dtype and variant of the result.
    again : callable
        Plans the same expression with another variant.
    """

    def __init__(
        self,
        assignment: Assignment,
        vectors: Assignment,
        stored: Collection[str],
        types: Mapping[str, TensorType],
        target: TensorType,
        asked: _Asked,
        again: Callable[[Variant], Plan],
    ):
        self._assignment, self._types, self.target, self._plan_again = assignment, dict(types), target, again
        self.operands, self.alternatives = tuple(types), ()
        self._taken: dict[str, Plan] = {}
        # The type of each operand whose stored values are a vector; None for numbers.
        vector = Format.dense(1)
        self._vectors = tuple([tensor_type(t.dtype, vector) if name in stored else None for name, t in types.items()])
        flat = tuple([v or t for v, t in zip(self._vectors, types.values(), strict=True)])
        self._variant = replace(asked.variant, same_structure=False)
        format = Format.dense(len(vectors.target.indices))
        self._flat = plan_for(vectors, flat, format=format, dtype=target.dtype, variant=self._variant)
        self.kernel, self.run = self._flat.kernel, self._run

    def taken_by_kernel(self, storages: Sequence[Storage]) -> tuple[KernelAlternative, ...]:
        return ()

    def _given(self, storages: Sequence[Storage]) -> tuple[Storage, ...]:
        """Return the operands with stored values as vectors."""
        return tuple(
            s if v is None else Storage(s.vals.shape, v, (), s.vals)
            for v, s in zip(self._vectors, storages, strict=True)
        )

    @property
    def _reason(self) -> str:
        """The reason for which values alone are read, in words."""
        raise NotImplementedError

    @property
    def stages(self) -> dict[str, str]:
        """Texts of all stages of the kernel over values, after the reason for it."""
        return {"structure": self._reason, **self.kernel.stages}

    def summary(self, told: Collection[str] = ()) -> str:
        formats = formats_line({self._assignment.target.tensor: self.target, **self._types})
        return "\n".join([formats, self._reason, "parallel: the loop over the stored values"])


class TotalPlan(VectorPlan):
    """Plan of a number that depends on the stored values of its operands, and not on their coordinates."""

    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]:
        return ()

    def _run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        return self._flat.run(self._given(storages))

    @property
    def phases(self) -> TotalPlan:
        return self

    def assemble(self, storages: Sequence[Storage]) -> Storage:
        """Return a result to be computed (see ``Kernel.assemble``)."""
        return self.kernel.assemble(self._given(storages))

    def compute(self, result: Storage, storages: Sequence[Storage]) -> Storage:
        """Compute a new value in a result that ``assemble`` made (see ``Kernel.compute``)."""
        return self.kernel.compute(result, self._given(storages))

    @property
    def _reason(self) -> str:
        names = [n for n, vector in zip(self.operands, self._vectors, strict=True) if vector is not None]
        return f"loops: over the stored values of {' and of '.join(names)}, whatever their coordinates are"


class ValuesPlan(VectorPlan):
    """Plan of a result that shares the index arrays of an operand, and whose values are computed as a vector.

    Parameters
    ----------
    match : StructureMatch
        The operands whose structure the result has.
    assignment, types, target, asked, again
        The parameters of :class:`VectorPlan`.
    """

    def __init__(
        self,
        assignment: Assignment,
        match: StructureMatch,
        types: Mapping[str, TensorType],
        target: TensorType,
        asked: _Asked,
        again: Callable[[Variant], Plan],
    ):
        stored = {a.tensor for a in match.accesses}
        super().__init__(assignment, over_values(assignment, match), stored, types, target, asked, again)
        self._lead = self.operands.index(match.lead.tensor)
        # Where entries equal to the fill value are left out, a result that has some is copied without them.
        self._copy: Plan | None = None
        if asked.prune:
            copied = Assignment(Access("C", match.lead.indices), Access("A", match.lead.indices))
            copy = plan_for(copied, (target,), format=target.format, prune=True, variant=self._variant)
            self._copy = copy if copy.prunes else None

    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]:
        return storages[self._lead].shape

    def _run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        lead = storages[self._lead]
        found = Storage(lead.shape, self.target, lead.arrays, self._flat.run(self._given(storages)).vals)
        return self._copy.run((found,)) if self._copy is not None and _has_fill(found) else found

    @property
    def prunes(self) -> bool:
        return self._copy is not None

    @property
    def phases(self) -> ValuesPlan:
        return self

    def assemble(self, storages: Sequence[Storage]) -> Storage:
        """Return a result that shares the index arrays, with zeros for its values (see ``Kernel.assemble``)."""
        lead = storages[self._lead]
        made = Storage(lead.shape, self.target, lead.arrays, memory.zeros(lead.vals.size, self.target.dtype))
        made.assembled_for = Structure(to_text(self._assignment), self.operands, storages)
        return made

    def compute(self, result: Storage, storages: Sequence[Storage]) -> Storage:
        """Compute new values in a result that ``assemble`` made (see ``Kernel.compute``)."""
        text = to_text(self._assignment)
        require_structure(text, result, storages)
        check_writable(text, result, self.target, storages[self._lead].shape)
        vector = Storage(result.vals.shape, self.kernel.type, (), result.vals)
        self.kernel.compute(vector, self._given(storages))
        return result

    @property
    def _reason(self) -> str:
        return sharing_line(self._assignment.target.tensor, self.operands[self._lead])


def _has_fill(storage: Storage) -> bool:
    """Return whether a stored value equals the fill value."""
    fill, vals = storage.type.fill, storage.vals
    return bool((vals == fill).any() if fill == fill else (vals != vals).any())


def _format_of_part(part: Assignment, types: Mapping[str, TensorType], wide: bool) -> Format:
    """Return the format in which a part is computed: that of its result if loops can append to it, else a plain one."""
    format = result_format(part, types, wide, part=True)
    return format.plain(wide) if format.is_structured and not is_appendable(format) else format


def _extents(assignment: Assignment, operands: Mapping[str, Storage]) -> dict[str, int]:
    """Return the size of each variable; an error on shapes names the operands' formats, too."""
    try:
        return infer_extents(assignment, {name: s.shape for name, s in operands.items()})
    except ShapeError as error:
        formats = ", ".join(f"{name}: {s.format}" for name, s in operands.items())
        raise ShapeError(f"{error}; {formats}") from None


@lru_cache(maxsize=4096)
def _read(assignment: Assignment) -> tuple[tuple[Access, ...], tuple[str, ...]]:
    """Return the distinct accesses to operands and the operands' names, in the order in which they first appear."""
    found = distinct_accesses(assignment.value)
    return tuple(found), tuple(dict.fromkeys(access.tensor for access in found))


def _index(type: TensorType) -> str:
    return "int64" if "int64" in type.index_dtypes else "int32"


def target_type(
    assignment: Assignment,
    types: Mapping[str, TensorType],
    format: Format | None,
    dtype: str | None,
    wide: bool = False,
) -> TensorType:
    """Return the type of the result of an assignment.

    Parameters
    ----------
    assignment : Assignment
        The assignment.
    types : mapping
        Types of the operands by name.
    format : Format or None
        Format of the result; inferred if None.
    dtype : str or None
        Dtype of the result; inferred if None.
    wide : bool
        True if an axis of the result is too long for an array.

    Raises
    ------
    FormatError
        The format is for another number of axes.
    """
    explicit = explicit_sums(assignment)
    inferred = result_dtype(explicit.value, types)  # first of all: it raises for dtypes that NumPy has no loop for
    if format is None:
        # += adds in place, which takes random access.
        in_place = assignment.op is not None
        format = dense_format(explicit, types) if in_place else result_format(explicit, types, wide)
    elif format.order != len(assignment.target.indices):
        raise FormatError(f"format {format} does not store the {len(assignment.target.indices)}-axis result of "
                          f"{to_text(assignment)}")  # fmt: skip
    # A fill value that depends on stored values is not known here: zero is used instead, as for what += leaves alone.
    fill = result_fill(explicit.value, types) if assignment.op is None else None
    if fill is None:
        fill = 0
    wide = any("int64" in t.index_dtypes for t in types.values())
    index = "int64" if wide else "int32"
    dtype = dtype or inferred
    fill = typed(fill, dtype) if isinstance(fill, RuntimeValue) else fill
    if not isinstance(fill, RuntimeValue):
        fill = fill_of(np.dtype(dtype), fill)
    return tensor_type(dtype, format, (index,) * len(format.roles), fill)


@kept
def plan_for(
    assignment: Assignment,
    operand_types: tuple[TensorType, ...],
    *,
    format: Format | None = None,
    dtype: str | None = None,
    user_schedule: Callable[[LoopNest], LoopNest] | None = None,
    prune: bool = False,
    variant: Variant | None = None,
) -> Plan:
    """Plan an assignment for operands of given types.

    Parameters
    ----------
    assignment : Assignment
        The assignment to be computed.
    operand_types : tuple of TensorType
        The type of each operand, in the order in which operands first appear in the assignment.
    format : Format, optional
        Format of the result; inferred by default.
    dtype : str, optional
        Dtype of the result, by default NumPy's promotion of the operands. The computation uses it if it is wider.
    user_schedule : callable, optional
        Changes the automatic schedule.
    prune : bool
        If true, leave out results equal to the fill value where coordinates are appended. Coordinates that are
        inserted, or that the levels above imply, stay.
    variant : Variant, optional
        The assumptions for which the assignment is planned; by default the usual ones, with the current settings.

    Returns
    -------
    Plan
        The plan, whose ``run`` takes operands in the order of their types.
    """
    again = partial(
        plan_for, assignment, operand_types, format=format, dtype=dtype, user_schedule=user_schedule, prune=prune
    )
    usual = Variant(options=config.code)
    if variant == usual:
        return again()  # so that the usual plan is kept once
    variant = variant or usual
    value = assignment.value
    prune = prune or (isinstance(value, Apply) and OPERATORS[value.op].leaves_out)
    types = dict(zip(_read(assignment)[1], operand_types, strict=True))
    if dtype is not None:
        assignment = use_computation_dtype(assignment, tuple((name, type.dtype) for name, type in types.items()), dtype)
    explicit = explicit_sums(assignment)
    asked = _Asked(format, dtype, prune, variant)
    if user_schedule is None:
        shared = _sharing(explicit, types, asked, lambda other: again(variant=other))
        if shared is not None:
            return shared
    known_types, fills = with_runtime_fills(explicit, types, dtype or result_dtype(explicit.value, types))
    if fills:
        # Tensors with other fill values share a kernel, which reads the fill values.
        planned = plan_for(
            assignment, tuple(known_types.values()),
            format=format, dtype=dtype, user_schedule=user_schedule, prune=prune, variant=variant,
        )  # fmt: skip
        return planned.with_fills(types, fills, lambda other: again(variant=other))

    def in_steps(steps: Steps, format: Format | None) -> SteppedPlan:
        return SteppedPlan(steps, types, replace(asked, format=format), lambda other: again(variant=other))

    # A sum in a narrow dtype wraps around on its own before it is added to wider terms.
    if user_schedule is None and (first := wrapping_first(explicit, types)) is not None:
        return in_steps(first, format)
    # One kernel is tried first. Steps are for merges with too many cases, but not for the schedule of a user.
    target = target_type(assignment, types, format, dtype, variant.no_dense_result)
    known = {assignment.target.tensor: target, **types}
    lowered = plan_loops(assignment, known, variant, skip_fill=prune, user_schedule=user_schedule)
    if user_schedule is None and (pairs := in_pairs(explicit, types)) is not None and not lowered.is_within(MANY_CASES):
        return in_steps(pairs, target.format)
    # The inferred format may have dense levels that large dimensions do not allow.
    varies = (
        format is None and not variant.no_dense_result and target_type(assignment, types, format, dtype, True) != target
    )
    alike = _alike(explicit, types, target) if variant.options.enabled("shared-structure") else ()
    return Plan(Kernel(lowered), tuple(types), target, lambda other: again(variant=other), varies, alike)


def _sharing(
    assignment: Assignment, types: Mapping[str, TensorType], asked: _Asked, again: Callable[[Variant], Plan]
) -> Plan | None:
    """Return the plan of a result that takes the values of operands alone, or shares index arrays; None for others."""
    variant, equal = asked.variant, asked.variant.same_structure
    target = target_type(assignment, types, asked.format, asked.dtype, variant.no_dense_result)
    if variant.options.enabled("stored-totals") and not equal:
        total = totals_over_values(assignment, types)
        if total is not None:
            return TotalPlan(assignment, *total, types, target, asked, again)
    # Entries equal to the fill value are left out of an array of their own, unless several operands are alike.
    if (asked.prune and not equal) or not variant.options.enabled("shared-structure"):
        return None
    match = match_structure(assignment, types, target, equal)
    if match is None or (equal and not match.values_only):
        return None
    target = tensor_type(target.dtype, target.format, types[match.lead.tensor].index_dtypes, target.fill)
    if match.values_only:
        return ValuesPlan(assignment, match, types, target, asked, again)
    lowered = plan_on_structure(assignment, {assignment.target.tensor: target, **types}, match.lead, variant)
    return None if lowered is None else Plan(Kernel(lowered), tuple(types), target, again)


def _alike(assignment: Assignment, types: Mapping[str, TensorType], target: TensorType) -> tuple[int, ...]:
    """Return the places of operands whose structure the result has if it is the same for all of them."""
    match = match_structure(assignment, types, target, equal=True)
    if match is None or not match.values_only or types[match.lead.tensor].index_dtypes != target.index_dtypes:
        return ()
    places = {name: n for n, name in enumerate(types)}
    return tuple(dict.fromkeys(places[a.tensor] for a in match.accesses))


def evaluate(
    assignment: Assignment,
    operands: Mapping[str, Storage],
    *,
    format: Format | None = None,
    dtype: str | None = None,
) -> Storage:
    """Compute an assignment.

    Parameters
    ----------
    assignment : Assignment
        The assignment to be computed.
    operands : mapping
        The operands by name. An assignment with ``+=`` adds to the operand of its target's name, which stays as it is.
    format : Format, optional
        Format of the result; inferred by default.
    dtype : str, optional
        Dtype of the result; inferred by default.

    Returns
    -------
    Storage
        The result.

    Raises
    ------
    NotationError
        An operand of the expression is not given.
    ShapeError
        Shapes do not fit together.
    ResultTooLargeError
        The result does not fit in memory.
    """
    # What depends on no value and no size is decided by the types alone: such a call finds its plan at once.
    key = None
    if assignment.op is None:
        try:
            storages = tuple([operands[n] for n in _read(assignment)[1]])
        except KeyError:
            storages = ()  # an error, which is raised below
        key = ("evaluate", assignment, format, dtype, *[s.type.number for s in storages])
        plan = plans.find(key)
        if plan is not None:
            try:
                return plan.run(storages)  # type: ignore[no-any-return]
            except WeftError:
                pass  # it is raised below, with the names of the user
    out = None
    if assignment.op is not None:
        assignment, out = accumulation(assignment, operands, format, dtype)
        format = format if out is None else out.format
    require_operands(assignment, operands)
    storages = tuple(operands[n] for n in _read(assignment)[1])
    found = looked_up(assignment, operands, dtype)

    def run(named: Assignment) -> Storage:
        plan = plan_for(named, tuple(s.type for s in storages), format=format, dtype=dtype)
        if key is not None and not found.depends_on_values and not plan.spreads(named, storages):
            plans.keep(key, plan)
        if format is None or not format.is_dense:
            if found.refused:
                found.require_room(operands, plan.target)
            if plan.spreads(named, storages):
                announce(assignment, found, operands, plan.target, visited=lambda: plan.kernel.lowered.visited_axes)
        return plan.run(storages) if out is None else plan.run(storages, out)

    try:
        return under_standard_names(found.assignment, run)
    except ResultTooLargeError as error:
        raise ResultTooLargeError(f"{error}; in {_described(assignment, operands)}") from None


def under_standard_names(assignment: Assignment, run: Callable[[Assignment], T]) -> T:
    """Return ``run(assignment)`` with standard names, so that expressions that differ in names alone share a kernel.

    An error that names tensors is raised once more with the names of the user.
    """
    try:
        return run(anonymous(assignment))
    except ResultTooLargeError:
        raise
    except CompilerError as error:
        if not isinstance(error, NotCompiledError):  # a failed compiler would fail again
            raise
        return run(assignment)
    except WeftError:
        return run(assignment)


def accumulation(
    assignment: Assignment, operands: Mapping[str, Storage], format: Format | None, dtype: str | None
) -> tuple[Assignment, Storage | None]:
    """Return the assignment that computes ``y(i) += e``, and the array to a copy of which its loops add, if any.

    Loops add to a copy of ``y`` if it is an array that holds the sum. Otherwise the sum is computed as such.
    """
    whole = sum_with_target(assignment)
    require_operands(whole, operands)
    old = operands[assignment.target.tensor]
    types = tuple([(name, operands[name].type) for name in _read(whole)[1]])
    return (assignment, old) if _adds_to_array(assignment, types, format, dtype) else (whole, None)


@lru_cache(maxsize=1024)
def _adds_to_array(
    assignment: Assignment, kinds: tuple[tuple[str, TensorType], ...], format: Format | None, dtype: str | None
) -> bool:
    """Return whether the target is an array of the type of the sum, and what is added has its axes and its dtype."""
    types, target, value = dict(kinds), assignment.target, explicit_sums(assignment).value
    own = types[target.tensor]
    if not own.format.is_dense or format not in (None, own.format) or dtype not in (None, own.dtype):
        return False
    return {*target.indices} <= {*free_variables(value)} and result_dtype(value, types) == own.dtype


def require_operands(assignment: Assignment, operands: Mapping[str, Storage]) -> None:
    """Raise if an operand is not given, or has another number of axes than the expression says."""
    read, names = _read(assignment)
    missing = [n for n in names if n not in operands]
    if missing:
        listed = " and ".join([", ".join(missing[:-1]), missing[-1]] if len(missing) > 1 else missing)
        raise NotationError(
            f"{to_text(assignment)} names {listed}, which {'are' if len(missing) > 1 else 'is'} not given; pass "
            f"operands by name: {', '.join(f'{name}=...' for name in missing)}"
        )
    for access in read:
        order = len(operands[access.tensor].shape)
        if order != len(access.indices):
            reason = f"{access.tensor} has {order} axes, not {len(access.indices)}"
            raise ShapeError(f"{reason}, in {_described(assignment, operands)}")


def looked_up(
    assignment: Assignment, operands: Mapping[str, Storage], dtype: str | None = None, *, usual: bool = False
) -> Absorbed:
    """Replace operators by absorbing ones, as far as the present values of the operands allow.

    Parameters
    ----------
    assignment : Assignment
        The assignment to be computed.
    operands : mapping
        The operands by name.
    dtype : str, optional
        Dtype of the result, if the caller names one.
    usual : bool
        If true, look only at operators that absorb beside most values.

    Returns
    -------
    Absorbed
        The assignment, with the operators that absorb and those that were expected to.
    """
    return apply_data_annihilators(assignment, operands, evaluate, dtype, usual=usual)


def _described(assignment: Assignment, operands: Mapping[str, Storage]) -> str:
    """Return the expression with the shapes and formats of its operands, for messages."""
    names = dict.fromkeys(a.tensor for a in distinct_accesses(assignment.value))
    given = ", ".join(f"{name}: {operands[name].shape} {operands[name].format}" for name in names)
    return f"{to_text(assignment)}, with {given}"


def compile(
    assignment: Assignment, types: Mapping[str, TensorType], user_schedule: Callable[[LoopNest], LoopNest] | None = None
) -> Kernel | SteppedPlan:
    """Compile an assignment for the given types of its tensors.

    An assignment with too many cases for one kernel is planned in steps.

    Parameters
    ----------
    assignment : Assignment
        The assignment.
    types : mapping
        Types of the tensors by name. The type of the result is inferred if it is not given.
    user_schedule : callable, optional
        Changes the automatic schedule.

    Returns
    -------
    Kernel or SteppedPlan
        The kernel, or the plan of several steps.

    Raises
    ------
    NotationError
        The type of an operand is not given.
    DTypeError
        A sum wraps around in a narrow dtype of its own, which takes two kernels.
    """
    _, names = _read(assignment)
    unknown = [n for n in names if n not in types]
    if unknown:
        raise NotationError(f"{to_text(assignment)} names {unknown[0]}, whose format is not given")
    operands = {n: types[n] for n in names}
    explicit = explicit_sums(assignment)
    # The caller asks for one kernel: what evaluate runs as two is refused, with the reason.
    if (first := split_narrow_sum(explicit, operands)) is not None:
        part = first[1].value
        dtypes = {name: type.dtype for name, type in operands.items()}
        raise DTypeError(
            f"{expression_text(part)} is summed as {dtype_of(part, dtypes)} and added as another dtype in "
            f"{to_text(assignment)}: that is two kernels, which evaluate() runs; or compile for one dtype"
        )
    target = types.get(assignment.target.tensor) or target_type(assignment, operands, None, None)
    known, variant = {assignment.target.tensor: target, **operands}, Variant(options=config.code)
    lowered = plan_loops(assignment, known, variant, user_schedule=user_schedule)
    # A kernel with too many cases would take too long to compile.
    if (
        user_schedule is None
        and (pairs := in_pairs(explicit, operands)) is not None
        and not lowered.is_within(MANY_CASES)
    ):
        asked = _Asked(target.format, target.dtype, False, variant)
        again = partial(plan_for, assignment, tuple(operands.values()), format=target.format, dtype=target.dtype)
        return SteppedPlan(pairs, operands, asked, lambda variant: again(variant=variant))
    return Kernel(lowered)
