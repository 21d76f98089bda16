"""Bounds of numbers of coordinates, in terms of the sizes of levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Literal

from ..records import record


@record
class SizeBound:
    """A bound of the number of coordinates of an expression: the size of a level, or what bounds of parts make."""

    op: Literal["size", "min", "sum", "prod"]
    tensor: str = ""
    level: int = 0
    parts: tuple[SizeBound, ...] = ()

    def __call__(self, sizes: Mapping[str, Sequence[int]]) -> int:
        """Return the bound for the sizes of the operands' levels."""
        if self.op == "size":
            return sizes[self.tensor][self.level]
        found: int = _TOGETHER[self.op]([part(sizes) for part in self.parts])
        return found


_TOGETHER: Mapping[str, Any] = {"min": min, "sum": sum, "prod": prod}
