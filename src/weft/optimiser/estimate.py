"""Expected numbers of coordinates of expressions, if the entries of operands are spread evenly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, TypeAlias

from ..analysis.implicit_values import typed_implicit_value
from ..analysis.iteration_algebra import combined, fold
from ..concrete_notation.transformations import factors
from ..formats import Format, TensorType
from ..formats.format import level_variables
from ..index_notation import free_variables
from ..index_notation.nodes import Access, Apply, Expr, Literal, Reduce
from ..index_notation.program import Numbers
from ..records import record

_Share: TypeAlias = tuple[float, frozenset[Access]]  # a density, and the operands that it is of


@record
class Side:
    """Numbers of a sparse operand of a join, never less than the true ones."""

    variables: frozenset[Any]
    entries: float
    # For each variable the most entries that a coordinate has, and the root of the sum of their squares.
    degrees: Mapping[Any, tuple[float, float]]

    def within(self, variables: Set[Any], size: Callable[[Any], float]) -> Side:
        """Return the same for the coordinates of some variables, of which there are no more than of all."""
        here = self.variables & variables
        entries = min(self.entries, math.prod([size(v) for v in here]))
        most = {v: min(self.degrees[v][0], math.prod([size(u) for u in here - {v}])) for v in here}
        return Side(here, entries, {v: (m, min(self.degrees[v][1], math.sqrt(entries * m))) for v, m in most.items()})


def joined_at_most(sides: Sequence[Side], fixed: Any = None) -> float:
    """Return a bound of the number of coordinates that operands have together, perhaps for one of a variable.

    A coordinate of the operands so far is met by at most so many entries of the next as this has at one coordinate. The
    product of the roots of the squares bounds a pair of operands, too, by the inequality of Cauchy and Schwarz.
    """
    return min([_joined_from(side, [s for s in sides if s is not side], fixed) for side in sides
                if fixed is None or fixed in side.variables])  # fmt: skip


def _joined_from(first: Side, rest: list[Side], fixed: Any) -> float:
    number, seen, is_first = (first.entries if fixed is None else first.degrees[fixed][0]), first.variables, True
    while rest:
        times = [min([s.entries, *[s.degrees[v][0] for v in s.variables & seen]]) for s in rest]
        times = [1.0 if s.variables <= seen else t for s, t in zip(rest, times, strict=True)]
        k = times.index(min(times))
        together = number * times[k]
        if is_first and fixed is None:
            norms = [first.degrees[v][1] * rest[k].degrees[v][1] for v in first.variables & rest[k].variables]
            together = min([together, *norms])
        number, seen, is_first = together, seen | rest[k].variables, False
        del rest[k]
    return number


class Estimates:
    """Numbers of coordinates that expressions are expected to have."""

    def __init__(self, types: Mapping[str, TensorType], numbers: Mapping[str, Numbers], accesses: tuple[Access, ...]):
        self.types, self.numbers = dict(types), dict(numbers)
        self.sizes: dict[str, float] = {}
        self.counts = any(n.degrees for n in numbers.values())  # whether entries along axes were counted
        self._densities: dict[tuple[Expr, frozenset[str]], float] = {}
        self.measure(accesses)

    def measure(self, accesses: Iterable[Access]) -> None:
        """Note the sizes of the variables of operands."""
        for access in accesses:
            for v, n in zip(access.indices, self.numbers[access.tensor].shape, strict=True):
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
                inside, n = vs | {*over}, self.space(tuple(v for v in over if v in self.sizes))
                p = self._of_product(body, inside)
                p = self.density(body, inside) if p is None else p
                return 1.0 if p >= 1 else -math.expm1(n * math.log1p(-p))
            case Apply(args=args):
                return self._of_operator(expr, [self.density(a, vs) for a in args])
        return 0.0 if isinstance(expr, Literal) else 1.0

    def side(self, expr: Expr | None) -> Side | None:
        """Return what is known of a sparse operand; None if the numbers of its axes are not."""
        if not isinstance(expr, Access) or self.types[expr.tensor].format.is_dense:
            return None
        numbers, names = self.numbers[expr.tensor], expr.indices
        entries = float(numbers.levels[-1]) if numbers.levels else 1.0
        if len(names) == 1:
            return Side(frozenset(names), entries, {names[0]: (1.0, math.sqrt(entries))})
        if len(numbers.degrees) != len(names) or len({*names}) < len(names):
            return None
        degrees = {v: (entries, entries) if d is None else (float(d[0]), float(d[1]))
                   for v, d in zip(names, numbers.degrees, strict=True)}  # fmt: skip
        return Side(frozenset(names), entries, degrees)

    def _of_product(self, body: Expr, vs: frozenset[str]) -> float | None:
        """Return the density of a product of operands by the numbers of their axes; None if these are not known."""
        sparse = [f for f in factors(body) if not self._is_dense(f)]
        sides = [self.side(f) for f in sparse]
        if len(sparse) < 2 or any(side is None or not side.variables <= vs for side in sides):
            return None
        known = [side for side in sides if side is not None]
        covered = frozenset().union(*[side.variables for side in known])
        return min(1.0, joined_at_most(known) / self.space(covered))

    def _is_dense(self, part: Expr) -> bool:
        return all(self.types[a.tensor].format.is_dense for a in part.distinct_accesses)

    def _of_operator(self, expr: Apply, shares: list[float]) -> float:
        """Return the density of an operator: a union, or an intersection of what decides."""
        parts = [(p, frozenset(arg.distinct_accesses)) for p, arg in zip(shares, expr.args, strict=True)]

        def meet(a: _Share, b: _Share, decides: tuple[int, ...]) -> _Share:
            if len(decides) == 2 and a[1] & b[1]:
                return min(a[0], b[0]), a[1] | b[1]  # parts with one operand have entries at the same places
            return math.prod([(a, b)[k][0] for k in decides]), a[1] | b[1]

        def join(a: _Share, b: _Share) -> _Share:
            return 1 - (1 - a[0]) * (1 - b[0]), a[1] | b[1]

        def operand(part: Any) -> _Share:
            return part  # type: ignore[no-any-return]

        how = combined(expr, parts, lambda part: typed_implicit_value(part, self.types))
        answer = fold(how, operand, meet, join)
        return 0.0 if answer is None else answer[0]

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
