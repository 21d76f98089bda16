"""Choice of elements: of one tensor where a condition holds, of another elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import execution
from ..storage import Storage
from .broadcasting import broadcast
from .elementwise import SPREADS, apply_scalar, apply_unary, only_element, plan_binary
from .fill_change import relabel_fill


def where(operands: Sequence[Storage], dtype: np.dtype[Any]) -> Storage:
    """Return the elements of ``yes`` where a condition holds, else those of ``no``.

    An entry is stored wherever one of the three tensors has an entry.
    """
    tensors = [s for s in operands if s.shape]  # a number has no entries that other tensors lack
    if not tensors or all(s.format.is_dense for s in operands):
        values = [s.to_dense_array() if s.format.is_dense else only_element(s) for s in operands]
        return Storage.dense(np.where(*values).astype(dtype, copy=False))
    condition, *sides = operands
    for k, side in enumerate(sides):
        if side.shape and condition.shape and _is_zero(sides[1 - k]) and not _has_negative_zeros(side):
            picks = apply_unary("logical_not", condition) if k else condition
            plan, storages = plan_binary("select", picks, side)
            return execution.in_dtype(plan.run(storages), dtype)
    # With entries at the same coordinates, the choice is made on the arrays of values.
    spread = _on_all(tensors)
    format = spread[0].plain_format if spread[0].format.is_structured else spread[0].format.canonical()
    spread = [execution.convert(s, format) for s in spread]
    if not all(_agree(spread[0], other) for other in spread[1:]):
        # A format may store other elements beside entries, such as whole rows or diagonals.
        spread = _on_all(spread)
    rest = iter(spread)
    sides = [next(rest) if s.shape else only_element(s) for s in operands]
    vals = np.where(*(s.vals if isinstance(s, Storage) else s for s in sides)).astype(dtype, copy=False)
    fill = np.where(*(s.type.fill if isinstance(s, Storage) else s for s in sides))[()]
    return relabel_fill(spread[0].with_values(vals, 0), fill)


def _is_zero(storage: Storage) -> bool:
    """Return whether a tensor is the number that is left where ``select`` chooses nothing."""
    return not storage.shape and storage.format.is_dense and _bits(storage.vals[0]) == _bits(storage.dtype.type(0))


def _has_negative_zeros(storage: Storage) -> bool:
    """Return whether absent entries are -0.0, for which ``select`` may return 0.0."""
    fill = storage.dtype.type(storage.type.fill)
    return not storage.format.is_dense and bool(fill == 0 and _bits(fill) != _bits(storage.dtype.type(0)))


def _bits(value: Any) -> bytes:
    return np.asarray(value).tobytes()


def _on_all(operands: Sequence[Storage]) -> list[Storage]:
    """Return each tensor with entries wherever one of the tensors has any."""
    spread = []
    for k, operand in enumerate(operands):
        for other in (*operands[:k], *operands[k + 1 :]):
            operand = _spread(operand, other)
        spread.append(operand)
    return spread


def _spread(storage: Storage, other: Storage) -> Storage:
    """Return a tensor that also has entries wherever another tensor has any."""
    if storage.shape != other.shape:  # a tensor of one element that stretches serves as a number
        if len(other.shape) <= len(storage.shape) and np.prod(other.shape) == 1:
            return storage
        if len(storage.shape) <= len(other.shape) and np.prod(storage.shape) == 1:
            return apply_scalar(SPREADS, other, only_element(storage), True)
    plan, storages = plan_binary(SPREADS, storage, other)
    return plan.run(storages)


def _agree(a: Storage, b: Storage) -> bool:
    """Return whether two tensors in one format have entries at the same coordinates."""
    return all(np.array_equal(x, y) for x, y in zip(a.arrays, b.arrays, strict=True))


def require_booleans(mask: Storage) -> None:
    """Raise an error for a mask of another dtype than bool."""
    if mask.type.dtype != "bool":
        raise TypeError(f"where= takes booleans, not {mask.type.dtype}, to choose elements of a SparseTensor")


def chosen(storage: Storage, mask: Storage, start: Any) -> Storage:
    """Return the elements where a mask is true, and ``start`` elsewhere."""
    require_booleans(mask)
    return where((mask, storage, Storage.dense(np.asarray(start, storage.dtype))), storage.dtype)


def merged(changed: Storage, old: Storage, mask: Storage) -> Storage:
    """Return the elements of one tensor where a mask is true, and of another elsewhere."""
    require_booleans(mask)
    return where((broadcast(mask, old.shape), changed, old), np.result_type(changed.dtype, old.dtype))
