"""Folding of one operation: rules on integers and conditions, none on floats.

Integers wrap around, and their quotients truncate, as they do in the printed C.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..nodes import Binary, Const, Expr, Unary
from ..types import INTEGERS, wrap

__all__ = ["FALSE", "TRUE", "fold_binary", "fold_unary"]

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
    """What ``op a`` folds to, or None."""
    if op == "!":
        if type(a) is Const:
            return FALSE if a.value else TRUE
        if type(a) is Unary and a.op == "!":
            return a.a
        if type(a) is Binary and a.op in _NEGATED and a.a.ty in INTEGERS:
            return Binary(_NEGATED[a.op], a.a, a.b)
    elif op == "-" and type(a) is Const and a.ty in INTEGERS:
        return Const(wrap(-a.value, a.ty), a.ty)  # type: ignore[arg-type]
    return None


def fold_binary(op: str, a: Expr, b: Expr) -> Expr | None:
    """What ``a op b`` folds to, or None. Only integers and conditions fold."""
    if op == "&&" or op == "||":
        stop, neutral = (FALSE, TRUE) if op == "&&" else (TRUE, FALSE)
        if type(a) is Const:
            return b if a == neutral else stop
        return a if b == neutral else None
    ty = a.ty
    if ty not in INTEGERS:
        return None
    x: Any = a.value if type(a) is Const else None
    y: Any = b.value if type(b) is Const else None
    if op in _COMPARE:
        if x is not None and y is not None:
            return TRUE if _COMPARE[op](x, y) else FALSE
        if a == b:
            return TRUE if op in ("==", "<=", ">=") else FALSE
        return None
    if x is not None and y is not None and op in _ARITHMETIC:
        return Const(wrap(_ARITHMETIC[op](x, y), ty), ty)
    match op:
        case "+":
            if x == 0:
                return b
            if y == 0:
                return a
            if y is not None and type(a) is Binary and a.op == "+" and type(a.b) is Const:
                return Binary("+", a.a, Const(wrap(y + a.b.value, ty), ty))
        case "-":
            if y == 0:
                return a
            if a == b:
                return Const(0, ty)
        case "*":
            if x == 0 or y == 0:
                return Const(0, ty)
            if x == 1:
                return b
            if y == 1:
                return a
        case "/" if y == 1:
            return a
        case "%" if y == 1:
            return Const(0, ty)
        case "/" | "%" if x is not None and y:
            quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
            return Const(wrap(quotient if op == "/" else x - quotient * y, ty), ty)
    return None
