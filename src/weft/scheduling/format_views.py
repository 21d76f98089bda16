"""Format views: ways to see an assignment that has structured operands or a structured result.

A structured operand that is *kept* drives the loops with the variables of its own levels. Variables that follow from
these have no loops. An operand that is not kept is first converted to dense and compressed levels. A structured result
is kept if its levels can be appended as they are. The result is *written* if loops over the axes reach the coordinates
of its levels in order (``i*size(j)+j``). For any other structured result, the loops write a plain format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import combinations

from ..analysis.coordinate_sets import is_driven
from ..analysis.derived_variables import DerivedVariable, derived_variables, passes_edge
from ..analysis.implicit_values import typed_implicit_value
from ..concrete_notation.values import same_value
from ..formats import Format, TensorType
from ..formats.append_chains import is_appendable, is_unordered_list
from ..formats.format import level_variables
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Reduce
from ..index_notation.operator_table import OPERATORS
from ..index_notation.traversal import bound_variables, outermost_reductions, reductions, renamed, rewrite
from ..records import record, replace
from ..remapping.inverse import significance
from ..remapping.nodes import Axis, Counter, axes_of

_MANY = 4


@record
class FormatView:
    """One way in which the scheduler can see an assignment."""

    # The assignment; its reductions are over loops, which may be variables of levels instead of the user's own.
    assignment: Assignment
    types: Mapping[str, TensorType]  # the types of all tensors; those stored plainly have new names
    # Names of operands that are stored plainly, or in order, each with its new name.
    stored_plainly: tuple[tuple[str, str], ...] = ()
    kept: frozenset[str] = frozenset()  # the structured tensors that are iterated by their levels
    free_loops: tuple[str, ...] = ()  # the loops over which nothing is reduced
    derived: tuple[DerivedVariable, ...] = ()  # the variables that follow from the loops
    # Names of operands whose arrays only locate coordinates, each with its new name.
    looked_up: tuple[tuple[str, str], ...] = ()
    # The reason why this view cannot be scheduled, for tensors that are kept; None if it can be.
    why_not: str | None = None


def format_views(
    assignment: Assignment, types: Mapping[str, TensorType], no_dense_levels: bool = False, converts: bool = True
) -> Iterator[FormatView]:
    """Yield the views of an assignment, in which operands are converted or not. Impossible ones have a reason."""
    yield from _walked(assignment, types, no_dense_levels, converts)
    if not converts:
        return
    yield from _in_order(assignment, types, no_dense_levels)
    operands = [
        n for n in dict.fromkeys(a.tensor for a in assignment.value.distinct_accesses) if _can_be_asked(types[n])
    ]
    for n in range(1, len(operands) + 1) if len(operands) <= _MANY else ():
        # Every set of operands that can be looked up by whole coordinates gives further views.
        for names in combinations(operands, n):
            if not _driven_by_others(names, assignment.value):
                continue
            value, all_types, renamings = assignment.value, dict(types), []
            for name in names:
                new, type = _other_name(name, "asked", all_types), types[name]
                assert type.format.looked_up is not None
                all_types[new] = TensorType(type.dtype, type.format.looked_up, type.index_dtypes, type.fill)
                value = renamed(value, {name: new})
                renamings.append((name, new))
            for view in _walked(replace(assignment, value=value), all_types, no_dense_levels):
                yield replace(view, looked_up=tuple(renamings))


def _in_order(assignment: Assignment, types: Mapping[str, TensorType], no_dense_levels: bool) -> Iterator[FormatView]:
    """Yield the views in which structured operands are kept that must be put in order first."""
    names = dict.fromkeys(a.tensor for a in assignment.value.distinct_accesses)
    loose = [n for n in names if types[n].format.is_structured and types[n].format != types[n].format.canonical()]
    if not loose or len(names) == 1:
        return
    value, all_types, ordered = assignment.value, dict(types), []
    for name in loose:
        new, type = _other_name(name, "ordered", all_types), types[name]
        all_types[new] = TensorType(type.dtype, type.format.canonical(), type.index_dtypes, type.fill)
        value = renamed(value, {name: new})
        ordered.append((name, new))
    for view in _walked(replace(assignment, value=value), all_types, no_dense_levels):
        if view.kept.issuperset(new for _, new in ordered):
            yield replace(view, stored_plainly=(*view.stored_plainly, *ordered))


def _driven_by_others(names: Sequence[str], value: Expr) -> bool:
    """Return whether others have every index of the named operands, which give no coordinates when looked up."""
    accesses = value.distinct_accesses
    others = {v for a in accesses if a.tensor not in names for v in a.indices}
    return all(v in others for a in accesses if a.tensor in names for v in a.indices)


def _can_be_asked(type: TensorType) -> bool:
    """Return whether an operand's arrays can locate whole coordinates, which must be unique and of one dtype."""
    return type.format.looked_up is not None and type.format.is_unique and len(set(type.index_dtypes[1:])) == 1


