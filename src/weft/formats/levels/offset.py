"""Offset levels: one coordinate under each parent, computed from those of the ancestors (2018 paper, Table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from ...ir.builder import add, lit
from ...ir.nodes import Expr
from ...records import record
from ...remapping import Remapping
from .. import level_bounds
from ..capabilities import Insertion, Locate, PositionIteration
from ..level import LevelFormat, LevelVars, Placing

__all__ = ["Offset"]


@record
class Offset(PositionIteration, Locate, Insertion):
    """A level without arrays, whose coordinate follows from the remapping.

    For example, it is ``i = j - d`` below diagonal ``d`` and column ``j``.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["dia"](2).levels]
    ['squeezed', 'range', 'offset']
    """

    letter: ClassVar[str] = "o"
    signed = True
    placing: ClassVar[Placing | None] = "get"
    apart: ClassVar[bool] = True
    branchless: ClassVar[bool] = True
    implied: ClassVar[bool] = True
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "direct"

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        if level_bounds.computed(remapping, k) is None:
            return "its coordinate does not follow from those of the levels above"
        return None

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        return parent, add(parent, lit(1))

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        assert m.computed is not None
        return m.computed(coords)

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        return parent

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return parent

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return parent_size

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return parent_size
