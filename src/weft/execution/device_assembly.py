"""Assembly of results on a device: the launches of a program, bound to arrays once for operands of certain sizes."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..code_options import CodeOptions, code_options
from ..config import config
from ..device_program import Binding, Choice, DeviceFacts, DeviceProgram, Fill, Launch, Scan
from ..doors import Door
from ..errors import DeviceError, FormatError, ShapeError
from ..records import cached
from ..runtime import devices
from ..runtime.beside import EntryPoints
from ..runtime.devices import Device, in_use
from ..storage import Storage
from ..variant import Variant
from .assembly import Assembly

if TYPE_CHECKING:
    from .. import device_code
else:
    device_code = Door("weft.device_code")

_SIZES = 1024  # sizes of operands for which a program is kept bound
_NUMBERS = 256  # numbers that are kept on devices


@cache
def _variant(code: CodeOptions) -> Variant:
    settings = {name: getattr(code, name) for name in CodeOptions.__match_args__}
    return Variant(options=code_options(**{**settings, "target": "cuda"}))


def variant_for(storages: Iterable[Storage]) -> Variant | None:
    """Return the variant of plans for operands on a device; None for operands on the CPU, which have the usual one."""
    if in_use and any(s.is_on_device for s in storages):
        return _variant(config.code)
    return None


class DeviceAssembly(Assembly):
    """Assembly of a dense result, or of one that shares an operand's index arrays, by the launches of a program."""

    @cached
    def names(self) -> tuple[str, ...]:
        """Return the names of the tensors that programs read, with those of fill values."""
        return (*self.facts.operands, *[name for name, _ in self.facts.fills])

    @cached
    def _device_facts(self) -> DeviceFacts:
        facts: DeviceFacts = device_code.device_facts(self.loops.module)
        return facts

    @cached
    def _segments(self) -> tuple[tuple[int, int], ...]:
        """Return the operand whose segments are shared, and the place among its arrays, for each array of positions."""
        facts = self._device_facts
        if not facts.balances:
            return ()
        names, tensors = {b.name: b for b in facts.bindings}, _tensors(facts.bindings)
        arrays = [names[name] for name in facts.segments]
        return tuple([(tensors.index(b.tensor) - 1, b.index) for b in arrays])

    @cached
    def _lead(self) -> int | None:
        """Return the operand whose index arrays the result shares, if any."""
        return None if self.facts.lead is None else self.facts.operands.index(self.facts.lead)

    @cached
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.type.dtype)

    @cached
    def _programs(self) -> dict[Choice, DeviceProgram]:
        return {}

    @cached
    def _bound(self) -> dict[tuple[Any, ...], BoundProgram]:
        """Return the programs by devices and sizes."""
        return {}

    def make(
        self, storages: Sequence[Storage], shape: tuple[int, ...], threads: int, out: Storage | None = None
    ) -> Storage:
        device, operands = self._on_device([*storages, *self.fills])
        result = self._unwritten(device, operands, shape, out)
        arrays, key = list[Any](), list[Any]([device])
        for s in (result, *operands):
            arrays.extend(s.arrays)
            arrays.append(s.vals)
            key.append(s.shape)
        key += [array.size for array in arrays]
        longest = self._longest(device, operands)
        program = self._bound.get((longest, *key))
        if program is None:
            if len(self._bound) >= _SIZES:
                self._bound.clear()
            program = self._bound[(longest, *key)] = self._bind(device, operands, result, longest)
        program.run(arrays)
        return result

    def choice(self, storages: Sequence[Storage], shape: tuple[int, ...]) -> Choice:
        """Return how threads share the work for operands and a result of this shape; raise if a device refuses it."""
        facts = self._device_facts
        device, operands = self._on_device([*storages, *self.fills])
        arrays: tuple[Any, ...] = ()
        number = prod(shape)
        if self._lead is not None:
            arrays, number = operands[self._lead].arrays, operands[self._lead].vals.size
        result = Storage(shape, self.type, arrays, np.broadcast_to(self.dtype.type(), number))
        tensors = dict(zip(_tensors(facts.bindings), (result, *operands), strict=True))
        return self._choice(tensors, self._longest(device, operands))

    def _longest(self, device: Device, operands: Sequence[Storage]) -> int:
        """Return the number of entries of the longest segment that is shared."""
        edges = [operands[n].arrays[index] for n, index in self._segments]
        return longest_segment(device, edges) if edges else 0

    def _choice(self, tensors: Mapping[str, Storage], longest: int) -> Choice:
        facts = self._device_facts
        choice: Choice = device_code.choose(
            facts, sizes_of(facts.bindings, tensors), longest, self.facts.variant.options
        )
        return choice

    def _on_device(self, storages: Sequence[Storage]) -> tuple[Device, list[Storage]]:
        """Return the device of the operands, and the operands with numbers moved there."""
        away = next(s for s in storages if s.is_on_device)
        device = devices.device(away.device)
        operands = []
        for name, s in zip(self.names, storages, strict=True):
            if s.is_on_device:
                operands.append(s)
            elif s.shape:
                raise DeviceError(f"{name} is on the CPU, and another operand on {device.name}; {self.facts.text}")
            else:
                operands.append(Storage((), s.type, (), _number(device, s.vals.dtype, s.vals.tobytes())))
        return device, operands

    def _unwritten(
        self, device: Device, operands: Sequence[Storage], shape: tuple[int, ...], out: Storage | None
    ) -> Storage:
        """Return a result without values, or with those of ``out``, to which loops add."""
        if out is not None:
            text = self.facts.text
            if out.shape != shape:
                raise ShapeError(f"{self.facts.target.tensor} has shape {out.shape}, not {shape}, in {text}")
            if (out.type.format, out.type.dtype) != (self.type.format, self.type.dtype):
                raise FormatError(f"{text} adds to a tensor of {self.type}, not to one of {out.type}")
            return Storage(shape, self.type, (), out.vals.copy())
        if self._lead is None:
            return Storage(shape, self.type, (), device.empty(prod(shape), self.dtype))
        lead = operands[self._lead]
        return Storage(shape, self.type, lead.arrays, device.empty(lead.vals.size, self.dtype))

    def _bind(self, device: Device, operands: Sequence[Storage], result: Storage, longest: int) -> BoundProgram:
        tensors = dict(zip(_tensors(self._device_facts.bindings), (result, *operands), strict=True))
        choice = self._choice(tensors, longest)
        program = self._programs.get(choice)
        if program is None:
            program = self._programs[choice] = device_code.device_program(self.loops.module, choice)
        return BoundProgram(device, program, tensors)

    # -- what only the CPU does -----------------------------------------------------------------------------------
    def structure(self, storages: Sequence[Storage], shape: tuple[int, ...], threads: int) -> Storage:
        raise DeviceError(f"assemble of {self.facts.text} does not run on a device yet; call the kernel")

    def values(self, result: Storage, storages: Sequence[Storage], threads: int) -> None:
        raise DeviceError(f"compute of {self.facts.text} does not run on a device yet; call the kernel")

    def entry_points(self, threads: int) -> EntryPoints:
        return self.loops.functions("kernel"), ()

    @property
    def origins(self) -> tuple[str | None, ...]:
        return ()

    def needs_wide_index(self, shape: tuple[int, ...]) -> bool:
        return False  # the result has index arrays of an operand, or none


