"""Operands stored again for the sake of the loops, and the formats they are stored in."""

from __future__ import annotations

from functools import lru_cache

from ..analysis.terms import rename
from ..formats import Compressed, Dense, Format, Hashed, TensorType
from ..index_notation.nodes import Access, Expr
from ..records import record
from ..remapping import Remapping

__all__ = ["OperandConversion", "coordinate_list_format", "found_by_coordinate", "reordered", "widest_index"]


@record
class OperandConversion:
    """An operand stored again, so that its levels follow the loops."""

    tensor: str
    name: str
    format: Format
    reason: str
    accesses: tuple[Access, ...] = ()

    def renamed(self, expr: Expr) -> Expr:
        """``expr`` with the accesses that read the new operand."""
        for access in self.accesses:
            expr = rename(expr, access, Access(self.name, access.indices))
        return expr


@lru_cache(maxsize=1024)
def coordinate_list_format(remapping: Remapping) -> Format:
    """Return the list of the coordinates that a remapping makes, as they come: neither ordered nor unique."""
    return Format.list_of(remapping)


@lru_cache(maxsize=1024)
def reordered(format: Format, modes: tuple[int, ...]) -> Format:
    """The format over another order of axes; a coordinate list becomes fibers."""
    if any(level.branchless or not level.merges or level.locates is None for level in format.canonical().levels):
        return Format(Remapping(modes), (Compressed(),) * len(modes))
    return Format(Remapping(modes), format.canonical().levels)


@lru_cache(maxsize=1024)
def found_by_coordinate(format: Format, wide: bool) -> Format:
    """The format with an outermost level that finds a coordinate, and has no entries that were not there before.

    That is an array over the dimension, if it is not ``wide`` and not the only level, and a hash table elsewhere.
    """
    root = Hashed() if wide or format.order == 1 else Dense()
    return Format(format.remapping, (root, *format.levels[1:]))


def widest_index(type: TensorType) -> str:
    return "int64" if "int64" in type.index_dtypes else "int32"
