"""Plans of assemblies by insertion (2020 paper, section 6): their passes, and how each level finds positions.

The loops over the source run once for each level with attribute queries, from the root down, and once more to insert
every entry. A level determines the position of an entry in one of three ways: from the answers of its queries
(``get_pos``), as the position of an earlier entry with the same coordinate (``find``), or as the next free position of
its parent (``yield_pos``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from ..code_options import CodeOptions
from ..formats import Format, LevelFormat, TensorType
from ..formats.capabilities import Append, ChildlessEdges, CurveOrder, Insertion, QueriedEdges, SharedPositions, lists
from ..queries.table1_rewrites import SourceFacts
from ..records import record
from ..remapping.inverse import invert, significance
from ..remapping.nodes import Counter, axes_of
from .contributions import EntryOrder, order_within
from .level_queries import How, LevelQuery, answers, level_queries


@record
class InsertionPass:
    """One pass over the source: the queries of a level, the collection of its coordinates, or the insertion."""

    name: str
    level: int | None = None
    collects: bool = False
    threads: bool = False  # True if threads share the pass


@record
class InsertionPlan:
    """The way in which entries that come in a certain order are inserted into a format."""

    format: Format
    entry_order: EntryOrder
    passes: tuple[InsertionPass, ...]
    # For each level, its arrays of answers and the way to combine those of threads.
    answers: tuple[Mapping[str, How], ...]
    # Levels whose positions are shared by several entries: of one parent in any order, or consecutive. Those are mapped
    # to the levels whose coordinates decide if entries share a position: the level, and branchless levels below it.
    unordered: frozenset[int]
    consecutive: Mapping[int, range]
    # Levels whose coordinates count entries. The counter is a scalar inside so many loops, or an array if None.
    counters: Mapping[int, int | None]
    sequential: int | None  # the level whose next free position is a scalar
    # The level whose entries keep the positions that they have in the source. It needs no query: its edges are inserted
    # as the entries are visited, since their parents come in order.
    preserving: int | None
    # For each level, the queries that are answered by marking coordinates in an array over all possible ones.
    marks: tuple[tuple[LevelQuery, ...], ...]
    private: tuple[tuple[int, str], ...]  # level and role of each array of answers of which each thread has its own
    scratch: tuple[tuple[int, str], ...]  # level and role of each array that only the assembly needs
    # Why threads cannot share the passes; None if positions depend on other entries only through queries.
    why_serial: str | None

    def shared_roles(self, k: int) -> tuple[str, ...]:
        """Return the roles of the arrays by which shared positions of a level are found."""
        return _shared_roles(self.format.levels[k])


@lru_cache(maxsize=1024)
def plan_insertion(format: Format, entry_order: EntryOrder) -> InsertionPlan | str:
    """Return the plan for entries that come in an order, or the reason why they cannot be inserted."""
    levels, numbers = format.levels, range(len(format.levels))
    reached_again = () if entry_order.sorts(format) else _yielding_shared(format)
    unordered = frozenset(k for k in reached_again if levels[k].capability(SharedPositions) and levels[k].unique)
    if (reason := _why_not(format, entry_order, unordered)) is not None:
        return reason
    chains = {chain.start: chain for chain in format.level_groups}
    consecutive = {k: chains[k] for k in _yielding_shared(format)} if entry_order.sorts(format) else {}
    counters = {
        k: _counter(c, entry_order) for k, c in enumerate(format.remapping.coordinates) if isinstance(c, Counter)
    }
    sequential = _sequential(format, entry_order)
    keeps = sequential is not None and entry_order.follows and levels[sequential].capability(ChildlessEdges)
    preserving = sequential if keeps else None
    combined = tuple(answers(format, k) for k in numbers)
    # Levels whose parents are each visited by one iteration of the outermost loop alone.
    apart = unordered if _visits_parents_once(format, entry_order) else frozenset()
    passes: list[InsertionPass] = []
    marks, private, scratch = [], [], []
    for k, level in enumerate(levels):
        if k != preserving and (level.capability(QueriedEdges) or combined[k]):
            passes.append(InsertionPass(f"query{k + 1}", k))
        if k in unordered:
            passes.append(InsertionPass(f"collect{k + 1}", k, collects=True))
        shared = k in unordered or k in consecutive
        queries = () if shared else level_queries(format, k, SourceFacts())
        marks.append(tuple(query for query in queries if query.is_distinct))
        private += [(k, role) for role, how in combined[k].items() if how != "same" and k not in (preserving, *apart)]
        roles = [*level.require(Insertion).scratch(0, 0)]
        if k in unordered:
            roles += _shared_roles(level)
        roles += [f"{query.label}_mark" for query in marks[k]]
        roles += ["counter"] if k in counters else []
        scratch += [(k, role) for role in roles]
    passes.append(InsertionPass("insert"))
    return InsertionPlan(
        format, entry_order, tuple(passes), combined, unordered, consecutive, counters, sequential, preserving,
        tuple(marks), tuple(private), tuple(scratch),
        _why_serial(format, entry_order, counters, private, sequential, apart),
    )  # fmt: skip


def _why_serial(
    format: Format,
    entry_order: EntryOrder,
    counters: Mapping[int, int | None],
    private: Sequence[tuple[int, str]],
    sequential: int | None,
    apart: Collection[int],
) -> str | None:
    """Return why threads cannot share the passes, or None."""
    levels = format.levels
    if not (entry_order.distinct or apart):
        return "several values for one place are added up in the order in which they come"
    if shared := [k for k in _yielding_shared(format) if k not in apart]:
        return f"{levels[shared[0]]} gives several values a place when the first of them comes"
    if None in counters.values():
        return "entries are numbered in the order in which they come"
    if (dependent := next((v for v in levels if not v.require(Insertion).apart), None)) is not None:
        return f"{dependent} finds places by what came before"
    asked = [k for k, _ in private]
    if (several := next((k for k in asked if asked.count(k) > 1), None)) is not None:
        return f"{levels[several]} asks for several counts of entries"
    # Chunks of the outermost loop hold all entries of their parents if both iterate the same coordinate first.
    whole_parents = not sequential or entry_order.by[:1] == format.remapping.coordinates[:1]
    if sequential is not None and not (entry_order.follows and whole_parents):
        return f"{levels[sequential]} takes values one after the other"
    return None


def _shared_roles(level: LevelFormat) -> tuple[str, ...]:
    return (*level.require(SharedPositions).shared_scratch(0, 0), "stamp")


def _visits_parents_once(format: Format, entry_order: EntryOrder) -> bool:
    """Return whether one iteration of the outermost loop visits all entries below a coordinate of the first level."""
    first = format.levels[0]
    return first.has_every and not first.roles and entry_order.by[:1] == format.remapping.coordinates[:1]


def _yielding_shared(format: Format) -> tuple[int, ...]:
    """Return the levels that yield shared positions, since a level below has several positions for each of them."""
    levels = format.levels
    return tuple(
        k
        for k, level in enumerate(levels)
        if level.placing == "yield" and not all(u.branchless for u in levels[k + 1 :])
    )


def _why_not(format: Format, entry_order: EntryOrder, unordered: frozenset[int]) -> str | None:
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
            if k in unordered:
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


def _counter(counter: Counter, entry_order: EntryOrder) -> int | None:
    """Return the number of loops that enclose the counting, as long as the counter is a scalar."""
    # The counter restarts inside the loops over the axes it counts for, if those are the outermost (section 4.2).
    over = {axis for e in counter.over for axis in axes_of(e)}
    return len(over) if over and set(entry_order.consecutive[: len(over)]) == over else None


def _sequential(format: Format, entry_order: EntryOrder) -> int | None:
    """Return the level whose next free position is a scalar, or None.

    At the root there is one parent, and so one next free position. Below levels that are located by arithmetic, entries
    must come in the order of their positions.
    """
    first = next((k for k, level in enumerate(format.levels) if level.placing == "yield"), None)
    if first is None or first in _yielding_shared(format) or not format.levels[first].capability(Append):
        return None
    order = significance(format.remapping.coordinates)
    plain = all(level.row_major and not level.roles for level in format.levels[:first])
    return first if first == 0 or (plain and order == significance(entry_order.order)) else None


def fills_rows(plan: InsertionPlan, options: CodeOptions) -> bool:
    """Return whether the values below a parent are filled when the first of its entries, which come together, comes."""
    return bool(plan.unordered) and options.enabled("row-fill")


def reused_arrays(
    source: TensorType, target: TensorType, plan: InsertionPlan, options: CodeOptions
) -> tuple[bool, dict[int, int]]:
    """Return whether a copy takes over the values of the source, and the source's level for each level of coordinates.

    A level takes over the array of coordinates of a level of the source.
    """
    keeps_values = plan.preserving is not None and source.dtype == target.dtype
    if not keeps_values or not options.enabled("shared-arrays"):
        return False, {}
    return True, shared_coordinates(source, target, plan.preserving or 0)


def shared_coordinates(source: TensorType, target: TensorType, first: int, tail: int = 0) -> dict[int, int]:
    """Return the source level whose coordinate array a target level can share, by target level from ``first`` on.

    The last levels, ``tail`` in number, are the same in both, and have no coordinates.
    """
    format = target.format
    if source.format.is_structured or format.is_structured:
        return {}
    # Arrays can be shared if they store the same axis in the same dtype.
    have = dict(zip(source.format.roles, source.index_dtypes, strict=True))
    want = dict(zip(format.roles, target.index_dtypes, strict=True))
    last = len(source.format.levels) - 1 - tail
    group = next(group for group in source.format.level_groups if last in group)
    listed = {source.format.mode_order[k]: k for k in group if lists(source.format.levels[k])}
    shared = {}
    for k in range(first, len(format.levels)):
        same = listed.get(format.mode_order[k])
        if same is not None and lists(format.levels[k]) and want[k, "crd"] == have[same, "crd"]:
            shared[k] = same
    return shared
