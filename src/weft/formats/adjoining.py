"""Positions of a level below those of the outermost one, where the segments of all levels between them adjoin."""

from __future__ import annotations

from ..ir.builder import lit
from ..ir.nodes import Cast, Expr, Load, Var
from ..ir.passes.adjacent_ranges import adjoin
from .capabilities import Locate, PositionIteration
from .tensor_vars import TensorVars

_PARENT = Var("parent")


def adjoins_to(tensor: TensorVars, level: int) -> bool:
    """Return whether positions of a level follow those of the outermost level, segment by segment."""
    return all(_adjoins(tensor, k) for k in range(1, level + 1))


def last_adjoining(tensor: TensorVars) -> int:
    """Return the last level that branches and whose positions follow those of the outermost one."""
    levels = tensor.type.format.levels
    return max(k for k, level in enumerate(levels) if not k or (adjoins_to(tensor, k) and not level.branchless))


def first_below(tensor: TensorVars, level: int, p: Expr, above: int = 0) -> Expr:
    """Return the first position of a level below position ``p`` of a level above, or the end of those before."""
    for k in range(above + 1, level + 1):
        p = _first(tensor, k, p)
    return p


def lists_entries(tensor: TensorVars) -> bool:
    """Return whether the outermost level lists all entries by their first coordinates, in order."""
    first, *below = tensor.type.format.levels
    return first.iteration == "position" and first.ordered and not first.unique and all(k.branchless for k in below)


def arrays_of_rows(tensor: TensorVars, level: int) -> tuple[int, ...]:
    """Return the places of the arrays that tell how many positions of a level each position of the outermost one has.

    These are the first positions of segments, from the innermost level up, or the coordinates of a list; none if they
    are no elements of arrays.
    """
    if lists_entries(tensor):
        iterated = tensor.type.format.levels[0].require(PositionIteration)
        elements = [iterated.pos_access(tensor.levels[0], _PARENT, lit(0), ())]
    else:
        elements = [_first(tensor, k, _PARENT) for k in range(level, 0, -1)]
    loads = [e.a if isinstance(e, Cast) else e for e in elements]
    arrays = [e.array for e in loads if isinstance(e, Load) and e.index == _PARENT and e.array in tensor.arrays]
    return tuple([tensor.arrays.index(a) for a in arrays]) if len(arrays) == len(elements) else ()


def counts_coordinates(tensor: TensorVars) -> bool:
    """Return whether positions of the outermost level are its coordinates, counted from 0."""
    level = tensor.type.format.levels[0]
    located = level.capability(Locate)
    return level.has_every and located is not None and located.locate(tensor.levels[0], lit(0), _PARENT) == _PARENT


def _adjoins(tensor: TensorVars, k: int) -> bool:
    level, m = tensor.type.format.levels[k], tensor.levels[k]
    if (by_position := level.capability(PositionIteration)) is not None:
        return adjoin(*by_position.pos_bounds(m, _PARENT), _PARENT)
    return level.has_every and level.capability(Locate) is not None


def _first(tensor: TensorVars, k: int, parent: Expr) -> Expr:
    level, m = tensor.type.format.levels[k], tensor.levels[k]
    if (by_position := level.capability(PositionIteration)) is not None:
        return by_position.pos_bounds(m, parent)[0]
    return level.require(Locate).locate(m, parent, lit(0))
