"""Remappings of the coordinates of a tensor's axes to those that its levels store (2020 paper, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..dtypes import INT64_MAX
from ..errors import IndexOverflowError, NotationError
from ..records import cached, record
from ..trees import walk
from .inverse import interval_of, invert
from .nodes import Axis, IndexExpr, axes_of, to_text
from .parser import parse


@record
class Remapping:
    """A coordinate remapping: one coordinate for each level, computed from the coordinates of the axes.

    Examples
    --------
    >>> Remapping.parse("(i,j) -> (j,i)").mode_order
    (1, 0)
    >>> str(Remapping.parse("(row,col) -> (row/M, col/N, row%M, col%N)", M=2, N=3))
    '(i,j) -> (i/2,j/3,i%2,j%3)'
    """

    coordinates: tuple[IndexExpr, ...]  # an expression of the axes for each level. A number means that axis itself.
    order: int  # number of axes. By default it is the number of coordinates.

    def __init__(self, coordinates: Sequence[IndexExpr | int], order: int | None = None):
        parsed = tuple(Axis(c) if isinstance(c, int) else c for c in coordinates)
        order = len(parsed) if order is None else order
        if any(axis >= order for c in parsed for axis in axes_of(c)):
            raise NotationError(f"coordinates {parsed} need more than {order} axes")
        object.__setattr__(self, "coordinates", parsed)
        object.__setattr__(self, "order", order)
        # Kept beside the fields: all three are needed often, and none takes part in comparisons.
        numbers = tuple(c.number for c in parsed if isinstance(c, Axis))
        self.__dict__["is_permutation"] = len(parsed) == order and sorted(numbers) == list(range(order))
        if all(isinstance(c, Axis) for c in parsed) and not self.is_permutation:
            raise NotationError(f"mode order {numbers} is not a permutation of 0..{order - 1}")
        self.__dict__["_modes"] = numbers
        self.__dict__["_hash"] = hash((parsed, order))

    def __hash__(self) -> int:
        return self.__dict__["_hash"]  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the constructor and its arguments for pickle, without the hash, which differs between processes."""
        return Remapping, (self.coordinates, self.order)

    is_permutation = False  # true if each level stores one axis as it is; ``__init__`` sets it

    @classmethod
    @lru_cache(maxsize=64)
    def identity(cls, order: int) -> Remapping:
        """Return the remapping whose level ``k`` stores axis ``k``."""
        return cls(tuple(range(order)))

    @classmethod
    @lru_cache(maxsize=256)
    def parse(cls, text: str, **parameters: int) -> Remapping:
        """Return the remapping that a text means in the notation of Fig. 8, e.g. ``(i,j) -> (i/M,j/N,i%M,j%N)``."""
        coordinates, order = parse(text, parameters)
        try:
            return cls(coordinates, order)
        except NotationError as error:
            # The error is in the right side as a whole.
            raise NotationError(str(error), text, text.index("->") + 2) from None

    @property
    def mode_order(self) -> tuple[int, ...]:
        """Axes in the order of the levels: level ``k`` stores axis ``mode_order[k]``."""
        if not self.is_permutation:
            raise NotationError(f"{self} is not a permutation of the axes")
        return self.__dict__["_modes"]  # type: ignore[no-any-return]

    @cached
    def is_identity(self) -> bool:
        return self.is_permutation and self.mode_order == tuple(range(self.order))

    @cached
    def _inverse(self) -> tuple[IndexExpr | None, ...]:
        return invert(self.coordinates, self.order)

    def inverse(self) -> tuple[IndexExpr | None, ...]:
        """Return each axis as an expression of the levels' coordinates, or None where they do not determine it.

        ``Axis(k)`` in a result is the coordinate of level ``k``.

        Examples
        --------
        >>> [to_text(e, "ab") for e in Remapping.parse("(i,j) -> (j-i,j)").inverse()]
        ['b-a', 'b']
        """
        return self._inverse

    def extents(self, shape: Sequence[int]) -> tuple[tuple[int, int] | None, ...]:
        """Return the half-open interval of each level's coordinates in a tensor, or None for counters."""
        return _extents(self, tuple(shape))

    def __str__(self) -> str:
        names = "ijklmnopqrstuvwxyzabcdefgh"
        n = self.order
        axes = list(names[:n]) if n <= len(names) else [f"i{a}" for a in range(n)]
        return f"({','.join(axes)}) -> ({','.join(to_text(c, axes) for c in self.coordinates)})"


@lru_cache(maxsize=4096)
def _extents(remapping: Remapping, shape: tuple[int, ...]) -> tuple[tuple[int, int] | None, ...]:
    intervals = [interval_of(c, shape) for c in remapping.coordinates]
    for part in {part for c in remapping.coordinates for part in walk(c)}:
        _require_int64(part, shape, remapping)
    # Interval arithmetic may give an end before the begin if an axis has size 0.
    return tuple(None if e is None else (e[0], max(e)) for e in intervals)


def _require_int64(expr: IndexExpr, shape: tuple[int, ...], remapping: Remapping) -> None:
    """Raise an error if an expression may have values that kernels cannot compute."""
    found = interval_of(expr, shape)
    if found is not None and max(-found[0], found[1], found[1] - found[0]) > INT64_MAX:
        text = str(remapping)
        raise IndexOverflowError(
            f"a coordinate that {text} makes for a tensor of shape {shape} may be beyond 64-bit integers"
        )


def inverse_permutation(permutation: Sequence[int]) -> tuple[int, ...]:
    """Return the inverse of a permutation.

    Examples
    --------
    >>> inverse_permutation((2, 0, 1))
    (1, 2, 0)
    """
    back = [0] * len(permutation)
    for place, axis in enumerate(permutation):
        back[axis] = place
    return tuple(back)
