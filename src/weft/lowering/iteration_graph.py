"""Iteration graphs (2017 paper, section 4): tensor paths, the loop orders they allow, and what a loop order costs.

The cost model counts loop iterations for operands of a typical size, as neither sizes nor sparsity are known when
compiling: a dense dimension has ``DIMENSION`` coordinates, a compressed level ``CHILDREN`` under each parent. Storing
an operand in another order costs ``CONVERT`` a nonzero; finding the end of each run of equal coordinates, so as to
sum inside it, makes loops ``RUNS`` times as dear. Only the ranking matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from math import prod
from typing import Any, Literal, TypeAlias

import numpy as np

from ..formats import Dense, Format, TensorType
from ..index_notation import nodes
from ..index_notation.nodes import Access, Apply, Expr, Reduce
from ..index_notation.operators import OPERATORS, REPETITIONS
from . import lattice
from .physical import Definition, path
from .values import (
    UNKNOWN,
    Absent,
    Number,
    application_dtypes,
    asked_of,
    decides,
    fill_of,
    is_constant,
    neutral_in_sum,
    same_value,
    typed,
)

__all__ = [
    "CHILDREN",
    "CONVERT",
    "DIMENSION",
    "RUNS",
    "Visit",
    "conversions",
    "cost",
    "extent",
    "fits",
    "is_counted",
    "is_full",
    "is_linear",
    "nonzeros",
    "places",
    "reads",
    "restarts",
]

# How a statement meets stored entries: adds each into a result with random access; sums them into a scalar inside the
# free variables; puts each in its own place of such a result; or needs them merged or appended in order.
Visit: TypeAlias = Literal["scatter", "gather", "place", "merge"]

_DENSE = Dense()

DIMENSION = 1000.0
CHILDREN = 8.0
CONVERT = 12.0
STRIDED = 1.5
RUNS = 1.5


def constraints(access: Access, format: Format) -> Iterator[tuple[str, str]]:
    """Pairs ``(outer, inner)`` of variables: a level without random access comes after all levels above it."""
    variables = path(access, format)
    for k, level in enumerate(format.levels):
        if not level.has_every:
            for above in variables[:k]:
                if above != variables[k]:
                    yield above, variables[k]


def places(order: Sequence[str], definitions: Sequence[Definition] = ()) -> dict[str, int]:
    """At which loop each variable becomes known, those included that follow from the loops' own."""
    place = {v: n for n, v in enumerate(order)}
    for _ in definitions:
        for d in definitions:
            if d.var not in place and all(v in place for v in d.needs):
                place[d.var] = max((place[v] for v in d.needs), default=-1)
    return place


def fits(access: Access, format: Format, order: Sequence[str], definitions: Sequence[Definition] = ()) -> bool:
    """Whether a loop order traverses the access from the root of its hierarchy to the leaves."""
    place, loops = places(order, definitions), set(order)
    variables = path(access, format)
    if any(v not in (place if level.has_every else loops) for v, level in zip(variables, format.levels, strict=True)):
        return False
    return all(place[a] < place[b] for a, b in constraints(access, format))


def reads(expr: Expr) -> list[Access]:
    """The distinct accesses of an expression, in order."""
    found: dict[Access, None] = {}

    def visit(e: Expr) -> None:
        match e:
            case Access():
                found[e] = None
            case Apply(args=args):
                for arg in args:
                    visit(arg)
            case Reduce(body=body):
                visit(body)

    visit(expr)
    return list(found)


def nonzeros(format: Format) -> float:
    """Stored entries of a typical tensor."""
    return prod(_coordinates(format, k) for k in range(len(format.levels)))


def _coordinates(format: Format, k: int) -> float:
    """How many coordinates a level of a typical tensor has under one of those above; lists have those of a tree.

    A level that is only asked for coordinates keeps loops from none.
    """
    level = format.levels[k]
    if level.full or not level.walks:
        return DIMENSION
    if level.branchless and format.levels[k - 1].unique:
        return 1.0
    return DIMENSION / 2 if k == 0 else CHILDREN


