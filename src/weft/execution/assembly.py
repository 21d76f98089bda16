"""Assemblies: how the result of a kernel gets its arrays, and which functions write them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import prod
from typing import Any, NoReturn

import numpy as np

from ..dtypes import INT32_MAX
from ..errors import FormatError, ShapeError
from ..formats import TensorType
from ..records import cached
from ..runtime import memory
from ..runtime.beside import EntryPoints, ready
from ..runtime.interrupts import fail
from ..runtime.loader import Functions
from ..runtime.structs import counts_pointer
from ..storage import Storage
from .loops import Loops


class Assembly(ABC):
    """The way in which results of one type get their arrays."""

    def __init__(self, loops: Loops, type: TensorType, fills: Sequence[Storage]):
        self.loops, self.facts, self.type = loops, loops.facts, type
        self.fills = fills  # keeps what the structs point to
        self.fill_structs = tuple([s.struct for s in fills])
        self._threads_ready = False  # until it is known that threads need not wait for their functions

    @abstractmethod
    def make(
        self, storages: Sequence[Storage], shape: tuple[int, ...], threads: int, out: Storage | None = None
    ) -> Storage:
        """Return the result in new memory; raise ``IndexOverflowError`` if its index arrays cannot hold it."""

    def takes_threads(self) -> bool:
        """Return whether several threads run the functions now, rather than one until theirs are compiled."""
        if not self._threads_ready:
            self._threads_ready = ready(self.entry_points(2), self.entry_points(1))
        return self._threads_ready

    @abstractmethod
    def structure(self, storages: Sequence[Storage], shape: tuple[int, ...], threads: int) -> Storage:
        """Return the structure of the result, with zeros for its values (2017, section 6.3)."""

    @abstractmethod
    def values(self, result: Storage, storages: Sequence[Storage], threads: int) -> None:
        """Write new values to a result that ``structure`` returned for operands of this structure."""

    @abstractmethod
    def entry_points(self, threads: int) -> EntryPoints:
        """Return the functions that a run by one thread, or by several, calls."""

    @property
    @abstractmethod
    def origins(self) -> tuple[str | None, ...]:
        """The origin of each function that computes a part of the result, in words; None if it is not compiled yet."""

    def bytes(self, shape: tuple[int, ...]) -> int:
        """Return the bytes of the result that are allocated before its functions run, beside their workspaces."""
        return 0

    def needs_wide_index(self, shape: tuple[int, ...]) -> bool:
        """Return whether coordinates of a result of this shape do not fit its index arrays."""
        most = max((*shape, *self.type.format.level_shape(shape)), default=0)
        return most > INT32_MAX and "int32" in self.type.index_dtypes

    def coordinates_fit(self, storages: Sequence[Storage], shape: tuple[int, ...]) -> bool:
        """Return whether the index arrays of a result hold its coordinates, which may be near on however long axes."""
        if not self.needs_wide_index(shape):
            return True
        return not self.type.format.is_structured and all(map(_has_near_coordinates, storages))

    def appends_in_parts(self, shape: tuple[int, ...]) -> bool:
        """Return whether several threads append parts of a result, if the parts fit in memory."""
        return False

    def structs(self, storages: Sequence[Storage]) -> list[Any]:
        """Return the C structs of the operands, and of the fill values that functions read."""
        return [*[s.struct for s in storages], *self.fill_structs]


def _has_near_coordinates(storage: Storage) -> bool:
    """Return whether all coordinates of a tensor fit 32 bits: those that it stores, and those that it counts."""
    format = storage.format
    if format.is_structured or "int64" in storage.type.index_dtypes:
        return False
    sizes = zip(format.levels, format.level_shape(storage.shape), strict=True)
    return all(n <= INT32_MAX for level, n in sizes if level.has_every)


class EvaluatedAssembly(Assembly):
    """An assembly whose function ``evaluate`` writes a whole result, or ``compute`` its values."""

    counts = 1
    """Numbers that ``compute`` takes beside the tensors."""

    @cached
    def main(self) -> str:
        """Return the name of the function that writes what a result does not share."""
        return "assemble" if self.facts.keeps_values else "evaluate"

    @cached
    def functions(self) -> Functions:
        return self.loops.functions("kernel")

    @cached
    def evaluate(self) -> Any:
        return self.functions[self.main]

    def values(self, result: Storage, storages: Sequence[Storage], threads: int) -> None:
        counts = counts_pointer(self._counts_of(result))
        if status := self.functions["compute"](result.struct, *self.structs(storages), counts, 1):
            self.fail(status, result.shape)

    def _counts_of(self, result: Storage) -> np.ndarray:
        """Return the numbers that ``compute`` takes."""
        return np.zeros(self.counts, np.int64)

    def entry_points(self, threads: int) -> EntryPoints:
        return self.functions, (self.main,)

    @property
    def origins(self) -> tuple[str | None, ...]:
        return (self.functions.origin(self.main),)

    def fail(self, status: int, shape: tuple[int, ...]) -> NoReturn:
        """Raise the error of a status that a function returned."""
        fail(status, f"the workspaces of {self.facts.text}, with a result of shape {shape}")


class LocatedAssembly(EvaluatedAssembly):
    """Assembly of a dense result: its values are written at places that the loops locate."""

    def make(
        self, storages: Sequence[Storage], shape: tuple[int, ...], threads: int, out: Storage | None = None
    ) -> Storage:
        result = self._unwritten(storages, shape, out)
        status = self.evaluate(result.struct, *[s.struct for s in storages], *self.fill_structs, _NO_COUNTS, threads)
        if status:
            self.fail(status, shape)
        return result

    def _unwritten(self, storages: Sequence[Storage], shape: tuple[int, ...], out: Storage | None) -> Storage:
        """Return a result without values, or with those of ``out``, to which loops add."""
        vals = memory.empty(prod(shape), self.dtype) if out is None else self._copied(out, shape)
        return Storage(shape, self.type, (), vals)

    def _copied(self, out: Storage, shape: tuple[int, ...]) -> np.ndarray:
        name, text = self.facts.target.tensor, self.facts.text
        if out.shape != shape:
            raise ShapeError(f"{name} has shape {out.shape}, but what is added has shape {shape}, in {text}")
        if (out.type.format, out.type.dtype) != (self.type.format, self.type.dtype):  # values would be taken for others
            raise FormatError(f"{text} adds to a tensor of {self.type}, and {name} is {out.type}")
        copied: np.ndarray = out.vals.copy()
        return copied

    def structure(self, storages: Sequence[Storage], shape: tuple[int, ...], threads: int) -> Storage:
        return Storage(shape, self.type, (), memory.zeros(prod(shape), self.dtype))

    @cached
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.type.dtype)

    def bytes(self, shape: tuple[int, ...]) -> int:
        return prod(shape) * self.dtype.itemsize


class SharedAssembly(LocatedAssembly):
    """Assembly of a result that shares the index arrays of an operand: its values have the places of the operand's."""

    @cached
    def _lead(self) -> int:
        """Return the place of the operand."""
        assert self.facts.lead is not None
        return self.facts.operands.index(self.facts.lead)

    def _unwritten(self, storages: Sequence[Storage], shape: tuple[int, ...], out: Storage | None) -> Storage:
        lead, fill = storages[self._lead], self.type.fill
        size = len(lead.vals)
        # Loops leave out padding, which gets the fill value.
        if self.type.format.is_compact:
            vals = memory.empty(size, self.dtype)
        elif type(fill) is int and fill == 0:
            vals = memory.zeros(size, self.dtype)
        else:
            vals = memory.empty(size, self.dtype)
            vals.fill(fill)
        return Storage(shape, self.type, lead.arrays, vals)

    def structure(self, storages: Sequence[Storage], shape: tuple[int, ...], threads: int) -> Storage:
        lead = storages[self._lead]
        return Storage(shape, self.type, lead.arrays, memory.zeros(len(lead.vals), self.dtype))

    def needs_wide_index(self, shape: tuple[int, ...]) -> bool:
        return False  # the operand has index arrays that hold its own coordinates


_NO_COUNTS = counts_pointer(np.zeros(1, np.int64))
