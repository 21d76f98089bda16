"""The automatic schedule: index notation and formats to concrete index notation.

It chooses a loop order, inserts workspaces where a result is reduced or scattered into, hoists what a loop does not
change, converts operands whose order does not fit, and marks the parallel loop. Four ways to nest a statement:

* *gather*: free variables outside, each reduction into a scalar workspace inside;
* *scatter*: each additive term its own nest that accumulates into a result with random access;
* *workspace*: one reduction whose result's last level is gathered in a list workspace (sparse times sparse);
* *triples*: coordinates and values appended as they come, to be sorted and summed by a conversion afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import inf
from typing import Any

from ..analysis.append_chains import append_chains, is_appendable, is_unordered_list
from ..analysis.derived_variables import level_variables, radix_components
from ..analysis.implicit_values import converted, same_value
from ..analysis.iteration_graph import distinct_accesses, is_full, is_never_empty, typed_implicit_value
from ..analysis.terms import (
    additive_terms,
    dtype_of,
    foralls,
    hoist_factors,
    is_flat,
    merge_reductions,
    with_independent_sums,
)
from ..concrete_notation.nodes import (
    Assign,
    Fill,
    Forall,
    Program,
    Split,
    Stmt,
    Where,
    accesses,
    assignments,
    result_of,
)
from ..concrete_notation.nodes import Sequence as Seq
from ..errors import FormatError, ScheduleError
from ..formats import Format, TensorType
from ..index_notation import to_text
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Reduce
from ..index_notation.operator_table import OPERATORS
from ..records import record, replace
from ..remapping import Remapping
from .accumulate import Accumulation
from .cost_model import CONVERT, leaves, nonzeros
from .format_views import format_views
from .loop_orders import LoopOrder
from .operand_conversions import OperandConversion, coordinate_list_format
from .tiling import LINE, Tiler, across
from .variant import DEFAULT, Variant

__all__ = ["OperandConversion", "Schedule", "schedule"]


@record
class Schedule:
    """How one assignment is computed.

    Parameters
    ----------
    program : Program
        Concrete index notation with conversions of dtype explicit.
    target : Access
        The result.
    types : dict
        The types of all tensors the program touches, converted operands and the result included.
    conversions : tuple of OperandConversion
        To be done first.
    final : Format or None
        The format the result must be converted to afterwards, where the program makes triples.
    notes : tuple of str
        What was decided, and why, for ``explain``.
    crowds : bool
        Whether a flags workspace over the whole result can gather it: what pays where most coordinates come up.
    again : tuple of (str, str)
        Vectors that are walked many times, each with the operand for whose coordinates it is walked.
    serial : bool
        Whether threads cannot share the loops, and others might be that they can.
    """

    program: Program
    target: Access
    types: Mapping[str, TensorType]
    conversions: tuple[OperandConversion, ...] = ()
    final_format: Format | None = None
    notes: tuple[str, ...] = ()
    dense_result_possible: bool = False
    repeated_scans: tuple[tuple[str, str], ...] = ()
    serial: bool = False


@dataclass
class _Scheduler(Accumulation):
    """Chooses a loop order and writes the statement."""

    # -- the choice ---------------------------------------------------------------------------------------------
    def run(self) -> tuple[float, Schedule] | None:
        """The schedule and its cost; None when this view of the assignment has none."""
        terms = additive_terms(self.value, self.dtype)
        dense = self.result.format.is_dense
        accumulating = self.assignment.op is not None
        if accumulating and not dense:
            raise FormatError(f"'+=' needs a result with random access, not {self.result.format}")
        gather = None if accumulating and len(terms) > 1 else self.best_gather()
        choices: list[tuple[float, int, Any]] = []
        if gather is not None:
            choices.append((gather.cost, 0, ("gather", gather)))
        scatters = self.additive(terms)
        # A copy accumulates only what may hold duplicates.
        alone = len(terms) == 1 and not isinstance(terms[0][1], Reduce)
        copies = alone and not (isinstance(self.value, Access) and not self.types[self.value.tensor].format.is_unique)
        if dense and scatters and not copies and self.neutral_terms(terms):
            nests = [self.best_scatter(t, len(terms)) for _, t in terms]
            choices.append((sum(n.cost for n in nests) + len(nests), 1, ("scatter", nests)))
        if dense and not accumulating and len(terms) == 1 and self.folds(*terms[0], counting=True):
            fold = self.best_scatter(terms[0][1]) if self.folds(*terms[0]) else self.best_passing(terms[0][1])
            if fold is not None:
                choices.append((fold.cost + 1, 1, ("fold", fold)))
        if not dense and len(terms) == 1 and scatters and isinstance(terms[0][1], Reduce) and self.neutral_terms(terms):
            blocks = self.best_blocks(terms[0][1])
            if blocks is not None:
                choices.append((blocks.cost, 1, ("scatter", [blocks])))
        if not accumulating and len(terms) == 1 and not terms[0][0] and isinstance(terms[0][1], Reduce):
            gathers = (scatters and not dense) or self.folds(*terms[0], counting=True)
            w = self.best_workspace(terms[0][1]) if gathers else None
            if w is not None:
                choices.append((w.cost, 2, ("workspace", w)))
        in_order = not dense and all(level.ordered for level in self.result.format.levels)
        if self.variant.conversion and scatters and alone and in_order and self.neutral_terms(terms):
            w = self.best_workspace(Reduce("add", (), terms[0][1]))
            if w is not None:
                choices.append((w.cost, 2, ("workspace", w)))
        if (
            not dense
            and scatters
            and (self.variant.conversion or self.neutral_terms(terms))
            and self.result.format.order
        ):
            nests = [self.best_triples(t, len(terms)) for _, t in terms]
            pairs = zip(terms, nests, strict=True)
            tuples = sum(leaves(t, n.order, self.with_formats(n.converts)) for (_, t), n in pairs)
            choices.append((sum(n.cost for n in nests) + CONVERT * tuples, 3, ("triples", nests)))
        if self.variant.conversion:
            # A conversion must not ask for another conversion.
            choices = [c for c in choices if not any(n.converts for n in _nests(c[2][1]))]
        if self.variant.accumulator == "dense" and (whole := self.best_whole(terms)) is not None:
            choices = [(whole.cost, 0, ("whole", whole))]
        choices = [c for c in choices if c[0] < inf]
        if not choices:
            return None
        price, _, (kind, how) = min(choices, key=lambda c: (c[0], c[1]))
        again = () if self.variant.hash_lookup else self.walked_again(_nests(how))
        crowds = self.reorders(kind, how) and self.best_whole(terms) is not None
        final = self.view.final_format
        if final is not None:
            self.notes.append(f"the result is computed in {self.result.format} and converted to {final}")
            price += CONVERT * nonzeros(self.result.format)
        if kind == "gather":
            stmt = self.gather(how)
        elif kind == "scatter":
            stmt = self.scatter(terms, how)
        elif kind == "fold":
            stmt = self.fold(terms[0][1], how)
        elif kind == "workspace":
            stmt = self.with_workspace(terms[0][1], how)
        elif kind == "whole":
            stmt = self.in_workspace(terms[0][1], how, (), level_variables(self.target, self.result.format), "flags")
        else:
            if not is_unordered_list(self.result.format):
                final, type = final or self.result.format, self.result
                triples = coordinate_list_format(Remapping.identity(type.format.order))
                self.types[self.target.tensor] = TensorType.of(type.dtype, triples, "int64", type.fill)
                self.result = self.types[self.target.tensor]
                self.notes.append(
                    f"no level of {type.format} can be assembled in this loop order: "
                    "triples are appended, sorted and summed"
                )
            stmt = self.triples(terms, how)
        if kind == "scatter" and dense and self.variant.tile:
            tiles = Tiler(self.target, self.types, self.view.derived, self.fresh)
            stmt = tiles.cut(stmt)
            self.splits += tiles.splits
            self.notes += tiles.notes
        stmt = self.parallelize(stmt)
        serial = (
            kind == "scatter" and dense and len(self.free) > 1 and not (self.variant.parallel_loops or _is_shared(stmt))
        )
        program = Program(stmt, tuple(self.workspaces), tuple(self.splits))
        conversions = tuple(self.conversions)
        if crowds:
            self.notes.append("where most coordinates will come up: all are marked in one workspace instead")
        if again:
            vectors = ", ".join(dict.fromkeys(name for name, _ in again))
            self.notes.append(f"where {vectors} has many entries: they are found in a hash table instead")
        types, notes = dict(self.types), tuple(self.notes)
        found = Schedule(program, self.target, types, conversions, final, notes, crowds, again, serial)
        return price + self.price, found

    def additive(self, terms: Sequence[tuple[bool, Expr]]) -> bool:
        """Whether each term is a reduction around everything in it, or has none."""
        return all(is_flat(t.body if isinstance(t, Reduce) else t) for _, t in terms) and all(
            not isinstance(t, Reduce) or t.op == "add" for _, t in terms
        )

    def folds(self, negative: bool, term: Expr, counting: bool = False) -> bool:
        """Whether a term is a reduction, by another operator than addition, of entries that can come in any order.

        Where what is absent changes something it has to be known how much is, so that ``counting`` is needed.
        """
        if negative or not isinstance(term, Reduce) or term.op == "add" or not is_flat(term.body):
            return False
        dtype, row = self.dtype(term.body), OPERATORS[term.op]
        absent = typed_implicit_value(term.body, self.types)
        neutral = same_value(absent, row.start(dtype)) or (
            counting and is_never_empty(term.op, absent) and same_value(absent, self.result.fill)
        )
        once = all(self.types[a.tensor].format.is_unique for a in distinct_accesses(term))
        starts = row.start(dtype) is not None and not row.skips_nan
        return starts and neutral and once and dtype == self.result.dtype

    def reorders(self, kind: str, how: LoopOrder | Sequence[LoopOrder]) -> bool:
        """Whether coordinates are sorted or stored again on the way, which a workspace over all of them would spare."""
        lists = kind == "triples" and not is_unordered_list(self.result.format)
        vector = kind == "workspace" and len(self.free) == 1
        return kind != "whole" and (lists or vector or any(nest.converts for nest in _nests(how)))

    def best_whole(self, terms: Sequence[tuple[bool, Expr]]) -> LoopOrder | None:
        """Loops in any order over operands as they are, around a workspace over the whole of a result with few gaps."""
        format, (negative, term) = self.result.format, terms[0]
        if self.variant.conversion or self.assignment.op is not None or len(terms) > 1 or not isinstance(term, Reduce):
            return None
        appended = append_chains(format)
        listed = bool(appended) and appended[-1].last + 1 == len(format.levels)  # nothing below is to be filled
        if negative or format.is_structured or not listed or not is_appendable(format):
            return None
        absent = typed_implicit_value(term.body, self.types)
        accumulates = self.additive(terms) and self.neutral_terms(terms)
        if not (accumulates or (self.folds(negative, term, counting=True) and same_value(self.result.fill, absent))):
            return None
        nest = self.best_scatter(term)
        loops_alone = set(level_variables(self.target, format)) <= set(
            nest.order
        )  # what follows from others is no loop there
        return nest if nest.cost < inf and not nest.converts and loops_alone else None

    def neutral_terms(self, terms: Sequence[tuple[bool, Expr]]) -> bool:
        """Whether absent entries of each term add nothing, so that terms can be accumulated one by one."""
        if not same_value(self.result.fill, 0):
            return False
        return all(self.result.format.is_dense or same_value(typed_implicit_value(t, self.types), 0) for _, t in terms)

    # -- statements ---------------------------------------------------------------------------------------------
    def gather(self, nest: LoopOrder) -> Stmt:
        free = nest.order[: len(self.free)]
        self.notes.append(f"loop order {', '.join(nest.order) or '(none)'}; reductions gathered in scalars")
        value = self.stored_for(self.value, nest.order, nest.converts)
        stored = value
        value = hoist_factors(value, self.dtype, self.loops_of)
        producers: list[Stmt] = []
        value = self.in_scalars(value, nest.order, producers)
        stmt: Stmt = Assign(self.target, converted(value, self.dtypes, self.result.dtype), self.assignment.op)
        whole = not self.variant.tile or producers
        cut = None if whole else across(free, self.target, distinct_accesses(value), self.types, self.fresh)
        if cut is not None:
            self.splits.append(cut[0])
            self.notes.append(f"the loop over {cut[0].var} is cut: other arrays are passed across in lines of {LINE}")
            return foralls(cut[1], stmt)
        return self.filled(self.around(stmt, free, producers), free, stored)

    def around(self, stmt: Stmt, free: Sequence[str], producers: Sequence[Stmt]) -> Stmt:
        """Loops around a statement, and what makes its scalars inside the innermost that changes them."""
        depths: dict[str, int] = {}
        for producer in reversed(producers):  # those behind make what those before read
            read = [a for s in assignments(producer) for a in accesses(s.value)]
            loops = {v for a in read for v in self.loops_of(a)}
            inside = max((n + 1 for n, v in enumerate(free) if v in loops), default=0)
            made = max((depths[a.tensor] for a in read if a.tensor in depths), default=0)
            depths[result_of(producer).target.tensor] = max(inside, made)
        for depth in range(len(free), -1, -1):
            stmt = _after(stmt, [p for p in producers if depths[result_of(p).target.tensor] == depth])
            stmt = Forall(free[depth - 1], stmt) if depth else stmt
        return stmt

    def in_scalars(
        self, expr: Expr, order: Sequence[str], made: list[Stmt], around: tuple[tuple[Reduce, list[Stmt]], ...] = ()
    ) -> Expr:
        """An expression whose reductions are scalar workspaces; what makes them joins ``made``, the first made last.

        A reduction inside others is made in the loops of the innermost that it depends on: ``around`` has those, each
        with what is made in its loops.
        """
        match expr:
            case Reduce(op=op, vars=vars, body=body):
                while around and not self.is_inside(around[-1][0], expr):
                    around = around[:-1]
                home = around[-1][1] if around else made
                place, inside = len(home), list[Stmt]()
                dtype = self.dtype(body)
                t = self.workspace((), "scalar", dtype, op)
                home.append(Fill(t, 0))  # keeps its place: what this one depends on comes behind it, and is made before
                body = self.in_scalars(body, order, made, (*around, (expr, inside)))
                assign = Assign(t, converted(body, self.dtypes, dtype), op)
                home[place] = foralls([v for v in order if v in vars], _after(assign, inside))
                return t
            case Apply(op=op, args=args):
                return Apply(op, tuple(self.in_scalars(arg, order, made, around) for arg in args))
        return expr

    def filled(self, stmt: Stmt, order: Sequence[str], value: Expr) -> Stmt:
        """Initialise what plain assignments would not reach."""
        if self.assignment.op is not None or not self.free:
            return stmt
        incomplete = [v for v in order if not is_full(value, v, self.types)]
        if not incomplete:
            return stmt
        if self.result.format.is_dense:
            return Seq((Fill(self.target, self.result.fill), stmt))
        # Dense levels below an appended one are filled where their parent is appended.
        variables, derived = level_variables(self.target, self.result.format), self.view.derived
        last = append_chains(self.result.format)[-1].last
        below = [radix_components(v, derived) for v in variables[last + 1 :]]
        if all(loops and set(loops).isdisjoint(incomplete) for loops in below):
            return stmt
        return self.fill_below(stmt, max(radix_components(variables[last], derived), key=order.index))

    def fill_below(self, stmt: Stmt, var: str) -> Stmt:
        match stmt:
            case Forall(var=v, body=body, parallel=parallel):
                if v == var:
                    return Forall(v, Seq((Fill(self.target, self.result.fill), body)), parallel)
                return Forall(v, self.fill_below(body, var), parallel)
        return stmt

    def fold(self, term: Expr, nest: LoopOrder) -> Stmt:
        """Entries reduced into the elements of the result, each of which begins with what changes nothing."""
        term = self.stored_for(term, nest.order, nest.converts)
        assert isinstance(term, Reduce)
        self.notes.append(f"loop order {', '.join(nest.order)}; {term.op} into {self.target.tensor}")
        if (stmt := self.in_registers(False, term, LoopOrder(nest.order, nest.cost, {}), None)) is not None:
            return self.filled(stmt, list(takewhile(lambda v: v in self.free, nest.order)), term)
        assert self.folds(False, term), "what is absent is counted in registers alone"
        value = converted(term.body, self.dtypes, self.result.dtype)
        start = OPERATORS[term.op].start(self.result.dtype)
        return Seq((Fill(self.target, start), foralls(nest.order, Assign(self.target, value, term.op))))

    def with_workspace(self, term: Expr, nest: LoopOrder) -> Stmt:
        *outer, last = level_variables(self.target, self.result.format)
        kind = "list" if self.variant.accumulator == "dense" else self.variant.accumulator
        if self.result.format.is_dense and not outer:
            kind = "flags"  # the result is passed through once anyway
        if kind == "list" and isinstance(term, Access):
            kind = "pairs"  # nothing is reduced but what comes twice
        return self.in_workspace(term, nest, outer, (last,), kind)

    def in_workspace(self, term: Expr, nest: LoopOrder, outer: Sequence[str], over: tuple[str, ...], kind: str) -> Stmt:
        """Loops over ``outer`` levels of the result around a workspace over the others, which is appended then."""
        term = self.stored_for(term, nest.order, nest.converts)
        term = term if isinstance(term, Reduce) else Reduce("add", (), term)
        gathered = f"{', '.join(over)} {'is' if len(over) == 1 else 'are'} gathered in a {kind} workspace"
        self.notes.append(f"loop order {', '.join(nest.order)}; {gathered}")
        dtype = self.dtype(term.body)
        repeats = kind == "pairs" and not all(self.types[a.tensor].format.is_unique for a in distinct_accesses(term))
        w = self.workspace(over, kind, dtype, term.op, repeats)
        producer = foralls(nest.order[len(outer) :], Assign(w, converted(term.body, self.dtypes, dtype), term.op))
        consumer = foralls(over, Assign(self.target, converted(w, self.dtypes, self.result.dtype)))
        stmt: Stmt = Where(consumer, producer)
        if not self.result.format.is_dense:
            return foralls(outer, stmt)
        whole = next((n for n, v in enumerate(outer) if not is_full(term, v, self.types)), len(outer))
        filled = Seq((Fill(self.target, self.result.fill), foralls(outer[whole:], stmt)))
        return foralls(outer[:whole], filled)

    def triples(self, terms: Sequence[tuple[bool, Expr]], nests: Sequence[LoopOrder]) -> Stmt:
        stmts = []
        for (negative, term), nest in zip(terms, nests, strict=True):
            self.notes.append(f"loop order {', '.join(nest.order)}; appends triples")
            term = self.stored_for(term, nest.order, nest.converts)
            body = term.body if isinstance(term, Reduce) else term
            # Reductions inside the last free variable are gathered, so that a coordinate is appended once.
            depth = self.depth_of_result(nest.order)
            outer, inner = nest.order[:depth], nest.order[depth:]
            if inner:
                dtype = self.dtype(body)
                t = self.workspace((), "scalar", dtype)
                producer = foralls(inner, Assign(t, converted(body, self.dtypes, dtype), "add"))
                body = t
            stmt: Stmt = Assign(self.target, self.signed(negative, body, self.result.dtype))
            stmts.append(foralls(outer, Where(stmt, producer) if inner else stmt))
        return stmts[0] if len(stmts) == 1 else Seq(tuple(stmts))

    def parallelize(self, stmt: Stmt) -> Stmt:
        """Mark the outermost loop where its iterations write different parts of the result."""
        match stmt:
            case Forall(var=v, body=body) if any(isinstance(s, Split) and s.outer == v for s in self.splits):
                tiles = next(s.tiles for s in self.splits if isinstance(s, Split) and s.outer == v)
                outermost = level_variables(self.target, self.result.format)[0]
                whole = tiles in self.free and self.result.format.is_dense
                return Forall(v, body, parallel=whole or tiles == outermost)
            case Forall(var=v, body=body) if v in self.free and "#" not in v:
                format = self.result.format
                first = level_variables(self.target, format)[:1]
                if format.is_dense or (first and radix_components(first[0], self.view.derived)[:1] == (v,)):
                    return Forall(v, body, parallel=True)
            case Seq(stmts=stmts) if isinstance(stmts[0], Fill) and len(stmts) == 2:
                return Seq((stmts[0], self.parallelize(stmts[1])))
            case Where(consumer=consumer, producer=producer) if not result_of(producer).target.indices:
                return Where(self.parallelize(consumer), producer)
        return stmt


def schedule(
    assignment: Assignment,
    types: Mapping[str, TensorType],
    variant: Variant = DEFAULT,
) -> Schedule:
    """Choose how to compute an assignment whose sums are explicit.

    Parameters
    ----------
    assignment : Assignment
        With ``Reduce`` nodes for every sum.
    types : mapping
        The type of every tensor, the result's included.
    variant : Variant
        What else it is made for.

    Returns
    -------
    Schedule
    """
    dtypes = {name: type.dtype for name, type in types.items()}
    assignment = replace(assignment, value=merge_reductions(assignment.value, lambda e: dtype_of(e, dtypes)))
    apart = replace(assignment, value=with_independent_sums(assignment.value, lambda e: dtype_of(e, dtypes)))
    seen = [
        view for way in dict.fromkeys((assignment, apart)) for view in format_views(way, types, variant.no_dense_levels)
    ]
    if variant.conversion:
        seen = [view for view in seen if not (view.stored_plainly or view.looked_up or view.final_format)]
    elif types[assignment.target.tensor].format.is_signed:  # workspaces are over coordinates from 0
        seen = [view for view in seen if assignment.target.tensor not in view.kept]
    found = [_Scheduler(view, variant).run() for view in seen]
    possible = [f for f in found if f is not None]
    if not possible:
        given = ", ".join(f"{name}: {type.format}" for name, type in types.items())
        raise ScheduleError(f"{to_text(assignment)} has no schedule for formats {given}")
    return min(possible, key=lambda f: f[0])[1]


def _is_shared(stmt: Stmt) -> bool:
    """Whether threads share a loop of a statement."""
    match stmt:
        case Forall(parallel=parallel):
            return parallel
        case Seq(stmts=stmts):
            return any(_is_shared(s) for s in stmts)
    return False


def _after(stmt: Stmt, producers: Sequence[Stmt]) -> Stmt:
    """A statement for which others make workspaces, those that come later first."""
    for producer in producers:
        stmt = Where(stmt, producer)
    return stmt


def _nests(how: LoopOrder | Sequence[LoopOrder]) -> Sequence[LoopOrder]:
    return [how] if isinstance(how, LoopOrder) else how
