"""The automatic schedule: from index notation and formats to concrete index notation.

A schedule chooses a loop order and inserts workspaces for a result that is reduced or scattered into. The schedule also
hoists factors that a loop does not change, converts operands whose order does not fit, and marks the parallel loop. A
statement can be nested by four strategies:

* *gather*: free variables outside, each reduction into a scalar workspace inside;
* *scatter*: each additive term has its own nest that accumulates into a result with random access;
* *workspace*: one reduction whose result's last level is collected in a list workspace (sparse times sparse);
* *coordinate list*: coordinates and values are appended, and a conversion sorts and sums them afterwards.

A reduction by another operator than addition is a *fold*. A whole result can be collected in a flags workspace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import inf
from typing import Literal

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
from .format_views import FormatView, format_views
from .loop_orders import LoopOrder
from .operand_conversions import OperandConversion, coordinate_list_format
from .tiling import LINE, Tiler, across
from .variant import DEFAULT, Variant

__all__ = ["OperandConversion", "Schedule", "cheapest_schedule", "forms_of", "one_reduction", "views_of"]


@record
class Schedule:
    """The way in which one assignment is computed.

    Parameters
    ----------
    program : Program
        Concrete index notation with explicit conversions of dtypes.
    target : Access
        The result.
    types : dict
        The types of all tensors that the program uses, converted operands and the result included.
    conversions : tuple of OperandConversion
        Conversions that come first.
    final_format : Format or None
        Format to which the result is converted afterwards, if the program does not compute it directly.
    notes : tuple of str
        Decisions and their reasons, for ``explain``.
    dense_result_possible : bool
        True if a flags workspace over the whole result can collect it. Such a workspace pays if most coordinates have
        an entry.
    repeated_scans : tuple of (str, str)
        Vectors that are iterated many times, each with the operand whose coordinates cause the iterations.
    serial : bool
        True if threads cannot share the loops, but might share others.
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


@record
class _Problem:
    """An assignment as a sum of terms.

    Parameters
    ----------
    terms : sequence of (bool, Expr)
        For each term, true if it is subtracted, and the term.
    dense : bool
        True if the result has random access.
    accumulating : bool
        True if the terms are added to the values that the result holds.
    additive : bool
        True if each term is one sum around all of it, or has no reduction.
    """

    terms: Sequence[tuple[bool, Expr]]
    dense: bool
    accumulating: bool
    additive: bool

    @property
    def only(self) -> Expr | None:
        """The term of an assignment with exactly one; None otherwise."""
        return self.terms[0][1] if len(self.terms) == 1 else None

    @property
    def copies(self) -> bool:
        """True if there is only one term, and it is no reduction: duplicates of operands are all that is summed."""
        return self.only is not None and not isinstance(self.only, Reduce)


@record
class _Candidate:
    """One strategy with its loops.

    The strategies that have a loop nest for each term have several ``nests``. Among candidates of equal cost, the lower
    rank is chosen.
    """

    kind: Literal["gather", "scatter", "fold", "workspace", "coordinate list", "whole"]
    cost: float
    rank: int
    nests: tuple[LoopOrder, ...]


@record
class _Traits:
    """Fields ``dense_result_possible`` and ``repeated_scans`` of a schedule, which depend on the chosen loops."""

    dense_result_possible: bool
    repeated_scans: tuple[tuple[str, str], ...]


@record
class _Draft:
    """A candidate's statement, the format to which its result is converted afterwards, and the cost of both."""

    stmt: Stmt
    final: Format | None
    price: float


