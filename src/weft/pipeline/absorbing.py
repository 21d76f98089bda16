"""Operators that what is absent decides beside the values that there are, as in products of tropical semirings.

Infinity plus anything is infinity, but for its negative and NaN; the minimum of zero and what is not negative is zero.
Whether that is so is asked of the operands of what is reduced. Where it is, the operator is planned as one that the
fill value annihilates, and only what all operands store is visited. Where it is not, nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ..formats import TensorType
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from ..index_notation.operators import ABSORBING
from ..lowering.iteration_graph import fill_of_reduced, reads
from ..lowering.terms import dtype_of
from ..records import replace
from ..storage import Storage

__all__ = ["absorbing"]


def absorbing(assignment: Assignment, operands: Mapping[str, Storage]) -> Assignment:
    """The assignment with operators that absorb, wherever operands' values allow that."""
    if not _might_absorb(assignment.value):
        return assignment
    types = {a.tensor: operands[a.tensor].type for a in reads(assignment.value)}
    return replace(assignment, value=_rewritten(assignment.value, operands, types, False))


@lru_cache(maxsize=1024)
def _might_absorb(expr: Expr, reduced: bool = False) -> bool:
    """Whether an expression has operators inside its reductions that might absorb."""
    match expr:
        case Reduce(body=body):
            return _might_absorb(body, True)
        case Apply(op=op, args=args):
            return (reduced and op in ABSORBING) or any(_might_absorb(arg, reduced) for arg in args)
    return False


def _rewritten(expr: Expr, operands: Mapping[str, Storage], types: Mapping[str, TensorType], reduced: bool) -> Expr:
    match expr:
        case Reduce(op=op, vars=vars, body=body):
            return Reduce(op, vars, _rewritten(body, operands, types, True))
        case Apply(op=op, args=args):
            new = Apply(op, tuple(_rewritten(arg, operands, types, reduced) for arg in args))
            if reduced and op in ABSORBING:
                decided = tuple(
                    position
                    for position, other in ((0, args[1]), (1, args[0]))
                    if _decides(expr, fill_of_reduced(new.args[position], types), other, operands, types)
                )
                return replace(new, op=ABSORBING[op].get(decided, op))
            return new
    return expr


def _decides(
    expr: Apply, fill: Any, other: Expr, operands: Mapping[str, Storage], types: Mapping[str, TensorType]
) -> bool:
    """Whether an absent operand makes its fill value beside every value of the other."""
    fill = fill.item() if isinstance(fill, np.generic) else fill
    if not isinstance(fill, int | float):
        return False
    match expr.op:
        case "add" if math.isinf(fill):
            dtype = _dtype(expr, types)
            least = np.finfo(dtype).min if dtype.kind == "f" else math.inf
            return bool(_least(other, 1 if fill > 0 else -1, operands, types) > least)
        case "minimum":
            return bool(_least(other, 1, operands, types) >= fill)
        case "maximum":
            return bool(_least(other, -1, operands, types) >= -fill)
    return False


def _dtype(expr: Expr, types: Mapping[str, TensorType]) -> np.dtype[Any]:
    return np.dtype(dtype_of(expr, {name: type.dtype for name, type in types.items()}))


def _least(expr: Expr, sign: int, operands: Mapping[str, Storage], types: Mapping[str, TensorType]) -> Any:
    """What an expression, multiplied by ``sign``, has no value below; NaN where that is not known."""
    match expr:
        case Access(tensor=tensor):
            held = operands[tensor]
            if held.dtype.kind not in "biuf" or not held.format.is_unique:  # duplicates are summed
                return math.nan
            least = held.vals.min if sign > 0 else held.vals.max
            return sign * least(initial=held.type.fill).item()
        case Literal(value=value) if not isinstance(value, complex):
            return sign * value
        case Apply(op="add" | "minimum" | "maximum" as op, args=args):
            first, second = (_least(arg, sign, operands, types) for arg in args)
            if op == "add":
                return first + second if _dtype(expr, types).kind == "f" else math.nan  # integers wrap around
            return (np.minimum if (op == "minimum") == (sign > 0) else np.maximum)(first, second)
    return math.nan
