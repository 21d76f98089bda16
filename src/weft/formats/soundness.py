"""The rules that a composition of levels must satisfy to store tensors.

A format must map each coordinate of a tensor to one leaf position. It does if each entry owns one leaf position and no
other, and if every other leaf that a kernel visits is skipped or lies at coordinates that no other leaf has. A
coordinate is *explicit* if an entry put it at its position. It is *implicit* if a level enumerates or computes it.

======  ================================================================================================================
rule    statement
======  ================================================================================================================
S1      Each axis follows from the coordinates that are no counters.
S2      A branchless level has one child under each parent. One of these is true: its coordinate follows from those
        above; no level of its chain above is unique, so that each tuple has a position of its own; it is below a
        counter; the data satisfy a ``Condition``.
S3      A branchless level that cannot mark implicit entries is in a chain whose first level visits entries alone.
S4      A chain that ends in a level that is not unique is below levels whose positions follow from coordinates. A level
        that gives each entry the next free position would give several positions to entries with the same coordinate.
        The levels below such a chain hold a part of each element.
S5      There is one counter, alone in its coordinate, in a level that counts. The axes that it is over follow from
        coordinates of levels over these axes alone: ``i`` is one, or follows from ``i/4`` and ``i%4``. Those levels of
        them that are below the counter are directly below it, and their positions follow from coordinates.
        Below them are branchless levels. One of the levels below the counter marks implicit entries or is iterated by
        position.
S6      A level that counts stores a counter. Over an axis, it would hold some of the coordinates, and claim all.
S7      Bounds of each coordinate are known. No coordinate is below 0, unless the level is signed. Other levels store
        the coordinate minus its lower bound.
S8      An implicit coordinate takes each value of its interval, whatever those above are
        (``remapping.images.takes_every_value``). Otherwise it mixes the bits of axes that those above do not have, and
        a level below stores the values that lead to entries. A level that stores no coordinate has the remainder of one
        below the higher digits that levels above have: ``i`` below ``i/4`` is ``i%4``.
S9      Axes that are rebuilt from implicit coordinates are compared with both edges of the tensor. Kernels do that
        (``analysis.derived_variables.DerivedVariable``).
S10     A level that reads arrays of another names its neighbors (``LevelFormat.why_not``). If a level can only be
        appended to, each level beside it can be appended to or has no arrays, and none has a ``Condition``.
======  ================================================================================================================

``conditions`` lists the conditions that a format puts on the data beyond these rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..records import record
from ..remapping import Counter, IndexExpr, Remapping
from ..remapping.images import decided, from_zero, remainder_below, takes_every_value
from ..remapping.inverse import combination
from ..remapping.nodes import axes_of, counters_of
from .capabilities import Append, CurveOrder, GrowingSegments, Insertion, is_appendable_at
from .level import LevelFormat


@record
class Condition:
    """A condition that the entries must satisfy for a level to store them."""

    level: int  # the level, from 0
    # The condition: at most one coordinate under each parent, or every coordinate under each parent.
    kind: Literal["one child", "full"]


def stored_remapping(remapping: Remapping, levels: Sequence[LevelFormat]) -> Remapping:
    """Return the remapping with the coordinates that levels store: remainders, and coordinates from 0 on (S7, S8).

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
        # A level without arrays enumerates its coordinates, so it must not repeat digits that levels above have.
        if not (level.roles or level.borrows or level.branchless):
            coordinates[k] = remainder_below(coordinates, k) or coordinates[k]
        if not level.signed and not counters_of(coordinates[k]):
            coordinates[k] = from_zero(coordinates[k]) or coordinates[k]
    made = tuple(coordinates)
    return remapping if made == remapping.coordinates else Remapping(made, remapping.order)