@dataclass
class _Scheduler(Accumulation):
    """Scheduler of one view of an assignment: it chooses a loop order and writes the statement."""

    def run(self) -> tuple[float, Schedule] | None:
        """Return the cost and the schedule; None if this view of the assignment has no schedule."""
        problem = self.problem()
        chosen = _cheapest(self.candidates(problem))
        if chosen is None:
            return None
        traits = self.traits_of(chosen, problem)
        draft = self.build(chosen, problem)
        return draft.price + self.price, self.finish(draft, chosen, traits)

    def problem(self) -> _Problem:
        """Return the assignment as a sum of terms.

        Raises
        ------
        FormatError
            If the assignment adds to a result without random access.
        """
        terms = additive_terms(self.value, self.dtype)
        dense, accumulating = self.result.format.is_dense, self.assignment.op is not None
        if accumulating and not dense:
            raise FormatError(f"'+=' needs a result with random access, not {self.result.format}")
        return _Problem(terms, dense, accumulating, self.additive(terms))

    # -- the choice ---------------------------------------------------------------------------------------------
    def candidates(self, problem: _Problem) -> list[_Candidate]:
        """Return the cheapest nest of every strategy that is possible."""
        # The variant knows that most coordinates of the result have an entry: collect all in one workspace.
        if self.variant.accumulator == "dense" and (whole := self.best_whole(problem.terms)) is not None:
            return [_Candidate("whole", whole.cost, 0, (whole,))]
        proposed = (
            self.propose_gather(problem),
            self.propose_scatter(problem),
            self.propose_fold(problem),
            self.propose_blocks(problem),
            self.propose_workspace(problem),
            self.propose_workspace_of_copy(problem),
            self.propose_coordinate_list(problem),
        )
        found = [c for c in proposed if c is not None]
        if self.variant.conversion:
            # A conversion must not ask for another conversion.
            found = [c for c in found if not any(nest.converts for nest in c.nests)]
        return found

    # Several terms that are added to a result have nests of their own: that is a scatter.
    def propose_gather(self, problem: _Problem) -> _Candidate | None:
        if problem.accumulating and len(problem.terms) > 1:
            return None
        nest = self.best_gather()
        return None if nest is None else _Candidate("gather", nest.cost, 0, (nest,))

    def propose_scatter(self, problem: _Problem) -> _Candidate | None:
        repeats = isinstance(self.value, Access) and not self.types[self.value.tensor].format.is_unique
        worth = repeats or not problem.copies  # a copy accumulates only if the operand may hold duplicates
        if not (problem.dense and problem.additive and worth and self.neutral_terms(problem.terms)):
            return None
        nests = tuple(self.best_scatter(t, len(problem.terms)) for _, t in problem.terms)
        return _Candidate("scatter", sum(n.cost for n in nests) + len(nests), 1, nests)

    def propose_fold(self, problem: _Problem) -> _Candidate | None:
        negative, term = problem.terms[0]
        single = problem.dense and not problem.accumulating and problem.only is not None
        if not (single and self.folds(negative, term, counting=True)):
            return None
        # Implicit entries that matter are counted, which needs loops that treat all elements of a workspace alike.
        nest = self.best_scatter(term) if self.folds(negative, term) else self.best_passing(term)
        return None if nest is None else _Candidate("fold", nest.cost + 1, 1, (nest,))

    # A block below the appended levels is accumulated into, so that the kind is "scatter".
    def propose_blocks(self, problem: _Problem) -> _Candidate | None:
        term = problem.only
        if problem.dense or not problem.additive or not isinstance(term, Reduce):
            return None
        nest = self.best_blocks(term) if self.neutral_terms(problem.terms) else None
        return None if nest is None else _Candidate("scatter", nest.cost, 1, (nest,))

    def propose_workspace(self, problem: _Problem) -> _Candidate | None:
        term, (negative, _) = problem.only, problem.terms[0]
        if problem.accumulating or negative or not isinstance(term, Reduce):
            return None
        # A workspace collects sparse results, and reductions in which implicit entries must be counted.
        gathers = (problem.additive and not problem.dense) or self.folds(negative, term, counting=True)
        nest = self.best_workspace(term) if gathers else None
        return None if nest is None else _Candidate("workspace", nest.cost, 2, (nest,))

    def propose_workspace_of_copy(self, problem: _Problem) -> _Candidate | None:
        """Propose to sort the entries of a conversion row by row."""
        term, sorts = problem.only, self.variant.options.enabled("row-sort")
        if term is None or not (sorts and self.variant.conversion and problem.copies and problem.additive):
            return None
        in_order = not problem.dense and all(level.ordered for level in self.result.format.levels)
        gathers = in_order and self.neutral_terms(problem.terms)
        nest = self.best_workspace(Reduce("add", (), term)) if gathers else None
        return None if nest is None else _Candidate("workspace", nest.cost, 2, (nest,))

    def propose_coordinate_list(self, problem: _Problem) -> _Candidate | None:
        terms = problem.terms
        if problem.dense or not problem.additive or not self.result.format.order:
            return None
        if not (self.variant.conversion or self.neutral_terms(terms)):
            return None
        nests = tuple(self.best_coordinate_list(t, len(terms)) for _, t in terms)
        pairs = zip(terms, nests, strict=True)
        # A coordinate list must be sorted afterwards: each entry costs as much as in a conversion.
        tuples = sum(leaves(t, n.order, self.with_formats(n.converts)) for (_, t), n in pairs)
        return _Candidate("coordinate list", sum(n.cost for n in nests) + CONVERT * tuples, 3, nests)

    def traits_of(self, chosen: _Candidate, problem: _Problem) -> _Traits:
        """Return which data would make other loops better than those that were chosen."""
        again = () if self.variant.hash_lookup else self.walked_again(chosen.nests)
        return _Traits(self.reorders(chosen) and self.best_whole(problem.terms) is not None, again)

    # -- from the choice to the schedule ------------------------------------------------------------------------
    def build(self, chosen: _Candidate, problem: _Problem) -> _Draft:
        """Write the statement of a candidate, with tiles and a parallel loop."""
        final, price = self.view.final_format, chosen.cost
        if final is not None:
            self.notes.append(f"the result is computed in {self.result.format} and converted to {final}")
            price += CONVERT * nonzeros(self.result.format)
        # The result is a coordinate list first, unless its format is one.
        if chosen.kind == "coordinate list" and not is_unordered_list(self.result.format):
            final = final or self.result.format
            self.store_coordinate_list()
        return _Draft(self.parallelize(self.statement(chosen, problem)), final, price)

    def statement(self, chosen: _Candidate, problem: _Problem) -> Stmt:
        term, nest = problem.terms[0][1], chosen.nests[0]
        match chosen.kind:
            case "gather":
                return self.gather(nest)
            case "scatter":
                return self.cut_into_tiles(self.scatter(problem.terms, chosen.nests))
            case "fold":
                return self.fold(term, nest)
            case "workspace":
                return self.with_workspace(term, nest)
            case "whole":
                return self.in_workspace(term, nest, (), level_variables(self.target, self.result.format), "flags")
            case "coordinate list":
                return self.coordinate_list(problem.terms, chosen.nests)

    def store_coordinate_list(self) -> None:
        """Make the result a coordinate list, which a conversion sorts and sums afterwards."""
        type = self.result
        coordinate_list = coordinate_list_format(Remapping.identity(type.format.order))
        self.result = self.types[self.target.tensor] = TensorType.of(type.dtype, coordinate_list, "int64", type.fill)
        self.notes.append(
            f"no level of {type.format} can be assembled in this loop order: "
            "a coordinate list is appended, sorted and summed"
        )

    def cut_into_tiles(self, stmt: Stmt) -> Stmt:
        """Return an accumulating statement with its loops cut, if that keeps the result in the cache."""
        if not (self.result.format.is_dense and self.variant.tiles):
            return stmt
        tiles = Tiler(self.target, self.types, self.view.derived, self.fresh)
        stmt = tiles.cut(stmt)
        self.splits += tiles.splits
        self.notes += tiles.notes
        return stmt

    def finish(self, draft: _Draft, chosen: _Candidate, traits: _Traits) -> Schedule:
        """Return the schedule with the statement of ``draft``."""
        if traits.dense_result_possible:
            self.notes.append("where most coordinates will come up: all are marked in one workspace instead")
        if traits.repeated_scans:
            vectors = ", ".join(dict.fromkeys(name for name, _ in traits.repeated_scans))
            self.notes.append(f"where {vectors} has many entries: they are found in a hash table instead")
        # Only a scatter into a dense result of several axes has other loops that threads might share.
        scattered = chosen.kind == "scatter" and self.result.format.is_dense and len(self.free) > 1
        return Schedule(
            program=Program(draft.stmt, tuple(self.workspaces), tuple(self.splits)),
            target=self.target,
            types=dict(self.types),
            conversions=tuple(self.conversions),
            final_format=draft.final,
            notes=tuple(self.notes),
            dense_result_possible=traits.dense_result_possible,
            repeated_scans=traits.repeated_scans,
            serial=scattered and not (self.variant.parallel_loops or _is_shared(draft.stmt)),
        )

    # -- what the terms allow -----------------------------------------------------------------------------------
    def additive(self, terms: Sequence[tuple[bool, Expr]]) -> bool:
        """Return whether each term is a sum around all of it, or has no reduction."""
        return all(is_flat(t.body if isinstance(t, Reduce) else t) for _, t in terms) and all(
            not isinstance(t, Reduce) or t.op == "add" for _, t in terms
        )

    def folds(self, negative: bool, term: Expr, counting: bool = False) -> bool:
        """Return whether a term can be reduced into the result entry by entry, by another operator than addition.

        The entries can come in any order. If implicit entries change the reduction, their number must be known. Such a
        reduction folds only with ``counting``.
        """
        if negative or not isinstance(term, Reduce) or term.op == "add" or not is_flat(term.body):
            return False
        # An element starts as the operator's neutral value, which implicit entries must not change.
        dtype, row = self.dtype(term.body), OPERATORS[term.op]
        absent = typed_implicit_value(term.body, self.types)
        neutral = same_value(absent, row.start(dtype)) or (
            counting and is_never_empty(term.op, absent) and same_value(absent, self.result.fill)
        )
        # Duplicates would have to be summed before they are reduced.
        once = all(self.types[a.tensor].format.is_unique for a in distinct_accesses(term))
        # Reductions that skip NaN, and so start from it, are not folded.
        starts = row.start(dtype) is not None and not row.skips_nan
        return starts and neutral and once and dtype == self.result.dtype

    def reorders(self, chosen: _Candidate) -> bool:
        """Return whether coordinates are sorted or stored again on the way.

        A workspace over all coordinates would not need that.
        """
        lists = chosen.kind == "coordinate list" and not is_unordered_list(self.result.format)
        vector = chosen.kind == "workspace" and len(self.free) == 1
        return chosen.kind != "whole" and (lists or vector or any(nest.converts for nest in chosen.nests))

    def best_whole(self, terms: Sequence[tuple[bool, Expr]]) -> LoopOrder | None:
        """Return the cheapest nest around a workspace over the whole result; None if there is none.

        The loops can have any order, and operands are iterated as they are stored. The workspace pays if the result has
        few gaps.
        """
        format, (negative, term) = self.result.format, terms[0]
        if self.variant.conversion or self.assignment.op is not None or len(terms) > 1 or not isinstance(term, Reduce):
            return None
        appended = append_chains(format)
        listed = bool(appended) and appended[-1].last + 1 == len(format.levels)  # no dense level below is to be filled
        if negative or format.is_structured or not listed or not is_appendable(format):
            return None
        # Implicit entries must not change a sum. Another reduction may count them if the fill value is their value.
        absent = typed_implicit_value(term.body, self.types)
        accumulates = self.additive(terms) and self.neutral_terms(terms)
        if not (accumulates or (self.folds(negative, term, counting=True) and same_value(self.result.fill, absent))):
            return None
        nest = self.best_scatter(term)
        loops_alone = set(level_variables(self.target, format)) <= set(
            nest.order
        )  # a derived variable has no loop there
        return nest if nest.cost < inf and not nest.converts and loops_alone else None

    def neutral_terms(self, terms: Sequence[tuple[bool, Expr]]) -> bool:
        """Return whether implicit entries of each term add nothing, so that terms can be accumulated one by one."""
        if not same_value(self.result.fill, 0):
            return False
        return all(self.result.format.is_dense or same_value(typed_implicit_value(t, self.types), 0) for _, t in terms)

    # -- statements ---------------------------------------------------------------------------------------------
    # Free variables outside, each reduction in a scalar inside.
    def gather(self, nest: LoopOrder) -> Stmt:
        free = nest.order[: len(self.free)]
        self.notes.append(f"loop order {', '.join(nest.order) or '(none)'}; reductions gathered in scalars")
        value = self.stored_for(self.value, nest.order, nest.converts)
        stored = value
        if self.variant.options.enabled("factor-hoisting"):
            value = hoist_factors(value, self.dtype, self.loops_of)
        producers: list[Stmt] = []
        value = self.in_scalars(value, nest.order, producers)
        stmt: Stmt = Assign(self.target, converted(value, self.dtypes, self.result.dtype), self.assignment.op)
        # A loop without reductions that strides through an array may be cut into lines of it.
        whole = not self.variant.tiles or producers
        cut = None if whole else across(free, self.target, distinct_accesses(value), self.types, self.fresh)
        if cut is not None:
            self.splits.append(cut[0])
            self.notes.append(f"the loop over {cut[0].var} is cut: other arrays are passed across in lines of {LINE}")
            return foralls(cut[1], stmt)
        return self.filled(self.around(stmt, free, producers), free, stored)

    def around(self, stmt: Stmt, free: Sequence[str], producers: Sequence[Stmt]) -> Stmt:
        """Return a statement with loops around it, and with the statements that compute its scalars inside.

        Each scalar is computed inside the innermost loop that changes it.
        """
        depths: dict[str, int] = {}
        for producer in reversed(producers):  # later producers compute the scalars that earlier ones read
            # The producer goes inside the loops of its operands, and not outside another producer that it reads.
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
        """Return an expression whose reductions are scalar workspaces.

        Their producers are added to the list ``made``, the first to run last. A nested reduction is computed in the
        loops of the innermost reduction that it depends on. Each pair in ``around`` is such an outer reduction and the
        list of the statements in its loops.
        """
        match expr:
            case Reduce(op=op, vars=vars, body=body):
                # Leave reductions that do not change this one: it is computed outside their loops.
                while around and not self.is_inside(around[-1][0], expr):
                    around = around[:-1]
                home = around[-1][1] if around else made
                place, inside = len(home), list[Stmt]()
                dtype = self.dtype(body)
                t = self.workspace((), "scalar", dtype, op)
                home.append(Fill(t, 0))  # placeholder: scalars that this one reads come later in the list
                body = self.in_scalars(body, order, made, (*around, (expr, inside)))
                assign = Assign(t, converted(body, self.dtypes, dtype), op)
                home[place] = foralls([v for v in order if v in vars], _after(assign, inside))
                return t
            case Apply(op=op, args=args):
                return Apply(op, tuple(self.in_scalars(arg, order, made, around) for arg in args))
        return expr

    def filled(self, stmt: Stmt, order: Sequence[str], value: Expr) -> Stmt:
        """Return a statement that first initializes the elements that its plain assignments do not reach."""
        if self.assignment.op is not None or not self.free:
            return stmt
        # A loop that does not visit every coordinate leaves elements of a dense result unwritten.
        incomplete = [v for v in order if not is_full(value, v, self.types)]
        if not incomplete:
            return stmt
        if self.result.format.is_dense:
            return Seq((Fill(self.target, self.result.fill), stmt))
        # Dense levels below an appended one are filled where their parent is appended, unless loops write all of them.
        variables, derived = level_variables(self.target, self.result.format), self.view.derived
        last = append_chains(self.result.format)[-1].last
        below = [radix_components(v, derived) for v in variables[last + 1 :]]
        if all(loops and set(loops).isdisjoint(incomplete) for loops in below):
            return stmt
        return self.fill_below(stmt, max(radix_components(variables[last], derived), key=order.index))

    # The statement with the result filled inside the loop over ``var``.
    def fill_below(self, stmt: Stmt, var: str) -> Stmt:
        match stmt:
            case Forall(var=v, body=body, parallel=parallel):
                if v == var:
                    return Forall(v, Seq((Fill(self.target, self.result.fill), body)), parallel)
                return Forall(v, self.fill_below(body, var), parallel)
        return stmt

    def fold(self, term: Expr, nest: LoopOrder) -> Stmt:
        """Return a nest that reduces entries into the elements of the result.

        Each element starts with the value that does not change the reduction.
        """
        term = self.stored_for(term, nest.order, nest.converts)
        assert isinstance(term, Reduce)
        self.notes.append(f"loop order {', '.join(nest.order)}; {term.op} into {self.target.tensor}")
        # In registers, implicit entries are counted. Then only outer loops over free variables can leave elements out.
        if (stmt := self.in_registers(False, term, LoopOrder(nest.order, nest.cost, {}), None)) is not None:
            return self.filled(stmt, list(takewhile(lambda v: v in self.free, nest.order)), term)
        assert self.folds(False, term), "what is absent is counted in registers alone"
        value = converted(term.body, self.dtypes, self.result.dtype)
        start = OPERATORS[term.op].start(self.result.dtype)
        return Seq((Fill(self.target, start), foralls(nest.order, Assign(self.target, value, term.op))))

    # A workspace over the last level of the result, of the kind that suits the data.
    def with_workspace(self, term: Expr, nest: LoopOrder) -> Stmt:
        *outer, last = level_variables(self.target, self.result.format)
        kind = "list" if self.variant.accumulator == "dense" else self.variant.accumulator
        if self.result.format.is_dense and not outer:
            kind = "flags"  # the whole result is iterated once anyway
        if kind == "list" and isinstance(term, Access):
            kind = "pairs"  # only duplicates are reduced
        return self.in_workspace(term, nest, outer, (last,), kind)

    def in_workspace(self, term: Expr, nest: LoopOrder, outer: Sequence[str], over: tuple[str, ...], kind: str) -> Stmt:
        """Return loops over ``outer`` levels of the result around a workspace over the others.

        The workspace is then appended to the result.
        """
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
        # A dense result is filled outside the first loop that does not visit every coordinate.
        whole = next((n for n, v in enumerate(outer) if not is_full(term, v, self.types)), len(outer))
        filled = Seq((Fill(self.target, self.result.fill), foralls(outer[whole:], stmt)))
        return foralls(outer[:whole], filled)

    # Each term has its own nest, which appends to the same list.
    def coordinate_list(self, terms: Sequence[tuple[bool, Expr]], nests: Sequence[LoopOrder]) -> Stmt:
        stmts = []
        for (negative, term), nest in zip(terms, nests, strict=True):
            self.notes.append(f"loop order {', '.join(nest.order)}; appends to a coordinate list")
            term = self.stored_for(term, nest.order, nest.converts)
            body = term.body if isinstance(term, Reduce) else term
            # Reductions inside the last free variable are summed first, so that a coordinate is appended once.
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
        """Return a statement with its outermost loop marked parallel, if the iterations write different elements."""
        match stmt:
            # A loop over tiles: they are parts of a dense result, or of its outermost level.
            case Forall(var=v, body=body) if any(isinstance(s, Split) and s.outer == v for s in self.splits):
                tiles = next(s.tiles for s in self.splits if isinstance(s, Split) and s.outer == v)
                outermost = level_variables(self.target, self.result.format)[0]
                whole = tiles in self.free and self.result.format.is_dense
                return Forall(v, body, parallel=whole or tiles == outermost)
            # A loop over a free variable writes different elements. A loop over a counter (#) stays serial. If the
            # result is appended, the loop must be over its outermost level, or over the most significant digit of that.
            case Forall(var=v, body=body) if v in self.free and "#" not in v:
                format = self.result.format
                first = level_variables(self.target, format)[:1]
                if format.is_dense or (first and radix_components(first[0], self.view.derived)[:1] == (v,)):
                    return Forall(v, body, parallel=True)
            # A fill comes first, outside the parallel loop. A scalar does too.
            case Seq(stmts=stmts) if isinstance(stmts[0], Fill) and len(stmts) == 2:
                return Seq((stmts[0], self.parallelize(stmts[1])))
            case Where(consumer=consumer, producer=producer) if not result_of(producer).target.indices:
                return Where(self.parallelize(consumer), producer)
        return stmt


