"""Operand conversions: operands that are stored again so that the loops can read them, and their new formats."""

from __future__ import annotations

from functools import lru_cache

from ..formats import Bitset, Compressed, Dense, Format, Hashed, TensorType
from ..index_notation.nodes import Access, Expr
from ..index_notation.traversal import replaced
from ..records import record
from ..remapping import Remapping


@record
class OperandConversion:
    """An operand stored again, so that its levels follow the loops."""

    tensor: str  # name of the operand
    name: str  # name of the operand after conversion
    format: Format
    reason: str  # Reason for the conversion, for ``explain``
    accesses: tuple[Access, ...] = ()  # Accesses that read the converted operand

    def renamed(self, expr: Expr) -> Expr:
        """Return an expression whose accesses read the converted operand."""
        for access in self.accesses:
            expr = replaced(expr, access, Access(self.name, access.indices))
        return expr


@lru_cache(maxsize=1024)
def reordered(format: Format, modes: tuple[int, ...]) -> Format:
    """Return a format over another order of axes; a coordinate list becomes compressed levels."""
    # Levels that could not be merged or located would not help the loops either.
    if any(level.branchless or not level.merges or level.locates is None for level in format.canonical().levels):
        return Format(Remapping(modes), (Compressed(),) * len(modes))
    return Format(Remapping(modes), format.canonical().levels)


@lru_cache(maxsize=1024)
def found_by_coordinate(format: Format, no_dense_levels: bool) -> Format:
    """Return a format whose outermost level can locate a coordinate, without any new stored entries.

    The level is an array over the dimension, or a bit for each coordinate if it is the only level; but a hash table if
    ``no_dense_levels`` are possible.
    """
    root = Hashed() if no_dense_levels else Bitset() if format.order == 1 else Dense()
    return Format(format.remapping, (root, *format.levels[1:]))


def widest_index(type: TensorType) -> str:
    return "int64" if "int64" in type.index_dtypes else "int32"
