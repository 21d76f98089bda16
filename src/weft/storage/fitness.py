"""Conditions that entries must satisfy for a format to hold them (``formats.soundness.conditions``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..formats import Format
from ..remapping.nodes import evaluate

__all__ = ["repeated", "why_unfit"]

Coords = Sequence[np.ndarray[Any, Any]]


def why_unfit(format: Format, shape: tuple[int, ...], coords: Coords) -> str | None:
    """Return which level of a format cannot hold entries, with two of their coordinates; None if all can.

    Parameters
    ----------
    format : Format
        The format that is to hold the entries.
    shape : tuple of int
        The shape of the tensor.
    coords : sequence of ndarray of int64
        The coordinates of the entries along each axis.
    """
    for condition in format.conditions:
        made = format.remapping.coordinates[: condition.level + 1]
        stored = [np.broadcast_to(evaluate(c, coords, shape=shape), coords[0].shape) for c in made]
        reason = _siblings(coords, stored) if condition.kind == "one child" else _missing(format, shape, stored)
        if reason is not None:
            return f"level {condition.level + 1} ({format.levels[condition.level]}) {reason}"
    return None


def _siblings(coords: Coords, stored: Coords) -> str | None:
    """Return a reason that names two entries with one parent and different coordinates below it, or None.

    Both give a column for each axis or level: ``stored`` the coordinates of the levels down to the one in question.
    """
    order = np.lexsort(stored[::-1])
    parents, own = [s[order] for s in stored[:-1]], stored[-1][order]
    clash = own[1:] != own[:-1]
    for parent in parents:
        clash &= parent[1:] == parent[:-1]
    if not clash.any():
        return None
    at = int(clash.argmax())
    first, second = (tuple(int(c[order[n]]) for c in coords) for n in (at, at + 1))
    return f"holds one coordinate under each parent, and the entries at {first} and {second} have the same parent"


def _missing(format: Format, shape: tuple[int, ...], stored: Coords) -> str | None:
    """Return a reason that says how many coordinates of how many there are under all parents, or None."""
    dimensions, parents, level = format.level_shape(shape), 1, len(stored) - 1
    for k in range(level):
        parents = parents * dimensions[k] if format.levels[k].has_every else _distinct(stored[: k + 1])
    wanted, there = parents * dimensions[level], _distinct(stored)
    if there == wanted:
        return None
    return f"is full, and of the {wanted} coordinates under its {parents} parents {there} are there"


def _distinct(columns: Coords) -> int:
    """Return how many different rows some columns have."""
    order = np.lexsort(columns[::-1])
    new = np.zeros(max(len(order) - 1, 0), bool)
    for column in columns:
        new |= column[order[1:]] != column[order[:-1]]
    return int(new.sum()) + (len(order) > 0)


def repeated(coords: Coords) -> tuple[int, ...] | None:
    """Return a coordinate that comes twice, or None if none does."""
    order = np.lexsort(coords[::-1])
    same = np.ones(max(len(order) - 1, 0), bool)
    for column in coords:
        same &= column[order[1:]] == column[order[:-1]]
    return tuple(int(c[order[int(same.argmax())]]) for c in coords) if same.any() else None
