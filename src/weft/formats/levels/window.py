"""Levels that show some coordinates of another level as ``0, 1, 2, ...``: what an index makes of an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.builder import add, eq, ge, land, lit, lt, mul, sub
from ...ir.nodes import Binary, Expr, Select
from ...records import record, replace
from ...remapping import Axis, Remapping
from ..level import LevelFormat, LevelVars
from .access import element
from .dense import Dense

__all__ = ["Picked", "Shown", "Window"]


@record
class Shown(LevelFormat):
    """Some coordinates of the level ``inner``, whose arrays it shares.

    Where ``inner`` finds every coordinate by arithmetic, so does this level, which costs what it shows.

    Parameters
    ----------
    inner : LevelFormat
        The level that stores the coordinates.
    """

    inner: LevelFormat = Dense()

    compact = False
    sortable = False

    # It is what its level is: these are read from instances only.
    letter = property(lambda self: self.inner.letter)
    iteration = property(lambda self: self.inner.iteration)
    locates = property(lambda self: self.inner.locates)
    full = property(lambda self: self.inner.has_every)
    partial = property(lambda self: self.inner.has_every)
    branchless = property(lambda self: self.inner.branchless)
    borrows = property(lambda self: self.inner.borrows)

    @property
    def shown(self) -> LevelFormat:
        return self.inner

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        if not isinstance(remapping.coordinates[k], Axis):
            return "it shows coordinates of an axis"
        if self.inner.iteration == "value" and not self.inner.has_every:
            return f"{self.inner} finds its coordinates by those of its ancestors"
        return self.inner.why_not(levels, remapping, k)

    def _inner(self, m: LevelVars) -> LevelVars:
        """The level's own dimension: what it shows has another."""
        raise NotImplementedError

    def _stored(self, m: LevelVars, coord: Expr) -> Expr:
        """The coordinate that the inner level has for one of this level."""
        raise NotImplementedError

    def coord_bounds(self, m: LevelVars, parent: Expr, coords: tuple[Expr, ...]) -> tuple[Expr, Expr]:
        return lit(0), m.dimension

    def locate(self, m: LevelVars, parent: Expr, coord: Expr) -> Expr:
        return self.inner.locate(self._inner(m), parent, self._stored(m, coord))

    def get_size(self, m: LevelVars, parent_size: Expr) -> Expr:
        return self.inner.get_size(self._inner(m), parent_size)

    def stored(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any] | None:
        return None  # what is stored is of another level, whose promises are about all of it

    def __str__(self) -> str:
        return f"{type(self).__name__.lower()}({self.inner})"


@record
class Window(Shown):
    """Coordinate ``c`` is coordinate ``start + c * step`` of ``inner``: a slice.

    A level that is iterated by position is iterated as it is: coordinates outside or between are passed over.

    Parameters
    ----------
    step : int
        1 or -1 where that is known when compiling; 0 where it is in the array, as ``start`` always is.
    """

    step: int = 0

    roles = property(lambda self: (*self.inner.roles, "window"))

    @property
    def gapless(self) -> bool:
        return bool(self.inner.has_every)

    def _inner(self, m: LevelVars) -> LevelVars:
        return replace(m, dimension=element(m["window"], lit(2)))

    def _stored(self, m: LevelVars, coord: Expr) -> Expr:
        """The coordinate that the inner level has for one of the window's."""
        start = element(m["window"], lit(0))
        if self.step == 1:
            return add(start, coord)
        if self.step == -1:
            return sub(start, coord)
        return add(start, mul(coord, element(m["window"], lit(1))))

    def _shown(self, m: LevelVars, stored: Expr) -> Expr:
        """The window's coordinate for one of the inner level's; negative, or too large, where it has none."""
        start = element(m["window"], lit(0))
        if self.step == 1:
            return sub(stored, start)
        if self.step == -1:
            return sub(start, stored)
        by, far = element(m["window"], lit(1)), sub(stored, start)
        whole = eq(Binary("%", far, by), lit(0))
        if self.inner.iteration == "position" and not self.inner.gapless:
            whole = land(ge(stored, lit(0)), whole)
        return Select(whole, Binary("/", far, by), lit(-1))

    def pos_bounds(self, m: LevelVars, parent: Expr) -> tuple[Expr, Expr]:
        return self.inner.pos_bounds(self._inner(m), parent)

    def pos_access(self, m: LevelVars, p: Expr, parent: Expr, coords: tuple[Expr, ...]) -> Expr:
        return self._shown(m, self.inner.pos_access(self._inner(m), p, parent, coords))

    def valid(self, m: LevelVars, coord: Expr) -> Expr | None:
        return None if self.gapless else land(ge(coord, lit(0)), lt(coord, m.dimension))

    def child_pos(self, m: LevelVars, p: Expr, coord: Expr) -> Expr:
        return self.inner.child_pos(self._inner(m), p, self._stored(m, coord))

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
    """Coordinate ``c`` is coordinate ``picked[c]`` of ``inner``, which finds coordinates: an array of indices.

    They are iterated by value, and where ``inner`` does not have them all, each is searched for.
    """

    partial = True

    iteration = property(lambda self: "value")
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
