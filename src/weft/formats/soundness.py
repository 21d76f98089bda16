"""The rules that a composition of levels must satisfy to store tensors: which level may stand where.

A format maps each coordinate of a tensor to one leaf position. That holds if each entry owns one leaf position and no
other, and if every other leaf that a kernel visits lies at coordinates that no other leaf has, or is skipped. A
coordinate is *explicit* if an entry put it at its position, *implicit* if a level enumerates or computes it.

======  ================================================================================================================
rule    statement
======  ================================================================================================================
S1      Each axis follows from the coordinates that are no counters.
S2      A branchless level has one child under each parent: its coordinate follows from those above; or no level of its
        chain above is unique, so that each tuple has a position of its own; or it is below a counter; or the data
        say so (a ``Condition``).
S3      A branchless level that cannot mark absence is in a chain whose first level visits entries alone.
S4      A chain that ends in a level that is not unique is below levels whose positions follow from coordinates: a level
        that gives each entry the next free position would give several to entries that meet there. What is below such
        a chain holds a part of each element.
S5      There is one counter, alone in its coordinate, in a level that counts. What it counts over are coordinates of
        levels. Below it come the levels of these, which find positions by coordinate, then branchless levels; one of
        the levels below marks absence or is iterated by position.
S6      A level that counts stores a counter: over an axis it would hold some of the coordinates, and claim all.
S7      Bounds of each coordinate are known. None is below 0, or the level is signed: others store the coordinate less
        its lower bound.
S8      An implicit coordinate takes each value of its interval, whatever those above are
        (``remapping.images.takes_every_value``); or it mixes the bits of axes that those above do not have, and a level
        below stores which of its values lead to entries. A level that stores no coordinate stores the remainder below
        the higher digits of one: ``i`` below ``i/4`` is ``i%4``.
S9      Axes that are rebuilt from implicit coordinates are compared with both edges of the tensor. Kernels do that
        (``analysis.derived_variables.DerivedVariable``).
S10     A level that reads what another stores names its neighbours (``LevelFormat.why_not``). A level that can only be
        appended to has levels beside it that can be, too, and asks nothing of the data.
======  ================================================================================================================

``conditions`` lists what a format asks of the data beyond that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..records import record
from ..remapping import Counter, IndexExpr, Remapping
from ..remapping.images import decided, from_zero, remainder_below, takes_every_value
from ..remapping.inverse import combination
from ..remapping.nodes import axes_of, counters_of
from .level import LevelFormat

__all__ = ["Condition", "conditions", "stored_remapping", "why_unsound"]


@record
class Condition:
    """Something that a level asks of the data.

    Parameters
    ----------
    level : int
        The level, from 0.
    kind : {'one child', 'full'}
        At most one coordinate under each parent, or every coordinate under each parent.
    """

    level: int
    kind: Literal["one child", "full"]


def stored_remapping(remapping: Remapping, levels: Sequence[LevelFormat]) -> Remapping:
    """Return the remapping with the coordinates that levels store (S7, S8): remainders, and coordinates from 0 on.

    Examples
    --------
    >>> from weft.formats import Compressed, Dense
    >>> blocks = Remapping.parse("(i,j) -> (i/2,j/3,i,j)")
    >>> str(stored_remapping(blocks, [Dense(), Compressed(), Dense(), Dense()]))
    '(i,j) -> (i/2,j/3,i%2,j%3)'
    """
    if remapping.is_permutation:
        return remapping
    coordinates = list(remapping.coordinates)
    for k, level in enumerate(levels):
        if not (level.roles or level.borrows or level.branchless):
            coordinates[k] = remainder_below(coordinates, k) or coordinates[k]
        if not level.signed and not counters_of(coordinates[k]):
            coordinates[k] = from_zero(coordinates[k]) or coordinates[k]
    made = tuple(coordinates)
    return remapping if made == remapping.coordinates else Remapping(made, remapping.order)


def why_unsound(remapping: Remapping, levels: Sequence[LevelFormat]) -> str | None:
    """Return why levels cannot store the coordinates that a remapping makes, or None if they can.

    Parameters
    ----------
    remapping : Remapping
        As ``stored_remapping`` returns it.
    levels : sequence of LevelFormat
        One for each coordinate.
    """
    coordinates = remapping.coordinates
    lost = [axis for axis, e in enumerate(remapping.inverse()) if e is None]
    if lost:
        return f"the coordinates that {remapping} makes do not say what axis {lost[0]} was"
    if levels and levels[0].branchless:
        return f"the first level cannot be {levels[0]}: it has no parent that says how long it is"
    shown = [level.shown for level in levels]
    for k, level in enumerate(levels):
        reason = (
            _missing(levels, k)
            or _counter_reason(coordinates, levels, k)
            or level.why_not(shown, remapping, k)
            or _chain_reason(levels, k)
            or _append_reason(remapping, shown, k)
            or _full_reason(coordinates, levels, k)
            or (None if remapping.is_permutation else _implicit_reason(remapping, levels, k))
        )
        if reason is not None:
            return f"level {k + 1} of {remapping} cannot be {level}: {reason}"
    return None


def _missing(levels: Sequence[LevelFormat], k: int) -> str | None:
    """Return why a level does not find the arrays that it borrows."""
    above = [role for other in levels[:k] for role in other.roles]
    missing = [role for role in levels[k].borrows if role not in above]
    return f"no level above has the {missing[0]} that it reads" if missing else None


def _counter_reason(coordinates: Sequence[IndexExpr], levels: Sequence[LevelFormat], k: int) -> str | None:
    """Return why a level breaks S5 or S6."""
    own, level = coordinates[k], levels[k]
    counters = [n for n, c in enumerate(coordinates) if counters_of(c)]
    if not isinstance(own, Counter):
        if counters_of(own):
            return "a counter is a coordinate by itself, not part of one"
        if level.counts:
            return "it holds the coordinates from 0 to a bound, which are those of a counter such as #i"
        return _below_counter(coordinates, levels, counters[0], k) if counters and counters[0] < k else None
    if not level.counts:
        return "it does not store how far the coordinate counts"
    if len(counters) > 1:
        return "the remapping has two counters"
    elsewhere = [e for e in own.over if e not in coordinates]
    if elsewhere:
        return "what its counter counts over is no coordinate of a level"
    below = levels[k + 1 :]
    if not any(v.iteration == "position" and (v.roles or v.borrows) for v in below):
        return "no level below it marks the places that hold no entry"
    return None


def _below_counter(coordinates: Sequence[IndexExpr], levels: Sequence[LevelFormat], counter: int, k: int) -> str | None:
    """Return why a level cannot be below a counter (S5)."""
    own = coordinates[counter]
    assert isinstance(own, Counter)
    if coordinates[k] in own.over:
        if any(c not in own.over for c in coordinates[counter + 1 : k]):
            return "the levels that a counter counts over come before others below it"
        if levels[k].shown.placing != "get":
            return "below a counter, positions of what it counts over follow from coordinates"
        return None
    return None if levels[k].branchless else "below a counter and what it counts over, each place holds one entry"


def _chain_reason(levels: Sequence[LevelFormat], k: int) -> str | None:
    """Return why a level breaks S3 or S4."""
    level = levels[k]
    head, ends = _head(levels, k), k + 1 == len(levels) or not levels[k + 1].branchless
    if not level.unique and ends and any(v.shown.placing in ("yield", None) for v in levels[:head]):
        return "it may hold a coordinate twice, and a level above its chain gives each entry a position of its own"
    if level.branchless and level.gapless and (level.roles or level.borrows):
        first = levels[head].shown
        if first.iteration != "position" or not first.gapless or not (first.compact or first.lengthens):
            return f"it cannot mark a place of {first} that holds no entry"
    return None


def _append_reason(remapping: Remapping, levels: Sequence[LevelFormat], k: int) -> str | None:
    """Return why a level that can only be appended to is not (S10)."""
    if levels[k].placing is not None or not levels[k].appends:
        return None
    for level in levels:
        if level.curved or not (level.appends or (level.inserts and not level.roles)):
            return f"it can only be appended to, and {level} cannot be"
    asks = conditions(remapping, levels)
    return f"it can only be appended to, and {levels[asks[0].level]} asks something of all entries" if asks else None


def _full_reason(coordinates: Sequence[IndexExpr], levels: Sequence[LevelFormat], k: int) -> str | None:
    """Return why it cannot be checked in the data that a level is full."""
    if not levels[k].full or type(levels[k]).full:
        return None
    if any(counters_of(c) for c in coordinates):
        return "it cannot be full where the remapping has a counter"
    if any(above.pads and not above.has_every for above in levels[:k]):
        return "it cannot be full below a level that has positions without an entry"
    return None


def _head(levels: Sequence[LevelFormat], k: int) -> int:
    """Return the first level of a level's chain."""
    return max(n for n in range(k + 1) if not levels[n].branchless)


