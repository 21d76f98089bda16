"""Conversions that an expression needs to be computed in a wider dtype than those of its operands.

NumPy's ``dtype=`` is the dtype in which a function computes. ``numpy.einsum`` computes in the common dtype of all
operands. The product 100*100 of int8 is therefore 10000 if int64 is requested, or if a third factor has dtype int64.
The conversions are operators like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..dtypes import value_dtype
from ..errors import DTypeError
from ..records import replace
from .checks import explicit_sums
from .dtype_promotion import expression_dtype, loop_dtypes, result_dtype
from .nodes import Apply, Assignment, Expr, Reduce
from .operator_table import OPERATORS


@lru_cache(maxsize=4096)
def use_computation_dtype(assignment: Assignment, dtypes: tuple[tuple[str, DTypeLike], ...], dtype: str) -> Assignment:
    """Return an assignment whose sums, products and other arithmetic are all in ``dtype``.

    Operands are converted first. The assignment is returned unchanged if ``dtype`` cannot hold all values of the
    expression's own dtype. The value of such an assignment is converted last, as a whole.

    Examples
    --------
    >>> from weft.index_notation import parse, to_text
    >>> dtypes = (("A", "int8"), ("B", "int8"), ("C", "int64"))
    >>> to_text(use_computation_dtype(parse("y = A(i)*B(i)*C(i)"), dtypes, "int64"))
    'y = sum(i, int64(A(i))*int64(B(i))*C(i))'
    """
    operands = {name: value_dtype(own) for name, own in dtypes}
    target = value_dtype(dtype)
    explicit = explicit_sums(assignment)
    if not np.can_cast(result_dtype(explicit.value, operands), target, "safe"):
        return assignment
    value = _computed_in(explicit.value, operands, target, converted=True)
    return assignment if value == explicit.value else replace(explicit, value=value)


def _computed_in(expr: Expr, dtypes: Mapping[str, np.dtype[Any]], dtype: np.dtype[Any], converted: bool) -> Expr:
    """Return ``expr`` computed in ``dtype``.

    If ``converted``, the operator that takes the value converts it to ``dtype``, and no conversion is added here.
    """
    own_dtype = expression_dtype(expr, dtypes)
    if isinstance(own_dtype, type):
        return expr  # a weak operand takes the dtype of the other operand
    match expr:
        # Conversion of the operands and of the result agree only if nothing is lost: each operand must fit into dtype.
        case Apply(op=op, args=args) if _closed(op, len(args), dtype) and all(
            np.can_cast(own, dtype, "safe")
            for own in (expression_dtype(arg, dtypes) for arg in args)
            if not isinstance(own, type)
        ):
            return Apply(op, tuple(_computed_in(arg, dtypes, dtype, own_dtype == dtype) for arg in args))
        case Reduce(op=op, vars=vars, body=body) if _closed(op, 2, dtype):
            return Reduce(op, vars, _computed_in(body, dtypes, dtype, False))
    # Any other operator is computed in its own dtype, and its result is converted.
    return expr if converted or own_dtype == dtype else Apply(dtype.name, (expr,))


def _closed(op: str, count: int, dtype: np.dtype[Any]) -> bool:
    """Return whether an operator is a ufunc that takes and gives values of ``dtype`` alone."""
    if not isinstance(OPERATORS[op].ufunc, np.ufunc):
        return False
    try:
        return set(loop_dtypes(op, (dtype,) * count)) == {dtype}
    except DTypeError:
        return False
