"""Concrete index notation: loops, workspaces and order made explicit."""

from .nodes import Assign, Fill, Forall, Program, Sequence, Stmt, Where, Workspace, accesses, assignments, to_text

__all__ = [
    "Assign",
    "Fill",
    "Forall",
    "Program",
    "Sequence",
    "Stmt",
    "Where",
    "Workspace",
    "accesses",
    "assignments",
    "to_text",
]
