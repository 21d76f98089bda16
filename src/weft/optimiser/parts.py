"""Own tensors: the parts of an expression that are cheaper to compute first.

Candidates are the reductions inside an expression, the connected parts of contractions (``optimiser/contraction.py``),
and expensive parts that fewer loops need than the loops around them. Each is priced where it stands and apart; it stays
where it is unless that costs ``WORTH`` times as much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ..analysis.implicit_values import typed_implicit_value
from ..analysis.result_type import part_format, result_dtype, result_fill, result_format
from ..analysis.terms import Dtypes, additive_terms
from ..code_options import CodeOptions
from ..concrete_notation.transformations import factors, product
from ..concrete_notation.values import same_value
from ..dtypes import VALUE_DTYPES
from ..errors import WeftError
from ..formats import Format, TensorType
from ..index_notation import expression_text, free_variables
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from ..index_notation.program import Numbers
from ..index_notation.traversal import (
    has_reduction,
    outermost_reductions,
    replaced,
    rewrite_outermost,
    variables,
    walk,
)
from ..records import replace
from ..trees import outermost
from .contraction import MOST_VARIABLES, Contraction, Way
from .estimate import Estimates, free_set, levels_of
from .price import ENTRY, FULL, KERNEL, Nests, conversions, each, pointwise, weight
from .rules import Facts, Rule, is_exact, is_plain, may_be_scanned, split, terms_of
from .statements import Statements

WORTH = 1.5
"""How many times as much an expression must cost in one kernel as in several, for several to run."""
GAIN = 2 * KERNEL
"""The least that several kernels must save."""
MOST_FACTORS = 24
"""Factors of a product beyond which it stays as it is written."""
DEAR = 2.0
"""The weight from which a part is worth a tensor of its own."""


CHOICES = (
    Rule("contraction-order", "`A(i,j)*B(j,k)*x(k)` is `A(i,j)*T(j)`, where `T(j) = sum(k, B(j,k)*x(k))`",
         "operands are arrays, have the fill value 0, or are sums that come apart, and have one dtype"),
    Rule("own-tensors", "`A(i,j)/sum(k, A(i,k))` is `A(i,j)/T(i)`, where `T(i) = sum(k, A(i,k))`; equal sums are one",
         "in place, it would be computed anew at each coordinate", keeps_bits=True),
    Rule("invariant-parts", "`A(i,j)*(x(j)/d(j))` is `A(i,j)*T(j)`, where `T(j) = x(j)/d(j)`",
         "fewer loops need it than there are around it", keeps_bits=True),
)  # fmt: skip
"""The rules that decide by prices which parts are computed first."""


class OwnTensors(Statements):
    """The statements that compute parts of one expression first."""

    def __init__(
        self,
        assignment: Assignment,
        types: Mapping[str, TensorType],
        numbers: Mapping[str, Numbers],
        options: CodeOptions,
    ):
        super().__init__(assignment)
        self.estimates = Estimates(types, numbers, assignment.value.distinct_accesses)
        self.is_dense = result_format(assignment, types).is_dense
        self.elements = self.estimates.space(assignment.target.indices) if self.is_dense else 0.0  # of a dense result
        self.options, self.enabled = options, options.enabled
        self.reorders = options.reassociate or is_exact(result_dtype(assignment.value, types))
        self._dtypes = {name: type.dtype for name, type in types.items()}
        self.dtype = Dtypes(self._dtypes)
        self.entries: list[float] = []
        self.arrays: set[str] = set()
        self.rules: dict[str, None] = {}

    @property
    def types(self) -> dict[str, TensorType]:
        """The types of the operands and of the parts."""
        return self.estimates.types

    # -- the walk -----------------------------------------------------------------------------------------------
    def in_terms_of_parts(self, expr: Expr, axes: tuple[str, ...]) -> Expr:
        """Return an expression over some axes in terms of its parts."""

        def term(node: Expr) -> Expr | None:
            match node:
                case Reduce():
                    return self._reduction(node, axes)
                case Apply(op="add" | "subtract" | "negative", args=args):
                    # A sum that may wrap around in its own dtype stays.
                    return None if len({self.dtype(a) for a in args}) == 1 else node
                case Apply() if has_reduction(node):
                    return self._with_sums_apart(node, axes)
            return node

        return rewrite_outermost(expr, term)

    def _reduction(self, expr: Reduce, axes: tuple[str, ...]) -> Expr:
        """Return a reduction in terms of its parts."""
        if has_reduction(expr.body):
            expr = replace(expr, body=self._with_sums_apart(expr.body, tuple(free_variables(expr.body)), axes))
            expr = self._with_arrays_apart(expr, axes)
            if has_reduction(expr.body):
                return expr
            if (apart := self.with_terms_apart(expr, axes)) != expr:
                return self.in_terms_of_parts(apart, axes)
        # An array that holds zeros where a sparse operand stores nothing must not meet 1/0.
        if expr.op == "add" and self.reorders and self.enabled("contraction-order") and _stays_finite(expr.body):
            return self._contracted(expr, axes)
        return self._with_dear_parts_apart(expr)

    def with_terms_apart(self, expr: Expr, axes: tuple[str, ...]) -> Expr:
        """Return an expression over some axes with sums of terms apart, as others of its sums are operands by now."""
        apart = split(expr, self.types, axes, self.options, self.estimates.sizes)
        self.estimates.measure(apart.distinct_accesses)
        return apart

    def with_sums_first(self, expr: Expr, axes: tuple[str, ...]) -> Expr:
        """Return an expression over some axes in which sums with fewer variables do not decide the loops of others."""
        if not (self.enabled("own-tensors") and self.reorders):
            return expr
        sums = [s for _, term in additive_terms(expr) for s in outermost_reductions(term) if not has_reduction(s.body)]
        first = [s for s in dict.fromkeys(sums) if free_set(s) < {*axes}]
        others = [s for s in sums if s not in first]
        together = sum([conversions(s, self.estimates) for s in others]) if first else 0.0
        together += sum([self._in_place(s, expr, axes, ()) for s in first])
        if not others or not self._pays(together, sum([self._apart(s) for s in first])):
            return expr
        reason = "in place, loops would have to be around it that the others need not have"
        return self._with_parts(expr, axes, first, reason)

    # -- sums inside expressions --------------------------------------------------------------------------------
    def _with_sums_apart(self, expr: Expr, axes: tuple[str, ...], first: tuple[str, ...] = ()) -> Expr:
        """Return an expression in which reductions have tensors of their own, if that is cheaper.

        Loops over the variables in ``first`` are around the others: those of a sum that the expression is inside.
        """
        if not self.enabled("own-tensors"):
            return expr
        for each_sum in dict.fromkeys(outermost_reductions(expr)):
            if has_reduction(each_sum.body):
                expr = replaced(expr, each_sum, self._reduction(each_sum, tuple(free_variables(each_sum))))
        sums = list(dict.fromkeys(outermost_reductions(expr)))
        if any(has_reduction(each_sum.body) for each_sum in sums):
            return expr
        together = sum([self._in_place(each_sum, expr, axes, first) for each_sum in sums])
        if not self._pays(together, sum([self._apart(each_sum) for each_sum in sums])):
            return expr
        return self._with_parts(expr, axes, sums, "in place, it would be computed anew at each coordinate")

    def _with_arrays_apart(self, expr: Reduce, axes: tuple[str, ...]) -> Reduce:
        """Return a sum in which sums are tensors of their own, if its terms can be scanned apart then."""
        sums, inside = list(dict.fromkeys(outermost_reductions(expr.body))), tuple(free_variables(expr.body))
        if not sums or any(has_reduction(each_sum.body) for each_sum in sums):
            return expr
        trial: Expr = expr
        types = dict(self.types)
        for k, each_sum in enumerate(sums):
            array = Access(f"array {k}", tuple(free_variables(each_sum)))
            types[array.tensor] = TensorType.of(self.dtype(each_sum), Format.dense(len(array.indices)))
            trial = replaced(trial, each_sum, array)
        visited = self.estimates.space(inside)  # as long as terms are together
        if split(trial, types, axes, self.options, self.estimates.sizes) == trial:
            return expr
        if not self._pays(visited, sum([self._apart(each_sum) for each_sum in sums])):
            return expr
        reason = "with it in place, all coordinates would be visited"
        return replace(expr, body=self._with_parts(expr.body, inside, sums, reason))

    def _apart(self, part: Reduce) -> float:
        """Return the price of a reduction that is a tensor of its own."""
        return self._alone(part) + ENTRY * self.estimates.entries(part, free_set(part)) + KERNEL

    def _with_parts(self, expr: Expr, axes: tuple[str, ...], sums: Sequence[Reduce], reason: str) -> Expr:
        """Return an expression in which reductions are tensors of their own, as far as tensors can hold them."""
        for each_sum in sums:
            order = tuple([v for v in axes if v in free_set(each_sum)])
            order += tuple([v for v in free_variables(each_sum) if v not in order])
            target = self.part(self._reduction(each_sum, order), order, reason)
            if target is None:
                continue
            expr = replaced(expr, each_sum, target)
            self.rules["own-tensors"] = None
        return expr

    def _pays(self, together: float, apart: float) -> bool:
        return together > WORTH * apart and together - apart > GAIN

    def _in_place(self, part: Reduce, expr: Expr, axes: tuple[str, ...], first: tuple[str, ...]) -> float:
        """Return the price of a reduction where it stands: once for each coordinate of the loops that it needs."""
        times = sum(1 for each_sum in outermost_reductions(expr) if each_sum == part)
        # The loops around: those of the sparse operand with most axes, then those of the result.
        around_it = list(outermost(expr, lambda n: not n.children or isinstance(n, Reduce)))
        outside = [a for a in around_it if isinstance(a, Access) and not self.types[a.tensor].format.is_dense]
        lead = max(outside, key=lambda a: len(a.indices), default=None)
        order = [] if lead is None else [*levels_of(lead, self.types[lead.tensor].format)]
        order = [*dict.fromkeys([*first, *order, *axes, *free_variables(expr)])]
        mine, around = free_set(part), list[str]()
        if mine:
            last = max([order.index(v) for v in mine])
            around = order[: last + 1]
        visited = self._visited(expr, frozenset(around))
        return times * visited * each(part, self.estimates) + conversions(part, self.estimates)

    def _visited(self, expr: Expr, around: frozenset[str]) -> float:
        """Return the number of coordinates at which loops come to the sums of an expression: at all that may decide."""
        least = 1.0
        for part in factors(expr):
            if not has_reduction(part):
                least *= self.estimates.density(part, around & free_set(part)) if around & free_set(part) else 1.0
        return self.estimates.space(around) * least

    def _alone(self, part: Reduce) -> float:
        """Return the price of a reduction as a statement."""
        nests = Nests(self.estimates, [*free_variables(part.body)])
        numbers = tuple([nests.number(f) for f in factors(part.body) if not isinstance(f, Literal)])
        if len(numbers) < 2:
            return pointwise(part.body, self.estimates)
        summed = sum([nests.bits[v] for v in part.vars if v in nests.bits])
        return nests.price(numbers, summed)[0]

    # -- expensive parts ----------------------------------------------------------------------------------------
    def _with_dear_parts_apart(self, expr: Reduce) -> Reduce:
        """Return a reduction in which parts that fewer loops need are tensors, if they are expensive."""
        if not self.enabled("invariant-parts"):
            return expr
        parts, every = factors(expr.body), free_set(expr.body)
        visited = self.estimates.entries(expr.body, every)
        for k, part in enumerate(parts):
            axes = free_set(part)
            dense = all(self.types[a.tensor].format.is_dense for a in part.distinct_accesses)
            if not isinstance(part, Apply) or not axes or axes == every or weight(part) < DEAR or not dense:
                continue
            entries = self.estimates.space(axes)
            if self._pays(visited * weight(part), entries * (weight(part) + ENTRY) + KERNEL):
                order = tuple(free_variables(part))
                target = self.part(part, order, f"computed once for each {', '.join(order)}")
                if target is not None:
                    parts[k] = target
                    self.rules["invariant-parts"] = None
        return Reduce(expr.op, expr.vars, product(parts))

    # -- contractions -------------------------------------------------------------------------------------------
    def _contracted(self, expr: Reduce, axes: tuple[str, ...]) -> Expr:
        """Return a sum of products in terms of the parts by which it is cheapest."""
        parts = factors(expr.body)
        numbers_ = [f for f in parts if isinstance(f, Literal)]
        rest = [f for f in parts if not isinstance(f, Literal)]
        if not len(rest) + (len(expr.vars) > 1) >= 3 or len(rest) < 2 or not self._distributes(expr.body, rest):
            return expr
        nests = Nests(
            self.estimates, [*axes, *variables(expr.body)], partial(self._terms, dtype=self.dtype(expr)), self._is_array
        )
        numbers = [nests.number(f) for f in rest]
        summed = sum([nests.bits[v] for v in expr.vars])
        contraction = Contraction(nests, numbers, summed)
        whole = self._as_written(contraction, axes)
        price, way = self._cheapest(contraction)
        if not way.parts or not self._pays(whole, price):
            return expr
        tensors: dict[int, Access] = {}
        for number in way.parts:
            if self._emit(contraction, number, tensors) is None:
                return expr
        self.rules["contraction-order"] = None
        return _summed(nests, way, tensors, numbers_)

    def _distributes(self, body: Expr, rest: Sequence[Expr]) -> bool:
        """Return whether the order of a contraction changes neither dtypes nor what implicit values mean."""
        if (
            len(rest) > MOST_FACTORS
            or len({self.dtype(f) for f in rest}) > 1
            or self.dtype(body) != self.dtype(rest[0])
        ):
            return False
        for f in rest:
            dense = all(self.types[a.tensor].format.is_dense for a in f.distinct_accesses)
            if (
                not dense
                and not self._terms(f, self.dtype(body))
                and not same_value(typed_implicit_value(f, self.types), 0)
            ):
                return False
        return True

    def _terms(self, factor: Expr, dtype: str) -> list[list[Expr]]:
        """Return the factors of the terms of a sum that are scanned one after the other; none for another factor."""
        facts = Facts(self.dtype, self.types)
        terms = [term for _, term, by in terms_of(factor, dtype, facts) if not by]
        plain = all(is_plain(f, facts) for term in terms for f in term if not facts.is_dense(f))
        whole = facts.is_dense(factor) or not (plain and may_be_scanned(terms, facts) and self.enabled("split-sums"))
        return [] if whole or len(terms) < 2 else [[f for f in term if not isinstance(f, Literal)] for term in terms]

    def _as_written(self, contraction: Contraction, axes: tuple[str, ...]) -> float:
        """Return the price of one kernel: in one nest, or with sums apart inside it that no variable connects."""
        nests = contraction.nests
        nest = nests.price(contraction.factors, contraction.summed)[0]
        components = contraction.components(contraction.summed)
        if len(components) < 2:
            return nest
        free, apart = sum([nests.bits[v] for v in axes if v in nests.bits]), 0.0
        for component in components:
            touching = contraction.touching(component)
            mine, around = 0, 0
            for n in touching:
                mine |= nests.factors[n].mask & ~component
            for v in axes:  # the loops down to the last one that the sum needs
                if mine & ~around:
                    around |= nests.bits.get(v, 0)
            apart += nests.price(touching, component)[0] * nests.space(around) / nests.space(mine)
        return min(nest, apart + nests.joined(contraction.factors, free))

    def _cheapest(self, contraction: Contraction) -> tuple[float, Way]:
        """Return the cheapest way to compute a contraction, with its price."""
        nests, summed = contraction.nests, contraction.summed
        if summed.bit_count() > MOST_VARIABLES:
            ways = [contraction.one_by_one()]
        else:
            ways = [*self._ways(contraction)]
        priced = [(way.price + nests.price(way.factors, way.summed)[0], k) for k, way in enumerate(ways)]
        price, best = min(priced)
        return price, ways[best]

    def _ways(self, contraction: Contraction) -> Iterator[Way]:
        """Yield ways to sum: one connected set in the last nest, or none, and the others as parts."""
        components = contraction.components(contraction.summed)
        loose = tuple([n for n in contraction.factors if not contraction.nests.factors[n].mask & contraction.summed])
        for last in [*components, 0]:
            if not last and not loose and len(components) == 1:
                continue
            done = [contraction.part(c) for c in components if c != last]
            price, parts = sum([p for p, _ in done]), tuple([n for _, n in done])
            for way in contraction.of(last) if last else [Way(0.0, (), (), 0)]:
                yield Way(price + way.price, (*parts, *way.parts), (*loose, *parts, *way.factors), way.summed)

    def _emit(self, contraction: Contraction, number: int, tensors: dict[int, Access]) -> Access | None:
        """Return the tensor of a part, whose statement comes after those that it needs."""
        if number not in tensors:
            way = contraction.ways[number]
            for each_part in way.parts:
                if self._emit(contraction, each_part, tensors) is None:
                    return None
            order = contraction.nests.variables
            axes = tuple([order(bit)[0] for bit in contraction.orders[number]])
            body, entries = _summed(contraction.nests, way, tensors, ()), contraction.nests.factors[number].entries
            target = self.part(body, axes, "fewer operations than in one nest of loops", entries)
            if target is None:
                return None
            tensors[number] = target
        return tensors[number]

    # -- statements ---------------------------------------------------------------------------------------------
    def part(self, value: Expr, axes: tuple[str, ...], reason: str, entries: float | None = None) -> Access | None:
        """Return the tensor that holds an expression, which is computed once; None if no tensor can hold it."""
        known = self.known(value)
        if known is not None:
            self.rules["shared-parts"] = None
            return known
        target = Access(self.fresh(), axes)
        if entries is None:
            entries = self.estimates.entries(value, frozenset(axes))
        try:
            type, is_array = self._type(Assignment(target, value), entries)
        except WeftError:
            return None
        if is_array:
            self.arrays.add(target.tensor)
        self.estimates.add(target, type, entries)
        self._dtypes[target.tensor] = type.dtype
        self.add(target, value, reason)
        self.entries.append(float(f"{entries:.3g}"))
        return target

    def _is_array(self, axes: int, entries: float, space: float) -> bool:
        """Return whether a part is an array if it may be one: a vector costs no more than an array that is computed."""
        return entries > FULL * space or (axes == 1 and space <= self.elements)

    def _type(self, part: Assignment, entries: float) -> tuple[TensorType, bool]:
        """Return the type of a part, and whether it is stored as an array."""
        types, axes = self.types, part.target.indices
        fill = result_fill(part.value, types)
        full = self._is_array(len(axes), entries, self.estimates.space(axes)) or fill is None
        is_array = full and (self.is_dense or len(axes) < 2)
        format = Format.dense(len(axes)) if is_array else part_format(part, types)
        return TensorType.of(result_dtype(part.value, types), format, fill=0 if fill is None else fill), is_array


def _summed(nests: Nests, way: Way, tensors: dict[int, Access], more: Sequence[Expr]) -> Expr:
    """Return the sum of the last nest of a way: factors with most variables first, so that all spellings are one."""
    parts = [tensors[n] if n in tensors else nests.factors[n].expr for n in way.factors]
    ordered = sorted([f for f in parts if f is not None], key=lambda f: (-len(free_set(f)), expression_text(f)))
    body = product([*more, *ordered])
    over = nests.variables(way.summed)
    return Reduce("add", over, body) if over else body


def _stays_finite(expr: Expr) -> bool:
    """Return whether an expression of finite values is finite, if it does not overflow."""
    return all(not isinstance(node, Apply) or node.op in _FINITE or node.op in VALUE_DTYPES for node in walk(expr))


_FINITE = (
    *("add", "subtract", "multiply", "negative", "absolute", "maximum", "minimum", "square"),
    *("exp", "expm1", "sin", "cos", "sinh", "cosh", "tanh", "arctan", "select", "not_equal"),
)
