"""Operand conversions: operands that are stored again so that the loops can read them, and their new formats.

An operand is stored again before the loops, or each of its segments when the loops enter it: where loops above skip
most segments, that is less work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log2, prod

from ..analysis.iteration_graph import fits
from ..analysis.verdicts import Verdict, Visit
from ..concrete_notation.values import same_value
from ..formats import Bitset, Compressed, Dense, Format, Hashed, TensorType
from ..index_notation.nodes import Access, Expr
from ..index_notation.traversal import replaced
from ..records import record, replace
from ..remapping import Remapping
from .cost_model import DIMENSION, SORTED, children, iterations, nonzeros
from .loop_problem import LoopProblem


@record
class OperandConversion:
    """An operand stored again, so that its levels follow the loops."""

    tensor: str  # name of the operand
    name: str  # name of the operand after conversion
    format: Format
    reason: str  # Reason for the conversion, for ``explain``
    accesses: tuple[Access, ...] = ()  # Accesses that read the converted operand

    def renamed(self, expr: Expr) -> Expr:
        """Return an expression whose accesses read the converted operand."""
        for access in self.accesses:
            expr = replaced(expr, access, Access(self.name, access.indices))
        return expr


@lru_cache(maxsize=1024)
def reordered(format: Format, modes: tuple[int, ...]) -> Format:
    """Return a format over another order of axes; a coordinate list becomes compressed levels."""
    # Levels that could not be merged or located would not help the loops either.
    if any(level.branchless or not level.merges or level.locates is None for level in format.canonical().levels):
        return Format(Remapping(modes), (Compressed(),) * len(modes))
    return Format(Remapping(modes), format.canonical().levels)


@lru_cache(maxsize=1024)
def found_by_coordinate(format: Format, no_dense_levels: bool) -> Format:
    """Return a format whose outermost level can locate a coordinate, without any new stored entries.

    The level is an array over the dimension, or a bit for each coordinate if it is the only level; but a hash table if
    ``no_dense_levels`` are possible.
    """
    root = Hashed() if no_dense_levels else Bitset() if format.order == 1 else Dense()
    return Format(format.remapping, (root, *format.levels[1:]))


@record
class SegmentCopy:
    """An operand whose segments are sorted into a workspace when the loops enter them."""

    access: Access
    reason: str

    @property
    def var(self) -> str:
        """The variable of the loop over the entries of a segment."""
        return self.access.indices[-1]


def segment_copy(
    problem: LoopProblem, expr: Expr, access: Access, order: Sequence[str], types: Mapping[str, TensorType],
    how: Visit, verdict: Verdict,
) -> Verdict | None:  # fmt: skip
    """Return the verdict that sorts the segments of an operand which the loops enter; None if that does not pay.

    Copies do not pay for loops that enter all segments: to sort all of them before the loops is as fast. A workspace
    that collects rows takes entries in any order.
    """
    variant, type = problem.variant, types[access.tensor]
    *above, last = type.format.levels
    if not problem.enabled("segment-copies") or problem.view.derived or not variant.stores_again:
        return None
    if how == "workspace" or variant.accumulator == "hash":
        return None
    by_rows = type.format.remapping == Remapping.identity(type.format.order) and all(u.merges for u in above)
    if not (above and by_rows and last.walks and not last.branchless and last.iteration == "position"):
        return None
    if not same_value(type.fill, 0) or len(set(access.indices)) < len(access.indices):
        return None
    ordered = Format(type.format.remapping, (*above, Compressed()))
    if not fits(access, ordered, order):
        return None
    counts = iterations(expr, {**types, access.tensor: TensorType.of(type.dtype, ordered, fill=type.fill)})
    entered = prod(counts.get(v, DIMENSION) for v in order[: order.index(access.indices[-1])])
    segment = children(type.format)
    if entered * segment >= nonzeros(type.format):
        return None
    return replace(verdict, use="copy", format=ordered, price=entered * segment * (SORTED + 2 + log2(segment)))


def widest_index(type: TensorType) -> str:
    return "int64" if "int64" in type.index_dtypes else "int32"