def extent(expr: Expr, v: str, types: Mapping[str, TensorType]) -> float | None:
    """Iterations of the loop over ``v`` that an expression asks for; None when it does not depend on ``v``."""
    match expr:
        case Access(tensor=tensor):
            format = types[tensor].format
            least: float | None = None
            for k, u in enumerate(path(expr, format)):
                if u == v:
                    n = _coordinates(format, k)
                    least = n if least is None else min(least, n)
            return least
        case nodes.Literal():
            return None
        case Reduce(body=body):
            return extent(body, v, types)
        case Apply(op=op, args=args):
            if len(args) == 1:
                return extent(asked_of(expr) or args[0], v, types)
            a, b = (extent(arg, v, types) for arg in args)
            fill = [fill_of_reduced(arg, types) for arg in args]
            if decides(op, args, 0, fill[0]) or decides(op, args, 1, fill[1]):
                return b if a is None else a if b is None else min(a, b)
            if a is None and b is None:
                return None
            if is_constant(args[0]) or is_constant(args[1]):
                return b if a is None else a
            return DIMENSION if a is None or b is None else min(a + b, DIMENSION)
    raise TypeError(f"no extent of {expr!r}")


def restarts(expr: Expr, access: Access, order: Sequence[str], types: Mapping[str, TensorType]) -> Access | None:
    """For whose few coordinates loops walk all of an operand's outermost ones again and again.

    That takes the product of two numbers of coordinates, where finding each takes the smaller of them. None where
    loops walk them once, or find them.
    """
    format = types[access.tensor].format
    if format.is_structured or not access.indices or len(set(access.indices)) < format.order:
        return None
    root, v = format.levels[0], path(access, format)[0]
    if root.has_every or root.locates == "probe" or not order or v == order[0]:
        return None
    product = _product_around(expr, access, types)
    here = extent(product, v, types)
    if here is None or here >= DIMENSION / 2:
        return None
    others = [a for a in reads(product) if a != access and v in path(a, types[a.tensor].format)]
    return next((a for a in others if extent(a, v, types) == here), None)


def _product_around(expr: Expr, access: Access, types: Mapping[str, TensorType]) -> Expr:
    """The largest part around an access that has no value where one of its operands has none."""
    match expr:
        case Reduce(body=body):
            return _product_around(body, access, types)
        case Apply(op=op, args=args):
            fills = [fill_of_reduced(arg, types) for arg in args]
            if not any(decides(op, args, k, fill) for k, fill in enumerate(fills)):
                return _product_around(next(arg for arg in args if access in reads(arg)), access, types)
    return expr


def fill_of_reduced(expr: Expr, types: Mapping[str, TensorType]) -> object:
    """The fill value of an expression, reductions included, computed in the dtypes that its values have."""
    kinds = tuple([(a.tensor, types[a.tensor].without_structure) for a in reads(expr)])
    return _known_fill(expr, kinds)


@lru_cache(maxsize=4096)
def _known_fill(expr: Expr, kinds: tuple[tuple[str, TensorType], ...]) -> object:
    return _fill_and_dtype(expr, dict(kinds))[0]


def _fill_and_dtype(expr: Expr, types: Mapping[str, TensorType]) -> tuple[Any, Any]:
    """The fill value and the dtype, a Python type for a bare literal."""
    match expr:
        case Access(tensor=tensor, indices=indices):
            dtype = types[tensor].dtype
            return typed(types[tensor].fill, dtype) if indices else UNKNOWN, dtype
        case nodes.Literal(value=value):
            return value, type(value)
        case Reduce(op=op, body=body):
            fill, dtype = _fill_and_dtype(body, types)
            row = OPERATORS[op]
            fill = neutral_in_sum(row.identity, fill) if op == "add" else fill
            stays = fill is not UNKNOWN and (row.collapses(fill) or same_value(fill, row.identity))
            return fill if stays else UNKNOWN, dtype
        case Apply(op=op, args=args):
            found = [_fill_and_dtype(arg, types) for arg in args]
            if all(isinstance(d, type) for _, d in found):
                found = [(fill, np.result_type(d).name) for fill, d in found]
            *wanted, dtype = application_dtypes(expr, tuple(d for _, d in found))
            parts = tuple(
                _SCALAR if fill is UNKNOWN else (Number if is_constant(arg) else Absent)(typed(fill, w), w)
                for arg, (fill, _), w in zip(args, found, wanted, strict=True)
            )
            return fill_of(Apply(op, parts), lambda a: UNKNOWN), dtype
    raise TypeError(f"no fill value of {expr!r}")


