"""Loop orders: those that an assignment allows, the cost of each, and the cheapest for each strategy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import factorial, inf, prod
from typing import Any

from ..analysis.append_chains import append_chains
from ..analysis.derived_variables import level_variables, radix_components
from ..analysis.implicit_values import same_value
from ..analysis.iteration_graph import Visit, conversions, distinct_accesses, places, strip, typed_implicit_value
from ..analysis.terms import bound_variables, dtype_of, nested, reductions_of, without_reductions
from ..concrete_notation.nodes import RegisterStrips, Split, Workspace
from ..formats import Format, TensorType
from ..index_notation.nodes import Access, Expr, Reduce
from .cost_model import (
    CONVERT,
    DIMENSION,
    NOTHING,
    RUNS,
    SHARED,
    TRANSPOSE,
    VECTORS,
    cost,
    is_strided,
    iterations,
    nonzeros,
    passed_in_strides,
    price,
    restarts,
)
from .format_views import FormatView
from .operand_conversions import OperandConversion, found_by_coordinate, reordered
from .variant import Variant

__all__ = ["LoopOrder", "Orders"]

CHILD_COST = 4.0
_EXHAUSTIVE = 720
"""Largest number of nests for which all loop orders are tried: that of six variables."""


@dataclass
class LoopOrder:
    """A loop order for one term, or for the whole expression, with its cost.

    Parameters
    ----------
    order : tuple of str
        Variables of the loops, outermost first.
    cost : float
        Estimated cost, conversions included; infinite if the order is impossible.
    converts : mapping
        For each access whose operand must be stored another way its new format.
    """

    order: tuple[str, ...]
    cost: float
    converts: Mapping[Access, Format]


@dataclass
class Orders:
    """State of a scheduler, and the loop orders that it can choose from.

    The mapping ``counted`` has the variables that are cut into strips while a statement is written. Each has the
    variable that counts inside a strip: workspaces are over the latter.
    """

    view: FormatView
    variant: Variant
    notes: list[str] = field(default_factory=list)
    workspaces: list[Workspace] = field(default_factory=list)
    conversions: list[OperandConversion] = field(default_factory=list)
    splits: list[Split | RegisterStrips] = field(default_factory=list)
    counted: dict[str, str] = field(default_factory=dict)
    price: float = 0.0

    def __post_init__(self) -> None:
        self.assignment, self.types = self.view.assignment, dict(self.view.types)
        self.target = self.assignment.target
        self.result = self.types[self.target.tensor]
        self.dtypes = {name: type.dtype for name, type in self.types.items()}
        self.value = self.assignment.value
        self.free = self.view.free_loops
        self.origins = {new: old for old, new in (*self.view.stored_plainly, *self.view.looked_up)}
        self.taken = {*self.types, *(v for a in distinct_accesses(self.value) for v in a.indices)}
        for old, new in self.view.stored_plainly:
            reason = f"{old} is not walked by the levels of {self.view.types[old].format}"
            self.store_first(old, new, reason, CONVERT * nonzeros(self.view.types[old].format))
        for old, new in self.view.looked_up:
            self.store_first(old, new, f"the table of {old} is asked for whole coordinates, no array changes", 0.0)

    # -- naming -------------------------------------------------------------------------------------------------
    # A name that no tensor, variable or workspace has yet.
    def fresh(self, stem: str) -> str:
        name, n = stem, 0
        while name in self.taken:
            n += 1
            name = f"{stem}{n}"
        self.taken.add(name)
        return name

    def workspace(
        self, indices: tuple[str, ...], kind: Any, dtype: str, op: str = "add", repeats: bool = False
    ) -> Access:
        # Inside a strip, a workspace is only as large as the strip.
        indices = tuple(self.counted.get(v, v) for v in indices)
        stem = "t" if kind == "scalar" else "w"
        w = Workspace(self.fresh(stem), indices, kind, dtype, op, repeats)
        self.workspaces.append(w)
        self.dtypes[w.name] = dtype
        return Access(w.name, indices)

    def loops_of(self, expr: Expr) -> set[str]:
        """Return the loops that an expression depends on."""
        found = {v for a in distinct_accesses(expr) for v in a.indices}
        found |= {
            v
            for a in distinct_accesses(expr)
            if a.tensor in self.types
            for v in level_variables(a, self.types[a.tensor].format)
        }
        # A derived variable depends on the loops from which it follows.
        for d in self.view.derived:
            if d.var in found:
                found |= d.needs
        return found - {d.var for d in self.view.derived}

    def dtype(self, expr: Expr) -> str:
        return dtype_of(expr, self.dtypes)

    # -- orders -------------------------------------------------------------------------------------------------
    def orders(self, free: Sequence[str], bound: Sequence[str] = (), each: int = 1) -> Iterator[tuple[str, ...]]:
        """Yield the loop orders to consider.

        Few variables have all permutations. Many variables have the paths of the operands and of the result. The caller
        weighs ``each`` nests for every order.
        """
        variables = (*free, *bound)
        if factorial(len(variables)) * each <= _EXHAUSTIVE:
            yield from permutations(variables)
            return
        found = {variables: None}
        # A path is tried outside all other loops, and inside them.
        for access in (self.target, *distinct_accesses(self.value)):
            own = [
                v for v in dict.fromkeys(level_variables(access, self.types[access.tensor].format)) if v in variables
            ]
            others = [v for v in variables if v not in own]
            found |= {(*own, *others): None, (*others, *own): None}
        yield from found

    def store_first(self, old: str, new: str, reason: str, price: float) -> None:
        """Record that an operand is converted before anything else, at the given cost."""
        original, type = self.view.types[old], self.types[new]
        was = tuple(Access(old, a.indices) for a in distinct_accesses(self.value) if a.tensor == new)
        self.conversions.append(OperandConversion(old, new, type.format, reason, was))
        self.notes.append(f"{old} is converted from {original.format} to {type.format}: {reason}")
        self.price += price

    def impossible(self, converts: Iterable[Access], order: Sequence[str]) -> bool:
        """Return whether a loop order needs a conversion that cannot be made.

        A structured operand that is kept cannot be stored in another order of its levels. An index without a loop
        cannot be ordered.
        """
        kept = {*self.view.kept, *(new for _, new in self.view.looked_up)}
        return any(a.tensor in kept or not set(a.indices) <= set(order) for a in converts)

    def converted(
        self, expr: Expr, order: Sequence[str], how: Visit, loose: frozenset[str] = frozenset()
    ) -> Mapping[Access, Format]:
        """Return the accesses whose operand must be stored another way, with the new formats.

        A new format of one operand may make the loops iterate another one many times, which then needs a new format,
        too.
        """
        found: dict[Access, Format] = {}
        types = self.types
        while changed := dict(self.misfits(expr, order, how, types, found, loose)):
            found |= changed
            if self.impossible(found, order):
                break
            types = self.with_formats(found)
        return found

    def misfits(
        self, expr: Expr, order: Sequence[str], how: Visit, types: Mapping[str, TensorType],
        known: Mapping[Access, Format], loose: frozenset[str],
    ) -> Iterator[tuple[Access, Format]]:  # fmt: skip
        """Yield the accesses whose operand needs another format, with that format.

        Such an operand does not fit the loops, or would be iterated many times.

        An access in ``known`` has a new format already, and is yielded again only if it would be iterated many times.
        """
        copying, into = self.variant.conversion, self.result.dtype
        unfit = conversions(expr, order, types, how, self.view.derived, copying, loose, dtype=into)
        for a in distinct_accesses(expr):
            # First case: the loops cannot read the operand as it is stored.
            if a in unfit and a not in known:
                never = self.impossible((a,), order)  # then any format will do
                yield a, self.types[a.tensor].format if never else self.stored_as(a, order)
            # Second case: the loops would iterate its outermost level many times. Third case: they would pass it in
            # strides.
            elif not self.variant.conversion and self.is_to_be_found(expr, a, order, types):
                wanted = found_by_coordinate(known.get(a) or self.stored_as(a, order), self.variant.no_dense_levels)
                if wanted != known.get(a) and not self.impossible((*known, a), order):
                    yield a, wanted
            elif not self.variant.conversion and a not in known and passed_in_strides(expr, a, order, types):
                yield a, self.stored_as(a, order)

    def with_formats(self, formats: Mapping[Access, Format]) -> dict[str, TensorType]:
        """Return the types of all tensors, with some operands stored in other formats."""
        types = dict(self.types)
        for a, format in formats.items():
            types[a.tensor] = TensorType.of(types[a.tensor].dtype, format, fill=types[a.tensor].fill)
        return types

    def weigh(
        self, expr: Expr, order: tuple[str, ...], how: Visit = "merge", into: Access | None = None,
        entered: Mapping[str, float] = NOTHING, loose: frozenset[str] = frozenset(),
    ) -> LoopOrder:  # fmt: skip
        """Return a loop order with its cost, infinite if a needed conversion is impossible.

        If ``into`` is given, the innermost loop writes that array. The iterations of loops in ``entered`` are given.
        """
        converts = self.converted(expr, order, how, loose)
        if self.impossible(converts, order):
            return LoopOrder(order, inf, converts)
        types = self.with_formats(converts) if converts else self.types
        total = cost(expr, order, types, into, entered) * self.held_more(converts, types)
        return LoopOrder(order, total + self.price_of(converts), converts)

    def held_more(self, converts: Iterable[Access], types: Mapping[str, TensorType]) -> float:
        """Return the factor by which operands have more entries than is typical of their converted formats."""
        held = [(nonzeros(self.types[a.tensor].format), nonzeros(types[a.tensor].format)) for a in converts]
        return prod(max(was / now, 1.0) for was, now in held)

    def price_of(self, converts: Iterable[Access]) -> float:
        return sum(price(self.types[a.tensor].format) for a in converts)

    def stored_as(self, access: Access, order: Sequence[str]) -> Format:
        """Return the format in which an operand follows the loops."""
        place = {v: n for n, v in enumerate(order)}
        format = self.types[access.tensor].format
        return reordered(format, tuple(sorted(range(format.order), key=lambda axis: place[access.indices[axis]])))

    def is_to_be_found(self, expr: Expr, access: Access, order: Sequence[str], types: Mapping[str, TensorType]) -> bool:
        """Return whether to store an operand so that its outermost coordinates are located.

        The loops would otherwise iterate them many times. For a vector, this pays only if it has many entries, which
        the variant says.
        """
        return (self.variant.hash_lookup or len(access.indices) > 1) and restarts(
            expr, access, order, types
        ) is not None

    def walked_again(self, nests: Sequence[LoopOrder]) -> tuple[tuple[str, str], ...]:
        """Return vectors that are iterated many times, each with the operand whose coordinates cause the iterations."""
        found = []
        for nest in nests:
            types = self.with_formats(nest.converts)
            for a in distinct_accesses(self.value):
                other = restarts(self.value, a, nest.order, types) if len(a.indices) == 1 else None
                if other is not None:
                    vector, driver = (self.origins.get(x.tensor, x.tensor) for x in (a, other))
                    found.append((vector, driver))
        return tuple(dict.fromkeys(found))

    def follows_result(self, order: Sequence[str]) -> bool:
        """Return whether the loops over free variables have the order in which the result's levels are appended."""
        appended = append_chains(self.result.format)
        depth = appended[-1].last + 1 if appended else 0
        wanted: list[str] = []
        for v in level_variables(self.target, self.result.format)[:depth]:
            # A derived level variable is in order if its digits are, the most significant outermost.
            found = radix_components(v, self.view.derived)
            if not found:
                return False
            wanted += found
        return list(order[: len(wanted)]) == wanted

    def bound(self) -> tuple[str, ...]:
        """Return the loops that are reduced over."""
        return tuple(dict.fromkeys(v for r in reductions_of(self.value) for v in bound_variables(r)))

    def depth_of_result(self, order: Sequence[str]) -> int:
        """Return the number of outer loops after which every coordinate of the result is known."""
        place = places(order, self.view.derived)
        found = [place[v] for v in self.target.indices if v in place]
        return 1 + max([*found, *(n for n, v in enumerate(order) if v in self.free)], default=-1)

    def best_gather(self) -> LoopOrder | None:
        """Return the cheapest nest with free variables outside and every reduction inside; None if there is none.

        The strategy is always possible if all operands can be converted.
        """
        best: LoopOrder | None = None
        dense = self.result.format.is_dense
        # Nested reductions are weighed as one reduction over all of their variables.
        reductions = reductions_of(self.value)
        within = nested(self.value)
        whole = reductions
        if within:
            reductions = [Reduce(r.op, bound_variables(r), strip(r)) for r in whole]
        # The orders of the bound variables multiply the number of nests.
        many = factorial(max((len(r.vars) for r in reductions), default=0))
        for free in self.orders(self.free, each=many):
            if not self.result.format.is_dense and not self.follows_result(free):
                continue
            if self.depth_of_result((*free, *self.bound())) > len(free):
                continue  # a coordinate of the result follows from what is reduced over
            order, total = list(free), 0.0
            bare = without_reductions(self.value)
            # A lone reduction into a dense result sums entries one by one, and a copy writes them in place. Anything
            # else merges operands.
            plain: Visit = "gather" if dense and len(reductions) == 1 and bare is None else "merge"
            if dense and isinstance(self.value, Access):
                plain = "place"
            entered = {} if bare is None and len(whole) == 1 else iterations(self.value, self.types)
            # Each reduction has loops of its own, inside those free ones that change it.
            for r, as_is in zip(reductions, whole, strict=True):
                inner = self.best_reduction(r, as_is, free, plain, {v: n for v, n in entered.items() if v in free})
                order += [v for v in inner.order if v not in free]
                total += inner.cost
            # Sums of duplicates need the ends of runs of equal coordinates.
            if reductions and any(
                not u.unique for a in distinct_accesses(self.value) for u in self.types[a.tensor].format.levels[:-1]
            ):
                total *= RUNS
            total += cost(bare if bare is not None else self.value, free, self.types) if entered else 0.0
            # Conversions are priced for the whole nest, whose loops decide which operands do not fit.
            converts = self.converted(self.value, order, plain)
            nest = LoopOrder(tuple(order), total, converts)
            if self.impossible(nest.converts, order):
                continue
            # Without reductions the nest is weighed as a whole. Beside a reduction, operands outside it pay for their
            # own conversions.
            if not reductions:
                nest = self.weigh(self.value, free, plain, self.target if dense else None)
            elif bare is not None:
                nest.cost += self.price_of(a for a in distinct_accesses(bare) if a in nest.converts)
            if best is None or nest.cost < best.cost:
                best = nest
        return best

    def best_reduction(
        self, flat: Reduce, as_is: Reduce, free: Sequence[str], how: Visit, entered: Mapping[str, float]
    ) -> LoopOrder:
        """Return the cheapest loops of one reduction, inside those free loops that change it.

        The mapping ``entered`` has the number of times that the free loops run. Nested reductions are merged in
        ``flat``, and still separate in ``as_is``.
        """
        within = nested(as_is)
        changing = self.loops_of(flat)
        around = tuple(free[: max((n + 1 for n, v in enumerate(free) if v in changing), default=0)])
        bounds = self.orders(flat.vars, each=factorial(len(self.free)))
        orders = [b for b in bounds if self.nests(within, b)]
        # The order of the paths may not respect the nesting: then any permutation that does will do.
        orders = orders or [next(b for b in permutations(flat.vars) if self.nests(within, b))]
        nests = [self.weigh(flat, (*around, *b), how, entered=entered) for b in orders]
        # Replace the cost of the merged loops by that of the nested ones.
        for nest in nests if reductions_of(as_is.body) else ():
            types = self.with_formats(nest.converts)
            nested_cost = self.cost_of_nested(as_is, around, nest.order, types, entered)
            nest.cost += nested_cost - cost(flat, nest.order, types, entered=entered)
        return min(nests, key=lambda n: n.cost)

    def cost_of_nested(
        self, reduction: Reduce, around: Sequence[str], order: Sequence[str], types: Mapping[str, TensorType],
        entered: Mapping[str, float],
    ) -> float:  # fmt: skip
        """Return the iterations of a reduction and of those inside it, each in the loops that it depends on."""
        loops = tuple(v for v in order if v in {*around, *reduction.vars})
        inside = reductions_of(reduction.body)
        bare = without_reductions(reduction.body)
        total = cost(bare, loops, types, entered=entered) if bare is not None else 0.0
        for r in inside:
            needed = self.loops_of(r)
            total += self.cost_of_nested(r, tuple(v for v in loops if v in needed), order, types, entered)
        return total if inside else cost(reduction, loops, types, entered=entered)

    def nests(self, within: Sequence[tuple[Reduce, Reduce]], order: Sequence[str]) -> bool:
        """Return whether every reduction inside another one comes after it if it must."""
        return all(self.comes_after(outer, inner, order) for outer, inner in within)

    def comes_after(self, outer: Reduce, inner: Reduce, order: Sequence[str]) -> bool:
        """Return whether a reduction inside another has its loops inside, if it depends on that one's variables."""
        if not self.is_inside(outer, inner):
            return True
        place = {v: n for n, v in enumerate(order)}
        return all(place[v] < place[w] for v in outer.vars for w in inner.vars if v in place and w in place)

    def is_inside(self, outer: Reduce, inner: Reduce) -> bool:
        """Return whether the inner reduction depends on the variables of the outer one."""
        return bool(self.loops_of(inner) & set(outer.vars))

    def best_scatter(self, term: Expr, terms: int = 1) -> LoopOrder:
        """Return the cheapest nest that accumulates a term into the result.

        The term is one of ``terms``, each of which has loops of its own.
        """
        bound = term.vars if isinstance(term, Reduce) else ()
        nests = [self.weigh_scatter(term, order) for order in self.orders(self.free, bound, each=terms)]
        # Threads can share the loops only if the outermost one is over the result.
        for nest in nests if self.variant.parallel_loops else ():
            nest.cost *= 1 if nest.order[:1] and nest.order[0] in self.free else SHARED
        if (
            isinstance(term, Reduce)
            and term.op == "add"
            and not same_value(typed_implicit_value(term.body, self.types), 0)
        ):
            for nest in nests:  # implicit entries are added, too: every loop visits all coordinates
                nest.cost = max(nest.cost, DIMENSION ** len(nest.order) * VECTORS)
        return min(nests, key=lambda n: n.cost)

    def weigh_scatter(self, term: Expr, order: tuple[str, ...]) -> LoopOrder:
        """Return a nest that accumulates into the result, with its cost.

        If there is one reduced loop around an innermost free one, the nest accumulates into register strips. The result
        is then not written in the innermost loop.
        """
        # Strips need free loops outside, then one reduced loop, then one free loop.
        *outer, around, last = order if len(order) > 2 else ("", "", "")
        if not (set(outer) <= set(self.free) and around not in self.free and last in self.free):
            return self.weigh(term, order, "scatter", self.target)
        nest = self.weigh(term, order, "scatter")
        if is_strided(self.target, last, self.result.format):
            nest.cost += TRANSPOSE * DIMENSION ** len(self.free)
        return nest

    def best_coordinate_list(self, term: Expr, terms: int = 1) -> LoopOrder:
        """Return the cheapest nest that appends coordinates in the order in which they are computed.

        A reduction inside the last free variable is summed first.
        """

        def visit(order: tuple[str, ...]) -> Visit:
            return "scatter" if not order or order[-1] in self.free else "gather"

        bound = term.vars if isinstance(term, Reduce) else ()
        nests = (self.weigh(term, order, visit(order)) for order in self.orders(self.free, bound, each=terms))
        return min(nests, key=lambda n: n.cost)

    def best_blocks(self, term: Reduce) -> LoopOrder | None:
        """Return the cheapest nest with the appended levels of the result outside, in order; None if there is none.

        The dense block below each appended coordinate is accumulated into.
        """
        variables = level_variables(self.target, self.result.format)
        appended = append_chains(self.result.format)
        if not appended or appended[-1].last + 1 == len(variables) or term.op != "add":
            return None
        # Below the appended levels, the loops may have any order.
        outer, inner = variables[: appended[-1].last + 1], variables[appended[-1].last + 1 :]
        orders = ((*outer, *order) for order in self.orders(inner, term.vars))
        return min((self.weigh(term, order) for order in orders), key=lambda n: n.cost)

    def best_workspace(self, term: Reduce) -> LoopOrder | None:
        """Return the cheapest nest that collects the result's last level in a workspace; None if there is none.

        The result's other levels are outside, in order. The last level is below the reduction.
        """
        variables = level_variables(self.target, self.result.format)
        appended = append_chains(self.result.format)
        if not variables or not (
            self.result.format.is_dense or (appended and appended[-1].first == len(variables) - 1)
        ):
            return None
        *outer, last = variables
        best: LoopOrder | None = None
        # The last variable can follow any loop of the reduction: a workspace takes its coordinates in any order.
        for bound in self.orders(term.vars, each=len(term.vars)):
            for depth in range(max(len(bound), 1)):
                order = (*outer, *bound[: depth + 1], last, *bound[depth + 1 :])
                nest = self.weigh(term, order, "workspace", loose=frozenset((last, *term.vars)))
                if best is None or nest.cost < best.cost:
                    best = nest
        # Every entry is copied from the workspace to the result, which costs more if it is appended.
        if best is not None:
            best.cost += (CHILD_COST if appended else 1.0) * nonzeros(self.result.format)
        return best
