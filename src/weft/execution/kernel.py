"""Kernels: compiled assignments, with the shapes of their results, the memory of a run and its threads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import prod
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np

from ..config import config
from ..doors import Door
from ..dtypes import INT64_MAX
from ..errors import IndexOverflowError, ShapeError
from ..formats import TensorType
from ..index_notation.operator_table import OPERATORS
from ..records import cached
from ..runtime import for_work, get_num_threads, memory
from ..storage import Storage, fill_of, tensor_type
from ..variant import Variant
from .alternatives import BY_SHAPE, WIDE_INDEX, Alternative, work
from .append_assembly import AppendAssembly
from .assembly import Assembly, LocatedAssembly, SharedAssembly
from .device_assembly import DeviceAssembly
from .encoding import Unsayable, encode
from .facts import EntryRequest, LoopFacts
from .insertion_assembly import InsertionAssembly
from .loops import Loops, asked, show
from .plan_cache import kept
from .structure import Structure, check_writable, require_structure

if TYPE_CHECKING:
    from ..analysis import runtime_fills
    from ..module import Module
    from . import planning, summary
else:
    runtime_fills, summary = Door("weft.analysis.runtime_fills"), Door("weft.execution.summary")
    planning = Door("weft.execution.planning")

watching: dict[int, list[tuple[Kernel, tuple[Storage, ...]]]] = {}
"""The kernels that threads have run while they were watched, with their operands, by thread."""


@contextmanager
def watched() -> Iterator[list[tuple[Kernel, tuple[Storage, ...]]]]:
    """Yield the list of all kernels that this thread runs, with their operands."""
    outer = watching.get(get_ident())
    runs = watching[get_ident()] = []
    try:
        yield runs
    finally:
        watching.pop(get_ident())
        if outer is not None:
            watching[get_ident()] = outer


class Kernel:
    """Kernel of one assignment, compiled for the types of its operands.

    Functions that read fill values when they run are shared by kernels: each has values, and a type of the result.
    """

    def __init__(self, loops: Loops, fills: Mapping[str, Any] | None = None, type: TensorType | None = None):
        self.loops, self._given = loops, fills
        self.facts = facts = loops.facts
        self.type, values = facts.type, []
        if fills is not None:
            self.type = type or with_fill(self.type, fills)
            values = [runtime_fills.evaluate(value, fills) for _, value in facts.fills]
        read = [Storage.dense(np.asarray(value)) for value in values]
        self.assembly = _assembly_of(facts)(loops, self.type, read)
        # By the operands' shapes: the shape of the result; and the bytes of large workspaces, or an alternative.
        self._shapes: dict[tuple[tuple[int, ...], ...], tuple[int, ...]] = {}
        self._large: dict[tuple[tuple[int, ...], ...], int | Alternative] = {}
        self._others: dict[str, Kernel] = {}
        if fills is None:
            show(loops)

    def encoded(self) -> Any:
        """Return the JSON form of the kernel, for the index of plans."""
        if self._given is not None:
            raise Unsayable("fill values that are read")
        return encode(self.loops)

    @classmethod
    def decoded(cls, loops: Loops) -> Kernel:
        """Return the kernel of loops."""
        return cls(loops)

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of the operands, in the order in which ``run`` takes them."""
        return self.facts.operands

    @cached
    def chunked(self) -> bool:
        """Return whether threads can share the outermost loop, or the passes of an insertion."""
        return self.loops.run.chunked

    # -- shapes and memory --------------------------------------------------------------------------------------
    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]:
        """Return the shape of the result."""
        key = tuple([s.shape for s in storages])
        shape = self._shapes.get(key)
        if shape is None:
            extents = _sizes(self.loops, dict(zip(self.facts.operands, key, strict=True)), storages)
            shape = tuple([extents[v] for v in self.facts.target.indices])
            other = next((a for a in BY_SHAPE if a.wanted(self, storages)), None)
            if large := other or self._large_workspaces(extents):
                self._large[key] = large
            if len(self._shapes) < 1024:  # bounds the memory that many shapes take
                self._shapes[key] = shape
        return shape

    def _large_workspaces(self, extents: Mapping[str, int]) -> int:
        """Return the bytes of large workspaces for dimensions of these sizes, which each run checks; else 0."""
        size = sum(prod(extents.get(v, 1) for v in w.indices) * w.bytes for w in self.facts.workspaces)
        threads = get_num_threads()  # each has its own
        size = size * threads if size * threads >= memory.CHECKED and self.chunked else size
        return size if size >= memory.CHECKED else 0

    def wanted(self, storages: Sequence[Storage]) -> Alternative | None:
        """Return the alternative that operands of these shapes want; None for the usual loops."""
        self.shape(storages)
        large = self._large.get(tuple([s.shape for s in storages]))
        return large if isinstance(large, Alternative) else None

    def taking(self, alternative: Alternative) -> Kernel:
        """Return the kernel with the loops of an alternative."""
        if (kernel := self._others.get(alternative.name)) is None:
            loops = self.loops.varied(alternative.change, alternative.keeps_order)
            kernel = self._others[alternative.name] = Kernel(loops, self._given)
        return kernel

    # -- running ------------------------------------------------------------------------------------------------
    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        """Compute the result in new memory."""
        if watching and (runs := watching.get(get_ident())) is not None:
            runs.append((self, tuple(storages)))
        shape = self.shape(storages)
        if self._large and (large := self._large.get(tuple([s.shape for s in storages]))) is not None:
            if isinstance(large, Alternative):
                return self.taking(large).run(storages, out)
            size = large + self.assembly.bytes(shape)
            memory.require(size, f"the workspaces for a result of shape {shape} in format {self.type.format}")
        try:
            return self.assembly.make(storages, shape, self.threads(storages), out)
        except IndexOverflowError:  # of positions, which only a run can tell
            if self.facts.variant.conversion or "int32" not in self.type.index_dtypes:
                raise
        return self.taking(WIDE_INDEX).run(storages)

    def threads(self, storages: Sequence[Storage]) -> int:
        """Return the number of threads for which there is enough to do, and that can share the loops."""
        threads = for_work(work(storages)) if self.facts.variant.options.target == "c" else 1
        return threads if threads > 1 and self.chunked else 1

    # -- the two phases -----------------------------------------------------------------------------------------
    def assemble(self, storages: Sequence[Storage]) -> Storage:
        """Assemble the structure of the result, with zeros for its values (2017, section 6.3)."""
        result = self.assembly.structure(storages, self.shape(storages), self.threads(storages))
        if result.arrays:
            # To compute values on another structure would write beyond arrays: see require_structure.
            result.assembled_for = Structure(self.facts.text, self.operands, storages, self._ordering)
        return result

    @property
    def _ordering(self) -> Variant | None:
        """The variant if its loops decide the order of entries; None if the format does."""
        return None if all(level.ordered for level in self.type.format.levels) else self.facts.variant

    def compute(self, result: Storage, storages: Sequence[Storage]) -> Storage:
        """Compute new values on a structure that ``assemble`` made for operands of this structure."""
        if self.type.format.roles:
            require_structure(self.facts.text, result, storages, self._ordering)
        check_writable(self.facts.text, result, self.type, self.shape(storages))
        self.assembly.values(result, storages, self.threads(storages))
        return result

    # -- what the compiler shows --------------------------------------------------------------------------------
    @property
    def module(self) -> Module:
        """The functions as the compiler makes them."""
        return self.loops.module

    @property
    def source(self) -> str:
        """C source of the functions that ``run`` calls, as one complete text."""
        return self.module.source

    @property
    def stages(self) -> dict[str, str]:
        """Texts of all stages of the compiler, by name."""
        return self.module.stages

    @property
    def passes(self) -> dict[str, str]:
        """The text of what each pass of the compiler returned, by name."""
        return self.module.passes

    @property
    def ways(self) -> str:
        """The ways to the result, with their prices, and those that are refused."""
        return planning.listed_ways(self.loops)

    @property
    def origins(self) -> tuple[str | None, ...]:
        """The origin of each function that computes a part of the result, in words; None if it is not compiled yet."""
        return self.assembly.origins

    def summary(self, told: Collection[str] = (), storages: Sequence[Storage] = ()) -> str:
        """Return a few lines on the kernel for users; loops over the variables in ``told`` are left out."""
        return summary.summary(self.module, told, self.device_line(storages))

    def device_line(self, storages: Sequence[Storage] = ()) -> str:
        """Return the line on how a device shares the work, for operands if there are any; empty on a CPU."""
        if not isinstance(self.assembly, DeviceAssembly):
            return ""
        choice = partial(self.assembly.choice, storages, self.shape(storages)) if storages else None
        line: str = summary.device_line(self.module, choice)
        return line


