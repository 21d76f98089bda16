"""Amounts of work: sizes of index variables, and bounds of the numbers of iterations."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from ..analysis.implicit_values import annihilates
from ..analysis.iteration_graph import typed_implicit_value
from ..formats import TensorType
from ..index_notation import free_variables
from ..index_notation.nodes import Access, Apply, Expr, Reduce
from ..storage import Storage


def extents_of(expr: Expr, operands: Mapping[str, Storage]) -> dict[str, int] | None:
    """Return the size of each index variable; None if shapes contradict each other, which the kernel reports."""
    extents: dict[str, int] = {}
    for access in expr.distinct_accesses:
        shape = operands[access.tensor].shape
        if len(shape) != len(access.indices):
            return None
        for v, n in zip(access.indices, shape, strict=True):
            if extents.setdefault(v, n) != n:
                return None
    return extents


def visits(expr: Expr, operands: Mapping[str, Storage], extents: Mapping[str, int]) -> int:
    """Return an upper bound of the number of coordinate combinations that loops visit for an expression.

    Loops over a product visit the stored entries of one factor, at all coordinates of the variables that this factor
    does not have. Loops over a sum visit those of all terms.
    """
    types = {a.tensor: operands[a.tensor].type for a in expr.distinct_accesses}
    return _visits(expr, operands, types, extents)


def _visits(
    expr: Expr, operands: Mapping[str, Storage], types: Mapping[str, TensorType], extents: Mapping[str, int]
) -> int:
    match expr:
        case Access(tensor=tensor):
            return int(operands[tensor].vals.size)
        case Reduce(body=body):
            return _visits(body, operands, types, extents)
        case Apply(op=op, args=args):
            # The entries of each argument, repeated along the variables that the argument does not have.
            every = set(free_variables(expr))
            counts = [
                _visits(arg, operands, types, extents)
                * prod([extents[v] for v in every.difference(free_variables(arg))] if arg.distinct_accesses else [])
                for arg in args
            ]
            # An argument whose implicit value annihilates limits the loops to its own entries.
            deciding = [
                count
                for k, count in enumerate(counts)
                if annihilates(op, args, k, typed_implicit_value(args[k], types))
            ]
            return min(deciding) if deciding else sum(counts)
    return 0