def why_unsound(remapping: Remapping, levels: Sequence[LevelFormat]) -> str | None:
    """Return why levels cannot store the coordinates that a remapping makes, or None if they can."""
    # S1
    coordinates = remapping.coordinates
    lost = [axis for axis, e in enumerate(remapping.inverse()) if e is None]
    if lost:
        return f"axis {lost[0]} does not follow from the coordinates that {remapping} makes"
    if levels and levels[0].branchless:  # each chain has a first level that branches
        return f"the first level cannot be {levels[0]}, which has one child for each parent: there is no level above"
    # Rules about arrays and assembly are those of the levels that have the arrays.
    shown = [level.shown for level in levels]
    for k, level in enumerate(levels):
        reason = (
            _missing(levels, k)
            or _counter_reason(remapping, levels, k)
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
    """Return why a level lacks arrays that it borrows, or None."""
    above = [role for other in levels[:k] for role in other.roles]
    missing = [role for role in levels[k].borrows if role not in above]
    return f"it reads the array {missing[0]} of a level above, and none has it" if missing else None


def _counter_reason(remapping: Remapping, levels: Sequence[LevelFormat], k: int) -> str | None:
    """Return why a level violates S5 or S6, or None."""
    coordinates, level = remapping.coordinates, levels[k]
    coordinate = coordinates[k]
    counters = [n for n, c in enumerate(coordinates) if counters_of(c)]
    if not isinstance(coordinate, Counter):  # S6, and the levels below a counter
        if counters_of(coordinate):
            return "a counter is a coordinate by itself, not part of one"
        if level.counts:
            return "it holds the coordinates from 0 to a bound, which are those of a counter such as #i"
        return _below_counter(remapping, levels, counters[0], k) if counters and counters[0] < k else None
    # S5: this is the level of the counter.
    if not level.counts:
        return "it does not store how far a counter such as #i counts"
    if len(counters) > 1:
        return "the remapping has two counters, of which a format has one at most"
    if _counted(remapping, coordinate) is None:
        return "the axes that its counter counts over do not follow from coordinates of levels over these axes alone"
    below = levels[k + 1 :]
    if not any(v.iteration == "position" and (v.roles or v.borrows) for v in below):
        return "no level below it marks positions without an entry"
    return None


def _counted(remapping: Remapping, counter: Counter) -> frozenset[IndexExpr] | None:
    """Return the coordinates from which that follows which a counter is over, or None if it does not follow."""
    axes = frozenset[int]().union(*map(axes_of, counter.over))
    alone = [c for c in remapping.coordinates if not counters_of(c) and axes_of(c) <= axes]
    sources: set[IndexExpr] = set()
    for expr in counter.over:
        if expr in alone:
            sources.add(expr)
            continue
        # As few coordinates as it takes, from the root down.
        enough = (n for n in range(1, len(alone) + 1) if decided((*alone[:n], expr), remapping.order, n))
        if (n := next(enough, None)) is None:
            return None
        sources.update(alone[:n])
    return frozenset(sources)


def _below_counter(remapping: Remapping, levels: Sequence[LevelFormat], counter: int, k: int) -> str | None:
    """Return why a level cannot be below a counter, or None (S5)."""
    coordinates = remapping.coordinates
    own = coordinates[counter]
    counted = _counted(remapping, own) if isinstance(own, Counter) else None
    if counted is None:  # which is said of the level of the counter
        return None
    if coordinates[k] in counted:  # these levels come first, then branchless ones
        if any(c not in counted for c in coordinates[counter + 1 : k]):
            return "below a counter, the levels of the axes that it counts over come first"
        if levels[k].shown.placing != "get":
            return "below a counter, positions on the axes that it counts over must follow from coordinates"
        return None
    return None if levels[k].branchless else "below a counter and its axes, each position has one child"


def _chain_reason(levels: Sequence[LevelFormat], k: int) -> str | None:
    """Return why a level violates S3 or S4, or None."""
    level = levels[k]
    head, ends = _head(levels, k), k + 1 == len(levels) or not levels[k + 1].branchless
    # S4: the chain ends here, and a level above it has given each of the equal entries a position.
    if not level.unique and ends and any(v.shown.placing in ("yield", None) for v in levels[:head]):
        return "it may hold a coordinate twice, and a level above its chain gives each entry a position of its own"
    # S3: this level stores a coordinate at every position of its chain, so each must hold an entry.
    if level.branchless and level.gapless and (level.roles or level.borrows):
        first = levels[head].shown
        growing = first.capability(GrowingSegments) is not None
        if first.iteration != "position" or not first.gapless or not (first.compact or growing):
            return f"it cannot mark positions of {first} without an entry"
    return None


def _append_reason(remapping: Remapping, levels: Sequence[LevelFormat], k: int) -> str | None:
    """Return why a level that can only be appended to cannot be among these levels, or None (S10)."""
    if levels[k].capability(Insertion) or not levels[k].capability(Append):
        return None
    for n, level in enumerate(levels):
        if level.capability(CurveOrder) or not is_appendable_at(level, n):
            return f"it can only be appended to, and {level} cannot be"
    # The last part of S10: no level may put a condition on the entries.
    asks = conditions(remapping, levels)
    return f"it can only be appended to, and {levels[asks[0].level]} has a condition on all entries" if asks else None


def _full_reason(coordinates: Sequence[IndexExpr], levels: Sequence[LevelFormat], k: int) -> str | None:
    """Return why the data cannot satisfy the condition that a level is full, or None."""
    if not levels[k].full or type(levels[k]).full:  # no claim, or full by construction
        return None
    if any(counters_of(c) for c in coordinates):
        return "it cannot be full where the remapping has a counter"
    if any(above.pads and not above.has_every for above in levels[:k]):
        return "it cannot be full below a level that has positions without an entry"
    return None


def _head(levels: Sequence[LevelFormat], k: int) -> int:
    """Return the number of the first level in the chain of level ``k``."""
    return max(n for n in range(k + 1) if not levels[n].branchless)


def _implicit_reason(remapping: Remapping, levels: Sequence[LevelFormat], k: int) -> str | None:
    """Return why a level violates S7 or S8, or why it must be branchless; None if neither is so."""
    coordinates, level = remapping.coordinates, levels[k]
    if isinstance(coordinates[k], Counter):
        return None
    if from_zero(coordinates[k]) is None:  # S7
        return "the sizes of the axes do not bound its coordinate"
    if not level.branchless and decided(coordinates, remapping.order, k):
        return "its coordinate follows from those above, so that the level must be branchless"
    # S8: the coordinates of positions without an entry are enumerated or computed.
    if level.pads and not takes_every_value(coordinates, remapping.order, k):
        # Bits of axes that no coordinate above has may be mixed if a level below stores the values that occur.
        apart = not any(axes_of(c) & axes_of(coordinates[k]) for c in coordinates[:k] if not counters_of(c))
        if not apart:
            return "coordinates above leave only some of its coordinates possible, and it has positions for all"
        marked = any(v.iteration == "position" and v.roles and not v.pads for v in levels[k + 1 :])
        if not marked or combination(coordinates[k]) is not None:
            return "it has positions for numbers that are no coordinates, and no level below it marks them"
    return None


def conditions(remapping: Remapping, levels: Sequence[LevelFormat]) -> tuple[Condition, ...]:
    """Return the conditions that a sound format puts on the data.

    Examples
    --------
    >>> from weft.formats import Compressed, Singleton
    >>> conditions(Remapping.identity(2), [Compressed(), Singleton()])
    (Condition(level=1, kind='one child'),)
    """
    counted = any(isinstance(c, Counter) for c in remapping.coordinates)
    result = []
    for k, level in enumerate(levels):
        # S2: the data must satisfy the condition only if no other case of the rule applies.
        loose = not any(above.unique for above in levels[_head(levels, k) : k])
        if level.branchless and not (loose or counted or decided(remapping.coordinates, remapping.order, k)):
            result.append(Condition(k, "one child"))
        if level.full and not type(level).full:
            result.append(Condition(k, "full"))
    return tuple(result)
