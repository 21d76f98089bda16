"""Folding of single operations on integers and conditions.

There are no rules on floats. Integers wrap around, and their quotients truncate, as in the printed C.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..nodes import Binary, Const, Expr, Unary
from ..types import INTEGERS, wrap

TRUE, FALSE = Const(True, "bool"), Const(False, "bool")
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip


def fold_unary(op: str, a: Expr) -> Expr | None:
    """Return the expression to which ``op a`` folds, or None if it does not fold."""
    if op == "!":
        if type(a) is Const:
            return FALSE if a.value else TRUE
        if type(a) is Unary and a.op == "!":
            return a.a
        # Comparisons of floats are not negated: all but != are false if an operand is NaN.
        if type(a) is Binary and a.op in _NEGATED and a.a.ty in INTEGERS:
            return Binary(_NEGATED[a.op], a.a, a.b)
    elif op == "-" and type(a) is Const and a.ty in INTEGERS:
        return Const(wrap(-a.value, a.ty), a.ty)  # type: ignore[arg-type]
    return None


def fold_binary(op: str, a: Expr, b: Expr) -> Expr | None:
    """Return the expression to which ``a op b`` folds, or None if it does not fold.

    Only operations on integers and conditions fold.
    """
    if op == "&&" or op == "||":
        return _fold_logic(op, a, b)
    if a.ty not in INTEGERS:
        return None
    if op in _COMPARE:
        return _fold_comparison(op, a, b)
    if type(a) is Const and type(b) is Const and op in _ARITHMETIC:
        return Const(wrap(_ARITHMETIC[op](a.value, b.value), a.ty), a.ty)  # type: ignore[arg-type]
    rule = _RULES.get(op)
    return None if rule is None else rule(a, b)


def _fold_logic(op: str, a: Expr, b: Expr) -> Expr | None:
    """Fold a conjunction or a disjunction with a constant on one side."""
    # A constant on the left decides whether the right side is evaluated. On the right, only a neutral one folds.
    stop, neutral = (FALSE, TRUE) if op == "&&" else (TRUE, FALSE)
    if type(a) is Const:
        return b if a == neutral else stop
    return a if b == neutral else None


def _fold_comparison(op: str, a: Expr, b: Expr) -> Expr | None:
    """Fold a comparison of two constants, or of an expression with itself."""
    if type(a) is Const and type(b) is Const:
        return TRUE if _COMPARE[op](a.value, b.value) else FALSE  # type: ignore[arg-type]
    if a == b:
        return TRUE if op in ("==", "<=", ">=") else FALSE
    return None


def _integer(e: Expr) -> Any:
    """Return the value of a constant, or None for any other expression."""
    return e.value if type(e) is Const else None


def _fold_sum(a: Expr, b: Expr) -> Expr | None:
    y = _integer(b)
    if _integer(a) == 0:
        return b
    if y == 0:
        return a
    # (x + c) + y becomes x + (c + y).
    if y is not None and type(a) is Binary and a.op == "+" and type(a.b) is Const:
        return Binary("+", a.a, Const(wrap(y + a.b.value, a.ty), a.ty))
    return None


def _fold_difference(a: Expr, b: Expr) -> Expr | None:
    if _integer(b) == 0:
        return a
    return Const(0, a.ty) if a == b else None


def _fold_product(a: Expr, b: Expr) -> Expr | None:
    x, y = _integer(a), _integer(b)
    if x == 0 or y == 0:
        return Const(0, a.ty)
    if x == 1:
        return b
    return a if y == 1 else None


def _fold_quotient(a: Expr, b: Expr) -> Expr | None:
    x, y = _integer(a), _integer(b)
    if y == 1:
        return a
    # Division by zero is left to C.
    return Const(wrap(_truncated(x, y), a.ty), a.ty) if x is not None and y else None


def _fold_remainder(a: Expr, b: Expr) -> Expr | None:
    x, y = _integer(a), _integer(b)
    if y == 1:
        return Const(0, a.ty)
    return Const(wrap(x - _truncated(x, y) * y, a.ty), a.ty) if x is not None and y else None


def _truncated(x: int, y: int) -> int:
    """Return the quotient of two integers, rounded towards zero."""
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


_RULES: dict[str, Callable[[Expr, Expr], Expr | None]] = {
    "+": _fold_sum, "-": _fold_difference, "*": _fold_product, "/": _fold_quotient, "%": _fold_remainder,
}  # fmt: skip
"""Rules of integer arithmetic. Two constants do not reach the rules, except those for ``/`` and ``%``."""
