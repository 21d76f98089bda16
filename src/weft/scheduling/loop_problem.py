"""Loop problems: one view of an assignment, and what its terms allow a strategy to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import count, pairwise
from math import prod

from ..analysis.contributions import levels_to_gather, takes_values
from ..analysis.derived_variables import DerivedVariable, radix_components
from ..analysis.implicit_values import is_never_empty, typed_implicit_value
from ..analysis.iteration_graph import places, types_of
from ..analysis.terms import Dtypes, additive_terms
from ..analysis.verdicts import Verdict
from ..concrete_notation.values import same_value
from ..formats import Format, TensorType
from ..formats.append_chains import append_chains
from ..formats.format import dtypes_of, level_variables
from ..index_notation.nodes import Access, Expr, Reduce
from ..index_notation.operator_table import OPERATORS
from ..index_notation.traversal import bound_variables, has_reduction, outermost_reductions, replaced
from ..records import cached, record
from ..variant import Variant
from .cost_model import CONVERT, PLACED, density, nonzeros
from .format_views import FormatView


@record
class LoopOrder:
    """A loop order for one term, or for the whole expression, with its cost."""

    order: tuple[str, ...]  # Variables of the loops, outermost first
    cost: float  # Estimated cost, conversions included; infinite if the order is impossible
    verdicts: Mapping[Access, Verdict]  # what the loops do with each operand

    @cached
    def converts(self) -> Mapping[Access, Format]:
        """Return the new format of each access whose operand is stored another way."""
        return {a: verdict.format for a, verdict in self.verdicts.items() if verdict.format is not None}


@lru_cache(maxsize=4096)
def _number(*parts: object) -> int:
    return next(_NUMBERS)


_NUMBERS = count()


@record
class LoopProblem:
    """A view of an assignment whose loops are to be found, for one variant."""

    view: FormatView
    variant: Variant  # the assumptions for which loops are scheduled
    wanted: Format  # the format that the result gets at the end, if the loops do not write it

    # -- the assignment -----------------------------------------------------------------------------------------
    @cached
    def value(self) -> Expr:
        """Return the right-hand side."""
        return self.view.assignment.value

    @cached
    def target(self) -> Access:
        """Return the result."""
        return self.view.assignment.target

    @cached
    def dtypes(self) -> Mapping[str, str]:
        """Return the dtypes of all tensors."""
        return dtypes_of(self.view.types)

    @cached
    def result(self) -> TensorType:
        """Return the type of the result."""
        return self.view.types[self.target.tensor]

    @cached
    def bound(self) -> tuple[str, ...]:
        """Return the loops that are reduced over."""
        return tuple(dict.fromkeys(v for r in outermost_reductions(self.value) for v in bound_variables(r)))

    @cached
    def origins(self) -> Mapping[str, str]:
        """Return the user's names of operands that have others in the view."""
        return {new: old for old, new in (*self.view.stored_plainly, *self.view.looked_up)}

    @cached
    def as_stored(self) -> frozenset[str]:
        """Return the names of operands that can be stored in no other way."""
        return self.view.kept.union(new for _, new in self.view.looked_up)

    @cached
    def names(self) -> frozenset[str]:
        """Return the names of tensors and index variables."""
        return frozenset({*self.view.types, *(v for a in self.value.distinct_accesses for v in a.indices)})

    @cached
    def price_of_operands(self) -> float:
        """Return the cost of storing operands plainly before the loops."""
        return sum(CONVERT * nonzeros(self.view.types[old].format) for old, _ in self.view.stored_plainly)

    @cached
    def density(self) -> float:
        """Return how many times as many entries operands stored plainly have as is typical, since they had blocks."""
        return prod(density(self.view.types[old].format) for old, _ in self.view.stored_plainly)

    @cached
    def price_of_result(self) -> float:
        """Return the cost of converting values to the format of the result."""
        if self.result.format == self.wanted:
            return 0.0
        each = PLACED if self.inserts and takes_values(self.wanted) else CONVERT
        return each * nonzeros(self.result.format) * density(self.wanted)

    def most_loops(self, price: float) -> float:
        """Return what loops may cost at most, or a little less, if the conversions beside them are to have a price."""
        return (price - self.price_of_result - self.price_of_operands) / self.density * (1 + 1e-9)

    @property
    def inserts(self) -> bool:
        """True if values can be inserted into a result to which the loops do not append."""
        return self.enabled("direct-insertion") and not self.variant.conversion

    @cached
    def outermost_to_add(self) -> tuple[str, ...] | None:
        """Return the variables whose loops must be outermost to add values in the result; None if they cannot be."""
        depth = levels_to_gather(self.wanted, bool(self.bound)) if self.inserts else None
        return None if depth is None else level_variables(self.target, self.wanted)[:depth]

    def enabled(self, optimisation: str) -> bool:
        """Return whether an optimisation is switched on."""
        return self.variant.options.enabled(optimisation)

    @cached
    def dtype(self) -> Dtypes:
        """Return the function that returns the dtype of an expression."""
        return Dtypes(self.dtypes)

    @cached
    def _numbers(self) -> dict[Expr, int]:
        return {}

    def number_of(self, expr: Expr) -> int:
        """Return a number that an expression has in all problems in which operands are used in the same ways."""
        number = self._numbers.get(expr)
        if number is None:
            view = self.view
            within = (view.kept, view.looked_up, view.derived, self.variant, self.result.dtype)
            number = self._numbers[expr] = _number(expr, types_of(expr, view.types), within)
        return number

    def loops_of(self, expr: Expr) -> set[str]:
        """Return the loops that an expression depends on."""
        return loops_of(expr, self.view.types, self.view.derived)

    def stored_again(
        self, expr: Expr, formats: Mapping[Access, Format]
    ) -> tuple[Expr, Mapping[str, TensorType], Mapping[Access, Access]]:
        """Return an expression whose operands are stored in other formats, the types, and the accesses it had before.

        An operand that is read by several accesses gets a new name for each that reads it in another format.
        """
        if not formats:
            return expr, self.view.types, {}
        times = Counter(a.tensor for a in expr.distinct_accesses)
        types, origins = dict(self.view.types), dict[Access, Access]()
        for a, format in formats.items():
            old, name = self.view.types[a.tensor], a.tensor
            if times[a.tensor] > 1:
                new = Access(f"{a.tensor}({','.join(a.indices)})", a.indices)
                expr, origins[new], name = replaced(expr, a, new), a, new.tensor
            types[name] = TensorType.of(old.dtype, format, fill=old.fill)
        return expr, types, origins

    # -- the assignment as a sum of terms -----------------------------------------------------------------------
    @cached
    def terms(self) -> Sequence[tuple[bool, Expr]]:
        """Return the terms of the sum. With each comes whether it is subtracted."""
        return additive_terms(self.value, self.dtype)

    @property
    def only(self) -> Expr | None:
        """The term of an assignment with exactly one; None otherwise."""
        return self.terms[0][1] if len(self.terms) == 1 else None

    @property
    def dense(self) -> bool:
        """True if the result has random access."""
        return self.result.format.is_dense

    @property
    def accumulating(self) -> bool:
        """True if the terms are added to the values that the result holds."""
        return self.view.assignment.op is not None

    @cached
    def additive(self) -> bool:
        """Return whether each term is one sum around all of it, or has no reduction."""
        return all(not has_reduction(t.body if isinstance(t, Reduce) else t) for _, t in self.terms) and all(
            not isinstance(t, Reduce) or t.op == "add" for _, t in self.terms
        )

    @cached
    def neutral(self) -> bool:
        """Return whether implicit entries of each term add nothing, so that terms can be accumulated one by one."""
        if not same_value(self.result.fill, 0):
            return False
        return self.dense or all(same_value(typed_implicit_value(t, self.view.types), 0) for _, t in self.terms)

    def folds(self, negative: bool, term: Expr, counting: bool = False) -> bool:
        """Return whether a term can be reduced into the result entry by entry, by another operator than addition.

        The entries can come in any order. If implicit entries change the reduction, their number must be known. Such a
        reduction folds only with ``counting``.
        """
        if negative or not isinstance(term, Reduce) or term.op == "add" or has_reduction(term.body):
            return False
        # An element starts as the operator's neutral value, which implicit entries must not change.
        dtype, row = self.dtype(term.body), OPERATORS[term.op]
        absent = typed_implicit_value(term.body, self.view.types)
        neutral = same_value(absent, row.start(dtype)) or (
            counting and is_never_empty(term.op, absent) and same_value(absent, self.result.fill)
        )
        # Duplicates would have to be summed before they are reduced.
        once = all(self.view.types[a.tensor].format.is_unique for a in term.distinct_accesses)
        # Reductions that skip NaN, and so start from it, are not folded.
        starts = row.start(dtype) is not None and not row.skips_nan
        return starts and neutral and once and dtype == self.result.dtype

    # -- the result among the loops -----------------------------------------------------------------------------
    @cached
    def order_of_result(self) -> tuple[str, ...] | None:
        """Return the outermost loops in whose order the result's levels are appended; None if no order is theirs."""
        appended = append_chains(self.result.format)
        depth = appended[-1].last + 1 if appended else 0
        digits: list[str] = []
        for v in level_variables(self.target, self.result.format)[:depth]:
            # A derived level variable is in order if its digits are, the most significant outermost.
            components = radix_components(v, self.view.derived)
            if not components:
                return None
            digits += components
        return tuple(digits)

    def follows_result(self, order: Sequence[str]) -> bool:
        """Return whether the loops over free variables have the order in which the result's levels are appended."""
        digits = self.order_of_result
        return digits is not None and tuple(order[: len(digits)]) == digits

    def depth_of_result(self, order: Sequence[str]) -> int:
        """Return the number of outer loops after which every coordinate of the result is known."""
        place = places(order, self.view.derived)
        depths = [place[v] for v in self.target.indices if v in place]
        return 1 + max([*depths, *(n for n, v in enumerate(order) if v in self.view.free_loops)], default=-1)

    def passes_edge(self, v: str) -> bool:
        """Return whether a loop over all values of ``v`` leaves the tensor, as blocks without guards at its edge do."""
        indices = {u for a in (*self.value.distinct_accesses, self.target) for u in a.indices}
        return any(d.inside and v in d.needs and d.var in indices for d in self.view.derived)


