"""Running an assembly by insertion: arrays are made when a query has said how large, then every entry is inserted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np

from ..codegen import emit_module
from ..concrete_notation.nodes import foralls_of
from ..errors import ResultTooLargeError
from ..formats import LevelFormat, TensorType
from ..index_notation.nodes import Access, Assignment
from ..ir import simplify
from ..ir.nodes import Function
from ..lowering.assembly import (
    Arrival,
    Assembly,
    arrival,
    can_insert,
    counters,
    phases,
    scalar_counters,
    scratch_roles,
    shared,
)
from ..lowering.conversions import triples_format
from ..lowering.schedule import schedule
from ..remapping.nodes import axes_of
from ..runtime import load, memory
from ..runtime.structs import counts_pointer
from ..storage import Storage
from .passes import Lowered

__all__ = ["Assembler", "assembler"]


class Assembler:
    """Conversion of one type of tensor to another by insertion.

    Parameters
    ----------
    lowered : Lowered
        Loops over the source.
    target : TensorType
        What is assembled.
    arrival : Arrival
        In which order entries come.
    """

    def __init__(self, lowered: Lowered, target: TensorType, arrival: Arrival):
        self.lowered, self.target, self.format, self.arrival = lowered, target, target.format, arrival
        self.phases = phases(target.format)
        self.types = {**lowered.schedule.types, "B": target}

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """The IR, a function for each pass."""
        s = self.lowered.schedule
        passes = [
            Assembly(s.program, s.target, self.types, self.lowered.names, phase, self.lowered.skip_fill, self.arrival)
            for phase in self.phases
        ]
        return tuple(simplify(one.lower(("A",))) for one in passes)

    @cached_property
    def source(self) -> str:
        """The C."""
        return emit_module(self.functions)

    @cached_property
    def _module(self) -> Any:
        return load(self.source, [phase.name for phase in self.phases], 2)

    def run(self, storage: Storage) -> Storage:
        """The tensor in the target's format.

        Raises
        ------
        ResultTooLargeError
            When it would take more memory than there is; nothing large is allocated before.
        """
        shape, format = storage.shape, self.format
        dimensions, dtypes = format.level_shape(shape), self._dtypes()
        made: list[dict[str, np.ndarray[Any, Any]]] = [{} for _ in format.levels]
        scratch = self._scratch_of_counters(shape)
        parents = 1
        for k, (level, n) in enumerate(zip(format.levels, dimensions, strict=True)):
            first = level.first_arrays(parents, n)
            self._require(sum(first.values()) * 8, shape)
            made[k] = {role: memory.zeros(size, dtypes[k, role]) for role, size in first.items()}
            scratch.update({(k, role): np.zeros(size, np.int64) for role, size in level.scratch(parents, n).items()})
            if k in shared(format):
                extra = level.shared_scratch(parents, n)
                scratch.update({(k, role): np.zeros(size, np.int64) for role, size in extra.items()})
            mine = [phase for phase in self.phases if phase.level == k]
            nothing = np.empty(0, self.target.dtype)
            for phase in mine[:1]:
                self._pass(phase.name, storage, made, nothing, scratch)
            size = level.size_to_be(parents, n, made[k])
            self._require(size * np.dtype(self.target.dtype).itemsize, shape)
            self._finish_arrays(level, made[k], parents, size, n, {r: dtypes[k, r] for r in level.roles})
            for phase in mine[1:]:
                self._pass(phase.name, storage, made, nothing, scratch)
            parents = size
        vals = memory.empty(parents, np.dtype(self.target.dtype))
        source = storage.format
        if parents != storage.vals.size or self.lowered.skip_fill or not (source.is_compact and source.is_unique):
            vals[...] = self.target.fill  # not every position gets an entry
        self._pass("insert", storage, made, vals, scratch)
        return Storage(shape, self.target, self._in_order(made), vals)

    def _dtypes(self) -> Mapping[tuple[int, str], str]:
        return dict(zip(self.format.roles, self.target.index_dtypes, strict=True))

    def _finish_arrays(
        self,
        level: LevelFormat,
        arrays: dict[str, np.ndarray[Any, Any]],
        parents: int,
        size: int,
        dimension: int,
        dtypes: Mapping[str, str],
    ) -> None:
        """Cut what was made first to its length, and make the rest."""
        for role, length in zip(level.roles, level.array_sizes(parents, size, dimension), strict=True):
            if role in arrays:
                arrays[role] = arrays[role][:length]
            else:
                arrays[role] = memory.empty(length, dtypes[role])
                if level.blank:
                    arrays[role][...] = level.blank

    def _scratch_of_counters(self, shape: tuple[int, ...]) -> dict[tuple[int, str], np.ndarray[Any, Any]]:
        found = {}
        for k in {*counters(self.format)} - {*scalar_counters(self.format, self.arrival)}:
            over = self.format.remapping.coordinates[k].over  # type: ignore[attr-defined]
            axes = [axis for e in over for axis in axes_of(e)]
            found[k, "counter"] = np.zeros(prod(shape[axis] for axis in axes), np.int64)
        return found

    def _in_order(self, made: list[dict[str, np.ndarray[Any, Any]]]) -> tuple[np.ndarray[Any, Any], ...]:
        empty = {d: np.empty(0, d) for d in ("int32", "int64")}
        dtypes = self._dtypes()
        return tuple(made[k].get(role, empty[dtypes[k, role]]) for k, role in self.format.roles)

    def _pass(
        self,
        name: str,
        storage: Storage,
        made: list[dict[str, np.ndarray[Any, Any]]],
        vals: np.ndarray[Any, Any],
        scratch: Mapping[tuple[int, str], np.ndarray[Any, Any]],
    ) -> None:
        for (_, role), array in scratch.items():
            if role == "counter":
                array[...] = 0
        nothing = np.empty(0, np.int64)
        extra = tuple(scratch.get(key, nothing) for key in scratch_roles(self.format))
        result = Storage(storage.shape, self.target, (*self._in_order(made), *extra), vals)
        if self._module[name](result.struct, storage.struct, _NO_COUNTS, 1):
            raise ResultTooLargeError(f"no memory to convert a tensor of shape {storage.shape} to {self.format}")

    def _require(self, size: int, shape: tuple[int, ...]) -> None:
        """Refuse what does not fit into memory."""
        if size > _available():
            raise ResultTooLargeError(
                f"a tensor of shape {shape} in format {self.format} would take {size:,} bytes, more than there is"
            )


def _available() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # no such names on this system
        return 2**62


@lru_cache(maxsize=4096)
def assembler(source: TensorType, target: TensorType, skip_fill: bool) -> Assembler | str:
    """What converts by insertion, or why entries of ``source`` cannot be inserted into ``target``."""
    indices = tuple(f"i{axis}" for axis in range(source.format.order))
    assignment = Assignment(Access("B", indices), Access("A", indices))
    triples = TensorType.of(target.dtype, triples_format(target.format.remapping), "int64", target.fill)
    planned = schedule(assignment, {"B": triples, "A": source}, copying=True)
    if not source.format.is_unique and target.format.is_unique:
        return f"{source.format} may hold a coordinate twice"
    comes = arrival(source.format, [loop.var for loop in foralls_of(planned.program.stmt)])
    reason = can_insert(target.format, comes)
    if reason is not None:
        return reason
    return Assembler(Lowered(assignment, planned, ("A",), skip_fill, planned.types), target, comes)


_NO_COUNTS = counts_pointer(np.zeros(1, np.int64))
