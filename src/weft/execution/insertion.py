"""Kernels that assemble by insertion: queries give the sizes of arrays, then entries are inserted (2020, section 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from math import prod
from typing import Any

import numpy as np

from ..analysis.contributions import EntryOrder, entry_order_of
from ..analysis.implicit_values import same_value
from ..analysis.runtime_fills import evaluate, with_runtime_conversion
from ..assembly.insertion_lowering import InsertionLowerer
from ..assembly.insertion_plan import (
    can_insert,
    counters,
    distinct_counts,
    insertion_passes,
    position_preserving_level,
    private_roles,
    reused_arrays,
    scalar_counters,
    scratch_dtype,
    scratch_roles,
    sequential_level,
    shareable,
    unordered_shared,
)  # fmt: skip
from ..assembly.query_lowering import LevelQuery, queries_over_axes
from ..code_options import CodeOptions
from ..codegen import CText
from ..compiler import Lowered, generate, lower, schedule_entry_loops, tile_entry_loops, types_text
from ..concrete_notation import to_text as statement_text
from ..concrete_notation.nodes import foralls_of
from ..config import config
from ..formats import TensorType
from ..formats.capabilities import Insertion, SharedPositions
from ..index_notation import to_text
from ..ir import Function
from ..ir.printer import function_text
from ..records import cached, record, replace
from ..remapping.inverse import interval_of
from ..remapping.nodes import axes_of
from ..runtime import for_work, memory
from ..runtime.interrupts import fail
from ..runtime.loader import Functions
from ..runtime.structs import counts_pointer
from ..storage import Storage
from ..tracing import Trace
from .debug_output import show
from .plan_cache import kept

__all__ = ["InsertionKernel", "insertion_kernel"]


class _InsertionRun:
    """Arrays and counts that one conversion has made so far."""

    def __init__(self, storage: Storage, levels: int, threads: int):
        self.storage, self.threads = storage, threads
        # The arrays of each level by role, and the arrays that only the assembly needs by level and role.
        self.made: list[dict[str, np.ndarray[Any, Any]]] = [{} for _ in range(levels)]
        self.scratch: dict[tuple[int, str], np.ndarray[Any, Any]] = {}
        # The kernel's counts: a length for each level that needs one, the number of values, a count for each thread.
        self.lengths = np.zeros(levels + 1 + threads, np.int64)
        self.vals = np.empty(0, storage.dtype)

    def share(self, level: int, role: str) -> None:
        """Make arrays for the threads, one for each, beside an array that a query writes."""
        whole = self.made[level][role] if role in self.made[level] else self.scratch[level, role]
        self.lengths[level] = len(whole)
        self.scratch[level, "private"] = memory.empty(self.threads * len(whole) + 1, whole.dtype)

    def stay(self, level: int) -> int:
        """Return the number of positions in a level whose entries keep their positions in the source."""
        size: int = self.storage.vals.size
        self.lengths[level] = size
        return size


@record
class _LevelAssembly:
    """Assembly of one level, as far as it does not depend on the shape.

    Parameters
    ----------
    level : Insertion
        The level.
    dtypes : mapping
        Dtypes of the arrays of the level, by role.
    passes : tuple of str
        Names of its query pass, and of the pass that collects its coordinates.
    shared : bool
        True if its positions are shared by several entries, which come in any order.
    distinct_counts : tuple of LevelQuery
        Queries that are answered by marking coordinates.
    own : str or None
        Role of the array of which each thread has one for itself.
    source_level : int or None
        The level of the source whose coordinate array it takes over.
    """

    level: Insertion
    dtypes: Mapping[str, np.dtype[Any]]
    passes: tuple[str, ...]
    shared: bool
    distinct_counts: tuple[LevelQuery, ...]
    own: str | None
    source_level: int | None

    def blank(self, role: str, size: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """Return an array for a query to write: uninitialized if the query writes all of it first, else of zeros."""
        return memory.empty(size, dtype) if role in self.level.unread else memory.zeros(size, dtype)


class InsertionKernel:
    """Kernel that converts one type of tensor to another by insertion.

    Parameters
    ----------
    lowered : Lowered
        Loops over the source.
    target : TensorType
        Type of the result.
    entry_order : EntryOrder
        The order in which the entries of the source come.

    Attributes
    ----------
    shares : bool
        True if the result takes over the values of the source.
    kept : mapping
        For each level that takes over a coordinate array of the source, the level of the source.
    """

    def __init__(self, lowered: Lowered, target: TensorType, entry_order: EntryOrder):
        self.lowered, self.target, self.format, self.entry_order = lowered, target, target.format, entry_order
        source = self.source_type = lowered.schedule.types["A"]
        self._stays = position_preserving_level(target.format, entry_order)
        self.shares, self.kept = reused_arrays(source, target, entry_order, lowered.options)
        self.phases = insertion_passes(target.format, entry_order)
        self._scratch, self._dtype = np.dtype(scratch_dtype(target)), np.dtype(target.dtype)
        self.types = {**lowered.schedule.types, "B": target}
        self._like: InsertionKernel | None = None
        self._fills: tuple[Storage, ...] = ()
        dtypes = dict(zip(self.format.roles, map(np.dtype, target.index_dtypes), strict=True))
        # The arrays in storage order. Those that are not made yet are empty ones of the right dtype.
        self._order = [(*key, np.empty(0, dtype)) for key, dtype in dtypes.items()]
        self._roles = scratch_roles(self.format, entry_order)
        own = dict(private_roles(self.format, entry_order))
        self._private = [(k, "private") for k in own]
        together = unordered_shared(self.format, entry_order)
        self._levels = [
            _LevelAssembly(
                level.require(Insertion),
                {role: dtypes[k, role] for role in level.roles},
                tuple(phase.name for phase in self.phases if phase.level == k),
                k in together,
                distinct_counts(self.format, k, entry_order),
                own.get(k),
                self.kept.get(k),
            )
            for k, level in enumerate(self.format.levels)
        ]
        # Counters that are scalars in the loops need no array.
        self._counters = tuple({*counters(self.format)} - {*scalar_counters(self.format, entry_order)})
        show(self)

    @cached
    def text(self) -> str:
        """Return the source and the result as text."""
        source = self.source_type
        return f"the conversion of {source.format} {source.dtype} to {self.format} {self.target.dtype}"

    @cached
    def functions(self) -> tuple[Function, ...]:
        """Functions of the insertion passes in the IR, one for each."""
        return self._functions(threads=False)

    def _functions(self, threads: bool, trace: Trace | None = None) -> tuple[Function, ...]:
        return tuple(lower(lowerer, ("A", *self.lowered.fills), trace) for lowerer in self._lowerers(threads))

    def _lowerers(self, threads: bool) -> list[InsertionLowerer]:
        s, skip_fill = self.lowered.schedule, self.lowered.skip_fill
        types = self.types | self.lowered.fill_types
        return [
            InsertionLowerer(
                s.program,
                s.target,
                types,
                self.lowered.names,
                replace(phase, threads=threads),
                self.lowered.options,
                skip_fill,
                self.entry_order,
            )
            for phase in self.phases
        ]  # fmt: skip

    def with_fills(self, target: TensorType, fills: Mapping[str, Any]) -> InsertionKernel:
        """Return the kernel for the fill values that it reads when it runs, with a result of the type ``target``."""
        found = copy(self)
        found.target, found._like = target, self
        found._fills = tuple([Storage.dense(np.asarray(evaluate(v, fills))) for v in self.lowered.fills.values()])
        return found

    @cached
    def source(self) -> CText:
        """C source of all insertion passes."""
        return generate(self.functions, self.lowered.options)

    @cached
    def stages(self) -> dict[str, str]:
        """Text of every stage, by name."""
        loops = ", ".join(loop.var for loop in foralls_of(self.lowered.schedule.program.stmt))
        shared = "threads share the passes" if self.shareable else "one thread"
        return {
            "index notation": to_text(self.lowered.assignment),
            "formats": types_text({"A": self.source_type, "B": self.target}),
            "schedule": f"passes {', '.join(p.name for p in self.phases)}; loop order {loops}\n{shared}",
            "attribute queries": self.queries,
            "concrete notation": statement_text(self.lowered.schedule.program.stmt),
            "ir": "\n".join(map(function_text, self.functions)),
            "c": self.source,
        }

    @cached
    def queries(self) -> str:
        """Return the attribute queries of each level, then the statements by which its pass answers them."""
        return "\n".join(self._queries())

    def _queries(self) -> Iterator[str]:
        for lowerer in self._lowerers(threads=False):
            if (k := lowerer.phase.level) is not None and lowerer.asked:
                queries = "; ".join(map(str, queries_over_axes(self.format, k)))
                yield f"level {k + 1} ({self.format.levels[k]}): {queries}"
                yield from (f"  {lowerer.phase.name}: {a.statement}" for a in lowerer.asked)

    @property
    def passes(self) -> dict[str, str]:
        """The text of what each pass of the compiler returned, by name."""
        if self._like is not None:
            return self._like.passes
        trace = Trace(keep=True)
        lowered, options = self.lowered, self.lowered.options
        _schedule(self.source_type, self.target, lowered.skip_fill, self.entry_order.curved, options, trace)
        generate(self._functions(threads=False, trace=trace), options, trace=trace)
        return trace.texts()

    @cached
    def _compiled(self) -> Functions:
        return self._like._compiled if self._like is not None else self._loaded(self.functions)

    @cached
    def _compiled_for_threads(self) -> Functions:
        """Functions of the insertion passes that threads share."""
        like = self._like
        return like._compiled_for_threads if like is not None else self._loaded(self._functions(threads=True))

    def _loaded(self, functions: Sequence[Function]) -> Functions:
        """Return the compiled functions of all insertion passes, which a conversion calls one by one."""
        texts = {one.name: generate([one], self.lowered.options, shared=True) for one in functions}
        return Functions(texts.__getitem__, 2 + len(self.lowered.fills), self.text).have(*texts)

    @cached
    def shareable(self) -> bool:
        """Return whether threads can share the passes."""
        return not self.lowered.skip_fill and shareable(self.format, self.entry_order)

    @cached
    def copies(self) -> bool:
        """Return whether the entries keep their order, so that each is inserted next to the one before it."""
        return sequential_level(self.format, self.entry_order) is not None

    def run(self, storage: Storage) -> Storage:
        """Convert a tensor to the target's format.

        Parameters
        ----------
        storage : Storage
            A tensor of the type that the kernel was made for.

        Returns
        -------
        Storage
            The converted tensor.

        Raises
        ------
        ResultTooLargeError
            The result would take more memory than there is. No large array is allocated before that is known.
        """
        shape = storage.shape
        threads = for_work(storage.vals.size) if self.shareable else 1
        work = _InsertionRun(storage, len(self._levels), threads)
        room = memory.Budget(f"a tensor of shape {shape} in format {self.format}")
        # Each array is paid for from one budget, in the order in which queries tell the sizes.
        for k in self._counters:
            over = self.format.remapping.coordinates[k].over  # type: ignore[attr-defined]
            size = prod(shape[axis] for e in over for axis in axes_of(e))
            room.take(size * self._scratch.itemsize)
            work.scratch[k, "counter"] = memory.zeros(size, self._scratch)
        parents = 1
        for k, (of, n) in enumerate(zip(self._levels, self.format.level_shape(shape), strict=True)):
            level = of.level
            # The query writes the first arrays of the level, and arrays that only the assembly needs.
            first = level.first_arrays(parents, n)
            scratch = self._scratch_of(of, parents, n, shape)
            need = {role: size * of.dtypes[role].itemsize for role, size in first.items()}
            for role, size in scratch.items():
                need[role] = size * np.dtype(scratch_dtype(self.target, level, role)).itemsize
            room.take(sum(need.values()) + (threads * need[of.own] if of.own is not None and threads > 1 else 0))
            made = work.made[k] = {role: of.blank(role, size, of.dtypes[role]) for role, size in first.items()}
            for role, size in scratch.items():
                work.scratch[k, role] = of.blank(role, size, np.dtype(scratch_dtype(self.target, level, role)))
            if of.own is not None and threads > 1:
                work.share(k, of.own)
            # The query, if the level has one, gives the number of positions, and so the sizes of the other arrays.
            for name in of.passes[:1]:
                self._pass(name, work)
            if k == self._stays:
                size = work.stay(k)
            else:
                size = level.size_to_be(parents, n, made)
            # The values come after the last level, but they are paid for before its arrays are made.
            lengths = zip(level.roles, level.array_sizes(parents, size, n), strict=True)
            later = [length * of.dtypes[role].itemsize for role, length in lengths if role not in first]
            last = k + 1 == len(self._levels) and not self.shares
            room.take(sum(later) + size * self._dtype.itemsize * last)
            if of.source_level is not None:
                made["crd"] = storage.level_arrays(of.source_level)["crd"]
            self._finish_arrays(level, made, parents, size, n, of.dtypes)
            # A second pass collects the coordinates of shared positions, now that there is an array for them.
            for name in of.passes[1:]:
                self._pass(name, work)
            parents = size
        work.vals = storage.vals if self.shares else self._values(work, parents)
        self._pass("insert", work)
        return Storage(shape, self.target, self._in_order(work.made), work.vals)

    def _values(self, work: _InsertionRun, size: int) -> np.ndarray[Any, Any]:
        """Return an array for the values.

        The array holds the fill value if some positions get no entry, unless threads are to fill the array.
        """
        storage = work.storage
        source, dtype, fill = storage.format, self._dtype, self.target.fill
        # Every position gets an entry if there are as many positions as entries, and none is left out or met twice.
        whole = size == storage.vals.size and not self.lowered.skip_fill and source.is_compact and source.is_unique
        if not whole and work.threads == 1 and same_value(fill, 0):
            return memory.zeros(size, dtype)
        vals = memory.empty(size, dtype)
        if not whole and work.threads > 1:
            work.lengths[len(self._levels)] = size  # tells the threads how many values they are to fill
        elif not whole:
            vals[...] = fill
        return vals

    @staticmethod
    def _scratch_of(of: _LevelAssembly, parents: int, n: int, shape: tuple[int, ...]) -> Mapping[str, int]:
        """Return the lengths of the arrays that only the assembly of a level needs, by role."""
        if not of.shared and not of.distinct_counts:
            return of.level.scratch(parents, n)
        found = dict(of.level.scratch(parents, n))
        if of.shared:
            found.update(of.level.require(SharedPositions).shared_scratch(parents, n), stamp=n)
        for a in of.distinct_counts:
            assert a.statement.where is not None
            # One mark for each combination of the coordinates that the query counts.
            ends = [interval_of(e, shape) or (0, 1) for e in a.statement.where.target.indices]
            found[f"{a.label}_mark"] = prod(high - low for low, high in ends)
        return found

    def _finish_arrays(
        self,
        level: Insertion,
        arrays: dict[str, np.ndarray[Any, Any]],
        parents: int,
        size: int,
        dimension: int,
        dtypes: Mapping[str, np.dtype[Any]],
    ) -> None:
        """Trim the arrays that were made before the query to their lengths, and make the others."""
        for role, length in zip(level.roles, level.array_sizes(parents, size, dimension), strict=True):
            if role in arrays:
                arrays[role] = memory.shrink(arrays[role], length)
            else:
                arrays[role] = memory.empty(length, dtypes[role])
                if level.blank:
                    arrays[role][...] = level.blank

    def _in_order(self, made: list[dict[str, np.ndarray[Any, Any]]]) -> tuple[np.ndarray[Any, Any], ...]:
        return tuple([made[k].get(role, nothing) for k, role, nothing in self._order])

    def _pass(self, name: str, work: _InsertionRun) -> None:
        for k in self._counters:
            work.scratch[k, "counter"][...] = 0
        functions, roles = self._compiled, self._roles
        if work.threads > 1:
            functions, roles = self._compiled_for_threads, (*roles, *self._private)
        # Scratch arrays follow the arrays of the result in its struct.
        extra = [work.scratch.get(key, _NOTHING) for key in roles]
        result = Storage(work.storage.shape, self.target, (*self._in_order(work.made), *extra), work.vals)
        given = [s.struct for s in (work.storage, *self._fills)]
        status = functions[name](result.struct, *given, counts_pointer(work.lengths), work.threads)
        if status:
            fail(status, f"converting a tensor of shape {result.shape} to {self.format}")


@kept
def insertion_kernel(
    source: TensorType, target: TensorType, skip_fill: bool, curved: bool = False
) -> InsertionKernel | str:
    """Return the kernel that converts ``source`` to ``target`` by insertion, or the reason why there is none.

    Parameters
    ----------
    source : TensorType
        Type of the source.
    target : TensorType
        Type of the result.
    skip_fill : bool
        If true, leave out entries equal to the fill value.
    curved : bool
        True if the entries of the source come in the order of the target's space-filling curves.

    Returns
    -------
    InsertionKernel or str
        The kernel, or the reason.
    """
    read, made, fills = with_runtime_conversion(source, target)
    if fills:
        shared = insertion_kernel(read, made, skip_fill, curved)
        return shared if isinstance(shared, str) else shared.with_fills(target, fills)
    scheduled = _schedule(source, target, skip_fill, curved, config.code)
    return scheduled if isinstance(scheduled, str) else InsertionKernel(scheduled[0], target, scheduled[1])


def _schedule(
    source: TensorType,
    target: TensorType,
    skip_fill: bool,
    curved: bool,
    options: CodeOptions,
    trace: Trace | None = None,
) -> tuple[Lowered, EntryOrder] | str:
    """Return the loops over the entries of a source and the order in which entries come, or the reason for none."""
    lowered = schedule_entry_loops(source, target, options, trace)
    if not source.format.is_unique and target.format.is_unique:
        return "the source may hold a coordinate twice"
    comes = entry_order_of(source.format, [loop.var for loop in foralls_of(lowered.schedule.program.stmt)])
    if curved:
        comes = replace(comes, curved=True)
    # Entries that are left out shift the positions of those behind them.
    comes = replace(comes, follows=comes.follows and not skip_fill)
    reason = can_insert(target.format, comes)
    if reason is not None:
        return reason
    # Tiles write to few rows at a time, but their loops no longer visit all entries of a coordinate together.
    if not unordered_shared(target.format, comes):
        tiled = tile_entry_loops(lowered, target.format, trace)
        comes = comes if tiled is lowered else replace(comes, consecutive=())
        lowered = tiled
    return replace(lowered, skip_fill=skip_fill), comes


_NOTHING = np.empty(0, np.int64)
