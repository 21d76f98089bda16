"""Assembly by insertion: queries give the sizes of arrays, then values are inserted (2020, section 6).

The values are the entries of a tensor that is converted, or those that an expression computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ..dtypes import INT32_MAX
from ..errors import IndexOverflowError
from ..formats import TensorType
from ..formats.capabilities import Insertion, SharedPositions
from ..formats.format import scratch_dtype
from ..records import record
from ..remapping.inverse import interval_of
from ..remapping.nodes import axes_of
from ..runtime import memory
from ..runtime.beside import EntryPoints
from ..runtime.interrupts import fail
from ..runtime.loader import Functions
from ..runtime.structs import counts_pointer, tensor_struct
from ..storage import Storage
from .assembly import Assembly
from .facts import InsertionLevel
from .loops import Loops


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

    def with_marks(
        self, scratch: Mapping[str, int], sizes: tuple[int, int], shape: tuple[int, ...], threads: int
    ) -> Mapping[str, int]:
        """Return lengths of scratch arrays with those for shared positions and for marks."""
        facts, lengths, (_, n) = self.facts, dict(scratch), sizes
        if facts.shared:
            shared = {**self.level.require(SharedPositions).shared_scratch(*sizes), "stamp": n}
            if threads > 1:  # each has as many elements as there are coordinates
                shared = dict.fromkeys(shared, threads * n + 1)
            lengths.update(shared)
        for role, coordinates in facts.marks:
            # One mark for each combination of the coordinates that the query counts.
            ends = [interval_of(e, shape) or (0, 1) for e in coordinates]
            lengths[role] = prod(high - low for low, high in ends)
        return lengths


class _Run:
    """Arrays and counts that one assembly has made so far."""

    def __init__(self, assembly: InsertionAssembly, storages: Sequence[Storage], shape: tuple[int, ...], threads: int):
        self.assembly, self.shape, self.storages, self.threads = assembly, shape, storages, threads
        self.calls = assembly.calls(threads)
        # The arrays of each level by role, and the arrays that only the assembly needs by level and role.
        levels = len(assembly.levels)
        self.arrays: list[dict[str, np.ndarray[Any, Any]]] = [{} for _ in range(levels)]
        self.scratch: dict[tuple[int, str], np.ndarray[Any, Any]] = {}
        self.operands = [*[s.struct for s in storages], *assembly.fill_structs]
        # The kernel's counts: a length for each level that needs one, the number of values, a count for each thread.
        self.lengths = np.zeros(levels + 1 + threads, np.int64)
        self.counts = counts_pointer(self.lengths)
        self.room = memory.Budget(f"a tensor of shape {shape} {assembly.in_format}")
        self.vals = _NOTHING

    def begin_level(self, k: int, parents: int, n: int) -> None:
        """Make the arrays of a level that its query writes, and those that only the assembly needs."""
        of, arrays = self.assembly.levels[k], self.arrays[k]
        level, dtypes, private = of.level, of.dtypes, of.facts.own
        first = level.first_arrays(parents, n) if of.has_first else _NO_LENGTHS
        scratch = level.scratch(parents, n) if of.scratch else _NO_LENGTHS
        if of.facts.shared or of.facts.marks:
            scratch = of.with_marks(scratch, (parents, n), self.shape, self.threads)
        need = {}
        for role, size in first.items():
            need[role] = size * dtypes[role].itemsize
        for role, size in scratch.items():
            need[role] = size * of.scratch[role].itemsize
        if not need:
            return
        if self.threads == 1:
            private = None
        self.room.take(sum(need.values()) + (self.threads * need[private] if private else 0))
        # Arrays that the query does not write in full start zeroed.
        for role, size in first.items():
            arrays[role] = (memory.empty if role in level.unread else memory.zeros)(size, dtypes[role])
        for role, size in scratch.items():
            make = memory.empty if role in level.unread else memory.zeros
            self.scratch[k, role] = make(size, of.scratch[role])
        if private:
            # Each thread has an array of its own beside the one that the query writes.
            answers = arrays[private] if private in arrays else self.scratch[k, private]
            self.lengths[k] = len(answers)
            self.scratch[k, "private"] = memory.empty(self.threads * len(answers) + 1, answers.dtype)

    def stay(self, level: int) -> int:
        """Return the number of positions in a level whose entries keep their positions in the source."""
        size: int = self.storages[0].vals.size
        self.lengths[level] = size
        return size

    def call(self, name: str) -> None:
        """Call the function of a pass."""
        assembly, threads = self.assembly, self.threads
        for k, _ in assembly.counters:
            self.scratch[k, "counter"][...] = 0
        # Scratch arrays follow the arrays of the result in its struct.
        scratch, roles = self.scratch, assembly.scratch_roles[threads > 1]
        arrays = (*self.in_order(), *[scratch.get(key, _NOTHING) for key in roles])
        result, _memory = tensor_struct(self.shape, arrays, self.vals)
        status = self.calls[name](result, *self.operands, self.counts, threads)
        if status:
            fail(status, f"the assembly of a tensor of shape {self.shape} {assembly.in_format}")

    def in_order(self) -> tuple[np.ndarray[Any, Any], ...]:
        """Return the arrays in storage order; those that are not made yet are empty ones of the right dtype."""
        arrays = self.arrays
        return tuple([arrays[k].get(role, nothing) for k, role, nothing in self.assembly.order])


class InsertionAssembly(Assembly):
    """Assembly of a result into which values are inserted, level by level."""

    def __init__(self, loops: Loops, type: TensorType, fills: Sequence[Storage]):
        super().__init__(loops, type, fills)
        self.insertion, self.format = insertion, format = self.facts.inserted, type.format
        self.in_format = f"in format {format}"
        self._dtype, self._scratch = np.dtype(type.dtype), np.dtype(scratch_dtype(type))
        source = insertion.source
        # Arrays of positions in a result of unknown size, whose 32 bits may turn out to be too few.
        self._checks_positions = source is None and "int32" in type.index_dtypes
        # Whether every entry of a source gets a position: none is left out or met twice.
        copied = source is not None and source.format.is_compact and source.format.is_unique
        self._inserts_all = copied and not self.facts.skip_fill
        # The arrays of counters have an element for each combination of coordinates of some axes.
        over = [(k, format.remapping.coordinates[k].over) for k in insertion.counters]  # type: ignore[attr-defined]
        self.counters = [(k, [axis for e in coordinates for axis in axes_of(e)]) for k, coordinates in over]
        dtypes = dict(zip(format.roles, map(np.dtype, type.index_dtypes), strict=True))
        self.order = [(*key, np.empty(0, dtype)) for key, dtype in dtypes.items()]
        # The scratch arrays in the order in which passes take them, by one thread and by several.
        private = [(k, "private") for k, level in enumerate(insertion.levels) if level.own is not None]
        self.scratch_roles = insertion.roles, (*insertion.roles, *private)
        self.levels = [
            _LevelAssembly.of(
                type,
                level.require(Insertion),
                facts,
                {role: dtypes[k, role] for role in level.roles},
                [role for n, role in insertion.roles if n == k],
            )
            for k, (level, facts) in enumerate(zip(format.levels, insertion.levels, strict=True))
        ]
        self._calls: dict[bool, Mapping[str, Callable[..., int]]] = {}

    def make(
        self, storages: Sequence[Storage], shape: tuple[int, ...], threads: int, out: Storage | None = None
    ) -> Storage:
        if threads > 1 and not self.takes_threads():
            threads = 1
        if not self.coordinates_fit(storages, shape):
            text = f"{self.loops.run.described}: coordinates of shape {shape} do not fit int32 arrays"
            raise IndexOverflowError(text)
        run = _Run(self, storages, shape, threads)
        for k, axes in self.counters:
            size = prod(shape[axis] for axis in axes)
            run.room.take(size * self._scratch.itemsize)
            run.scratch[k, "counter"] = memory.zeros(size, self._scratch)
        parents = 1
        for k, n in enumerate(self.format.level_shape(shape)):
            parents = self._make_level(k, parents, n, run)
        run.vals = storages[0].vals if self.insertion.shares else self._values(run, parents)
        run.call("insert")
        return Storage(shape, self.type, run.in_order(), run.vals)

    def _make_level(self, k: int, parents: int, n: int, run: _Run) -> int:
        """Make the arrays of a level, and return its number of positions."""
        # Each array is paid for from one budget, in the order in which queries tell the sizes.
        of, arrays = self.levels[k], run.arrays[k]
        level, facts, dtypes = of.level, of.facts, of.dtypes
        if of.has_first or of.scratch:
            run.begin_level(k, parents, n)
        # The query, if the level has one, gives the number of positions, and so the sizes of the other arrays.
        for name in facts.passes[:1]:
            run.call(name)
        if k == self.insertion.stays:
            size = run.stay(k)
        else:
            size = of.size(parents, n, arrays)
            if self._checks_positions:
                self._check_positions(level, arrays, size)
        lengths = level.array_sizes(parents, size, n) if dtypes else ()
        # The values come after the last level, but they are paid for before its arrays are made.
        need = 0 if k + 1 < len(self.levels) or self.insertion.shares else size * self._dtype.itemsize
        for role, length in zip(dtypes, lengths, strict=True):
            if role not in arrays:
                need += length * dtypes[role].itemsize
        if need:
            run.room.take(need)
        if facts.source_level is not None:
            arrays["crd"] = run.storages[0].level_arrays(facts.source_level)["crd"]
        # Arrays that were made before the query are trimmed to their lengths.
        for role, length in zip(dtypes, lengths, strict=True):
            if role not in arrays:
                arrays[role] = memory.empty(length, dtypes[role])
                if level.blank:
                    arrays[role][...] = level.blank
            elif arrays[role].size != length:
                arrays[role] = memory.shrink(arrays[role], length)
        # A second pass collects the coordinates of shared positions, now that there is an array for them.
        for name in facts.passes[1:]:
            run.call(name)
        return size

    def _check_positions(self, level: Insertion, arrays: Mapping[str, np.ndarray[Any, Any]], size: int) -> None:
        """Raise ``IndexOverflowError`` if positions of a computed result exceed the 32 bits of its index arrays."""
        # A segment holds fewer positions than that, so that the first sum of segments to exceed them is negative.
        wrapped = any(arrays[role].min(initial=0) < 0 for role in level.shifted if role in arrays)
        if size > INT32_MAX or wrapped:
            raise IndexOverflowError(f"{self.loops.run.described}: more positions than int32 arrays hold")

    def _values(self, run: _Run, size: int) -> np.ndarray[Any, Any]:
        """Return an array for the values, which holds the fill value if some positions get no entry."""
        dtype, fill = self._dtype, self.type.fill
        filled = self.insertion.fills_rows or (self._inserts_all and size == run.storages[0].vals.size)
        if not filled and fill.__class__ is int and fill == 0:
            return memory.zeros(size, dtype)
        vals = memory.empty(size, dtype)
        if not filled and run.threads > 1:
            run.lengths[len(self.levels)] = size  # tells the threads how many values they are to fill
        elif not filled:
            vals[...] = fill
        return vals

    def structure(self, storages: Sequence[Storage], shape: tuple[int, ...], threads: int) -> Storage:
        result = self.make(storages, shape, threads)
        return Storage(shape, self.type, result.arrays, memory.zeros(len(result.vals), self._dtype))

    def values(self, result: Storage, storages: Sequence[Storage], threads: int) -> None:
        # Positions are found again as they were: the structures of the operands are the same.
        result.vals[...] = self.make(storages, result.shape, threads).vals

    def entry_points(self, threads: int) -> EntryPoints:
        return self._functions(threads), self.insertion.phases

    def _functions(self, threads: int) -> Functions:
        return self.loops.functions("shared passes" if threads > 1 else "passes")

    def calls(self, threads: int) -> Mapping[str, Callable[..., int]]:
        """Return the functions of the passes, all of which are compiled at once."""
        calls = self._calls.get(threads > 1)
        if calls is None:
            functions = self._functions(threads).have(*self.insertion.phases)
            calls = self._calls[threads > 1] = {name: functions[name] for name in self.insertion.phases}
        return calls

    @property
    def origins(self) -> tuple[str | None, ...]:
        return tuple(map(self._functions(1).origin, self.insertion.phases))


_NOTHING = np.empty(0, np.int64)
_NO_LENGTHS: Mapping[str, int] = {}
