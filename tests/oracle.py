"""The oracle: what an assignment means, computed by NumPy on dense arrays.

Every access is taken over the whole space of the variables in scope, then NumPy's ufuncs do the rest. This reads
nothing of the compiler but the operator table, so that a compiled result can be checked against it.

It computes with every element. A compiled kernel may skip entries that a sparse operand does not store: where that
operand's fill value annihilates (``0*x``), the result is the fill value even if ``x`` is inf or NaN, and here it is
NaN. Tests that put such values beside absent entries must allow for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from weft.errors import DTypeError, ShapeError
from weft.index_notation import (
    OPERATORS,
    Access,
    Apply,
    Assignment,
    Expr,
    Literal,
    Reduce,
    explicit_sums,
    expression_text,
    infer_extents,
    loop_dtypes,
    result_dtype,
    tensors,
    to_text,
)  # fmt: skip

__all__ = ["evaluate_dense"]

_LARGEST = 1 << 22  # elements of an intermediate array

Grids = dict[str, np.ndarray[Any, Any]]


def evaluate_dense(assignment: Assignment, arrays: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """Compute an assignment with NumPy.

    Parameters
    ----------
    assignment : Assignment
        With sums implied or explicit.
    arrays : mapping
        An array for each operand. With ``+=`` the result is added to the array of its name, which itself stays as it
        is and whose dtype the result has; without one it is added to zeros.

    Returns
    -------
    ndarray
        With no axes for a scalar.

    Raises
    ------
    NotationError, ShapeError, DTypeError
        As :func:`~weft.index_notation.checks.infer_extents` and
        :func:`~weft.index_notation.dtype_promotion.result_dtype` do; and ShapeError for ``max`` or ``min`` of nothing.

    Examples
    --------
    >>> from weft.index_notation import parse
    >>> evaluate_dense(parse("y(i) = A(i,j)*x(j) + 1"), {"A": [[1, 2], [3, 4]], "x": [1, 10]})
    array([22, 44])
    """
    given = {name: np.asarray(array) for name, array in arrays.items()}
    extents = infer_extents(assignment, {name: array.shape for name, array in given.items()})
    dtype = result_dtype(assignment.value, {name: given[name].dtype for name in tensors(assignment.value)})
    explicit = explicit_sums(assignment)
    extents = infer_extents(explicit, {name: array.shape for name, array in given.items()}) | extents
    target = explicit.target.indices
    with np.errstate(all="ignore"):
        found = _blocks(explicit.value, target, extents, given)
        found = found.astype(dtype)
        if assignment.op is None:
            return found
        old = given.get(assignment.target.tensor)
        if old is None:
            return found
        found = OPERATORS[assignment.op].ufunc(old, found)
        if not np.can_cast(found.dtype, old.dtype, "same_kind"):
            raise DTypeError(f"{to_text(assignment)}: the result is {found.dtype}, not {old.dtype}")
        return np.asarray(found, old.dtype)


def _blocks(
    expr: Expr, target: tuple[str, ...], extents: Mapping[str, int], arrays: Mapping[str, np.ndarray[Any, Any]]
) -> np.ndarray[Any, Any]:
    """The value over the target's variables, some values of the first one at a time where there are many."""
    shape = tuple(extents[v] for v in target)
    rows = shape[0] if target else 1
    step = max(1, _LARGEST // max(1, prod(shape[1:])))
    blocks = []
    for start in range(0, max(rows, 1), step):
        grids = {v: np.arange(extents[v]) for v in target}
        if target:
            grids[target[0]] = np.arange(start, min(start + step, rows))
        found = np.asarray(_Evaluator(extents, arrays).value(expr, grids))
        blocks.append(np.broadcast_to(found, [len(grid) for grid in grids.values()]))
    return np.concatenate(blocks) if target else blocks[0]


class _Evaluator:
    """Values over a scope: one axis a variable, in the order of the grids; axes of absent variables have size 1."""

    def __init__(self, extents: Mapping[str, int], arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self.extents, self.arrays = extents, arrays

    def value(self, expr: Expr, grids: Grids) -> Any:
        match expr:
            case Access(tensor=tensor, indices=indices):
                return self.access(self.arrays[tensor], indices, grids)
            case Literal(value=value):
                return value  # weak: NumPy gives it the dtype of the others
            case Apply(op=op, args=args):
                values = [self.value(arg, grids) for arg in args]
                found = OPERATORS[op].ufunc(*values)
                weak = not any(isinstance(value, (np.ndarray, np.generic)) for value in values)
                return found.item() if weak and isinstance(found, np.generic) else found
            case Reduce():
                return self.reduce(expr, grids)
        raise TypeError(f"not an index expression: {expr!r}")

    def access(self, array: np.ndarray[Any, Any], indices: tuple[str, ...], grids: Grids) -> np.ndarray[Any, Any]:
        axis = {v: k for k, v in enumerate(grids)}
        order = len(grids)
        if not indices:
            return array.reshape((1,) * order)
        where = [grids[v].reshape([-1 if k == axis[v] else 1 for k in range(order)]) for v in indices]
        return np.asarray(array[tuple(where)])

    def reduce(self, expr: Reduce, grids: Grids) -> np.ndarray[Any, Any]:
        first, *rest = expr.vars
        extent = self.extents[first]
        size = prod(len(grid) for grid in grids.values()) * prod(self.extents[v] for v in rest)
        step = max(1, _LARGEST // max(1, size))
        ufunc: Any = OPERATORS[expr.op].ufunc
        total: np.ndarray[Any, Any] | None = None
        for start in range(0, max(extent, 1), step):
            inner = {**grids, first: np.arange(start, min(start + step, extent))}
            inner |= {v: np.arange(self.extents[v]) for v in rest}
            part = self.reduce_block(expr, inner, len(grids))
            total = part if total is None else ufunc(total, part)
        assert total is not None
        return total

    def reduce_block(self, expr: Reduce, inner: Grids, outer: int) -> np.ndarray[Any, Any]:
        body = np.asarray(self.value(expr.body, inner))
        shape = np.broadcast_shapes(body.shape, (*(1,) * outer, *(len(grid) for grid in list(inner.values())[outer:])))
        dtype = loop_dtypes(expr.op, (body.dtype, body.dtype))[-1]
        ufunc: Any = OPERATORS[expr.op].ufunc
        try:
            found = ufunc.reduce(np.broadcast_to(body, shape), axis=tuple(range(outer, len(shape))), dtype=dtype)
        except ValueError:
            raise ShapeError(f"{expression_text(expr)} is over nothing, and {expr.op} has no identity") from None
        return np.asarray(found)
