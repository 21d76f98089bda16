"""Kernels: compiled assignments, which allocate their results and call the C functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..abi import CHUNKS_PER_THREAD
from ..doors import Door
from ..dtypes import INT32_MAX, INT64_MAX
from ..errors import FormatError, IndexOverflowError, LoweringError, ShapeError
from ..formats import TensorType
from ..formats.append_chains import append_chains, is_unordered_list
from ..formats.size_bound import SizeBound
from ..index_notation.operator_table import OPERATORS
from ..records import cached
from ..runtime import for_work, get_num_threads, memory
from ..runtime.beside import EntryPoints, ready
from ..runtime.interrupts import fail
from ..runtime.loader import Functions
from ..runtime.structs import counts_pointer
from ..storage import Storage, fill_of, tensor_type
from ..storage.views import share
from . import thresholds
from .debug_output import show
from .encoding import Unsayable, encode
from .insertion import InsertionKernel
from .loops import Loops
from .result_buffers import ResultBuffers, sorting_bytes
from .structure import Structure, check_writable, require_structure

if TYPE_CHECKING:
    from ..analysis import runtime_fills
    from ..module import Module
    from . import summary
else:
    runtime_fills, summary = Door("weft.analysis.runtime_fills"), Door("weft.execution.summary")

_HASHED = -1
"""Marks shapes with workspaces over so many coordinates that hash tables are used instead."""


class Kernel:
    """Kernel of one assignment, compiled for the types of its operands."""

    def __init__(self, loops: Loops, fills: Mapping[str, Any] | None = None, type: TensorType | None = None):
        self.loops, self._given = loops, fills
        self.facts = facts = loops.facts
        self.type = facts.type
        self._fill_structs: tuple[Any, ...] = ()
        if fills is not None:
            self.type = type or with_fill(self.type, fills)
            values = [runtime_fills.evaluate(value, fills) for _, value in facts.fills]
            self._fill_storages = [Storage.dense(np.asarray(value)) for value in values]  # keep what structs point to
            self._fill_structs = tuple([s.struct for s in self._fill_storages])
        self.format = self.type.format
        self.operands = facts.operands
        self._insertion = None if facts.insertion is None else InsertionKernel(loops, fills, self.type)
        self.chains = append_chains(self.format) if facts.appends else ()
        # The place of the operand whose index arrays the result shares.
        self._lead = None if facts.lead is None else self.operands.index(facts.lead)
        # By the operands' shapes: the shape of the result; the bytes of large workspaces, or _HASHED.
        self._shapes: dict[tuple[tuple[int, ...], ...], tuple[int, ...]] = {}
        self._dtype = np.dtype(self.type.dtype)
        self._roles = tuple(zip(self.format.roles, self.type.index_dtypes, strict=True))
        self._rooms: dict[tuple[int, ...], ResultBuffers] = {}
        self._large_workspaces: dict[tuple[tuple[int, ...], ...], int] = {}
        self._plain = not self.chains and self._insertion is None
        self._threads_ready = False  # until it is known that threads need not wait for their functions
        # A coordinate list is sorted after the kernel, which takes memory, too.
        sorted_later = facts.final_format is not None and is_unordered_list(self.format)
        self._afterwards = sorting_bytes(self.type) if sorted_later else 0
        if fills is None and self._insertion is None:
            show(self)

    def encoded(self) -> Any:
        """Return the JSON form of the kernel, for the index of plans."""
        if self._given is not None:
            raise Unsayable("fill values that are read")
        return encode(self.loops)

    @classmethod
    def decoded(cls, loops: Loops) -> Kernel:
        """Return the kernel of loops."""
        return cls(loops)

    # -- compiling ----------------------------------------------------------------------------------------------
    @property
    def module(self) -> Module:
        """The functions as the compiler makes them."""
        return self.loops.module

    @cached
    def source(self) -> str:
        """Return the C source of the functions that ``run`` calls, as one complete text."""
        return self.module.source

    def with_fills(self, fills: Mapping[str, Any], type: TensorType | None = None) -> Kernel:
        """Return the kernel for the fill values that it reads when it runs, with a result of this type."""
        return Kernel(self.loops, fills, type)

    @cached
    def _functions(self) -> Functions:
        return self.loops.functions("kernel")

    @cached
    def _bounding(self) -> Functions:
        return self._functions.have("bound", "evaluate")

    @cached
    def _counting(self) -> Functions:
        return self._functions.have("count", "evaluate")

    @cached
    def _evaluate(self) -> Any:
        return self._functions["evaluate"]

    @cached
    def _parallel_append(self) -> Functions | None:
        """Return the functions by which threads append in parts; None if threads cannot append in parts."""
        return self.loops.functions("parts") if self.loops.run.in_parts else None

    @cached
    def _hash_workspace(self) -> Kernel:
        """Return the kernel with hash tables, for dimensions that are too large for other workspaces."""
        return Kernel(self.loops.with_hash_workspaces, self._given)

    @cached
    def _wide_index(self) -> Kernel:
        """Return the kernel with int64 index arrays, for positions or coordinates that int32 arrays do not hold."""
        return Kernel(self.loops.with_wide_index, self._given)

    @property
    def text(self) -> str:
        """The assignment as text."""
        return self.facts.text

    @cached
    def chunked(self) -> bool:
        """Return whether threads can share the outermost loop."""
        return self.loops.run.chunked

    @cached
    def _unsequenced(self) -> frozenset[int]:
        return self.loops.run.unsequenced

    @cached
    def _bounds(self) -> tuple[SizeBound, ...] | None:
        return self.loops.run.bounds

    # -- running ------------------------------------------------------------------------------------------------
    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]:
        """Return the shape of the result."""
        key = tuple([s.shape for s in storages])
        shape = self._shapes.get(key)
        if shape is None:
            extents = self._infer(dict(zip(self.operands, key, strict=True)), storages)
            shape = tuple([extents[v] for v in self.facts.target.indices])
            most = thresholds.THRESHOLDS.workspace_coordinates
            if any(prod(extents[v] for v in w.indices) > most for w in self.facts.workspaces if w.listed):
                self._large_workspaces[key] = _HASHED
            # Large workspaces are checked against the free memory at each run.
            elif (scratch := self._scratch(extents)) >= memory.CHECKED:
                self._large_workspaces[key] = scratch
            if len(self._shapes) < 1024:  # bounds the memory that many shapes take
                self._shapes[key] = shape
        return shape

    def _scratch(self, extents: Mapping[str, int]) -> int:
        """Return the bytes of the workspaces of all threads for dimensions of these sizes."""
        size = sum(prod(extents.get(v, 1) for v in w.indices) * w.bytes for w in self.facts.workspaces)
        threads = get_num_threads()
        return size * threads if size * threads >= memory.CHECKED and self.chunked else size

    def _infer(self, shapes: Mapping[str, tuple[int, ...]], storages: Sequence[Storage]) -> dict[str, int]:
        """Return the size of each index variable; raise if sizes contradict each other or a reduction is undefined."""
        extents: dict[str, int] = {}
        # A variable has one size in all operands, and the first operand that has it decides.
        for access in self.facts.accesses:
            for v, n in zip(access.indices, shapes[access.tensor], strict=True):
                if extents.setdefault(v, n) != n:
                    of = zip(shapes.items(), storages, strict=True)
                    given = ", ".join(f"{name}: {shape} {s.format}" for (name, shape), s in of)
                    raise ShapeError(f"{v} is both {extents[v]} and {n} in {self.text}, with shapes {given}")
        # An empty reduction has a result only if its operator has an identity: a sum has, a minimum has not.
        for v, op in self.facts.reductions:
            if extents.get(v) == 0 and not OPERATORS[op].has_identity:
                raise ShapeError(f"{op} over {v}, of size 0, has no value, as it has no identity; in {self.text}")
        # Some reductions count their implicit entries: the number of coordinates must fit an int64.
        if prod(extents.values()) > INT64_MAX:
            for over in self.loops.run.counted:
                if prod(extents[v] for v in over) > INT64_MAX:
                    raise IndexOverflowError(
                        f"{self.text} reduces more coordinates of {', '.join(over)} than int64 counts"
                    )
        missing = [v for v in self.facts.target.indices if v not in extents]
        if missing:
            raise ShapeError(f"no operand has the index {missing[0]}, which would say its size, in {self.text}")
        return extents

    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        """Compute the result in new memory."""
        shape = self.shape(storages)
        # Dimensions decide which workspaces a run needs: hash tables, or arrays that may not fit in memory.
        if (
            self._large_workspaces
            and (size_or_hashed := self._large_workspaces.get(tuple([s.shape for s in storages]))) is not None
        ):
            if size_or_hashed == _HASHED:
                return self._hash_workspace.run(storages, out)
            size = size_or_hashed + (prod(shape) * self._dtype.itemsize if self._plain else 0)
            memory.require(size, f"the workspaces for a result of shape {shape} in format {self.format}")
        if self._insertion is not None:
            return self._insert(self._insertion, shape, storages)
        if self._plain:
            result = self._located(shape, storages, out)
            threads = self._threads(storages, shape)
            status = self._evaluate(result.struct, *self._structs(storages), _NO_COUNTS, threads)
            if status:
                self._fail(status, shape)
            return result
        return self._append(shape, storages)

    def _insert(self, insertion: InsertionKernel, shape: tuple[int, ...], storages: Sequence[Storage]) -> Storage:
        """Return a result into which values are inserted, with wide index arrays if coordinates or positions need."""
        if self.needs_wide_index(storages):
            return self._wide_index.run(storages)
        try:
            return insertion.assembled(storages, shape)
        except IndexOverflowError:
            if self.facts.variant.conversion or "int32" not in self.type.index_dtypes:
                raise
            return self._wide_index.run(storages)

    def _structs(self, storages: Sequence[Storage]) -> list[Any]:
        """Return the C structs of the operands, and of the fill values that the kernel reads."""
        return [*[s.struct for s in storages], *self._fill_structs]

    def _located(self, shape: tuple[int, ...], storages: Sequence[Storage], out: Storage | None) -> Storage:
        """Return a result whose values are still to be computed: a dense one, or one that shares index arrays."""
        if self._lead is None:
            return Storage(shape, self.type, (), self._dense_values(shape, out))
        lead, fill = storages[self._lead], self.type.fill
        size = len(lead.vals)
        # Loops leave out padding, which gets the fill value.
        if self.format.is_compact:
            vals = memory.empty(size, self._dtype)
        elif type(fill) is int and fill == 0:
            vals = memory.zeros(size, self._dtype)
        else:
            vals = memory.empty(size, self._dtype)
            vals.fill(fill)
        return Storage(shape, self.type, lead.arrays, vals)

    def _dense_values(self, shape: tuple[int, ...], out: Storage | None) -> np.ndarray:
        if out is not None:
            name = self.facts.target.tensor
            if out.shape != shape:
                raise ShapeError(f"{name} has shape {out.shape}, but what is added has shape {shape}, in {self.text}")
            if (out.type.format, out.type.dtype) != (self.format, self.type.dtype):  # values would be taken for others
                raise FormatError(f"{self.text} adds to a tensor of {self.type}, and {name} is {out.type}")
            copied: np.ndarray = out.vals.copy()
            return copied
        return memory.empty(prod(shape), self._dtype)

    def _threads(self, storages: Sequence[Storage], shape: tuple[int, ...]) -> int:
        threads = for_work(work(storages))
        return threads if threads > 1 and self.chunked else 1

    def _append(self, shape: tuple[int, ...], storages: Sequence[Storage]) -> Storage:
        structs = self._structs(storages)
        threads = self._threads(storages, shape)
        if threads > 1 and not self._takes_threads():
            threads = 1
        # First choice: threads append parts, and no coordinate has to be counted beforehand.
        room, n = self._room(shape), len(self.chains)
        if (functions := self._functions_of_parallel_append(threads, room)) is not None:
            parallel_totals = self._append_in_parallel(functions, room, storages, structs, threads)
            if parallel_totals is not None:
                return parallel_totals
        # Second choice: the sizes of the operands bound those of the result, without a pass over the operands. Memory
        # that is not written costs nothing, but for bounds far above the entries, or above the free memory.
        bounds, totals = self._bounds, None
        if bounds is not None and threads == 1:
            sizes = {name: s.level_sizes for name, s in zip(self.operands, storages, strict=True)}
            totals = [int(min(b(sizes), limit)) for b, limit in zip(bounds, room.limits, strict=True)]
            counts, most = np.array([0] * n + totals, np.int64), max(totals)
            # A chain above the last may have far more coordinates than there are entries.
            many = most > min(INT32_MAX, totals[-1] + thresholds.THRESHOLDS.workspace_coordinates)
            if many or (most > room.few and not memory.fits(room.bytes(totals))):
                totals = None
        # Last choice: a pass over the operands counts the coordinates, or bounds their number.
        if totals is None:
            counts, totals = self._count(room, structs, threads)
            most = max(totals)
        if self._overflows(room, most):
            if self.facts.variant.conversion:  # the caller of a conversion chooses its index dtype
                raise self._overflow(totals)
            return self._wide_index.run(storages)
        if most > room.few:
            room.require(totals, self._afterwards)
        result = room.allocate(totals)
        status = self._evaluate(result.struct, *structs, counts_pointer(counts), threads)
        if status:
            self._fail(status, shape)
        # The kernel leaves the ends of the chains in the counts. The room behind these ends is cut off.
        parallel_totals = counts.reshape(-1)[-n:].tolist()
        if n == 1 and parallel_totals == totals:
            return result
        if any(f > t for f, t in zip(parallel_totals, totals, strict=True)):
            raise LoweringError(f"{self.text}: {parallel_totals} coordinates in room for {totals}")
        return room.trim(result, parallel_totals)

    def entry_points(self, threads: int) -> EntryPoints:
        """Return the functions that a run by one thread, or by several, calls."""
        if self._insertion is not None:
            return self._insertion.entry_points(threads)
        if not self.chains:
            return self._functions, ("evaluate",)
        if threads > 1:
            parts = self._parallel_append
            return (self._functions, ("count", "evaluate")) if parts is None else (parts, ("bound", "evaluate"))
        bounded = self.loops.run.bounded
        first = () if self._bounds is not None else ("bound",) if bounded else ("count",)
        return self._functions, (*first, "evaluate")

    def _takes_threads(self) -> bool:
        """Return whether several threads run the kernel now, rather than one until their functions are compiled."""
        if not self._threads_ready:
            self._threads_ready = ready(self.entry_points(2), self.entry_points(1))
        return self._threads_ready

    def _functions_of_parallel_append(self, threads: int, room: ResultBuffers) -> Functions | None:
        """Return the functions by which several threads append in parts; None if they do not."""
        return self._parallel_append if threads > 1 and not self._overflows(room) else None

    # The three questions that ``alternatives.KERNEL_ALTERNATIVES`` asks.
    def needs_hash_workspace(self, storages: Sequence[Storage]) -> bool:
        """Return whether a workspace is a hash table for operands of these shapes."""
        self.shape(storages)
        return self._large_workspaces.get(tuple([s.shape for s in storages])) == _HASHED

    def appends_in_parallel(self, storages: Sequence[Storage]) -> bool:
        """Return whether threads append parts of the result, if the parts fit in memory."""
        shape = self.shape(storages)
        threads = self._threads(storages, shape)
        return bool(self.chains) and self._functions_of_parallel_append(threads, self._room(shape)) is not None

    def needs_wide_index(self, storages: Sequence[Storage]) -> bool:
        """Return whether coordinates of the result do not fit its index arrays."""
        shape = self.shape(storages)
        if self._insertion is not None:
            most = max((*shape, *self.format.level_shape(shape)), default=0)
            return most > INT32_MAX and "int32" in self.type.index_dtypes
        return bool(self.chains) and self._overflows(self._room(shape))

    def _append_in_parallel(
        self,
        functions: Functions,
        room: ResultBuffers,
        storages: Sequence[Storage],
        structs: Sequence[Any],
        threads: int,
    ) -> Storage | None:
        """Return a result to which threads append in parts; None if it may be too large for memory or int32 arrays."""
        functions.have("bound", "evaluate")
        # Small chunks stay in the cache of the thread that appends them.
        entries, part = sum([s.vals.size for s in storages]), thresholds.THRESHOLDS.entries_per_part
        chunks = max(threads * CHUNKS_PER_THREAD, entries // part)
        counts = np.zeros(chunks + 1, np.int64)
        counts[0] = chunks
        if status := functions["bound"](room.empty_result.struct, *structs, counts_pointer(counts), threads):
            self._fail(status, room.shape)
        # There is room for the whole result, and for the largest part in memory of each thread's own.
        most, total = int(counts[1:].max()), int(counts[1:].sum())
        crds = [np.dtype(t) for (k, role), t in self._roles if role == "crd" and k >= self.chains[0].first]
        arrays = (*crds, self._dtype)
        size = (total + threads * most) * sum(d.itemsize for d in arrays)
        if size > thresholds.THRESHOLDS.bytes_by_bound or total > INT32_MAX or not memory.fits(size):
            return None
        result = room.allocate([int(min(total, room.limits[0]))])
        spares = [memory.empty(threads * most, dtype) for dtype in arrays]
        counts = np.array([chunks, most, 0, 0], np.int64)
        with_spares = Storage(result.shape, result.type, (*result.arrays, *spares), result.vals)
        if status := functions["evaluate"](with_spares.struct, *structs, counts_pointer(counts), threads):
            self._fail(status, room.shape)
        return room.trim(result, [int(counts[3])])

    def _room(self, shape: tuple[int, ...]) -> ResultBuffers:
        room = self._rooms.get(shape)
        if room is None:
            room = ResultBuffers(self.type, shape, self.chains, self._unsequenced)
            if len(self._rooms) < 1024:
                self._rooms[shape] = room
        return room

    def count(self, storages: Sequence[Storage]) -> int:
        """Return the number of coordinates in the last level of an appended result."""
        room = self._room(self.shape(storages))
        return int(self._counted(room, self._structs(storages), 1, self._functions)[-1, -1])

    def _count(self, room: ResultBuffers, structs: Sequence[Any], threads: int) -> tuple[np.ndarray, list[int]]:
        """Return where each chunk starts, and the room for each chain: its exact size, or a bound if that is enough."""
        n = len(self.chains)
        bounded = self.loops.run.bounded
        if threads == 1 and bounded:
            counts = np.zeros(2 * n, np.int64)
            if status := self._bounding["bound"](room.empty_result.struct, *structs, counts_pointer(counts), 1):
                self._fail(status, room.shape)
            totals = [int(min(t, limit)) for t, limit in zip(counts[n:].tolist(), room.limits, strict=True)]
            # A bound is taken if there is memory for it, since it is cheaper to find than the exact number.
            size = totals[-1] * (self._dtype.itemsize + 4)
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
        if status := functions["count"](room.empty_result.struct, *structs, counts_pointer(counts), threads):
            self._fail(status, room.shape)
        if chunks > 1:
            np.cumsum(counts, axis=0, out=counts)
        return counts

    def _overflows(self, room: ResultBuffers, most: int = 0) -> bool:
        """Return whether coordinates, or positions of ``most`` entries, do not fit the result's index arrays."""
        return (most > INT32_MAX or room.widest > INT32_MAX) and "int32" in self.type.index_dtypes

    def _overflow(self, totals: Sequence[int]) -> IndexOverflowError:
        return IndexOverflowError(f"{self.text}: {max(totals)} entries, or their coordinates, do not fit int32 arrays")

    def _fail(self, status: int, shape: tuple[int, ...]) -> NoReturn:
        fail(status, f"the workspaces of {self.text}, with a result of shape {shape}")

    # -- the two phases -----------------------------------------------------------------------------------------
    def assemble(self, storages: Sequence[Storage]) -> Storage:
        """Assemble the structure of the result, with zeros for its values (2017, section 6.3)."""
        shape = self.shape(storages)
        inserted = self._insertion
        if self._lead is not None or inserted is not None:
            storage = self._located(shape, storages, None) if inserted is None else inserted.assembled(storages, shape)
            storage.vals[...] = 0
            storage.assembled_for = Structure(self.text, self.operands, storages)
            return storage
        if self._plain:
            return Storage(shape, self.type, (), memory.zeros(prod(shape), self._dtype))
        structs = self._structs(storages)
        room = self._room(shape)
        functions = self._functions.have("count", "assemble")
        totals: list[int] = self._counted(room, structs, 1, functions)[-1].tolist()
        if self._overflows(room, max(totals)):
            raise self._overflow(totals)
        room.require(totals)
        result = room.allocate(totals, zeros=True)
        counts = np.zeros(2 * len(totals), np.int64)
        if status := self._functions["assemble"](result.struct, *structs, counts_pointer(counts), 1):
            self._fail(status, shape)
        storage = room.trim(result, totals)
        # To compute values on another structure would write beyond arrays: see require_structure.
        storage.assembled_for = Structure(self.text, self.operands, storages)
        return storage

    def compute(self, result: Storage, storages: Sequence[Storage]) -> Storage:
        """Compute new values on a structure that ``assemble`` made for operands of this structure."""
        if not self._plain or self._lead is not None:
            require_structure(self.text, result, storages)
        shape = self.shape(storages)
        check_writable(self.text, result, self.type, shape)
        if self._insertion is not None:
            # Positions are found again as they were: the structures of the operands are the same.
            result.vals[...] = self._insertion.assembled(storages, shape).vals
            return result
        counts = np.zeros(2 * len(self.chains) + 1, np.int64)
        structs = self._structs(storages)
        if status := self._functions["compute"](result.struct, *structs, counts_pointer(counts), 1):
            self._fail(status, shape)
        return result

    @property
    def stages(self) -> dict[str, str]:
        """Texts of all stages of the compiler, by name."""
        return self.module.stages

    @property
    def passes(self) -> dict[str, str]:
        """The text of what each pass of the compiler returned, by name."""
        return self.module.passes

    @property
    def origins(self) -> tuple[str | None, ...]:
        """The origin of the function that computes the result, in words; None if it is not compiled yet."""
        return (self._functions.origin("evaluate"),) if self._insertion is None else self._insertion.origins

    def summary(self, told: Collection[str] = ()) -> str:
        """Return a few lines on the kernel for users; loops over the variables in ``told`` are left out."""
        return summary.summary(self.module, told)


def work(storages: Sequence[Storage]) -> int:
    """Return the number of stored entries of the operands, as an estimate of the work on them."""
    entries = 0
    for s in storages:
        entries += s.vals.size if not s.type.format.is_partial else int(s.vals.size * share(s))
    return entries


def with_fill(type: TensorType, fills: Mapping[str, Any]) -> TensorType:
    """Return the type of a result whose fill value follows from those of the operands."""
    fill = fill_of(np.dtype(type.dtype), runtime_fills.evaluate(type.fill, fills))
    return tensor_type(type.dtype, type.format, type.index_dtypes, fill)


_NO_COUNTS = counts_pointer(np.zeros(1, np.int64))
