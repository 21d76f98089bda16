"""The format of a result where the user gives none, from the operands' formats.

Level by level: a level is dense where the loop over its variable visits every coordinate, else compressed. The
order of the axes is that of the first sparse operand that has them all, else the target's own; a matrix computed from
matrices and lists of entries has an array over its first axis (``docs/results.md``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..formats import Compressed, Dense, Format, TensorType
from ..index_notation import dtype_promotion
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Reduce
from ..remapping import Remapping
from .derived_variables import level_variables
from .implicit_values import UNKNOWN, annihilates
from .iteration_graph import distinct_accesses, is_full, typed_implicit_value
from .terms import dtype_of

__all__ = ["dense_format", "result_dtype", "result_fill", "result_format"]


def result_dtype(value: Expr, types: Mapping[str, TensorType]) -> str:
    """NumPy's promotion over the expression."""
    dtypes = {name: type.dtype for name, type in types.items()}
    # NumPy does not reduce everything: this raises for bits of floating point numbers.
    dtype_promotion.result_dtype(value, dtypes)
    return dtype_of(value, dtypes)


def result_fill(value: Expr, types: Mapping[str, TensorType]) -> object:
    """The operators applied to the fill values; None where that depends on stored values."""
    fill = typed_implicit_value(value, types)
    return None if fill is UNKNOWN else fill


def result_format(
    assignment: Assignment, types: Mapping[str, TensorType], wide: bool = False, part: bool = False
) -> Format:
    """The format of a result for which none is given.

    A ``part`` of a larger expression has arrays only over what all of its coordinates are visited of, so that what
    reads it visits what it would if the part was computed there.
    """
    indices = assignment.target.indices
    value = assignment.value
    if (kept := _same_structure(assignment, types)) is not None:
        return kept
    types = {name: type if not type.format.is_structured else plain_type(type, wide) for name, type in types.items()}
    sparse = [
        a for a in distinct_accesses(value) if not types[a.tensor].format.is_dense and set(a.indices) & set(indices)
    ]
    lead = next((a for a in sparse if set(indices) <= set(a.indices)), None)
    outermost, arrays = _outermost(indices, sparse, types)
    if lead is not None:
        order = tuple(v for v in dict.fromkeys(level_variables(lead, types[lead.tensor].format)) if v in indices)
    else:
        order = (*outermost, *(v for v in indices if v not in outermost))
    full = {v: _dense_level(value, v, types) is not False for v in order}
    if arrays and not (wide or part):
        full[order[0]] = True
    for v in order[1:]:
        # Below the first level: not what only some other operand has dense, in another order or for other rows.
        own = lead is not None and _dense_level(lead, v, types)
        first = lead is None and sparse != [] and v in sparse[0].indices
        full[v] = full[v] and bool(own or first or (is_full(value, v, types) and not _linked(sparse, v)))
    contracts = not part and _contracts_to_dense(assignment, types)
    if all(full.values()) or result_fill(value, types) is None or contracts:
        return dense_format(assignment, types)
    levels = tuple(Dense() if full[v] else Compressed() for v in order)
    return Format(Remapping(tuple(indices.index(v) for v in order)), levels)


def dense_format(assignment: Assignment, types: Mapping[str, TensorType]) -> Format:
    """The order in which an array holds a dense result.

    That of the arrays that have all its axes, if it is one, as in NumPy. In a product, the last axis but one is
    innermost where only arrays have it, while the last is that of a sparse operand, as in ``X @ A``: what one of its
    entries adds to lies together then.
    """
    indices, value = assignment.target.indices, assignment.value
    order = list(indices)
    dense = [
        a
        for a in distinct_accesses(value)
        if types[a.tensor].format.is_dense and not types[a.tensor].format.is_structured
    ]
    if isinstance(value, Reduce):
        stored = {v for a in distinct_accesses(value) if a not in dense for v in a.indices}
        if len(order) > 1 and order[-1] in stored and order[-2] not in stored:
            order[-2:] = reversed(order[-2:])
    else:
        whole = {level_variables(a, types[a.tensor].format) for a in dense if sorted(a.indices) == sorted(indices)}
        if len(whole) == 1:
            order = [*whole.pop()]
    if order == [*indices]:
        return Format.dense(len(order))
    return Format(Remapping(tuple(indices.index(v) for v in order)), (Dense(),) * len(order))


