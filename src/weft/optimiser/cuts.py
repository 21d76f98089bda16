"""Cuts that types alone decide: sums that wrap around, and merges of too many operands.

The number of cases of a merge doubles with every operand that has implicit entries. If the loops of an expression
would have too many cases, the expression is cut: each part that merges more than a pair of such operands is computed
first. The first term of a sum stays first, so that sums of floating point numbers keep their order. A part stores a
coordinate if the whole expression would.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np

from ..analysis.implicit_values import deciding, typed_implicit_value
from ..analysis.terms import Dtypes, additive_terms
from ..code_options import CodeOptions
from ..concrete_notation.transformations import factors, product
from ..concrete_notation.values import UNKNOWN, is_constant, same_value
from ..formats import Format, TensorType
from ..formats.format import dtypes_of, lists_diagonals
from ..index_notation import free_variables
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Reduce
from ..index_notation.operator_table import OPERATORS
from ..index_notation.program import Program
from ..index_notation.traversal import has_reduction, renamed, replaced, rewrite
from ..records import replace
from ..trees import fold
from .rules import Facts, Rule, applied, keeps_fill, rewritten
from .statements import Statements

_PAIR = 3
"""Cases of a merge of two operands: both, and each alone."""


def narrow_sums_first(assignment: Assignment, types: Mapping[str, TensorType]) -> Program | None:
    """Return a program that first computes a sum of integers which is a term in another dtype; None if there is none.

    Since the sum wraps around in its own dtype, it cannot be accumulated together with the other terms. Sums in
    ``assignment`` are explicit.
    """
    dtype = Dtypes(dtypes_of(types))
    terms = [term for _, term in additive_terms(assignment.value, dtype)]
    if len(terms) < 2 or not any(isinstance(term, Reduce) for term in terms):
        return None
    whole, parts = dtype(assignment.value), Statements(assignment, types)
    for term in terms:
        if isinstance(term, Reduce) and dtype(term) != whole and np.dtype(dtype(term)).kind in "iu":
            free = tuple(v for v in assignment.target.indices if v in free_variables(term))
            target = parts.add(Access(parts.fresh(), free), term, "it is summed in its own dtype")
            last = replace(assignment, value=replaced(assignment.value, term, target))
            return Program((*parts.statements, last), assignment, tuple(parts.reasons))
    return None


ONE_DIAGONAL = Rule(
    "one-diagonal", "`sum(j, A(i,j)*D(j,k))` is `A(i,k)*T(k)`, where `T(k) = sum(j, D(j,k))`",
    "`D` is stored by diagonals, and has the main one alone", of_terms=True,
)  # fmt: skip


def diagonals_first(assignment: Assignment, types: Mapping[str, TensorType], options: CodeOptions) -> Program | None:
    """Return a program in which operands of one diagonal are vectors; None if that makes no product simpler.

    Operands that list their diagonals may have one: their data tells. Sums in ``assignment`` are explicit.
    """
    known, parts = dict(types), Statements(assignment, types)
    rule = replace(ONE_DIAGONAL, rewrite=lambda node, facts: _without_diagonal(node, facts, known, parts))
    summed, before = rewritten(assignment, types, options)[0].value, None
    value = summed
    while value != before:
        facts = Facts(Dtypes(dtypes_of(known)), known)
        before, value = value, applied(rule, value, facts, options)
    if value == summed or not keeps_fill(summed, value, known):
        return None
    statements, reasons = (*parts.statements, replace(assignment, value=value)), tuple(parts.reasons)
    return Program(statements, assignment, reasons, frozenset(known) - frozenset(types), rules=(rule.name,))


def _without_diagonal(node: Expr, facts: Facts, types: dict[str, TensorType], parts: Statements) -> Expr | None:
    """Return a sum of products with the diagonal of an operand, which is a part, instead of the operand."""
    if not isinstance(node, Reduce) or node.op != "add" or has_reduction(node.body):
        return None
    every = factors(node.body) if facts.dtype(node) == facts.dtype(node.body) else []
    operands = [f for f in every if isinstance(f, Access)]
    matrices = [a for a in operands if len(a.indices) > 1 or not types[a.tensor].format.is_dense]
    for access in operands:
        type, gone = types[access.tensor], next((v for v in node.vars if v in access.indices), None)
        if not lists_diagonals(type.format) or gone is None or len({*access.indices}) < 2 or matrices == [access]:
            continue
        (kept,) = {*access.indices} - {gone}
        column = Reduce("add", (gone,), Access(access.tensor, (gone, kept)))  # of one entry
        if not same_value(type.fill, 0) or facts.dtype(column) != type.dtype:
            continue
        vector = parts.known(column) or parts.add(Access(parts.fresh(), (kept,)), column, "the main diagonal alone")
        types[vector.tensor] = TensorType.of(type.dtype, Format.dense(1))
        body = renamed(product([*[f for f in every if f is not access], vector]), variables={gone: kept})
        over = tuple([v for v in node.vars if v != gone])
        return Reduce("add", over, body) if over else body
    return None


def in_larger_parts(assignment: Assignment, types: Mapping[str, TensorType]) -> Program | None:
    """Return a program of parts that may hold more than is needed of them; None if nothing can be cut.

    Sums inside others are such parts, and where these are tensors already, any that merge a pair of operands.
    """
    first = sums_first(assignment, types)
    return in_pairs(assignment, types, anywhere=True) if first is None else first


def in_pairs(assignment: Assignment, types: Mapping[str, TensorType], anywhere: bool = False) -> Program | None:
    """Return a program that merges pairs of operands, also in parts that spread if ``anywhere``; None if none does."""
    cutter = _Cutter(assignment, types, anywhere)
    return cutter.program(cutter.cut(assignment.value, confined=False)[0])


def sums_first(assignment: Assignment, types: Mapping[str, TensorType]) -> Program | None:
    """Return a program that computes each reduction inside an expression first, once if several are equal."""
    cutter, value = _Cutter(assignment, types), assignment.value
    body = value.body if isinstance(value, Reduce) else value
    inner = rewrite(body, lambda node: cutter.part(node) if isinstance(node, Reduce) else None)
    return cutter.program(replace(value, body=inner) if isinstance(value, Reduce) else inner)


class _Cutter(Statements):
    """Cutting of an expression into parts, from the operands up."""

    def __init__(self, assignment: Assignment, types: Mapping[str, TensorType], anywhere: bool = False):
        super().__init__(assignment)
        self.assignment, self.types, self.anywhere = assignment, types, anywhere
        many = len(assignment.value.distinct_accesses)
        self.reason = f"in one nest of loops, {many} operands would make too many cases"

    def program(self, value: Expr) -> Program | None:
        """Return the program with a value for the result, in terms of parts; None if there are none."""
        last = replace(self.assignment, value=value)
        return Program((*self.statements, last), self.assignment, tuple(self.reasons)) if self.statements else None

    def cut(self, expr: Expr, confined: bool) -> tuple[Expr, int]:
        """Return an expression in terms of parts, and an upper bound of the number of cases of its merge.

        An expression is ``confined`` if not all of its coordinates are needed, or not all of them at a time.
        """
        match expr:
            case Access(tensor=tensor):
                return expr, int(not all(level.full for level in self.types[tensor].format.levels))
            case Reduce(op=op, vars=vars, body=body):
                inner, cases = self.cut(body, confined=True)
                return Reduce(op, vars, inner), cases
            case Apply(op=op, args=(arg,)):
                inner, cases = self.cut(arg, confined)
                return Apply(op, (inner,)), cases
            case Apply(op=op, args=args):
                return self._operands(op, args, confined)
        return expr, 0

    def _operands(self, op: str, args: tuple[Expr, ...], confined: bool) -> tuple[Expr, int]:
        meets = bool(deciding(Apply(op, args), self._implicit))
        # In a product or a choice, only some of the coordinates of an operand are needed.
        confined = confined or meets or OPERATORS[op].chooses
        done = [self.cut(arg, confined) for arg in args]
        # The side with more cases is cut first: the other one may then stay.
        for k in sorted(range(len(args)), key=lambda k: -done[k][1]):
            within, cases = done[k]
            if _together(done, meets) > _PAIR and cases > 1 and self._stands_alone(args[k], confined):
                done[k] = self.part(within), 1
        return Apply(op, tuple(e for e, _ in done)), _together(done, meets)

    def _stands_alone(self, expr: Expr, confined: bool) -> bool:
        """Return whether a part of its own would hold no more than is needed of it."""
        return self.anywhere or not confined or not self._spreads(expr)

    def _spreads(self, expr: Expr) -> bool:
        """Return whether entries of some operand are repeated along axes that this operand does not have.

        In ``a(i) + B(i,j)``, entries of ``a`` are repeated along ``j``. The answer is True for an expression of unknown
        implicit value, too.
        """

        def spreads(node: Expr, below: list[bool]) -> bool:
            if self._implicit(node) is UNKNOWN:
                return True
            if not isinstance(node, Apply) or any(below):
                return isinstance(node, Apply)
            spread = len({frozenset(free_variables(arg)) for arg in node.args if not is_constant(arg)}) > 1
            return spread and not deciding(node, self._implicit)

        return fold(expr, spreads)

    def _implicit(self, expr: Expr) -> object:
        return typed_implicit_value(expr, self.types)

    def part(self, expr: Expr) -> Access:
        """Return the tensor that holds an expression, which is computed once."""
        known = self.known(expr)
        if known is None:
            # Axes come in the order of the result's, so that loops over both agree.
            place = {v: n for n, v in enumerate(self.assignment.target.indices)}
            indices = tuple(sorted(free_variables(expr), key=lambda v: place.get(v, len(place))))
            known = self.add(Access(self.fresh(), indices), expr, self.reason)
        return known


def _together(done: list[tuple[Expr, int]], meets: bool) -> int:
    """Return the number of cases of a merge: the product of those of its operands, and for sums also each alone.

    An operand without implicit entries adds no case.
    """
    cases = [n for _, n in done]
    return prod([max(n, 1) for n in cases]) if meets and any(cases) else prod([1 + n for n in cases]) - 1
