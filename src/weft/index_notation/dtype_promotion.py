"""Dtypes of expressions: the promotion rules of NumPy 2, read from the operators' ufuncs.

- A literal is weak: it takes its dtype from the other operand, as a Python number does in NumPy. An expression of
  literals alone is weak, too. ``True`` and ``False`` are not weak, as in NumPy.
- A reduction keeps the dtype of its operand, as ``numpy.einsum`` and SciPy's ``@`` do. (``numpy.sum`` would widen small
  integers.) A sum of booleans is a boolean, which says if any of them is true. ``any`` and ``all`` give booleans.
- A result for which a wider dtype is requested is computed in that dtype from the start (``dtype_widening``), as with
  NumPy's ``dtype=``.
- An operation that NumPy computes in a dtype that weft does not have is an error (``sqrt`` of int8 is float16).
- An integer literal that the other operand's dtype cannot hold is an error. A comparison takes such a literal by its
  value.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..dtypes import value_dtype
from ..errors import DTypeError
from ..trees import fold
from .nodes import Access, Apply, Expr, Literal, Reduce
from .operator_table import OPERATORS
from .printer import expression_text

DType = np.dtype[Any] | type
"""A dtype; or ``int``, ``float`` or ``complex`` for a weak expression."""


def result_dtype(expr: Expr, dtypes: Mapping[str, DTypeLike]) -> np.dtype[Any]:
    """Return the dtype of the value of ``expr``.

    Examples
    --------
    >>> from weft.index_notation import parse
    >>> value = parse("y(i) = 2*A(i,j)*x(j)").value
    >>> result_dtype(value, {"A": "float32", "x": "int8"})
    dtype('float32')
    >>> result_dtype(parse("y = 1/3*x").value, {"x": "float32"})
    dtype('float32')
    """
    return _result_dtype(expr, tuple(dtypes.items()))


@lru_cache(maxsize=4096)
def _result_dtype(expr: Expr, dtypes: tuple[tuple[str, DTypeLike], ...]) -> np.dtype[Any]:
    return _strong(expression_dtype(expr, {name: value_dtype(dtype) for name, dtype in dtypes}))


def expression_dtype(expr: Expr, dtypes: Mapping[str, np.dtype[Any]]) -> DType:
    """Return the dtype of a node; ``int``, ``float`` or ``complex`` if it is weak.

    An expression of literals alone is weak, unless one of them is a boolean.
    """

    def dtype(node: Expr, below: list[DType]) -> DType:
        match node:
            case Access(tensor=tensor):
                return dtypes[tensor]
            case Literal(value=value):
                return literal_dtype(value)
            case Apply():
                result = application_dtypes(node, tuple(below))[-1]
                # An operator on weak operands alone has a weak result; a boolean result is not weak.
                return _WEAK.get(result.kind, result) if all(isinstance(d, type) for d in below) else result
            case Reduce(op=op):
                # A reduction has the dtype of its operator on two operands of the body's dtype.
                body = _strong(below[0])
                return loop_dtypes(op, (body, body))[-1]
        raise TypeError(f"not an index expression: {node!r}")

    return fold(expr, dtype)


def application_dtypes(expr: Apply, dtypes: tuple[DType, ...]) -> tuple[np.dtype[Any], ...]:
    """Return :func:`loop_dtypes` of an operator with its operands, after a check of integer literals.

    An integer literal must fit into the dtype in which the operator takes the literal. A comparison takes a literal
    that does not fit by its value.
    """
    loop = loop_dtypes(expr.op, dtypes)
    if all(isinstance(d, type) for d in dtypes):
        return loop  # literals alone take no dtype from a tensor
    for k, (arg, dtype) in enumerate(zip(expr.args, loop, strict=False)):
        # NumPy refuses a Python integer that does not fit, except in comparisons.
        if isinstance(arg, Literal) and type(arg.value) is int and not holds(dtype, arg.value):
            if OPERATORS[expr.op].c not in COMPARISONS:
                text = expression_text(expr)
                raise OverflowError(f"Python integer {arg.value} out of bounds for {dtype} in {text}")
            return loop_dtypes(expr.op, (*dtypes[:k], np.asarray(arg.value).dtype, *dtypes[k + 1 :]))
    return loop


COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
"""C spellings of the operators that take a Python integer by its value, whatever the other operand's dtype is."""


def holds(dtype: np.dtype[Any], value: int) -> bool:
    """Return whether a dtype of integers holds a Python integer; true for any other dtype."""
    if dtype.kind not in "iu":
        return True
    limits = np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max)


_WEAK = {"i": int, "f": float, "c": complex}


def literal_dtype(value: complex) -> DType:
    """Return the dtype of a number in an expression: weak, unless the number is a boolean."""
    for weak in (bool, int, float, complex):
        if isinstance(value, weak):
            return np.dtype(bool) if weak is bool else weak
    return np.asarray(value).dtype


def _strong(dtype: DType) -> np.dtype[Any]:
    return np.dtype(dtype) if isinstance(dtype, type) else dtype


@lru_cache(maxsize=4096)
def loop_dtypes(op: str, dtypes: tuple[DType, ...]) -> tuple[np.dtype[Any], ...]:
    """Return the dtypes to which an operator converts its operands, and last the dtype of its result.

    Examples
    --------
    >>> loop_dtypes("divide", (np.dtype("int32"), int))
    (dtype('float64'), dtype('float64'), dtype('float64'))
    """
    ufunc: Any = OPERATORS[op].ufunc
    shown = " and ".join(d.__name__ if isinstance(d, type) else d.name for d in dtypes)
    try:
        loop = ufunc.resolve_dtypes((*dtypes, None))
    except TypeError as error:
        raise DTypeError(f"{op} of {shown}: {error}") from None
    if loop[-1].char != "e":  # such as signbit of int8; float32 holds every value of float16
        loop = tuple(np.dtype(np.float32) if dtype.char == "e" else dtype for dtype in loop)
    for dtype in loop:
        if dtype.char in "egG":
            message = f"{op} of {shown} is computed in {dtype.name}, which weft has not; convert the operand first"
            raise DTypeError(message)
    return tuple(value_dtype(dtype) for dtype in loop)
