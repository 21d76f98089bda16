"""The format of a result where the user gives none, from the operands' formats.

Level by level: a level is dense where the loop over its variable visits every coordinate, else compressed. The
order of the axes is that of the first sparse operand that has them all, else the target's own.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..formats import Compressed, Dense, Format, TensorType
from ..index_notation.nodes import Assignment, Expr
from ..lowering.iteration_graph import fill_of_reduced, is_full, path, reads, strip
from ..lowering.values import UNKNOWN, convert
from ..remapping import Remapping

__all__ = ["result_dtype", "result_fill", "result_format"]


def result_dtype(value: Expr, types: Mapping[str, TensorType]) -> str:
    """NumPy's promotion over the expression."""
    found = convert(strip(value), {name: type.dtype for name, type in types.items()})[1]
    return np.result_type(found).name if isinstance(found, type) else found


def result_fill(value: Expr, types: Mapping[str, TensorType]) -> object:
    """The operators applied to the fill values; None where that depends on stored values."""
    fill = fill_of_reduced(value, types)
    return None if fill is UNKNOWN else fill


def result_format(assignment: Assignment, types: Mapping[str, TensorType]) -> Format:
    """The format of a result for which none is given."""
    indices = assignment.target.indices
    value = assignment.value
    full = {v: is_full(value, v, types) for v in indices}
    if all(full.values()) or result_fill(value, types) is None or _contracts_to_dense(assignment, types):
        return Format.dense(len(indices))
    order = indices
    for access in reads(value):
        format = types[access.tensor].format
        if not format.is_dense and set(indices) <= set(access.indices):
            order = tuple(v for v in dict.fromkeys(path(access, format)) if v in indices)
            break
    levels = tuple(Dense() if full[v] else Compressed() for v in order)
    return Format(Remapping(tuple(indices.index(v) for v in order)), levels)


def _contracts_to_dense(assignment: Assignment, types: Mapping[str, TensorType]) -> bool:
    """Whether sparse matrices are contracted with a dense array, as in ``A.T @ x``: that gives a dense array.

    A sparse operand that keeps all its axes, as the mask of a sampled product does, keeps the result sparse.
    """
    kept = set(assignment.target.indices)
    sparse, contracted = False, False
    for access in reads(assignment.value):
        summed = not set(access.indices) <= kept
        if types[access.tensor].format.is_dense:
            contracted |= summed
        elif len(access.indices) > 2 or not summed:
            return False
        else:
            sparse = True
    return sparse and contracted