def _walked(
    assignment: Assignment, types: Mapping[str, TensorType], no_dense_levels: bool, converts: bool = True
) -> Iterator[FormatView]:
    """Yield views of the operands as they are; the first keeps as many as possible, the last keeps none."""
    names = [a.tensor for a in assignment.value.distinct_accesses if types[a.tensor].format.is_structured]
    target = assignment.target.tensor
    candidates = list(dict.fromkeys(names))
    result = types[target].format
    # A structured result can be kept as well. A result that cannot be appended must be converted at the end.
    if not is_unordered_list(result) and (result.is_structured or not is_appendable(result)):
        candidates.append(target)
    if not candidates:
        yield FormatView(assignment, types, free_loops=tuple(dict.fromkeys(assignment.target.indices)))
        return
    # A result written in order is neither kept nor converted; its operands are all kept, or none. Only assignments
    # without reductions are written in order.
    if target in candidates and _is_written_in_order(result) and not any(op for op, _ in _parts(assignment.value)):
        for n in {len(candidates) - 1, 0}:
            operands = frozenset([name for name in candidates if name != target][:n])
            yield _view(assignment, types, operands, candidates, no_dense_levels, in_order=True)
    # Few candidates: try every subset. Many: try all of them, and none.
    sizes = range(len(candidates), -1, -1) if len(candidates) <= _MANY else (len(candidates), 0)
    for n in sizes:
        for kept in combinations(candidates, n):
            yield _view(assignment, types, frozenset(kept), candidates, no_dense_levels, converts=converts)


def _is_written_in_order(format: Format) -> bool:
    """Return whether loops over the axes, in some order, reach the coordinates of all levels in order."""
    axes = significance(format.remapping.coordinates)
    return format.is_structured and is_appendable(format) and axes is not None and len(set(axes)) == len(axes)


def _view(
    assignment: Assignment,
    types: Mapping[str, TensorType],
    names: frozenset[str],
    structured: Sequence[str],
    no_dense_levels: bool,
    in_order: bool = False,
    converts: bool = True,
) -> FormatView:
    """Return a view in which the levels of some structured tensors are iterated, and others are stored plainly.

    If ``in_order`` is true, the result is written in order, and neither kept nor converted.
    """
    target = assignment.target
    accesses = [a for a in (*assignment.value.distinct_accesses, target) if a.tensor in names]
    impossible = FormatView(assignment, types, kept=names)
    if (reason := _why_not_kept(accesses, types, target)) is not None:
        return replace(impossible, why_not=reason)
    plain = _store_plainly(assignment, types, [n for n in structured if n not in names], no_dense_levels, in_order)
    loops = _loop_variables(accesses, plain.types, target if in_order else None)
    value = _rebind_reductions(plain.value, loops)
    bound = {*bound_variables(value)}
    if (reason := _why_not_looped(plain, replace(assignment, value=value), loops, converts)) is not None:
        return replace(impossible, why_not=reason)
    # Loops without a reduction: those of the result's own indices, then those of levels.
    free = [v for v in dict.fromkeys(target.indices) if v not in loops.covered]
    free += [v for v in loops.made_of if v not in bound and v not in free and v not in target.indices]
    return FormatView(
        assignment=replace(assignment, value=value),
        types=plain.types,
        stored_plainly=plain.stored,
        kept=names,
        free_loops=tuple(free),
        derived=loops.derived,
    )


@record
class _Substitution:
    """An assignment whose operands and result have plain formats where they are not kept."""

    value: Expr  # the right-hand side, with the new names of operands
    types: Mapping[str, TensorType]  # the types of all tensors
    stored: tuple[tuple[str, str], ...]  # names of the operands that are stored plainly, each with its new name


