"""Kernels that assemble by insertion: queries give the sizes of arrays, then values are inserted (2020, section 6).

The values are the entries of a tensor that is converted, or those that an expression computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..config import config
from ..doors import Door
from ..dtypes import INT32_MAX
from ..errors import IndexOverflowError
from ..formats import TensorType
from ..formats.capabilities import Insertion, SharedPositions
from ..formats.format import scratch_dtype
from ..records import cached, record
from ..remapping.inverse import interval_of
from ..remapping.nodes import axes_of
from ..runtime import for_work, memory
from ..runtime.beside import EntryPoints, ready
from ..runtime.interrupts import fail
from ..runtime.loader import Functions
from ..runtime.structs import counts_pointer, tensor_struct
from ..storage import Storage
from .debug_output import show
from .encoding import Unsayable, encode
from .facts import EntryRequest, InsertionLevel
from .loops import Loops, asked
from .plan_cache import kept

if TYPE_CHECKING:
    from ..analysis import runtime_fills
    from ..codegen import CText
    from ..module import Module
else:
    runtime_fills = Door("weft.analysis.runtime_fills")


class _InsertionRun:
    """Arrays and counts that one assembly has made so far."""

    def __init__(
        self, shape: tuple[int, ...], storages: Sequence[Storage], fills: Sequence[Storage], levels: int, threads: int,
        what: str,
    ):  # fmt: skip
        self.shape, self.storages, self.threads = shape, storages, threads
        self.operands = [s.struct for s in (*storages, *fills)]
        # The arrays of each level by role, and the arrays that only the assembly needs by level and role.
        self.arrays: list[dict[str, np.ndarray[Any, Any]]] = [{} for _ in range(levels)]
        self.scratch: dict[tuple[int, str], np.ndarray[Any, Any]] = {}
        # The kernel's counts: a length for each level that needs one, the number of values, a count for each thread.
        self.lengths = np.zeros(levels + 1 + threads, np.int64)
        self.counts = counts_pointer(self.lengths)
        self.vals = np.empty(0)
        self.room = memory.Budget(what)

    def share(self, level: int, role: str) -> None:
        """Make arrays for the threads, one for each, beside an array that a query writes."""
        answers = self.arrays[level][role] if role in self.arrays[level] else self.scratch[level, role]
        self.lengths[level] = len(answers)
        self.scratch[level, "private"] = memory.empty(self.threads * len(answers) + 1, answers.dtype)

    def stay(self, level: int) -> int:
        """Return the number of positions in a level whose entries keep their positions in the source."""
        size: int = self.storages[0].vals.size
        self.lengths[level] = size
        return size


@record
class _LevelAssembly:
    """Assembly of one level, as far as it does not depend on the shape."""

    level: Insertion
    facts: InsertionLevel  # what the compiler says of it
    dtypes: Mapping[str, np.dtype[Any]]  # dtypes of the arrays of the level, by role
    scratch: Mapping[str, np.dtype[Any]]  # dtypes of the arrays that only its assembly needs
    has_first: bool  # whether some of its arrays are made before it is queried
    size: Callable[[int, int, Mapping[str, Any]], int]  # its number of positions, given those of its parent

    @classmethod
    def of(
        cls,
        target: TensorType,
        level: Insertion,
        facts: InsertionLevel,
        dtypes: Mapping[str, np.dtype[Any]],
        scratch: Iterable[str],
    ) -> _LevelAssembly:
        """Return the assembly of a level of a type, with the roles of arrays that only it needs."""
        sized_alike = type(level).size_to_be is Insertion.size_to_be  # which calls ``size``
        return cls(
            level, facts, dtypes, {role: np.dtype(scratch_dtype(target, level, role)) for role in scratch},
            bool(level.first_arrays(0, 0)), level.size if sized_alike else level.size_to_be,
        )  # fmt: skip

    def with_marks(self, scratch: Mapping[str, int], parents: int, n: int, shape: tuple[int, ...]) -> Mapping[str, int]:
        """Return lengths of scratch arrays with those for shared positions and for marks."""
        facts, lengths = self.facts, dict(scratch)
        if facts.shared:
            lengths.update(self.level.require(SharedPositions).shared_scratch(parents, n), stamp=n)
        for role, coordinates in facts.marks:
            # One mark for each combination of the coordinates that the query counts.
            ends = [interval_of(e, shape) or (0, 1) for e in coordinates]
            lengths[role] = prod(high - low for low, high in ends)
        return lengths


class InsertionKernel:
    """Kernel that assembles a result by insertion."""

    def __init__(self, loops: Loops, fills: Mapping[str, Any] | None = None, target: TensorType | None = None):
        self.loops, self.facts, self._given = loops, loops.facts, fills
        assert self.facts.insertion is not None
        self.insertion = insertion = self.facts.insertion
        self.target = target = target or self.facts.type
        self.format = target.format
        # The tensor whose entries are copied; None for a computation, and where values are added.
        self.source_type = insertion.source
        self.shares, self.copies = insertion.shares, insertion.copies
        self._scratch, self._dtype = np.dtype(scratch_dtype(target)), np.dtype(target.dtype)
        # Arrays of positions in a result of unknown size, whose 32 bits may turn out to be too few.
        self._checks_positions = self.source_type is None and "int32" in target.index_dtypes
        self._threads_ready = False
        self._fills: tuple[Storage, ...] = ()
        if fills is not None:
            values = [runtime_fills.evaluate(value, fills) for _, value in self.facts.fills]
            self._fills = tuple([Storage.dense(np.asarray(value)) for value in values])
        dtypes = dict(zip(self.format.roles, map(np.dtype, target.index_dtypes), strict=True))
        # The arrays in storage order. Those that are not made yet are empty ones of the right dtype.
        self._order = [(*key, np.empty(0, dtype)) for key, dtype in dtypes.items()]
        self._private = [(k, "private") for k, level in enumerate(insertion.levels) if level.own is not None]
        self._levels = [
            _LevelAssembly.of(
                target,
                level.require(Insertion),
                facts,
                {role: dtypes[k, role] for role in level.roles},
                [role for n, role in insertion.roles if n == k],
            )
            for k, (level, facts) in enumerate(zip(self.format.levels, insertion.levels, strict=True))
        ]
        self._in_format = f"in format {self.format}"
        if fills is None:
            show(self)

    def encoded(self) -> Any:
        """Return the JSON form of the kernel, for the index of plans."""
        if self._given is not None:
            raise Unsayable("fill values that are read")
        return encode(self.loops)

    @classmethod
    def decoded(cls, loops: Loops) -> InsertionKernel:
        """Return the kernel of loops."""
        return cls(loops)

    @property
    def module(self) -> Module:
        """The functions as the compiler makes them."""
        return self.loops.module

    @property
    def phases(self) -> tuple[str, ...]:
        """Names of the passes, in their order."""
        return self.insertion.phases

    @property
    def text(self) -> str:
        """The source and the result as text."""
        return self.loops.run.described

    def with_fills(self, target: TensorType, fills: Mapping[str, Any]) -> InsertionKernel:
        """Return the kernel for the fill values that it reads when it runs, with a result of the type ``target``."""
        return InsertionKernel(self.loops, fills, target)

    @cached
    def source(self) -> CText:
        """C source of all insertion passes."""
        return self.module.source

    @cached
    def stages(self) -> dict[str, str]:
        """Text of every stage, by name."""
        return self.module.stages

    @property
    def queries(self) -> str:
        """The attribute queries of each level, with the statements by which its pass answers them."""
        return self.module.queries

    @property
    def passes(self) -> dict[str, str]:
        """The text of what each pass of the compiler returned, by name."""
        return self.module.passes

    @property
    def origins(self) -> tuple[str | None, ...]:
        """The origin of the function of each pass, in words; None for one that is not compiled yet."""
        return tuple(map(self._compiled.origin, self.phases))

    @cached
    def _compiled(self) -> Functions:
        return self.loops.functions("passes")

    @cached
    def _compiled_for_threads(self) -> Functions:
        """Functions of the insertion passes that threads share."""
        return self.loops.functions("shared passes")

    @cached
    def _calls(self) -> Mapping[str, Callable[..., int]]:
        """Functions of the insertion passes, all of which are compiled at once."""
        functions = self._compiled.have(*self.phases)
        return {name: functions[name] for name in self.phases}

    @cached
    def _calls_for_threads(self) -> Mapping[str, Callable[..., int]]:
        """Functions of the insertion passes that threads share, all of which are compiled at once."""
        functions = self._compiled_for_threads.have(*self.phases)
        return {name: functions[name] for name in self.phases}

    def entry_points(self, threads: int) -> EntryPoints:
        """Return the functions that a run by one thread, or by several, calls."""
        return (self._compiled_for_threads if threads > 1 else self._compiled), self.phases

    def _takes_threads(self) -> bool:
        """Return whether several threads run the passes now, rather than one until theirs are compiled."""
        if not self._threads_ready:
            self._threads_ready = ready(self.entry_points(2), self.entry_points(1))
        return self._threads_ready

    @property
    def shareable(self) -> bool:
        """True if threads can share the passes."""
        return self.loops.run.chunked

    def run(self, storage: Storage) -> Storage:
        """Return a tensor in the target's format, given one of the type that the kernel converts."""
        return self.assembled((storage,), storage.shape)

    def assembled(self, storages: Sequence[Storage], shape: tuple[int, ...]) -> Storage:
        """Assemble the result."""
        threads = for_work(sum([s.vals.size for s in storages])) if self.shareable else 1
        if threads > 1 and not self._takes_threads():
            threads = 1
        what = f"a tensor of shape {shape} {self._in_format}"
        work = _InsertionRun(shape, storages, self._fills, len(self._levels), threads, what)
        for k in self.insertion.counters:
            over = self.format.remapping.coordinates[k].over  # type: ignore[attr-defined]
            size = prod(shape[axis] for e in over for axis in axes_of(e))
            work.room.take(size * self._scratch.itemsize)
            work.scratch[k, "counter"] = memory.zeros(size, self._scratch)
        parents = 1
        for k, n in enumerate(self.format.level_shape(shape)):
            parents = self._assemble_level(k, parents, n, work)
        work.vals = storages[0].vals if self.shares else self._values(work, parents)
        self._pass("insert", work)
        return Storage(shape, self.target, self._in_order(work.arrays), work.vals)

    def _assemble_level(self, k: int, parents: int, n: int, work: _InsertionRun) -> int:
        """Make the arrays of a level, and return its number of positions."""
        # Each array is paid for from one budget, in the order in which queries tell the sizes.
        of, arrays = self._levels[k], work.arrays[k]
        level, facts, dtypes = of.level, of.facts, of.dtypes
        # The query writes the first arrays of the level, and arrays that only the assembly needs.
        first = level.first_arrays(parents, n) if of.has_first else _NO_LENGTHS
        scratch = level.scratch(parents, n) if of.scratch else _NO_LENGTHS
        if facts.shared or facts.marks:
            scratch = of.with_marks(scratch, parents, n, work.shape)
        if first or scratch:
            need = {role: size * dtypes[role].itemsize for role, size in first.items()}
            for role, size in scratch.items():
                need[role] = size * of.scratch[role].itemsize
            shared = facts.own is not None and work.threads > 1
            work.room.take(sum(need.values()) + (work.threads * need[facts.own or ""] if shared else 0))
            # Arrays that the query does not write in full start zeroed.
            for role, size in first.items():
                arrays[role] = (memory.empty if role in level.unread else memory.zeros)(size, dtypes[role])
            for role, size in scratch.items():
                make = memory.empty if role in level.unread else memory.zeros
                work.scratch[k, role] = make(size, of.scratch[role])
            if shared and facts.own is not None:
                work.share(k, facts.own)
        # The query, if the level has one, gives the number of positions, and so the sizes of the other arrays.
        for name in facts.passes[:1]:
            self._pass(name, work)
        if k == self.insertion.stays:
            size = work.stay(k)
        else:
            size = of.size(parents, n, arrays)
            if self._checks_positions:
                self._check_positions(level, arrays, size)
        # The values come after the last level, but they are paid for before its arrays are made.
        lengths = dict(zip(level.roles, level.array_sizes(parents, size, n), strict=True)) if dtypes else _NO_LENGTHS
        later = sum([length * dtypes[role].itemsize for role, length in lengths.items() if role not in first])
        if k + 1 == len(self._levels) and not self.shares:
            later += size * self._dtype.itemsize
        if later:
            work.room.take(later)
        if facts.source_level is not None:
            arrays["crd"] = work.storages[0].level_arrays(facts.source_level)["crd"]
        _make_arrays(of, arrays, lengths)
        # A second pass collects the coordinates of shared positions, now that there is an array for them.
        for name in facts.passes[1:]:
            self._pass(name, work)
        return size

    def _values(self, work: _InsertionRun, size: int) -> np.ndarray[Any, Any]:
        """Return an array for the values.

        The array holds the fill value if some positions get no entry, unless threads are to fill the array.
        """
        source, dtype, fill = self.source_type, self._dtype, self.target.fill
        # Every position gets an entry if there are as many positions as entries, and none is left out or met twice.
        copied = source is not None and source.format.is_compact and source.format.is_unique
        filled = copied and size == work.storages[0].vals.size and not self.facts.skip_fill
        if not filled and work.threads == 1 and fill.__class__ is int and fill == 0:
            return memory.zeros(size, dtype)
        vals = memory.empty(size, dtype)
        if not filled and work.threads > 1:
            work.lengths[len(self._levels)] = size  # tells the threads how many values they are to fill
        elif not filled:
            vals[...] = fill
        return vals

    def _check_positions(self, level: Insertion, arrays: Mapping[str, np.ndarray[Any, Any]], size: int) -> None:
        """Raise ``IndexOverflowError`` if positions of a computed result exceed the 32 bits of its index arrays.

        A segment holds fewer positions than that, so that the first sum of segments to exceed them is negative.
        """
        wrapped = any(arrays[role].min(initial=0) < 0 for role in level.shifted if role in arrays)
        if size > INT32_MAX or wrapped:
            raise IndexOverflowError(f"{self.text}: more positions than int32 arrays hold")

    def _in_order(self, arrays: list[dict[str, np.ndarray[Any, Any]]]) -> tuple[np.ndarray[Any, Any], ...]:
        return tuple([arrays[k].get(role, nothing) for k, role, nothing in self._order])

    def _pass(self, name: str, work: _InsertionRun) -> None:
        for k in self.insertion.counters:
            work.scratch[k, "counter"][...] = 0
        calls, roles = self._calls, self.insertion.roles
        if work.threads > 1:
            calls, roles = self._calls_for_threads, (*roles, *self._private)
        # Scratch arrays follow the arrays of the result in its struct.
        arrays = (*self._in_order(work.arrays), *[work.scratch.get(key, _NOTHING) for key in roles])
        result, _memory = tensor_struct(work.shape, arrays, work.vals)
        status = calls[name](result, *work.operands, work.counts, work.threads)
        if status:
            fail(status, f"the assembly of a tensor of shape {work.shape} in {self.format}")


