"""Traversal of statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .. import trees
from .nodes import Assign, Forall, Stmt, Where

statements: Callable[[Stmt], Iterator[Stmt]] = trees.walk
rewrite: Callable[[Stmt, Callable[[Stmt], Stmt | None]], Stmt] = trees.rewrite
rewrite_outermost: Callable[[Stmt, Callable[[Stmt], Stmt | None]], Stmt] = trees.rewrite_outermost


def assignments(stmt: Stmt) -> Iterator[Assign]:
    """Return an iterator over every ``Assign`` in ``stmt``, in program order."""
    return (s for s in statements(stmt) if isinstance(s, Assign))


def result_of(stmt: Stmt) -> Assign:
    """Return the last assignment of ``stmt``, which writes what the statement computes."""
    return list(assignments(stmt))[-1]


def foralls_of(stmt: Stmt) -> Iterator[Forall]:
    """Return an iterator over every ``Forall`` in ``stmt``, outermost first and producers before consumers."""
    return (s for s in statements(stmt) if isinstance(s, Forall))


def wheres_of(stmt: Stmt) -> Iterator[Where]:
    """Return an iterator over every ``Where`` in ``stmt``, outermost first."""
    return (s for s in statements(stmt) if isinstance(s, Where))
