"""Rules that rewrite one expression, whatever the numbers of its operands are.

Each rule is a function with a name, which ``config.disable`` takes. They reassociate sums, and so only run where
``config.reassociate`` is on, or where dtypes are exact. The rules that need numbers are in ``optimiser/parts.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..analysis.terms import dtype_of
from ..code_options import CodeOptions
from ..concrete_notation.transformations import factors, product
from ..index_notation import expression_text
from ..index_notation.nodes import Apply, Expr, Literal, Reduce
from ..index_notation.traversal import free_variables, has_reduction, renamed, rewrite, rewrite_outermost, variables
from ..records import record

Dtype = Callable[[Expr], str]


@record
class Rule:
    """A rewrite of a node whose parts are rewritten already."""

    name: str
    summary: str  # what it does, in one sentence
    rewrite: Callable[[Expr, Dtype], Expr | None]
    # Whether only terms of the whole are rewritten. The sign of a zero may change, which decides that of 1/0.
    of_terms: bool = False


def nested_sums(node: Expr, dtype: Dtype) -> Expr | None:
    """``sum(j, sum(k, e))`` is ``sum(j,k, e)``, as for all reductions by one operator in one dtype."""
    match node:
        case Reduce(op=op, vars=outer, body=Reduce(op=same, vars=inner, body=body)) if op == same:
            return Reduce(op, (*outer, *inner), body)
    return None


def one_sum(node: Expr, dtype: Dtype) -> Expr | None:
    """``sum(j, a*sum(k, b))`` is ``sum(j,k, a*b)``; sums that are factors keep their dtypes, in which they may wrap."""
    if not (isinstance(node, Reduce) and node.op == "add" and isinstance(node.body, Apply)):
        return None
    parts = factors(node.body)
    sums = _sums(parts)
    body = _with_sums_inside(parts, sums, dtype)
    return (
        Reduce("add", (*node.vars, *(v for part in sums for v in part.vars)), product(body)) if sums and body else None
    )


def scaled_sum(node: Expr, dtype: Dtype) -> Expr | None:
    """``w*sum(j, a)`` is ``sum(j, w*a)``: what the loops then do with ``w`` is a question of price."""
    parts = factors(node) if isinstance(node, Apply) and node.op == "multiply" else []
    sums = _sums(parts)
    if len(sums) != 1 or len(parts) < 2 or sum(has_reduction(part) for part in parts) > 1:
        return None
    body = _with_sums_inside(parts, sums, dtype)
    return Reduce("add", sums[0].vars, product(body)) if body else None


def _sums(parts: Sequence[Expr]) -> list[Reduce]:
    """Return the factors that are sums, with no reduction inside."""
    return [part for part in parts if isinstance(part, Reduce) and part.op == "add" and not has_reduction(part.body)]


def _with_sums_inside(parts: Sequence[Expr], sums: Sequence[Expr], dtype: Dtype) -> list[Expr]:
    """Return the factors of a product with those of its sums in their places; none if dtypes differ."""
    body = [
        inner
        for part in parts
        for inner in (factors(part.body) if isinstance(part, Reduce) and part in sums else [part])
    ]
    every = {dtype(part) for part in (*parts, *body)}
    return body if len(every) == 1 and not any(isinstance(part, Literal) for part in body) else []


def in_one_order(expr: Expr, target: Sequence[str], dtype: Dtype, reorders: bool) -> Expr:
    """Return an expression with the factors of each product in one order, however they are written.

    Literals are first, then factors with most variables. Two factors change places without changing a bit; of three or
    more, the first two are multiplied first.
    """
    place = {v: n for n, v in enumerate(target)}

    def key(part: Expr) -> tuple[Any, ...]:
        free = free_variables(part)
        text = expression_text(renamed(part, variables=dict.fromkeys(variables(part), "_")))
        return not isinstance(part, Literal), -len(free), text, tuple([place.get(v, len(place)) for v in free])

    def ordered(node: Expr) -> Expr | None:
        parts = factors(node)
        together = len(parts) == 2 or (
            len({dtype(part) for part in parts}) == 1 and (reorders or is_exact(dtype(node)))
        )
        return product(sorted(parts, key=key)) if len(parts) > 1 and together else None

    return rewrite(expr, ordered)


RULES = (
    Rule("one-sum", "Nested reductions by one operator are one reduction.", nested_sums),
    Rule("one-sum", "Sums in a product that is summed are one sum.", one_sum),
    Rule("one-sum", "A product of factors and one sum is the sum of the products.", scaled_sum, of_terms=True),
)


def is_exact(dtype: str) -> bool:
    """Return whether sums and products of a dtype have the same bits in every order."""
    return np.dtype(dtype).kind in "biu"


def rewritten(
    expr: Expr, target: Sequence[str], dtypes: Mapping[str, str], options: CodeOptions
) -> tuple[Expr, tuple[str, ...]]:
    """Return an expression to which no rule applies, and the names of the rules that did."""
    names: dict[str, None] = {}

    def dtype(part: Expr) -> str:
        return dtype_of(part, dtypes)

    def applied(rule: Rule, node: Expr) -> Expr | None:
        new = rule.rewrite(node, dtype) if options.enabled(rule.name) else None
        if new is None or not (options.reassociate or is_exact(dtype(node))):
            return None
        names[rule.name] = None
        return new

    def term(rule: Rule, node: Expr) -> Expr | None:
        is_sum = isinstance(node, Apply) and node.op in ("add", "subtract", "negative")
        return None if is_sum else applied(rule, node) or node

    for _ in range(_ROUNDS):
        old = expr
        for rule in RULES:
            walk = rewrite_outermost if rule.of_terms else rewrite
            expr = walk(expr, partial(term if rule.of_terms else applied, rule))
        if expr == old:
            break
    return in_one_order(expr, target, dtype, options.reassociate), tuple(names)


_ROUNDS = 10
