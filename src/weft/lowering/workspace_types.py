"""Types of workspaces, which loops iterate and locate like tensors."""

from __future__ import annotations

from typing import Any

from ..concrete_notation.nodes import Program, Workspace
from ..formats import Dense, Format, TensorType
from ..formats.workspace_levels import Listed, ListedHashed, Marked, Paired, Whole
from ..index_notation.operator_table import OPERATORS
from ..remapping import Remapping

_LEVELS = {
    "dense": Dense(), "scalar": Dense(), "list": Listed(), "hash": ListedHashed(), "flags": Marked(),
    "pairs": Paired(), "whole": Whole(),
}  # fmt: skip
LISTED = ("list", "hash", "flags", "pairs", "whole")
"""Kinds of workspaces that record which coordinates were written."""


def neutral_of(w: Workspace) -> Any:
    """Return the value of a workspace before anything is reduced into it."""
    return OPERATORS[w.op].start(w.dtype)


def workspace_types(program: Program) -> dict[str, TensorType]:
    """Return the types of all workspaces by name, in the form of tensor types."""
    return {w.name: _type(w) for w in program.workspaces}


def _type(w: Workspace) -> TensorType:
    order = len(w.indices)
    last = Paired(unique=False) if w.repeats else _LEVELS[w.kind]
    levels = (*[Dense()] * (order - 1), last)[:order]
    return TensorType.of(w.dtype, Format(Remapping.identity(order), levels), "int64")
