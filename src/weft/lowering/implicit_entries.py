"""Reductions that do not iterate implicit entries, such as the largest element of a row.

Implicit entries take part in every reduction. Those of a sum are mostly zeros and change nothing. Others matter, but
all have the same value, so their number determines their contribution. The loops visit stored entries and count them.
If the count is less than the number of elements, the contribution of the implicit entries is reduced last. The
contribution is the operator's repetition of the value: a multiple for a sum, a power for a product. The contribution is
the value itself if any number of copies reduce to one copy (maximum, minimum, any, all, and a product with zero).

A scalar workspace has one counter. A workspace over coordinates has one counter for each coordinate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..analysis.coordinate_sets import is_full
from ..analysis.implicit_values import implicit_value, is_counted, is_never_empty
from ..concrete_notation.nodes import Forall, Sequence, Stmt, Where
from ..concrete_notation.traversal import result_of
from ..concrete_notation.values import UNKNOWN, same_value, without_conversions
from ..index_notation.operator_table import OPERATORS, REPETITIONS
from ..index_notation.traversal import accesses
from ..ir import nodes as ir
from ..ir.builder import block, gt, if_, increment, land, lit, lt, product, sub
from ..records import record
from .scalar_expressions import combine, update

if TYPE_CHECKING:
    from .lowerer import Lowerer


@record
class ImplicitEntries:
    """Contribution of the implicit entries to one reduction."""

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

    def rest(self, owner: Lowerer, into: ir.Var | ir.Load, visited: ir.Var | ir.Load) -> ir.Stmt:
        """Return the statement that reduces the implicit entries into ``into``, if fewer than all were ``visited``."""
        first, *others = (owner.extents[v] for v in self.over)
        value = owner.value(self.value, into.ty)
        if self.needs_number:
            number = sub(product((first, *others)), visited)
            value = combine(REPETITIONS[self.op], number, value)
        # The condition is visited < first * others, by divisions: the product may overflow an int64.
        rows: ir.Expr = visited
        for n in others:
            rows = ir.Binary("/", rows, n)
        some = land(*(gt(n, lit(0)) for n in others), lt(rows, first))
        return if_(some, update(self.op, into, value))


def find_implicit_entries(owner: Lowerer, stmt: Stmt) -> None:
    """Add to ``owner.implicit_entries`` the workspaces whose implicit entries are counted, not iterated."""
    match stmt:
        case Forall(body=body):
            find_implicit_entries(owner, body)
        case Sequence(stmts=stmts):
            for each in stmts:
                find_implicit_entries(owner, each)
        case Where(consumer=consumer, producer=producer):
            # Inner workspaces come first: the implicit value of an outer one depends on theirs.
            find_implicit_entries(owner, producer)
            find_implicit_entries(owner, consumer)
            w = owner.workspaces[result_of(producer).target.tensor]
            found = _implicit_entries(owner, producer)
            # Loops may skip coordinates of a workspace, which is safe only if those need no count.
            if found is not None and (w.kind == "scalar" or found.never_empty):
                owner.implicit_entries[w.name] = found


def _implicit_entries(owner: Lowerer, producer: Stmt) -> ImplicitEntries | None:
    """Return the contribution of implicit entries; None if they change nothing or if loops have to visit them."""
    last, value = result_of(producer), owner.view(producer)
    absent = implicit_value(value, owner.fill_value)
    if last.op is None or absent is UNKNOWN or not is_counted(last.op, absent):
        return None
    if same_value(absent, owner.skippable_value(value, last)):
        return None
    # Loops that are cut count as the loop over the original variable.
    cut = {v: s.var for s in owner.program.splits for v in (s.outer, s.inner)}
    loops = {cut.get(v, v) for v in _loops(producer)}
    body = without_conversions(value)
    # Dense operands alone have no implicit entries.
    if all(is_full(body, v, owner.types) for v in loops):
        return None
    follow = {d.var for d in owner.derived if not loops.isdisjoint(d.needs)}
    over = dict.fromkeys(v for a in accesses(body) for v in a.indices if v in loops or v in follow)
    own = dict.fromkeys(cut.get(v, v) for v in last.target.indices)
    passing = None
    if owner.workspaces[last.target.tensor].kind == "dense":
        innermost = tuple(_loops(producer))[-len(own) :]
        if innermost != last.target.indices or not all(is_full(body, v, owner.types) for v in own):
            return None  # some elements are visited more often than others, and there is one counter for all
        passing = innermost[0]
    reduced = tuple(v for v in over if v not in own)
    visited = ir.Var(owner.name("visited").name, "int64*" if own and passing is None else "int64")
    return ImplicitEntries(last.op, absent.item(), reduced, visited, passing, is_never_empty(last.op, absent))


def visit(owner: Lowerer, loop: Forall) -> ir.Stmt:
    """Return the statement, before a loop over all elements of a workspace, that counts one visit of each element."""
    absences = owner.implicit_entries.get(result_of(loop.body).target.tensor)
    counts = absences is not None and absences.passing == loop.var and owner.holds_values
    return increment(absences.visited) if absences is not None and counts else block()


def _loops(stmt: Stmt) -> Iterator[str]:
    """Yield the variables of the loops around the last assignment of a statement, outermost first."""
    while isinstance(stmt, Forall | Where):
        if isinstance(stmt, Forall):
            yield stmt.var
        stmt = stmt.body if isinstance(stmt, Forall) else stmt.consumer
