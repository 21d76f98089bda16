"""Traversal of statements."""

from __future__ import annotations

from collections.abc import Callable

from .. import trees
from .nodes import Assign, Forall, Stmt, Where

statements: Callable[[Stmt], list[Stmt]] = trees.walk
rewrite: Callable[[Stmt, Callable[[Stmt], Stmt | None]], Stmt] = trees.rewrite
rewrite_outermost: Callable[[Stmt, Callable[[Stmt], Stmt | None]], Stmt] = trees.rewrite_outermost


def assignments(stmt: Stmt) -> list[Assign]:
    """Return every ``Assign`` in ``stmt``, in program order."""
    return [s for s in statements(stmt) if isinstance(s, Assign)]


def result_of(stmt: Stmt) -> Assign:
    """Return the last assignment of ``stmt``, which writes what the statement computes."""
    return assignments(stmt)[-1]


def foralls_of(stmt: Stmt) -> list[Forall]:
    """Return every ``Forall`` in ``stmt``, outermost first and producers before consumers."""
    return [s for s in statements(stmt) if isinstance(s, Forall)]


def wheres_of(stmt: Stmt) -> list[Where]:
    """Return every ``Where`` in ``stmt``, outermost first."""
    return [s for s in statements(stmt) if isinstance(s, Where)]
