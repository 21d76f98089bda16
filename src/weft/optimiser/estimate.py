"""Expected numbers of coordinates of expressions, if the entries of operands are spread evenly."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..analysis.implicit_values import deciding, typed_implicit_value
from ..formats import Format, TensorType
from ..formats.format import level_variables
from ..index_notation import free_variables
from ..index_notation.nodes import Access, Apply, Expr, Literal, Reduce
from ..index_notation.program import Numbers


class Estimates:
    """Numbers of coordinates that expressions are expected to have."""

    def __init__(self, types: Mapping[str, TensorType], numbers: Mapping[str, Numbers], accesses: tuple[Access, ...]):
        self.types, self.numbers = dict(types), dict(numbers)
        self.sizes: dict[str, float] = {}
        self._densities: dict[tuple[Expr, frozenset[str]], float] = {}
        for access in accesses:
            for v, n in zip(access.indices, numbers[access.tensor].shape, strict=True):
                self.sizes[v] = max(1.0, float(n))

    def add(self, target: Access, type: TensorType, entries: float) -> None:
        """Note a tensor that a statement makes."""
        sizes, here, levels = [self.sizes[v] for v in target.indices], 1.0, []
        for v in level_variables(target, type.format):
            here *= self.sizes.get(v, 1.0)
            levels.append(here if type.format.is_dense else min(here, entries))
        self.types[target.tensor] = type
        self.numbers[target.tensor] = Numbers(tuple(map(int, sizes)), tuple(map(round, levels)))

    def space(self, vs: frozenset[str] | tuple[str, ...]) -> float:
        return math.prod([self.sizes[v] for v in vs], start=1.0)

    def entries(self, expr: Expr, vs: frozenset[str] | tuple[str, ...]) -> float:
        """Return the number of coordinates of some variables at which an expression has entries."""
        return self.space(vs) * self.density(expr, frozenset(vs))

    def density(self, expr: Expr, vs: frozenset[str]) -> float:
        """Return the share of the coordinates of some variables at which an expression has entries."""
        key = (expr, vs)
        if key not in self._densities:
            self._densities[key] = self._density(expr, vs)
        return self._densities[key]

    def _density(self, expr: Expr, vs: frozenset[str]) -> float:
        match expr:
            case Access():
                return self._of_access(expr, vs)
            case Reduce(vars=over, body=body):
                p, n = self.density(body, vs | {*over}), self.space(tuple(v for v in over if v in self.sizes))
                return 1.0 if p >= 1 else -math.expm1(n * math.log1p(-p))
            case Apply(args=args):
                return self._of_operator(expr, [self.density(a, vs) for a in args])
        return 0.0 if isinstance(expr, Literal) else 1.0

    def _of_operator(self, expr: Apply, shares: list[float]) -> float:
        """Return the density of an operator: a union, or an intersection of what decides."""
        decides = deciding(expr, lambda part: typed_implicit_value(part, self.types))
        if not decides:
            return 1 - math.prod([1 - p for p in shares])
        if len(decides) == 2 and {*expr.args[0].distinct_accesses} & {*expr.args[1].distinct_accesses}:
            return min(shares)  # parts with one operand have entries at the same places
        return math.prod([shares[k] for k in decides])

    def _of_access(self, access: Access, vs: frozenset[str]) -> float:
        format, numbers = self.types[access.tensor].format, self.numbers[access.tensor]
        mine = [v for v in dict.fromkeys(access.indices) if v in vs]
        if format.is_dense or not mine:
            return 1.0
        space, entries = self.space(tuple(mine)), float(numbers.levels[-1]) if numbers.levels else 1.0
        if len({*access.indices}) < len(access.indices):  # a diagonal
            entries *= self.space(tuple({*access.indices})) / math.prod([max(1.0, n) for n in numbers.shape])
        # The levels above say how many coordinates there are; other axes are hit at random.
        if not format.is_structured and len({*access.indices}) == len(access.indices):
            outer = level_variables(access, format)[: len(mine)]
            if {*outer} == {*mine} and len(outer) == len(mine):
                entries = min(entries, float(numbers.levels[len(mine) - 1]))
                return min(1.0, entries / space)
        if len(mine) == len({*access.indices}):
            return min(1.0, entries / space)
        return -math.expm1(-entries / space) if entries < 50 * space else 1.0


def levels_of(access: Access, format: Format) -> tuple[str, ...]:
    """Return the variables of the levels of an operand that loops must follow; of all axes if none is left out."""
    if format.is_structured or len({*access.indices}) < len(access.indices):
        return tuple(dict.fromkeys(access.indices))
    return tuple(level_variables(access, format))


def free_set(expr: Expr) -> frozenset[str]:
    return frozenset(free_variables(expr))
