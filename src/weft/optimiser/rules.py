"""Rules that rewrite one expression, whatever the numbers of its operands are.

Each rule is a function with a name, which ``config.disable`` takes, a condition, and a note on bits. Rules that change
bits only run where ``config.reassociate`` is on, or where dtypes are exact. The rules that need numbers are in
``optimiser/parts.py``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from ..analysis.coordinate_sets import is_full
from ..analysis.implicit_values import absent_value, convert, implicit_value
from ..analysis.terms import Dtypes
from ..code_options import CodeOptions
from ..concrete_notation.transformations import factors, product
from ..concrete_notation.values import UNKNOWN, RuntimeValue, same_value
from ..formats import Compressed, Format, TensorType
from ..formats.format import dtypes_of
from ..index_notation import expression_text
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from ..index_notation.traversal import (
    bound_variables,
    free_variables,
    has_reduction,
    outermost_reductions,
    renamed,
    replaced,
    rewrite,
    rewrite_outermost,
    tensors,
    variables,
    walk,
    without_reductions,
)
from ..records import record, replace
from ..remapping import Remapping
from ..trees import fold, outermost


class Facts:
    """Dtypes of expressions, and the loops and the axes of the result that they have."""

    def __init__(
        self,
        dtype: Callable[[Expr], str],
        types: Mapping[str, TensorType],
        target: Sequence[str] = (),
        loops: Callable[[Expr], set[str]] | None = None,
    ):
        self.dtype, self.types = dtype, types
        self.place = {v: n for n, v in enumerate(target)}
        self.names = {*target}  # of the variables of the whole
        self.loops = loops or (lambda expr: {*free_variables(expr)})

    def unused(self, variable: str) -> str:
        """Return a name for another variable in the place of one."""
        name = next(n for k in itertools.count(1) if (n := f"{variable}_{k}") not in self.names)
        self.names.add(name)
        return name

    def is_dense(self, expr: Expr) -> bool:
        """Return whether all operands are arrays."""
        return all(self.types[a.tensor].format.is_dense for a in expr.distinct_accesses)

    def is_structured(self, expr: Expr) -> bool:
        """Return whether a sparse operand has levels of its own variables."""
        formats = [self.types[a.tensor].format for a in expr.distinct_accesses]
        return any(format.is_structured for format in formats if not format.is_dense)

    def elsewhere(self, expr: Expr) -> Any:
        """Return the number that an expression is where sparse operands store nothing; None if arrays decide."""
        value = _beside_arrays(expr, self.types)
        return None if value is UNKNOWN or isinstance(value, RuntimeValue) else value

    def stores(self, expr: Expr, elsewhere: Expr) -> Expr:
        """Return a condition that holds where an expression may have other values than ``elsewhere``."""
        operand, *others = [a for a in expr.distinct_accesses if not self.is_dense(a)]
        fill = self.elsewhere(operand)
        if others or fill is None:
            return Apply("not_equal", (expr, elsewhere))
        return Apply("not_equal", (operand, Literal(fill.item() if isinstance(fill, np.generic) else fill)))


@record
class Rule:
    """A rewrite of a node, the parts of which are rewritten already; or, without one, a choice by price."""

    name: str
    pattern: str  # what becomes what
    condition: str  # when, in words
    rewrite: Callable[[Any, Facts], Expr | None] = lambda node, facts: None
    keeps_bits: bool = False  # whether no bit changes in any dtype; else only exact dtypes keep theirs
    # Whether only terms of the whole are rewritten. The sign of a zero may change, which decides that of 1/0.
    of_terms: bool = False


# -- sums and products -----------------------------------------------------------------------------------------------
def nested_sums(node: Expr, facts: Facts) -> Expr | None:
    match node:
        case Reduce(op=op, vars=outer, body=Reduce(op=same, vars=inner, body=body)) if op == same:
            return Reduce(op, (*outer, *inner), body)
    return None


def one_sum(node: Expr, facts: Facts) -> Expr | None:
    if not (isinstance(node, Reduce) and node.op == "add" and isinstance(node.body, Apply)):
        return None
    parts = factors(node.body)
    sums = _sums(parts)
    body = _with_sums_inside(parts, sums, facts.dtype)
    return Reduce("add", (*node.vars, *(v for part in sums for v in part.vars)), body) if body else None


def scaled_sum(node: Expr, facts: Facts) -> Expr | None:
    parts = factors(node) if isinstance(node, Apply) and node.op == "multiply" else []
    sums = _sums(parts)
    if len(sums) != 1 or sum(has_reduction(part) for part in parts) > 1:
        return None
    body = _with_sums_inside(parts, sums, facts.dtype)
    return Reduce("add", sums[0].vars, body) if body else None


def _sums(parts: Sequence[Expr]) -> list[Reduce]:
    """Return the factors that are sums, with no reduction inside."""
    return [part for part in parts if isinstance(part, Reduce) and part.op == "add" and not has_reduction(part.body)]


def _with_sums_inside(parts: Sequence[Expr], sums: Sequence[Reduce], dtype: Callable[[Expr], str]) -> Expr | None:
    """Return a product with the bodies of its sums in their places; None if a sum would change its dtype.

    Sums that are factors keep their dtypes, in which they may wrap around.
    """
    body = product([part.body if isinstance(part, Reduce) and part in sums else part for part in parts])
    if not sums or any(dtype(part) != dtype(body) for part in sums):
        return None
    every = [part for part in factors(body) if not isinstance(part, Literal)]
    return product(factors(body)) if {dtype(part) for part in every} == {dtype(body)} else body


def pair_in_order(node: Expr, facts: Facts) -> Expr | None:
    """Put the factor with most variables first, as in the texts of kernels that are installed, and literals before."""
    parts = factors(node) if isinstance(node, Apply) and node.op == "multiply" else []
    # The parts of a complex product are sums, each of which one instruction may round.
    return _in_order(parts, facts) if len(parts) == 2 and np.dtype(facts.dtype(node)).kind != "c" else None


def factors_in_order(node: Expr, facts: Facts) -> Expr | None:
    parts = factors(node) if isinstance(node, Apply) and node.op == "multiply" else []
    others = [part for part in parts if not isinstance(part, Literal)]
    return _in_order(parts, facts) if parts and {facts.dtype(part) for part in others} == {facts.dtype(node)} else None


def _in_order(parts: Sequence[Expr], facts: Facts) -> Expr:
    def key(part: Expr) -> tuple[Any, ...]:
        free = free_variables(part)
        places = [facts.place.get(v, len(facts.place)) for v in free]
        return not isinstance(part, Literal), -len(free), _shape(part), places, expression_text(part)

    return product(sorted(parts, key=key))


@lru_cache(maxsize=4096)
def _shape(expr: Expr) -> str:
    """Return the text of an expression without the names of tensors and variables."""
    names = dict.fromkeys(variables(expr), "_")
    return expression_text(renamed(expr, dict.fromkeys(tensors(expr), "_"), names))


_Term: TypeAlias = tuple[bool, list[Expr], list[Expr]]  # whether it is subtracted, its factors and its divisors


def split_sum(node: Expr, facts: Facts) -> Expr | None:
    """Scan each operand instead of all coordinates or of merging both.

    Squares of differences, which would cancel, stay.
    """
    if not (isinstance(node, Reduce) and node.op == "add" and not has_reduction(node.body)):
        return None
    parts = factors(node.body)
    places = [k for k, part in enumerate(parts) if not facts.is_dense(part)]
    terms = terms_of(parts[places[0]], facts.dtype(node), facts) if len(places) == 1 else []
    if len(terms) < 2:
        return None
    rest, over = [part for k, part in enumerate(parts) if [k] != places], {*node.vars}
    products = [_with_divisors([*rest, *term], [d for d in by if {*free_variables(d)} & over], node, facts)
                for _, term, by in terms]  # fmt: skip
    ways = {_way(each, node, facts) for each in products}
    if not ways <= {"sparse", "apart"} or "sparse" not in ways or not may_be_scanned(products, facts):
        return None
    scans: list[Expr] = [Reduce("add", node.vars, product(each)) for each in products]
    # Loops that share none are told apart by their variables: the sums of A(i,j) and of A(j,j) share none, nor does one
    # of arrays. Factors that do not have the variables of a sum leave it, and share nothing.
    loops = {*free_variables(node)}
    around = {frozenset().union(*[vs for f in each if (vs := {*free_variables(f)}) & over]) - over for each in products}
    shared = "apart" not in ways and around == {frozenset(loops)}
    if len(node.vars) > 1 or not shared or not loops or not loops <= {*facts.place}:
        scans = [renamed(scan, variables={v: facts.unused(v) for v in node.vars if k}) for k, scan in enumerate(scans)]
    outside = [[d for d in by if not {*free_variables(d)} & over] for _, _, by in terms]
    every = [d for d in dict.fromkeys(outside[0]) if all(by.count(d) == 1 for by in outside)]
    for k, by in enumerate(outside):
        for divisor in [d for d in by if d not in every]:
            scans[k] = Apply("divide", (scans[k], divisor))
    total: Expr = Apply("negative", (scans[0],)) if terms[0][0] else scans[0]
    for (negative, _, _), scan in zip(terms[1:], scans[1:], strict=True):
        total = Apply("subtract" if negative else "add", (total, scan))
    for divisor in every:  # of zero, which makes terms of both signs infinite
        total = Apply("divide", (total, divisor))
    return total if facts.dtype(total) == facts.dtype(node) else None


def terms_of(expr: Expr, dtype: str, facts: Facts) -> list[_Term]:
    """Return the terms of a factor of a product of some dtype.

    A function that is a number where nothing is stored is this number in all places but those that are stored, and its
    own values there. Sums and products in other dtypes, in which they may wrap around, are one term.
    """

    def terms(node: Expr, below: list[list[_Term]]) -> list[_Term]:
        match node if facts.dtype(node) == dtype else None:
            case Apply(op="subtract", args=(_, Literal())) if is_plain(node, facts):
                return [(False, [node], [])]
            case Apply(op="add" | "subtract" as op):
                return below[0] + [(m != (op == "subtract"), f, d) for m, f, d in below[1]]
            case Apply(op="negative"):
                return [(not m, f, d) for m, f, d in below[0]]
            case Apply(op="multiply") if min(map(len, below)) == 1:
                return [(m != n, [*f, *g], [*d, *e]) for m, f, d in below[0] for n, g, e in below[1]]
            case Apply(op="divide" | "left-absorbing divide", args=(_, by)) if facts.is_dense(by):
                return [(m, f, [*d, by]) for m, f, d in below[0]]
        elsewhere = None if facts.is_dense(node) else facts.elsewhere(node)
        if not elsewhere or not np.isfinite(elsewhere) or dtype == "bool":
            return [(False, [node], [])]
        value = node if facts.dtype(node) == dtype else Apply(dtype, (node,))
        number = Literal(elsewhere.item() if isinstance(elsewhere, np.generic) else elsewhere)
        stores = facts.stores(node, number)
        # Numbers of gaps are first, so that nothing cancels beside what is stored.
        return [
            (False, [number], []),
            (True, [number, Apply(dtype, (stores,))], []),
            (False, [Apply("select", (stores, value))], []),
        ]

    return fold(expr, terms)


def _with_divisors(parts: list[Expr], divisors: Sequence[Expr], total: Reduce, facts: Facts) -> list[Expr]:
    """Return factors of a sum, of which arrays are divided: those that have the variables of the divisors."""
    parts, dtype = list(parts), facts.dtype(total)
    for by in divisors:
        by = by if facts.dtype(by) == dtype else Apply(dtype, (by,))
        have = [k for k, f in enumerate(parts) if facts.is_dense(f) and {*free_variables(by)} <= {*free_variables(f)}]
        if have:
            parts[have[0]] = Apply("divide", (parts[have[0]], by))
        else:
            parts.append(Apply("divide", (Literal(1), by)))
    # No product of the first factors is in another dtype, in which it might wrap around.
    numbers, others = [f for f in parts if isinstance(f, Literal)], [f for f in parts if not isinstance(f, Literal)]
    others.sort(key=lambda f: facts.dtype(f) != dtype)
    ones = bool(others) and facts.dtype(product(others)) == dtype and [f.value for f in numbers] == [1]
    return others if ones else [*numbers, *others]


def _way(parts: Sequence[Expr], total: Reduce, facts: Facts) -> str:
    """Return "sparse" for a product with an operand without which it is zero, with all summed variables.

    Another one is "apart" if it is summed in fewer loops than there are around all terms.
    """
    loops, over = {*total.vars, *free_variables(total)}, {*total.vars}
    have, sparse = [{*free_variables(f)} for f in parts], [f for f in parts if not facts.is_dense(f)]
    others, dtype = [f for f in parts if not isinstance(f, Literal)], facts.dtype(total)
    if not over <= {*itertools.chain(*have)} or not all(is_plain(f, facts) for f in sparse):
        return ""
    if facts.dtype(product(parts)) != dtype or (len(parts) > 2 and facts.dtype(others[0]) != dtype):
        return ""
    if any(over <= {*free_variables(f)} for f in sparse):
        return "sparse"
    return "apart" if all(vs < loops for vs in have) else ""


def is_plain(part: Expr, facts: Facts) -> bool:
    """Return whether an expression is zero where sparse operands store nothing."""
    return (value := facts.elsewhere(part)) is not None and same_value(value, 0)


def may_be_scanned(terms: Sequence[Sequence[Expr]], facts: Facts) -> bool:
    """Return whether terms may have nests of their own: views of structured formats derive variables of equal names."""
    sparse = [[f for f in term if not facts.is_dense(f)] for term in terms]
    return sum(map(bool, sparse)) < 2 or not any(facts.is_structured(f) for term in sparse for f in term)


def counted_entries(node: Expr, facts: Facts) -> Expr | None:
    """Visit what an operand stores, and count the rest, which is the same in each row."""
    if not isinstance(node, Reduce) or node.op != "add":
        return None
    read = {*outermost(node.body, lambda part: isinstance(part, (Access, Reduce, Literal)))}
    sparse = [a for a in read if isinstance(a, Access) and not facts.is_dense(a)]
    others = {v for part in read if part not in sparse for v in free_variables(part)}
    if len(sparse) != 1 or len(read) < 2 or facts.is_structured(sparse[0]) or not is_plain(sparse[0], facts):
        return None
    indices = sparse[0].indices
    # Inner reductions may have any values. Arrays that levels have are not what fills the sum.
    shown = rewrite(node.body, lambda part: Literal(1) if isinstance(part, Reduce) else None)
    levels = Format(Remapping.identity(len(indices)), (Compressed(),) * len(indices))
    types = {**facts.types, sparse[0].tensor: TensorType.of(facts.dtype(sparse[0]), levels)}
    over = [v for v in node.vars if v in indices and v not in others and is_full(shown, v, types)]
    above = [n for n in walk(node.body) if isinstance(n, Apply) and sparse[0] in n.distinct_accesses]
    if not over or any(n.op not in _ZEROS_ALIKE for n in above) or len({*indices}) < len(indices):
        return None
    zero, absent = Literal(0), replaced(node.body, sparse[0], Literal(0))
    absent = renamed(absent, variables={v: facts.unused(v) for v in bound_variables(absent)})
    stored = Apply("select", (Apply("not_equal", (sparse[0], zero)), node.body))
    names = {v: facts.unused(v) for v in over}
    number = Apply("int64", (Apply("equal", (renamed(sparse[0], variables=names), zero)),))
    counted = Apply("repeat_add", (Reduce("add", tuple(names.values()), number), absent))
    total = Apply("add", (Reduce("add", tuple(over), stored), counted))
    outer = tuple([v for v in node.vars if v not in over])
    return None if facts.dtype(total) != facts.dtype(node) else Reduce("add", outer, total) if outer else total


_ZEROS_ALIKE = ("add", "subtract", "multiply", "negative", "absolute", "maximum", "minimum", "square", "exp", "log1p")
"""Operators that return equal numbers for zeros of both signs."""


RULES = (
    Rule("one-sum", "`sum(j, sum(k, e))` is `sum(j,k, e)`", "the operators of both are one", nested_sums),
    Rule("one-sum", "`sum(j, a*sum(k, b))` is `sum(j,k, a*b)`", "no sum changes its dtype", one_sum),
    Rule("one-sum", "`w*sum(j, a)` is `sum(j, w*a)`", "no sum changes its dtype", scaled_sum, of_terms=True),
)  # fmt: skip
"""The rules that bring all spellings into one form, in the order in which they run."""

SPLIT = Rule(
    "split-sums", "`sum(j, (A(i,j) + B(i,j))*x(j))` is `sum(j, A(i,j)*x(j)) + sum(j, B(i,j)*x(j))`",
    "terms are zero where nothing is stored, or arrays with fewer variables; other factors are arrays", split_sum,
)  # fmt: skip
COUNTED = Rule(
    "counted-entries", "`sum(j, square(A(i,j) - m(i)))` is a sum over what `A` stores, and `n*square(0 - m(i))`",
    "one operand is sparse, and others do not depend on `j`", counted_entries,
)  # fmt: skip
ORDER = (
    Rule("one-sum", "`x(j)*A(i,j)` is `A(i,j)*x(j)`", "two factors", pair_in_order, keeps_bits=True),
    Rule("one-sum", "`x(i)*A(i,j)*x(j)` is `A(i,j)*x(i)*x(j)`", "all factors have one dtype", factors_in_order),
)  # fmt: skip
"""The rules that put factors into one order."""


def is_exact(dtype: str) -> bool:
    """Return whether sums and products of a dtype have the same bits in every order."""
    return np.dtype(dtype).kind in "biu"


def _may(rule: Rule, node: Expr, facts: Facts, options: CodeOptions) -> bool:
    """Return whether the bits that a rule changes may change."""
    if options.reassociate or rule.keeps_bits or is_exact(facts.dtype(node)):
        return True
    return isinstance(node, Reduce) and node.op not in ("add", "multiply")


def applied(rule: Rule, expr: Expr, facts: Facts, options: CodeOptions) -> Expr:
    """Return an expression with a rule applied wherever it may be."""
    if not options.enabled(rule.name):
        return expr

    def each(node: Expr) -> Expr | None:
        new = rule.rewrite(node, facts)
        return new if new is not None and _may(rule, node, facts, options) else None

    def term(node: Expr) -> Expr | None:
        is_sum = isinstance(node, Apply) and node.op in ("add", "subtract", "negative")
        return None if is_sum else each(node) or node

    return rewrite_outermost(expr, term) if rule.of_terms else rewrite(expr, each)


def rewritten(
    assignment: Assignment, types: Mapping[str, TensorType], options: CodeOptions
) -> tuple[Assignment, tuple[str, ...]]:
    """Return an assignment to which no rule applies, and the names of the rules that did."""
    names, facts, expr = dict[str, None](), Facts(Dtypes(dtypes_of(types)), types), assignment.value
    for _ in range(_ROUNDS):
        before = expr
        for rule in RULES:
            old, expr = expr, applied(rule, expr, facts, options)
            if expr is not old and expr != old:
                names[rule.name] = None
        if expr is before or expr == before:
            break
    if not keeps_fill(assignment.value, expr, types):
        return assignment, ()
    return replace(assignment, value=expr), tuple(names)


_ROUNDS = 10


def ordered(assignment: Assignment, types: Mapping[str, TensorType], options: CodeOptions) -> Assignment:
    """Return an assignment with the factors of each product in one order, and sums of sparse operands apart."""
    facts = Facts(Dtypes(dtypes_of(types)), types, assignment.target.indices)
    expr = assignment.value
    facts.names |= {*variables(expr)}
    for rule in (COUNTED, SPLIT, *ORDER):
        expr = applied(rule, expr, facts, options)
    expr = _told_apart(expr, facts)
    return replace(assignment, value=expr) if keeps_fill(assignment.value, expr, types) else assignment


def split(
    expr: Expr, types: Mapping[str, TensorType], axes: Sequence[str], options: CodeOptions, names: Iterable[str]
) -> Expr:
    """Return an expression over some axes with sums of terms apart, whose new variables have none of the names."""
    facts = Facts(Dtypes(dtypes_of(types)), types, axes)
    facts.names |= {*variables(expr), *names}
    apart = _told_apart(applied(SPLIT, expr, facts, options), facts)
    return apart if keeps_fill(expr, apart, types) else expr


def _told_apart(expr: Expr, facts: Facts) -> Expr:
    """Return an expression in which no sums share a variable but those whose loops may be one: terms of the whole."""
    seen: set[str] = set()

    def first(node: Expr) -> Expr | None:
        if not isinstance(node, Reduce):
            return None
        again = seen & {*node.vars}
        seen.update(node.vars)
        return renamed(node, variables={v: facts.unused(v) for v in again}) if again else None

    def term(node: Expr) -> Expr | None:
        if isinstance(node, Apply) and node.op in ("add", "subtract", "negative"):
            return None
        return node if isinstance(node, Reduce) and not has_reduction(node.body) else rewrite(node, first)

    return rewrite_outermost(expr, term)


def keeps_fill(old: Expr, new: Expr, types: Mapping[str, TensorType]) -> bool:
    """Return whether a result keeps its fill value, by which kernels know the elements that they need not store."""
    if new is old or all(same_value(type.fill, 0) for type in types.values()):
        return True
    before, after = _beside_arrays(old, types), _beside_arrays(new, types)
    return before is after or same_value(before, after)


def _beside_arrays(expr: Expr, types: Mapping[str, TensorType]) -> Any:
    """Return the value of an expression where sparse operands store nothing; it is unknown if arrays decide it."""

    def absent(access: Access) -> Any:
        type = types[access.tensor]
        return UNKNOWN if access.indices and type.format.is_dense else absent_value(access, type)

    return implicit_value(convert(expr, dtypes_of(types))[0], absent)


# -- forms of one nest of loops, by price ----------------------------------------------------------------------------
def hoisted_factors(total: Reduce, facts: Facts) -> Expr | None:
    """Return a sum without the factors that it does not change, times these."""
    parts = factors(total.body)
    outside = [f for f in parts if not (facts.loops(f) & {*total.vars})]
    inside = [f for f in parts if f not in outside]
    if inside and outside and facts.dtype(product(inside)) == facts.dtype(total.body):
        return Apply("multiply", (product(outside), Reduce("add", total.vars, product(inside))))
    return None


def independent_sums(total: Reduce, facts: Facts) -> Expr | None:
    """Return a sum as a product of several; None if that changes a dtype or gives nothing.

    Factors that no index connects need not be combined in pairs. Inside a sum over connecting variables, a variable
    that only one factor has is summed inside that factor. A factor that has none of the variables is moved out.
    """
    # Group the factors that summed variables connect.
    connected: list[tuple[set[str], list[Expr]]] = []
    for factor in factors(total.body):
        over, parts = facts.loops(factor) & {*total.vars}, [factor]
        for group in [g for g in connected if g[0] & over]:
            connected.remove(group)
            over, parts = over | group[0], [*group[1], *parts]
        connected.append((over, parts))
    # Each group becomes a sum of its own.
    new = product([_summed([v for v in total.vars if v in over], parts) for over, parts in connected])
    # Accept the product only if it splits the sum, keeps each dtype, and still sums over every variable.
    sums = outermost_reductions(new)
    outside = any(not over and any(free_variables(p) for p in parts) for over, parts in connected)
    several = outside or len(sums) > 1 or any(len(outermost_reductions(s.body)) > 1 for s in sums)
    every = (r for s in sums for r in (s, *outermost_reductions(s.body)))
    same = all(facts.dtype(without_reductions(r.body)) == facts.dtype(total.body) for r in every)
    return new if several and same and {*bound_variables(new)} == {*total.vars} else None


def _summed(vars: Sequence[str], parts: Sequence[Expr]) -> Expr:
    """Return a product summed over variables, those that one factor alone has inside it if there are several such."""
    have = [set(free_variables(p)) for p in parts]
    alone = [[v for v in vars if v in h and sum(v in other for other in have) == 1] for h in have]
    if sum(bool(o) for o in alone) > 1:
        parts = [Reduce("add", tuple(o), p) if o else p for o, p in zip(alone, parts, strict=True)]
        vars = [v for v in vars if all(v not in o for o in alone)]
    return Reduce("add", tuple(vars), product(parts)) if vars else product(parts)


def in_form(expr: Expr, form: Callable[[Reduce, Facts], Expr | None], facts: Facts) -> Expr:
    """Return an expression with its outermost sums in some form."""

    def changed(node: Expr) -> Expr | None:
        if isinstance(node, Reduce) and node.op == "add" and not has_reduction(node.body):
            return form(node, facts) or node
        return node if isinstance(node, Reduce) else None

    return rewrite_outermost(expr, changed)
