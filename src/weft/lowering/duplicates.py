"""Duplicates of a coordinate: whether loops may handle them one by one, rather than all of them together."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..analysis.linearity import adds_in_place, adds_nothing, is_linear
from ..analysis.merge_lattice import LevelIterator
from ..concrete_notation.nodes import Assign, Fill, Forall, Stmt, Where
from ..concrete_notation.traversal import assignments, result_of, statements
from ..concrete_notation.values import without_conversions
from ..formats import TensorType
from ..formats.format import level_variables
from ..index_notation.nodes import Access
from ..index_notation.traversal import accesses
from ..ir import nodes as ir
from ..ir.builder import block, declare, eq, gt, if_, land, lit, lt, sub
from .append_writer import AppendWriter
from .bisection import move_forward
from .emitter import Emitter


def may_revisit(emitter: Emitter, stmt: Forall, it: LevelIterator, one_by_one: bool = False) -> bool:
    """Return whether the body may run once for each duplicate, instead of once for all duplicates together.

    The body must not fill or gather, and must not co-iterate levels below with other operands. An appended result
    must be a list that allows duplicates, or hold each entry of the operand separately; a level with children of
    its own must not get a coordinate twice unless that level allows duplicates. If entries themselves may be
    duplicates, a located result must accumulate by addition and the value must be linear in the operand. If entries
    are unique and only leading coordinates repeat, it is enough that the value is zero where the operand has no
    stored entry.
    """
    context, body, levels = emitter.context, stmt.body, emitter.writer.format.levels
    appending = emitter.appending
    dtypes = {name: w.dtype for name, w in context.workspaces.items()}
    if _needs_all(body, one_by_one or not it.format.ordered, dtypes):
        return False
    # ``last``: the entries themselves may be duplicates, not only coordinates of levels above the last.
    repeatable = levels != () and not levels[-1].unique
    last = it.access is not None and not context.types[it.access.tensor].format.is_unique
    for a in assignments(body):
        appends = a.target.tensor == context.target.tensor and appending is not None
        if appends and not (repeatable or (not last and _lists(appending, context.types, a.target, it))):
            return False
        if appends and _repeats_parents(appending, stmt.var):
            return False
        if not appends and a.op != "add" and last:
            return False
        if it.access is None:
            continue
        # f(a + b) = f(a) + f(b) holds for linear values, unless conversions of dtypes depend on the sum.
        if is_linear(without_conversions(a.value), it.access):
            if last and not adds_in_place(a.value, it.access, context.types[it.access.tensor].dtype):
                return False
            continue
        if last or not (appends or a.op == "add") or not adds_nothing(a.value, it.access, context.types):
            return False
    return not _merges_below(stmt, it, context.types)


def behind_run(edge: ir.Var, limits: tuple[ir.Expr, ir.Expr], coordinate: Callable[[ir.Expr], ir.Expr]) -> ir.Stmt:
    """Return code that moves an edge between chunks behind all positions with the coordinate of the one before."""
    # The positions of a coordinate follow one another.
    begin, end = limits
    last, last_is = declare(f"{edge.name}_coordinate", coordinate(sub(edge, lit(1))))
    search = move_forward(edge, end, lambda p: eq(coordinate(p), last))
    return if_(land(gt(edge, begin), lt(edge, end)), block(last_is, search))


def _repeats_parents(writer: AppendWriter | None, v: str) -> bool:
    """Return whether the body appends the coordinate of a loop to a unique level that has children of its own."""
    return writer is not None and any(
        writer.format.levels[chain.last].unique and v in writer.path[chain.first : chain.last + 1]
        for chain in writer.chains[:-1]
    )


def _lists(writer: AppendWriter | None, types: Mapping[str, TensorType], target: Access, it: LevelIterator) -> bool:
    """Return whether the result is a list of coordinates that holds each entry of the iterated list separately."""
    if writer is None or it.access is None or not {*it.access.indices} <= {*target.indices}:
        return False
    below = types[it.access.tensor].format.levels[it.level + 1 :]
    chains, above = writer.chains, writer.format.levels[:-1]
    listed = len(chains) == 1 and chains[0].first == 0 and not any(level.unique for level in above)
    return listed and all(level.branchless for level in below)


def _merges_below(stmt: Forall, it: LevelIterator, types: Mapping[str, TensorType]) -> bool:
    """Return whether levels below are co-iterated with another operand, which is done once for all duplicates."""
    access = it.access
    assert access is not None
    below = set(level_variables(access, types[access.tensor].format)[it.level + 1 :])
    others = {a for s in assignments(stmt.body) for a in accesses(s.value) if a != access}
    return any(v in below and not level.has_every for a in others for v, level in types[a.tensor].levels_of(a))


def _needs_all(stmt: Stmt, one_by_one: bool, dtypes: Mapping[str, str]) -> bool:
    """Return whether a statement fills or gathers, and so must run once for all duplicates of a coordinate.

    A workspace that is gathered and then accumulated by the same operator may be gathered for each duplicate if
    ``one_by_one`` is true, as where duplicates do not follow one another.
    """

    def needs_all(s: Stmt) -> bool:
        if isinstance(s, Where):
            gathered = result_of(s.producer)
            return not (one_by_one and all(_goes_on(a, gathered, dtypes) for a in assignments(s.consumer)))
        return isinstance(s, Fill)

    return any(map(needs_all, statements(stmt)))


def _goes_on(last: Assign, gathered: Assign, dtypes: Mapping[str, str]) -> bool:
    """Return whether accumulating the parts of a workspace one by one gives the same as accumulating their total."""
    value, part = without_conversions(last.value), gathered.target
    if last.op != gathered.op or part not in value.distinct_accesses:
        return False
    if last.op == "add":
        return is_linear(value, part) and adds_in_place(last.value, part, dtypes[part.tensor])
    return value == part
