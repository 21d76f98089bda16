"""Assembly by insertion, planned (2020 paper, section 6): which passes there are, and what each level needs.

The loops over the source run once for each level that has something to find out, from the root down (its attribute
queries), and once more to insert every entry. A level places an entry by what its queries found (``get_pos``), as one
before it (``find``), or at the next free position of its parent (``yield_pos``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..analysis.derived_variables import level_variables
from ..formats import Format, LevelFormat, TensorType
from ..formats.level import lists
from ..index_notation.nodes import Access
from ..queries.table1_rewrites import SourceFacts
from ..records import record
from ..remapping.inverse import significance
from ..remapping.nodes import Axis, Binary, Counter, IndexExpr, axes_of, counters_of
from .query_lowering import LevelQuery, answers, level_queries

__all__ = [
    "UNSORTED",
    "EntryOrder",
    "InsertionPass",
    "can_insert",
    "consecutive_shared",
    "counters",
    "distinct_counts",
    "entry_order_of",
    "insertion_passes",
    "position_preserving_level",
    "private_roles",
    "scalar_counters",
    "scratch_dtype",
    "scratch_roles",
    "sequential_level",
    "shareable",
    "shared_coordinates",
    "unordered_shared",
]  # fmt: skip


@record
class InsertionPass:
    """One pass over the source: the query of a level, its collection, or the insertion of every entry."""

    name: str
    level: int | None = None
    collects: bool = False


def insertion_passes(format: Format, entry_order: EntryOrder) -> tuple[InsertionPass, ...]:
    """The passes that assembling a format takes."""
    found = []
    for k in range(len(format.levels)):
        if k != position_preserving_level(format, entry_order) and _asks(format, k):
            found.append(InsertionPass(f"query{k + 1}", k))
        if k in unordered_shared(format, entry_order):
            found.append(InsertionPass(f"collect{k + 1}", k, collects=True))
    return (*found, InsertionPass("insert"))


@lru_cache(maxsize=1024)
def unordered_shared(format: Format, entry_order: EntryOrder) -> tuple[int, ...]:
    """The levels at whose positions several entries meet that come together, but in any order."""
    levels = format.levels
    met = () if entry_order.sorts(format) else _met(format)
    return tuple(k for k in met if levels[k].shares and levels[k].unique)


def _met(format: Format) -> tuple[int, ...]:
    """The levels that yield positions at which several entries meet: what is below them takes more than one."""
    levels = format.levels
    return tuple(
        k
        for k, level in enumerate(levels)
        if level.placing == "yield" and not all(u.branchless for u in levels[k + 1 :])
    )


@lru_cache(maxsize=1024)
def consecutive_shared(format: Format, entry_order: EntryOrder) -> dict[int, range]:
    """The same where entries come sorted, so that those of one position follow each other.

    For each the levels that decide whether it is the same position: itself, and the branchless ones below.
    """
    chains = {chain.start: chain for chain in format.level_groups}
    return {k: chains[k] for k in _met(format)} if entry_order.sorts(format) else {}


def _asks(format: Format, level: int) -> bool:
    edges = type(format.levels[level]).insert_edges is not LevelFormat.insert_edges
    return edges or bool(answers(format, level))


@lru_cache(maxsize=1024)
def counters(format: Format) -> tuple[int, ...]:
    """The levels whose coordinates count entries."""
    return tuple(k for k, c in enumerate(format.remapping.coordinates) if isinstance(c, Counter))


def can_insert(format: Format, entry_order: EntryOrder) -> str | None:
    """Why entries cannot be inserted in the order in which they come; None when they can.

    A position that is taken stays taken: below a level that yields positions there is one for each entry, and what
    the level and those below it promise about order, the order in which entries come must keep.
    """
    coordinates = format.remapping.coordinates
    for k, level in enumerate(format.levels):
        if level.placing is None:
            return f"{level} cannot place an entry"
        if entry_order.sorts(format):
            continue
        if level.curved:
            return f"entries do not come along the curve of {level}"
        if level.placing == "yield" or (level.roles and level.placing == "get" and level.branchless):
            above = {a for c in coordinates[:k] for a in axes_of(c) if len(axes_of(c)) == 1 and not _divides(c)}
            below = significance(coordinates[k:])
            if k in unordered_shared(format, entry_order):
                if any(lower.placing != "get" or lower.roles for lower in format.levels[k + 1 :]):
                    return f"a level below {level} does not find positions by arithmetic"
                first = order_within(entry_order.order[:1], frozenset())
                leading = bool(first) and all(axes_of(c) == {first[0]} for c in coordinates[:k])
                return None if leading else f"the entries below one parent of {level} do not come together"
            if any(not lower.branchless for lower in format.levels[k + 1 :]):
                return f"{format.levels[k + 1]} is below {level}, which yields a position for each entry"
            if level.ordered and order_within(entry_order.order, frozenset(above)) != below:
                return f"entries come in another order than {level} has"
            return None
    return None


@record
class EntryOrder:
    """How the entries of a source come.

    Parameters
    ----------
    by : tuple of IndexExpr
        What they are sorted by, the first deciding first; empty where by nothing.
    once : bool
        Whether no two are the same in what they are sorted by.
    grouped : tuple of int
        The axes of the outermost loops, as far as each visits no coordinate twice.
    follows : bool
        Whether the positions of the source's last level are its entries, one by one from 0, in this order.
    curved : bool
        Whether it is the curves of the levels over these that sort them.
    """

    by: tuple[IndexExpr, ...] = ()
    once: bool = False
    consecutive: tuple[int, ...] = ()
    follows: bool = False
    curved: bool = False

    @property
    def order(self) -> tuple[IndexExpr, ...]:
        """What they are sorted by lexicographically."""
        return () if self.curved else self.by

    def sorts(self, format: Format) -> bool:
        """Whether entries come in the order that a format has."""
        return self.once and self.by == format.remapping.coordinates and self.curved == format.is_curved


UNSORTED = EntryOrder()


def entry_order_of(source: Format, loops: Sequence[str]) -> EntryOrder:
    """How the entries of a tensor with the axes ``i0, i1, ...`` come that loops over its levels visit."""
    variables = level_variables(Access("A", tuple(f"i{axis}" for axis in range(source.order))), source)
    levels = dict(zip(variables, zip(source.levels, source.remapping.coordinates, strict=True), strict=True))
    entries = all(level.compact and level.gapless and not level.partial for level in source.levels)
    known = significance(source.remapping.coordinates) is not None  # nothing is stored beyond an edge
    follows = entries and known and source.is_unique and tuple(loops) == variables
    by: list[IndexExpr] = []
    grouped: list[int] = []
    ordered = True
    for n, v in enumerate(loops):
        level, coordinate = levels.get(v, (None, None))
        if level is None or coordinate is None:
            return EntryOrder(consecutive=tuple(grouped))
        ordered &= level.ordered
        if ordered:
            by.append(coordinate)
        if len(grouped) == n and level.unique and isinstance(coordinate, Axis):
            grouped.append(coordinate.number)
    if source.is_curved:
        by, ordered = [], False
    return EntryOrder(tuple(by), ordered and source.is_unique, tuple(grouped), follows)


def order_within(by: Sequence[IndexExpr], fixed: frozenset[int]) -> tuple[int, ...]:
    """The axes by which entries are ordered that have the same coordinates along some axes.

    Examples
    --------
    >>> from ..remapping.nodes import Binary
    >>> order_within([Binary("-", Axis(1), Axis(0)), Axis(1)], frozenset([0]))  # by diagonals: each row's by columns
    (1,)
    """
    axes: tuple[int, ...] = ()
    for e in by:
        if counters_of(e):
            break
        if axes_of(e) <= {*fixed, *axes}:
            continue
        rising = _rising(e, fixed)
        if rising is None:
            break
        axes += tuple(axis for axis in rising if axis not in fixed)
    return axes


def _rising(e: IndexExpr, fixed: frozenset[int]) -> tuple[int, ...] | None:
    """The axes in whose lexicographic order an expression rises, some axes being fixed; None where in none's."""
    match e:
        case Binary(op="+" | "-", left=left, right=right) if axes_of(right) <= fixed:
            return _rising(left, fixed)
        case Binary(op="+", left=left, right=right) if axes_of(left) <= fixed:
            return _rising(right, fixed)
    return significance([e])


