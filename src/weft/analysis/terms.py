"""What the scheduler asks of expressions: their terms, factors, reductions; and small rewrites."""

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
from ..records import replace
from .implicit_values import convert
from .iteration_graph import strip

__all__ = [
    "additive_terms",
    "bound_variables",
    "dtype_of",
    "foralls",
    "hoist_factors",
    "is_flat",
    "is_left_nested",
    "merge_reductions",
    "nested",
    "reductions_of",
    "rename",
    "split_narrow_sum",
    "uniform_factors",
    "with_independent_sums",
    "without_reductions",
]


def dtype_of(expr: Expr, dtypes: Mapping[str, str]) -> str:
    """The name of the dtype of an expression, reductions included; that of a bare literal is its Python type's."""
    dtype = convert(strip(expr), dtypes)[1]
    return np.result_type(dtype).name if isinstance(dtype, type) else dtype


def foralls(order: Sequence[str], stmt: Stmt) -> Stmt:
    for v in reversed(order):
        stmt = Forall(v, stmt)
    return stmt


def additive_terms(
    expr: Expr, dtype: Callable[[Expr], str] = lambda _: "", negative: bool = False
) -> list[tuple[bool, Expr]]:
    """Additive terms with their signs; a sum in another ``dtype`` than the whole, which may wrap around, is one."""

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
    """Tell whether additive terms are added one after the other: none to the right is itself a sum."""
    match expr:
        case Apply(op="add" | "subtract", args=(a, b)):
            return is_left_nested(a) and not (isinstance(b, Apply) and b.op in _SUMS)
        case Apply(op="negative", args=(a,)):
            return not (isinstance(a, Apply) and a.op in _SUMS)
    return True


def split_narrow_sum(assignment: Assignment, types: Mapping[str, TensorType]) -> tuple[Assignment, Assignment] | None:
    """A sum of integers that is added to something in another dtype: what is left without it, and itself.

    It wraps around in its own dtype, and so is not accumulated where the others are.
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
            free = tuple(v for v in assignment.target.indices if v in free_variables(term))
            name = next(n for k in itertools.count(1) if (n := f"T{k}") not in {*types, assignment.target.tensor})
            target = Access(name, free)
            return replace(assignment, value=_replaced(assignment.value, term, target)), Assignment(target, term)
    return None


def _replaced(expr: Expr, old: Expr, new: Expr) -> Expr:
    """An expression with a term of its own replaced, once."""
    if expr is old:
        return new
    if isinstance(expr, Apply) and expr.op in _SUMS:
        return Apply(expr.op, tuple(_replaced(arg, old, new) for arg in expr.args))
    return expr


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
    """Reductions inside others as one where that is the same: ``sum(j, B(j)*sum(k, C(k)))`` is ``sum(j,k, B(j)*C(k))``.

    Those of another operator, or that something is added to, stay where they are.
    """
    match expr:
        case Reduce(op=op, vars=vars, body=body):
            body = merge_reductions(body, dtype)
            parts = factors(body) if op == "add" else [body]
            inner = [f for f in parts if not is_flat(f)]
            match inner:
                case [Reduce(op=same, vars=more, body=rest)] if same == op and is_flat(rest):
                    whole = product([rest if f is inner[0] else f for f in parts]) if len(parts) > 1 else rest
                    if dtype(rest) == dtype(whole):
                        return Reduce(op, (*vars, *more), whole)
            return Reduce(op, vars, body)
        case Apply(op=op, args=args):
            return Apply(op, tuple(merge_reductions(arg, dtype) for arg in args))
    return expr


def nested(expr: Expr) -> list[tuple[Reduce, Reduce]]:
    """Reductions, each with one that is inside it, at any depth."""
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
    """What is left of an expression outside its reductions, for its cost; None when nothing is."""
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
    """``sum(k, B*C(k))`` is ``B * sum(k, C(k))`` when ``B`` does not depend on ``k``, nor the sum's dtype on ``B``.

    ``loops`` are those that an expression depends on.
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
    """``sum(j,k, B(j)*C(k))`` as ``sum(j, B(j)) * sum(k, C(k))``: what no index connects need not meet in pairs.

    So, inside a sum over what connects them, of variables that only one factor has each; and of a factor that none of
    the variables has. A sum whose dtype would be another stays whole.
    """
    match expr:
        case Reduce(op="add", vars=vars, body=body) if is_flat(body):
            connected: list[tuple[set[str], list[Expr]]] = []
            for factor in factors(body):
                over, parts = set(free_variables(factor)) & set(vars), [factor]
                for group in [g for g in connected if g[0] & over]:
                    connected.remove(group)
                    over, parts = over | group[0], [*group[1], *parts]
                connected.append((over, parts))
            new = product([_summed([v for v in vars if v in over], parts) for over, parts in connected])
            sums = reductions_of(new)
            outside = any(not over and any(free_variables(p) for p in parts) for over, parts in connected)
            several = outside or len(sums) > 1 or any(len(reductions_of(r.body)) > 1 for r in sums)
            same = all(dtype(strip(r.body)) == dtype(body) for s in sums for r in (s, *reductions_of(s.body)))
            return new if several and same and set(bound_variables(new)) == set(vars) else expr
        case Apply(op=op, args=args):
            return Apply(op, tuple(with_independent_sums(a, dtype) for a in args))
    return expr


def _summed(vars: Sequence[str], parts: Sequence[Expr]) -> Expr:
    """A product summed over variables, each inside its factor where that alone has it, if several have such."""
    have = [set(free_variables(p)) for p in parts]
    own = [[v for v in vars if v in h and sum(v in other for other in have) == 1] for h in have]
    if sum(bool(o) for o in own) > 1:
        parts = [Reduce("add", tuple(o), p) if o else p for o, p in zip(own, parts, strict=True)]
        vars = [v for v in vars if all(v not in o for o in own)]
    return Reduce("add", tuple(vars), product(parts)) if vars else product(parts)


def uniform_factors(expr: Expr, dtype: Callable[[Expr], str]) -> list[Expr]:
    """The factors of a product of one dtype; a product of several is left alone, as promotion depends on order."""
    found = factors(expr)
    same = len({dtype(f) for f in found}) == 1
    return found if same and not any(isinstance(f, Literal) for f in found) else [expr]
