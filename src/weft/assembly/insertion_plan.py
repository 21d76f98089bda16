"""Plan of an assembly by insertion (2020 paper, section 6): its passes, and the arrays that each level needs.

The loops over the source run once for each level with attribute queries, from the root down, and once more to insert
every entry. A level determines the position of an entry in one of three ways: from the answers of its queries
(``get_pos``), as the position of an earlier entry with the same coordinate (``find``), or as the next free position of
its parent (``yield_pos``).
"""

from __future__ import annotations

from functools import lru_cache

from ..analysis.contributions import EntryOrder, order_within
from ..code_options import CodeOptions
from ..formats import Format, LevelFormat, TensorType
from ..formats.capabilities import Append, ChildlessEdges, CurveOrder, Insertion, QueriedEdges, SharedPositions, lists
from ..queries.table1_rewrites import SourceFacts
from ..records import record
from ..remapping.inverse import invert, significance
from ..remapping.nodes import Counter, axes_of
from .query_lowering import LevelQuery, answers, level_queries


@record
class InsertionPass:
    """One pass over the source: the queries of a level, the collection of its coordinates, or the insertion.

    Threads share the pass if ``threads`` is true.
    """

    name: str
    level: int | None = None
    collects: bool = False
    threads: bool = False


def insertion_passes(format: Format, entry_order: EntryOrder) -> tuple[InsertionPass, ...]:
    """Return the passes that assemble a format, in their order."""
    found = []
    for k in range(len(format.levels)):
        if k != position_preserving_level(format, entry_order) and _asks(format, k):
            found.append(InsertionPass(f"query{k + 1}", k))
        if k in unordered_shared(format, entry_order):
            found.append(InsertionPass(f"collect{k + 1}", k, collects=True))
    return (*found, InsertionPass("insert"))


@lru_cache(maxsize=1024)
def unordered_shared(format: Format, entry_order: EntryOrder) -> tuple[int, ...]:
    """Return the levels with shared positions where entries of one parent come together, but in any order."""
    levels = format.levels
    met = () if entry_order.sorts(format) else _met(format)
    return tuple(k for k in met if levels[k].capability(SharedPositions) and levels[k].unique)


def _met(format: Format) -> tuple[int, ...]:
    """Return the levels that yield shared positions, since a level below has several positions for each of them."""
    levels = format.levels
    return tuple(
        k
        for k, level in enumerate(levels)
        if level.placing == "yield" and not all(u.branchless for u in levels[k + 1 :])
    )


@lru_cache(maxsize=1024)
def consecutive_shared(format: Format, entry_order: EntryOrder) -> dict[int, range]:
    """Return the levels with shared positions where entries come sorted, so that those of one position are consecutive.

    Each level is mapped to the levels whose coordinates decide if two entries share a position: the level itself and
    the branchless levels of its chain.
    """
    chains = {chain.start: chain for chain in format.level_groups}
    return {k: chains[k] for k in _met(format)} if entry_order.sorts(format) else {}


def _asks(format: Format, level: int) -> bool:
    return format.levels[level].capability(QueriedEdges) is not None or bool(answers(format, level))


@lru_cache(maxsize=1024)
def counters(format: Format) -> tuple[int, ...]:
    """Return the levels whose coordinates are counters of entries."""
    return tuple(k for k, c in enumerate(format.remapping.coordinates) if isinstance(c, Counter))


def can_insert(format: Format, entry_order: EntryOrder) -> str | None:
    """Return the reason why entries cannot be inserted in the order in which they come, or None.

    A position is never changed once it is taken. So below a level that yields positions each entry has its own
    position. If the level is ordered, entries must come in the order of its coordinates and those below.
    """
    coordinates = format.remapping.coordinates
    for k, level in enumerate(format.levels):
        if level.capability(Insertion) is None:
            return f"{level} cannot place an entry"
        if entry_order.sorts(format):
            continue
        if level.capability(CurveOrder):
            return f"entries do not come along the curve of {level}"
        if level.placing == "yield" or (level.roles and level.placing == "get" and level.branchless):
            # Entries below one parent have fixed coordinates on the axes above; they must be ordered by those below.
            above = {axis for axis, c in enumerate(invert(coordinates[:k], format.order)) if c is not None}
            below = significance([c for c in coordinates[k:] if not axes_of(c) <= above])
            # Shared positions are collected for one parent at a time, so entries of one parent must come together.
            if k in unordered_shared(format, entry_order):
                if not all(_computes(lower, n, len(format.levels)) for n, lower in enumerate(format.levels) if n > k):
                    return f"a level below {level} does not find positions by arithmetic"
                first = order_within(entry_order.order[:1], frozenset())
                along = bool(first) and all(axes_of(c) == {first[0]} for c in coordinates[:k])
                leading = along or (k > 0 and entry_order.order[:k] == coordinates[:k])
                return None if leading else f"the entries below one parent of {level} do not come together"
            if any(not lower.branchless for lower in format.levels[k + 1 :]):
                return f"{format.levels[k + 1]} is below {level}, which yields a position for each entry"
            if level.ordered and order_within(entry_order.order, frozenset(above)) != below:
                return f"entries come in another order than {level} has"
            return None
    return None


def _computes(level: LevelFormat, k: int, levels: int) -> bool:
    """Return whether positions of a level follow from its coordinate, without a number for each parent."""
    insertion = level.capability(Insertion)
    asks = insertion is not None and any(query.over for query in insertion.queries(k, levels - 1))
    return level.placing == "get" and not asks