def _divides(coordinate: object) -> bool:
    return not hasattr(coordinate, "number") and not isinstance(coordinate, Counter)


def scalar_counters(format: Format, entry_order: EntryOrder) -> dict[int, int]:
    """The levels whose counters are scalars, and how many loops are outside: those over what each counts for."""
    found = {}
    for k in counters(format):
        over = {axis for e in format.remapping.coordinates[k].over for axis in axes_of(e)}  # type: ignore[attr-defined]
        if over and set(entry_order.consecutive[: len(over)]) == over:
            found[k] = len(over)
    return found


def sequential_level(format: Format, entry_order: EntryOrder) -> int | None:
    """The level whose next free position is a scalar.

    One parent has one next position; below levels that find theirs by arithmetic the order of the entries must be
    that of the positions.
    """
    found = next((k for k, level in enumerate(format.levels) if level.placing == "yield"), None)
    if found is None or found in _met(format) or not format.levels[found].appends:
        return None
    order = significance(format.remapping.coordinates)
    plain = all(level.has_every and not level.roles for level in format.levels[:found])
    return found if found == 0 or (plain and order == significance(entry_order.order)) else None


def position_preserving_level(format: Format, entry_order: EntryOrder) -> int | None:
    """The level whose positions are those that the entries have in the source: none of its queries has to be asked.

    Where its parents' children end is seen as the entries pass, whose parents come in order.
    """
    k = sequential_level(format, entry_order) if entry_order.follows else None
    if k is None or type(format.levels[k]).seq_finalize_edges is LevelFormat.seq_finalize_edges:
        return None
    return k


