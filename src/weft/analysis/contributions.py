"""Contributions: the values that loops give to a result, and the order in which these values come (2020, section 4).

A conversion contributes the entries of its source. A computation contributes the values of its terms. The assembly of a
result chooses by this order how each level finds the position of a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache

from ..concrete_notation.nodes import Assign, Forall, Program, Stmt, Where
from ..concrete_notation.traversal import assignments
from ..concrete_notation.values import without_conversions
from ..formats import Format, LevelFormat, TensorType
from ..formats.capabilities import Insertion, SharedPositions
from ..formats.format import level_variables
from ..index_notation.nodes import Access
from ..index_notation.traversal import accesses
from ..records import record
from ..remapping.inverse import significance
from ..remapping.nodes import Axis, Binary, Counter, IndexExpr, axes_of, counters_of, substitute


@record
class EntryOrder:
    """Order in which values are contributed to a result."""

    # The sort keys over the axes of the result, most significant first. Empty if values are not sorted.
    by: tuple[IndexExpr, ...] = ()
    once: bool = False  # True if no two values are equal in all sort keys
    # The axes of the outermost loops, as long as each loop visits no coordinate twice.
    consecutive: tuple[int, ...] = ()
    # True if the values are those of the positions of the source's last level, counted from 0 in this order.
    follows: bool = False
    curved: bool = False  # True if the values are sorted by the space-filling curves of the levels over the sort keys
    distinct: bool = True  # True if no two values have the same coordinates; otherwise they are reduced where they meet

    @property
    def order(self) -> tuple[IndexExpr, ...]:
        """Sort keys by which the values are sorted lexicographically."""
        return () if self.curved else self.by

    def sorts(self, format: Format) -> bool:
        """Return whether values come in the order of the stored entries of a format, without duplicates."""
        return self.once and self.by == format.remapping.coordinates and self.curved == format.is_curved


UNSORTED = EntryOrder()


def visits_positions_in_order(source: Format) -> bool:
    """Return whether loops over the levels of a tensor visit every position of the last, in order."""
    return all(
        level.compact and level.gapless and not level.partial and (level.row_major or not level.has_every)
        for level in source.levels
    )


def entry_order_of(source: Format, loops: Sequence[str]) -> EntryOrder:
    """Return the order in which loops over the levels of a tensor visit its entries."""
    variables = level_variables(Access("A", tuple(f"i{axis}" for axis in range(source.order))), source)
    levels = dict(zip(variables, zip(source.walked_levels, source.remapping.coordinates, strict=True), strict=True))
    inside = significance(source.remapping.coordinates) is not None  # nothing is stored beyond an edge
    follows = visits_positions_in_order(source) and inside and source.is_unique and tuple(loops) == variables
    # Sort keys end at the first level that is not ordered, consecutive axes at the first that is not unique.
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


def contribution_order(program: Program, target: Access, types: Mapping[str, TensorType]) -> EntryOrder:
    """Return the order in which the loops of a program contribute values to its result.

    A loop may visit a coordinate again for each duplicate of it that a level stores. Values that are not reduced where
    they meet come once for all duplicates of an entry.
    """
    loops, last = contribution_path(program.stmt, target)
    operands = [a for s in assignments(program.stmt) for a in accesses(s.value) if a.tensor in types]
    keys = _keys(target, operands, types)
    by: list[IndexExpr] = []
    grouped: list[int] = []
    ordered = distinct = isinstance(last, Assign)
    reduces = isinstance(last, Assign) and last.op is not None
    for n, loop in enumerate(loops):
        key = keys.get(loop.var)
        levels = [level for a in operands for level in _levels_over(a, loop.var, types)]
        unique = all(level.unique for level in levels)
        if key is None:  # nothing of the result follows from this loop: coordinates come again in each iteration
            ordered = distinct = False
            continue
        ordered &= all(level.ordered for level in levels)
        distinct &= unique or not reduces
        if ordered:
            by.append(key)
        if len(grouped) == n and unique and isinstance(key, Axis):
            grouped.append(key.number)
    if any(types[a.tensor].format.is_curved for a in operands):
        by, ordered = [], False
    # Loops over the levels of one tensor visit each of its entries once.
    visited = {loop.var for loop in loops}
    distinct |= isinstance(last, Assign) and any(_enumerates(a, visited, target, types) for a in operands)
    return EntryOrder(tuple(by), ordered and distinct, tuple(grouped), distinct=distinct)


def _enumerates(access: Access, loops: Set[str], target: Access, types: Mapping[str, TensorType]) -> bool:
    """Return whether loops visit each entry of a tensor once, and every entry has other coordinates in the result."""
    format = types[access.tensor].format
    same = sorted(access.indices) == sorted(target.indices) and len({*access.indices}) == len(access.indices)
    return same and format.is_unique and {*level_variables(access, format)} == loops


def _keys(target: Access, operands: Iterable[Access], types: Mapping[str, TensorType]) -> dict[str, IndexExpr]:
    """Return the loops that visit coordinates of the result, each with that coordinate over the result's axes."""
    result = {v: Axis(n) for n, v in enumerate(target.indices)}
    keys: dict[str, IndexExpr] = dict(result)
    for a in operands:
        axes = {n: result[v] for n, v in enumerate(a.indices) if v in result}
        format = types[a.tensor].format
        for v, c in zip(level_variables(a, format), format.remapping.coordinates, strict=True):
            if axes_of(c) and axes_of(c) <= axes.keys() and not counters_of(c):
                keys.setdefault(v, substitute(c, axes))
    return keys


