"""In which order ``einsum`` contracts more than two operands: in one fused loop nest, or pair by pair.

The cost model counts multiplications and the entries of intermediate results, estimated as if entries were spread
evenly: of ``n`` combinations of coordinates as many have a product as the operands' densities, multiplied, say. Paths
are opt_einsum's business, unless there are at most ``EXHAUSTIVE`` operands: then every order of pairs is
priced by these estimates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..records import record

__all__ = ["ContractionPath", "Operand", "plan"]

EXHAUSTIVE = 8
KERNEL = 20_000.0  # multiplications that calling one more kernel is worth
ENTRY = 4.0  # what making and reading an entry of an intermediate result costs
SCATTERED = 4.0  # what a multiplication costs whose result is sparse


@record
class Operand:
    """What the model knows of an operand, or of a product of some.

    Parameters
    ----------
    indices : frozenset of str
        The letters of its axes.
    density : float
        Entries to elements.
    """

    indices: frozenset[str]
    density: float


@record
class ContractionPath:
    """An order of contraction, with what it and the other way are expected to cost, in multiplications.

    Parameters
    ----------
    path : tuple of tuple of int
        As opt_einsum has it; all operands at once for one loop nest.
    fused, pairwise : float
        Estimates.
    steps : tuple of str
        One line for each contraction.
    """

    path: tuple[tuple[int, ...], ...]
    fused: float
    pairwise: float
    steps: tuple[str, ...]


def _size(indices: frozenset[str], sizes: Mapping[str, int]) -> float:
    return math.prod((float(sizes[i]) for i in indices), start=1.0)


def _contracted(a: Operand, b: Operand, kept: frozenset[str], sizes: Mapping[str, int]) -> tuple[float, Operand]:
    """The cost of a product that keeps some indices, and what it gives."""
    together = a.indices | b.indices
    flops = _size(together, sizes) * a.density * b.density
    out = together & kept
    summed = _size(together - out, sizes)
    density = 1 - (1 - min(a.density * b.density, 1 - 1e-16)) ** summed if summed < 1e9 else 1.0
    result = Operand(out, max(density, 0.0))
    entries = _size(out, sizes) * result.density
    return flops * (1 if result.density > 0.5 else SCATTERED) + ENTRY * entries + KERNEL, result


def _cheapest(operands: Sequence[Operand], output: frozenset[str], sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
    """The cheapest path of pairs: of every subset of the operands, the cheapest two parts."""
    n = len(operands)
    best: dict[int, tuple[float, Operand, Any]] = {1 << k: (0.0, o, k) for k, o in enumerate(operands)}
    for subset in range(1, 1 << n):
        if subset & (subset - 1) == 0:
            continue
        kept = output.union(*(operands[k].indices for k in range(n) if not subset >> k & 1))
        part = (subset - 1) & subset
        while part:
            rest = subset ^ part
            if part > rest:
                (first, a, how_a), (second, b, how_b) = best[part], best[rest]
                cost, result = _contracted(a, b, kept, sizes)
                cost += first + second
                if subset not in best or cost < best[subset][0]:
                    best[subset] = (cost, result, (how_a, how_b))
            part = (part - 1) & subset
    return _path_of(best[(1 << n) - 1][2], n)


def _path_of(tree: Any, n: int) -> list[tuple[int, ...]]:
    """A tree of pairs as opt_einsum's path: places among what is left, results at the end."""
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
    """The order in which to contract.

    Parameters
    ----------
    subscripts : str
        Explicit, of single letters.
    shapes, densities : sequence
        Of the operands.
    optimize : object
        False for one loop nest, ``"auto"`` to choose by cost, else a path or what opt_einsum takes: pair by pair.
    """
    import opt_einsum

    n = len(shapes)
    inputs, _, output = subscripts.partition("->")
    pairs = zip(inputs.split(","), shapes, strict=True)
    sizes = {i: size for text, shape in pairs for i, size in zip(text, shape, strict=True)}
    everything = frozenset(sizes)
    fused = _size(everything, sizes) * math.prod(densities, start=1.0) * max(n - 1, 1) + KERNEL
    operands = [Operand(frozenset(text), d) for text, d in zip(inputs.split(","), densities, strict=True)]
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
    """What a path is expected to cost."""
    pending = list(operands)
    total = 0.0
    for places in path:
        taken = [pending.pop(place) for place in sorted(places, reverse=True)]
        kept = output.union(*(o.indices for o in pending))
        result = taken[0]
        for k, other in enumerate(taken[1:], 1):
            cost, result = _contracted(result, other, kept.union(*(o.indices for o in taken[k + 1 :])), sizes)
            total += cost
        pending.append(result)
    return total