def _tensors(bindings: Iterable[Binding]) -> tuple[str, ...]:
    """Return the names that bindings have for tensors: that of the result, then those of the operands."""
    return tuple(dict.fromkeys(b.tensor for b in bindings))


def sizes_of(bindings: Iterable[Binding], tensors: Mapping[str, Storage]) -> dict[str, int]:
    """Return the dimension, or the length of the array, that each name stands for."""
    sizes: dict[str, int] = {}
    for b in bindings:
        held = tensors[b.tensor]
        if b.part == "dimension":
            sizes[b.name] = held.shape[b.index]
        else:
            sizes[b.name] = (*held.arrays, held.vals)[b.index].size
    return sizes


class BoundProgram:
    """A program with its kernels on a device and its grids, for operands of certain sizes.

    ``run`` takes the arrays of the result and of the operands, each tensor's level arrays and then its values.
    """

    __slots__ = ("_device", "_numbers", "_scratch", "_steps")

    def __init__(self, device: Device, program: DeviceProgram, tensors: Mapping[str, Storage]) -> None:
        self._device = device
        known = sizes_of(program.bindings, tensors)
        names = [b.name for b in program.bindings if b.part != "array"]
        self._numbers = tuple([np.int64(known[name]) for name in names])
        places = {name: n for n, name in enumerate(names)}
        behind: dict[str, int] = {}  # the place behind each tensor's arrays
        place = len(names)
        for name, held in tensors.items():
            behind[name] = place = place + len(held.arrays) + 1
        for b in program.bindings:
            if b.part == "array":
                first = behind[b.tensor] - len(tensors[b.tensor].arrays) - 1
                places[b.name] = first + b.index if b.index >= 0 else behind[b.tensor] + b.index
        self._scratch = []
        for s in program.scratch:
            size = s.size.value(known)
            known[s.name], places[s.name], place = size, place, place + 1
            self._scratch.append((size, np.dtype(s.dtype)))
        kernels = _compiled(device, program)
        self._steps = tuple([_step(device, step, kernels, known, places) for step in program.steps])

    def run(self, arrays: Sequence[Any]) -> None:
        """Take the steps in turn."""
        values = (*self._numbers, *arrays)
        if self._scratch:
            values += tuple([self._device.empty(size, dtype) for size, dtype in self._scratch])
        for step in self._steps:
            step(values)