def _levels_over(access: Access, v: str, types: Mapping[str, TensorType]) -> list[LevelFormat]:
    """Return the levels of an operand over one variable."""
    format = types[access.tensor].format
    return [level for u, level in zip(level_variables(access, format), format.walked_levels, strict=True) if u == v]


def contribution_path(stmt: Stmt, target: Access) -> tuple[tuple[Forall, ...], Stmt]:
    """Return the loops around the assignment to the result, outermost first, and the statement inside all of them."""
    loops: list[Forall] = []
    while not isinstance(stmt, Assign):
        match stmt:
            case Forall(body=body):
                loops.append(stmt)
                stmt = body
            case Where(consumer=consumer):
                stmt = consumer
            case _:
                break
    return tuple(loops), stmt


def copied_access(program: Program, target: Access) -> Access | None:
    """Return the access that a program copies entry by entry to the result; None if it computes anything."""
    stmt = program.stmt
    while isinstance(stmt, Forall):
        stmt = stmt.body
    value = without_conversions(stmt.value) if isinstance(stmt, Assign) else None
    if not isinstance(value, Access) or sorted(value.indices) != sorted(target.indices):
        return None
    return value if len(set(value.indices)) == len(value.indices) else None


@lru_cache(maxsize=1024)
def takes_values(format: Format) -> bool:
    """Return whether each level can find or take a position for a value."""
    if format.is_curved or format.conditions or not format.levels:
        return False
    return all(level.capability(Insertion) is not None for level in format.levels)


@lru_cache(maxsize=1024)
def levels_to_gather(format: Format, repeated: bool) -> int | None:
    """Return the number of leading levels whose loops must be outermost so that equal coordinates share one position.

    Values can then be reduced at their positions. A level that yields positions finds those of one parent again while
    values of that parent come. A level that counts values beforehand must not be misled by those that come again.

    Examples
    --------
    >>> from ..formats import parse_format
    >>> [levels_to_gather(parse_format(name, 2), True) for name in ("dia", "bsr", "csr")]
    [0, 1, None]
    """
    if not takes_values(format) or any(isinstance(c, Counter) for c in format.remapping.coordinates):
        return None
    last, outer = len(format.levels) - 1, 0
    for k, level in enumerate(format.levels):
        insertion = level.require(Insertion)
        below = format.levels[k + 1 :]
        if not insertion.unique or insertion.own_positions:
            return None
        if insertion.placing == "yield":
            # Below, positions must follow by arithmetic, and there must be several for each of this level's.
            located = all(u.placing == "get" and not u.roles for u in below) and not all(u.branchless for u in below)
            # At the root all values belong to one parent: their coordinates are better listed and sorted once.
            if outer or k == 0 or insertion.capability(SharedPositions) is None or not located:
                return None
            outer = k
            continue
        aggregates = [a.op for query in insertion.queries(k, last) for a in query.aggregates]
        if repeated and "count" in aggregates:
            return None
    return outer


def has_one_position_each(format: Format, repeated: bool) -> bool:
    """Return whether equal coordinates find one position, whatever the order in which they come."""
    return levels_to_gather(format, repeated) == 0


def keeps_duplicates(format: Format) -> bool:
    """Return whether entries with equal coordinates get a position each.

    Examples
    --------
    >>> from ..formats import parse_format
    >>> keeps_duplicates(parse_format("du", 2)), keeps_duplicates(parse_format("coo", 2))
    (True, False)
    """
    chains = [format.levels[chain.start : chain.stop] for chain in format.level_groups]
    return any(chain[0].placing == "yield" and not any(level.unique for level in chain) for chain in chains)


def order_within(by: Sequence[IndexExpr], fixed: frozenset[int]) -> tuple[int, ...]:
    """Return the axes by which entries are ordered that have the same coordinates along the ``fixed`` axes.

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
    """Return the axes in whose lexicographic order an expression increases for ``fixed`` axes, or None."""
    while isinstance(e, Binary) and e.op in ("+", "-"):
        if axes_of(e.right) <= fixed:
            e = e.left
        elif e.op == "+" and axes_of(e.left) <= fixed:
            e = e.right
        else:
            break
    return significance([e])
