"""Transformations of attribute queries (2020 paper, Table 1).

A transformation returns a statement unchanged if it does not apply.
"""

from __future__ import annotations

from ..records import record, replace
from ..remapping.inverse import invert
from ..remapping.nodes import Axis, Binary, Constant, Counter, IndexExpr, counters_of, substitute
from .statement import Map, Reference, Statement, Value, Width, free_axes


@record
class SourceFacts:
    """Properties of a tensor's levels that the transformations depend on."""

    # The axis that the last level stores. None if that level cannot tell the number of entries below each parent.
    innermost: int | None = None
    # True if every position holds an entry and no coordinate is stored twice. Positions then count as entries.
    only_nonzeros: bool = False


def reduction_to_assign(stmt: Statement) -> Statement:
    """Replace a reduction by an assignment if no two iterations have the same target.

    The variable of every loop must follow from the coordinates of the target: ``i`` and ``j`` follow from
    ``i*size(j)+j``. The statement that computes the temporary is transformed, too.
    """
    if stmt.where is not None:
        stmt = replace(stmt, where=reduction_to_assign(stmt.where))
    # Different iterations have different targets if the target's coordinates can be inverted.
    known = invert(stmt.target.indices, max(stmt.loops, default=-1) + 1)
    different = all(known[axis] is not None for axis in stmt.loops)
    return replace(stmt, op=None) if stmt.op is not None and different else stmt


def inline_temporary(stmt: Statement) -> Statement:
    """Replace a temporary by its value if the temporary is assigned, not reduced into."""
    temporary = stmt.where
    if temporary is None or temporary.op is not None or temporary.where is not None:
        return stmt
    reference = _reference(stmt.value)
    if reference is None or reference.tensor != temporary.target.tensor:
        return stmt
    # The loops of the temporary's statement remain, so its coordinates replace the axes of the temporary.
    names = {
        e.number: c for e, c in zip(reference.indices, temporary.target.indices, strict=True) if isinstance(e, Axis)
    }
    target = replace(stmt.target, indices=tuple(substitute(e, names) for e in stmt.target.indices))
    return Statement(temporary.loops, target, stmt.op, _inlined(stmt.value, temporary.value, names))


def _reference(value: Value) -> Reference | None:
    while isinstance(value, Map):
        value = value.of
    return value if isinstance(value, Reference) else None


def _inlined(value: Value, new: Value, names: dict[int, IndexExpr]) -> Value:
    if isinstance(value, Map):
        inner = _inlined(value.of, new, names)
        assert isinstance(inner, (Map, Reference))
        return Map(inner, substitute(value.value, names))
    return new


def fold_constants(stmt: Statement) -> Statement:
    """Merge nested maps into one with the outer value, if the inner value is a constant that is not zero."""
    value = stmt.value
    while isinstance(value, Map) and isinstance(value.of, Map) and _is_one(value.of.value):
        value = Map(value.of.of, value.value)
    where = None if stmt.where is None else fold_constants(stmt.where)
    return replace(stmt, value=value, where=where)


def _is_one(expr: IndexExpr) -> bool:
    return isinstance(expr, Constant) and expr.value != 0


def simplify_width_count(stmt: Statement, stored: SourceFacts) -> Statement:
    """Replace a sum of constants over the innermost axis by the number of entries, which a level tells.

    Every position of the tensor must hold an entry, and the innermost axis must be reduced over.
    """
    if stmt.where is not None:
        stmt = replace(stmt, where=simplify_width_count(stmt.where, stored))
    value = stmt.value
    if not (stmt.op == "+" and isinstance(value, Map) and isinstance(value.of, Reference) and stored.only_nonzeros):
        return stmt
    if not isinstance(value.value, Constant) or value.of.tensor != "B" or stored.innermost not in stmt.loops:
        return stmt
    counts = any(counters_of(e) for e in stmt.target.indices)  # with a counter, each entry has a target of its own
    if counts or stored.innermost in free_axes(stmt.target):
        return stmt
    loops = tuple(axis for axis in stmt.loops if axis != stored.innermost)
    outer = tuple(e for e in value.of.indices if e != Axis(stored.innermost))
    return replace(stmt, loops=loops, value=Width(Reference("B", outer), value.value))


def counter_to_histogram(stmt: Statement) -> Statement:
    """Replace the maximum of a counter by the maximum of a histogram.

    The largest value of a counter, plus one, is the largest number of entries with the same coordinates.
    """
    match stmt:
        case Statement(
            op="max",
            value=Map(
                of=Reference(tensor="B") as source, value=Binary(op="+", left=Counter(over=over), right=Constant(1))
            ),
        ):
            # The histogram counts for each combination of what the counter counts over and what the result has.
            extra = tuple(e for e in over if e not in stmt.target.indices)
            coordinates = (*stmt.target.indices, *extra)
            histogram = Statement(stmt.loops, Reference("W", coordinates), "+", Map(source, Constant(1)))
            # The maximum is taken over the histogram: axes without a coordinate in it are summed already.
            loops = tuple(dict.fromkeys(axis for axis in stmt.loops if axis in free_axes(histogram.target)))
            return Statement(loops, stmt.target, "max", Reference("W", coordinates), histogram)
    return stmt


def optimize(stmt: Statement, stored: SourceFacts, histograms: bool = True) -> Statement:
    """Return a statement after all transformations, each applied until none applies any more.

    Examples
    --------
    >>> from weft.queries.canonical import canonical
    >>> from weft.queries.parser import parse
    >>> q = parse("select [i] -> count(j) as nir", 2)
    >>> stmt = canonical(q, q.aggregates[0], (4, 6))
    >>> print(optimize(stmt, SourceFacts()))
    ∀i ∀j Q(i) += map(B(i,j), 1)
    >>> print(optimize(stmt, SourceFacts(innermost=1, only_nonzeros=True)))
    ∀i Q(i) = width(B(i))*1
    """
    while True:
        # A reduction that has become an assignment can be inlined, which may leave nested maps or a sum of constants.
        new = counter_to_histogram(stmt) if histograms else stmt
        new = fold_constants(inline_temporary(reduction_to_assign(new)))
        new = reduction_to_assign(simplify_width_count(new, stored))
        if new == stmt:
            return stmt
        stmt = new