def _outermost(
    indices: Sequence[str], sparse: Sequence[Access], types: Mapping[str, TensorType]
) -> tuple[tuple[str, ...], bool]:
    """The axis that comes first in a matrix computed from matrices, and whether it is to have an array over it.

    It is one over which an operand has an array, or would have one: a list of entries has no rows that say otherwise.
    Where all have arrays, but over axes that the result has not, it is the last.
    """
    matrices = [a for a in sparse if len(a.indices) == 2]
    if len(indices) != 2 or not matrices or any(len(a.indices) > 2 for a in sparse):
        return (), False
    roots = [level_variables(a, types[a.tensor].format)[0] for a in matrices if _may_have_array(types[a.tensor].format)]
    arrays = len(roots) == len(matrices) and {v for a in sparse for v in a.indices}.issuperset(indices)
    found = [v for v in indices if v in roots]
    if arrays and not found:
        found = [indices[-1]]
    return tuple(found[:1]), arrays


def _may_have_array(format: Format) -> bool:
    """Whether the outermost level has every coordinate, or is that of a list of entries."""
    outermost, *inner = format.levels
    return outermost.full or any(level.branchless for level in inner)


def plain_type(type: TensorType, wide: bool = False) -> TensorType:
    """The type with dense and compressed levels instead of a structured format's."""
    return TensorType.of(type.dtype, type.format.plain(wide), fill=type.fill)


def _same_structure(assignment: Assignment, types: Mapping[str, TensorType]) -> Format | None:
    """The structured format that every operand with coordinates has, with the result's indices."""
    read = [a for a in distinct_accesses(assignment.value) if a.indices]
    formats = {types[a.tensor].format for a in read}
    same = len(formats) == 1 and all(a.indices == assignment.target.indices for a in read)
    format = formats.pop() if same else None
    absent = result_fill(assignment.value, types)
    kept = format is not None and format.is_structured and not format.conditions and absent is not None
    return format if kept else None


def _linked(sparse: Sequence[Access], v: str) -> bool:
    """Whether ``v`` comes from a sparse operand after the first: two sparse operands make few pairs of coordinates."""
    return any(v in access.indices for access in sparse[1:]) and v not in sparse[0].indices


def _dense_level(expr: Expr, v: str, types: Mapping[str, TensorType]) -> bool | None:
    """Whether a level over ``v`` should be dense: a product's is where every factor's is, a sum's where a term's is."""
    match expr:
        case Access(tensor=tensor):
            format = types[tensor].format
            mine = [level for level, u in zip(format.levels, level_variables(expr, format), strict=True) if u == v]
            return all(level.full for level in mine) if mine else None
        case Reduce(body=body):
            return _dense_level(body, v, types)
        case Apply(op=op, args=args):
            found = [_dense_level(arg, v, types) for arg in args]
            known = [f for f in found if f is not None]
            if not known:
                return None
            fills = [typed_implicit_value(arg, types) for arg in args]
            if len(args) == 1 or any(annihilates(op, args, k, fill) for k, fill in enumerate(fills)):
                return all(known)
            unaware = sum(f is None and bool(distinct_accesses(arg)) for f, arg in zip(found, args, strict=True))
            return any(known) or unaware > 0
    return None


def _contracts_to_dense(assignment: Assignment, types: Mapping[str, TensorType]) -> bool:
    """Whether sparse matrices are contracted with a dense array, as in ``A.T @ x``: that gives a dense array.

    A sparse operand that keeps all its axes, as the mask of a sampled product does, keeps the result sparse.
    """
    kept = set(assignment.target.indices)
    sparse, contracted = False, False
    for access in distinct_accesses(assignment.value):
        summed = not set(access.indices) <= kept
        if types[access.tensor].format.is_dense:
            contracted |= summed
        elif len(access.indices) > 2 or not summed:
            return False
        else:
            sparse = True
    return sparse and contracted
