"""Merge lattices (2017 paper, section 5; 2018 paper, sections 4.2 and 4.4).

A lattice is a tuple of points, largest first. A point names the level iterators that have values: those that are
co-iterated and those that are located. Construction follows the operator table. A point of one operand alone exists
unless the other operand, if it is implicit, annihilates the operator. Level properties decide everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from math import inf
from typing import Any

from ..concrete_notation.values import same_value
from ..formats import LevelFormat
from ..index_notation.nodes import Access, Expr, Reduce
from ..records import keeps_hash, record
from .implicit_values import implicit_value
from .iteration_algebra import fold, iteration_algebra

MANY_CASES = 128
"""Largest number of lattice points in one loop nest; a C compiler takes about a second for that many."""


class TooManyCases(Exception):
    """A merge lattice has more points than allowed: their number doubles with each operand that may be implicit."""


@keeps_hash
@record
class LevelIterator:
    """Iterator over one level of an access, or over the whole dimension (the universe) if ``access`` is None."""

    access: Access | None
    level: int
    format: LevelFormat
    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def key(self) -> tuple[Access, int]:
        """Access and level number that are iterated."""
        assert self.access is not None
        return self.access, self.level

    def reads(self, tensor: str) -> bool:
        """Return whether this is an iterator over a level of a tensor."""
        return self.access is not None and self.access.tensor == tensor

    @property
    def locatable(self) -> bool:
        """True if locating a coordinate is cheaper than iterating the level."""
        return self.format.has_every or self.format.locates == "probe"

    @property
    def certain(self) -> bool:
        """True if every coordinate is located without a miss."""
        return self.format.has_every

    @property
    def full(self) -> bool:
        return self.format.full


@record
class Point:
    """Lattice point: one case of a merge, with the iterators that have a value in that case.

    Those in ``coiterate`` are iterated together. Those in ``located`` are located at the coordinate that results.
    """

    coiterate: tuple[LevelIterator, ...] = ()
    located: tuple[LevelIterator, ...] = ()

    @property
    def iterators(self) -> tuple[LevelIterator, ...]:
        return self.coiterate + self.located

    def __le__(self, other: Point) -> bool:
        return set(self.coiterate) <= set(other.coiterate) and set(self.iterators) <= set(other.iterators)


def _unique(iterators: Iterable[LevelIterator]) -> tuple[LevelIterator, ...]:
    return tuple(dict.fromkeys(iterators))


def _conjunction(p: Point, q: Point) -> Point:
    """Combine points of two operands that both have a value: co-iterate one, locate the other (2018, section 4.4)."""
    must = _unique(it for it in p.coiterate + q.coiterate if not it.locatable)
    located = _unique(it for it in p.coiterate + q.coiterate if it.locatable)
    if not must and located:
        # All could be located, but one must be iterated: preferably one that stores fewer than all coordinates.
        walked = min(located, key=lambda it: (it.certain, not it.format.walks))
        must, located = (walked,), tuple(it for it in located if it is not walked)
    return Point(must, _unique(located + p.located + q.located))


def _union(p: Point, q: Point) -> Point:
    """Combine points of operands either of which may have a value: all are co-iterated, but one full level."""
    coiterate = _unique(p.coiterate + q.coiterate)
    locate = _unique(it for it in p.located + q.located if it not in coiterate)
    # One full iterator visits every coordinate, at which the other full ones are located.
    full = [it for it in coiterate if it.full]
    extra = tuple(it for it in full[1:] if it.locatable)
    return Point(tuple(it for it in coiterate if it not in extra), _unique(locate + extra))


def _distinct(points: Iterable[Point], most: float) -> tuple[Point, ...]:
    """Return the first point of each set of iterators that may have no value.

    Full levels make no difference to such a set: they have a value in every case in which their operand has any.
    """
    cases: dict[tuple[frozenset[LevelIterator], bool], Point] = {}
    for p in points:
        cases.setdefault((frozenset(it for it in p.iterators if not it.full), bool(p.iterators)), p)
        if len(cases) > most:
            raise TooManyCases
    return tuple(cases.values())


def _points(
    expr: Expr,
    iterators: Callable[[Access], tuple[LevelIterator, ...]],
    fills: Callable[[Access], Any],
    most: float,
) -> tuple[Point, ...]:
    def operand(access: Access | Reduce) -> tuple[Point, ...]:
        assert isinstance(access, Access)
        # Several levels over one variable, as in A(i,i): the outermost is iterated, the others are located.
        levels = iterators(access)
        return (Point(levels[:1], levels[1:]),)

    def meet(a: tuple[Point, ...], b: tuple[Point, ...], deciding: tuple[int, ...]) -> tuple[Point, ...]:
        # There is no point without an operand that decides, and none without one that has no iterators, such as a
        # scalar, since that one has a value at every coordinate.
        combine = _conjunction if deciding else _union
        alone = () if 1 in deciding or Point() in b else a
        others = () if 0 in deciding or Point() in a else b
        return _distinct(chain((combine(p, q) for p in a for q in b), alone, others), most)

    region = iteration_algebra(expr, lambda part: implicit_value(part, fills))
    return fold(region, operand, meet, lambda a, b: meet(a, b, ())) or ()


def build(
    expr: Expr,
    iterators: Callable[[Access], tuple[LevelIterator, ...]],
    fills: Callable[[Access], Any],
    universe: LevelIterator,  # the whole dimension, for coordinates that no operand stores
    neutral: Any,  # the value that the target holds if nothing is computed
    most: float = inf,
) -> tuple[Point, ...]:
    """Return the lattice of one variable, largest point first; empty if no value differs from ``neutral``."""
    points = list(_points(expr, iterators, fills, most))
    # The empty point stands for coordinates at which no iterator has a value. This point is needed if the target does
    # not hold the implicit value anyway.
    everywhere = Point() in points
    if not everywhere and not same_value(implicit_value(expr, fills), neutral):
        everywhere = True
        points.append(Point())
    if everywhere:
        # An operand that is full visits these coordinates; without one, the universe does.
        full = next((it for p in points for it in p.coiterate if it.full and it.locatable), universe)
        points = [_union(p, Point((universe,))) if full is universe else _union(p, Point((full,))) for p in points]
        points = [_drop_universe(p, universe) for p in points]
    full_iterators = _unique(it for p in points for it in p.coiterate if it.full)
    if full_iterators:
        # A full level has a value at every coordinate, hence in every point. Another level over the same variable may
        # still make its operand implicit, as in A(i,i).
        points = [_union(p, Point((), tuple(it for it in full_iterators if it not in p.iterators))) for p in points]
        # One full iterator drives the loop: preferably one that cannot be located.
        first = next((it for it in full_iterators if not it.locatable), full_iterators[0])
        points = [_one_full(p, first) for p in points]
    points = _without_impossible(_merge_equal(points))
    # Larger points come first; points of one size keep their order.
    order = sorted(range(len(points)), key=lambda n: (-len(points[n].iterators), n))
    return tuple(points[n] for n in order)


def _drop_universe(p: Point, universe: LevelIterator) -> Point:
    """Return a point without the universe among its located iterators, as the universe has no positions."""
    return Point(p.coiterate, tuple(it for it in p.located if it is not universe and it != universe))


def _one_full(p: Point, first: LevelIterator) -> Point:
    """Return a point that iterates only the full dimension ``first``, and locates the other full ones."""
    others = tuple(it for it in p.coiterate if it.full and it != first and it.locatable)
    rest = tuple(it for it in p.coiterate if it not in others and it != first)
    walks_first = first in p.coiterate or first in p.located
    coiterate = ((first,) if walks_first else ()) + rest
    located = tuple(it for it in others + p.located if it != first and it.access is not None)
    return Point(coiterate, _unique(located))


def _without_impossible(points: list[Point]) -> list[Point]:
    """Return the points without those in which a full level, though only located, would have no value."""
    # A point is impossible if adding full iterators gives another point.
    full = {it for p in points for it in p.located if it.full}
    alike: dict[frozenset[LevelIterator], list[frozenset[LevelIterator]]] = {}
    for p in points:
        present = frozenset(p.iterators)
        alike.setdefault(present - full, []).append(present)
    return [p for p in points if not any(present > {*p.iterators} for present in alike[frozenset(p.iterators) - full])]


def _merge_equal(points: list[Point]) -> list[Point]:
    """Return the first point for each set of iterators."""
    seen: dict[frozenset[LevelIterator], Point] = {}
    for p in points:
        seen.setdefault(frozenset(p.iterators), p)
    return list(seen.values())


def to_text(points: tuple[Point, ...]) -> str:
    """Format a merge lattice as text, e.g. ``(B2 ∧ C2) (B2) (C2)``, with located iterators after a bar."""
    return " ".join(
        "(" + " ∧ ".join(map(str, p.coiterate)) + (" | " + ", ".join(map(str, p.located)) if p.located else "") + ")"
        for p in points
    )
