"""Programs for a device: the text and the launches that a function of the compiler becomes, as plain records.

The compiler makes a program, and a device runs it: it compiles the text, allocates scratch memory, and takes the steps
in order. Nothing is read back to the host between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Literal as OneOf

from .records import record


@record
class Binding:
    """A name in kernels that stands for a part of a tensor: a dimension, an array, or the length of an array."""

    name: str
    tensor: str
    part: OneOf["dimension", "array", "length"]
    index: int  # the number of the dimension, or of the array in storage order; -1 for the values
    dtype: str  # the dtype of the elements; int64 for a number


@record
class Size:
    """A number that follows from dimensions and from lengths of arrays, by their names.

    It is the product of ``over``, divided by ``share`` and rounded up, times the product of ``times`` and ``factor``.
    """

    over: tuple[str, ...] = ()
    share: int = 1
    times: tuple[str, ...] = ()
    factor: int = 1

    def value(self, known: Mapping[str, int]) -> int:
        """Return the number, given dimensions and lengths by name."""
        return -(-prod(known[n] for n in self.over) // self.share) * prod(known[n] for n in self.times) * self.factor


@record
class Scratch:
    """Memory of one run that its steps share, whose elements have no values at first."""

    name: str
    dtype: str
    size: Size


@record
class Launch:
    """A kernel that a grid of teams runs; each team of ``lanes`` threads takes iterations until none is left.

    The result does not depend on the number of blocks, so that a device may launch fewer than ``teams`` asks for.
    """

    kernel: str
    teams: Size
    lanes: int
    block: int  # threads in a block
    arguments: tuple[str, ...]  # names of bindings and of scratch memory: pointers, and numbers as int64

    def blocks(self, known: Mapping[str, int], most: int = 65535) -> int:
        """Return the number of blocks for dimensions and lengths by name."""
        return max(1, min(most, -(-self.teams.value(known) * self.lanes // self.block)))


@record
class Fill:
    """All elements of an array become one value."""

    array: str
    value: bool | int | float


@record
class Scan:
    """The elements ``start`` to ``stop`` of an array become their running total, or their running maximum."""

    array: str
    start: tuple[Size, ...]  # the sum of these
    stop: tuple[Size, ...]
    op: OneOf["+", "maximum"]


@record
class DeviceProgram:
    """A program: all its kernels in one text, and the steps that a device takes."""

    source: str
    tensors: tuple[str, ...]  # the names that bindings use: the result, then the operands in the order of the kernel
    bindings: tuple[Binding, ...]
    scratch: tuple[Scratch, ...]
    steps: tuple[Launch | Fill | Scan, ...]
    notes: tuple[str, ...]  # how work is shared among threads, and why; for people


@record
class Choice:
    """A way in which threads share the work of a program."""

    lanes: int = 1  # threads in a team; a power of two up to 32
    balanced: bool = False  # True if a team takes a fixed number of stored entries instead of whole segments
    narrow: tuple[
        tuple[str, int], ...
    ] = ()  # dimensions that have few coordinates, and a number that they do not exceed


@record
class DeviceFacts:
    """Facts about loops on which the choice depends."""

    bindings: tuple[Binding, ...]
    # The arrays of positions whose segments teams take, each with indices into the one before.
    segments: tuple[str, ...] = ()
    entries: str = ""  # the array with one element for each entry of a segment
    inner: tuple[str, ...] = ()  # the dimensions of the dense inner loop that lanes share
    balances: bool = False  # True if entries can be shared equally
    runs: bool = False  # True if the segments are runs of equal coordinates, whose lengths no array has
