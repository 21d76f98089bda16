"""Morton levels: compressed, in the order of a space-filling curve (2020 paper, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import ClassVar

from ...records import record
from ...remapping import Remapping
from ...remapping.nodes import Binary, Constant, IndexExpr
from ..level import LevelFormat, Span
from .compressed import Compressed

__all__ = ["Morton", "morton_codes"]

WORD = 62
"""Bits of a code that go into one number, which int64 must hold with its sign and one more than the largest."""


def morton_codes(coords: Sequence[IndexExpr], intervals: Sequence[Span]) -> tuple[IndexExpr, ...]:
    """The Morton code of some coordinates, in as many numbers as it takes, the most significant first.

    Bit ``b`` of coordinate ``d`` of ``n`` is bit ``n*b + d`` of the code. Numbers of bits are rounded up, so that
    tensors of similar size have one code.

    Parameters
    ----------
    coords : sequence of IndexExpr
        The coordinates; they may begin below 0.
    intervals : sequence of (int, int)
        The half-open interval of each.

    Examples
    --------
    >>> from weft.remapping.nodes import Axis, evaluate
    >>> (code,) = morton_codes((Axis(0), Axis(1)), ((0, 4), (0, 4)))
    >>> [evaluate(code, point) for point in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (3, 3))]
    [0, 1, 2, 3, 4, 15]
    """
    n = len(coords)
    words: dict[int, IndexExpr] = {}
    for d, (coord, (begin, end)) in enumerate(zip(coords, intervals, strict=True)):
        from_zero = Binary("-", coord, Constant(begin)) if begin else coord
        for b in range(-(-max(end - begin - 1, 1).bit_length() // 4) * 4):
            word, place = divmod(n * b + d, WORD)
            shifted = Binary(">>", from_zero, Constant(b)) if b else from_zero
            bit: IndexExpr = Binary("&", shifted, Constant(1))
            bit = Binary("<<", bit, Constant(place)) if place else bit
            words[word] = Binary("|", words[word], bit) if word in words else bit
    return tuple(words[word] for word in sorted(words, reverse=True))


@record
class Morton(Compressed):
    """Compressed; its coordinates, taken with those of the branchless levels below it, come in Morton order.

    What is near in any direction is near in memory: the order of HiCOO's blocks and of the entries inside them.
    """

    ordered: bool = False

    letter: ClassVar[str] = "v"
    sortable: ClassVar[bool] = False
    shares: ClassVar[bool] = False
    curved: ClassVar[bool] = True

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        rest = list(takewhile(lambda level: level.branchless, levels[k + 1 :]))
        return "the levels of its list below it are in no order of their own" if any(v.ordered for v in rest) else None

    def codes(self, coords: Sequence[IndexExpr], intervals: Sequence[Span]) -> tuple[IndexExpr, ...]:
        return morton_codes(coords, intervals)

    def narrowed(self, below: LevelFormat) -> LevelFormat | None:
        return None  # what follows the curve of some axes is promised no order by others

    def uncurved(self) -> LevelFormat:
        return Compressed(unique=self.unique, full=self.full)
