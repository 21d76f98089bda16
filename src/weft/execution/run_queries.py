"""Answers to attribute queries, by a compiled pass over a tensor (2020 paper, section 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..config import config
from ..formats import Format, TensorType
from ..queries import Statement, Width
from ..remapping.inverse import limits
from ..remapping.nodes import Axis, IndexExpr, evaluate
from ..runtime.interrupts import fail
from ..runtime.structs import counts_pointer
from ..storage import Storage, tensor_type
from .facts import QueryRequest
from .loops import Loops, asked
from .plan_cache import kept


def bounds(expr: IndexExpr, shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the half-open interval of the values of a coordinate; empty if the tensor has no elements."""
    if isinstance(expr, Axis):
        return 0, shape[expr.number]
    if math.prod(shape) == 0:
        return 0, 0
    low, high = (int(evaluate(end, (), shape=shape)) for end in limits(expr))
    return low, max(low, high)


@kept
def optimized(statements: tuple[Statement, ...], type: TensorType) -> tuple[Statement, ...]:
    """Rewrite queries for tensors of a type, by the rules of Table 1 (2020 paper)."""
    return asked("optimized_queries", statements, type, config.code) if type.format.order else statements


def run_queries(storage: Storage, statements: Sequence[Statement]) -> list[np.ndarray[Any, Any]]:
    """Answer attribute queries."""
    if not storage.shape:  # the only element of a scalar is stored
        return [np.ones((), np.int64) for _ in statements]
    results: dict[int, np.ndarray[Any, Any]] = {}
    # Queries for widths are answered in a pass of their own.
    # Widths follow from positions alone: their pass has no loop over the entries of a parent.
    for widths in (True, False):
        mine = [n for n, s in enumerate(statements) if isinstance(s.value, Width) is widths]
        if mine:
            asked = [statements[n] for n in mine]
            results.update(zip(mine, _asked(storage, asked), strict=True))
    return [results[n] for n in range(len(statements))]


def _asked(storage: Storage, statements: Sequence[Statement]) -> list[np.ndarray[Any, Any]]:
    shape = storage.shape
    over = [s.target.indices if s.where is None else s.where.target.indices for s in statements]
    shapes = [
        tuple(high - low for low, high in (bounds(e, shape) for e in coordinates[: len(s.target.indices)]))
        for s, coordinates in zip(statements, over, strict=True)
    ]
    # Each query has an answer, and an array for its inner query, if it has one.
    answers = [np.zeros(wanted, np.int64) for wanted in shapes]
    temporaries = [
        np.zeros(math.prod(high - low for low, high in (bounds(e, shape) for e in s.where.target.indices)), np.int64)
        for s in statements
        if s.where is not None
    ]
    ask = _loops(storage.type, tuple(statements)).functions("queries")["ask"]
    arrays = (*(a.reshape(-1) for a in answers), *temporaries)
    # The kernel takes the answers as the arrays of a tensor without values.
    scalar = tensor_type("bool", Format.dense(0), (), False)
    made = Storage(shape, scalar, arrays, np.empty(0, bool))
    if math.prod(shape):
        status = ask(made.struct, storage.struct, counts_pointer(np.zeros(1, np.int64)), 1)
        if status:
            fail(status, f"a question about a tensor of shape {shape} in format {storage.format}")
    return answers


@kept
def _loops(type: TensorType, statements: tuple[Statement, ...]) -> Loops:
    """Return the loops that answer queries about tensors of a type."""
    return Loops(QueryRequest(type, statements, config.code))