def _implicit_reason(remapping: Remapping, levels: Sequence[LevelFormat], k: int) -> str | None:
    """Return why a level breaks S7 or S8, or branches where there is one coordinate."""
    coordinates, level = remapping.coordinates, levels[k]
    if isinstance(coordinates[k], Counter):
        return None
    if from_zero(coordinates[k]) is None:
        return "no bounds are known of its coordinate"
    if not level.branchless and decided(coordinates, remapping.order, k):
        return "its coordinate follows from those above, so that it has one: a branchless level's"
    if level.pads and not takes_every_value(coordinates, remapping.order, k):
        apart = not any(axes_of(c) & axes_of(coordinates[k]) for c in coordinates[:k] if not counters_of(c))
        if not apart:
            return "its coordinates are partly decided above, and it would have positions for all"
        marked = any(v.iteration == "position" and v.roles and not v.pads for v in levels[k + 1 :])
        if not marked or combination(coordinates[k]) is not None:
            return "not every number it counts up to is a coordinate, and no level below it marks which are"
    return None


def conditions(remapping: Remapping, levels: Sequence[LevelFormat]) -> tuple[Condition, ...]:
    """Return what a sound format asks of the data.

    Examples
    --------
    >>> from weft.formats import Compressed, Singleton
    >>> conditions(Remapping.identity(2), [Compressed(), Singleton()])
    (Condition(level=1, kind='one child'),)
    """
    counted = any(isinstance(c, Counter) for c in remapping.coordinates)
    found = []
    for k, level in enumerate(levels):
        loose = not any(above.unique for above in levels[_head(levels, k) : k])
        if level.branchless and not (loose or counted or decided(remapping.coordinates, remapping.order, k)):
            found.append(Condition(k, "one child"))
        if level.full and not type(level).full:
            found.append(Condition(k, "full"))
    return tuple(found)