def one_reduction(assignment: Assignment, types: Mapping[str, TensorType]) -> Assignment:
    """Return the assignment with nested reductions by one operator as one reduction over all their variables."""
    dtypes = {name: type.dtype for name, type in types.items()}
    return replace(assignment, value=merge_reductions(assignment.value, lambda e: dtype_of(e, dtypes)))


def forms_of(
    assignment: Assignment, types: Mapping[str, TensorType], variant: Variant = DEFAULT
) -> tuple[Assignment, ...]:
    """Return the assignment, and the one with sums over different variables apart where that is another."""
    if not variant.options.enabled("independent-sums"):
        return (assignment,)
    dtypes = {name: type.dtype for name, type in types.items()}
    apart = replace(assignment, value=with_independent_sums(assignment.value, lambda e: dtype_of(e, dtypes)))
    return tuple(dict.fromkeys((assignment, apart)))


def views_of(
    forms: Sequence[Assignment], types: Mapping[str, TensorType], variant: Variant = DEFAULT
) -> tuple[FormatView, ...]:
    """Return the views of structured operands and results that may be scheduled, for each form of an assignment."""
    seen = [view for form in forms for view in format_views(form, types, variant.no_dense_levels)]
    target = forms[0].target.tensor
    if variant.conversion:  # which must not ask for another
        seen = [view for view in seen if not (view.stored_plainly or view.looked_up or view.final_format)]
    elif types[target].format.is_signed:  # workspaces are over coordinates from 0
        seen = [view for view in seen if target not in view.kept]
    return tuple(seen)


