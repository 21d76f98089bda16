"""Verdicts: how loops use each operand of an expression as it is stored, or why they cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import lru_cache, partial
from typing import Any, Literal, TypeAlias

from ..concrete_notation.values import UNKNOWN, neutral_in_sum, same_value
from ..formats import Dense, Format, LevelFormat, TensorType
from ..formats.format import dtypes_of, level_variables
from ..index_notation.nodes import Access, Apply, Expr, Reduce
from ..index_notation.operator_table import OPERATORS
from ..index_notation.traversal import reductions, rewrite, without_reductions
from ..records import record
from . import merge_lattice
from .derived_variables import DerivedVariable
from .implicit_values import (
    absent_value,
    convert,
    converted,
    implicit_value,
    is_counted,
    is_never_empty,
    typed_implicit_value,
)
from .iteration_graph import Types, follows, level_iterators, places, share_interval, types_of
from .linearity import adds_in_place, adds_nothing, is_linear

# The way a statement uses stored entries:
# - "scatter" adds each to a result with random access;
# - "gather" sums them into a scalar, inside the loops over free variables;
# - "place" writes each to its own element of a result with random access;
# - "workspace" adds them to a workspace over some variables;
# - "merge" needs them merged with other operands, or appended in order.
Visit: TypeAlias = Literal["scatter", "gather", "place", "workspace", "merge"]

_DENSE = Dense()
_SCALAR = Access("")

# What loops do with an operand:
# - "walk" iterates its levels in order;
# - "locate" finds its coordinates, which other operands or dimensions determine;
# - "chain" takes its entries one after the other as they are stored, in any order and with duplicates;
# - "copy" sorts each segment into a workspace where the loops enter it;
# - "convert" stores all of it again before the loops.
Use: TypeAlias = Literal["walk", "locate", "chain", "copy", "convert"]


@record
class Verdict:
    """The way in which the loops of one order use an operand."""

    use: Use
    reason: str = ""  # for ``explain``; ``{tensor}``, ``{format}`` and ``{loops}`` stand for those of the operand
    format: Format | None = None  # the format in which the operand, or each segment, is stored again
    price: float | None = None  # the cost of copies, if only segments are copied


WALK, LOCATE, CHAIN = Verdict("walk"), Verdict("locate"), Verdict("chain")
_OTHER_ORDER = Verdict("convert", "loops {loops} cannot traverse {tensor} in {format}")
_TWICE = Verdict("convert", "{tensor} may store a coordinate more than once, and the loops need its sum")
_DIAGONAL = Verdict("convert", "{tensor} is read along a diagonal, whose coordinates {format} does not find")


def verdicts(
    expr: Expr,
    order: Sequence[str],
    types: Mapping[str, TensorType],
    how: Visit,
    derived: Sequence[DerivedVariable] = (),
    copying: bool = False,
    loose: frozenset[str] = frozenset(),  # variables whose coordinates may come in any order, into a workspace
    *,
    dtype: str,
) -> dict[Access, Verdict]:
    """Return the verdict on each operand for a loop order.

    An operand must be stored again in three cases:

    * its levels come in another order than the loops;
    * a level must be merged with others, or its coordinates must be appended, but cannot be;
    * the operand may hold duplicates that cannot be summed in place, in the dtype of the result.
    """
    place = places(order, derived)
    return {
        a: verdict if verdict.use == "convert" or follows(a, types[a.tensor].format, order, place) else _OTHER_ORDER
        for a, verdict in _of_levels(expr, types_of(expr, types), how, copying, loose, dtype)
    }


@lru_cache(maxsize=1024)
def _of_levels(
    expr: Expr, kinds: Types, how: Visit, copying: bool, loose: frozenset[str], dtype: str
) -> tuple[tuple[Access, Verdict], ...]:
    """Return the verdicts on operands if the loops follow their levels."""
    types = dict(kinds)
    explicit = converted(without_reductions(expr), dtypes_of(types), dtype)
    return tuple([(a, _verdict(expr, explicit, a, types, how, copying, loose)) for a in expr.distinct_accesses])


def _verdict(
    expr: Expr, explicit: Expr, access: Access, types: Mapping[str, TensorType], how: Visit, copying: bool,
    loose: frozenset[str],
) -> Verdict:  # fmt: skip
    """Return the verdict on an operand; ``explicit`` has the conversions between dtypes."""
    format = types[access.tensor].format
    levels = format.walked_levels
    # An access such as A(i,i) locates a coordinate in its second level, which needs unique levels with random access.
    repeats = len(set(access.indices)) < len(access.indices)
    if repeats and any(not level.unique or level.locates is None for level in levels):
        return _DIAGONAL
    if all(level.merges for level in levels):
        return LOCATE if format.is_dense else WALK
    # Entries can be used one by one if they are copied, or if the statement is linear in them and merges nothing.
    variables = level_variables(access, format)
    last = variables[-1:]
    alone = _found_beside(expr, access, last if how == "workspace" else variables, types)
    summable = (copying and expr == access) or (
        is_linear(expr, access) and alone and adds_nothing(explicit, access, types)
    )
    if summable and not format.is_unique:  # a sum of duplicates wraps around in the dtype that they have
        summable = adds_in_place(explicit, access, types[access.tensor].dtype)
    # The way in which entries are used decides how much order and uniqueness is required.
    match how:
        case "scatter":
            as_it_is = summable
        case "gather":
            # A free loop visits a coordinate once, together with all entries that it has.
            met_once = all(
                u.unique or u.ordered or _reduction_over(expr, v) for v, u in zip(last, levels[-1:], strict=True)
            )
            as_it_is = summable and met_once and all(u.unique for u in levels[:-1])
        case "place":
            as_it_is = expr == access and format.is_unique
        case "workspace":
            in_order = all(level.merges for level in levels[:-1])
            as_it_is = summable and in_order and set(last) <= loose
        case "merge":
            as_it_is = False
    if as_it_is and all(level.walks for level in levels):
        return CHAIN
    # Otherwise the operand must be one that can be merged, or that is iterated alone.
    adding = how == "scatter" and not copying
    ordered = {*level_variables(access, format)} - loose if how in ("workspace", "merge") else set[str]()
    return _alone_in_loops(expr, access, types, adding, ordered, how == "workspace")


def _alone_in_loops(
    expr: Expr, access: Access, types: Mapping[str, TensorType], adding: bool, ordered: Set[str], collects: bool
) -> Verdict:
    """Return the verdict on an operand with levels that cannot be merged, each of which must be iterated alone.

    A level over a variable in ``ordered`` must also be iterated in order. If values are added to the result
    (``adding``), implicit entries need not be visited. A workspace that collects coordinates (``collects``) counts the
    implicit entries only if their number does not matter.
    """
    format = types[access.tensor].format
    levels = format.walked_levels
    if not format.is_unique or any(not level.merges and not level.unique for level in levels):
        return _TWICE
    located = True

    def fill(a: Access) -> object:
        return absent_value(a, types[a.tensor]) if a.tensor in types else UNKNOWN

    for k, (v, level) in enumerate(zip(level_variables(access, format), levels, strict=True)):
        if level.merges:
            continue
        # Build the merge lattice of the loop over this level's variable, as lowering will.
        owner = _reduction_over(expr, v)
        explicit = convert(expr if owner is None else owner.body, dtypes_of(types))[0]
        body = _in_loops(explicit, fill)
        summed = owner is None or owner.op == "add"
        neutral = 0 if adding and summed else _neutral(expr if owner is None else owner, types, collects)
        if (
            owner is None and body == explicit and not adding
        ):  # the same value, in the spelling that the lattice compares it with
            neutral = implicit_value(body, fill)
        if summed:
            neutral = neutral_in_sum(implicit_value(body, fill), neutral)
        of_v = partial(level_iterators, v=v, types=types)
        try:
            points = merge_lattice.build(
                body, of_v, fill, merge_lattice.LevelIterator(None, 0, _DENSE, v), neutral, merge_lattice.MANY_CASES
            )
        except merge_lattice.TooManyCases:
            return _OTHER_ORDER
        # The level is restricted only where a lattice point iterates it instead of locating its coordinates.
        walks = {p.coiterate for p in points if any(it.key == (access, k) for it in p.coiterate if it.access)}
        if not walks:
            continue
        located = False
        if not level.walks:
            return Verdict(
                "convert", f"the loop over {v} visits coordinates of {{tensor}}, which {{format}} can only find"
            )
        # The level must be the only iterator, and the same in every point, or all must have one interval.
        alone = all(len(w) == 1 for w in walks) and len({p.coiterate for p in points}) == 1
        together = [it for p in points for it in p.coiterate]
        if alone or share_interval(together, types):
            if v not in ordered or level.ordered:
                continue
            return Verdict("convert", f"{_unordered(v, level)}, and the loop over {v} needs it")
        others = [it.access.tensor for it in together if it.access and it.access != access]
        beside = f"with {' and '.join(dict.fromkeys(others))}" if others else "with all others"
        return Verdict("convert", f"{_unordered(v, level)}, and the loop over {v} merges {{tensor}} {beside}")
    return LOCATE if located else WALK


def _unordered(v: str, level: LevelFormat) -> str:
    return f"coordinates {v} of {{tensor}} are " + ("not listed" if level.ordered else "in no order")


def _reduction_over(expr: Expr, v: str) -> Reduce | None:
    """Return the reduction that binds a variable; None for a free variable."""
    return next((reduction for reduction in reductions(expr) if v in reduction.vars), None)


def _in_loops(expr: Expr, fill: Callable[[Access], Any]) -> Expr:
    """Return an expression as the loops around its reductions see it.

    Conversions are explicit. A reduction is replaced by its body. If implicit entries of the body may change the
    reduction, a scalar of unknown value is added, so that the implicit value is unknown.
    """

    def body_of(node: Expr) -> Expr | None:
        if not isinstance(node, Reduce):
            return None
        row, absent = OPERATORS[node.op], implicit_value(node.body, fill)
        nothing = neutral_in_sum(absent, row.identity) if node.op == "add" else row.identity
        same = nothing is not None and same_value(absent, nothing)
        return node.body if same or is_never_empty(node.op, absent) else Apply("add", (node.body, _SCALAR))

    return rewrite(expr, body_of)


def _neutral(expr: Expr, types: Mapping[str, TensorType], collects: bool) -> object:
    """Return the implicit value that makes no difference to the reductions of an expression, or to its result.

    If the number of implicit entries determines what they contribute, they are counted instead of visited. Then the
    implicit value of the body is neutral. A workspace that collects coordinates skips those with implicit entries
    alone, so that it counts nothing whose number matters.
    """
    parts = [part for part in (expr, *expr.children) if isinstance(part, Reduce)]
    if not parts:
        return typed_implicit_value(expr, types)
    first, *others = (_neutral_in(part, types, collects) for part in parts[: 1 if parts[0] is expr else None])
    return first if all(same_value(other, first) for other in (first, *others)) else UNKNOWN


def _neutral_in(reduction: Reduce, types: Mapping[str, TensorType], collects: bool) -> object:
    row, absent = OPERATORS[reduction.op], typed_implicit_value(reduction.body, types)
    counted = is_never_empty(reduction.op, absent) if collects else is_counted(reduction.op, absent)
    if absent is not UNKNOWN and counted:
        return absent
    return UNKNOWN if row.identity is None else row.identity


def _found_beside(expr: Expr, access: Access, over: Sequence[str], types: Mapping[str, TensorType]) -> bool:
    """Return whether all operands other than ``access`` can be located along the variables ``over``."""
    others = [a for a in expr.distinct_accesses if a != access]
    return all(level.has_every for a in others for v, level in types[a.tensor].levels_of(a) if v in over)
