"""Levels that show some coordinates of another level as ``0, 1, 2, ...``, as indexing of an axis requires."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.builder import add, eq, ge, land, lit, lt, mul, sub
from ...ir.nodes import Binary, Expr, Select
from ...records import record, replace
from ...remapping import Axis, Remapping
from ..capabilities import ComputedCoordinates, Locate, PositionIteration, ValueIteration
from ..level import LevelFormat, LevelVars
from .access import element
from .dense import Dense

__all__ = ["Picked", "Window"]


@record
class Shown(ValueIteration, Locate, ComputedCoordinates):
    """A level that shows some coordinates of the level ``inner``, whose arrays it shares.

    If ``inner`` locates every coordinate by arithmetic, this level does, too. An iteration then visits the shown
    coordinates only.

    Parameters
    ----------
    inner : LevelFormat
        The level that stores the coordinates.
    """

    inner: LevelFormat = Dense()

    compact = False
    sortable = False

    # Capabilities and properties follow from the inner level, so they can be read from instances only.
    letter = property(lambda self: self.inner.letter)
    repeated_letter = property(lambda self: self.inner.repeated_letter)
    locates = property(lambda self: self.inner.locates)
    full = property(lambda self: self.inner.has_every)
    partial = property(lambda self: self.inner.has_every)
    row_major = property(lambda self: self.inner.row_major)  # those of the shown coordinates
    branchless = property(lambda self: self.inner.branchless)
    borrows = property(lambda self: self.inner.borrows)

    @property
    def shown(self) -> LevelFormat:
        return self.inner

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        if not isinstance(remapping.coordinates[k], Axis):
            return "it shows coordinates of an axis"
        # ``coord_bounds`` covers all coordinates of this level, so the inner level must have a position for each.
        if self.inner.iteration == "value" and not self.inner.has_every:
            return f"{self.inner} finds its coordinates by those of its ancestors"
        return self.inner.why_not(levels, remapping, k)

    def _inner(self, m: LevelVars) -> LevelVars:
        """Return the variables of the inner level, whose dimension is another than that of this level."""
        raise NotImplementedError

    def _stored(self, m: LevelVars, coord: Expr) -> Expr:
        """Return the coordinate of the inner level for a coordinate of this level."""
        raise NotImplementedError

    def coord_bounds(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> tuple[Expr, Expr]:
        return lit(0), m.dimension

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        return self.inner.require(Locate).locate(self._inner(m), parent, self._stored(m, coord))

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return self.inner.get_size(self._inner(m), parent_size)

    def stored(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any] | None:
        return None  # properties of the stored coordinates, such as order, are those of the inner level

    def __str__(self) -> str:
        return f"{type(self).__name__.lower()}({self.inner})"


@record
class Window(Shown, PositionIteration):
    """A slice of another level: coordinate ``c`` is coordinate ``start + c * step`` of ``inner``.

    If ``inner`` is iterated by position, all of its positions are iterated. Coordinates outside the slice are skipped.

    Parameters
    ----------
    step : int
        1 or -1 if that is known at compile time. 0 if the step is read from the array, as ``start`` always is.

    Examples
    --------
    >>> import weft
    >>> from weft.formats import Window
    >>> Window().ordered, Window().unique
    (True, True)
    """

    step: int = 0

    # A window is iterated as the inner level is.
    iteration = property(lambda self: self.inner.iteration)
    walks = property(lambda self: self.inner.walks)
    roles = property(lambda self: (*self.inner.roles, "window"))

    @property
    def gapless(self) -> bool:
        return bool(self.inner.has_every)

    def _inner(self, m: LevelVars) -> LevelVars:
        return replace(m, dimension=element(m["window"], lit(2)))  # window = [start, step, inner dimension]

    def _stored(self, m: LevelVars, coord: Expr) -> Expr:
        """Return the coordinate of the inner level for a coordinate of the window."""
        start = element(m["window"], lit(0))
        if self.step == 1:
            return add(start, coord)
        if self.step == -1:
            return sub(start, coord)
        return add(start, mul(coord, element(m["window"], lit(1))))

    def _shown(self, m: LevelVars, stored: Expr) -> Expr:
        """Return the coordinate of the window for a coordinate of the inner level.

        The result is negative or too large for a coordinate that the window does not show.
        """
        start = element(m["window"], lit(0))
        # A known step saves the division.
        if self.step == 1:
            return sub(stored, start)
        if self.step == -1:
            return sub(start, stored)
        # C's remainder is right for both signs here: only whether it is zero matters.
        by, far = element(m["window"], lit(1)), sub(stored, start)
        is_shown = eq(Binary("%", far, by), lit(0))
        if self.inner.iteration == "position" and not self.inner.gapless:  # -1 marks a position without an entry
            is_shown = land(ge(stored, lit(0)), is_shown)
        return Select(is_shown, Binary("/", far, by), lit(-1))

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        return self.inner.require(PositionIteration).pos_bounds(self._inner(m), parent)

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        inner = self.inner.require(PositionIteration)
        return self._shown(m, inner.pos_access(self._inner(m), p, parent, coords))

    def valid(self, m: LevelVars, coord: Expr) -> Expr | None:
        return None if self.gapless else land(ge(coord, lit(0)), lt(coord, m.dimension))

    def child_pos(self, m: LevelVars, p: Expr, coord: Expr) -> Expr:
        return self.inner.require(PositionIteration).child_pos(self._inner(m), p, self._stored(m, coord))

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return (*self.inner.array_sizes(parent_size, size, dimension), 3)

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return self.inner.size(parent_size, int(np.asarray(arrays["window"])[2]), arrays)

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        start, step, size = np.asarray(arrays["window"]).tolist()
        if step == 0 or (self.step and step != self.step):
            return f"the window's step is {step}"
        if dimension and not (0 <= start < size and 0 <= start + (dimension - 1) * step < size):
            return f"the window shows {dimension} coordinates from {start} in steps of {step}, of {size} there are"
        return self.inner.check(parent_size, size, arrays)


@record
class Picked(Shown):
    """A level indexed by an array: coordinate ``c`` is coordinate ``picked[c]`` of ``inner``.

    The level is iterated by value. ``inner`` locates each coordinate, which may fail unless ``inner`` has them all.

    Examples
    --------
    >>> import weft
    >>> from weft.formats import Picked
    >>> Picked().ordered, Picked().unique
    (True, True)
    """

    partial = True

    misses = property(lambda self: not self.inner.has_every)
    scattered = property(lambda self: self.inner.has_every)
    roles = property(lambda self: (*self.inner.roles, "picked", "whole"))

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        if not self.inner.picks:
            return f"{self.inner} does not find coordinates"
        return super().why_not(levels, remapping, k)

    def _inner(self, m: LevelVars) -> LevelVars:
        return replace(m, dimension=element(m["whole"], lit(0)))

    def _stored(self, m: LevelVars, coord: Expr) -> Expr:
        return element(m["picked"], coord)

    def array_sizes(self, parent_size: int, size: int, dimension: int) -> tuple[int, ...]:
        return (*self.inner.array_sizes(parent_size, size, dimension), dimension, 1)

    def size(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> int:
        return self.inner.size(parent_size, int(np.asarray(arrays["whole"])[0]), arrays)

    def check(self, parent_size: int, dimension: int, arrays: Mapping[str, object]) -> str | None:
        picked, size = np.asarray(arrays["picked"]), int(np.asarray(arrays["whole"])[0])
        if len(picked) and (picked.min() < 0 or picked.max() >= size):
            return f"picked holds coordinates outside [0, {size})"
        return self.inner.check(parent_size, size, arrays)
