"""Iteration graphs (2017 paper, section 4): tensor paths, and the loop orders that they allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from ..formats import Format, TensorType
from ..formats.format import level_variables
from ..index_notation.nodes import Access, Expr
from . import merge_lattice
from .derived_variables import DerivedVariable


@lru_cache(maxsize=4096)
def constraints(access: Access, format: Format) -> tuple[tuple[str, str], ...]:
    """Return pairs ``(outer, inner)`` of variables: a level without random access comes after all levels above it."""
    variables = level_variables(access, format)
    walked = [k for k, level in enumerate(format.levels) if not level.has_every]
    return tuple([(above, variables[k]) for k in walked for above in variables[:k] if above != variables[k]])


def places(order: Sequence[str], derived: Sequence[DerivedVariable] = ()) -> dict[str, int]:
    """Return the number of the loop at which each variable is known, derived ones included; -1 if it needs no loop."""
    place = {v: n for n, v in enumerate(order)}
    if not derived:
        return place
    # A derived variable may need another one: passes over those that are left resolve every chain.
    left, before = [*derived], -1
    while len(left) != before:
        before, pending, left = len(left), left, []
        for d in pending:
            if d.var in place:
                continue
            if d.needs <= place.keys():
                place[d.var] = max([place[v] for v in d.needs], default=-1)
            else:
                left.append(d)
    return place


def fits(access: Access, format: Format, order: Sequence[str], derived: Sequence[DerivedVariable] = ()) -> bool:
    """Return whether a loop order iterates an access from the root of its hierarchy to the leaves."""
    return follows(access, format, order, places(order, derived))


def follows(access: Access, format: Format, order: Sequence[str], place: Mapping[str, int]) -> bool:
    """Return whether the loops at some places iterate an access from the root of its hierarchy to the leaves."""
    # A level that can be located takes a derived coordinate; any other level needs a loop of its own.
    for v, level in zip(level_variables(access, format), format.levels, strict=True):
        if v not in place or (v not in order and not level.has_every):
            return False
    return not [above for above, below in constraints(access, format) if place[above] >= place[below]]


Types: TypeAlias = tuple[tuple[str, TensorType], ...]


def types_of(expr: Expr, types: Mapping[str, TensorType]) -> Types:
    """Return the types of the tensors that an expression reads, as a key of results that all loop orders share."""
    return tuple([(a.tensor, types[a.tensor]) for a in expr.distinct_accesses])


def level_iterators(access: Access, v: str, types: Mapping[str, TensorType]) -> tuple[merge_lattice.LevelIterator, ...]:
    """Return the iterators of those levels of an access that are over ``v``, outermost first."""
    if not access.indices:
        return ()
    format = types[access.tensor].format
    return tuple(
        merge_lattice.LevelIterator(access, k, level, f"{access.tensor}{k + 1}")
        for k, (u, level) in enumerate(zip(level_variables(access, format), format.walked_levels, strict=True))
        if u == v
    )


def share_interval(iterators: Iterable[merge_lattice.LevelIterator], types: Mapping[str, TensorType]) -> bool:
    """Return whether iterators have the same interval of coordinates, which follows from one remapping.

    The interval of each begins at the same coordinate. Arrays that are too short may end some of them earlier.
    """
    found = {implied_by(it.access, types[it.access.tensor].format, it.level) if it.access else None for it in iterators}
    return len(found) == 1 and None not in found


def implied_by(access: Access, format: Format, k: int) -> tuple[str, tuple[str, ...]] | None:
    """Return what decides the coordinates of an implied level: how it is iterated, and the variables down to it."""
    level = format.levels[k]
    return (level.iteration, level_variables(access, format)[: k + 1]) if level.implied else None
