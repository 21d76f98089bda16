"""What a loop order costs: the iterations of its loops for operands of a typical size.

Neither sizes nor sparsity are known when compiling: a dense dimension has ``DIMENSION`` coordinates, a compressed
level ``CHILDREN`` under each parent. An iteration of an innermost loop is ``VECTORS`` times as dear where it only
passes along arrays, and ``STRIDED`` times for each array that it passes across. Storing an operand in another order
costs ``CONVERT`` a nonzero, or ``TRANSPOSE`` an element of an array; finding the end of each run of equal coordinates,
so as to sum inside it, makes loops ``RUNS`` times as dear. Where threads are to share them, those that they cannot are
``SHARED`` times as dear. Only the ranking matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from types import MappingProxyType

from ..analysis.derived_variables import level_variables
from ..analysis.implicit_values import annihilates, asked_of, is_constant
from ..analysis.iteration_graph import Types, distinct_accesses, strip, typed_implicit_value, types_of
from ..formats import Format, TensorType
from ..index_notation import nodes
from ..index_notation.nodes import Access, Apply, Expr, Reduce

__all__ = [
    "CHILDREN", "CONVERT", "DIMENSION", "NOTHING", "RUNS", "SHARED", "TRANSPOSE", "VECTORS", "cost", "extent",
    "is_strided", "iterations", "nonzeros", "passed_in_strides", "price", "restarts",
]  # fmt: skip

NOTHING: Mapping[str, float] = MappingProxyType({})
"""No loop whose iterations something else decides."""

DIMENSION = 1000.0
CHILDREN = 8.0
CONVERT = 12.0
TRANSPOSE = 2.0
STRIDED = 1.5
VECTORS = 0.5
AGAIN = 3.0
"""How often each element of an array is read at least, where it is stored in another order for that."""
RUNS = 1.5
SHARED = 2.0


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
            for k, u in enumerate(level_variables(expr, format)):
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
            fill = [typed_implicit_value(arg, types) for arg in args]
            if annihilates(op, args, 0, fill[0]) or annihilates(op, args, 1, fill[1]):
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
    root, v = format.levels[0], level_variables(access, format)[0]
    if root.has_every or root.locates == "probe" or not order or v == order[0]:
        return None
    product = _product_around(expr, access, types)
    here = extent(product, v, types)
    if here is None or here >= DIMENSION / 2:
        return None
    others = [a for a in distinct_accesses(product) if a != access and v in level_variables(a, types[a.tensor].format)]
    return next((a for a in others if extent(a, v, types) == here), None)


def _product_around(expr: Expr, access: Access, types: Mapping[str, TensorType]) -> Expr:
    """The largest part around an access that has no value where another of its operands has none."""
    match expr:
        case Reduce(body=body):
            return _product_around(body, access, types)
        case Apply(op=op, args=args):
            fills = [typed_implicit_value(arg, types) for arg in args]
            others = [k for k, arg in enumerate(args) if access not in distinct_accesses(arg)]
            if not any(annihilates(op, args, k, fills[k]) for k in others):
                return _product_around(next(arg for arg in args if access in distinct_accesses(arg)), access, types)
    return expr


def cost(
    expr: Expr,
    order: Sequence[str],
    types: Mapping[str, TensorType],
    into: Access | None = None,
    entered: Mapping[str, float] = NOTHING,
) -> float:
    """Iterations of a loop nest, summed over its depths; what is passed in strides costs more, ``into`` included.

    ``entered`` has the iterations of loops that something else decides.
    """
    extents, strided, stored = _extents(expr, types_of(expr, types))
    extents = {**extents, **entered}
    loops = [v for v in order if extents.get(v) != 1]  # what follows from the others is none
    if not loops:
        return 0.0
    total, here = 0.0, 1.0
    for v in loops:
        here *= extents.get(v, DIMENSION)
        total += here
    last = loops[-1]
    across = strided.get(last, 0) + (into is not None and is_strided(into, last, types[into.tensor].format))
    if across or last in stored:
        return total * STRIDED**across
    return total - here + here * VECTORS


def iterations(expr: Expr, types: Mapping[str, TensorType]) -> Mapping[str, float]:
    """The iterations of each loop that an expression asks for."""
    return _extents(expr, types_of(expr, types))[0]


def is_strided(access: Access, v: str, format: Format) -> bool:
    """Whether a loop over ``v`` passes across an array, from one of its rows to the next."""
    *above, last = level_variables(access, format) or ("",)
    return v in above and v != last and format.levels[above.index(v)].full


def passed_in_strides(expr: Expr, access: Access, order: Sequence[str], types: Mapping[str, TensorType]) -> bool:
    """Whether loops pass across an array many times for each of its elements: stored again, they pass along it."""
    format = types[access.tensor].format
    if format.order < 2 or not format.is_dense or format.is_structured:
        return False
    if len(set(access.indices)) < format.order or not set(access.indices) <= set(order):
        return False
    extents = _extents_around(expr, access, types_of(expr, types))
    last = next(v for v in reversed(order) if v in extents)
    return is_strided(access, last, format) and prod(extents.values()) > AGAIN * nonzeros(format)


@lru_cache(maxsize=1024)
def _extents_around(expr: Expr, access: Access, kinds: Types) -> Mapping[str, float]:
    """The iterations of each loop that is needed for an access."""
    return iterations(_product_around(expr, access, dict(kinds)), dict(kinds))


def price(format: Format) -> float:
    """What it costs to store a typical operand in another order."""
    return (TRANSPOSE if format.is_dense else CONVERT) * nonzeros(format)


@lru_cache(maxsize=1024)
def _extents(expr: Expr, kinds: Types) -> tuple[Mapping[str, float], Mapping[str, int], frozenset[str]]:
    """The iterations of each loop, how many arrays it passes across, and the loops over other levels than arrays."""
    body, types = strip(expr), dict(kinds)
    extents: dict[str, float] = {}
    strided: dict[str, int] = {}
    stored: set[str] = set()
    for access in distinct_accesses(body):
        format = types[access.tensor].format
        variables = level_variables(access, format)
        stored |= {v for v, level in zip(variables, format.levels, strict=True) if not level.full}
        for v in dict.fromkeys(variables):
            if v not in extents and (n := extent(body, v, types)) is not None:
                extents[v] = n
            if is_strided(access, v, format):
                strided[v] = strided.get(v, 0) + 1
    return extents, strided, frozenset(stored)


def leaves(term: Expr, order: Sequence[str], types: Mapping[str, TensorType]) -> float:
    """Estimate how many values a term has in the innermost of some loops for each pass of those around it."""
    inner = cost(term, order, types) - cost(term, order[:-1], types) if order else 1.0
    return max(inner, 1.0)
