"""Kinds of functions of a kernel, and the array by which they report to the host."""

from __future__ import annotations

from enum import Enum

from ..ir.nodes import Var

COUNTS = Var("counts", "int64*")
"""Array parameter for the numbers of positions, and for limits that depend on the function."""


class FunctionKind(Enum):
    """Function of a module that a loop nest becomes.

    ``COUNT`` counts the coordinates of each appended level. ``BOUND`` computes an upper bound of that count: equal
    coordinates that reach a workspace are counted separately. ``WIDEST`` is no function, but the loops that determine
    the largest number of values that reach a workspace at one time. ``ASSEMBLE`` writes level arrays, ``COMPUTE``
    writes values, and ``EVALUATE`` writes both.
    """

    COUNT = "count"
    BOUND = "bound"
    WIDEST = "widest"
    ASSEMBLE = "assemble"
    COMPUTE = "compute"
    EVALUATE = "evaluate"

    @property
    def structure(self) -> bool:
        """True if level arrays are written."""
        return self in (FunctionKind.ASSEMBLE, FunctionKind.EVALUATE)

    @property
    def values(self) -> bool:
        """True if values are written."""
        return self in (FunctionKind.COMPUTE, FunctionKind.EVALUATE)
