"""Cost model: the cost of a loop order is the iterations of its loops, for operands of a typical size.

Neither sizes nor sparsity are known at compile time. A dense dimension has ``DIMENSION`` coordinates, a compressed
level has ``CHILDREN`` below each parent. An iteration of an innermost loop costs ``VECTORS`` times as much if the loop
only iterates along arrays. A nest costs ``STRIDED`` times as much for each array through which its innermost loop
strides. Storing an operand in another order costs ``CONVERT`` for each stored entry, or ``TRANSPOSE`` for each element
of an array. Sums inside runs of equal coordinates, whose ends must be located, make loops cost ``RUNS`` times as much.
Loops cost ``MISPLACED`` times as much for each operand whose blocks they visit in another order. If threads are to
share the loops, loops that they cannot share cost ``SHARED`` times as much. Only the ranking matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from types import MappingProxyType
from typing import TypeAlias

from ..analysis.implicit_values import deciding, typed_implicit_value
from ..analysis.iteration_algebra import fold, region_of
from ..analysis.iteration_graph import Types, types_of
from ..formats import Format, TensorType
from ..formats.format import level_variables
from ..index_notation.nodes import Access, Apply, Expr, Reduce
from ..index_notation.traversal import without_reductions
from ..remapping.nodes import Binary, Counter

NOTHING: Mapping[str, float] = MappingProxyType({})
"""Default of ``entered``: no loop has a given number of iterations."""

APPENDED = 4.0
"""Cost of an entry that is appended, in entries that are stored in place."""
DIMENSION = 1000.0
CHILDREN = 8.0
LONGEST = 1.5
"""Number of entries in the longest row of a typical tensor, for each entry of a typical row."""
CONVERT = 12.0
PLACED = 3.0
"""Cost of finding the place of a value in a result that it is inserted into, the attribute queries included."""
SORTED = 6.0
"""Cost of sorting an entry into its row."""
APPENDED_AGAIN = 1.0
"""Cost of an entry that is appended in one format, to be converted to another."""
MERGED = 2.0
"""How many times as long an iteration takes that merges operands, of loops that are run again."""
TRANSPOSE = 2.0
STRIDED = 1.5
HELD = 0.98
"""How much of their time loops take whose results are held in registers; it decides between orders of like cost."""
VECTORS = 0.5
AGAIN = 3.0
"""Number of reads of each element of an array from which storing it in another order pays."""
RUNS = 1.5
SHARED = 2.0
MISPLACED = 4.0


@lru_cache(maxsize=1024)
def nonzeros(format: Format) -> float:
    """Return the number of stored entries of a typical tensor."""
    return prod(_coordinates(format, k) for k in range(len(format.levels)))


@lru_cache(maxsize=4096)
def _coordinates(format: Format, k: int) -> float:
    """Return the typical number of coordinates of a level below one coordinate of the level above.

    A coordinate list has as many as a tree. A level that can only be located restricts no loop, and so counts as dense.
    An axis that is cut into dense blocks has as many blocks as fit, and each block as many as its size.
    """
    level, c = format.levels[k], format.remapping.coordinates[k]
    above = format.remapping.coordinates[k - 1] if k else None
    if level.counts:
        return LONGEST * CHILDREN
    if isinstance(above, Counter) and c in above.over and not level.full:
        # The rows that have as many entries, below those levels that may have cut the rows into windows.
        rows = DIMENSION ** (2 - k)
        return rows / LONGEST if format.levels[-1].gapless else rows
    if level.branchless and not level.gapless and any(u.counts for u in format.levels[:k]):
        return 1.0 / LONGEST
    if (size := format.block_sizes.get(c)) is not None:
        return min(float(size), DIMENSION)
    if level.full or not level.walks:
        cut = isinstance(c, Binary) and c.op == "/" and format.block_sizes.get(Binary("%", c.left, c.right))
        return DIMENSION / min(cut, DIMENSION) if cut else DIMENSION
    if level.branchless and format.levels[k - 1].unique:
        return 1.0
    return DIMENSION / 2 if k == 0 else CHILDREN


def children(format: Format) -> float:
    """Return the number of entries of a typical segment of the last level."""
    return _coordinates(format, len(format.levels) - 1)


def density(format: Format) -> float:
    """Return how many times as many entries dense blocks give a tensor as it would have without blocks."""
    sizes = format.block_sizes.values()
    return prod(sizes) / max(sizes, default=1)  # a block fills as many rows as it has, each with all other elements


def extents(expr: Expr, types: Mapping[str, TensorType]) -> Mapping[str, float]:
    """Return the number of iterations that an expression needs of the loop over each variable on which it depends."""
    return {v: n for v, (n, _) in _extents_of(expr, types).items()}


_Extents: TypeAlias = dict[str, tuple[float, bool]]


def _extents_of(expr: Expr, types: Mapping[str, TensorType]) -> _Extents:
    # With each number is whether dimensions or remappings alone decide the coordinates of all levels over the variable.
    def operand(part: Access | Reduce) -> _Extents:
        if isinstance(part, Reduce):
            return _extents_of(part.body, types)
        format = types[part.tensor].format
        least: _Extents = {}
        for k, v in enumerate(level_variables(part, format)):
            n, level = _coordinates(format, k), format.levels[k]
            before, implied = least.get(v, (n, True))
            least[v] = min(before, n), implied and (level.implied or level.full)
        return least

    return fold(region_of(expr, types), operand, _intersection, _union) or {}


def _intersection(a: _Extents, b: _Extents, deciding: tuple[int, ...]) -> _Extents:
    # An intersection has at most the coordinates of its smaller operand.
    return {**a, **b, **{v: (min(a[v][0], b[v][0]), a[v][1] and b[v][1]) for v in a.keys() & b.keys()}}


def _union(a: _Extents, b: _Extents) -> _Extents:
    # A union has the coordinates of both operands; intervals that no operand decides are the same for both.
    every = {v: (DIMENSION, implied) for v, (_, implied) in {**a, **b}.items()}
    for v in a.keys() & b.keys():
        (n, implied), (m, too) = a[v], b[v]
        every[v] = (max(n, m), True) if implied and too else (min(n + m, DIMENSION), False)
    return every


@lru_cache(maxsize=1024)
def _extents_as_is(expr: Expr, kinds: Types) -> Mapping[str, float]:
    return extents(expr, dict(kinds))


def restarts(expr: Expr, access: Access, order: Sequence[str], types: Mapping[str, TensorType]) -> Access | None:
    """Return the operand for whose few coordinates loops iterate an operand's outermost level many times.

    The loops take time in the product of two numbers of coordinates. If each coordinate were located instead, they
    would take time in the smaller number.
    """
    format = types[access.tensor].format
    if format.is_structured or not access.indices or len(set(access.indices)) < format.order:
        return None
    root, v = format.levels[0], level_variables(access, format)[0]
    # A level that can be located is not iterated, and the outermost loop is entered once.
    if root.has_every or root.locates == "probe" or not order or v == order[0]:
        return None
    product = _product_around(expr, access, types)
    here = _extents_as_is(product, types_of(product, types)).get(v)
    # Locating pays only if another operand restricts the loop to few coordinates.
    if here is None or here >= DIMENSION / 2:
        return None
    others = [a for a in product.distinct_accesses if a != access and v in level_variables(a, types[a.tensor].format)]
    return next((a for a in others if extents(a, types).get(v) == here), None)


def _product_around(expr: Expr, access: Access, types: Mapping[str, TensorType]) -> Expr:
    """Return the outermost part of an expression around an access that another of its operands can annihilate."""
    while not isinstance(expr, Access):
        inside = [k for k, part in enumerate(expr.children) if access in part.distinct_accesses]
        if isinstance(expr, Apply) and {*deciding(expr, lambda part: typed_implicit_value(part, types))} - {*inside}:
            break
        expr = expr.children[inside[0]]
    return expr


def cost(
    expr: Expr,
    order: Sequence[str],
    types: Mapping[str, TensorType],
    into: Access | None = None,  # an array that the innermost loop writes, whose strides count as well
    entered: Mapping[str, float] = NOTHING,  # iterations of loops that other parts of the statement determine
) -> float:
    """Return the number of iterations of a loop nest, summed over its depths, with strided loops weighted."""
    counts, strided, stored = _extents(expr, types_of(expr, types))
    counts = {**counts, **entered}
    loops = [v for v in order if counts.get(v) != 1]  # a loop with one iteration costs nothing
    if not loops:
        return 0.0
    # Each loop is entered once for each iteration of the loops around it.
    total, here = 0.0, 1.0
    for v in loops:
        here *= counts.get(v, DIMENSION)
        total += here
    last = loops[-1]
    # Strides matter most in the innermost loop; a loop along arrays alone is vectorized.
    across = strided.get(last, 0) + (into is not None and is_strided(into, last, types[into.tensor].format))
    if across or last in stored:
        return total * STRIDED**across
    return total - here + here * VECTORS


def iterations(expr: Expr, types: Mapping[str, TensorType]) -> Mapping[str, float]:
    """Return the number of iterations that an expression needs of each loop."""
    return _extents(expr, types_of(expr, types))[0]


def is_strided(access: Access, v: str, format: Format) -> bool:
    """Return whether a loop over ``v`` iterates an array in strides, from one of its rows to the next."""
    *above, last = level_variables(access, format) or ("",)
    return v in above and v != last and format.levels[above.index(v)].full


def misplaced(access: Access, order: Sequence[str], format: Format) -> bool:
    """Return whether loops visit the levels of an operand with dense blocks in another order than that of the levels.

    Loops inside a misplaced one over places in a block iterate the blocks again, and read values in strides.
    """
    if not format.block_sizes:
        return False
    places = [order.index(v) for v in level_variables(access, format) if v in order]
    return places != sorted(places)


def passed_in_strides(expr: Expr, access: Access, order: Sequence[str], types: Mapping[str, TensorType]) -> bool:
    """Return whether loops iterate an array in strides so often that storing it in another order pays."""
    format = types[access.tensor].format
    if format.order < 2 or not format.is_dense or format.is_structured:
        return False
    if len(set(access.indices)) < format.order or not set(access.indices) <= set(order):
        return False
    around = _extents_around(expr, access, types_of(expr, types))
    # The innermost loop that the array needs decides whether it is iterated in strides.
    last = next(v for v in reversed(order) if v in around)
    return is_strided(access, last, format) and prod(around.values()) > AGAIN * nonzeros(format)


@lru_cache(maxsize=1024)
def _extents_around(expr: Expr, access: Access, kinds: Types) -> Mapping[str, float]:
    """Return the number of iterations of each loop that is needed for an access."""
    return iterations(_product_around(expr, access, dict(kinds)), dict(kinds))


def price(format: Format) -> float:
    """Return the cost of storing a typical operand in another order."""
    return (TRANSPOSE if format.is_dense else CONVERT) * nonzeros(format)


@lru_cache(maxsize=1024)
def _extents(expr: Expr, kinds: Types) -> tuple[Mapping[str, float], Mapping[str, int], frozenset[str]]:
    """Return the iterations of loops, the numbers of arrays that they stride in, and the loops over sparse levels."""
    body, types = without_reductions(expr), dict(kinds)
    every = extents(body, types)
    counts: dict[str, float] = {}
    strided: dict[str, int] = {}
    stored: set[str] = set()
    for access in body.distinct_accesses:
        format = types[access.tensor].format
        variables = level_variables(access, format)
        stored |= {v for v, level in zip(variables, format.levels, strict=True) if not level.full}
        for v in dict.fromkeys(variables):
            if v in every:
                counts[v] = every[v]
            if is_strided(access, v, format):
                strided[v] = strided.get(v, 0) + 1
    return counts, strided, frozenset(stored)


def leaves(term: Expr, order: Sequence[str], types: Mapping[str, TensorType]) -> float:
    """Return an estimate of the number of values of a term, in the innermost of some loops."""
    counts = iterations(term, types)
    loops = [v for v in order if counts.get(v) != 1]  # the innermost loop with more than one iteration counts
    inner = cost(term, loops, types) - cost(term, loops[:-1], types) if loops else 1.0
    return max(inner, 1.0)