def cheapest_schedule(
    views: Sequence[FormatView], assignment: Assignment, types: Mapping[str, TensorType], variant: Variant = DEFAULT
) -> Schedule:
    """Return the cheapest of the schedules of all views.

    Parameters
    ----------
    views : sequence of FormatView
        The views that may be scheduled.
    assignment : Assignment
        What they are views of, for messages.
    types : mapping
        The type of every tensor, the result's included.
    variant : Variant
        The assumptions for which loops are scheduled.

    Raises
    ------
    ScheduleError
        If no view has a schedule.
    """
    found = [_Scheduler(view, variant).run() for view in views]
    possible = [f for f in found if f is not None]
    if not possible:
        given = ", ".join(f"{name}: {type.format}" for name, type in types.items())
        raise ScheduleError(f"{to_text(assignment)} has no schedule for formats {given}")
    return min(possible, key=lambda f: f[0])[1]


def _cheapest(candidates: Iterable[_Candidate]) -> _Candidate | None:
    """Return the cheapest candidate; None if none is possible."""
    possible = (c for c in candidates if c.cost < inf)
    return min(possible, key=lambda c: (c.cost, c.rank), default=None)


def _is_shared(stmt: Stmt) -> bool:
    """Return whether threads share a loop of a statement."""
    match stmt:
        case Forall(parallel=parallel):
            return parallel
        case Seq(stmts=stmts):
            return any(_is_shared(s) for s in stmts)
    return False


def _after(stmt: Stmt, producers: Sequence[Stmt]) -> Stmt:
    """Return a statement with the producers of its workspaces around it, the first one innermost."""
    for producer in producers:
        stmt = Where(stmt, producer)
    return stmt
