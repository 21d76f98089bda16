"""The IR names of each tensor's dimensions, level arrays and values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..formats import LevelVars, TensorType
from ..ir.nodes import Param, Var

__all__ = ["TensorVars"]


@dataclass(frozen=True)
class TensorVars:
    """One tensor as generated code sees it."""

    name: str
    type: TensorType
    dimensions: tuple[Var, ...]
    arrays: tuple[Var, ...]
    vals: Var
    levels: tuple[LevelVars, ...]

    @classmethod
    def of(cls, name: str, type: TensorType, unique: Callable[[str], str]) -> TensorVars:
        """Names for the tensor ``name`` (already legal C), made unique by ``unique``."""
        format = type.format
        dimensions = tuple(Var(unique(f"{name}{axis + 1}_dim")) for axis in range(format.order))
        arrays = tuple(
            Var(unique(f"{name}{k + 1}_{role}"), f"{dtype}*")
            for (k, role), dtype in zip(format.roles, type.index_dtypes, strict=True)
        )
        by_level: list[dict[str, Var]] = [{} for _ in format.levels]
        for (k, role), array in zip(format.roles, arrays, strict=True):
            by_level[k][role] = array
        levels = tuple(LevelVars(k, dimensions[axis], by_level[k]) for k, axis in enumerate(format.mode_order))
        return cls(name, type, dimensions, arrays, Var(unique(f"{name}_vals"), f"{type.dtype}*"), levels)

    def param(self, output: bool = False) -> Param:
        return Param(self.name, self.dimensions, self.arrays, self.vals, output)
