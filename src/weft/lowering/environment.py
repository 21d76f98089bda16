"""Environments: the coordinates, positions and values that are known at one place of a loop nest."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import lit
from ..records import record

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


@record
class Strip:
    """Register strip: the coordinates from ``low`` on, which the loop over ``inner`` counts from 0."""

    inner: str
    low: ir.Expr
    width: int  # the most coordinates in it
    length: ir.Expr  # how many there are


@record
class Environment:
    """Coordinates, positions and values that are known at one place of a loop nest."""

    # The coordinate of each known index variable: those of enclosing loops and those derived from them.
    coords: Mapping[str, ir.Expr] = _NOTHING
    # The position of each located or iterated level, by access and level number.
    pos: Mapping[tuple[Access, int], ir.Expr] = _NOTHING
    # The ends of runs of duplicate coordinates, by access and level number. The children of a run are one segment
    # (iterator chaining; 2018, section 4.3).
    segments: Mapping[tuple[Access, int], ir.Expr] = _NOTHING
    # The half-open interval of the positions to visit of a level, where these are not all below its parent.
    limits: Mapping[tuple[Access, int], tuple[ir.Expr, ir.Expr]] = _NOTHING
    # Values that replace loads from an access, such as the sum of duplicates.
    values: Mapping[Access, ir.Expr] = _NOTHING
    # A condition for each derived variable whose coordinate is not known yet. The condition is true if every coordinate
    # that the variable can still take lies inside the tensor.
    inside: Mapping[str, ir.Expr] = _NOTHING
    # The half-open interval of the current tile, by the variable that is tiled.
    tiles: Mapping[str, tuple[ir.Expr, ir.Expr]] = _NOTHING
    # The current register strip, by the variable of the loop that is cut.
    strips: Mapping[str, Strip] = _NOTHING

    def parent(self, access: Access, level: int) -> ir.Expr | None:
        return lit(0) if level == 0 else self.pos.get((access, level - 1))
