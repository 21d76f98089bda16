"""Merge lattices (2017 paper, section 5; 2018 paper, sections 4.2 and 4.4).

A lattice is a tuple of points, largest first. A point says which level iterators have values there: those that are
co-iterated and those that are located. Construction follows the operator table: a point of one operand alone exists
unless the absent other operand annihilates the operator. Everything is decided by level properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from math import inf
from typing import Any

from ..formats import LevelFormat
from ..index_notation.nodes import Access, Apply, Expr, Literal
from ..records import record
from .implicit_values import CastExpr, ImplicitValue, TypedLiteral, annihilates, asked_of, implicit_value, same_value

__all__ = ["MANY_CASES", "LevelIterator", "Point", "TooManyCases", "build", "to_text"]


MANY_CASES = 128
"""Cases that are merged in one nest of loops; a compiler takes about a second for them."""


class TooManyCases(Exception):
    """More cases than were asked for: they double with every operand that may be absent."""


@record
class LevelIterator:
    """Iteration over one level of an access; ``access`` None is the whole dimension (the universe)."""

    access: Access | None
    level: int
    format: LevelFormat
    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def key(self) -> tuple[Access, int]:
        """The level of the access that is iterated."""
        assert self.access is not None
        return self.access, self.level

    @property
    def locatable(self) -> bool:
        """Whether finding a coordinate is cheaper than walking the level."""
        return self.format.has_every or self.format.locates == "probe"

    @property
    def certain(self) -> bool:
        """Whether every coordinate is found."""
        return self.format.has_every

    @property
    def full(self) -> bool:
        return self.format.full


@record
class Point:
    """One case of a merge: the iterators that have a value there.

    ``coiterate`` are walked together; ``located`` are found by coordinate once that is known.
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
    """Both sides have a value: co-iterate one side, locate what the other can locate (2018, section 4.4)."""
    must = _unique(it for it in p.coiterate + q.coiterate if not it.locatable)
    located = _unique(it for it in p.coiterate + q.coiterate if it.locatable)
    if not must and located:
        # Of those that could all be located, one that stores less than every coordinate is walked.
        walked = min(located, key=lambda it: (it.certain, not it.format.walks))
        must, located = (walked,), tuple(it for it in located if it is not walked)
    return Point(must, _unique(located + p.located + q.located))


def _union(p: Point, q: Point) -> Point:
    """Either side may have a value and here both have: everything is walked, but one full dimension is enough."""
    coiterate = _unique(p.coiterate + q.coiterate)
    locate = _unique(it for it in p.located + q.located if it not in coiterate)
    full = [it for it in coiterate if it.full]
    extra = tuple(it for it in full[1:] if it.locatable)
    return Point(tuple(it for it in coiterate if it not in extra), _unique(locate + extra))


def _distinct(points: Iterable[Point], most: float) -> tuple[Point, ...]:
    """The first point of each set of iterators that may be absent.

    Full levels are superfluous in this: each has a value in every case, where any of its operand has.

    Raises
    ------
    TooManyCases
        When there are more than ``most``.
    """
    found: dict[tuple[frozenset[LevelIterator], bool], Point] = {}
    for p in points:
        found.setdefault((frozenset(it for it in p.iterators if not it.full), bool(p.iterators)), p)
        if len(found) > most:
            raise TooManyCases
    return tuple(found.values())


def _points(
    expr: Expr,
    iterators: Callable[[Access], tuple[LevelIterator, ...]],
    fills: Callable[[Access], Any],
    most: float,
) -> tuple[Point, ...]:
    match expr:
        case Access():
            found = iterators(expr)
            return (Point(found[:1], found[1:]),)
        case Literal() | TypedLiteral() | ImplicitValue():
            return ()  # nothing to walk: its value is part of the fill value
        case CastExpr(expr=inner):
            return _points(inner, iterators, fills, most)
        case Apply(op=op, args=args):
            if len(args) == 1:
                return _points(asked_of(expr) or args[0], iterators, fills, most)
            a, b = (_points(arg, iterators, fills, most) for arg in args)
            fill_a, fill_b = (implicit_value(arg, fills) for arg in args)
            # An absent operand decides the result alone: then there is no point without that operand.
            needs_b, needs_a = annihilates(op, args, 1, fill_b), annihilates(op, args, 0, fill_a)
            combine = _conjunction if needs_a or needs_b else _union
            alone = () if needs_b or Point() in b else a
            others = () if needs_a or Point() in a else b
            return _distinct(chain((combine(p, q) for p in a for q in b), alone, others), most)
    raise TypeError(f"no merge lattice for {expr!r}")


