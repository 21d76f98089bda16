"""Conditions that entries must satisfy for a format to hold them (``formats.soundness.conditions``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..formats import Format
from ..remapping.nodes import evaluate

Coords = Sequence[np.ndarray[Any, Any]]


def why_unfit(format: Format, shape: tuple[int, ...], coords: Coords) -> str | None:
    """Return the reason why a level cannot hold some entries (two that conflict, coordinates that lack), or None."""
    for condition in format.conditions:
        # A condition concerns the coordinates that the levels down to its own store.
        made = format.remapping.coordinates[: condition.level + 1]
        stored = [np.broadcast_to(evaluate(c, coords, shape=shape), coords[0].shape) for c in made]
        reason = _siblings(coords, stored) if condition.kind == "one child" else _missing(format, shape, stored)
        if reason is not None:
            return f"level {condition.level + 1} ({format.levels[condition.level]}) {reason}"
    return None


def _siblings(coords: Coords, stored: Coords) -> str | None:
    """Return a reason that names two entries with one parent and different coordinates below it, or None.

    ``coords`` are those of the axes, ``stored`` those of the levels down to the one in question.
    """
    order = np.lexsort(stored[::-1])
    parents, own = [s[order] for s in stored[:-1]], stored[-1][order]
    # Sorted by parent, then by own coordinate: entries that conflict are neighbors.
    clash = own[1:] != own[:-1]
    for parent in parents:
        clash &= parent[1:] == parent[:-1]
    if not clash.any():
        return None
    at = int(clash.argmax())
    first, second = (tuple(int(c[order[n]]) for c in coords) for n in (at, at + 1))
    return f"holds one coordinate under each parent, and the entries at {first} and {second} have the same parent"


def _missing(format: Format, shape: tuple[int, ...], stored: Coords) -> str | None:
    """Return a reason unless a full level stores every coordinate of its dimension under every parent."""
    dimensions, parents, level = format.level_shape(shape), 1, len(stored) - 1
    # A level with all coordinates multiplies its parents. Any other level has one position for each tuple.
    for k in range(level):
        parents = parents * dimensions[k] if format.levels[k].has_every else _distinct(stored[: k + 1])
    required, stored_here = parents * dimensions[level], _distinct(stored)
    if stored_here == required:
        return None
    return f"is full, and of the {required} coordinates under its {parents} parents {stored_here} are there"


def _distinct(columns: Coords) -> int:
    """Return the number of different rows in some columns."""
    order = np.lexsort(columns[::-1])
    new = np.zeros(max(len(order) - 1, 0), bool)
    for column in columns:
        new |= column[order[1:]] != column[order[:-1]]
    return int(new.sum()) + (len(order) > 0)


def repeated(coords: Coords) -> tuple[int, ...] | None:
    """Return a coordinate tuple that occurs twice, or None if there is none."""
    order = np.lexsort(coords[::-1])
    same = np.ones(max(len(order) - 1, 0), bool)
    for column in coords:
        same &= column[order[1:]] == column[order[:-1]]
    return tuple(int(c[order[int(same.argmax())]]) for c in coords) if same.any() else None
