"""Sums in which an absent infinity decides, as in the products of the tropical semirings (min-plus and max-plus).

Infinity plus anything is infinity, but for its negative and NaN. Whether these occur is asked of the operands of a sum
that is reduced; where none holds them the sum is planned as one that infinity annihilates, and only what all operands
store is visited. Where one does, nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

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
    """The assignment with an operator for each such sum that infinity annihilates."""
    if not _sums(assignment.value):
        return assignment
    types = {a.tensor: operands[a.tensor].type for a in reads(assignment.value)}
    if not any(type.fill in ABSORBING for type in types.values()):
        return assignment
    return replace(assignment, value=_rewritten(assignment.value, operands, types, False))


@lru_cache(maxsize=1024)
def _sums(expr: Expr, reduced: bool = False) -> bool:
    """Whether an expression has sums inside its reductions."""
    match expr:
        case Reduce(body=body):
            return _sums(body, True)
        case Apply(op=op, args=args):
            return (reduced and op == "add") or any(_sums(arg, reduced) for arg in args)
    return False


def _rewritten(expr: Expr, operands: Mapping[str, Storage], types: Mapping[str, TensorType], reduced: bool) -> Expr:
    match expr:
        case Reduce(op=op, vars=vars, body=body):
            return Reduce(op, vars, _rewritten(body, operands, types, True))
        case Apply(op=op, args=args):
            new = Apply(op, tuple(_rewritten(arg, operands, types, reduced) for arg in args))
            if reduced and op == "add":
                fills = [fill_of_reduced(arg, types) for arg in new.args]
                infinity = next((f for f in ABSORBING if any(fill == f for fill in fills)), None)
                if infinity is not None and _is_bounded(expr, infinity, operands, types):
                    return Apply(ABSORBING[infinity], new.args)
            return new
    return expr


def _is_bounded(expr: Expr, infinity: float, operands: Mapping[str, Storage], types: Mapping[str, TensorType]) -> bool:
    """Whether no sum of operands' values can be NaN or the negative of an infinity."""
    dtype = np.dtype(dtype_of(expr, {name: type.dtype for name, type in types.items()}))
    sign = math.copysign(1, infinity)
    return dtype.kind == "f" and _least(expr, sign, operands) > float(np.finfo(dtype).min)


def _least(expr: Expr, sign: float, operands: Mapping[str, Storage]) -> float:
    """What a sum of operands, multiplied by ``sign``, has no value below; NaN where that is not known."""
    match expr:
        case Access(tensor=tensor):
            held = operands[tensor]
            if held.dtype.kind not in "biuf":
                return math.nan
            values, fill = held.vals, float(held.type.fill)  # type: ignore[arg-type]
            least = values.min(initial=fill) if sign > 0 else values.max(initial=fill)
            return sign * float(least)
        case Literal(value=value) if not isinstance(value, complex):
            return sign * float(value)
        case Apply(op="add", args=args):
            return sum(_least(arg, sign, operands) for arg in args)
    return math.nan
