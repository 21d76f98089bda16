"""Reductions that do not walk what no operand stores, as that of the largest element of a row.

Absent entries count in every reduction. Those of a sum are mostly zeros and change nothing; others matter, but all have
the same value, and it is enough to know how many there are. The loops visit what is stored, and count it; where that
is less than the dimensions hold, what the rest comes to is reduced after the others: the operator's repetition (a
multiple for a sum, a power for a product), or one entry where any number come to what one makes (the largest, the
smallest, any, all, and a product that zeros make zero).

A scalar has one counter. A workspace that many coordinates are gathered in has one for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..analysis.implicit_values import UNKNOWN, implicit_value, same_value, without_conversions
from ..analysis.iteration_graph import is_counted, is_full, is_never_empty
from ..concrete_notation.nodes import Forall, Sequence, Stmt, Where, accesses, result_of
from ..index_notation.operator_table import OPERATORS, REPETITIONS
from ..ir import nodes as ir
from ..ir.builder import block, gt, if_, increment, land, lit, lt, product, sub
from ..records import record
from .scalar_expressions import combine, update

if TYPE_CHECKING:
    from .lowerer import Lowerer

__all__ = ["ImplicitEntries", "find_implicit_entries", "visit"]


@record
class ImplicitEntries:
    """What the absent entries of one reduction come to.

    Parameters
    ----------
    op : str
        The operator of the reduction.
    value : object
        That of one.
    over : tuple of str
        The index variables that are reduced: there are as many coordinates as their dimensions allow.
    visited : ir.Var
        Counts the coordinates that are visited; of a workspace over coordinates of its own, an array that counts for
        each.
    passing : str or None
        The loop over all elements of a workspace, which is one visit of each.
    never_empty : bool
        Where all is absent the reduction has the same value, however much that is, as one of nothing is an error.
        Otherwise no loop around one passes over where all is absent.
    """

    op: str
    value: Any
    over: tuple[str, ...]
    visited: ir.Var
    passing: str | None
    never_empty: bool

    @property
    def needs_number(self) -> bool:
        """Whether it matters how many they are, which then has to fit into an int64."""
        return not OPERATORS[self.op].collapses(self.value)

    def rest(self, owner: Lowerer, into: ir.Var | ir.Load, visited: ir.Var | ir.Load) -> ir.Stmt:
        """Reduce the absent entries, where there are any beside those ``visited``."""
        first, *others = (owner.extents[v] for v in self.over)
        value: ir.Expr = lit(self.value, into.ty)
        if self.needs_number:
            number = sub(product((first, *others)), visited)
            value = combine(REPETITIONS[self.op], number, value)
        # Fewer than first * others, whose product need not be an int64.
        rows: ir.Expr = visited
        for n in others:
            rows = ir.Binary("/", rows, n)
        some = land(*(gt(n, lit(0)) for n in others), lt(rows, first))
        return if_(some, update(self.op, into, value))


def find_implicit_entries(owner: Lowerer, stmt: Stmt) -> None:
    """Note which workspaces of a program need not be given what is absent, those inside others first."""
    match stmt:
        case Forall(body=body):
            find_implicit_entries(owner, body)
        case Sequence(stmts=stmts):
            for each in stmts:
                find_implicit_entries(owner, each)
        case Where(consumer=consumer, producer=producer):
            find_implicit_entries(owner, producer)
            find_implicit_entries(owner, consumer)
            w = owner.workspaces[result_of(producer).target.tensor]
            found = _implicit_entries(owner, producer)
            if found is not None and (w.kind == "scalar" or found.never_empty):
                owner.implicit_entries[w.name] = found


def _implicit_entries(owner: Lowerer, producer: Stmt) -> ImplicitEntries | None:
    """What the absent entries of a reduction come to; None where they change nothing, or have to be walked."""
    last, value = result_of(producer), owner.view(producer)
    absent = implicit_value(value, owner.fill_value)
    if last.op is None or absent is UNKNOWN or not is_counted(last.op, absent):
        return None
    if same_value(absent, owner.skippable_value(value, last)):
        return None
    cut = {v: s.var for s in owner.program.splits for v in (s.outer, s.inner)}
    loops = {cut.get(v, v) for v in _loops(producer)}
    body = without_conversions(value)
    if all(is_full(body, v, owner.types) for v in loops):
        return None
    follow = {d.var for d in owner.derived if not loops.isdisjoint(d.needs)}
    over = dict.fromkeys(v for a in accesses(body) for v in a.indices if v in loops or v in follow)
    own = dict.fromkeys(cut.get(v, v) for v in last.target.indices)
    passing = None
    if owner.workspaces[last.target.tensor].kind == "dense":
        innermost = tuple(_loops(producer))[-len(own) :]
        if innermost != last.target.indices or not all(is_full(body, v, owner.types) for v in own):
            return None  # elements are not visited as often as each other
        passing = innermost[0]
    reduced = tuple(v for v in over if v not in own)
    visited = ir.Var(owner.name("visited").name, "int64*" if own and passing is None else "int64")
    return ImplicitEntries(last.op, absent.item(), reduced, visited, passing, is_never_empty(last.op, absent))


def visit(owner: Lowerer, loop: Forall) -> ir.Stmt:
    """Count a visit of all elements of a workspace, before the loop over them."""
    absences = owner.implicit_entries.get(result_of(loop.body).target.tensor)
    counts = absences is not None and absences.passing == loop.var and owner.kind.values
    return increment(absences.visited) if absences is not None and counts else block()


def _loops(stmt: Stmt) -> Iterator[str]:
    """The loops around the assignment that a statement is there for, but not around what leads up to it alone."""
    match stmt:
        case Forall(var=var, body=body):
            yield var
            yield from _loops(body)
        case Where(consumer=consumer):
            yield from _loops(consumer)
