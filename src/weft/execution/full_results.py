"""Full results: elements that no operand stores, and that a result has because of fill values.

A result may have an element wherever a *case* of its expression does: a set of operands that store something there. A
product has the cases of the factors that decide it, put together, and a sum those of all its terms. A case *spreads* if
its operands do not have all variables of the result. The result then has elements at every coordinate of the others, as
``A(i,j) + x(j)`` at every ``i``, and ``min(k, W(i,k) + V(k,j))`` at all of ``i`` and ``j`` unless what is missing is
infinite. Such a result counts against ``config.max_densify_bytes`` before it is computed. Results that are as large
without the cases that spread do not: those of a product with an array, or of a sum with one of their shape.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from ..analysis.implicit_values import typed_implicit_value
from ..analysis.iteration_algebra import combined, fold
from ..analysis.iteration_graph import Types
from ..concrete_notation.values import UNKNOWN
from ..config import config
from ..errors import DensifyError, DensifyWarning
from ..formats import TensorType
from ..index_notation import explicit_sums, expression_text, free_variables, to_text
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Reduce
from ..index_notation.operator_table import OPERATORS
from ..index_notation.traversal import outermost_reductions, rewrite, tensors
from ..records import record, replace
from ..storage import Storage
from .absorbed import Absorbed
from .data_annihilators import assumed, extents_of
from .result_buffers import entry_bytes

Spelling: TypeAlias = Literal["notation", "operator", "lazy"]
_MANY = 64
"""Cases beyond which an expression is not looked at: sums inside products multiply them."""
_TIMES = 100
"""Elements of a result for each entry of its operands, above which a large result comes with a warning."""
_SHARE = 16
"""Part of the limit from which on a result is large enough for a warning."""


@record
class Case:
    """Operands that have a value together, and the variables whose coordinates these values have."""

    operands: tuple[Access, ...]
    variables: frozenset[str]


def _cases(expr: Expr, types: Mapping[str, TensorType]) -> tuple[Case, ...]:
    match expr:
        case Access(indices=()) if typed_implicit_value(expr, types) is not UNKNOWN:  # a number that is known
            return ()
        case Access(indices=indices):
            return (Case((expr,), frozenset(indices)),)
        case Reduce(vars=vars, body=body):
            return tuple([replace(case, variables=case.variables.difference(vars)) for case in _cases(body, types)])
        case Apply(op=op, args=(arg,)) if OPERATORS[op].absent is not None:
            # The answer where nothing is stored is known: a number beside an operand makes no elements.
            return tuple([case for case in _cases(arg, types) if case.variables])
        case Apply(args=args):
            parts = [_Part(_cases(arg, types), arg.distinct_accesses, frozenset(free_variables(arg))) for arg in args]
            how = combined(expr, parts, lambda part: typed_implicit_value(part, types))
            answer = fold(how, _itself, partial(_together, types), _either)
            return () if answer is None else answer.cases
    return ()


@record
class _Part:
    """The cases of an operand, or of several, with all that it reads."""

    cases: tuple[Case, ...]
    accesses: tuple[Access, ...]
    variables: frozenset[str]


def _itself(part: Any) -> _Part:
    return part  # type: ignore[no-any-return]


def _either(a: _Part, b: _Part) -> _Part:
    return _Part((*a.cases, *b.cases), (*a.accesses, *b.accesses), a.variables | b.variables)


def _together(types: Mapping[str, TensorType], a: _Part, b: _Part, deciding: tuple[int, ...]) -> _Part:
    """Return the cases of two operands where those that decide have a value."""
    needed, every = [(a, b)[k] for k in deciding], _either(a, b)
    # An array beside them says which coordinates there are along its axes.
    arrays = [x for part in (a, b) if part not in needed for x in part.accesses if _is_array(x, types)]
    variables = frozenset(v for x in arrays for v in x.indices)
    if any(all(_is_array(x, types) for x in part.accesses) for part in needed):
        variables = every.variables
    cases = [Case((), variables)]
    for part in needed:
        cases = [Case((*c.operands, *d.operands), c.variables | d.variables) for c in cases for d in part.cases]
        if len(cases) > _MANY:
            return replace(every, cases=(Case(every.accesses, every.variables),))
    return replace(every, cases=tuple(cases))


def _is_array(access: Access, types: Mapping[str, TensorType]) -> bool:
    return types[access.tensor].format.is_dense


@lru_cache(maxsize=1024)
def spreading(assignment: Assignment, kinds: Types) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    """Return the cases of an assignment that spread along variables of the result, and the others."""
    types, value = dict(kinds), explicit_sums(assignment).value
    # Where all operands are arrays, so is the result, as in NumPy.
    if all(_is_array(a, types) for a in value.distinct_accesses):
        return (), ()
    result, cases = frozenset(assignment.target.indices), _cases(value, types)

    def spreads(case: Case) -> bool:
        if not result <= case.variables:
            return True
        arrays = all(_is_array(a, types) for a in case.operands)
        return arrays and not any(result <= set(a.indices) for a in case.operands)

    spread = tuple([case for case in cases if spreads(case)])
    return spread, tuple([case for case in cases if case not in spread])


def may_spread(assignment: Assignment, kinds: Types) -> bool:
    """Return whether a result may have elements that no operand stores: by its cases, or by a function of a sum."""
    if spreading(assignment, kinds)[0]:
        return True
    value = explicit_sums(assignment).value
    if len(assignment.target.indices) < 2 or not outermost_reductions(value):
        return False
    if not isinstance(value, Reduce) or value.op != "add" or outermost_reductions(value.body):
        return True
    return bool(typed_implicit_value(value.body, dict(kinds)) != 0)


@record
class _Full:
    """A result with elements that no operand stores: their number, their bytes, and the cases that spread."""

    count: int
    bytes: int
    whole: bool
    cases: tuple[Case, ...]

    def described(self, target: TensorType) -> str:
        """Return the number and the size in words."""
        beside = "" if target.format.is_dense else " with their coordinates"
        return f"{self.count} elements take {_size(self.bytes)}{beside}"


def _visited(assignment: Assignment, axes: Collection[int]) -> tuple[Case, ...]:
    """Return the case of loops that visit all coordinates of axes of the result, for a function of a sum, say."""
    indices, operands = assignment.target.indices, assignment.value.distinct_accesses
    return (Case(operands, frozenset(indices) - {indices[axis] for axis in axes}),) if axes else ()


def _measured(
    assignment: Assignment, operands: Mapping[str, Storage], target: TensorType, visited: Collection[int]
) -> _Full | None:
    """Return what is known of a result with cases that spread; None if it is as large without them."""
    value = explicit_sums(assignment).value
    kinds = tuple([(a.tensor, operands[a.tensor].type) for a in value.distinct_accesses])
    spread, others = spreading(assignment, kinds)
    if spread:
        visited = ()
    elif visited:
        spread, others = _visited(assignment, visited), ()
    extents = extents_of(value, operands)
    if not spread or extents is None or any(v not in extents for v in assignment.target.indices):
        return None
    shape = tuple([extents[v] for v in assignment.target.indices])
    elements, types = math.prod(shape), dict(kinds)

    walked = {v for axis, v in enumerate(assignment.target.indices) if axis not in visited}

    def size(case: Case) -> int:
        bounds = [elements]
        for a in case.operands:
            if not _is_array(a, types):
                own = math.prod(extents[v] for v in walked.intersection(a.indices))
                bounds.append(min(int(operands[a.tensor].vals.size), own) * (elements // max(own, 1)))
        return min(bounds)

    if 2 * sum(map(size, others)) >= elements:
        return None
    count = min(elements, sum(map(size, (*spread, *others))))
    dtype = np.dtype(target.dtype)
    needed = elements * dtype.itemsize if target.format.is_dense else count * entry_bytes(target.format, dtype, shape)
    return _Full(count, needed, count == elements, spread)


def _bytes_at_most(order: int) -> int:
    """Return an upper bound of the bytes of an entry: a complex value, and a coordinate for each axis."""
    return 16 + 8 * order


def announce(
    assignment: Assignment,
    absorbed: Absorbed,
    operands: Mapping[str, Storage],
    target: TensorType,
    *,
    spelling: Spelling = "notation",
    warns: bool = True,
    visited: Callable[[], Collection[int]] = tuple,
) -> None:
    """Raise for a result that is too large because of fill values, and warn of one that is large if it ``warns``.

    ``visited`` returns the axes all of whose coordinates the loops visit, and is asked for large results alone.
    """
    # Small results are the usual ones, and a look at their extents is cheap.
    extents, indices = extents_of(absorbed.assignment.value, operands), assignment.target.indices
    most = 0 if extents is None else math.prod([extents.get(v, 0) for v in indices]) * _bytes_at_most(len(indices))
    if most * _SHARE <= config.max_densify_bytes:
        return
    full = _measured(absorbed.assignment, operands, target, visited())
    if full is None or full.bytes * _SHARE <= config.max_densify_bytes:
        return
    types = {name: operands[name].type for name in tensors(assignment.value)}
    text = _reason(assignment, absorbed, full, types, operands)
    advice = _advice(assignment, absorbed, types, spelling)
    head, tail = f"{text}: {full.described(target)}", f"in {to_text(assignment)}"
    if full.bytes > config.max_densify_bytes:
        described = ", ".join(f"{name}: {operands[name].shape} {type.format}" for name, type in types.items())
        raise DensifyError(
            f"{head}, more than weft.config.max_densify_bytes, {config.max_densify_bytes}; {advice}, or raise the "
            f"limit{_over_chunks()}; {tail}, with {described}"
        )
    if warns and full.count > _TIMES * sum(operands[name].vals.size for name in types):
        warnings.warn(f"{head}; {advice}; {tail}", DensifyWarning, stacklevel=_frames_of_weft())


def _over_chunks() -> str:
    """Return the clause for a variance by dask, which subtracts means from whole chunks; empty for other callers."""
    asks = str(sys._getframe(_frames_of_weft() - 1).f_globals.get("__name__")).startswith("dask.array.")
    return ", or take weft.dask.var or weft.dask.std, which keep chunks sparse" if asks else ""


def full_line(
    assignment: Assignment,
    absorbed: Absorbed,
    operands: Mapping[str, Storage | TensorType],
    target: TensorType,
    visited: Collection[int] = (),
) -> str:
    """Return the line of a report on a result with elements that no operand stores; empty for other results."""
    held, types = dict[str, Storage](), dict[str, TensorType]()
    for name in tensors(absorbed.assignment.value):
        operand = operands[name]
        if isinstance(operand, Storage):
            held[name] = operand
        types[name] = operand.type if isinstance(operand, Storage) else operand
    if len(held) < len(types):
        cases, size = (
            spreading(absorbed.assignment, tuple(types.items()))[0] or _visited(absorbed.assignment, visited),
            "",
        )
        full = _Full(0, 0, False, cases) if cases else None
    elif (full := _measured(absorbed.assignment, held, target, visited)) is not None:
        size = f": {full.described(target)}"
    if full is None:
        return ""
    text = _reason(assignment, absorbed, full, types, held)
    return f"full result: {text}{size}; {_advice(assignment, absorbed, types)}"


# -- texts ----------------------------------------------------------------------------------------------------------
def _reason(
    assignment: Assignment,
    absorbed: Absorbed,
    full: _Full,
    types: Mapping[str, TensorType],
    held: Mapping[str, Storage],
) -> str:
    """Return the clause that says where the result has values, and why."""
    target = assignment.target
    where = f"at all of {', '.join(target.indices)}" if full.whole else "where no operand stores one"
    head = f"the result has a value {where}, since"
    if absorbed.refused:
        a = absorbed.refused[0]
        return f"{head} {a.refutation(held) if len(held) == len(types) else a.reason}"
    # Beside a constant, as in greater(A(i,j), 0.5), the operator has one value.
    for a in [a for a in absorbed.undecided if a.other.distinct_accesses]:
        return f"{head} {a.subject} is not the same for all values of {expression_text(a.other)}"
    if (neutral := _neutral_fill(assignment, types)) is not None:
        names, op, _ = neutral
        are, store = ("is", "it stores") if len(names) == 1 else ("are", "they store")
        return (
            f"{head} {' and '.join(names)} {are} {types[names[0]].fill:g} where {store} nothing, which counts in {op}"
        )
    case = full.cases[0]
    missing = ", ".join([v for v in target.indices if v not in case.variables])
    texts = dict.fromkeys(map(expression_text, case.operands))
    have = "has" if len(texts) == 1 else "have"
    if _visited(assignment, range(len(target.indices))) == (case,):
        sparse = [name for name in types if not types[name].format.is_dense]
        store = "store" if sparse[1:] else "stores"
        return f"{head} it is computed for every {missing}, also where {' and '.join(sparse)} {store} nothing"
    return f"{head} {' and '.join(texts)} {have} a value " + (f"for every {missing}" if missing else "everywhere")


def _advice(
    assignment: Assignment, absorbed: Absorbed, types: Mapping[str, TensorType], spelling: Spelling = "notation"
) -> str:
    """Return the clause that says what to write instead."""
    # Multiplied by a mask, NaN would stay NaN.
    if absorbed.refused and absorbed.refused[0].advice:
        return absorbed.refused[0].advice.removeprefix("; ")
    if (neutral := _neutral_fill(assignment, types)) is not None:
        names, _, fill = neutral
        made = " and ".join(f"weft.asarray({name}).with_fill({fill:g})" for name in names)
        return f"pass {made} if what is not stored is to be missing"
    result = {*assignment.target.indices}
    sparse = [a for a in assignment.value.distinct_accesses if not _is_array(a, types)]
    access = next((a for a in sparse if result <= {*a.indices}), None)
    advice = "ask for format='dense'" if spelling == "notation" else f"make {sparse[0].tensor} dense"
    if access is None:
        return f"{advice} if you want them all"
    name, text, fill = access.tensor, expression_text(access), types[access.tensor].fill
    infix = f"{name} != {fill:g}" if fill == fill else f"{name} == {name}"
    if spelling == "lazy":
        return f"multiply by ({infix}) to compute only what {name} stores, or {advice}"
    if spelling == "notation":
        mask = f"not_equal({text}, {fill:g})" if fill == fill else f"equal({text}, {text})"
        return f"multiply by {mask} to compute only what {name} stores, or {advice}"
    # A product with an operator that is computed before would come too late.
    plain: dict[Expr, Expr] = {
        a: Access(f"weft.lazy({name})" if a == access else a.tensor) for a in assignment.value.distinct_accesses
    }
    value, lazy = assignment.value, expression_text(rewrite(assignment.value, plain.get))
    lazy = f"np.{lazy}" if isinstance(value, Apply) and OPERATORS[value.op].symbol is None else f"({lazy})"
    return f"take weft.compute(({infix}) * {lazy}), which computes only what {name} stores, or {advice}"


def _neutral_fill(assignment: Assignment, types: Mapping[str, TensorType]) -> tuple[tuple[str, ...], str, float] | None:
    """Return operands that need another fill value, the reduction to which that is neutral, and the value, if any."""
    explicit = explicit_sums(assignment)
    if not isinstance(explicit.value, Reduce) or explicit.value.op not in ("minimum", "maximum"):
        return None
    fill = math.inf if explicit.value.op == "minimum" else -math.inf
    names = [name for name in tensors(explicit.value) if not types[name].format.is_dense]
    changed = tuple([name for name in names if types[name].fill != fill])
    other = {name: TensorType.of("float64", types[name].format, fill=fill) for name in names}
    spreads = _expected(explicit, {name: other.get(name, types[name]) for name in tensors(explicit.value)})
    return None if spreads or not changed else (changed, explicit.value.op[:3], fill)


def _expected(assignment: Assignment, types: Mapping[str, TensorType]) -> bool:
    """Return whether a result spreads even if fill values decide all operators that they may decide."""
    return bool(spreading(assumed(assignment, types, every=True).assignment, tuple(types.items()))[0])


def _size(bytes: int) -> str:
    """Return a number of bytes in the largest unit of which there is at least one."""
    for power, unit in ((12, "TB"), (9, "GB"), (6, "MB")):
        if bytes >= 10**power:
            return f"{bytes / 10**power:.3g} {unit}" if bytes < 10 ** (power + 3) else f"{bytes // 10**power:,} {unit}"
    return f"{bytes} bytes"


_ROOT = str(Path(__file__).resolve().parents[1])


def _frames_of_weft() -> int:
    """Return the stack level of the user's call, for warnings."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_ROOT):
        frame, level = frame.f_back, level + 1
    return level
