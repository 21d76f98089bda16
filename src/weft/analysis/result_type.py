"""Dtype, fill value and format of a result for which the user gives none, from the types of the operands.

The format follows from one form of the expression, whatever its spelling: products are under one sum, and reductions
inside other expressions are operands with formats of their own. It is chosen level by level. A level is dense if the
loop over its variable visits every coordinate, else compressed. The order of the axes is that of the first sparse
operand that has all of them, else the target's own. A matrix that is computed from matrices and coordinate lists has an
array over its first axis (``docs/explanation/results.md``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..concrete_notation.transformations import factors, product
from ..concrete_notation.values import UNKNOWN, same_value
from ..formats import Compressed, Dense, Format, TensorType
from ..formats.append_chains import is_appendable
from ..formats.format import dtypes_of, level_variables
from ..index_notation import dtype_promotion, free_variables
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from ..index_notation.traversal import outermost_reductions, replaced, rewrite
from ..records import replace
from ..remapping import Remapping
from ..remapping.nodes import axes_of
from .coordinate_sets import has_every_value, is_full
from .implicit_values import typed_implicit_value
from .iteration_algebra import fold, region_of
from .structure_match import deciding_format
from .terms import dtype_of


def result_dtype(value: Expr, types: Mapping[str, TensorType]) -> str:
    """Return the dtype of an expression by NumPy's promotion."""
    dtypes = dtypes_of(types)
    # The call raises an error for reductions that NumPy does not have, such as bitwise ones of floating-point numbers.
    dtype_promotion.result_dtype(value, dtypes)
    return dtype_of(value, dtypes)


def result_fill(value: Expr, types: Mapping[str, TensorType]) -> object:
    """Return the implicit value of an expression; None if it depends on stored values."""
    fill = typed_implicit_value(value, types)
    return None if fill is UNKNOWN else fill


def result_format(
    assignment: Assignment, types: Mapping[str, TensorType], no_dense_levels: bool = False, part: bool = False
) -> Format:
    """Return the format of a result for which none is given."""
    indices = assignment.target.indices
    value, types = _typed(rewrite(assignment.value, _one_sum), indices, types, no_dense_levels)
    assignment = replace(assignment, value=value)
    structure = _same_structure(assignment, types) or (None if part else _product_structure(assignment, types))
    if structure is not None:
        return structure
    # Otherwise structured operands count as if they were stored plainly.
    types = {
        name: type if not type.format.is_structured else plain_type(type, no_dense_levels)
        for name, type in types.items()
    }
    sparse = [
        a for a in value.distinct_accesses if not types[a.tensor].format.is_dense and set(a.indices) & set(indices)
    ]
    # The operand that leads has all axes of the result, and so decides their order: one that names them in this order.
    leads = [a for a in sparse if set(indices) <= set(a.indices)]
    lead = next((a for a in leads if tuple([v for v in a.indices if v in indices]) == indices), next(iter(leads), None))
    outermost, arrays = _outermost(indices, sparse, types)
    if lead is not None:
        order = tuple(v for v in dict.fromkeys(level_variables(lead, types[lead.tensor].format)) if v in indices)
    else:
        order = (*outermost, *(v for v in indices if v not in outermost))
    # Whatever the order of the factors is: the lead comes first, then what has the outer axes.
    sparse.sort(key=lambda a: (a != lead, [order.index(v) for v in order if v in a.indices]))
    reduced = len(indices) == 1 and not (no_dense_levels or part)
    full = {v: _dense_level(value, v, types, reduced) is not False for v in order}
    if arrays and not (no_dense_levels or part):
        full[order[0]] = True
    for v in order[1:]:
        # Below the first level, a dense level of another operand alone does not make the result's level dense: that
        # operand has it in another order, or for other rows.
        of_lead = lead is not None and _dense_level(lead, v, types)
        first = lead is None and sparse != [] and v in sparse[0].indices
        full[v] = full[v] and bool(of_lead or first or (is_full(value, v, types) and not _linked(sparse, v)))
    # An array holds a result that is full, has no known fill value, or is reduced to what is nearly full.
    reduces = not (part or no_dense_levels) and _reduces_to_dense(assignment, types)
    every = all(full.values()) or has_every_value(value, types)
    if every or result_fill(value, types) is None or reduces:
        return dense_format(assignment, types)
    levels = tuple(Dense() if full[v] else Compressed() for v in order)
    return Format(Remapping(tuple(indices.index(v) for v in order)), levels)


