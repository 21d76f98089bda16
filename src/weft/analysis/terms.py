"""Terms, factors, reductions and dtypes of expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..concrete_notation.nodes import Forall, Stmt
from ..concrete_notation.transformations import factors
from ..index_notation.nodes import Access, Apply, Expr, Literal, Reduce
from ..index_notation.traversal import reductions
from ..trees import fold
from .implicit_values import application_dtypes, literal_dtype


class Dtypes:
    """The dtypes of expressions over tensors of certain dtypes, each computed once."""

    def __init__(self, dtypes: Mapping[str, str]):
        self.dtypes, self._known = dtypes, dict[Expr, Any]()

    def __call__(self, expr: Expr) -> str:
        """Return the name of the dtype of an expression with reductions."""
        return _name(self._dtype(expr))

    def _dtype(self, expr: Expr) -> Any:
        """Return the name of a dtype, or the Python type of what adapts to others."""
        match expr:
            case Access(tensor=tensor):
                return self.dtypes[tensor]
            case Literal(value=value):
                return literal_dtype(value)
        if expr not in self._known:
            below = [self._dtype(child) for child in expr.children]
            if all(isinstance(d, type) for d in below):  # literals alone have no dtype to adapt to
                below = [_name(d) for d in below]
            self._known[expr] = application_dtypes(expr, tuple(below))[-1] if isinstance(expr, Apply) else below[0]
        return self._known[expr]


def _name(dtype: Any) -> str:
    return np.result_type(dtype).name if isinstance(dtype, type) else dtype


def dtype_of(expr: Expr, dtypes: Mapping[str, str]) -> str:
    """Return the name of the dtype of one expression."""
    return Dtypes(dtypes)(expr)


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


def uniform_factors(expr: Expr, dtype: Callable[[Expr], str]) -> list[Expr]:
    """Return the factors of a product if all have one dtype, else the product as its only factor.

    Promotion makes the dtypes of a mixed product depend on the order of its factors. A product with a literal stays
    whole, too.
    """
    parts = factors(expr)
    same = len({dtype(f) for f in parts}) == 1
    return parts if same and not any(isinstance(f, Literal) for f in parts) else [expr]
