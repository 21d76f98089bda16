"""The compiler as one short list of passes, each from tree to tree, with a snapshot after each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from math import inf

from .analysis import merge_lattice
from .analysis.append_chains import chains
from .analysis.derived_variables import path, spelling
from .analysis.summation_order import order_of_sums
from .codegen import CText, NameMaker, emit_module
from .concrete_notation import Workspace
from .concrete_notation import to_text as statement_text
from .concrete_notation.nodes import accesses, assignments
from .errors import ScheduleError
from .formats import Dense, Format, TensorType
from .index_notation import explicit_sums, to_text
from .index_notation.nodes import Access, Assignment, Expr
from .ir import Function, function_text, simplify
from .lowering.lowerer import Lowerer
from .lowering.parallel_append import InParts
from .lowering.result_writer import Mode
from .lowering.workspaces import LISTED
from .records import cached, record, replace
from .scheduling.operand_conversions import triples_format
from .scheduling.schedule import Schedule, schedule
from .scheduling.tiling import Tiles
from .scheduling.user_schedule import Loops
from .scheduling.variant import USUAL, Premises

__all__ = ["Lowered", "lower", "over_entries"]

_PLAIN = re.compile(r"[a-z]+$")
_TAKEN = ("q", "chunk", "chunks", "counts", "threads")


@record
class Lowered:
    """An assignment on its way to C.

    Parameters
    ----------
    assignment : Assignment
        With explicit sums.
    schedule : Schedule
        How it is computed.
    operands : tuple of str
        The kernel's operands in order, converted ones under their new names.
    skip_fill : bool
        Entries equal to the fill value are not stored.
    types : mapping
        The types it was planned for.
    by_hand : bool
        Whether the schedule is the user's.
    premises : Premises
        What else it was planned for.
    """

    assignment: Assignment
    schedule: Schedule
    operands: tuple[str, ...]
    skip_fill: bool = False
    types: Mapping[str, TensorType] = field(default_factory=dict)
    by_hand: bool = False
    premises: Premises = USUAL

    def gathered(self, how: str) -> Lowered:
        """The same with other workspaces: ``"hashed"`` or ``"marked"``."""
        return lower(self.assignment, self.types, replace(self.premises, gathering=how), skip_fill=self.skip_fill)

    def widened(self) -> Lowered:
        """The same with wide index arrays in the result."""
        name = self.schedule.target.tensor
        old = self.schedule.types[name]
        wide = replace(old, index_dtypes=("int64",) * len(old.index_dtypes))
        return replace(self, schedule=replace(self.schedule, types={**self.schedule.types, name: wide}))

    @cached
    def listed(self) -> tuple[Workspace, ...]:
        """The workspaces whose size is that of a dimension."""
        return tuple(w for w in self.schedule.program.workspaces if w.kind in ("listed", "paired"))

    @cached
    def names(self) -> Mapping[str, str]:
        """C names: index variables of lower-case letters stand as they are; no other generated name looks so."""
        maker = NameMaker(_TAKEN)
        names: dict[str, str] = {}
        variables = _variables(self.schedule)
        for v in variables:
            names[v] = maker.fresh(v if _PLAIN.match(v) else f"{v}_" if v.isidentifier() else spelling(v))
        for name in [self.schedule.target.tensor, *self.operands, *(w.name for w in self.schedule.program.workspaces)]:
            names.setdefault(name, maker.fresh(name)) if name not in variables else None
        for name in self.schedule.types:
            if name not in names:
                names[name] = maker.fresh(name)
        return names

    @cached
    def described(self) -> str:
        """The expression, and the formats and dtypes of its tensors, in words."""
        target = self.assignment.target.tensor
        kinds = {name: f"{type.format} {type.dtype}" for name, type in self.types.items()}
        given = ", ".join(f"{name}: {kind}" for name, kind in kinds.items() if name != target)
        return f"{to_text(self.assignment)} for {given or 'numbers'} as {kinds.get(target, 'a number')}"

    @cached
    def renamed_value(self) -> Expr:
        """The right-hand side in terms of the kernel's own operands."""
        value = self.assignment.value
        for c in self.schedule.conversions:
            value = c.renamed(value)
        return value

    @cached
    def absent(self) -> object:
        """What the program computes where no operand has an entry."""
        return self.lowerer(Mode.EVALUATE).absent

    @cached
    def numbered(self) -> tuple[tuple[str, ...], ...]:
        """Variables over which reductions ask how many coordinates are absent."""
        return tuple(c.over for c in self.lowerer(Mode.EVALUATE).absences.values() if c.needs_number)

    @cached
    def reaches_entries_alone(self) -> bool:
        """Whether nothing is appended but what entries reach."""
        return self.lowerer(Mode.EVALUATE).reaches_entries_alone

    @cached
    def sums(self) -> object:
        """In which order each element is summed, and whether products are fused with additions; None if not told."""
        s = self.schedule
        order = order_of_sums(s.program, s.target, s.types)
        return None if order is None else (order, _fuses(self.evaluation[1]))

    def is_within(self, most: float) -> bool:
        """Tell whether the merges have at most so many cases."""
        try:
            self.function(Mode.EVALUATE, most=most)
        except merge_lattice.TooManyCases:
            return False
        return True

    def lowerer(self, mode: Mode, kind: type[Lowerer] = Lowerer, most: float = inf) -> Lowerer:
        s = self.schedule
        used = {s.target.tensor, *self.operands}
        types = {name: type for name, type in s.types.items() if name in used}
        return kind(s.program, s.target, types, self.names, mode, self.skip_fill, most)

    def function(self, mode: Mode, kind: type[Lowerer] = Lowerer, most: float = inf) -> tuple[Function, Lowerer]:
        lowerer = self.lowerer(mode, kind, most)
        try:
            return simplify(lowerer.lower(self.operands)), lowerer
        except ScheduleError as error:
            raise ScheduleError(f"{error}; in {to_text(self.assignment)}") from None

    @cached
    def evaluation(self) -> tuple[Function, Lowerer]:
        """The function that computes the whole result, and what lowered it."""
        return self.function(Mode.EVALUATE)

    @cached
    def source(self) -> CText:
        """C text that stands alone, with a function for each mode."""
        return emit_module([self._of(mode)[0] for mode in self.modes], fuse=_fuses(self.evaluation[1]))

    def text(self, mode: Mode) -> CText:
        """Return the C text of one function, as it is compiled."""
        function, lowerer = self._of(mode)
        return emit_module([function], fuse=_fuses(lowerer), shared=True)

    def text_in_parts(self, mode: Mode) -> CText:
        """Return the C text of one of the functions by which threads append in parts."""
        function, lowerer = self.function(mode, InParts)
        return emit_module([function], fuse=_fuses(lowerer), shared=True)

    @cached
    def goes_in_parts(self) -> bool:
        """Tell whether threads can append in parts."""
        whole = self.lowerer(Mode.EVALUATE, InParts)
        return isinstance(whole, InParts) and whole.why_not() is None and self.reaches_entries_alone

    def _of(self, mode: Mode) -> tuple[Function, Lowerer]:
        return self.evaluation if mode is Mode.EVALUATE else self.function(mode)

    @cached
    def modes(self) -> tuple[Mode, ...]:
        """The functions an ordinary run needs."""
        appended = chains(self.schedule.types[self.schedule.target.tensor].format)
        if not appended:
            return (Mode.EVALUATE,)
        gathers = any(w.kind in LISTED for w in self.schedule.program.workspaces)
        bounded = gathers and self.reaches_entries_alone
        return (Mode.COUNT, Mode.BOUND, Mode.EVALUATE) if bounded else (Mode.COUNT, Mode.EVALUATE)

    @cached
    def stages(self) -> dict[str, str]:
        """The text of every stage, by name."""
        function, lowerer = self.evaluation
        s = self.schedule
        lattices = dict.fromkeys(f"{v}: {merge_lattice.to_text(points)}" for v, points in lowerer.lattices)
        types = "\n".join(f"{n}: {t.dtype}, {t.format} ({t.format.letters})" for n, t in s.types.items())
        return {
            "index notation": to_text(self.assignment),
            "formats": types,
            "schedule": "\n".join(s.notes),
            "concrete notation": statement_text(s.program.stmt),
            "lattices": "\n".join(lattices),
            "ir": function_text(function),
            "c": self.source,
        }


