"""Drafts: the parts of a schedule while its statement is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..analysis.coordinate_sets import is_full
from ..analysis.derived_variables import radix_components
from ..analysis.implicit_values import converted
from ..analysis.terms import Dtypes
from ..concrete_notation.nodes import Assign, Fill, Forall, RegisterStrips, Stmt, Where, Workspace, WorkspaceKind
from ..concrete_notation.nodes import Sequence as Seq
from ..concrete_notation.traversal import assignments, rewrite, rewrite_outermost
from ..concrete_notation.values import TypedLiteral
from ..formats import TensorType
from ..formats.append_chains import append_chains
from ..formats.format import level_variables
from ..index_notation.nodes import Access, Apply, Expr
from ..index_notation.traversal import accesses, replaced
from ..records import replace
from .loop_problem import LoopOrder, LoopProblem, fresh_name, loops_of
from .operand_conversions import OperandConversion, SegmentCopy, widest_index


class Draft:
    """The names, workspaces, conversions and notes of a statement that a strategy writes.

    A draft lives while one statement is written. The parts of the finished statement go to a frozen ``Schedule``.
    """

    def __init__(self, problem: LoopProblem, writes: TensorType) -> None:
        view = problem.view
        self.problem = problem
        self.types, self.dtypes = {**view.types, problem.target.tensor: writes}, dict(problem.dtypes)
        self.dtype = Dtypes(self.dtypes)  # of expressions, in which tensors and workspaces are read
        self.workspaces: list[Workspace] = []
        self.conversions: list[OperandConversion] = []
        self.copies: dict[str, SegmentCopy] = {}  # by the name of the copy
        self.strips: list[RegisterStrips] = []
        self.notes: list[str] = []
        self._taken = set(problem.names)
        self._inside: dict[str, str] = {}
        for old, new in view.stored_plainly:
            unsuited = f"loops over the levels of {self.types[old].format} do not suit the other operands"
            kept = self.types[new].format.is_structured
            self._store_first(
                old, new, "its coordinates are merged in order with those of others" if kept else unsuited
            )
        for old, new in view.looked_up:
            self._store_first(old, new, f"{old} is looked up by whole coordinates; no array is copied")

    # -- names --------------------------------------------------------------------------------------------------
    def fresh(self, stem: str) -> str:
        """Return a name that no tensor, variable or workspace has yet."""
        name = fresh_name(stem, self._taken)
        self._taken.add(name)
        return name

    def workspace(
        self,
        indices: tuple[str, ...],
        kind: WorkspaceKind,
        dtype: str,
        op: str = "add",
        repeats: bool = False,
        copies: bool = False,
    ) -> Access:
        """Add a workspace, and return the access of all of it."""
        # Inside a strip, a workspace is only as large as the strip.
        indices = tuple(self._inside.get(v, v) for v in indices)
        w = Workspace(self.fresh("t" if kind == "scalar" else "w"), indices, kind, dtype, op, repeats, copies)
        self.workspaces.append(w)
        self.dtypes[w.name] = dtype
        return Access(w.name, indices)

    @contextmanager
    def inside(self, strips: RegisterStrips) -> Iterator[None]:
        """Add strips, inside which workspaces over the variable of the strips have the size of one strip."""
        self.strips.append(strips)
        self._inside[strips.var] = strips.inner
        yield
        del self._inside[strips.var]

    # -- expressions --------------------------------------------------------------------------------------------
    def loops_of(self, expr: Expr) -> set[str]:
        """Return the loops that an expression depends on."""
        return loops_of(expr, self.types, self.problem.view.derived)

    def converted(self, value: Expr, dtype: str) -> Expr:
        """Return an expression with its value converted to a dtype."""
        return converted(value, self.dtypes, dtype)

    def signed(self, negative: bool, term: Expr, dtype: str) -> Expr:
        """Return a term in the dtype in which it is added, subtracted from zero if it is ``negative``.

        The negation of an implicit zero would be -0.0. Zero minus zero is 0.0, and so adds nothing.
        """
        value = self.converted(term, dtype)
        return Apply("subtract", (TypedLiteral(0, dtype), value)) if negative else value

    # -- elements that the loops do not write --------------------------------------------------------------------
    def filled(self, stmt: Stmt, order: Sequence[str], value: Expr) -> Stmt:
        """Return a statement that first initializes the elements that its plain assignments do not reach."""
        problem = self.problem
        if problem.accumulating or not problem.view.free_loops:
            return stmt
        # A loop that does not visit every coordinate leaves elements of a dense result unwritten.
        within = None if problem.dense else problem.target
        incomplete = [v for v in order if not is_full(value, v, self.types, within)]
        if not incomplete:
            return stmt
        if problem.dense:
            return Seq((Fill(problem.target, problem.result.fill), stmt))
        # Dense levels below an appended one are filled where their parent is appended, unless loops write all of them.
        variables = level_variables(problem.target, problem.result.format)
        last = append_chains(problem.result.format)[-1].last
        below = [radix_components(v, problem.view.derived) for v in variables[last + 1 :]]
        if all(loops and set(loops).isdisjoint(incomplete) for loops in below):
            return stmt
        parent = max(radix_components(variables[last], problem.view.derived), key=order.index)

        def with_fill(s: Stmt) -> Stmt | None:
            if not isinstance(s, Forall):
                return s  # only the nest around the assignment is entered
            fill = Fill(problem.target, problem.result.fill)
            return replace(s, body=Seq((fill, s.body))) if s.var == parent else None

        return rewrite_outermost(stmt, with_fill)

    # -- operands that are stored another way -------------------------------------------------------------------
    def stored_for(self, expr: Expr, nest: LoopOrder) -> Expr:
        """Return an expression in which operands that do not fit the loops are stored again, and note the conversions.

        The formats of the new operands follow the order of the loops.
        """
        for access, format in nest.converts.items():
            type = self.types[access.tensor]
            if format == type.format:
                continue  # another access of this operand is stored again
            origin = self.problem.origins.get(access.tensor, access.tensor)
            reason = nest.verdicts[access].reason.format(
                loops=",".join(nest.order), tensor=access.tensor, format=type.format
            )
            if nest.verdicts[access].use == "copy":
                name = self.fresh(f"{access.tensor}_sorted")
                self.types[name] = TensorType.of(type.dtype, format, widest_index(type), type.fill)
                self.dtypes[name] = type.dtype
                self.copies[name] = SegmentCopy(access, reason)
                self.notes.append(f"segments of {access.tensor} are sorted where loops enter them: {reason}")
                expr = replaced(expr, access, Access(name, access.indices))
                continue
            # Two accesses of one operand that need the same format share its conversion.
            conversion = next((c for c in self.conversions if c.tensor == origin and c.format == format), None)
            if conversion is None:
                axes = "".join(access.indices[m] for m in format.mode_order)
                name = self.fresh(f"{access.tensor}_{axes}")
                conversion = OperandConversion(origin, name, format, reason)
                self.types[name] = TensorType.of(type.dtype, format, widest_index(type), type.fill)
                self.dtypes[name] = type.dtype
                self.notes.append(f"{access.tensor} is converted from {type.format} to {format}: {reason}")
            else:
                self.conversions.remove(conversion)
            conversion = replace(conversion, accesses=(*conversion.accesses, access))
            self.conversions.append(conversion)
            expr = conversion.renamed(expr)
        chained = dict.fromkeys(a.tensor for a, verdict in nest.verdicts.items() if verdict.use == "chain")
        self.notes += [f"entries of {name} are taken in the order in which they are stored" for name in chained]
        return expr

    def with_copies(self, stmt: Stmt) -> Stmt:
        """Return a statement in which loops over segments that are copied read workspaces, which it fills first.

        After that, ``copies`` has the names of these workspaces.
        """
        copies, self.copies = self.copies, {}
        for name, copy in copies.items():
            type = self.types.pop(name)

            def inside(s: Stmt, name: str = name, copy: SegmentCopy = copy, type: TensorType = type) -> Stmt | None:
                if not isinstance(s, Forall) or s.var != copy.var:
                    return None
                read = Access(name, copy.access.indices)
                if not any(read in accesses(each.value) for each in assignments(s)):
                    return None
                unique = self.types[copy.access.tensor].format.is_unique
                w = self.workspace((copy.var,), "pairs" if unique else "list", type.dtype, copies=True)
                self.copies[w.tensor] = copy

                def sorted_there(each: Stmt) -> Stmt | None:
                    return replace(each, value=replaced(each.value, read, w)) if isinstance(each, Assign) else None

                return Where(rewrite(s, sorted_there), Forall(copy.var, Assign(w, copy.access, "add")))

            stmt = rewrite_outermost(stmt, inside)
        return stmt

    def _store_first(self, old: str, new: str, reason: str) -> None:
        """Record that an operand is converted before anything else."""
        original, type = self.types[old], self.types[new]
        read = tuple(Access(old, a.indices) for a in self.problem.value.distinct_accesses if a.tensor == new)
        self.conversions.append(OperandConversion(old, new, type.format, reason, read))
        self.notes.append(f"{old} is converted from {original.format} to {type.format}: {reason}")
