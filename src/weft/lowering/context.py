"""The context in which statements are lowered: what follows from a program and the types of its tensors alone.

A ``LoweringContext`` is the same for all functions of a program. The kind of one function, the names that it declares
and whatever else belongs to it alone are in its ``FunctionState`` (``lowering/function_state.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import Any

from ..analysis import merge_lattice
from ..analysis.coordinate_sets import is_driven, is_full
from ..analysis.derived_variables import DerivedVariable, derived_variables, single_coordinate_levels
from ..analysis.implicit_values import absent_value, implicit_value
from ..analysis.iteration_graph import level_iterators
from ..analysis.merge_lattice import LevelIterator, Point, TooManyCases
from ..analysis.runtime_fills import is_fill_name
from ..code_options import CodeOptions
from ..concrete_notation.nodes import Assign, Fill, Forall, Program, RegisterStrips, Sequence, Stmt, Where, Workspace
from ..concrete_notation.traversal import assignments, foralls_of, result_of, statements, wheres_of
from ..concrete_notation.values import UNKNOWN, neutral_in_sum, same_value, without_conversions
from ..errors import LoweringError
from ..formats import Dense, TensorType
from ..formats.append_chains import is_unordered_list
from ..formats.format import level_variables
from ..formats.tensor_vars import TensorVars
from ..index_notation.nodes import Access, Apply, Expr
from ..index_notation.operator_table import OPERATORS
from ..index_notation.traversal import accesses, replaced
from ..ir import nodes as ir
from ..ir.builder import lit
from ..records import cached, record, replace
from .fresh_names import FreshNames
from .workspace_types import LISTED, neutral_of, workspace_types

_DENSE = Dense()


@record
class ImplicitEntries:
    """Contribution of the implicit entries to one reduction (``lowering/implicit_entries.py``)."""

    op: str  # the operator of the reduction
    value: Any  # the value of one implicit entry
    # The reduced index variables. The product of their dimensions is the number of reduced elements.
    over: tuple[str, ...]
    # The counter of visited elements. It is an array with one counter for each coordinate of the workspace if the
    # workspace has coordinates and ``passing`` is None.
    visited: ir.Var
    # The variable of the loop over all elements of a dense workspace. One run of that loop visits each element once, so
    # one scalar counter is enough. None if there is no such loop.
    passing: str | None
    # True if a reduction over implicit entries alone has the same value whatever their number. A reduction over no
    # elements is then an error, so at least one entry exists. Enclosing loops may skip coordinates at which all entries
    # are implicit only if this is true.
    never_empty: bool

    @property
    def needs_number(self) -> bool:
        """True if the contribution depends on the number of implicit entries, which must then fit into an int64."""
        return not OPERATORS[self.op].collapses(self.value)


@record
class LoweringContext:
    """A program with its tensors, and what follows from them whatever function is made of it."""

    program: Program
    target: Access
    types: Mapping[str, TensorType]  # of operands, of the result, and of workspaces in the form of tensors
    names: Mapping[str, str]  # the C names of tensors, workspaces and index variables
    options: CodeOptions
    skip_fill: bool  # whether entries equal to the fill value are not stored
    workspaces: Mapping[str, Workspace]
    tensors: Mapping[str, TensorVars]  # the variables of the result and the operands
    # Fill values that are known when the kernel runs are operands without axes, which are read once.
    fills: Mapping[str, ir.Var]
    extents: Mapping[str, ir.Expr]  # the dimension of each index variable
    derived: tuple[DerivedVariable, ...]  # variables without a loop, which follow from others
    computed: tuple[DerivedVariable, ...]  # variables of levels with a single coordinate
    # The workspaces whose implicit entries are counted, not iterated, and the names that were used for the counters.
    implicit_entries: Mapping[str, ImplicitEntries]
    used_names: FreshNames

    @classmethod
    def of(
        cls,
        program: Program,
        target: Access,
        types: Mapping[str, TensorType],
        names: Mapping[str, str],
        options: CodeOptions,
        skip_fill: bool = False,
    ) -> LoweringContext:
        """Return the context of a program, before implicit entries are counted (``lowering/implicit_entries.py``)."""
        tensors = {name: TensorVars.of(names[name], type, str) for name, type in types.items()}
        fills = {n: ir.Var(f"{names[n]}_value", types[n].dtype) for n in types if is_fill_name(n)}
        accessed = [a for s in assignments(program.stmt) for a in (*accesses(s.value), s.target)]
        stored = [a for a in (*accessed, target) if a.tensor in tensors]
        # A variable with a loop of its own is not derived from others.
        loops = {f.var for f in foralls_of(program.stmt)} | {s.var for s in program.splits}
        return cls(
            program, target, {**types, **workspace_types(program)}, names, options, skip_fill,
            {w.name: w for w in program.workspaces}, tensors, fills, _extents(program, stored, tensors),
            tuple(d for d in derived_variables(stored, types) if d.var not in loops),
            single_coordinate_levels(stored, types), {}, FreshNames(names),
        )  # fmt: skip

    # -- loops --------------------------------------------------------------------------------------------------
    @cached
    def _lattices(self) -> dict[int, tuple[Forall, tuple[Point, ...]]]:
        return {}  # by identity, since 0.0 equals -0.0, whose lattices differ

    def lattice(self, stmt: Forall, most: float = inf) -> tuple[Point, ...]:
        """Return the points of the merge lattice of a loop; raises ``TooManyCases`` if there are more than ``most``."""
        _, points = self._lattices.get(id(stmt), (stmt, None))
        if points is None:
            v = stmt.var
            # The universe iterates the whole dimension, where the expression has a value without any stored entry.
            universe = LevelIterator(None, 0, _DENSE, v.upper() if v.upper() != v else f"{v}_all")
            body = self.view(stmt.body)
            neutral = self.skippable_value(body, result_of(stmt.body))
            points = merge_lattice.build(body, lambda a: self.iterators(a, v), self.fill_value, universe, neutral, most)
            self._lattices[id(stmt)] = stmt, points
        if len(points) > most:
            raise TooManyCases
        return points

    def iterators(self, access: Access, v: str) -> tuple[LevelIterator, ...]:
        """Return the iterators of the levels of an operand over one variable."""
        name = self.names[access.tensor]
        return tuple(replace(it, name=f"{name}{it.level + 1}") for it in level_iterators(access, v, self.types))

    # -- values -------------------------------------------------------------------------------------------------
    def fill_value(self, access: Access) -> Any:
        """Return the value of the implicit entries of an operand; a scalar workspace has none: ``UNKNOWN``."""
        if not access.indices and (access.tensor in self.workspaces or access.tensor not in self.types):
            return UNKNOWN
        if access.tensor in self.workspaces:
            absences = self.implicit_entries.get(access.tensor)
            return neutral_of(self.workspaces[access.tensor]) if absences is None else absences.value
        return absent_value(access, self.types[access.tensor])

    def neutral_value(self, stmt: Assign) -> tuple[Any, str]:
        """Return the value and dtype of the target of an assignment where nothing is assigned."""
        type = self.types[stmt.target.tensor]
        if (absences := self.implicit_entries.get(stmt.target.tensor)) is not None:
            return absences.value if absences.never_empty else UNKNOWN, type.dtype
        if stmt.op is not None:
            return OPERATORS[stmt.op].start(type.dtype), type.dtype
        w = self.workspaces.get(stmt.target.tensor)
        return (neutral_of(w) if w else type.fill), type.dtype

    def skippable_value(self, value: Expr, stmt: Assign) -> Any:
        """Return the implicit value at which an assignment of ``value`` is skipped: for sums, zero of either sign."""
        if (absences := self.implicit_entries.get(stmt.target.tensor)) is not None:
            return absences.value
        neutral = self.neutral_value(stmt)[0]
        # A scalar sum as a factor was taken out of an outer sum, so the sign of its zero does not matter either.
        parts = [w for a in accesses(stmt.value) if (w := self.workspaces.get(a.tensor)) is not None]
        factored = any(w.kind == "scalar" and w.op == "add" for w in parts)
        listed = stmt.target.tensor not in self.workspaces and is_unordered_list(self.types[self.target.tensor].format)
        if not (stmt.op == "add" or factored or listed):
            return neutral
        return neutral_in_sum(implicit_value(value, self.fill_value), neutral)

    def skippable_outside(self, value: Expr, stmt: Assign) -> Any:
        """Return the value that loops enclosing a workspace's producer may skip."""
        counted = stmt.target.tensor in self.implicit_entries
        return self.neutral_value(stmt)[0] if counted else self.skippable_value(value, stmt)

    def view(self, stmt: Stmt) -> Expr:
        """Return the statement as one expression, with workspaces replaced by the values computed into them."""
        match stmt:
            case Assign(value=value):
                return value
            case Forall(body=body):
                return self.view(body)
            case Where(consumer=consumer, producer=producer):
                value = self.view(producer)
                last = result_of(producer)
                if not same_value(implicit_value(value, self.fill_value), self.skippable_outside(value, last)):
                    # Implicit entries change the workspace, so loops must not skip them. With the workspace itself as
                    # another operand, merge lattices keep coordinates without stored entries.
                    value = Apply("add", (value, last.target))
                return replaced(self.view(consumer), last.target, value)
            case Sequence(stmts=stmts):
                first, *others = [self.view(s) for s in stmts if not isinstance(s, Fill)]
                for part in others:
                    first = Apply("add", (first, part))
                return first
        raise LoweringError(f"no expression in {stmt!r}")

    @cached
    def expression(self) -> Expr:
        """Return the whole program as one expression."""
        return self.view(self.program.stmt)

    @cached
    def implicit_value(self) -> Any:
        """Return the value of the whole program where no operand has a stored entry."""
        return implicit_value(self.expression, self.fill_value)

    @cached
    def fills_target(self) -> bool:
        """Return whether the result is filled before values are stored."""
        return any(isinstance(s, Fill) and s.target == self.target for s in statements(self.program.stmt))

    @cached
    def reaches_stored_only(self) -> bool:
        """Guarantee that only coordinates of stored entries are appended, so that the number of entries is a bound."""
        stored = same_value(self.implicit_value, self.types[self.target.tensor].fill)
        # An array beside a workspace may have values where nothing was written: maximum(w(j), z(i)).
        return stored and all(self._reads_written_only(where) for where in wheres_of(self.program.stmt))

    def _reads_written_only(self, stmt: Where) -> bool:
        """Return whether a consumer visits only the coordinates that were written to its workspace.

        The answer is true for workspaces that do not record which coordinates were written.
        """
        w = self.workspaces[result_of(stmt.producer).target.tensor]
        points = self._points(stmt, w)
        return w.kind not in LISTED or all(any(it.reads(w.name) for it in point.iterators) for point in points)

    def reaches(self, stmt: Stmt) -> bool:
        """Return whether a statement contributes to the result whatever operands store."""
        value, loops = without_conversions(self.view(stmt)), foralls_of(stmt)
        full = {loop.var: is_full(value, loop.var, self.types) for loop in loops}
        return any(
            all(full[loop.var] for loop in loops if any(a is each for each in assignments(loop)))
            for a in assignments(stmt)
            if self._contributes(a)
        )

    def _contributes(self, stmt: Assign) -> bool:
        """Return whether an assignment alone decides that the result has a value."""
        # Values of a workspace contribute when they are written there, unless the loops that read it decide.
        read = frozenset([a for a in accesses(stmt.value) if self._decides(a.tensor)])
        if read and is_driven(without_conversions(stmt.value), read, self.types):
            return False
        return stmt.target.tensor not in self.workspaces or self._decides(stmt.target.tensor)

    def _decides(self, name: str) -> bool:
        """Return whether a name is that of a workspace that is read at all coordinates, where it was written or not."""
        return name in self.workspaces and name not in self._read_elsewhere

    @cached
    def _read_elsewhere(self) -> frozenset[str]:
        """Return the workspaces below loops that read them at some coordinates only: those of another operand."""
        names: set[str] = set()
        for where in wheres_of(self.program.stmt):
            value = without_conversions(self.view(where.consumer))
            listed = self.workspaces[result_of(where.producer).target.tensor].kind in LISTED
            if not listed and not all(is_full(value, loop.var, self.types) for loop in foralls_of(where.consumer)):
                names |= {a.target.tensor for a in assignments(where.producer)}
        return frozenset(names)

    def _points(self, stmt: Where, w: Workspace) -> Iterator[Point]:
        """Yield the lattice points of the loops in which the consumer of a workspace reads it."""
        return (p for loop in foralls_of(stmt.consumer) if loop.var in w.indices for p in self.lattice(loop))

    def takes_any_order(self, w: Workspace) -> bool:
        """Return whether the consumer walks a workspace alone, for a level of the result that is not ordered."""
        levels = self.types[self.target.tensor].levels_of(self.target)
        ordered = [level.ordered for v, level in levels if v in w.indices]
        if not ordered or any(ordered):
            return False
        wheres = [s for s in wheres_of(self.program.stmt) if result_of(s.producer).target.tensor == w.name]
        return all(it.reads(w.name) for s in wheres for point in self._points(s, w) for it in point.coiterate)

    def visits_every(self, variables: Iterable[str]) -> bool:
        """Return whether loops visit every coordinate of variables."""
        value = without_conversions(self.expression)
        return all(is_full(value, v, self.types) for v in variables)


def _extents(program: Program, stored: Iterable[Access], tensors: Mapping[str, TensorVars]) -> dict[str, ir.Expr]:
    """Return the dimension of each index variable, from the first access or level that has it."""
    extents: dict[str, ir.Expr] = {}
    for access in stored:
        tensor = tensors[access.tensor]
        for var, dimension in zip(access.indices, tensor.dimensions, strict=True):
            extents.setdefault(var, dimension)
        for var, level in zip(level_variables(access, tensor.type.format), tensor.levels, strict=True):
            extents.setdefault(var, level.dimension)
    return extents | {s.inner: lit(s.widths[0]) for s in program.splits if isinstance(s, RegisterStrips)}
