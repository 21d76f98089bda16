"""The IR variables of each tensor's dimensions, level arrays and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..ir.builder import lit, sub
from ..ir.nodes import Expr, Param, Var
from ..records import record
from ..remapping.emit_ir import emit
from . import Format, LevelVars, TensorType, level_bounds


@record
class TensorVars:
    """The variables of one tensor in generated code."""

    name: str
    type: TensorType
    dimensions: tuple[Var, ...]
    arrays: tuple[Var, ...]
    vals: Var
    levels: tuple[LevelVars, ...]

    @classmethod
    def of(cls, name: str, type: TensorType, unique: Callable[[str], str]) -> TensorVars:
        """Return the variables of a tensor."""
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
                # A borrowed array is that of the nearest level above that has one of this role.
                by_level[k][role] = next(by_level[n][role] for n in range(k - 1, -1, -1) if role in by_level[n])
        # The dimension of a level is that of an axis, unless the remapping computes other coordinates.
        if format.is_structured:
            levels = _structured(format, dimensions, by_level)
        else:
            levels = tuple(LevelVars(k, dimensions[axis], by_level[k]) for k, axis in enumerate(format.mode_order))
        return cls(name, type, dimensions, arrays, Var(unique(f"{name}_vals"), f"{type.dtype}*"), levels)

    def values_below(self, level: int) -> Expr:
        """Return the number of values below one parent of ``level``; all levels from it on are located."""
        size: Expr = lit(1)
        for own, m in zip(self.type.format.levels[level:], self.levels[level:], strict=True):
            size = own.get_size(m, size)
        return size

    def param(self, output: bool = False) -> Param:
        return Param(self.name, self.dimensions, self.arrays, self.vals, output)


def _structured(
    format: Format, dimensions: Sequence[Var], arrays: Sequence[Mapping[str, Var]]
) -> tuple[LevelVars, ...]:
    """Return the level variables of a structured format."""

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
