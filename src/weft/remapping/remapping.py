"""Remappings that permute the axes: ``(i,j) -> (j,i)`` stores columns first.

The notation is that of the 2020 paper's Fig. 8; what is implemented is its permutations, which is what dense and
compressed levels need. Anything else is refused with a message, never read as something it is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ..errors import NotationError

__all__ = ["Remapping"]

_STATEMENT = re.compile(r"\s*\(([^()]*)\)\s*->\s*\(([^()]*)\)\s*$")


@dataclass(frozen=True, slots=True)
class Remapping:
    """A permutation of axes: level ``k`` stores axis ``mode_order[k]``.

    Parameters
    ----------
    mode_order : tuple of int
        A permutation of ``range(order)``.

    Examples
    --------
    >>> Remapping.parse("(i,j) -> (j,i)").mode_order
    (1, 0)
    """

    mode_order: tuple[int, ...]

    def __post_init__(self) -> None:
        if sorted(self.mode_order) != list(range(len(self.mode_order))):
            raise NotationError(f"mode order {self.mode_order} is not a permutation of 0..{len(self.mode_order) - 1}")

    @classmethod
    def identity(cls, order: int) -> Remapping:
        return cls(tuple(range(order)))

    @classmethod
    @lru_cache(maxsize=256)
    def parse(cls, text: str) -> Remapping:
        """Read ``(i,j) -> (j,i)``.

        Raises
        ------
        NotationError
            When the text is malformed, or is more than a permutation.
        """
        match = _STATEMENT.match(text)
        if match is None:
            raise NotationError("a remapping reads '(i,j) -> (j,i)'", text, 0)
        sides = [[name.strip() for name in side.split(",")] if side.strip() else [] for side in match.groups()]
        source, target = sides
        if len(set(source)) != len(source) or not all(name.isidentifier() for name in source):
            raise NotationError("the left of a remapping names each axis once", text, match.start(1))
        if sorted(source) != sorted(target):
            raise NotationError("only remappings that permute the axes are supported", text, match.start(2))
        return cls(tuple(source.index(name) for name in target))

    @property
    def is_identity(self) -> bool:
        return self.mode_order == tuple(range(len(self.mode_order)))

    def __str__(self) -> str:
        names = "ijklmnopqrstuvwxyzabcdefgh"
        n = len(self.mode_order)
        axes = list(names[:n]) if n <= len(names) else [f"i{a}" for a in range(n)]
        return f"({','.join(axes)}) -> ({','.join(axes[a] for a in self.mode_order)})"
