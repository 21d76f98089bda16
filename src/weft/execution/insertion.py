"""Kernels that assemble by insertion: queries give the sizes of arrays, then values are inserted (2020, section 6).

The values are the entries of a tensor that is converted, or those that an expression computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from math import prod
from typing import Any

import numpy as np

from ..analysis.contributions import copied_access, entry_order_of, has_one_position_each, keeps_duplicates
from ..analysis.implicit_values import same_value
from ..analysis.runtime_fills import evaluate, with_runtime_conversion
from ..assembly.insertion_plan import (
    can_insert,
    counters,
    distinct_counts,
    position_preserving_level,
    private_roles,
    reused_arrays,
    scalar_counters,
    scratch_dtype,
    scratch_roles,
    sequential_level,
    unordered_shared,
)  # fmt: skip
from ..assembly.placement import adding
from ..assembly.query_lowering import LevelQuery
from ..code_options import CodeOptions
from ..codegen import CText
from ..compiler import Lowered, generate, schedule_entry_loops, tile_entry_loops, types_text
from ..concrete_notation import to_text as statement_text
from ..concrete_notation.nodes import foralls_of
from ..config import config
from ..dtypes import INT32_MAX, adds_alike
from ..errors import IndexOverflowError
from ..formats import TensorType
from ..formats.capabilities import Insertion, SharedPositions
from ..index_notation import to_text
from ..ir import Function
from ..ir.printer import function_text
from ..records import cached, record, replace
from ..remapping.inverse import interval_of
from ..remapping.nodes import axes_of
from ..runtime import for_work, memory
from ..runtime.beside import EntryPoints, ready
from ..runtime.interrupts import fail
from ..runtime.loader import Functions
from ..runtime.structs import counts_pointer
from ..storage import Storage
from ..tracing import Trace
from .debug_output import show
from .plan_cache import kept

__all__ = ["InsertionKernel", "insertion_kernel"]


class _InsertionRun:
    """Arrays and counts that one assembly has made so far."""

    def __init__(self, shape: tuple[int, ...], storages: Sequence[Storage], levels: int, threads: int):
        self.shape, self.storages, self.threads = shape, storages, threads
        # The arrays of each level by role, and the arrays that only the assembly needs by level and role.
        self.made: list[dict[str, np.ndarray[Any, Any]]] = [{} for _ in range(levels)]
        self.scratch: dict[tuple[int, str], np.ndarray[Any, Any]] = {}
        # The kernel's counts: a length for each level that needs one, the number of values, a count for each thread.
        self.lengths = np.zeros(levels + 1 + threads, np.int64)
        self.vals = np.empty(0)

    def share(self, level: int, role: str) -> None:
        """Make arrays for the threads, one for each, beside an array that a query writes."""
        whole = self.made[level][role] if role in self.made[level] else self.scratch[level, role]
        self.lengths[level] = len(whole)
        self.scratch[level, "private"] = memory.empty(self.threads * len(whole) + 1, whole.dtype)

    def stay(self, level: int) -> int:
        """Return the number of positions in a level whose entries keep their positions in the source."""
        size: int = self.storages[0].vals.size
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
    """Kernel that assembles a result by insertion.

    Parameters
    ----------
    lowered : Lowered
        Loops that contribute values to the result.

    Attributes
    ----------
    shares : bool
        True if the result takes over the values of the tensor that is copied.
    kept : mapping
        For each level that takes over a coordinate array of that tensor, the level of the tensor.
    """

    def __init__(self, lowered: Lowered):
        s = lowered.schedule
        assert s.entry_order is not None
        self.lowered, self.target, self.entry_order = lowered, s.result, s.entry_order
        target, entry_order = self.target, self.entry_order
        self.format = target.format
        copied = copied_access(s.program, s.target)
        # The tensor whose entries are copied; None for a computation, and where values are added.
        self.source_type = s.types[copied.tensor] if copied is not None and entry_order.distinct else None
        self._stays = position_preserving_level(target.format, entry_order)
        self.shares, self.kept = False, dict[int, int]()
        if self.source_type is not None:
            self.shares, self.kept = reused_arrays(self.source_type, target, entry_order, lowered.options)
        self.phases = lowered.insertion_passes
        self._scratch, self._dtype = np.dtype(scratch_dtype(target)), np.dtype(target.dtype)
        # Arrays of positions in a result of unknown size, whose 32 bits may turn out to be too few.
        self._checks_positions = self.source_type is None and "int32" in target.index_dtypes
        self._like: InsertionKernel | None = None
        self._threads_ready = False
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
        if source is None or not self.lowered.variant.conversion:
            return self.lowered.described
        return f"the conversion of {source.format} {source.dtype} to {self.format} {self.target.dtype}"

    @cached
    def functions(self) -> tuple[Function, ...]:
        """Functions of the insertion passes in the IR, one for each."""
        return self.lowered.insertion_functions()

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
            "formats": types_text(self.lowered.used_types),
            "schedule": f"passes {', '.join(p.name for p in self.phases)}; loop order {loops}\n{shared}",
            "attribute queries": self.lowered.queries,
            "concrete notation": statement_text(self.lowered.schedule.program.stmt),
            "ir": "\n".join(map(function_text, self.functions)),
            "c": self.source,
        }

    @property
    def queries(self) -> str:
        """The attribute queries of each level, with the statements by which its pass answers them."""
        return self.lowered.queries

    @property
    def passes(self) -> dict[str, str]:
        """The text of what each pass of the compiler returned, by name."""
        if self._like is not None:
            return self._like.passes
        if not self.lowered.variant.conversion:
            return self.lowered.passes()
        trace, lowered, options = Trace(keep=True), self.lowered, self.lowered.options
        assert self.source_type is not None
        _schedule(self.source_type, self.target, lowered.skip_fill, self.entry_order.curved, options, trace)
        generate(lowered.insertion_functions(trace=trace), options, trace=trace)
        return trace.texts()

    @property
    def origins(self) -> tuple[str | None, ...]:
        """The origin of the function of each pass, in words; None for one that is not compiled yet."""
        return tuple(self._compiled.origin(phase.name) for phase in self.phases)

    @cached
    def _compiled(self) -> Functions:
        return self._like._compiled if self._like is not None else self._opened(self.functions)

    @cached
    def _compiled_for_threads(self) -> Functions:
        """Functions of the insertion passes that threads share."""
        like = self._like
        functions = self.lowered.insertion_functions(threads=True) if like is None else ()
        return like._compiled_for_threads if like is not None else self._opened(functions)

    @cached
    def _ready(self) -> Functions:
        """Functions of the insertion passes, all of which are compiled at once."""
        return self._compiled.have(*(phase.name for phase in self.phases))

    @cached
    def _ready_for_threads(self) -> Functions:
        """Functions of the insertion passes that threads share, all of which are compiled at once."""
        return self._compiled_for_threads.have(*(phase.name for phase in self.phases))

    def entry_points(self, threads: int) -> EntryPoints:
        """Return the functions that a run by one thread, or by several, calls."""
        return (self._compiled_for_threads if threads > 1 else self._compiled), tuple([p.name for p in self.phases])

    def _takes_threads(self) -> bool:
        """Return whether several threads run the passes now, rather than one until theirs are compiled."""
        if not self._threads_ready:
            self._threads_ready = ready(self.entry_points(2), self.entry_points(1))
        return self._threads_ready

    def _opened(self, functions: Sequence[Function]) -> Functions:
        """Return the functions of all insertion passes, which an assembly calls one by one."""
        texts = {one.name: generate([one], self.lowered.options, shared=True) for one in functions}
        return Functions(texts.__getitem__, 1 + len(self.lowered.operands) + len(self.lowered.fills), self.text)

    @property
    def shareable(self) -> bool:
        """True if threads can share the passes."""
        return self.lowered.inserts_in_parallel

    @cached
    def copies(self) -> bool:
        """Return whether the entries keep their order, so that each is inserted next to the one before it."""
        return sequential_level(self.format, self.entry_order) is not None

    def run(self, storage: Storage) -> Storage:
        """Return a tensor in the target's format, given one of the type that the kernel converts."""
        return self.assembled((storage,), storage.shape)

    def assembled(self, storages: Sequence[Storage], shape: tuple[int, ...]) -> Storage:
        """Assemble the result.

        Parameters
        ----------
        storages : sequence of Storage
            The operands, of the types that the kernel was made for.
        shape : tuple of int
            The shape of the result.

        Returns
        -------
        Storage
            The result.

        Raises
        ------
        ResultTooLargeError
            The result would take more memory than there is. No large array is allocated before that is known.
        IndexOverflowError
            Positions of a computed result do not fit its index arrays.
        """
        threads = for_work(sum([s.vals.size for s in storages])) if self.shareable else 1
        if threads > 1 and not self._takes_threads():
            threads = 1
        work = _InsertionRun(shape, storages, len(self._levels), threads)
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
                self._check_positions(level, made, size)
            # The values come after the last level, but they are paid for before its arrays are made.
            lengths = zip(level.roles, level.array_sizes(parents, size, n), strict=True)
            later = [length * of.dtypes[role].itemsize for role, length in lengths if role not in first]
            last = k + 1 == len(self._levels) and not self.shares
            room.take(sum(later) + size * self._dtype.itemsize * last)
            if of.source_level is not None:
                made["crd"] = storages[0].level_arrays(of.source_level)["crd"]
            self._finish_arrays(level, made, parents, size, n, of.dtypes)
            # A second pass collects the coordinates of shared positions, now that there is an array for them.
            for name in of.passes[1:]:
                self._pass(name, work)
            parents = size
        work.vals = storages[0].vals if self.shares else self._values(work, parents)
        self._pass("insert", work)
        return Storage(shape, self.target, self._in_order(work.made), work.vals)

    def _values(self, work: _InsertionRun, size: int) -> np.ndarray[Any, Any]:
        """Return an array for the values.

        The array holds the fill value if some positions get no entry, unless threads are to fill the array.
        """
        source, dtype, fill = self.source_type, self._dtype, self.target.fill
        # Every position gets an entry if there are as many positions as entries, and none is left out or met twice.
        kept = source is not None and source.format.is_compact and source.format.is_unique
        whole = kept and size == work.storages[0].vals.size and not self.lowered.skip_fill
        if not whole and work.threads == 1 and same_value(fill, 0):
            return memory.zeros(size, dtype)
        vals = memory.empty(size, dtype)
        if not whole and work.threads > 1:
            work.lengths[len(self._levels)] = size  # tells the threads how many values they are to fill
        elif not whole:
            vals[...] = fill
        return vals

    def _check_positions(self, level: Insertion, arrays: Mapping[str, np.ndarray[Any, Any]], size: int) -> None:
        """Raise ``IndexOverflowError`` if positions of a computed result exceed the 32 bits of its index arrays.

        A segment holds fewer positions than that, so that the first sum of segments to exceed them is negative.
        """
        if not self._checks_positions:
            return
        wrapped = any(arrays[role].min(initial=0) < 0 for role in level.shifted if role in arrays)
        if size > INT32_MAX or wrapped:
            raise IndexOverflowError(f"{self.text}: more positions than int32 arrays hold")

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
        functions, roles = self._ready, self._roles
        if work.threads > 1:
            functions, roles = self._ready_for_threads, (*roles, *self._private)
        # Scratch arrays follow the arrays of the result in its struct.
        extra = [work.scratch.get(key, _NOTHING) for key in roles]
        result = Storage(work.shape, self.target, (*self._in_order(work.made), *extra), work.vals)
        given = [s.struct for s in (*work.storages, *self._fills)]
        status = functions[name](result.struct, *given, counts_pointer(work.lengths), work.threads)
        if status:
            fail(status, f"the assembly of a tensor of shape {result.shape} in {self.format}")


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
    return scheduled if isinstance(scheduled, str) else InsertionKernel(scheduled)


