"""Concrete index notation: loops, workspaces and the order of evaluation made explicit."""

from .checks import why_not_concrete
from .nodes import Assign, Fill, Forall, Program, Sequence, Split, Stmt, Where, Workspace, to_text
from .traversal import assignments

__all__ = [
    "Assign",
    "Fill",
    "Forall",
    "Program",
    "Sequence",
    "Split",
    "Stmt",
    "Where",
    "Workspace",
    "assignments",
    "to_text",
    "why_not_concrete",
]