def _sizes(loops: Loops, shapes: Mapping[str, tuple[int, ...]], storages: Sequence[Storage]) -> dict[str, int]:
    """Return the size of each index variable; raise if sizes contradict each other or a reduction is undefined."""
    extents: dict[str, int] = {}
    facts, text = loops.facts, loops.facts.text
    # A variable has one size in all operands, and the first operand that has it decides.
    for access in facts.accesses:
        for v, n in zip(access.indices, shapes[access.tensor], strict=True):
            if extents.setdefault(v, n) != n:
                of = zip(shapes.items(), storages, strict=True)
                given = ", ".join(f"{name}: {shape} {s.format}" for (name, shape), s in of)
                raise ShapeError(f"{v} is both {extents[v]} and {n} in {text}, with shapes {given}")
    # An empty reduction has a result only if its operator has an identity: a sum has, a minimum has not.
    for v, op in facts.reductions:
        if extents.get(v) == 0 and not OPERATORS[op].has_identity:
            raise ShapeError(f"{op} over {v}, of size 0, has no value, as it has no identity; in {text}")
    # Some reductions count their implicit entries: the number of coordinates must fit an int64.
    if prod(extents.values()) > INT64_MAX:
        for over in loops.run.counted:
            if prod(extents[v] for v in over) > INT64_MAX:
                raise IndexOverflowError(f"{text} reduces more coordinates of {', '.join(over)} than int64 counts")
    missing = [v for v in facts.target.indices if v not in extents]
    if missing:
        raise ShapeError(f"no operand has the index {missing[0]}, which would say its size, in {text}")
    return extents


