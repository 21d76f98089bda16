"""Terms, factors and reductions of expressions, and small rewrites, for the scheduler."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..concrete_notation.nodes import Forall, Stmt
from ..concrete_notation.transformations import factors, product
from ..formats import TensorType
from ..formats.format import dtypes_of
from ..index_notation import free_variables
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from ..index_notation.traversal import (
    bound_variables,
    has_reduction,
    outermost_reductions,
    reductions,
    replaced,
    rewrite,
    rewrite_outermost,
    without_reductions,
)
from ..records import replace
from ..trees import fold
from .implicit_values import convert


def dtype_of(expr: Expr, dtypes: Mapping[str, str]) -> str:
    """Return the name of the dtype of an expression with reductions."""
    dtype = convert(without_reductions(expr), dtypes)[1]
    return np.result_type(dtype).name if isinstance(dtype, type) else dtype


def foralls(order: Sequence[str], stmt: Stmt) -> Stmt:
    for v in reversed(order):
        stmt = Forall(v, stmt)
    return stmt


def additive_terms(
    expr: Expr, dtype: Callable[[Expr], str] = lambda _: "", negative: bool = False
) -> list[tuple[bool, Expr]]:
    """Return the terms of a sum, each with whether it is subtracted; a sum that may wrap around is one term."""

    def terms(part: Expr, sign: bool) -> list[tuple[bool, Expr]]:
        if isinstance(part, Apply) and part.op in _SUMS and dtype(part) != dtype(expr):
            return [(sign, part)]
        return additive_terms(part, dtype, sign)

    match expr:
        case Apply(op="add", args=(a, b)):
            return terms(a, negative) + terms(b, negative)
        case Apply(op="subtract", args=(a, b)):
            return terms(a, negative) + terms(b, not negative)
        case Apply(op="negative", args=(a,)):
            return terms(a, not negative)
    return [(negative, expr)]


_SUMS = ("add", "subtract", "negative")


def is_left_nested(expr: Expr) -> bool:
    """Return whether additive terms are added one after the other: no right operand is itself a sum."""
    while isinstance(expr, Apply) and expr.op in _SUMS:
        if isinstance(right := expr.args[-1], Apply) and right.op in _SUMS:
            return False
        expr = expr.args[0]
    return True


def split_narrow_sum(assignment: Assignment, types: Mapping[str, TensorType]) -> tuple[Assignment, Assignment] | None:
    """Return an assignment in which a tensor replaces a sum of integers, and the assignment of that tensor.

    The sum is a term of an expression in another dtype. Since the sum wraps around in its own dtype, it cannot be
    accumulated together with the other terms.
    """
    dtypes = dtypes_of(types)

    def dtype(expr: Expr) -> str:
        return dtype_of(expr, dtypes)

    terms = [term for _, term in additive_terms(assignment.value, dtype)]
    if len(terms) < 2 or not any(isinstance(term, Reduce) for term in terms):
        return None
    whole = dtype(assignment.value)
    for term in terms:
        if isinstance(term, Reduce) and dtype(term) != whole and np.dtype(dtype(term)).kind in "iu":
            # The sum becomes a tensor of its own, over those indices of the result that it has.
            free = tuple(v for v in assignment.target.indices if v in free_variables(term))
            name = next(n for k in itertools.count(1) if (n := f"T{k}") not in {*types, assignment.target.tensor})
            target = Access(name, free)
            return replace(assignment, value=replaced(assignment.value, term, target)), Assignment(target, term)
    return None


def merge_reductions(expr: Expr, dtype: Callable[[Expr], str]) -> Expr:
    """Return an expression in which nested reductions are merged if that gives the same result.

    For example, ``sum(j, B(j)*sum(k, C(k)))`` becomes ``sum(j,k, B(j)*C(k))``. Reductions by different operators, and
    those to which something is added, stay nested.
    """

    def merged(node: Expr) -> Expr | None:
        if not isinstance(node, Reduce):
            return None
        parts = factors(node.body) if node.op == "add" else [node.body]
        sums = [f for f in parts if has_reduction(f)]
        match sums:
            case [Reduce(op=same, vars=more, body=rest)] if same == node.op and not has_reduction(rest):
                body = product([rest if f is sums[0] else f for f in parts]) if len(parts) > 1 else rest
                # The inner sum must not change its dtype, in which it may wrap around.
                if dtype(rest) == dtype(body):
                    return Reduce(node.op, (*node.vars, *more), body)
        return None

    return rewrite(expr, merged)


def nested(expr: Expr) -> list[tuple[Reduce, Reduce]]:
    """Return pairs of reductions, the second of which is inside the first, at any depth."""
    return [(outer, inner) for outer in reductions(expr) for inner in reductions(outer.body)]


def outside_reductions(expr: Expr) -> Expr | None:
    """Return the part of an expression outside its reductions, to estimate its cost; None if there is none."""

    def part(node: Expr, below: list[Expr | None]) -> Expr | None:
        parts = [e for e in below if e is not None]
        if isinstance(node, Reduce) or (below and not parts):
            return None
        if len(parts) == len(below):
            whole: Expr = node.with_children(tuple(parts))
            return whole
        # Without the other operand a boolean stays a number, which operators around it may need.
        return Apply("multiply", (parts[0], Literal(1)))

    return fold(expr, part)


def hoist_factors(expr: Expr, dtype: Callable[[Expr], str], loops: Callable[[Expr], set[str]]) -> Expr:
    """Return an expression with factors moved out of sums that do not change them.

    For example, ``sum(k, B*C(k))`` becomes ``B * sum(k, C(k))`` if ``B`` does not depend on ``k``. The dtype of the sum
    must stay the same without ``B``.
    """

    def hoisted(node: Expr) -> Expr | None:
        if isinstance(node, Reduce) and node.op == "add" and not has_reduction(node.body):
            parts = factors(node.body)
            outside = [f for f in parts if not (loops(f) & set(node.vars))]
            inside = [f for f in parts if f not in outside]
            if inside and outside and dtype(product(inside)) == dtype(node.body):
                return Apply("multiply", (product(outside), Reduce("add", node.vars, product(inside))))
        return node if isinstance(node, Reduce) else None

    return rewrite_outermost(expr, hoisted)


def with_independent_sums(expr: Expr, dtype: Callable[[Expr], str]) -> Expr:
    """Return an expression with each sum divided into a product of independent sums.

    For example, ``sum(j,k, B(j)*C(k))`` becomes ``sum(j, B(j)) * sum(k, C(k))``: factors that no index connects need
    not be combined in pairs. Inside a sum over connecting variables, a variable that only one factor has is summed
    inside that factor. A factor that has none of the variables is moved out. A sum stays whole if its dtype would
    change.
    """

    def split(node: Expr) -> Expr | None:
        if isinstance(node, Reduce) and node.op == "add" and not has_reduction(node.body):
            return _independent_sums(node, dtype) or node
        return node if isinstance(node, Reduce) else None

    return rewrite_outermost(expr, split)


def _independent_sums(total: Reduce, dtype: Callable[[Expr], str]) -> Expr | None:
    """Return a sum as a product of several; None if that changes a dtype or gives nothing."""
    # Group the factors that summed variables connect.
    connected: list[tuple[set[str], list[Expr]]] = []
    for factor in factors(total.body):
        over, parts = set(free_variables(factor)) & set(total.vars), [factor]
        for group in [g for g in connected if g[0] & over]:
            connected.remove(group)
            over, parts = over | group[0], [*group[1], *parts]
        connected.append((over, parts))
    # Each group becomes a sum of its own.
    new = product([_summed([v for v in total.vars if v in over], parts) for over, parts in connected])
    # Accept the product only if it splits the sum, keeps each dtype, and still sums over every variable.
    sums = outermost_reductions(new)
    outside = any(not over and any(free_variables(p) for p in parts) for over, parts in connected)
    several = outside or len(sums) > 1 or any(len(outermost_reductions(s.body)) > 1 for s in sums)
    every = (r for s in sums for r in (s, *outermost_reductions(s.body)))
    same = all(dtype(without_reductions(r.body)) == dtype(total.body) for r in every)
    return new if several and same and set(bound_variables(new)) == set(total.vars) else None


def _summed(vars: Sequence[str], parts: Sequence[Expr]) -> Expr:
    """Return a product summed over variables, those that one factor alone has inside it if there are several such."""
    have = [set(free_variables(p)) for p in parts]
    alone = [[v for v in vars if v in h and sum(v in other for other in have) == 1] for h in have]
    if sum(bool(o) for o in alone) > 1:
        parts = [Reduce("add", tuple(o), p) if o else p for o, p in zip(alone, parts, strict=True)]
        vars = [v for v in vars if all(v not in o for o in alone)]
    return Reduce("add", tuple(vars), product(parts)) if vars else product(parts)


def uniform_factors(expr: Expr, dtype: Callable[[Expr], str]) -> list[Expr]:
    """Return the factors of a product if all have one dtype, else the product as its only factor.

    Promotion makes the dtypes of a mixed product depend on the order of its factors. A product with a literal stays
    whole, too.
    """
    parts = factors(expr)
    same = len({dtype(f) for f in parts}) == 1
    return parts if same and not any(isinstance(f, Literal) for f in parts) else [expr]
