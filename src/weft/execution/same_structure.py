"""Comparison of the structures of operands when a plan runs: equal index arrays, or not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..storage import Storage

_FIRST, _LARGEST = 256, 1 << 14
"""Elements of the first block that is compared, and of the largest one. Each block is twice as long as the last."""


def same_structure(storages: Sequence[Storage]) -> bool:
    """Return whether tensors of one type have the same shape and equal index arrays.

    Sizes are compared first, then arrays that are not the same object, up to the first block that differs.
    """
    first, *others = storages
    shape, size, arrays = first.shape, first.vals.size, first.arrays
    for other in others:
        if other.shape != shape or other.vals.size != size:
            return False
    pairs = [(a, b) for other in others for a, b in zip(arrays, other.arrays, strict=True) if a is not b]
    # The beginnings of all arrays come first, those of inner levels first: most structures that differ do so there.
    for a, b in reversed(pairs):
        if len(a) != len(b) or a[:_FIRST].tobytes() != b[:_FIRST].tobytes():
            return False
    return all(_equal(a, b) for a, b in pairs if len(a) > _FIRST)


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two arrays of one length and dtype have equal bytes, giving up at the first block that differs."""
    begin, block, size = _FIRST, 2 * _FIRST, len(a)
    while begin < size:
        end = begin + block
        # Bytes are compared faster than elements, and the copies of a block stay in the cache.
        if a[begin:end].tobytes() != b[begin:end].tobytes():
            return False
        begin, block = end, min(2 * block, _LARGEST)
    return True
