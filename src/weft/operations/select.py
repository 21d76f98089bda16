"""Choice of elements: of one tensor where a condition holds, of another elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..execution.plan_cache import plans
from ..storage import Storage
from .broadcasting import broadcast
from .elementwise import common_shape, known_number, only_element, plan_elementwise
from .indexing import expanded
from .operands import is_number


def where(operands: Sequence[Storage], dtype: np.dtype[Any]) -> Storage:
    """Return the elements of the second tensor where the first is nonzero, and those of the third elsewhere."""
    shape = common_shape("where", operands)
    if not shape:
        return Storage.dense(np.where(*map(only_element, operands)).astype(dtype, copy=False))
    known = [
        known_number(only_element(s).astype(own)) if is_number(s.shape, shape) else s
        for s, own in zip(operands, (np.dtype(bool), dtype, dtype), strict=True)
    ]
    tensors = [x for x in known if isinstance(x, Storage)]
    if not all(x.shape == shape or not x.shape for x in tensors):
        plan, tensors = plan_elementwise("where", known, dtype)
        result = plan.run(tensors)
        return expanded(result, tuple(range(len(shape) - len(result.shape))))
    key = ("where", dtype, *[x.type.number if isinstance(x, Storage) else x for x in known])
    return plans.get(key, lambda: plan_elementwise("where", known, dtype)[0]).run(tensors)


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