def build(
    expr: Expr,
    iterators: Callable[[Access], tuple[LevelIterator, ...]],
    fills: Callable[[Access], Any],
    universe: LevelIterator,
    neutral: Any,
    most: float = inf,
) -> tuple[Point, ...]:
    """The merge lattice of one index variable.

    Parameters
    ----------
    expr : Expr
        What the loop computes.
    iterators : callable
        The level iterators of an access over this variable, outermost level first.
    fills : callable
        The fill value of an access.
    universe : LevelIterator
        Iterates the whole dimension; used where coordinates matter that no operand stores.
    neutral : object
        What the target holds where nothing is computed: any other absent value must be computed too.
    most : number
        How many points are of use.

    Returns
    -------
    tuple of Point
        Largest first. Empty when there is nothing to compute.

    Raises
    ------
    TooManyCases
        When there are more than ``most``.
    """
    points = list(_points(expr, iterators, fills, most))
    everywhere = Point() in points
    if not everywhere and not same_value(implicit_value(expr, fills), neutral):
        everywhere = True
        points.append(Point())
    if everywhere:
        full = next((it for p in points for it in p.coiterate if it.full and it.locatable), universe)
        points = [_union(p, Point((universe,))) if full is universe else _union(p, Point((full,))) for p in points]
        points = [_drop_universe(p, universe) for p in points]
    full_iterators = _unique(it for p in points for it in p.coiterate if it.full)
    if full_iterators:
        # Dense spaces are supersets: when one is exhausted, all is, and each has a value in every case. That an operand
        # is absent then is for another of its levels over the same variable to say, as in A(i,i).
        points = [_union(p, Point((), tuple(it for it in full_iterators if it not in p.iterators))) for p in points]
        # One of them is walked: one that cannot be located, where there is such.
        first = next((it for it in full_iterators if not it.locatable), full_iterators[0])
        points = [_one_full(p, first) for p in points]
    points = _without_impossible(_merge_equal(points))
    order = sorted(range(len(points)), key=lambda n: (-len(points[n].iterators), n))
    return tuple(points[n] for n in order)


def _drop_universe(p: Point, universe: LevelIterator) -> Point:
    """The universe has no position to locate."""
    return Point(p.coiterate, tuple(it for it in p.located if it is not universe and it != universe))


def _one_full(p: Point, first: LevelIterator) -> Point:
    """Walk one full dimension in every point: ``first``; the others are located."""
    others = tuple(it for it in p.coiterate if it.full and it != first and it.locatable)
    rest = tuple(it for it in p.coiterate if it not in others and it != first)
    walks_first = first in p.coiterate or first in p.located
    coiterate = ((first,) if walks_first else ()) + rest
    located = tuple(it for it in others + p.located if it != first and it.access is not None)
    return Point(coiterate, _unique(located))


def _without_impossible(points: list[Point]) -> list[Point]:
    """Leave out cases in which a full level, though it is only located, would have no value."""
    full = {it for p in points for it in p.located if it.full}
    sets = {frozenset(p.iterators) for p in points}
    return [p for p in points if not any(it not in p.iterators and {*p.iterators, it} in sets for it in full)]


def _merge_equal(points: list[Point]) -> list[Point]:
    """One point for each set of iterators."""
    seen: dict[frozenset[LevelIterator], Point] = {}
    for p in points:
        seen.setdefault(frozenset(p.iterators), p)
    return list(seen.values())


def to_text(points: tuple[Point, ...]) -> str:
    """E.g. ``(B2 ∧ C2) (B2) (C2)``, located iterators after a bar."""
    return " ".join(
        "(" + " ∧ ".join(map(str, p.coiterate)) + (" | " + ", ".join(map(str, p.located)) if p.located else "") + ")"
        for p in points
    )