def part_format(part: Assignment, types: Mapping[str, TensorType], no_dense_levels: bool = False) -> Format:
    """Return the format in which a part is computed: that of its result if loops can append to it, else a plain one."""
    format = result_format(part, types, no_dense_levels, part=True)
    return format.plain(no_dense_levels) if format.is_structured and not is_appendable(format) else format


def dense_format(assignment: Assignment, types: Mapping[str, TensorType]) -> Format:
    """Return the dense format of a result: the order of axes in which an array holds it.

    The order is that of the dense operands with all axes, if they agree, as in NumPy. In a reduction, the last two axes
    may be swapped: if only arrays have the last axis but one and a sparse operand has the last, as in ``X @ A``. Then
    all that one sparse entry adds to is contiguous.
    """
    indices, value = assignment.target.indices, assignment.value
    order = list(indices)
    dense = [
        a
        for a in value.distinct_accesses
        if types[a.tensor].format.is_dense and not types[a.tensor].format.is_structured
    ]
    if isinstance(value, Reduce):
        stored = {v for a in value.distinct_accesses if a not in dense for v in a.indices}
        if len(order) > 1 and order[-1] in stored and order[-2] not in stored:
            order[-2:] = reversed(order[-2:])
    else:
        paths = {level_variables(a, types[a.tensor].format) for a in dense if sorted(a.indices) == sorted(indices)}
        if len(paths) == 1:
            order = [*paths.pop()]
    if order == [*indices]:
        return Format.dense(len(order))
    return Format(Remapping(tuple(indices.index(v) for v in order)), (Dense(),) * len(order))


def _outermost(
    indices: Sequence[str], sparse: Sequence[Access], types: Mapping[str, TensorType]
) -> tuple[tuple[str, ...], bool]:
    """Return the axis that comes first in a matrix computed from matrices, and whether an array is to be over it.

    The axis is one over which an operand has an array, or could have one: a coordinate list has no rows that would
    decide otherwise. If all operands have arrays, but over axes that the result does not have, the last axis of the
    result comes first.
    """
    matrices = [a for a in sparse if len(a.indices) == 2]
    if len(indices) != 2 or not matrices or any(len(a.indices) > 2 for a in sparse):
        return (), False
    roots = [level_variables(a, types[a.tensor].format)[0] for a in matrices if _may_have_array(types[a.tensor].format)]
    # An array is only chosen if every matrix has one, and the sparse operands together have both axes.
    arrays = len(roots) == len(matrices) and {v for a in sparse for v in a.indices}.issuperset(indices)
    first = [v for v in indices if v in roots]
    if arrays and not first:
        first = [indices[-1]]
    return tuple(first[:1]), arrays


def _may_have_array(format: Format) -> bool:
    """Return whether the outermost level has every coordinate, or is that of a coordinate list."""
    outermost, *inner = format.levels
    return outermost.full or any(level.branchless for level in inner)


def plain_type(type: TensorType, no_dense_levels: bool = False) -> TensorType:
    """Return a type with dense and compressed levels instead of those of a structured format."""
    return TensorType.of(type.dtype, type.format.plain(no_dense_levels), fill=type.fill)