def _make_arrays(of: _LevelAssembly, arrays: dict[str, np.ndarray[Any, Any]], lengths: Mapping[str, int]) -> None:
    """Trim the arrays that were made before the query to their lengths, and make the others."""
    for role, length in lengths.items():
        if role not in arrays:
            arrays[role] = memory.empty(length, of.dtypes[role])
            if of.level.blank:
                arrays[role][...] = of.level.blank
        elif arrays[role].size != length:
            arrays[role] = memory.shrink(arrays[role], length)


@kept
def insertion_kernel(
    source: TensorType, target: TensorType, skip_fill: bool, curved: bool = False
) -> InsertionKernel | str:
    """Return the kernel that converts ``source`` to ``target`` by insertion, or the reason why there is none."""
    if not (has_zero_fill(source) and has_zero_fill(target)):
        read, made, fills = runtime_fills.with_runtime_conversion(source, target)
        if fills:
            shared = insertion_kernel(read, made, skip_fill, curved)
            return shared if isinstance(shared, str) else shared.with_fills(target, fills)
    found = asked("insertion", EntryRequest(source, target, skip_fill, curved, config.code))
    return found if isinstance(found, str) else InsertionKernel(found)


def has_zero_fill(type: TensorType) -> bool:
    """Return whether a fill value is zero, which no kernel reads when it runs."""
    return type.fill.__class__ is int and type.fill == 0


_NOTHING = np.empty(0, np.int64)
_NO_LENGTHS: Mapping[str, int] = {}