_SCALAR = Access("")


def strip(expr: Expr) -> Expr:
    """The expression without its Reduce nodes."""
    match expr:
        case Reduce(body=body):
            return strip(body)
        case Apply(op=op, args=args):
            return Apply(op, tuple(strip(a) for a in args))
    return expr


def is_full(expr: Expr, v: str, types: Mapping[str, TensorType]) -> bool:
    """Whether the loop over ``v`` visits every coordinate, whatever operands turn out to be absent outside it."""
    return _full(strip(expr), v, types) is not False


def _full(expr: Expr, v: str, types: Mapping[str, TensorType]) -> bool | None:
    match expr:
        case Access(tensor=tensor):
            format = types[tensor].format
            mine = [format.levels[k] for k, u in enumerate(path(expr, format)) if u == v]
            return all(level.full for level in mine) if mine else None
        case nodes.Literal():
            return None
        case Apply(op=op, args=args):
            if len(args) == 1:
                return _full(asked_of(expr) or args[0], v, types)
            a, b = (_full(arg, v, types) for arg in args)
            fill = [fill_of_reduced(arg, types) for arg in args]
            if decides(op, args, 0, fill[0]) or decides(op, args, 1, fill[1]):
                return b if a is None else a if b is None else a and b
            if a is None and b is None:
                return None
            if is_constant(args[0]) or is_constant(args[1]):
                return b if a is None else a
            full_a, full_b = a is not False, b is not False
            return (full_a and full_b) or (full_a and _solid(args[0], types)) or (full_b and _solid(args[1], types))
    raise TypeError(f"cannot tell whether {expr!r} is full")


def _solid(expr: Expr, types: Mapping[str, TensorType]) -> bool:
    """Whether an expression has a value at every coordinate."""
    match expr:
        case Access(tensor=tensor):
            return types[tensor].format.is_dense
        case nodes.Literal():
            return True
        case Apply(op=op, args=args):
            if len(args) == 1:
                return _solid(asked_of(expr) or args[0], types)
            fill = [fill_of_reduced(arg, types) for arg in args]
            both = decides(op, args, 0, fill[0]) or decides(op, args, 1, fill[1])
            return (all if both else any)(_solid(a, types) for a in args if not is_constant(a))
    return False


def cost(expr: Expr, order: Sequence[str], types: Mapping[str, TensorType]) -> float:
    """Iterations of a loop nest, summed over its depths; strided access to dense operands costs more."""
    extents, strided = _extents(expr, _types_of(expr, types))
    total, here = 0.0, 1.0
    for v in order:
        here *= extents.get(v, DIMENSION)
        total += here
    return total * STRIDED ** strided.get(order[-1], 0) if order else total


Types: TypeAlias = tuple[tuple[str, TensorType], ...]


def _types_of(expr: Expr, types: Mapping[str, TensorType]) -> Types:
    """The types of what an expression reads, by which is kept what all loop orders share."""
    return tuple([(a.tensor, types[a.tensor]) for a in reads(expr)])