def loops_of(expr: Expr, types: Mapping[str, TensorType], derived: Sequence[DerivedVariable]) -> set[str]:
    """Return the loops that an expression depends on."""
    variables = {v for a in expr.distinct_accesses for v in a.indices}
    variables |= {
        v for a in expr.distinct_accesses if a.tensor in types for v in level_variables(a, types[a.tensor].format)
    }
    # A derived variable depends on the loops from which it follows.
    for d in derived:
        if d.var in variables:
            variables |= d.needs
    return variables - {d.var for d in derived}


def single_loops(expr: Expr, types: Mapping[str, TensorType]) -> set[str]:
    """Return the variables of branchless levels, whose loops have one iteration, so that nothing is gathered inside.

    Such a level has one coordinate for each of the level above. If the level above may hold duplicates in order, the
    loop visits a segment of several entries (iterator chaining), whose sum is gathered.
    """
    steps = [step for a in expr.distinct_accesses for step in pairwise(types[a.tensor].levels_of(a))]
    return {v for (_, above), (v, level) in steps if level.branchless and (above.unique or not above.ordered)}


def is_one_loop(loops: Sequence[str], expr: Expr, types: Mapping[str, TensorType]) -> bool:
    """Return whether loops inside each other take no more iterations than one of them."""
    return len(loops) == 1 or len({*loops} - single_loops(expr, types)) == 1


def fresh_name(stem: str, names: Collection[str]) -> str:
    """Return a name that is not taken: the stem, with a number behind it if need be."""
    name, n = stem, 0
    while name in names:
        n += 1
        name = f"{stem}{n}"
    return name
