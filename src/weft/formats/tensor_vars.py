"""The IR names of each tensor's dimensions, level arrays and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..ir.builder import sub
from ..ir.nodes import Expr, Param, Var
from ..records import record
from ..remapping.emit_ir import emit
from . import Format, LevelVars, TensorType, level_bounds

__all__ = ["TensorVars"]


@record
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
        for k, level in enumerate(format.levels):
            for role in level.borrows:
                by_level[k][role] = next(by_level[n][role] for n in range(k - 1, -1, -1) if role in by_level[n])
        if format.is_structured:
            levels = _structured(format, dimensions, by_level)
        else:
            levels = tuple(LevelVars(k, dimensions[axis], by_level[k]) for k, axis in enumerate(format.mode_order))
        return cls(name, type, dimensions, arrays, Var(unique(f"{name}_vals"), f"{type.dtype}*"), levels)

    def param(self, output: bool = False) -> Param:
        return Param(self.name, self.dimensions, self.arrays, self.vals, output)


def _structured(
    format: Format, dimensions: Sequence[Var], arrays: Sequence[Mapping[str, Var]]
) -> tuple[LevelVars, ...]:
    """The levels of a format whose remapping makes coordinates of its own."""

    def bounds(level: int) -> Callable[[tuple[Expr, ...]], tuple[Expr, Expr]]:
        return lambda coords: level_bounds.interval(format.remapping, level, dimensions, coords)

    def coordinate(level: int) -> Callable[[tuple[Expr, ...]], Expr] | None:
        expr = level_bounds.computed(format.remapping, level)
        return None if expr is None else lambda coords: emit(expr, dict(enumerate(coords)), dimensions)

    ranges = level_bounds.level_ranges(format.remapping, dimensions)
    return tuple(
        LevelVars(k, sub(end, begin), arrays[k], begin, bounds(k), coordinate(k))
        for k, (begin, end) in enumerate(ranges)
    )