@lru_cache(maxsize=1024)
def _extents(expr: Expr, kinds: Types) -> tuple[Mapping[str, float], Mapping[str, int]]:
    """The iterations of each loop that an expression asks for, and how many operands it passes in strides."""
    body, types = strip(expr), dict(kinds)
    extents: dict[str, float] = {}
    strided: dict[str, int] = {}
    for access in reads(body):
        format = types[access.tensor].format
        *above, last = path(access, format) or ("",)
        for v in dict.fromkeys((*above, last)):
            n = extent(body, v, types)
            if n is not None:
                extents[v] = n
            if v in above and v != last and format.levels[above.index(v)].full:
                strided[v] = strided.get(v, 0) + 1
    return extents, strided


def conversions(
    expr: Expr,
    order: Sequence[str],
    types: Mapping[str, TensorType],
    how: Visit,
    definitions: Sequence[Definition] = (),
    copying: bool = False,
) -> tuple[Access, ...]:
    """The accesses whose operand must be stored another way for this loop order.

    An operand does not fit when its levels come in another order than the loops; when a level that must be merged
    with others, or whose coordinates are appended, cannot be; or when it may hold duplicates that cannot be summed in
    place.
    """
    walked = _walked(expr, _types_of(expr, types), how, copying)
    return tuple([a for a in reads(expr) if a not in walked or not fits(a, types[a.tensor].format, order, definitions)])


@lru_cache(maxsize=1024)
def _walked(expr: Expr, kinds: Types, how: Visit, copying: bool) -> frozenset[Access]:
    """The accesses whose operand can be walked as it is stored, wherever the loops follow its levels."""
    types = dict(kinds)
    neutral = 0 if how == "scatter" and not copying else _neutral(expr, types)
    return frozenset(a for a in reads(expr) if _is_walked(expr, a, types, how, copying, neutral))


def _is_walked(
    expr: Expr, access: Access, types: Mapping[str, TensorType], how: Visit, copying: bool, neutral: object
) -> bool:
    format = types[access.tensor].format
    repeats = len(set(access.indices)) < len(access.indices)
    if repeats and any(not level.unique or level.locates is None for level in format.levels):
        return False
    summable = (copying and expr == access) or (
        is_linear(expr, access) and _alone(expr, access, types) and _adds_nothing(expr, access, types)
    )
    match how:
        case "scatter":
            as_it_is = summable
        case "gather":
            as_it_is = summable and all(level.unique for level in format.levels[:-1])
        case "place":
            as_it_is = expr == access and format.is_unique
        case "merge":
            as_it_is = False
    walks = all(level.walks for level in format.levels)
    return (as_it_is and walks) or _can_be_walked(expr, access, types, neutral, appending=how == "merge")


def _can_be_walked(
    expr: Expr, access: Access, types: Mapping[str, TensorType], neutral: object, appending: bool
) -> bool:
    """Whether no level of an access is merged with others that cannot be, or appended from out of order."""
    format = types[access.tensor].format
    if all(level.merges for level in format.levels):
        return True
    if not format.is_unique or any(not level.merges and not level.unique for level in format.levels):
        return False

    def fill(a: Access) -> object:
        return typed(types[a.tensor].fill, types[a.tensor].dtype) if a.indices else UNKNOWN

    for k, (v, level) in enumerate(zip(path(access, format), format.levels, strict=True)):
        if level.merges:
            continue
        owner = _reduction_over(expr, v)
        body = _in_loops(expr if owner is None else owner.body, fill)
        if owner is not None:
            neutral = _neutral(owner, types)
        if owner is None or owner.op == "add":
            neutral = neutral_in_sum(fill_of(body, fill), neutral)
        of_v = partial(level_iterators, v=v, types=types)
        points = lattice.build(body, of_v, fill, lattice.Iterator(None, 0, _DENSE, v), neutral)
        walks = {p.coiterate for p in points if any(it.key == (access, k) for it in p.coiterate if it.access)}
        if not walks:
            continue
        if not level.walks:
            return False
        alone = all(len(w) == 1 for w in walks) and len({p.coiterate for p in points}) == 1
        if not alone or (appending and not level.ordered):
            return False
    return True