def _fuses(lowered: Lowerer) -> bool:
    """Tell whether products are fused with the additions behind them.

    A sum that goes on from row to row is a chain: each step waits for the last, and an addition is faster than a fused
    multiply-add. Sums that begin anew in each row overlap, and dense loops are bound by how many instructions there
    are: these take the fused ones.
    """
    return not lowered.sums_on or lowered.dense_inside


def _variables(s: Schedule) -> list[str]:
    found: dict[str, None] = dict.fromkeys((*s.target.indices, *path(s.target, s.types[s.target.tensor].format)))
    for cut in s.program.splits:
        found.update(dict.fromkeys((cut.outer, cut.inner)))
    for a in assignments(s.program.stmt):
        for access in (a.target, *accesses(a.value)):
            found.update(dict.fromkeys(access.indices))
            if access.tensor in s.types:
                found.update(dict.fromkeys(path(access, s.types[access.tensor].format)))
    return list(found)


def lower(
    assignment: Assignment,
    types: Mapping[str, TensorType],
    premises: Premises = USUAL,
    *,
    skip_fill: bool = False,
    by_hand: Callable[[Loops], Loops] | None = None,
) -> Lowered:
    """From index notation and types to a program that can be printed as C.

    Parameters
    ----------
    assignment : Assignment
        As parsed.
    types : mapping
        The type of every tensor, the result's included.
    premises : Premises
        What else it is planned for.
    skip_fill : bool
        Do not store entries equal to the fill value.
    by_hand : callable, optional
        Changes the automatic schedule.
    """
    explicit = explicit_sums(assignment)
    planned = schedule(explicit, types, replace(premises, tiling=by_hand is None))
    if by_hand is not None:
        loops = by_hand(Loops(planned.program, explicit, planned.types))
        notes = (*planned.notes, "scheduled by hand")
        planned = replace(planned, program=loops.checked(), notes=notes)
    read = _read(planned)
    known = dict.fromkeys([*types, *(c.name for c in planned.conversions)])
    operands = [n for n in known if n in read and n != planned.target.tensor]
    return Lowered(explicit, planned, tuple(operands), skip_fill, types, by_hand is not None, premises)