def _schedule(
    source: TensorType,
    target: TensorType,
    skip_fill: bool,
    curved: bool,
    options: CodeOptions,
    trace: Trace | None = None,
) -> Lowered | str:
    """Return the loops that insert the entries of a source into a result, or the reason for none."""
    lowered = schedule_entry_loops(source, target, options, trace)
    twice = not source.format.is_unique and not keeps_duplicates(target.format)
    if twice and (reason := _why_not_added(source, target, skip_fill)) is not None:
        return reason
    comes = entry_order_of(source.format, [loop.var for loop in foralls_of(lowered.schedule.program.stmt)])
    comes = replace(comes, distinct=not twice)
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
    schedule = replace(lowered.schedule, types={**lowered.schedule.types, "B": target}, entry_order=comes)
    if twice:
        program = schedule.program
        schedule = replace(schedule, program=replace(program, stmt=adding(program.stmt, schedule.target)))
    return replace(lowered, schedule=schedule, skip_fill=skip_fill)


def _why_not_added(source: TensorType, target: TensorType, skip_fill: bool) -> str | None:
    """Return the reason why duplicates cannot be added at their places, one by one; None if they can be."""
    if not has_one_position_each(target.format, True):
        return "the source may hold a coordinate twice"
    if skip_fill or not same_value(target.fill, 0):
        return "duplicates must be added before values are compared with the fill value"
    if not adds_alike(np.dtype(source.dtype), np.dtype(target.dtype)):
        return f"duplicates must be added as {source.dtype}, before they become {target.dtype}"
    return None


_NOTHING = np.empty(0, np.int64)