def _store_plainly(
    assignment: Assignment, types: Mapping[str, TensorType], names: Sequence[str], no_dense_levels: bool, in_order: bool
) -> _Substitution:
    """Return the assignment with plain formats for the structured tensors of these names."""
    target = assignment.target.tensor
    value, all_types, stored = assignment.value, dict(types), []
    for name in names:
        old = types[name]
        if name != target:  # an operand is stored under a new name
            new = _other_name(name, "plain", all_types)
            index = "int64" if "int64" in old.index_dtypes else "int32"
            all_types[new] = TensorType.of(old.dtype, old.format.plain(no_dense_levels), index, old.fill)
            stored.append((name, new))
            value = renamed(value, {name: new})
        elif not in_order:  # the loops write a plain format
            all_types[name] = TensorType.of(old.dtype, old.format.plain(no_dense_levels), "int64", old.fill)
    return _Substitution(value, all_types, tuple(stored))


@record
class _LoopVariables:
    """The variables of the loops over the levels of kept tensors, and those that follow from them."""

    accesses: Sequence[Access]  # the accesses of the kept tensors
    covered: Set[str]  # Indices of kept tensors that have no loop
    derived: tuple[DerivedVariable, ...]  # Variables that follow from the loops
    made_of: Mapping[str, frozenset[str]]  # the variables of levels, each with the indices that determine it
    single: Set[str]  # Variables of levels whose coordinates follow from those of the levels above
    levels: Mapping[Access, Set[str]]  # for each kept tensor the variables of its levels, in all its accesses


def _loop_variables(
    accesses: Sequence[Access], types: Mapping[str, TensorType], in_order: Access | None
) -> _LoopVariables:
    """Return the variables of the loops over the levels of kept tensors, and of a result that is written in order."""
    derived = derived_variables(accesses, types)
    levels = {a: set(level_variables(a, types[a.tensor].format)) for a in accesses}
    loops = set().union(*levels.values())
    if in_order is not None:
        path = level_variables(in_order, types[in_order.tensor].format)
        derived += tuple(d for d in derived_variables([in_order], types) if d.var in path and d not in derived)
    return _LoopVariables(
        accesses=accesses,
        covered={v for a in accesses for v in a.indices} - loops,
        derived=tuple(d for d in derived if d.var not in loops),
        made_of={v: axes for a in accesses for v, axes in _made_of(a, types[a.tensor].format).items()},
        single={v for a in accesses for v in _decided(a, types[a.tensor].format)},
        levels=levels,
    )


# -- why a view is not possible -------------------------------------------------------------------------------------
def _why_not_kept(accesses: Sequence[Access], types: Mapping[str, TensorType], target: Access) -> str | None:
    """Return why tensors cannot be iterated by their levels; None if they can."""
    if any(len(set(a.indices)) < len(a.indices) for a in accesses):
        return "a tensor has one index for two of its axes"
    if not _agree(accesses, types):
        return "tensors have different loops for an axis that they share"
    if target in accesses and not is_appendable(types[target.tensor].format):
        return "the levels of the result cannot be appended"
    return None


def _why_not_looped(plain: _Substitution, rebound: Assignment, loops: _LoopVariables, converts: bool) -> str | None:
    """Return why loops over the levels of kept tensors do not compute an assignment; None if they do."""
    if not loops.covered <= {d.var for d in loops.derived}:
        return "an index has no loop, and follows from none"
    owners = {v: reduction for reduction in reductions(plain.value) for v in reduction.vars}
    if any(len({owners[v] for v in axes if v in owners}) > 1 for axes in loops.made_of.values()):
        return "one loop would belong to two reductions"
    apart = not converts and _is_apart(rebound, loops, plain.types)
    if not (apart or _is_driven(rebound, len(set(owners.values())), loops, plain.types)) and not all(
        _reaches_all(plain.types[a.tensor].format) for a in loops.accesses
    ):
        return "other operands need every coordinate once, and the loops leave out some"
    return None


def _is_driven(assignment: Assignment, count: int, loops: _LoopVariables, types: Mapping[str, TensorType]) -> bool:
    """Return whether nothing is to be computed for coordinates that the kept tensors do not store."""
    # With a reduction inside another, no part alone decides what an implicit entry contributes.
    drivers = frozenset(loops.accesses)
    parts = _parts(assignment.value, assignment.op)
    alone = count <= len(outermost_reductions(assignment.value))
    return alone and all(is_driven(part, drivers, types) and _adds_nothing(op, part, types) for op, part in parts)


