"""Statements that compute parts of an expression: each has a name of its own, and equal parts are one."""

from __future__ import annotations

import itertools
from collections.abc import Collection

from ..index_notation.nodes import Access, Assignment, Expr
from ..index_notation.standard_names import canonical
from ..index_notation.traversal import accesses


class Statements:
    """The statements of the parts of one assignment."""

    def __init__(self, assignment: Assignment, taken: Collection[str] = ()):
        self.statements: list[Assignment] = []
        self.reasons: list[str] = []
        self._known: dict[Expr, tuple[Access, tuple[str, ...]]] = {}
        used = {*taken, *(a.tensor for a in accesses(assignment))}
        self._names = (name for k in itertools.count(1) if (name := f"T{k}") not in used)

    def fresh(self) -> str:
        """Return a name for a part."""
        return next(self._names)

    def add(self, target: Access, value: Expr, reason: str) -> Access:
        """Add the statement of a part, and return its tensor."""
        key, names = canonical(value)
        self._known[key] = target, names
        self.statements.append(Assignment(target, value))
        self.reasons.append(reason)
        return target

    def known(self, value: Expr) -> Access | None:
        """Return the tensor that holds an expression already, whatever its variables are; None if there is none."""
        if not self._known:
            return None
        key, names = canonical(value)
        if key not in self._known:
            return None
        access, order = self._known[key]
        place = dict(zip(order, names, strict=True))
        return Access(access.tensor, tuple([place[v] for v in access.indices]))
