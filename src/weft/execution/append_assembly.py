"""Assembly of results to which loops append coordinates: their sizes are bounded or counted first, and trimmed last."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import Any

import numpy as np

from ..abi import CHUNKS_PER_THREAD, IN_OWN_MEMORY, READY, part_width
from ..dtypes import INT32_MAX
from ..errors import IndexOverflowError, LoweringError
from ..formats import TensorType
from ..formats.append_chains import AppendedArray, appended_arrays, is_unordered_list
from ..formats.size_bound import SizeBound
from ..records import cached
from ..runtime import memory
from ..runtime.beside import EntryPoints
from ..runtime.interrupts import checking
from ..runtime.loader import Functions
from ..runtime.structs import counts_pointer
from ..storage import Storage
from . import thresholds
from .assembly import EvaluatedAssembly
from .loops import Loops
from .result_buffers import ResultBuffers, sorting_bytes

BUFFERS = 4
"""Largest number of buffers to which each thread appends parts of a result."""


class AppendAssembly(EvaluatedAssembly):
    """Assembly of a result to whose append chains the loops append coordinates."""

    def __init__(self, loops: Loops, type: TensorType, fills: Sequence[Storage]):
        super().__init__(loops, type, fills)
        self.chains = self.facts.chains
        self.counts = 2 * len(self.chains) + 1
        self._rooms: dict[tuple[int, ...], ResultBuffers] = {}
        # A coordinate list is sorted after the kernel, which takes memory, too.
        sorted_later = self.facts.converts_to is not None and is_unordered_list(type.format)
        self._afterwards = sorting_bytes(type) if sorted_later else 0

    def make(
        self, storages: Sequence[Storage], shape: tuple[int, ...], threads: int, out: Storage | None = None
    ) -> Storage:
        if self.facts.keeps_values and self._stores_entries_only(storages[0]):
            result = self._appended(storages, shape, threads, self.evaluate)
            if result.vals.size == storages[0].vals.size:
                return Storage(shape, self.type, self._kept(result.arrays, storages[0]), storages[0].vals)
        main = self.functions["evaluate"] if self.facts.keeps_values else self.evaluate
        return self._appended(storages, shape, threads, main)

    def _appended(self, storages: Sequence[Storage], shape: tuple[int, ...], threads: int, main: Any) -> Storage:
        """Return a result that one function assembles."""
        structs, room, n = self.structs(storages), self._room(shape), len(self.chains)
        if threads > 1 and not self.takes_threads():
            threads = 1
        # First choice: threads append parts, and no coordinate has to be counted beforehand.
        if threads > 1 and not self.facts.keeps_values and self.appends_in_parts(shape):
            in_parts = self._append_in_parts(room, storages, structs, threads)
            if in_parts is not None:
                return in_parts
        # Second choice: the sizes of the operands bound those of the result, without a pass over the operands.
        bounds = self._bounds if threads == 1 else None
        totals = None if bounds is None else self._totals_at_most(bounds, storages, room)
        if totals is not None:
            counts = np.array([0] * n + totals, np.int64)
        else:  # last choice: a pass over the operands counts the coordinates, or bounds their number
            counts, totals = self._count(room, structs, threads)
        most = max(totals)
        if room.overflows(most) and (most > INT32_MAX or not self.coordinates_fit(storages, shape)):
            raise self._overflow(totals)
        if most > room.few:
            room.require(totals, self._afterwards)
        result = room.allocate(totals)
        status = main(result.struct, *structs, counts_pointer(counts), threads)
        if status:
            self.fail(status, shape)
        # The kernel leaves the ends of the chains in the counts. The room behind these ends is cut off.
        ends = counts.reshape(-1)[-n:].tolist()
        if any(f > t for f, t in zip(ends, totals, strict=True)):
            raise LoweringError(f"{self.facts.text}: {ends} coordinates in room for {totals}")
        if n > 1 or ends != totals:
            result = room.trim(result, ends)
        return result

    def _stores_entries_only(self, source: Storage) -> bool:
        """Return whether the arrays that a result takes over end where the entries of their source do."""
        sizes, crd = source.level_sizes, dict(zip(source.format.roles, source.arrays, strict=True))
        lengths = all(len(crd[m, "crd"]) == sizes[m] for _, m in self.facts.kept_levels)
        return lengths and source.vals.size == sizes[-1]

    def _kept(self, arrays: Sequence[np.ndarray], source: Storage) -> tuple[np.ndarray, ...]:
        """Return the arrays of a result with the coordinates that it takes over from a source."""
        theirs = dict(zip(source.format.roles, source.arrays, strict=True))
        mine = dict(zip(self.type.format.roles, arrays, strict=True))
        return tuple((mine | {(k, "crd"): theirs[m, "crd"] for k, m in self.facts.kept_levels}).values())

    def _counts_of(self, result: Storage) -> np.ndarray:
        counts = super()._counts_of(result)
        counts[2 * len(self.chains) - 1] = result.level_sizes[self.chains[-1].last]  # where the last chain ends
        return counts

    def entry_points(self, threads: int) -> EntryPoints:
        if threads > 1:
            parts = self._parts
            return (self.functions, ("count", "evaluate")) if parts is None else (parts, ("bound", "evaluate"))
        first = () if self._bounds is not None else ("bound",) if self.loops.run.bounded else ("count",)
        return self.functions, (*first, self.main)

    def appends_in_parts(self, shape: tuple[int, ...]) -> bool:
        return self._parts is not None and not self._room(shape).overflows()

    @cached
    def _parts(self) -> Functions | None:
        """Return the functions by which threads append in parts; None if threads cannot append in parts."""
        return self.loops.functions("parts") if self.loops.run.in_parts else None

    @cached
    def _bounds(self) -> tuple[SizeBound, ...] | None:
        return self.loops.run.bounds

    def _room(self, shape: tuple[int, ...]) -> ResultBuffers:
        room = self._rooms.get(shape)
        if room is None:
            room = ResultBuffers(self.type, shape, self.chains, self.loops.run.unsequenced)
            if len(self._rooms) < 1024:
                self._rooms[shape] = room
        return room

    def _totals_at_most(
        self, bounds: Sequence[SizeBound], storages: Sequence[Storage], room: ResultBuffers
    ) -> list[int] | None:
        """Return a bound of the coordinates in each chain; None if it is far above the entries, or the free memory."""
        # Memory that is not written costs nothing else.
        sizes = {name: s.level_sizes for name, s in zip(self.facts.operands, storages, strict=True)}
        totals = [int(min(b(sizes), limit)) for b, limit in zip(bounds, room.limits, strict=True)]
        most = max(totals)
        # A chain above the last may have far more coordinates than there are entries.
        if most > min(INT32_MAX, totals[-1] + thresholds.THRESHOLDS.workspace_coordinates):
            return None
        return totals if most <= room.few or memory.fits(room.bytes(totals)) else None

    def _append_in_parts(
        self, room: ResultBuffers, storages: Sequence[Storage], structs: Sequence[Any], threads: int
    ) -> Storage | None:
        """Return a result to which threads append in parts; None if it may be too large for memory or int32 arrays."""
        assert self._parts is not None
        functions = self._parts.have("bound", "evaluate")
        # Small chunks stay in the cache of the thread that appends them.
        entries, part = sum([s.vals.size for s in storages]), thresholds.THRESHOLDS.entries_per_part
        chunks = max(threads * CHUNKS_PER_THREAD, entries // part)
        n = len(self.chains)
        counts = np.zeros((chunks + 1, n), np.int64)
        counts[0] = chunks
        if status := functions["bound"](room.empty_result.struct, *structs, counts_pointer(counts), threads):
            self.fail(status, room.shape)
        # There is room for the whole result, and for all parts beside it, so that no thread must wait to place one.
        rooms, totals = counts[1:] + self._beside, counts[1:].sum(axis=0).tolist()
        totals = [int(min(total, limit)) for total, limit in zip(totals, room.limits, strict=True)]
        most, ends = rooms.max(axis=0), rooms.cumsum(axis=0)
        buffers = min(BUFFERS, int((ends[-1] // np.maximum(threads * most, 1)).min()))
        ends += threads * buffers * most
        lengths = [int(ends[-1, a.chain]) for a in self._parts_of]
        size, spare = room.bytes(totals), sum(map(mul, lengths, (d.itemsize for d in self._dtypes)))
        if size > thresholds.THRESHOLDS.bytes_by_bound or max(totals) > INT32_MAX or not memory.fits(size + spare):
            return None
        result = room.allocate(totals)
        spares = [memory.empty(length, dtype) for length, dtype in zip(lengths, self._dtypes, strict=True)]
        rows = np.zeros((chunks, part_width(n)), np.int64)
        rows[0, 0], rows[:, -1], rows[:, -1 - n : -1] = READY, IN_OWN_MEMORY, ends - rooms
        rows[:, 3 + n] = counts[1:, -1]
        flags = np.zeros(threads * buffers, np.int64)
        counts = np.concatenate([[chunks, buffers], most, np.zeros(n, np.int64), rows.ravel(), flags])
        with_spares = Storage(result.shape, result.type, (*result.arrays, *spares), result.vals)
        if status := functions["evaluate"](with_spares.struct, *structs, counts_pointer(counts), threads):
            self.fail(status, room.shape)
        return room.trim(result, counts[2 + n : 2 + 2 * n].tolist())

    @cached
    def _beside(self) -> np.ndarray:
        """Elements of each chain's arrays that a chunk may write beyond those of its coordinates.

        A coordinate may be written before it is known whether anything is stored below. The first edge has no parent.
        """
        return np.array([2] * (len(self.chains) - 1) + [0])

    @cached
    def _parts_of(self) -> tuple[AppendedArray, ...]:
        return appended_arrays(self.type.format)

    @cached
    def _dtypes(self) -> list[np.dtype[Any]]:
        """Dtypes of the arrays to which chunks append."""
        dtypes = dict(zip(self.type.format.roles, self.type.index_dtypes, strict=True))
        return [np.dtype(self.type.dtype if a.level is None else dtypes[a.level, a.role]) for a in self._parts_of]

    def count(self, storages: Sequence[Storage], shape: tuple[int, ...]) -> int:
        """Return the number of coordinates in the last level of a result."""
        return int(self._counted(self._room(shape), self.structs(storages), 1, self.functions)[-1, -1])

    @cached
    def _bounding(self) -> Functions:
        return self.functions.have("bound", self.main)

    @cached
    def _counting(self) -> Functions:
        return self.functions.have("count", self.main)

    def _count(self, room: ResultBuffers, structs: Sequence[Any], threads: int) -> tuple[np.ndarray, list[int]]:
        """Return where each chunk starts, and the room for each chain: its exact size, or a bound if that is enough."""
        n = len(self.chains)
        if threads == 1 and self.loops.run.bounded:
            counts = np.zeros(2 * n, np.int64)
            if status := self._bounding["bound"](room.empty_result.struct, *structs, counts_pointer(counts), 1):
                self.fail(status, room.shape)
            totals = [int(min(t, limit)) for t, limit in zip(counts[n:].tolist(), room.limits, strict=True)]
            # A bound is taken if there is memory for it, since it is cheaper to find than the exact number.
            size = totals[-1] * (np.dtype(self.type.dtype).itemsize + 4)
            small = size <= thresholds.THRESHOLDS.bytes_by_bound and max(totals) <= INT32_MAX
            if small and (size < memory.CHECKED or memory.fits(size)):
                counts[:] = [0] * n + totals
                return counts, totals
        table = self._counted(room, structs, threads, self._counting)
        totals = table[-1].tolist()
        return table, totals

    def _counted(self, room: ResultBuffers, structs: Sequence[Any], threads: int, functions: Functions) -> np.ndarray:
        """Return where each chunk starts in each chain; the last row holds the numbers of coordinates."""
        # Row c + 1 gets the counts of chunk c, so that the cumulated rows are the starts of the chunks.
        chunks = threads * CHUNKS_PER_THREAD if threads > 1 else 1
        counts = np.zeros((chunks + 1, len(self.chains)), np.int64)

        def check() -> None:  # the chunks that are counted may be too large already
            totals = counts.sum(axis=0).tolist()
            if max(totals) > INT32_MAX and room.overflows(max(totals)):
                raise self._overflow(totals)
            room.require(totals, self._afterwards, "or more")

        with checking(check):
            status = functions["count"](room.empty_result.struct, *structs, counts_pointer(counts), threads)
        if status:
            self.fail(status, room.shape)
        if chunks > 1:
            np.cumsum(counts, axis=0, out=counts)
        return counts

    def _overflow(self, totals: Sequence[int]) -> IndexOverflowError:
        text = self.facts.text
        return IndexOverflowError(f"{text}: {max(totals)} entries, or their coordinates, do not fit int32 arrays")

    def structure(self, storages: Sequence[Storage], shape: tuple[int, ...], threads: int) -> Storage:
        structs, room = self.structs(storages), self._room(shape)
        functions = self.functions.have("count", "assemble")
        totals: list[int] = self._counted(room, structs, 1, functions)[-1].tolist()
        if room.overflows(max(totals)):
            raise self._overflow(totals)
        room.require(totals)
        result = room.allocate(totals, zeros=True)
        counts = np.zeros(2 * len(totals), np.int64)
        if status := functions["assemble"](result.struct, *structs, counts_pointer(counts), 1):
            self.fail(status, shape)
        return room.trim(result, totals)