def _assembly_of(facts: LoopFacts) -> type[Assembly]:
    if facts.variant.options.target != "c":
        return DeviceAssembly
    if facts.insertion is not None:
        return InsertionAssembly
    if facts.lead is not None:
        return SharedAssembly
    return AppendAssembly if facts.chains else LocatedAssembly


@kept
def insertion_kernel(source: TensorType, target: TensorType, skip_fill: bool, curved: bool = False) -> Kernel | str:
    """Return the kernel that converts ``source`` to ``target`` by insertion, or the reason why there is none."""
    if not (has_zero_fill(source) and has_zero_fill(target)):
        read, made, fills = runtime_fills.with_runtime_conversion(source, target)
        if fills:
            shared = insertion_kernel(read, made, skip_fill, curved)
            return shared if isinstance(shared, str) else Kernel(shared.loops, fills, target)
    loops = asked("insertion", EntryRequest(source, target, skip_fill, curved, config.code))
    return loops if isinstance(loops, str) else Kernel(loops)


def has_zero_fill(type: TensorType) -> bool:
    """Return whether a fill value is zero, which no kernel reads when it runs."""
    return type.fill.__class__ is int and type.fill == 0


def with_fill(type: TensorType, fills: Mapping[str, Any]) -> TensorType:
    """Return the type of a result whose fill value follows from those of the operands."""
    fill = fill_of(np.dtype(type.dtype), runtime_fills.evaluate(type.fill, fills))
    return tensor_type(type.dtype, type.format, type.index_dtypes, fill)
