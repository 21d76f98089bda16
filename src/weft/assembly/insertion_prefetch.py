"""Prefetching of memory that an insertion is about to write.

Insertions at scattered positions of a result wait for memory one by one. If the position of a later entry follows from
its coordinates in the source, its memory is prefetched some entries before. Then a conversion of csr to csc takes two
thirds of the time. Prefetching changes no result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..formats import Format, LevelVars
from ..formats.capabilities import Insertion, PositionIteration, lists
from ..formats.format import level_variables
from ..formats.tensor_vars import TensorVars
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import add, block, if_, lit, lt
from ..remapping.nodes import Axis

AHEAD = 16
"""Number of entries between the prefetch of memory and its use."""


def coordinates_ahead(source: Access, tensor: TensorVars, p: ir.Expr) -> Mapping[str, ir.Expr]:
    """Return the coordinates, by variable, that the last level and others of its chain store at position ``p``."""
    format = tensor.type.format
    variables = level_variables(source, format)
    chain = format.level_groups[-1] if format.is_compact and not format.is_partial and format.levels else ()
    return {
        variables[k]: format.levels[k].require(PositionIteration).pos_access(tensor.levels[k], p, lit(0), ())
        for k in chain
        if lists(format.levels[k])
    }


def prefetch_insertion(
    source: Access,
    tensor: TensorVars,
    p: ir.Expr,
    coords: Mapping[str, ir.Expr],
    result: tuple[Format, Sequence[LevelVars], Sequence[str]],
    k: int,  # the level that gives an entry the next free position of its parent
    values: ir.Var | None,  # None if values are not written
    name: ir.Var,
) -> ir.Stmt:
    """Return the prefetch of the memory for the entry ``AHEAD`` positions after ``p``, which is empty if unknown."""
    format, levels, variables = result
    # The later position is known only if levels above are located by coordinates, at least one of which is listed.
    above = format.levels[:k]
    axes = all(isinstance(c, Axis) for c in format.remapping.coordinates[:k])
    later = add(p, lit(AHEAD))
    listed = coordinates_ahead(source, tensor, later)
    if (
        not axes
        or not all(level.has_every and not level.roles for level in above)
        or not listed.keys() & {*variables[:k]}
    ):
        return block()
    # Coordinates that the source does not list for each entry, such as its row, are taken to be those of this entry.
    parent: ir.Expr = lit(0)
    ahead = tuple(listed.get(v, coords[v]) for v in variables)
    for n, level in enumerate(above):
        parent = level.require(Insertion).get_pos(levels[n], parent, ahead)
    place = format.levels[k].require(Insertion).next_pos(levels[k], parent)
    if place is None:
        return block()
    crds = [levels[n].arrays["crd"] for n in range(k, len(format.levels)) if lists(format.levels[n])]
    arrays = [*crds, values] if values is not None else crds
    prefetches = [ir.Evaluate(ir.Call("weft_prefetch_write", (add(array, name),), "int64")) for array in arrays]
    # The source must not be read beyond its last entry.
    size: ir.Expr = lit(1)
    for level, m in zip(tensor.type.format.levels, tensor.levels, strict=True):
        size = level.get_size(m, size)
    return if_(lt(later, size), block(ir.Declare(name, place), *prefetches))
