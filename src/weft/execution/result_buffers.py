"""Memory for appended results: the sizes of arrays for the coordinates that append chains may hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import inf, prod
from typing import Any

import numpy as np

from ..dtypes import INT32_MAX, index_dtype
from ..formats import Format, TensorType
from ..formats.append_chains import AppendChain
from ..records import cached
from ..runtime import memory
from ..storage import Storage


def entry_bytes(format: Format, dtype: np.dtype[Any], shape: Sequence[int]) -> int:
    """Return the least number of bytes of each entry of a tensor: its value, and its coordinates in the last levels.

    Examples
    --------
    >>> from weft.formats import parse_format
    >>> entry_bytes(parse_format("csr", 2), np.dtype("float64"), (9, 9))
    12
    >>> entry_bytes(parse_format("coo", 2), np.dtype("float64"), (9, 2**40))
    24
    """
    stored = sum("crd" in format.levels[k].roles for chain in format.level_groups[-1:] for k in chain)
    return dtype.itemsize + stored * index_dtype(max((*shape, *format.level_shape(tuple(shape))), default=0)).itemsize


def sorting_bytes(type: TensorType) -> int:
    """Return the bytes that sorting a coordinate list takes for each entry: an ordered copy, a permutation and keys."""
    arrays = zip(type.format.roles, type.index_dtypes, strict=True)
    lists = sum([np.dtype(dtype).itemsize for (_, role), dtype in arrays if role == "crd"])
    return np.dtype(type.dtype).itemsize + lists + 3 * 8


def _bytes_of(length: int, dtype: np.dtype[Any]) -> int:
    return length * dtype.itemsize


def require_dense(type: TensorType, shape: tuple[int, ...]) -> None:
    """Raise if a dense result does not fit in memory."""
    memory.require(prod(shape) * np.dtype(type.dtype).itemsize, f"a dense result of shape {shape}")


class ResultBuffers:
    """Sizes of the appended results of one type and shape, as far as they are known before coordinates are counted."""

    def __init__(
        self, type: TensorType, shape: tuple[int, ...], chains: Sequence[AppendChain], zeroed: Collection[int]
    ):
        self.type, self.shape, self.chains = type, shape, tuple(chains)
        counters = {k: c.index for c in chains for k in range(c.first, c.last + 1)}
        dtypes: list[list[np.dtype]] = [[] for _ in type.format.levels]
        for (k, _), dtype in zip(type.format.roles, type.index_dtypes, strict=True):
            dtypes[k].append(np.dtype(dtype))
        # A level may have positions in an empty result, too. No loop writes them, so that they are zeroed here.
        empty = 0 in shape
        self._levels = [
            (level, n, counters.get(k), dtypes[k], memory.zeros if k in zeroed or empty else memory.empty)
            for k, (level, n) in enumerate(zip(type.format.levels, type.format.level_shape(shape), strict=True))
        ]
        self.widest = max((*shape, *type.format.level_shape(shape)), default=0)
        self._dtype = np.dtype(type.dtype)
        self._last = len(self.chains) - 1
        self.few = memory.CHECKED // max(self.bytes([1] * len(self.chains)), 1)

    def overflows(self, most: int = 0) -> bool:
        """Return whether coordinates, or positions of ``most`` entries, do not fit the result's index arrays."""
        return (most > INT32_MAX or self.widest > INT32_MAX) and "int32" in self.type.index_dtypes

    @cached
    def limits(self) -> list[float]:
        """Return the most coordinates that each chain can hold: those of its dimensions, if no coordinate repeats."""
        if not self.type.format.is_unique:
            return [inf] * len(self.chains)
        limits: list[float] = []
        size = 1
        ends = {chain.last for chain in self.chains}
        for k, (level, n, chain, *_) in enumerate(self._levels):
            # Each position of the level above has at most one entry for each coordinate of this level.
            size = level.size(size, n, {}) if chain is None else size * n
            if k in ends:
                limits.append(size)
        return limits

    @cached
    def empty_result(self) -> Storage:
        """Return a result without stored entries, for passes that write nothing."""
        return Storage(self.shape, self.type, self._arrays([0] * len(self.chains)), np.empty(0, self._dtype))

    def sizes(self, totals: Sequence[int]) -> list[int]:
        """Return the number of positions of each level, given the number of coordinates of each chain."""
        sizes: list[int] = []
        size = 1
        for level, n, chain, _, _ in self._levels:
            size = level.size(size, n, {}) if chain is None else totals[chain]
            sizes.append(size)
        return sizes or [1]

    def _arrays(self, totals: Sequence[int], instead: Callable[..., Any] | None = None) -> tuple[Any, ...]:
        """Return the arrays of the levels, or what the function ``instead`` returns for each length and dtype.

        There is room for one more coordinate in all chains but the last: a loop may write it before it is known whether
        anything is stored below it.
        """
        arrays: list[Any] = []
        parent, last = 1, self._last
        for level, n, chain, dtypes, make in self._levels:
            size = level.size(parent, n, {}) if chain is None else totals[chain] + (chain != last)
            if dtypes:
                for length, dtype in zip(level.array_sizes(parent, size, n), dtypes, strict=True):
                    arrays.append((instead or make)(length, dtype))
            parent = size
        return tuple(arrays)

    def bytes(self, totals: Sequence[int]) -> int:
        """Return the bytes of all arrays of a result that has room for so many coordinates in each chain."""
        indices: int = sum(self._arrays(totals, _bytes_of))
        return indices + _bytes_of(self.sizes(totals)[-1], self._dtype)

    def require(self, totals: Sequence[int], each: int = 0, known: str = "in all") -> None:
        """Raise if a result does not fit in memory, with ``each`` bytes more for each of its entries.

        The additional bytes are for a conversion of the result.
        """
        size, entries = self.bytes(totals) + each * totals[-1], f"{totals[-1]} entries {known}"
        memory.require(size, f"a result of shape {self.shape} in format {self.type.format} with {entries}")

    def allocate(self, totals: Sequence[int], zeros: bool = False) -> Storage:
        """Allocate a result with room for so many coordinates in each chain; its values are ``zeros`` if so wanted."""
        make = memory.zeros if zeros else memory.empty
        return Storage(self.shape, self.type, self._arrays(totals), make(self.sizes(totals)[-1], self._dtype))

    def trim(self, result: Storage, totals: Sequence[int]) -> Storage:
        """Trim the arrays of a result to so many coordinates in each chain."""
        sizes = self.sizes(totals)
        arrays: list[np.ndarray] = []
        given, parent = iter(result.arrays), 1
        for (level, n, *_), size in zip(self._levels, sizes, strict=True):
            arrays += [memory.shrink(next(given), length) for length in level.array_sizes(parent, size, n)]
            parent = size
        return Storage(self.shape, self.type, tuple(arrays), memory.shrink(result.vals, sizes[-1]))
