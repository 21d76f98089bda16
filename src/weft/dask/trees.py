"""Trees of tasks that combine partial results, which lie along the last axes of an array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import dask.array as da
import numpy as np
from dask.array.reductions import _tree_reduce

from ..records import record


@record
class _Task:
    """Task of a tree: it combines parts by pairs, so that sparse ones grow late, and finishes the last one."""

    combine: Callable[[Any, Any], Any]
    finish: Callable[[Any], Any] | None

    def __call__(self, parts: Any, axis: Any = None, keepdims: Any = None, computing_meta: bool = False) -> Any:
        """Return the parts combined; dask also asks what is known of results before there are any."""
        if computing_meta:
            return parts
        found = combined(list(_flat(parts)), self.combine)
        return found if self.finish is None else self.finish(found)


def _flat(parts: Any) -> Iterator[Any]:
    if isinstance(parts, list):
        for part in parts:
            yield from _flat(part)
    else:
        yield parts


def combined(pending: list[Any], combine: Callable[[Any, Any], Any]) -> Any:
    """Return parts combined, two neighbours at a time."""
    while len(pending) > 1:
        pairs = [pending[k : k + 2] for k in range(0, len(pending), 2)]
        pending = [pair[0] if len(pair) == 1 else combine(*pair) for pair in pairs]
    return pending[0]


def tree(
    partial: Any, order: int, combine: Callable[[Any, Any], Any], finish: Callable[[Any], Any] | None, meta: Any,
    name: str, split_every: int,
) -> Any:  # fmt: skip
    """Return the array of partial results combined over all axes from ``order`` on."""
    reduced = _tree_reduce(
        partial, _Task(combine, finish), tuple(range(order, partial.ndim)), False, dtype=meta.dtype,
        split_every=split_every, combine=_Task(combine, None), name=shown(name), concatenate=False,
        reduced_meta=np.empty((0,) * partial.ndim, meta.dtype),
    )  # fmt: skip
    return da.Array(reduced.dask, reduced.name, reduced.chunks, meta=meta)


def shown(text: str) -> str:
    """Return a text that dask shows whole: it takes a hyphen for the end of a name."""
    return text.replace("-", "−")
