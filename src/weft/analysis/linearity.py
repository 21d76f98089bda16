"""Linearity: whether the stored entries of an operand can be used one by one, since their values are only summed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..concrete_notation.values import UNKNOWN, CastExpr, typed
from ..dtypes import adds_alike
from ..formats import TensorType
from ..index_notation.nodes import Access, Apply, Expr, Literal, Reduce
from ..trees import fold
from .implicit_values import implicit_value


def is_linear(expr: Expr, access: Access) -> bool:
    """Return whether an expression is a product with ``access`` as one factor, or a sum of such products."""

    def linear(node: Expr, below: list[bool | None]) -> bool | None:
        """Return whether a part is linear in the access; None if it does not have it."""
        having = [answer for answer in below if answer is not None]
        match node:
            case Access():
                return True if node == access else None
            case (
                Reduce(op="add") | Apply(op="multiply" | "negative") | Apply(op="subtract", args=(Literal(value=0), _))
            ) if len(having) == 1:
                return having[0]
        return False if having else None

    return fold(expr, linear) is not False


def adds_in_place(expr: Expr, access: Access, dtype: str) -> bool:
    """Return whether the values that an expression has for the parts of a sum add up to its value for the whole sum.

    The expression is linear in ``access``. Its conversions must not depend on the sum: a sum of int8 that wraps around
    is not the sum of the same values in float64.

    Examples
    --------
    >>> wide = CastExpr(Access("A", ("i",)), "float64")
    >>> [adds_in_place(wide, Access("A", ("i",)), dtype) for dtype in ("float32", "int8", "bool")]
    [True, False, False]
    """
    # Only one operand has the access, since the expression is linear: conversions are on the way down to it.
    dtypes: list[str] = []
    while True:
        below = next((child for child in expr.children if access in child.distinct_accesses), None)
        if below is None:
            break
        if isinstance(expr, CastExpr):
            dtypes.append(expr.dtype)
        expr = below
    source = np.dtype(dtype)
    for name in reversed(dtypes):
        if not adds_alike(source, np.dtype(name)):
            return False
        source = np.dtype(name)
    return True


def adds_nothing(expr: Expr, access: Access, types: Mapping[str, TensorType]) -> bool:
    """Return whether implicit entries of an access add nothing, so that its stored entries can be summed one by one."""

    # Only the access itself is implicit; nothing is known of other operands.
    def fill(a: Access) -> object:
        return typed(types[a.tensor].fill, types[a.tensor].dtype) if a == access and a.indices else UNKNOWN

    absent: Any = implicit_value(expr, fill)
    return absent is not UNKNOWN and bool(absent == 0)