def _reduction_over(expr: Expr, v: str) -> Reduce | None:
    """The reduction that binds a variable; None for a free one."""
    match expr:
        case Reduce(vars=vars, body=body):
            return expr if v in vars else _reduction_over(body, v)
        case Apply(args=args):
            return next((found for arg in args if (found := _reduction_over(arg, v)) is not None), None)
    return None


def _in_loops(expr: Expr, fill: Callable[[Access], Any]) -> Expr:
    """What loops around an expression see of it: of a reduction what is reduced, and that absent entries matter."""
    match expr:
        case Reduce(op=op, body=body):
            seen, row = _in_loops(body, fill), OPERATORS[op]
            absent = fill_of(seen, fill)
            nothing = neutral_in_sum(absent, row.identity) if op == "add" else row.identity
            same = nothing is not None and same_value(absent, nothing)
            counted = absent is not UNKNOWN and not row.has_identity and row.collapses(absent)
            return seen if same or counted else Apply("add", (seen, _SCALAR))
        case Apply(op=op, args=args):
            return Apply(op, tuple(_in_loops(arg, fill) for arg in args))
    return expr


def _neutral(expr: Expr, types: Mapping[str, TensorType]) -> object:
    """What makes no difference where it is absent: to the reduction that the expression is, or to its result.

    What many absent entries come to is found by counting those that are not.
    """
    match expr:
        case Reduce(op=op, body=body):
            row, absent = OPERATORS[op], fill_of_reduced(body, types)
            if absent is not UNKNOWN and is_counted(op, absent):
                return absent
            return UNKNOWN if row.identity is None else row.identity
        case Apply(args=args) if any(isinstance(arg, Reduce) for arg in args):
            found = [_neutral(arg, types) for arg in args if isinstance(arg, Reduce)]
            return found[0] if all(same_value(f, found[0]) for f in found) else UNKNOWN
    return fill_of_reduced(expr, types)


def is_counted(op: str, absent: Any) -> bool:
    """Whether it follows from their number what absent entries of a reduction come to."""
    return op in REPETITIONS or OPERATORS[op].collapses(absent)


def level_iterators(access: Access, v: str, types: Mapping[str, TensorType]) -> tuple[lattice.Iterator, ...]:
    """The levels of an access that iterate over ``v``, outermost first."""
    if not access.indices:
        return ()
    format = types[access.tensor].format
    return tuple(
        lattice.Iterator(access, k, level, f"{access.tensor}{k + 1}")
        for k, (u, level) in enumerate(zip(path(access, format), format.levels, strict=True))
        if u == v
    )


def is_linear(expr: Expr, access: Access) -> bool:
    """Whether an expression is a product (or sum of products) in which ``access`` is a factor once."""
    match expr:
        case Access():
            return True
        case Reduce(op="add", body=body):
            return is_linear(body, access)
        case Apply(op="multiply", args=(a, b)):
            in_a, in_b = access in reads(a), access in reads(b)
            return not (in_a and in_b) and (is_linear(a, access) if in_a else is_linear(b, access) if in_b else True)
        case Apply(op="negative", args=(a,)) | Apply(op="subtract", args=(nodes.Literal(value=0), a)):
            return is_linear(a, access)
    return access not in reads(expr)


def _adds_nothing(expr: Expr, access: Access, types: Mapping[str, TensorType]) -> bool:
    """Whether entries of an access can be summed one by one: where none is there is nothing to sum."""

    def fill(a: Access) -> object:
        return typed(types[a.tensor].fill, types[a.tensor].dtype) if a == access and a.indices else UNKNOWN

    absent: Any = fill_of(strip(expr), fill)
    return absent is not UNKNOWN and bool(absent == 0)


def _alone(expr: Expr, access: Access, types: Mapping[str, TensorType]) -> bool:
    """Whether every other operand can be located, so that nothing has to be merged."""
    return all(a == access or types[a.tensor].format.is_dense for a in reads(expr))
