"""Range levels: an interval of coordinates that the ancestors determine, and no coordinates (2018 paper, Table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np

from ...ir.builder import add, lit, minimum, mul
from ...ir.nodes import Expr, Stmt
from ...records import record
from ...remapping import Axis, Remapping
from ..capabilities import Insertion, Locate, QueriedEdges, ValueIteration
from ..level import LevelFormat, LevelVars, Placing
from .access import element, put

__all__ = ["Range"]


@record
class Range(ValueIteration, Locate, Insertion, QueriedEdges):
    """A level with the coordinates that lie inside the tensor below their ancestors, and ``width`` positions a parent.

    The interval of coordinates follows from the format's remapping. Below diagonal ``d`` of ``(i,j) -> (j-i,j,i)``, the
    interval is ``[max(0, d), min(J, I + d))``. The position of coordinate ``c`` is ``p_{k-1} * width + c``.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["dia"](2).levels]
    ['squeezed', 'range', 'offset']
    """

    letter: ClassVar[str] = "r"
    signed = True
    bounded: ClassVar[bool] = True
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "direct"
    compact: ClassVar[bool] = False
    implied: ClassVar[bool] = True
    placing: ClassVar[Placing | None] = "get"
    apart: ClassVar[bool] = True
    roles: ClassVar[tuple[str, ...]] = ("width",)

    @property
    def spans(self) -> bool:
        return True

    @property
    def stores(self) -> bool:
        return False

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        if not isinstance(remapping.coordinates[k], Axis):
            return "it stores nothing of its coordinate, which must be that of an axis"
        return None

    def coord_bounds(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> tuple[Expr, Expr]:
        # Arrays from other packages, such as the data of SciPy's dia, may be narrower than the tensor.
        begin, end = m.coordinates(coords)
        return begin, minimum(end, element(m["width"], lit(0)))

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        return add(mul(parent, element(m["width"], lit(0))), coord)

    def get_pos(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return self.locate(m, parent, coords[m.level])

    def first_arrays(self, parent_size: int, dimension: int) -> Mapping[str, int]:
        return {"width": 1}

    def insert_edges(self, m: LevelVars, parent_size: Expr) -> Stmt:
        return put(m["width"], lit(0), m.dimension)

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return mul(parent_size, element(m["width"], lit(0)))

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return (1,)

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        width = arrays.get("width")  # a result is sized before it has arrays
        return parent_size * (dimension if width is None else int(np.asarray(width)[0]))

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        width = np.asarray(arrays["width"])
        if len(width) != 1 or width[0] < 0:
            return f"width is one number that is not negative, not {width.tolist()}"
        return None
