"""Fills: the elements of a result that plain assignments do not reach are initialized first."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.coordinate_sets import is_full
from ..analysis.derived_variables import radix_components
from ..concrete_notation.nodes import Fill, Forall, Stmt
from ..concrete_notation.nodes import Sequence as Seq
from ..concrete_notation.traversal import rewrite_outermost
from ..formats.append_chains import append_chains
from ..formats.format import level_variables
from ..index_notation.nodes import Expr
from ..records import replace
from .draft import Draft


def filled(stmt: Stmt, order: Sequence[str], value: Expr, draft: Draft) -> Stmt:
    """Return a statement that first initializes the elements that its plain assignments do not reach."""
    problem = draft.problem
    if problem.accumulating or not problem.free:
        return stmt
    # A loop that does not visit every coordinate leaves elements of a dense result unwritten.
    within = None if problem.dense else problem.target
    incomplete = [v for v in order if not is_full(value, v, draft.types, within)]
    if not incomplete:
        return stmt
    if problem.dense:
        return Seq((Fill(problem.target, problem.result.fill), stmt))
    # Dense levels below an appended one are filled where their parent is appended, unless loops write all of them.
    variables = level_variables(problem.target, problem.result.format)
    last = append_chains(problem.result.format)[-1].last
    below = [radix_components(v, problem.derived) for v in variables[last + 1 :]]
    if all(loops and set(loops).isdisjoint(incomplete) for loops in below):
        return stmt
    parent = max(radix_components(variables[last], problem.derived), key=order.index)

    def with_fill(s: Stmt) -> Stmt | None:
        if not isinstance(s, Forall):
            return s  # only the nest around the assignment is entered
        fill = Fill(problem.target, problem.result.fill)
        return replace(s, body=Seq((fill, s.body))) if s.var == parent else None

    return rewrite_outermost(stmt, with_fill)