def scalar_counters(format: Format, entry_order: EntryOrder) -> dict[int, int]:
    """Return the levels whose counters are scalars, each with the number of loops that enclose its counting."""
    found = {}
    for k in counters(format):
        over = {axis for e in format.remapping.coordinates[k].over for axis in axes_of(e)}  # type: ignore[attr-defined]
        # The counter restarts inside the loops over the axes it counts for, if those are the outermost (section 4.2).
        if over and set(entry_order.consecutive[: len(over)]) == over:
            found[k] = len(over)
    return found


def sequential_level(format: Format, entry_order: EntryOrder) -> int | None:
    """Return the level whose next free position is a scalar, or None.

    At the root there is one parent, and so one next free position. Below levels that are located by arithmetic, entries
    must come in the order of their positions.
    """
    found = next((k for k, level in enumerate(format.levels) if level.placing == "yield"), None)
    if found is None or found in _met(format) or not format.levels[found].capability(Append):
        return None
    order = significance(format.remapping.coordinates)
    plain = all(level.row_major and not level.roles for level in format.levels[:found])
    return found if found == 0 or (plain and order == significance(entry_order.order)) else None


def position_preserving_level(format: Format, entry_order: EntryOrder) -> int | None:
    """Return the level whose entries keep the positions that they have in the source, or None.

    Such a level needs no query. Its edges are inserted as the entries are visited, since their parents come in order.
    """
    k = sequential_level(format, entry_order) if entry_order.follows else None
    return k if k is not None and format.levels[k].capability(ChildlessEdges) else None


def shareable(format: Format, entry_order: EntryOrder) -> bool:
    """Return whether threads can share the passes: positions depend on other entries only through queries."""
    if not entry_order.distinct:
        return False  # values of one position are added in the order in which they come
    # Threads need levels that insert independently, at most one private array for each level, and scalar counters.
    own = [k for k, _ in private_roles(format, entry_order)]
    plain = all(level.require(Insertion).apart for level in format.levels) and len(set(own)) == len(own)
    counted = set(counters(format)) == set(scalar_counters(format, entry_order))
    found = sequential_level(format, entry_order)
    # Chunks of the outermost loop hold all entries of their parents if both iterate the same coordinate first.
    whole = not found or entry_order.by[:1] == format.remapping.coordinates[:1]
    in_order = found is None or (entry_order.follows and whole)
    return plain and counted and in_order and not _met(format)


def shared_coordinates(source: TensorType, target: TensorType, entry_order: EntryOrder) -> dict[int, int]:
    """Return the source level whose coordinate array a target level can share, by target level."""
    format, first = target.format, position_preserving_level(target.format, entry_order)
    if first is None or source.format.is_structured or format.is_structured:
        return {}
    # Arrays can be shared if they store the same axis in the same dtype.
    have = dict(zip(source.format.roles, source.index_dtypes, strict=True))
    want = dict(zip(format.roles, target.index_dtypes, strict=True))
    listed = {source.format.mode_order[k]: k for k in source.format.level_groups[-1] if lists(source.format.levels[k])}
    found = {}
    for k in range(first, len(format.levels)):
        same = listed.get(format.mode_order[k])
        if same is not None and lists(format.levels[k]) and want[k, "crd"] == have[same, "crd"]:
            found[k] = same
    return found


def reused_arrays(
    source: TensorType, target: TensorType, entry_order: EntryOrder, options: CodeOptions
) -> tuple[bool, dict[int, int]]:
    """Return whether the result takes over the values of the source, and with them the coordinates of which levels."""
    stays = position_preserving_level(target.format, entry_order) is not None
    values = options.enabled("shared-arrays") and stays and source.dtype == target.dtype
    return values, shared_coordinates(source, target, entry_order) if values else {}


@lru_cache(maxsize=1024)
def distinct_counts(format: Format, level: int, entry_order: EntryOrder) -> tuple[LevelQuery, ...]:
    """Return the queries of a level that are answered by marking coordinates in an array over all possible ones."""
    if level in unordered_shared(format, entry_order) or level in consecutive_shared(format, entry_order):
        return ()
    return tuple(a for a in level_queries(format, level, SourceFacts()) if a.is_distinct)


@lru_cache(maxsize=1024)
def private_roles(format: Format, entry_order: EntryOrder) -> tuple[tuple[int, str], ...]:
    """Return ``(level, role)`` of every array of answers of which each thread has its own copy."""
    levels = [k for k in range(len(format.levels)) if k != position_preserving_level(format, entry_order)]
    return tuple((k, role) for k in levels for role, how in answers(format, k).items() if how != "same")


@lru_cache(maxsize=1024)
def scratch_roles(format: Format, entry_order: EntryOrder) -> tuple[tuple[int, str], ...]:
    """Return ``(level, role)`` of every array that only assembly needs."""
    found = []
    for k, (level, c) in enumerate(zip(format.levels, format.remapping.coordinates, strict=True)):
        found += [(k, role) for role in level.require(Insertion).scratch(0, 0)]
        if k in unordered_shared(format, entry_order):
            found += [(k, role) for role in (*level.require(SharedPositions).shared_scratch(0, 0), "stamp")]
        found += [(k, f"{a.label}_mark") for a in distinct_counts(format, k, entry_order)]
        if isinstance(c, Counter):
            found.append((k, "counter"))
    return tuple(found)
