"""Room for appended results: how large the arrays are for the coordinates that their chains may hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import inf
from typing import Any

import numpy as np

from ..analysis.append_chains import AppendChain
from ..dtypes import index_dtype
from ..formats import Format, TensorType
from ..records import cached
from ..runtime import memory
from ..storage import Storage

__all__ = ["ResultBuffers", "entry_bytes", "sorting_bytes"]


def entry_bytes(format: Format, dtype: np.dtype[Any], shape: Sequence[int]) -> int:
    """The bytes that each entry of a tensor takes at the least: its value, and what its last levels store of it.

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
    """The bytes that sorting a list of coordinates takes for each entry: a copy in order, a permutation, and keys."""
    arrays = zip(type.format.roles, type.index_dtypes, strict=True)
    lists = sum([np.dtype(dtype).itemsize for (_, role), dtype in arrays if role == "crd"])
    return np.dtype(type.dtype).itemsize + lists + 3 * 8


def _bytes_of(length: int, dtype: np.dtype[Any]) -> int:
    return length * dtype.itemsize


class ResultBuffers:
    """What is known of the appended results of one type and shape before their coordinates are counted.

    Parameters
    ----------
    type : TensorType
        Of the results.
    shape : tuple of int
        Theirs.
    chains : sequence of AppendChain
        Their appended levels.
    zeroed : collection of int
        Levels whose arrays kernels expect to hold zeros.

    Attributes
    ----------
    widest : int
        The longest axis, or level.
    few : int
        So many coordinates take so little memory in any case that nobody need ask for it.
    """

    def __init__(
        self, type: TensorType, shape: tuple[int, ...], chains: Sequence[AppendChain], zeroed: Collection[int]
    ):
        self.type, self.shape, self.chains = type, shape, tuple(chains)
        counters = {k: c.index for c in chains for k in range(c.first, c.last + 1)}
        dtypes: list[list[np.dtype]] = [[] for _ in type.format.levels]
        for (k, _), dtype in zip(type.format.roles, type.index_dtypes, strict=True):
            dtypes[k].append(np.dtype(dtype))
        empty = 0 in shape  # levels may have coordinates even then, which no loop passes by
        self._levels = [
            (level, n, counters.get(k), dtypes[k], memory.zeros if k in zeroed or empty else memory.empty)
            for k, (level, n) in enumerate(zip(type.format.levels, type.format.level_shape(shape), strict=True))
        ]
        self.widest = max((*shape, *type.format.level_shape(shape)), default=0)
        self._dtype = np.dtype(type.dtype)
        self._last = len(self.chains) - 1
        self.few = memory.CHECKED // max(self.bytes([1] * len(self.chains)), 1)

    @cached
    def limits(self) -> list[float]:
        """The most coordinates each chain can hold: those of the dimensions, where none repeats."""
        if not self.type.format.is_unique:
            return [inf] * len(self.chains)
        limits: list[float] = []
        size = 1
        ends = {chain.last for chain in self.chains}
        for k, (level, n, chain, *_) in enumerate(self._levels):
            size = level.size(size, n, {}) if chain is None else size * n
            if k in ends:
                limits.append(size)
        return limits

    @cached
    def empty_result(self) -> Storage:
        """A result of no coordinates, for passes that write nothing."""
        return Storage(self.shape, self.type, self._arrays([0] * len(self.chains)), np.empty(0, self._dtype))

    def sizes(self, totals: Sequence[int]) -> list[int]:
        """How many positions each level has."""
        sizes: list[int] = []
        size = 1
        for level, n, chain, _, _ in self._levels:
            size = level.size(size, n, {}) if chain is None else totals[chain]
            sizes.append(size)
        return sizes or [1]

    def _arrays(self, totals: Sequence[int], instead: Callable[..., Any] | None = None) -> tuple[Any, ...]:
        """Arrays with one more parent where the last one may turn out empty; or what else is made of their lengths."""
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
        """Return what all arrays of a result with room for so many coordinates in each chain take together."""
        indices: int = sum(self._arrays(totals, _bytes_of))
        return indices + _bytes_of(self.sizes(totals)[-1], self._dtype)

    def require(self, totals: Sequence[int], each: int = 0) -> None:
        """Refuse what does not fit in memory: a result, and ``each`` bytes for each entry of what it is made into."""
        size = self.bytes(totals) + each * totals[-1]
        memory.require(size, f"a result of shape {self.shape} in format {self.type.format} with {totals[-1]} entries")

    def allocate(self, totals: Sequence[int], zeros: bool = False) -> Storage:
        """A result to be written, with room for so many coordinates in each chain."""
        make = memory.zeros if zeros else memory.empty
        return Storage(self.shape, self.type, self._arrays(totals), make(self.sizes(totals)[-1], self._dtype))

    def trim(self, result: Storage, totals: Sequence[int]) -> Storage:
        """The result without the room that so many coordinates do not need."""
        sizes = self.sizes(totals)
        arrays: list[np.ndarray] = []
        given, parent = iter(result.arrays), 1
        for (level, n, *_), size in zip(self._levels, sizes, strict=True):
            arrays += [memory.shrink(next(given), length) for length in level.array_sizes(parent, size, n)]
            parent = size
        return Storage(self.shape, self.type, tuple(arrays), memory.shrink(result.vals, sizes[-1]))
