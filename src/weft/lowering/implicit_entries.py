"""Reductions that do not iterate implicit entries, such as the largest element of a row.

Implicit entries take part in every reduction. Those of a sum are mostly zeros and change nothing. Others matter, but
all have the same value, so their number determines their contribution. The loops visit stored entries and count them.
If the count is less than the number of elements, the contribution of the implicit entries is reduced last. The
contribution is the operator's repetition of the value: a multiple for a sum, a power for a product. The contribution is
the value itself if any number of copies reduce to one copy (maximum, minimum, any, all, and a product with zero).

A scalar workspace has one counter. A workspace over coordinates has one counter for each coordinate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..analysis.coordinate_sets import is_full
from ..analysis.implicit_values import implicit_value, is_counted, is_never_empty
from ..code_options import CodeOptions
from ..concrete_notation.nodes import Forall, Program, Sequence, Stmt, Where
from ..concrete_notation.traversal import result_of
from ..concrete_notation.values import UNKNOWN, same_value, without_conversions
from ..formats import TensorType
from ..index_notation.nodes import Access
from ..index_notation.operator_table import REPETITIONS
from ..index_notation.traversal import accesses
from ..ir import nodes as ir
from ..ir.builder import block, gt, if_, increment, land, lit, lt, product, sub
from ..records import replace
from .context import ImplicitEntries, LoweringContext
from .function_state import FunctionState
from .operand_values import fill_expr
from .scalar_expressions import combine, update


def lowering_context(
    program: Program,
    target: Access,
    types: Mapping[str, TensorType],
    names: Mapping[str, str],
    options: CodeOptions,
    skip_fill: bool = False,
) -> LoweringContext:
    """Return the context of a program, with the workspaces whose implicit entries are counted."""
    return _counting(LoweringContext.of(program, target, types, names, options, skip_fill), program.stmt)


def _counting(context: LoweringContext, stmt: Stmt) -> LoweringContext:
    """Return the context with the workspaces of a statement whose implicit entries are counted, not iterated."""
    match stmt:
        case Forall(body=body):
            return _counting(context, body)
        case Sequence(stmts=stmts):
            for each in stmts:
                context = _counting(context, each)
        case Where(consumer=consumer, producer=producer):
            # Inner workspaces come first: the implicit value of an outer one depends on theirs.
            context = _counting(_counting(context, producer), consumer)
            w = context.workspaces[result_of(producer).target.tensor]
            absences = _implicit_entries(context, producer)
            # Loops may skip coordinates of a workspace, which is safe only if those need no count.
            if absences is not None and (w.kind == "scalar" or absences.never_empty):
                return replace(context, implicit_entries={**context.implicit_entries, w.name: absences})
    return context


def _implicit_entries(context: LoweringContext, producer: Stmt) -> ImplicitEntries | None:
    """Return the contribution of implicit entries; None if they change nothing or if loops have to visit them."""
    last, value = result_of(producer), context.view(producer)
    absent = implicit_value(value, context.fill_value)
    if last.op is None or absent is UNKNOWN or not is_counted(last.op, absent):
        return None
    if same_value(absent, context.skippable_value(value, last)):
        return None
    # Loops that are cut count as the loop over the original variable.
    cut = {v: s.var for s in context.program.splits for v in (s.outer, s.inner)}
    loops = {cut.get(v, v) for v in _loops(producer)}
    body = without_conversions(value)
    # Dense operands alone have no implicit entries.
    if all(is_full(body, v, context.types) for v in loops):
        return None
    follow = {d.var for d in context.derived if not loops.isdisjoint(d.needs)}
    over = dict.fromkeys(v for a in accesses(body) for v in a.indices if v in loops or v in follow)
    indices = dict.fromkeys(cut.get(v, v) for v in last.target.indices)
    passing = None
    if context.workspaces[last.target.tensor].kind == "dense":
        innermost = tuple(_loops(producer))[-len(indices) :]
        if innermost != last.target.indices or not all(is_full(body, v, context.types) for v in indices):
            return None  # some elements are visited more often than others, and there is one counter for all
        passing = innermost[0]
    reduced = tuple(v for v in over if v not in indices)
    name = context.used_names.fresh("visited").name
    visited = ir.Var(name, "int64*" if indices and passing is None else "int64")
    return ImplicitEntries(last.op, absent.item(), reduced, visited, passing, is_never_empty(last.op, absent))


def _loops(stmt: Stmt) -> Iterator[str]:
    """Yield the variables of the loops around the last assignment of a statement, outermost first."""
    while isinstance(stmt, Forall | Where):
        if isinstance(stmt, Forall):
            yield stmt.var
        stmt = stmt.body if isinstance(stmt, Forall) else stmt.consumer


def visit(f: FunctionState, loop: Forall) -> ir.Stmt:
    """Return the statement, before a loop over all elements of a workspace, that counts one visit of each element."""
    absences = f.context.implicit_entries.get(result_of(loop.body).target.tensor)
    counts = absences is not None and absences.passing == loop.var and f.holds_values
    return increment(absences.visited) if absences is not None and counts else block()


def add_implicit(
    f: FunctionState, absences: ImplicitEntries, into: ir.Var | ir.Load, visited: ir.Var | ir.Load
) -> ir.Stmt:
    """Return the statement that reduces the implicit entries into ``into``, if fewer than all were ``visited``."""
    first, *others = (f.context.extents[v] for v in absences.over)
    value = fill_expr(f, absences.value, into.ty)
    if absences.needs_number:
        number = sub(product((first, *others)), visited)
        value = combine(REPETITIONS[absences.op], number, value)
    # The condition is visited < first * others, by divisions: the product may overflow an int64.
    rows: ir.Expr = visited
    for n in others:
        rows = ir.Binary("/", rows, n)
    some = land(*(gt(n, lit(0)) for n in others), lt(rows, first))
    return if_(some, update(absences.op, into, value))
