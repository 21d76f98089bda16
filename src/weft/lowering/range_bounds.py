"""Bounds of what a range of the outermost loop appends, by the positions of operands in that range."""

from __future__ import annotations

from collections.abc import Mapping

from ..analysis.coordinate_sets import bound
from ..analysis.merge_lattice import LevelIterator
from ..concrete_notation.values import without_conversions
from ..formats.adjoining import adjoins_to, counts_coordinates, first_below
from ..formats.size_bound import SizeBound
from ..ir import nodes as ir
from ..ir.builder import minimum, product, sub, total
from .append_writer import AppendWriter
from .function_state import FunctionState

Ranges = Mapping[LevelIterator, tuple[ir.Expr, ir.Expr]]


def range_bounds(f: FunctionState, writer: AppendWriter, ranges: Ranges) -> list[ir.Expr] | None:
    """Return bounds of the coordinates in each chain, given ranges of the outermost loop's iterators.

    None if they do not follow from the positions in these ranges.
    """
    context = f.context
    if context.workspaces or not context.reaches_stored_only:
        return None
    value = without_conversions(context.expression)
    names = [a.tensor for a in value.distinct_accesses]
    if context.skip_fill and any(context.types[name].format.is_dense for name in names):
        return None  # far more than is stored
    within = {
        it.access.tensor: range
        for it, range in ranges.items()
        if it.access is not None and it.level == 0 and names.count(it.access.tensor) == 1
    }
    bounds: list[ir.Expr] = []
    for chain in writer.chains:
        size = bound(value, frozenset(writer.path[: chain.last + 1]), context.types)
        most = None if size is None else _most(f, size, within)
        if most is None:
            return None
        bounds.append(most)
    return bounds


def _most(f: FunctionState, size: SizeBound, within: Mapping[str, tuple[ir.Expr, ir.Expr]]) -> ir.Expr | None:
    """Return a bound in terms of the positions of tensors that are ``within`` ranges, or None."""
    if size.op == "size":
        return _positions(f, size, within[size.tensor]) if size.tensor in within else None
    parts = [_most(f, part, within) for part in size.parts]
    known = [part for part in parts if part is not None]
    if not known or (size.op != "min" and len(known) < len(parts)):
        return None
    return _TOGETHER[size.op](known)


def _positions(f: FunctionState, size: SizeBound, range: tuple[ir.Expr, ir.Expr]) -> ir.Expr | None:
    """Return the number of positions of a level below a range of the outermost level, or None if they are apart."""
    tensor = f.tensors[size.tensor]
    first = tensor.type.format.levels[0]
    if not adjoins_to(tensor, size.level) or not (first.iteration == "position" or counts_coordinates(tensor)):
        return None
    begin, end = (first_below(tensor, size.level, edge) for edge in range)
    return sub(end, begin)


_TOGETHER = {"min": lambda parts: minimum(*parts), "sum": total, "prod": product}
