"""Concrete index notation as attribute queries need it: results indexed by functions of index variables, and ``map``.

The paper extends the notation of sparse tensor algebra by both (section 5.2); a statement here is one assignment below
its loops, with the statement that makes its temporary.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..records import record
from ..remapping.nodes import IndexExpr, axes_of, to_text
from .nodes import NAMES

__all__ = ["Map", "Reference", "Statement", "Value", "Width", "references"]


@record
class Reference:
    """A tensor at some coordinates: ``B`` what is asked about, ``W`` a temporary, ``Q`` the result."""

    tensor: str
    indices: tuple[IndexExpr, ...]

    def __str__(self) -> str:
        return f"{self.tensor}({','.join(to_text(e, NAMES) for e in self.indices)})"


@record
class Map:
    """``value`` where ``of`` is an entry (or true), else zero."""

    of: Reference | Map
    value: IndexExpr

    def __str__(self) -> str:
        return f"map({self.of}, {to_text(self.value, NAMES)})"


@record
class Width:
    """How many entries a tensor stores below some coordinates, times a constant: asked of a level, not counted."""

    of: Reference
    times: IndexExpr

    def __str__(self) -> str:
        return f"width({self.of})*{to_text(self.times, NAMES)}"


Value = Map | Width | Reference


@record
class Statement:
    """Loops over axes around one assignment.

    Parameters
    ----------
    loops : tuple of int
        The axes, ``Axis(n)`` in what is below.
    target : Reference
        What is assigned to.
    op : str or None
        The reduction: ``"|"``, ``"+"`` or ``"max"``; None for a plain assignment.
    value : Map, Width or Reference
        What is assigned.
    where : Statement or None
        Makes the temporary that the value reads.
    """

    loops: tuple[int, ...]
    target: Reference
    op: str | None
    value: Value
    where: Statement | None = None

    def __str__(self) -> str:
        sign = {None: "=", "max": "max="}.get(self.op, f"{self.op}=")
        loops = "".join(f"∀{NAMES[n]} " for n in self.loops)
        text = f"{loops}{self.target} {sign} {self.value}"
        return text if self.where is None else f"({text}) where ({self.where})"


def references(value: Value) -> Iterator[Reference]:
    """What a value reads."""
    match value:
        case Reference():
            yield value
        case Map(of=of) | Width(of=of):
            yield from references(of)


def free_axes(reference: Reference) -> frozenset[int]:
    """The axes that a reference's coordinates are made of."""
    return frozenset(axis for e in reference.indices for axis in axes_of(e))
