"""Repetition of a tensor along new axes and along axes of size 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import execution
from ..index_notation.nodes import Access, Apply, Assignment
from ..runtime import memory
from ..storage import Storage, checked_shape
from .elementwise import without_axes
from .fill_change import relabel_fill
from .indexing import format_for_axes
from .reshaping import nothing


def broadcast(storage: Storage, shape: tuple[int, ...]) -> Storage:
    """Return a tensor repeated to a shape; each stored entry is repeated, too."""
    n, more = len(shape), len(shape) - len(storage.shape)
    fits = more >= 0 and all(a in (1, b) for a, b in zip(storage.shape, shape[more:], strict=True))
    if not fits:
        raise ValueError(
            f"operands could not be broadcast together with remapped shapes [original->remapped]: {storage.shape} and "
            f"requested shape {shape}"
        )
    if storage.shape == checked_shape(shape):
        return storage
    like, fill = storage.format, storage.type.fill
    stretched = [a for a, size in enumerate(storage.shape) if size != shape[a + more]]
    axes = [a + more for a in range(len(storage.shape)) if a not in stretched]
    # With fill value 0, the kernel repeats stored entries alone; the fill value is set again at the end.
    smaller = relabel_fill(without_axes(storage, stretched), 0)
    goal = format_for_axes(like, n)
    if not storage.nnz and not goal.is_dense:
        return execution.convert(nothing(shape, storage.type), goal)
    # The memory is checked before anything is repeated.
    each = math.prod(shape[a] for a in range(n) if a not in axes) * execution.entry_bytes(goal, storage.dtype, shape)
    entries = smaller.nnz
    if not memory.fits(entries * each) and not smaller.format.is_dense:
        entries = execution.count_entries(smaller)  # without padding
    memory.require(entries * each, f"broadcasting {entries} entries of a tensor of shape {storage.shape} to {shape}")
    # B(i0,i1,...) = select(S(i0), A(i1,...)), in which S is true for every coordinate of a new axis.
    operands = {"A": smaller}
    value: Any = Access("A", tuple(f"i{a}" for a in axes))
    for a in range(n):
        if a not in axes:
            operands[f"S{a}"] = Storage.dense(np.ones(shape[a], bool))
            value = Apply("select", (Access(f"S{a}", (f"i{a}",)), value))
    target = Access("B", tuple(f"i{a}" for a in range(n)))
    made = goal if goal.is_dense or fill == 0 else goal.plain()  # padding would keep the wrong fill value
    found = relabel_fill(execution.evaluate(Assignment(target, value), operands, format=made), fill)
    return execution.convert(found, goal)
