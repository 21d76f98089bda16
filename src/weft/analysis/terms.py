"""Terms, factors and reductions of expressions, and small rewrites, for the scheduler."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..concrete_notation.nodes import Forall, Stmt
from ..concrete_notation.transformations import factors, product
from ..formats import TensorType
from ..index_notation import free_variables
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from ..index_notation.traversal import replaced
from ..records import replace
from .implicit_values import convert
from .iteration_graph import strip


def dtype_of(expr: Expr, dtypes: Mapping[str, str]) -> str:
    """Return the name of the dtype of an expression with reductions."""
    dtype = convert(strip(expr), dtypes)[1]
    return np.result_type(dtype).name if isinstance(dtype, type) else dtype


def foralls(order: Sequence[str], stmt: Stmt) -> Stmt:
    for v in reversed(order):
        stmt = Forall(v, stmt)
    return stmt


def additive_terms(
    expr: Expr, dtype: Callable[[Expr], str] = lambda _: "", negative: bool = False
) -> list[tuple[bool, Expr]]:
    """Return the additive terms of an expression, each with its sign.

    A sum in another dtype than that of the whole may wrap around, and so is one term.
    """

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
    match expr:
        case Apply(op="add" | "subtract", args=(a, b)):
            return is_left_nested(a) and not (isinstance(b, Apply) and b.op in _SUMS)
        case Apply(op="negative", args=(a,)):
            return not (isinstance(a, Apply) and a.op in _SUMS)
    return True


def split_narrow_sum(assignment: Assignment, types: Mapping[str, TensorType]) -> tuple[Assignment, Assignment] | None:
    """Return an assignment in which a tensor replaces a sum of integers, and the assignment of that tensor.

    The sum is a term of an expression in another dtype. Since the sum wraps around in its own dtype, it cannot be
    accumulated together with the other terms.
    """
    dtypes = {name: type.dtype for name, type in types.items()}

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


def is_flat(expr: Expr) -> bool:
    match expr:
        case Reduce():
            return False
        case Apply(args=args):
            return all(is_flat(a) for a in args)
    return True


def bound_variables(expr: Expr) -> tuple[str, ...]:
    match expr:
        case Reduce(vars=vars, body=body):
            return (*vars, *bound_variables(body))
        case Apply(args=args):
            return tuple(v for a in args for v in bound_variables(a))
    return ()


def merge_reductions(expr: Expr, dtype: Callable[[Expr], str]) -> Expr:
    """Return an expression in which nested reductions are merged if that gives the same result.

    For example, ``sum(j, B(j)*sum(k, C(k)))`` becomes ``sum(j,k, B(j)*C(k))``. Reductions by different operators, and
    those to which something is added, stay nested.
    """
    match expr:
        case Reduce(op=op, vars=vars, body=body):
            body = merge_reductions(body, dtype)
            parts = factors(body) if op == "add" else [body]
            inner = [f for f in parts if not is_flat(f)]
            match inner:
                case [Reduce(op=same, vars=more, body=rest)] if same == op and is_flat(rest):
                    whole = product([rest if f is inner[0] else f for f in parts]) if len(parts) > 1 else rest
                    # The inner sum must not change its dtype, in which it may wrap around.
                    if dtype(rest) == dtype(whole):
                        return Reduce(op, (*vars, *more), whole)
            return Reduce(op, vars, body)
        case Apply(op=op, args=args):
            return Apply(op, tuple(merge_reductions(arg, dtype) for arg in args))
    return expr


def nested(expr: Expr) -> list[tuple[Reduce, Reduce]]:
    """Return pairs of reductions, the second of which is inside the first, at any depth."""
    found = []
    for outer in reductions_of(expr):
        below = nested(outer.body)
        found += [(outer, r) for r in dict.fromkeys((*reductions_of(outer.body), *(r for _, r in below)))]
        found += below
    return found


def reductions_of(expr: Expr) -> list[Reduce]:
    match expr:
        case Reduce():
            return [expr]
        case Apply(args=args):
            return [r for a in args for r in reductions_of(a)]
    return []


def without_reductions(expr: Expr) -> Expr | None:
    """Return the part of an expression outside its reductions, to estimate its cost; None if there is none."""
    match expr:
        case Reduce():
            return None
        case Apply(op=op, args=args):
            kept = [e for e in (without_reductions(a) for a in args) if e is not None]
            if not kept:
                return None
            return kept[0] if len(kept) < len(args) else Apply(op, tuple(kept))
    return expr


def rename(expr: Expr, old: Access, new: Access) -> Any:
    match expr:
        case Access():
            return new if expr == old else expr
        case Apply(op=op, args=args):
            return Apply(op, tuple(rename(a, old, new) for a in args))
        case Reduce(op=op, vars=vars, body=body):
            return Reduce(op, vars, rename(body, old, new))
    return expr


def hoist_factors(expr: Expr, dtype: Callable[[Expr], str], loops: Callable[[Expr], set[str]]) -> Expr:
    """Return an expression with factors moved out of sums that do not change them.

    For example, ``sum(k, B*C(k))`` becomes ``B * sum(k, C(k))`` if ``B`` does not depend on ``k``. The dtype of the sum
    must stay the same without ``B``.
    """
    match expr:
        case Reduce(op="add", vars=vars, body=body) if is_flat(body):
            every = factors(body)
            outside = [f for f in every if not (loops(f) & set(vars))]
            inside = [f for f in every if f not in outside]
            if inside and outside and dtype(product(inside)) == dtype(body):
                return Apply("multiply", (product(outside), Reduce("add", vars, product(inside))))
        case Apply(op=op, args=args):
            return Apply(op, tuple(hoist_factors(a, dtype, loops) for a in args))
    return expr


def with_independent_sums(expr: Expr, dtype: Callable[[Expr], str]) -> Expr:
    """Return an expression with each sum divided into a product of independent sums.

    For example, ``sum(j,k, B(j)*C(k))`` becomes ``sum(j, B(j)) * sum(k, C(k))``: factors that no index connects need
    not be combined in pairs. Inside a sum over connecting variables, a variable that only one factor has is summed
    inside that factor. A factor that has none of the variables is moved out. A sum stays whole if its dtype would
    change.
    """
    match expr:
        case Reduce(op="add", vars=vars, body=body) if is_flat(body):
            # Group the factors that summed variables connect.
            connected: list[tuple[set[str], list[Expr]]] = []
            for factor in factors(body):
                over, parts = set(free_variables(factor)) & set(vars), [factor]
                for group in [g for g in connected if g[0] & over]:
                    connected.remove(group)
                    over, parts = over | group[0], [*group[1], *parts]
                connected.append((over, parts))
            # Each group becomes a sum of its own.
            new = product([_summed([v for v in vars if v in over], parts) for over, parts in connected])
            # Accept the product only if it splits the sum, keeps each dtype, and still sums over every variable.
            sums = reductions_of(new)
            outside = any(not over and any(free_variables(p) for p in parts) for over, parts in connected)
            several = outside or len(sums) > 1 or any(len(reductions_of(r.body)) > 1 for r in sums)
            wanted = dtype(body)
            same = all(dtype(strip(r.body)) == wanted for s in sums for r in (s, *reductions_of(s.body)))
            return new if several and same and set(bound_variables(new)) == set(vars) else expr
        case Apply(op=op, args=args):
            return Apply(op, tuple(with_independent_sums(a, dtype) for a in args))
    return expr


def _summed(vars: Sequence[str], parts: Sequence[Expr]) -> Expr:
    """Return a product summed over variables.

    If two or more factors have variables of their own, each of these is summed inside its factor.
    """
    have = [set(free_variables(p)) for p in parts]
    own = [[v for v in vars if v in h and sum(v in other for other in have) == 1] for h in have]
    if sum(bool(o) for o in own) > 1:
        parts = [Reduce("add", tuple(o), p) if o else p for o, p in zip(own, parts, strict=True)]
        vars = [v for v in vars if all(v not in o for o in own)]
    return Reduce("add", tuple(vars), product(parts)) if vars else product(parts)


def uniform_factors(expr: Expr, dtype: Callable[[Expr], str]) -> list[Expr]:
    """Return the factors of a product if all have one dtype, else the product as its only factor.

    Promotion makes the dtypes of a mixed product depend on the order of its factors. A product with a literal stays
    whole, too.
    """
    found = factors(expr)
    same = len({dtype(f) for f in found}) == 1
    return found if same and not any(isinstance(f, Literal) for f in found) else [expr]
