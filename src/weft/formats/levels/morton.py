"""Morton levels: compressed levels in the order of a space-filling curve (2020 paper, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import ClassVar

from ...records import record
from ...remapping import Remapping
from ...remapping.nodes import Binary, Constant, IndexExpr
from ..capabilities import CurveOrder
from ..level import LevelFormat, Span
from .compressed import Compressed, InsertedSegments

__all__ = ["Morton", "morton_codes"]

WORD = 62
"""Number of bits of a code in one word: int64 must hold the sign, and one more than the largest value."""


def morton_codes(coords: Sequence[IndexExpr], intervals: Sequence[Span]) -> tuple[IndexExpr, ...]:
    """Return the Morton code of some coordinates, as words of which the most significant is first.

    Bit ``b`` of coordinate ``d`` of ``n`` is bit ``n*b + d`` of the code. The number of bits of a coordinate is rounded
    up to a multiple of 4, so that tensors of similar sizes have the same code.

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
        for b in range(-(-max(end - begin - 1, 1).bit_length() // 4) * 4):  # the number of bits, rounded up
            # Move bit ``b`` of the coordinate to its place in its word.
            word, place = divmod(n * b + d, WORD)
            shifted = Binary(">>", from_zero, Constant(b)) if b else from_zero
            bit: IndexExpr = Binary("&", shifted, Constant(1))
            bit = Binary("<<", bit, Constant(place)) if place else bit
            words[word] = Binary("|", words[word], bit) if word in words else bit
    return tuple(words[word] for word in sorted(words, reverse=True))


@record
class Morton(InsertedSegments, CurveOrder):
    """A compressed level whose tuples are in Morton order.

    A tuple has the coordinates of this level and of the branchless levels below it. Elements that are close in any
    direction are close in memory. HiCOO sorts its blocks, and the entries inside each block, in this order.

    Examples
    --------
    >>> import weft
    >>> [str(level) for level in weft.formats["hicoo"](2).levels]
    ['morton(¬O¬U)', 'singleton(¬O)', 'morton(¬O¬U)', 'singleton(¬O)']
    """

    ordered: bool = False

    letter: ClassVar[str] = "v"
    repeated_letter: ClassVar[str | None] = None
    sortable: ClassVar[bool] = False

    def why_not(self, levels: Sequence[LevelFormat], remapping: Remapping, k: int) -> str | None:
        rest = list(takewhile(lambda level: level.branchless, levels[k + 1 :]))
        return "the levels of its list below it are in no order of their own" if any(v.ordered for v in rest) else None

    def codes(self, coords: Sequence[IndexExpr], intervals: Sequence[Span]) -> tuple[IndexExpr, ...]:
        return morton_codes(coords, intervals)

    def narrowed(self, below: LevelFormat) -> LevelFormat | None:
        return None  # a curve through all axes gives the remaining axes no order

    def uncurved(self) -> LevelFormat:
        return Compressed(unique=self.unique, full=self.full)