def _is_apart(assignment: Assignment, loops: _LoopVariables, types: Mapping[str, TensorType]) -> bool:
    """Return whether the kept tensors drive each reduction, and other operands have loops over whole axes.

    Implicit entries of a reduction are counted. Conversions cost less than such loops, if operands can be converted.
    """
    complete_axes = {
        v for a in loops.accesses for v, level in types[a.tensor].levels_of(a) if v in a.indices and level.full
    }  # fmt: skip
    drivers = frozenset(loops.accesses)
    return all(
        is_driven(part, drivers, types)
        if op is not None
        else {v for a in part.distinct_accesses for v in a.indices} <= complete_axes
        for op, part in _parts(assignment.value, assignment.op)
    )


def _reaches_all(format: Format) -> bool:
    """Return whether loops over the coordinates of a format's levels reach every element once.

    The coordinates of levels and axes must correspond one to one, axis by axis. Blocks fulfill this condition,
    diagonals do not. Coordinates beyond an edge must be guarded, as those of blocks at the edge are.
    """
    remapping = format.remapping
    inverse = remapping.inverse()
    used = sorted(k for e in inverse if e is not None for k in axes_of(e))
    alone = all(len(axes_of(c)) == 1 and not isinstance(c, Counter) for c in remapping.coordinates)
    guarded = all(isinstance(e, Axis) or passes_edge(e, format) for e in inverse if e is not None)
    return None not in inverse and alone and guarded and used == list(range(len(remapping.coordinates)))


def _parts(expr: Expr, op: str | None = None) -> list[tuple[str | None, Expr]]:
    """Return the body of each reduction with its operator, and the parts outside reductions with ``op``."""
    match expr:
        case Reduce(op=inner, body=body):
            return _parts(body, inner)
        case Apply(args=args) if any(isinstance(arg, Reduce) for arg in args):
            return [part for arg in args for part in _parts(arg, op)]
    return [(op, expr)]


def _adds_nothing(op: str | None, expr: Expr, types: Mapping[str, TensorType]) -> bool:
    """Return whether a reduction may leave out implicit values of its body."""
    return op is None or same_value(typed_implicit_value(expr, types), OPERATORS[op].identity)


def _agree(accesses: Sequence[Access], types: Mapping[str, TensorType]) -> bool:
    """Return whether all kept tensors iterate each axis that they share by the same loops."""
    seen: dict[str, frozenset[str]] = {}
    for access in accesses:
        made = _made_of(access, types[access.tensor].format)
        for v in access.indices:
            mine = frozenset(u for u, of in made.items() if v in of)
            if seen.setdefault(v, mine) != mine:
                return False
    return True


def _made_of(access: Access, format: Format) -> dict[str, frozenset[str]]:
    """Return the variables of an access's levels, each with the index variables that determine it."""
    return {
        u: frozenset(access.indices[n] for n in axes_of(c))
        for u, c in zip(level_variables(access, format), format.remapping.coordinates, strict=True)
    }


def _decided(access: Access, format: Format) -> Iterator[str]:
    """Yield the variables of levels whose coordinates follow from those of the levels above, as ``j/3`` below ``j``."""
    levels, made = level_variables(access, format), _made_of(access, format)
    for k, v in enumerate(levels):
        if v not in access.indices and "#" not in v and made[v] <= set(levels[:k]):
            yield v


def _rebind_reductions(expr: Expr, loops: _LoopVariables) -> Expr:
    """Return an expression whose reductions are over loops.

    The reductions include loops that have one coordinate. Without these, a reduction would end before the value that it
    reduces is known.
    """

    def rebound(node: Expr) -> Expr | None:
        if not isinstance(node, Reduce):
            return None
        read, bound, vars = {*node.body.distinct_accesses}, {*bound_variables(node.body)}, node.vars
        levels = set().union(*(levels for a, levels in loops.levels.items() if a in read))
        # Loops that replace the variables of this reduction: those of kept operands in its body.
        more = [u for u in loops.made_of if u in levels and u not in bound and u not in vars]
        more = [u for u in more if loops.made_of[u] & set(vars) or "#" in u or u in loops.single]
        return Reduce(node.op, (*(v for v in vars if v not in loops.covered), *more), node.body)

    return rewrite(expr, rebound)


def _other_name(name: str, kind: str, types: Mapping[str, TensorType]) -> str:
    new = f"{name}_{kind}"
    while new in types:
        new += "_"
    return new