def shareable(format: Format, entry_order: EntryOrder) -> bool:
    """Whether threads can share the passes: no entry's place hangs on another's, but by what queries found."""
    own = [k for k, _ in private_roles(format, entry_order)]
    plain = all(level.apart for level in format.levels) and len(set(own)) == len(own)
    counted = set(counters(format)) == set(scalar_counters(format, entry_order))
    found = sequential_level(format, entry_order)
    # Where a thread's entries are those of whole parents.
    whole = not found or entry_order.by[:1] == format.remapping.coordinates[:1]
    in_order = found is None or (entry_order.follows and whole)
    return plain and counted and in_order and not _met(format)


def shared_coordinates(source: TensorType, target: TensorType, entry_order: EntryOrder) -> dict[int, int]:
    """The levels whose coordinates are those of a level of the source, array and all: which, by the target's level."""
    format, first = target.format, position_preserving_level(target.format, entry_order)
    if first is None or source.format.is_structured or format.is_structured:
        return {}
    have = dict(zip(source.format.roles, source.index_dtypes, strict=True))
    want = dict(zip(format.roles, target.index_dtypes, strict=True))
    listed = {source.format.mode_order[k]: k for k in source.format.level_groups[-1] if lists(source.format.levels[k])}
    found = {}
    for k in range(first, len(format.levels)):
        same = listed.get(format.mode_order[k])
        if same is not None and lists(format.levels[k]) and want[k, "crd"] == have[same, "crd"]:
            found[k] = same
    return found


@lru_cache(maxsize=1024)
def distinct_counts(format: Format, level: int, entry_order: EntryOrder) -> tuple[LevelQuery, ...]:
    """The questions of a level that are answered by marking coordinates in an array over all that there are."""
    if level in unordered_shared(format, entry_order) or level in consecutive_shared(format, entry_order):
        return ()
    return tuple(a for a in level_queries(format, level, SourceFacts()) if a.is_distinct)


def scratch_dtype(type: TensorType, level: LevelFormat | None = None, role: str = "") -> str:
    """Of arrays that only assembly needs: what holds the result's coordinates and positions holds all that they do."""
    if level is not None and role in level.flags:
        return "uint8"
    return "int32" if all(dtype == "int32" for dtype in type.index_dtypes) else "int64"


@lru_cache(maxsize=1024)
def private_roles(format: Format, entry_order: EntryOrder) -> tuple[tuple[int, str], ...]:
    """``(level, role)`` of every array of answers that each thread has for itself."""
    levels = [k for k in range(len(format.levels)) if k != position_preserving_level(format, entry_order)]
    return tuple((k, role) for k in levels for role, how in answers(format, k).items() if how != "same")


@lru_cache(maxsize=1024)
def scratch_roles(format: Format, entry_order: EntryOrder) -> tuple[tuple[int, str], ...]:
    """``(level, role)`` of every array that only assembly needs."""
    found = []
    for k, (level, c) in enumerate(zip(format.levels, format.remapping.coordinates, strict=True)):
        found += [(k, role) for role in level.scratch(0, 0)]
        if k in unordered_shared(format, entry_order):
            found += [(k, role) for role in (*level.shared_scratch(0, 0), "stamp")]
        found += [(k, f"{a.label}_mark") for a in distinct_counts(format, k, entry_order)]
        if isinstance(c, Counter):
            found.append((k, "counter"))
    return tuple(found)