def _same_structure(assignment: Assignment, types: Mapping[str, TensorType]) -> Format | None:
    """Return the format of the operands that decide where the result has entries; None if there is none.

    These operands have the indices of the result. Either all operands but scalars have one structured format, or arrays
    stand beside one structured operand, or there is only one operand. Operands whose levels are not all in order share
    the format whose levels are.
    """
    if result_fill(assignment.value, types) is None:
        return None
    indices = assignment.target.indices
    operands = [a for a in assignment.value.distinct_accesses if a.indices]
    if len(operands) == 1 and sorted(operands[0].indices) == sorted(indices):
        axes = [operands[0].indices.index(v) for v in indices]
        formats = {types[operands[0].tensor].format.permuted(axes)}
        operands = [replace(operands[0], indices=indices)]
    else:
        formats = {types[a.tensor].format for a in operands}
    if len(operands) > 1:
        formats = {format.canonical() for format in formats}
    same = len(formats) == 1 and all(a.indices == indices for a in operands)
    format = formats.pop() if same else deciding_format(assignment, types)
    if format is None or format.conditions or format.is_dense:
        return None
    return format if format.is_structured or (len(operands) == 1 and not format.is_partial) else None


def _product_structure(assignment: Assignment, types: Mapping[str, TensorType]) -> Format | None:
    """Return the format of a product of matrices of blocks or of diagonals, whose structure carries over, or None.

    Numbers and arrays along one axis may scale it.
    """
    indices, value = assignment.target.indices, assignment.value
    if not isinstance(value, Reduce) or value.op != "add" or len(value.vars) != 1 or len(indices) != 2:
        return None
    parts = [f for f in factors(value.body) if not isinstance(f, Literal)]
    if not all(isinstance(f, Access) for f in parts):
        return None
    matrices = [
        a for a in parts if isinstance(a, Access) and not (types[a.tensor].format.is_dense and len(a.indices) < 2)
    ]
    matrices.sort(key=lambda a: indices[0] not in a.indices)
    ((i, j), (k,)) = indices, value.vars
    if [a.indices for a in matrices] != [(i, k), (k, j)]:
        return None
    a, b = matrices
    first, second = types[a.tensor].format, types[b.tensor].format
    if not all(same_value(types[access.tensor].fill, 0) for access in (a, b)):
        return None
    if first == second and all(level.implied for level in first.levels[1:]):
        return first
    inner = [{n for c, n in f.block_sizes.items() if axes_of(c) == {axis}} for f, axis in ((first, 1), (second, 0))]
    if first.levels != second.levels or not first.block_sizes or inner[0] != inner[1]:
        return None
    coordinates = []
    for mine, other in zip(first.remapping.coordinates, second.remapping.coordinates, strict=True):
        # A level over the rows is that of the first operand; the others, over the columns, are the second's.
        if len(axes_of(mine)) != 1 or axes_of(mine) != axes_of(other):
            return None
        coordinates.append(mine if axes_of(mine) == {0} else other)
    return Format(Remapping(tuple(coordinates), 2), first.levels)


def _linked(sparse: Sequence[Access], v: str) -> bool:
    """Return whether ``v`` belongs to a sparse operand after the first, and not to the first.

    Two sparse operands make few pairs of coordinates.
    """
    return any(v in access.indices for access in sparse[1:]) and v not in sparse[0].indices


def _typed(
    value: Expr, indices: Sequence[str], types: Mapping[str, TensorType], no_dense_levels: bool
) -> tuple[Expr, Mapping[str, TensorType]]:
    """Return an expression in which reductions are operands, and the types of these, if it is no reduction itself.

    The axes of these operands are in the order of the result's, whatever the order of the factors in the sums is.
    """
    sums = list(dict.fromkeys(outermost_reductions(value.body if isinstance(value, Reduce) else value)))
    known = dict(types)
    for n, part in enumerate(sums):
        free = free_variables(part)
        operand = Access(f"sum {n}", tuple(dict.fromkeys([*[v for v in indices if v in free], *free])))
        format = result_format(Assignment(operand, part), types, no_dense_levels)
        fill = result_fill(part, types)
        known[operand.tensor] = TensorType.of(result_dtype(part, types), format, fill=0 if fill is None else fill)
        value = replaced(value, part, operand)
    return value, known


