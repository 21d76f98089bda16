"""Loop orders: those an assignment allows, what each costs, and the best for every way of nesting it."""

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
"""How many nests are weighed at most, if all orders of their loops are: those of six variables."""


@dataclass
class LoopOrder:
    """A loop order for one term (or for the whole expression) and what it needs."""

    order: tuple[str, ...]
    cost: float
    converts: Mapping[Access, Format]


@dataclass
class Orders:
    """What a scheduler knows of an assignment, and the loop orders it can choose from.

    ``counted`` has the variables that are cut into strips where a statement is written, each with the one that counts
    inside a strip: workspaces are over that.
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
        indices = tuple(self.counted.get(v, v) for v in indices)
        stem = "t" if kind == "scalar" else "w"
        w = Workspace(self.fresh(stem), indices, kind, dtype, op, repeats)
        self.workspaces.append(w)
        self.dtypes[w.name] = dtype
        return Access(w.name, indices)

    def loops_of(self, expr: Expr) -> set[str]:
        """The loops that an expression depends on."""
        found = {v for a in distinct_accesses(expr) for v in a.indices}
        found |= {
            v
            for a in distinct_accesses(expr)
            if a.tensor in self.types
            for v in level_variables(a, self.types[a.tensor].format)
        }
        for d in self.view.derived:
            if d.var in found:
                found |= d.needs
        return found - {d.var for d in self.view.derived}

    def dtype(self, expr: Expr) -> str:
        return dtype_of(expr, self.dtypes)

    # -- orders -------------------------------------------------------------------------------------------------
    def orders(self, free: Sequence[str], bound: Sequence[str] = (), each: int = 1) -> Iterator[tuple[str, ...]]:
        """Loop orders to consider: all of a few variables, else those of the operands' own paths, and of the result's.

        ``each`` is how many nests are weighed for each of these orders.
        """
        variables = (*free, *bound)
        if factorial(len(variables)) * each <= _EXHAUSTIVE:
            yield from permutations(variables)
            return
        found = {variables: None}
        for access in (self.target, *distinct_accesses(self.value)):
            own = [
                v for v in dict.fromkeys(level_variables(access, self.types[access.tensor].format)) if v in variables
            ]
            others = [v for v in variables if v not in own]
            found |= {(*own, *others): None, (*others, *own): None}
        yield from found

    def store_first(self, old: str, new: str, reason: str, price: float) -> None:
        """Note that an operand is converted before anything else."""
        original, type = self.view.types[old], self.types[new]
        was = tuple(Access(old, a.indices) for a in distinct_accesses(self.value) if a.tensor == new)
        self.conversions.append(OperandConversion(old, new, type.format, reason, was))
        self.notes.append(f"{old} is converted from {original.format} to {type.format}: {reason}")
        self.price += price

    def impossible(self, converts: Iterable[Access], order: Sequence[str]) -> bool:
        """Whether a loop order asks for what cannot be: another order of a structured operand's levels."""
        kept = {*self.view.kept, *(new for _, new in self.view.looked_up)}
        return any(a.tensor in kept or not set(a.indices) <= set(order) for a in converts)

    def converted(
        self, expr: Expr, order: Sequence[str], how: Visit, loose: frozenset[str] = frozenset()
    ) -> Mapping[Access, Format]:
        """The accesses whose operand must be stored another way; those included that others' new ways ask for."""
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
        """The accesses whose operand does not fit, or would be walked many times, and how to store it instead.

        Of those known only what is to be stored in yet another way, as it would be walked many times now.
        """
        copying, into = self.variant.conversion, self.result.dtype
        unfit = conversions(expr, order, types, how, self.view.derived, copying, loose, dtype=into)
        for a in distinct_accesses(expr):
            if a in unfit and a not in known:
                never = self.impossible((a,), order)  # which the format does not matter for
                yield a, self.types[a.tensor].format if never else self.stored_as(a, order)
            elif not self.variant.conversion and self.is_to_be_found(expr, a, order, types):
                wanted = found_by_coordinate(known.get(a) or self.stored_as(a, order), self.variant.no_dense_levels)
                if wanted != known.get(a) and not self.impossible((*known, a), order):
                    yield a, wanted
            elif not self.variant.conversion and a not in known and passed_in_strides(expr, a, order, types):
                yield a, self.stored_as(a, order)

    def with_formats(self, formats: Mapping[Access, Format]) -> dict[str, TensorType]:
        """The types where operands are stored in other formats."""
        types = dict(self.types)
        for a, format in formats.items():
            types[a.tensor] = TensorType.of(types[a.tensor].dtype, format, fill=types[a.tensor].fill)
        return types

    def weigh(
        self, expr: Expr, order: tuple[str, ...], how: Visit = "merge", into: Access | None = None,
        entered: Mapping[str, float] = NOTHING, loose: frozenset[str] = frozenset(),
    ) -> LoopOrder:  # fmt: skip
        """What a nest costs that writes ``into`` an array in its innermost loop, if that is given."""
        converts = self.converted(expr, order, how, loose)
        if self.impossible(converts, order):
            return LoopOrder(order, inf, converts)
        types = self.with_formats(converts) if converts else self.types
        total = cost(expr, order, types, into, entered) * self.held_more(converts, types)
        return LoopOrder(order, total + self.price_of(converts), converts)

    def held_more(self, converts: Iterable[Access], types: Mapping[str, TensorType]) -> float:
        """Return how many more entries operands have than is typical of the formats in which the loops read them."""
        held = [(nonzeros(self.types[a.tensor].format), nonzeros(types[a.tensor].format)) for a in converts]
        return prod(max(was / now, 1.0) for was, now in held)

    def price_of(self, converts: Iterable[Access]) -> float:
        return sum(price(self.types[a.tensor].format) for a in converts)

    def stored_as(self, access: Access, order: Sequence[str]) -> Format:
        """The format in which an operand follows the loops."""
        place = {v: n for n, v in enumerate(order)}
        format = self.types[access.tensor].format
        return reordered(format, tuple(sorted(range(format.order), key=lambda axis: place[access.indices[axis]])))

    def is_to_be_found(self, expr: Expr, access: Access, order: Sequence[str], types: Mapping[str, TensorType]) -> bool:
        """Whether to store an operand so that its outermost coordinates are found, as it would be walked many times.

        What that is worth for a vector depends on how many entries it has.
        """
        return (self.variant.hash_lookup or len(access.indices) > 1) and restarts(
            expr, access, order, types
        ) is not None

    def walked_again(self, nests: Sequence[LoopOrder]) -> tuple[tuple[str, str], ...]:
        """Vectors that are walked many times, and for each the operand for whose coordinates."""
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
        """Whether the free variables come in the order in which the result's levels can be appended."""
        appended = append_chains(self.result.format)
        depth = appended[-1].last + 1 if appended else 0
        wanted: list[str] = []
        for v in level_variables(self.target, self.result.format)[:depth]:
            found = radix_components(v, self.view.derived)
            if not found:
                return False
            wanted += found
        return list(order[: len(wanted)]) == wanted

    def bound(self) -> tuple[str, ...]:
        """The loops that are reduced over."""
        return tuple(dict.fromkeys(v for r in reductions_of(self.value) for v in bound_variables(r)))

    def depth_of_result(self, order: Sequence[str]) -> int:
        """How many loops make every coordinate of the result known."""
        place = places(order, self.view.derived)
        found = [place[v] for v in self.target.indices if v in place]
        return 1 + max([*found, *(n for n, v in enumerate(order) if v in self.free)], default=-1)

    def best_gather(self) -> LoopOrder | None:
        """Free variables outside, every reduction inside: always possible, when operands are converted."""
        best: LoopOrder | None = None
        dense = self.result.format.is_dense
        reductions = reductions_of(self.value)
        within = nested(self.value)
        whole = reductions
        if within:
            reductions = [Reduce(r.op, bound_variables(r), strip(r)) for r in whole]
        many = factorial(max((len(r.vars) for r in reductions), default=0))
        for free in self.orders(self.free, each=many):
            if not self.result.format.is_dense and not self.follows_result(free):
                continue
            if self.depth_of_result((*free, *self.bound())) > len(free):
                continue  # a coordinate of the result follows from what is reduced over
            order, total = list(free), 0.0
            bare = without_reductions(self.value)
            plain: Visit = "gather" if dense and len(reductions) == 1 and bare is None else "merge"
            if dense and isinstance(self.value, Access):
                plain = "place"
            entered = {} if bare is None and len(whole) == 1 else iterations(self.value, self.types)
            for r, as_is in zip(reductions, whole, strict=True):
                inner = self.best_reduction(r, as_is, free, plain, {v: n for v, n in entered.items() if v in free})
                order += [v for v in inner.order if v not in free]
                total += inner.cost
            if reductions and any(
                not u.unique for a in distinct_accesses(self.value) for u in self.types[a.tensor].format.levels[:-1]
            ):
                total *= RUNS
            total += cost(bare if bare is not None else self.value, free, self.types) if entered else 0.0
            converts = self.converted(self.value, order, plain)
            nest = LoopOrder(tuple(order), total, converts)
            if self.impossible(nest.converts, order):
                continue
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
        """The loops of one reduction, inside the free ones that change it: ``entered`` is how often these are.

        Those inside it are part of it in ``flat``.
        """
        within = nested(as_is)
        changing = self.loops_of(flat)
        around = tuple(free[: max((n + 1 for n, v in enumerate(free) if v in changing), default=0)])
        bounds = self.orders(flat.vars, each=factorial(len(self.free)))
        orders = [b for b in bounds if self.nests(within, b)]
        orders = orders or [next(b for b in permutations(flat.vars) if self.nests(within, b))]
        nests = [self.weigh(flat, (*around, *b), how, entered=entered) for b in orders]
        for nest in nests if reductions_of(as_is.body) else ():
            types = self.with_formats(nest.converts)
            nested_cost = self.cost_of_nested(as_is, around, nest.order, types, entered)
            nest.cost += nested_cost - cost(flat, nest.order, types, entered=entered)
        return min(nests, key=lambda n: n.cost)

    def cost_of_nested(
        self, reduction: Reduce, around: Sequence[str], order: Sequence[str], types: Mapping[str, TensorType],
        entered: Mapping[str, float],
    ) -> float:  # fmt: skip
        """The iterations of a reduction and of those inside it, each in the loops it depends on."""
        loops = tuple(v for v in order if v in {*around, *reduction.vars})
        inside = reductions_of(reduction.body)
        bare = without_reductions(reduction.body)
        total = cost(bare, loops, types, entered=entered) if bare is not None else 0.0
        for r in inside:
            needed = self.loops_of(r)
            total += self.cost_of_nested(r, tuple(v for v in loops if v in needed), order, types, entered)
        return total if inside else cost(reduction, loops, types, entered=entered)

    def nests(self, within: Sequence[tuple[Reduce, Reduce]], order: Sequence[str]) -> bool:
        """Whether every reduction inside another comes after it where it must."""
        return all(self.comes_after(outer, inner, order) for outer, inner in within)

    def comes_after(self, outer: Reduce, inner: Reduce, order: Sequence[str]) -> bool:
        """Whether a reduction inside another has its loops inside, where it depends on what the other is over."""
        if not self.is_inside(outer, inner):
            return True
        place = {v: n for n, v in enumerate(order)}
        return all(place[v] < place[w] for v in outer.vars for w in inner.vars if v in place and w in place)

    def is_inside(self, outer: Reduce, inner: Reduce) -> bool:
        """Whether a reduction in the body of another depends on what that is over."""
        return bool(self.loops_of(inner) & set(outer.vars))

    def best_scatter(self, term: Expr, terms: int = 1) -> LoopOrder:
        """One of so many ``terms``, each in loops of its own."""
        bound = term.vars if isinstance(term, Reduce) else ()
        nests = [self.weigh_scatter(term, order) for order in self.orders(self.free, bound, each=terms)]
        for nest in nests if self.variant.parallel_loops else ():
            nest.cost *= 1 if nest.order[:1] and nest.order[0] in self.free else SHARED
        if (
            isinstance(term, Reduce)
            and term.op == "add"
            and not same_value(typed_implicit_value(term.body, self.types), 0)
        ):
            for nest in nests:  # what is absent is added as well, each time it comes up
                nest.cost = max(nest.cost, DIMENSION ** len(nest.order) * VECTORS)
        return min(nests, key=lambda n: n.cost)

    def weigh_scatter(self, term: Expr, order: tuple[str, ...]) -> LoopOrder:
        """What loops cost that accumulate into the result; in strips of it where one loop inside is reduced over."""
        *outer, around, last = order if len(order) > 2 else ("", "", "")
        if not (set(outer) <= set(self.free) and around not in self.free and last in self.free):
            return self.weigh(term, order, "scatter", self.target)
        nest = self.weigh(term, order, "scatter")
        if is_strided(self.target, last, self.result.format):
            nest.cost += TRANSPOSE * DIMENSION ** len(self.free)
        return nest

    def best_coordinate_list(self, term: Expr, terms: int = 1) -> LoopOrder:
        """Coordinates as they come; what is reduced inside the last free variable is gathered first."""

        def visit(order: tuple[str, ...]) -> Visit:
            return "scatter" if not order or order[-1] in self.free else "gather"

        bound = term.vars if isinstance(term, Reduce) else ()
        nests = (self.weigh(term, order, visit(order)) for order in self.orders(self.free, bound, each=terms))
        return min(nests, key=lambda n: n.cost)

    def best_blocks(self, term: Reduce) -> LoopOrder | None:
        """Appended result levels outside in order; the dense block below each is accumulated into."""
        variables = level_variables(self.target, self.result.format)
        appended = append_chains(self.result.format)
        if not appended or appended[-1].last + 1 == len(variables) or term.op != "add":
            return None
        outer, inner = variables[: appended[-1].last + 1], variables[appended[-1].last + 1 :]
        orders = ((*outer, *order) for order in self.orders(inner, term.vars))
        return min((self.weigh(term, order) for order in orders), key=lambda n: n.cost)

    def best_workspace(self, term: Reduce) -> LoopOrder | None:
        """Result levels outside in order, but the last, which is gathered below the reduction."""
        variables = level_variables(self.target, self.result.format)
        appended = append_chains(self.result.format)
        if not variables or not (
            self.result.format.is_dense or (appended and appended[-1].first == len(variables) - 1)
        ):
            return None
        *outer, last = variables
        best: LoopOrder | None = None
        for bound in self.orders(term.vars, each=len(term.vars)):
            for depth in range(max(len(bound), 1)):
                order = (*outer, *bound[: depth + 1], last, *bound[depth + 1 :])
                nest = self.weigh(term, order, "workspace", loose=frozenset((last, *term.vars)))
                if best is None or nest.cost < best.cost:
                    best = nest
        if best is not None:
            best.cost += (CHILD_COST if appended else 1.0) * nonzeros(self.result.format)
        return best