_ROWS = 256
"""Rows in a tile: entries that go to the same ones come while these are in the cache."""


def over_entries(source: TensorType, target: TensorType) -> Lowered:
    """Loops over a tensor around an assignment of each entry to ``B``, whose coordinates are those of the target's."""
    indices = tuple(f"i{axis}" for axis in range(source.format.order))
    assignment = Assignment(Access("B", indices), Access("A", indices))
    triples = TensorType.of(target.dtype, triples_format(target.format.remapping), "int64", target.fill)
    planned = schedule(assignment, {"B": triples, "A": source}, Premises(copying=True))
    return Lowered(assignment, planned, ("A",), types=planned.types)


def in_tiles(lowered: Lowered, format: Format) -> Lowered:
    """Loops over entries, cut so that those that go to a few rows of ``format`` come together, where that is of use.

    Diagonals, or columns of an array, come back to every row.
    """
    s = lowered.schedule
    if format.is_structured or len(format.levels) < 2 or not format.levels[0].has_every:
        return lowered
    rows = Access("B", tuple(f"i{axis}" for axis in range(format.order)))
    dense = TensorType.of(s.types["A"].dtype, Format(format.remapping, (Dense(),) * format.order), "int64")
    tiles = Tiles(rows, {"A": s.types["A"], "B": dense}, (), lambda name: name, over=path(rows, format)[:1], size=_ROWS)
    stmt = tiles.cut(s.program.stmt)
    if not tiles.splits:
        return lowered
    program = replace(s.program, stmt=stmt, splits=(*s.program.splits, *tiles.splits))
    return replace(lowered, schedule=replace(s, program=program))


def _read(s: Schedule) -> set[str]:
    return {a.tensor for stmt in assignments(s.program.stmt) for a in accesses(stmt.value)}