def _one_sum(node: Expr) -> Expr | None:
    """Return a product with sums, or the sum of such a product, as one sum; None for other expressions."""
    if isinstance(node, Reduce) and node.op == "add" and isinstance(node.body, Reduce) and node.body.op == "add":
        return Reduce("add", (*node.vars, *node.body.vars), node.body.body)
    parts = factors(node) if isinstance(node, Apply) and node.op == "multiply" else []
    sums = [part for part in parts if isinstance(part, Reduce) and part.op == "add"]
    if not sums:
        return None
    inside = [part.body if isinstance(part, Reduce) and part in sums else part for part in parts]
    return Reduce("add", tuple([v for part in sums for v in part.vars]), product(inside))


def _reduced_operands(expr: Reduce, v: str, types: Mapping[str, TensorType]) -> list[Access]:
    """Return the sparse operands of a reduction that decide where a result over ``v`` has entries.

    Operands that no variable connects with ``v`` are reduced to numbers.
    """
    sparse = [a for a in expr.distinct_accesses if not types[a.tensor].format.is_dense]
    linked, grown = {v}, set[str]()
    while grown != linked:
        grown = {*linked}
        linked |= {u for a in sparse if linked & {*a.indices} for u in a.indices}
    return [a for a in sparse if linked & {*a.indices}]


def _is_array(expr: Reduce, v: str, types: Mapping[str, TensorType]) -> bool:
    """Return whether a reduction is stored as an array over ``v``, its only axis, whatever the operands' formats are.

    An operand that has no axis but ``v`` decides where there are entries, and one without ``v`` may leave out most.
    """
    sparse = _reduced_operands(expr, v, types)
    return {*free_variables(expr)} == {v} and all({*a.indices} > {v} for a in sparse)


def _dense_level(expr: Expr, v: str, types: Mapping[str, TensorType], reduced: bool = False) -> bool | None:
    """Return whether a level over ``v`` should be dense; None if the expression does not depend on ``v``.

    The level of a product should be dense if that of every factor is. The level of a sum should be if that of one term
    is. With ``reduced``, ``v`` is the only axis of the result, and reductions may be arrays.
    """

    # The answers are tuples of one: whether the level should be dense, or None without ``v``.
    def operand(part: Access | Reduce) -> tuple[bool | None]:
        if isinstance(part, Reduce):
            return ((reduced and _is_array(part, v, types)) or _dense_level(part.body, v, types, reduced),)
        if reduced and len(part.indices) > 1 and {*part.indices} == {v}:  # a diagonal, which is as long as an array
            return (True,)
        levels = [level for u, level in types[part.tensor].levels_of(part) if u == v]
        return (all(level.full for level in levels) if levels else None,)

    def meet(a: tuple[bool | None], b: tuple[bool | None], deciding: tuple[int, ...]) -> tuple[bool | None]:
        known = [dense for (dense,) in (a, b) if dense is not None]
        return (all(known) if known else None,)

    def join(a: tuple[bool | None], b: tuple[bool | None]) -> tuple[bool | None]:
        # A term that does not depend on ``v`` has a value at every coordinate of it.
        return (None if a == b == (None,) else None in (*a, *b) or a[0] or b[0],)

    answer = fold(region_of(expr, types), operand, meet, join)
    return None if answer is None else answer[0]


def _reduces_to_dense(assignment: Assignment, types: Mapping[str, TensorType]) -> bool:
    """Return whether a result is an array because what is reduced leaves few coordinates out.

    At most one axis has no dense operand, and an array is contracted, as in ``A.T @ x``, or one operand is reduced. A
    sparse operand of which no axis is summed over, such as the mask of a sampled product, keeps the result sparse.
    """
    indices, accesses = {*assignment.target.indices}, assignment.value.distinct_accesses
    dense = [a for a in accesses if types[a.tensor].format.is_dense]
    sparse = [a for a in accesses if a not in dense]
    if not sparse or any({*a.indices} <= indices for a in sparse):
        return False
    contracts = any(not {*a.indices} <= indices for a in dense)
    return (contracts or len(sparse) == 1) and len(indices.difference(*[a.indices for a in dense])) < 2
