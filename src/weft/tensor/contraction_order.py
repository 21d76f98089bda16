"""Order in which ``einsum`` contracts more than two operands: in one fused loop nest, or pair by pair.

The cost model counts multiplications and the entries of intermediate results. Its estimates assume that entries are
spread evenly: the number of products is the number of combinations of coordinates, times the densities of the operands.
For at most ``EXHAUSTIVE`` operands, every order of pairs is priced by these estimates. For more operands, opt_einsum
chooses the path.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..records import record

EXHAUSTIVE = 8
KERNEL = 20_000.0  # cost of calling one more kernel, in multiplications
ENTRY = 4.0  # cost of making and reading an entry of an intermediate result
SCATTERED = 4.0  # cost of a multiplication whose result is sparse


@record
class Operand:
    """Facts that the cost model has on an operand, or on a product of operands."""

    indices: frozenset[str]  # the letters of its axes
    density: float  # the ratio of entries to elements


@record
class ContractionPath:
    """An order of contraction, with the expected costs of one loop nest and of pairs, in multiplications."""

    path: tuple[tuple[int, ...], ...]  # the path in opt_einsum's notation. One loop nest is one step with all operands.
    fused: float  # the expected cost of one loop nest
    pairwise: float  # the expected cost of contracting pair by pair
    steps: tuple[str, ...]  # the subscripts of each contraction


def _size(indices: frozenset[str], sizes: Mapping[str, int]) -> float:
    return math.prod((float(sizes[i]) for i in indices), start=1.0)


def _contracted(a: Operand, b: Operand, free: frozenset[str], sizes: Mapping[str, int]) -> tuple[float, Operand]:
    """Return the expected cost of a product that keeps some indices, and the operand that it results in."""
    together = a.indices | b.indices
    flops = _size(together, sizes) * a.density * b.density
    out = together & free
    # An element of the result is an entry if any of the products that are summed into it is one. Beyond 1e9 products
    # the probability is 1 within rounding.
    summed = _size(together - out, sizes)
    density = 1 - (1 - min(a.density * b.density, 1 - 1e-16)) ** summed if summed < 1e9 else 1.0
    result = Operand(out, max(density, 0.0))
    entries = _size(out, sizes) * result.density
    return flops * (1 if result.density > 0.5 else SCATTERED) + ENTRY * entries + KERNEL, result


def _cheapest(operands: Sequence[Operand], output: frozenset[str], sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
    """Return the cheapest path of pairs, by dynamic programming over the subsets of the operands."""
    n = len(operands)
    # Subsets are bit masks. Each has its cost, the operand that it is contracted to, and the tree of its pairs.
    best: dict[int, tuple[float, Operand, Any]] = {1 << k: (0.0, o, k) for k, o in enumerate(operands)}
    for subset in range(1, 1 << n):
        if subset & (subset - 1) == 0:
            continue
        # Indices of the output and of the operands outside the subset are not summed over yet.
        free = output.union(*(operands[k].indices for k in range(n) if not subset >> k & 1))
        part = (subset - 1) & subset
        while part:
            rest = subset ^ part  # each split is priced once: part > rest
            if part > rest:
                (first, a, how_a), (second, b, how_b) = best[part], best[rest]
                cost, result = _contracted(a, b, free, sizes)
                cost += first + second
                if subset not in best or cost < best[subset][0]:
                    best[subset] = (cost, result, (how_a, how_b))
            part = (part - 1) & subset
    return _path_of(best[(1 << n) - 1][2], n)


def _path_of(tree: Any, n: int) -> list[tuple[int, ...]]:
    """Convert a tree of pairs to opt_einsum's path: a step names places in the list that results are appended to."""
    left: list[Any] = list(range(n))
    path: list[tuple[int, ...]] = []

    def visit(node: Any) -> Any:
        if isinstance(node, int):
            return node
        a, b = visit(node[0]), visit(node[1])
        places = tuple(sorted((left.index(a), left.index(b))))
        path.append(places)
        for place in reversed(places):
            left.pop(place)
        left.append(node)
        return node

    visit(tree)
    return path


@lru_cache(maxsize=1024)
def plan(
    subscripts: str, shapes: tuple[tuple[int, ...], ...], densities: tuple[float, ...], optimize: Any
) -> ContractionPath:
    """Choose the order in which to contract operands: one loop nest for False, by cost for "auto", else pairs."""
    import opt_einsum

    n = len(shapes)
    inputs, _, output = subscripts.partition("->")
    pairs = zip(inputs.split(","), shapes, strict=True)
    sizes = {i: size for text, shape in pairs for i, size in zip(text, shape, strict=True)}
    everything = frozenset(sizes)
    # One loop nest visits the combinations of coordinates at which all operands have entries.
    fused = _size(everything, sizes) * math.prod(densities, start=1.0) * max(n - 1, 1) + KERNEL
    operands = [Operand(frozenset(text), d) for text, d in zip(inputs.split(","), densities, strict=True)]
    # NumPy's paths begin with the word "einsum_path", which opt_einsum does not take.
    chosen: Any = optimize
    if isinstance(optimize, tuple) and optimize and optimize[0] == "einsum_path":
        chosen = optimize[1:]
    elif optimize in (True, "auto", False):
        chosen = _cheapest(operands, frozenset(output), sizes) if n <= EXHAUSTIVE else "auto"
    path, info = opt_einsum.contract_path(subscripts, *shapes, shapes=True, optimize=chosen)
    pairwise = _priced(path, operands, frozenset(output), sizes)
    whole = optimize is False or (optimize == "auto" and fused <= pairwise)
    if whole or n < 3:
        return ContractionPath((tuple(range(n)),), fused, pairwise, (subscripts,))
    return ContractionPath(tuple(path), fused, pairwise, tuple(step[2] for step in info.contraction_list))


def _priced(
    path: Sequence[tuple[int, ...]], operands: Sequence[Operand], output: frozenset[str], sizes: Mapping[str, int]
) -> float:
    """Return the expected cost of a path, in multiplications."""
    pending = list(operands)
    total = 0.0
    for places in path:
        group = [pending.pop(place) for place in sorted(places, reverse=True)]
        free = output.union(*(o.indices for o in pending))  # indices that later steps or the output need
        result = group[0]
        for k, other in enumerate(group[1:], 1):
            cost, result = _contracted(result, other, free.union(*(o.indices for o in group[k + 1 :])), sizes)
            total += cost
        pending.append(result)
    return total
