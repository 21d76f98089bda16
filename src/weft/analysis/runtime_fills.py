"""Fill values that kernels read when they run, so that tensors with other fill values share a kernel.

A fill value is algebraic if a row of the operator table names it: zero, one, infinities, NaN and the extremes of a
dtype. Such a value decides how an expression simplifies, and is part of a kernel. Every other fill value becomes a
``RuntimeValue``. An operator may give an algebraic value for fill values that are not, as ``2.5 - 2.5`` and comparisons
do. These answers are part of a kernel as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ..concrete_notation.values import RuntimeValue, same_value, typed
from ..formats import TensorType
from ..index_notation.nodes import Access, Assignment, Expr
from ..index_notation.operator_table import OPERATORS
from ..index_notation.traversal import walk
from ..records import replace
from .implicit_values import implicit_value, typed_implicit_value


@lru_cache(maxsize=64)
def _named_values(dtype: str) -> frozenset[Any]:
    """Return the values that rows of the operator table name, for operands of a dtype."""
    rows = OPERATORS.values()
    named = [v for row in rows for v in (row.identity, row.right_identity, row.absorbed, row.absent)]
    whole = np.dtype(dtype).kind in "biu"
    named += [row.start(dtype) for row in rows if whole or not row.all_bits]  # bits are of whole numbers alone
    named += [value for row in rows for _, value in row.annihilators]
    named += [value for row in rows for near in row.near_annihilators for value in (near.value, near.result)]
    return frozenset(v for v in named if v is not None)


def is_algebraic(value: Any, dtype: str) -> bool:
    """Return whether a row of the operator table names a fill value, so that kernels are specialized to the value.

    Examples
    --------
    >>> [is_algebraic(v, "float64") for v in (0, -0.0, 1.0, float("nan"), float("-inf"), 2.5)]
    [True, True, True, True, True, False]
    >>> [is_algebraic(v, "int8") for v in (-128, -1, 0, 5)]
    [True, True, True, False]
    """
    # Zero, which a row names for every dtype, needs no look at the table.
    return dtype == "bool" or not value or value != value or value in _named_values(dtype)


def fill_name(tensor: str) -> str:
    """Return the name of the operand that holds the fill value of a tensor; index notation has no such names."""
    return f"{tensor}.fill"


def is_fill_name(name: str) -> bool:
    """Return whether an operand of this name holds a fill value."""
    return name.endswith(".fill")


def fill_operands(types: Mapping[str, TensorType]) -> dict[str, RuntimeValue]:
    """Return the operands that hold fill values, by name; a value that another operand holds needs none."""
    fills = {fill_name(n): t.fill for n, t in types.items() if isinstance(t.fill, RuntimeValue)}
    return {n: fill for n, fill in fills.items() if fill.expr == Access(n) or not isinstance(fill.expr, Access)}


def evaluate(value: Any, fills: Mapping[str, Any]) -> Any:
    """Return an implicit value for given fill values."""
    if not isinstance(value, RuntimeValue):
        return value
    return typed(implicit_value(value.expr, lambda access: fills[access.tensor]), value.dtype)


def with_runtime_fills(
    assignment: Assignment, types: Mapping[str, TensorType], dtype: str
) -> tuple[dict[str, TensorType], dict[str, Any]]:
    """Return the types with a ``RuntimeValue`` for each fill value that is not algebraic, and these fill values."""
    static = {n: t for n, t in types.items() if not isinstance(t.fill, RuntimeValue)}  # others are changed already
    runtime = {n: t for n, t in static.items() if not is_algebraic(t.fill, t.dtype)}
    fills = {fill_name(n): typed(t.fill, t.dtype) for n, t in runtime.items()}
    answers: tuple[tuple[Expr, Any], ...] = ()
    while runtime:
        symbolic = {
            n: replace(t, fill=RuntimeValue(Access(fill_name(n)), t.dtype, answers)) for n, t in runtime.items()
        }
        changed = {**types, **symbolic}
        more = _answers(assignment.value, changed, fills, dtype)
        if not more:
            return changed, fills
        answers += more  # an answer may simplify the operators around it, which then have other answers
    return dict(types), {}


def with_runtime_conversion(source: TensorType, target: TensorType) -> tuple[TensorType, TensorType, dict[str, Any]]:
    """Return the types of a conversion from ``A`` to ``B``, changed by ``with_runtime_fills``, and the fill values."""
    if isinstance(source.fill, RuntimeValue) or isinstance(target.fill, RuntimeValue):
        return source, target, {}
    copy = Assignment(Access("B", ("i",)), Access("A", ("i",)))
    types, fills = with_runtime_fills(copy, {"A": source}, target.dtype)
    carried, target_fill = typed(types["A"].fill, target.dtype), typed(target.fill, target.dtype)
    if same_value(evaluate(carried, fills), target_fill):
        fill = carried if isinstance(carried, RuntimeValue) else target.fill
    elif is_algebraic(target.fill, target.dtype):
        fill = target.fill
    else:
        fills[fill_name("B")] = target_fill
        fill = RuntimeValue(Access(fill_name("B")), target.dtype)
    return types["A"], replace(target, fill=fill), fills


def _answers(
    value: Expr, types: Mapping[str, TensorType], fills: Mapping[str, Any], dtype: str
) -> tuple[tuple[Expr, Any], ...]:
    """Return the algebraic values of operators within an expression that ``types`` does not know yet."""
    values: dict[Expr, Any] = {}
    implicit = [typed_implicit_value(part, types) for part in walk(value)]
    implicit.append(typed(implicit[0], dtype))
    for each in implicit:
        if isinstance(each, RuntimeValue):
            result = evaluate(each, fills).item()
            if is_algebraic(result, each.dtype):
                values.setdefault(each.expr, result)
    return tuple(values.items())