def _step(
    device: Device,
    step: Launch | Fill | Scan,
    kernels: Mapping[str, Any],
    known: Mapping[str, int],
    places: Mapping[str, int],
) -> Callable[[Sequence[Any]], None]:
    """Return the function that takes a step of a program on all values that it may name."""
    match step:
        case Launch():
            kernel, blocks, threads, launch = kernels[step.kernel], step.blocks(known), step.block, device.launch
            taken = [places[name] for name in step.arguments]
            pick: Any = itemgetter(*taken) if len(taken) > 1 else lambda values: tuple(values[n] for n in taken)
            return lambda values: launch(kernel, blocks, threads, pick(values))
        case Fill():
            place, value, fill = places[step.array], step.value, device.fill
            return lambda values: fill(values[place], value)
        case Scan():
            start, stop = (sum(size.value(known) for size in sizes) for sizes in (step.start, step.stop))
            place, op = places[step.array], step.op
            return lambda values: device.scan(values[place], start, stop, op)


_kernels: dict[tuple[str, str], Mapping[str, Any]] = {}


def _compiled(device: Device, program: DeviceProgram) -> Mapping[str, Any]:
    """Return the kernels of a program on a device, which programs of the same text share."""
    key = device.name, program.source
    kernels = _kernels.get(key)
    if kernels is None:
        kernels = _kernels.setdefault(key, device.compile(program.source))
    return kernels


_numbers: dict[tuple[Any, ...], Any] = {}


def _number(device: Device, dtype: np.dtype[Any], data: bytes) -> Any:
    """Return a number as an array of one element on a device."""
    key = device, dtype, data
    number = _numbers.get(key)
    if number is None:
        if len(_numbers) >= _NUMBERS:
            _numbers.clear()
        number = _numbers[key] = device.copy_in(np.frombuffer(data, dtype))
    return number


_longest: dict[tuple[int, ...], tuple[list[weakref.ref[Any]], int]] = {}


def longest_segment(device: Device, edges: Sequence[Any]) -> int:
    """Return the number of entries of the longest segment, which is asked once for arrays of positions.

    Each array has indices into the one before, as where segments consist of segments.
    """
    key = tuple([id(array) for array in edges])
    known = _longest.get(key)
    if known is not None and all(ref() is array for ref, array in zip(known[0], edges, strict=True)):
        return known[1]
    positions, *above = [device.copy_out(array) for array in edges]
    for array in above:
        positions = positions[array]
    longest = int(np.diff(positions).max(initial=0))
    _longest[key] = [weakref.ref(array, lambda _: _longest.pop(key, None)) for array in edges], longest
    return longest
