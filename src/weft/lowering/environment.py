"""What is known at a place in a loop nest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import lit
from ..records import record

__all__ = ["Environment", "Strip"]


@record
class Strip:
    """``width`` coordinates from ``low`` on, which a loop over ``inner`` counts from 0."""

    inner: str
    low: ir.Expr
    width: int


@record
class Environment:
    """What is known at a place in the loop nest.

    ``coords`` are the coordinates of the enclosing loops, ``pos`` the positions reached in each access's levels,
    ``segments`` the ends of runs of duplicates, ``values`` values already summed, ``whole`` whether all that a variable
    can still become lies inside the tensor, ``tiles`` the parts of variables' ranges that enclosing loops are in, and
    ``strips`` such parts that are counted from 0.
    """

    coords: Mapping[str, ir.Expr] = field(default_factory=dict)
    pos: Mapping[tuple[Access, int], ir.Expr] = field(default_factory=dict)
    segments: Mapping[tuple[Access, int], ir.Expr] = field(default_factory=dict)
    values: Mapping[Access, ir.Expr] = field(default_factory=dict)
    whole: Mapping[str, ir.Expr] = field(default_factory=dict)
    tiles: Mapping[str, tuple[ir.Expr, ir.Expr]] = field(default_factory=dict)
    strips: Mapping[str, Strip] = field(default_factory=dict)

    def parent(self, access: Access, level: int) -> ir.Expr | None:
        return lit(0) if level == 0 else self.pos.get((access, level - 1))
