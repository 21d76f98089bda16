"""Prefetch what an insertion is about to write: entries put all over a result wait for memory one by one.

Where the place of an entry can be told from where a later one stands in the source, its lines are asked for some
entries before. This changes no result, only when the memory comes: csr to csc takes two thirds of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.derived_variables import level_variables
from ..formats import Format, LevelVars
from ..formats.level import lists
from ..formats.tensor_vars import TensorVars
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import add, block, if_, lit, lt
from ..remapping.nodes import Axis

__all__ = ["AHEAD", "coordinates_ahead", "prefetch_insertion"]

AHEAD = 16
"""Entries between asking for memory and writing it."""


def coordinates_ahead(source: Access, tensor: TensorVars, p: ir.Expr) -> Mapping[str, ir.Expr]:
    """The coordinates that a tensor's last level, and those in one chain with it, list up to its size."""
    format = tensor.type.format
    variables = level_variables(source, format)
    chain = format.level_groups[-1] if format.is_compact and not format.is_partial and format.levels else ()
    return {
        variables[k]: format.levels[k].pos_access(tensor.levels[k], p, lit(0), ())
        for k in chain
        if lists(format.levels[k])
    }


def prefetch_insertion(
    source: Access,
    tensor: TensorVars,
    p: ir.Expr,
    coords: Mapping[str, ir.Expr],
    result: tuple[Format, Sequence[LevelVars], Sequence[str]],
    k: int,
    values: ir.Var | None,
    name: ir.Var,
) -> ir.Stmt:
    """Ask for the memory that an entry some way behind ``p`` will be put into.

    Parameters
    ----------
    source : Access
        Whose entries are inserted.
    tensor : TensorVars
        It.
    p : Expr
        The position of the entry that is inserted now.
    coords : mapping
        Its coordinates, by variable.
    result : (Format, sequence of LevelVars, sequence of str)
        The format of the result, the variables of its levels, and what its levels' coordinates are called.
    k : int
        The level that gives an entry the next free position of its parent.
    values : Var or None
        The result's values, where they are written.
    name : Var
        A fresh variable.
    """
    format, made, variables = result
    above = format.levels[:k]
    axes = all(isinstance(c, Axis) for c in format.remapping.coordinates[:k])
    later = add(p, lit(AHEAD))
    found = coordinates_ahead(source, tensor, later)
    if (
        not axes
        or not all(level.has_every and not level.roles for level in above)
        or not found.keys() & {*variables[:k]}
    ):
        return block()
    parent: ir.Expr = lit(0)
    ahead = tuple(found.get(v, coords[v]) for v in variables)
    for n, level in enumerate(above):
        parent = level.get_pos(made[n], parent, ahead)
    place = format.levels[k].next_pos(made[k], parent)
    if place is None:
        return block()
    written = [made[n].arrays["crd"] for n in range(k, len(format.levels)) if lists(format.levels[n])]
    arrays = [*written, values] if values is not None else written
    asks = [ir.Evaluate(ir.Call("weft_fetch", (add(array, name),), "int64")) for array in arrays]
    size: ir.Expr = lit(1)
    for level, m in zip(tensor.type.format.levels, tensor.levels, strict=True):
        size = level.get_size(m, size)
    return if_(lt(later, size), block(ir.Declare(name, place), *asks))
