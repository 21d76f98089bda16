"""Remappings: from the coordinates of a tensor's axes to those that its levels store (2020 paper, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..errors import NotationError
from ..records import cached, record
from .inverse import interval_of, invert
from .nodes import Axis, IndexExpr, axes_of, to_text
from .parser import parse

__all__ = ["Remapping"]


@record
class Remapping:
    """One coordinate for each level, made of the coordinates of the axes.

    Parameters
    ----------
    coordinates : sequence of IndexExpr or int
        For each level an expression of the axes; a number is that axis itself.
    order : int, optional
        Number of axes; by default there are as many as coordinates.

    Examples
    --------
    >>> Remapping.parse("(i,j) -> (j,i)").mode_order
    (1, 0)
    >>> str(Remapping.parse("(row,col) -> (row/M, col/N, row%M, col%N)", M=2, N=3))
    '(i,j) -> (i/2,j/3,i%2,j%3)'
    """

    coordinates: tuple[IndexExpr, ...]
    order: int

    def __init__(self, coordinates: Sequence[IndexExpr | int], order: int | None = None):
        made = tuple(Axis(c) if isinstance(c, int) else c for c in coordinates)
        order = len(made) if order is None else order
        if any(axis >= order for c in made for axis in axes_of(c)):
            raise NotationError(f"coordinates {made} need more than {order} axes")
        object.__setattr__(self, "coordinates", made)
        object.__setattr__(self, "order", order)
        numbers = tuple(c.number for c in made if isinstance(c, Axis))
        self.__dict__["is_permutation"] = len(made) == order and sorted(numbers) == list(range(order))
        if all(isinstance(c, Axis) for c in made) and not self.is_permutation:
            raise NotationError(f"mode order {numbers} is not a permutation of 0..{order - 1}")
        self.__dict__["_modes"] = numbers
        self.__dict__["_hash"] = hash((made, order))

    def __hash__(self) -> int:
        return self.__dict__["_hash"]  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        """What pickles is made of: without the hash, which differs from process to process."""
        return Remapping, (self.coordinates, self.order)

    is_permutation = False  # whether each level stores one axis as it is

    @classmethod
    @lru_cache(maxsize=64)
    def identity(cls, order: int) -> Remapping:
        """Level ``k`` stores axis ``k``."""
        return cls(tuple(range(order)))

    @classmethod
    @lru_cache(maxsize=256)
    def parse(cls, text: str, **parameters: int) -> Remapping:
        """Read the notation of Fig. 8, such as ``(i,j) -> (i/M,j/N,i%M,j%N)``.

        Parameters
        ----------
        text : str
            The remapping.
        **parameters : int
            Values of names that are neither axes nor bound by a let.

        Raises
        ------
        NotationError
            When the text is malformed; it points at the place.
        """
        coordinates, order = parse(text, parameters)
        try:
            return cls(coordinates, order)
        except NotationError as error:
            raise NotationError(str(error), text, text.index("->") + 2) from None

    @property
    def mode_order(self) -> tuple[int, ...]:
        """Level ``k`` stores axis ``mode_order[k]``.

        Raises
        ------
        NotationError
            When the remapping is no permutation of the axes.
        """
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
        """Each axis as an expression of the levels' coordinates; None where they do not decide it.

        Examples
        --------
        >>> [to_text(e, "ab") for e in Remapping.parse("(i,j) -> (j-i,j)").inverse()]
        ['b-a', 'b']
        """
        return self._inverse

    def extents(self, shape: Sequence[int]) -> tuple[tuple[int, int] | None, ...]:
        """The half-open interval of each level's coordinates in a tensor of this shape; None for counters."""
        return _extents(self, tuple(shape))

    def __str__(self) -> str:
        names = "ijklmnopqrstuvwxyzabcdefgh"
        n = self.order
        axes = list(names[:n]) if n <= len(names) else [f"i{a}" for a in range(n)]
        return f"({','.join(axes)}) -> ({','.join(to_text(c, axes) for c in self.coordinates)})"


@lru_cache(maxsize=4096)
def _extents(remapping: Remapping, shape: tuple[int, ...]) -> tuple[tuple[int, int] | None, ...]:
    found = (interval_of(c, shape) for c in remapping.coordinates)
    return tuple(None if e is None else (e[0], max(e)) for e in found)


def inverse_permutation(permutation: Sequence[int]) -> tuple[int, ...]:
    """Return the permutation that undoes another.

    Examples
    --------
    >>> inverse_permutation((2, 0, 1))
    (1, 2, 0)
    """
    back = [0] * len(permutation)
    for place, axis in enumerate(permutation):
        back[axis] = place
    return tuple(back)
