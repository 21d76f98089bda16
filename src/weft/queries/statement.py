"""Concrete index notation of attribute queries: results indexed by functions of index variables, and ``map``.

The 2020 paper extends concrete index notation by both (section 5.2). A statement here is one assignment inside its
loops, with the statement that computes its temporary.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..records import record
from ..remapping.nodes import IndexExpr, axes_of, to_text
from .nodes import NAMES


@record
class Reference:
    """An access of a tensor: ``B`` is the queried tensor, ``W`` a temporary, ``Q`` the result."""

    tensor: str
    indices: tuple[IndexExpr, ...]

    def __str__(self) -> str:
        return f"{self.tensor}({','.join(to_text(e, NAMES) for e in self.indices)})"


@record
class Map:
    """``value`` where ``of`` is an entry (or true), and zero elsewhere."""

    of: Reference | Map
    value: IndexExpr

    def __str__(self) -> str:
        return f"map({self.of}, {to_text(self.value, NAMES)})"


@record
class Width:
    """The number of entries that a tensor stores below some coordinates, times a constant.

    A level tells the number, so no entries are counted.
    """

    of: Reference
    times: IndexExpr

    def __str__(self) -> str:
        return f"width({self.of})*{to_text(self.times, NAMES)}"


Value = Map | Width | Reference


@record
class Statement:
    """Loops over axes around one assignment."""

    # The axes. ``Axis(n)`` in the target and the value is the index variable of the loop over axis ``n``.
    loops: tuple[int, ...]
    target: Reference  # the element that is assigned to
    op: str | None  # the reduction: ``"|"``, ``"+"`` or ``"max"``; None for a plain assignment
    value: Value
    where: Statement | None = None  # the statement that computes the temporary that the value reads

    def __str__(self) -> str:
        sign = {None: "=", "max": "max="}.get(self.op, f"{self.op}=")
        loops = "".join(f"∀{NAMES[n]} " for n in self.loops)
        text = f"{loops}{self.target} {sign} {self.value}"
        return text if self.where is None else f"({text}) where ({self.where})"


def references(value: Value) -> Iterator[Reference]:
    """Yield the references that a value reads."""
    match value:
        case Reference():
            yield value
        case Map(of=of) | Width(of=of):
            yield from references(of)


def free_axes(reference: Reference) -> frozenset[int]:
    """Return the axes that the coordinates of a reference depend on."""
    return frozenset(axis for e in reference.indices for axis in axes_of(e))
