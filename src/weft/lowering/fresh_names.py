"""Names of the variables that a function declares."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.nodes import Var


class FreshNames:
    """Names that are declared in one function."""

    def __init__(self, reserved: Mapping[str, str]):
        self._reserved = {*reserved.values()}
        self._counts: dict[str, int] = {}
        self._declared: set[str] = set()

    def fresh(self, stem: str) -> Var:
        """Return a variable whose name begins with ``stem`` and is declared nowhere else."""
        n = self._counts.get(stem, 0)
        name = stem if n == 0 else f"{stem}_{n}"
        while name in self._declared or (n and name in self._reserved):
            n += 1
            name = f"{stem}_{n}"
        self._counts[stem] = n + 1
        self._declared.add(name)
        return Var(name)

    def copy(self) -> FreshNames:
        """Return names of another function, which has declared the same so far."""
        copy = FreshNames({})
        copy._reserved, copy._counts, copy._declared = self._reserved, {**self._counts}, {*self._declared}
        return copy
