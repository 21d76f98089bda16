"""Comparison of the structures of operands when a plan runs: equal index arrays, or not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..storage import Storage

__all__ = ["same_structure"]

_FIRST, _LARGEST = 256, 1 << 14
"""Elements of the first block that is compared, and of the largest one. Each block is twice as long as the last."""


def same_structure(storages: Sequence[Storage]) -> bool:
    """Return whether tensors of one type have the same shape and equal index arrays.

    Sizes are compared first, then arrays that are not the same object, up to the first block that differs.

    Parameters
    ----------
    storages : sequence of Storage
        The tensors.
    """
    first = storages[0]
    shape, size, arrays = first.shape, first.vals.size, first.arrays
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    for other in storages[1:]:
        if other.arrays is arrays and other.vals.size == size and other.shape == shape:
            continue
        if other.vals.size != size or other.shape != shape:
            return False
        pairs += [(a, b) for a, b in zip(arrays, other.arrays, strict=True) if a is not b]
    return all(len(a) == len(b) for a, b in pairs) and all(_equal(a, b) for a, b in pairs)


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two arrays of one length and dtype have equal bytes, giving up at the first block that differs."""
    begin, block, size = 0, _FIRST, len(a)
    while begin < size:
        end = begin + block
        # Bytes are compared faster than elements, and the copies of a block stay in the cache.
        if a[begin:end].tobytes() != b[begin:end].tobytes():
            return False
        begin, block = end, min(2 * block, _LARGEST)
    return True
