"""Data annihilators: fill values that decide an operator beside the values that its other operand holds.

Zero divided by any number but zero and NaN is zero. Infinity plus any number but negative infinity and NaN is
infinity, as in products of tropical semirings. The minimum of zero and a number that is not negative is zero. Such a
rule holds or not by the values of the other operand, for example of a divisor. Each call looks at the range of these
values (:mod:`.value_ranges`). If the range leaves the answer open, each value is looked at, provided that their number
is no larger than that of the stored entries. If the rule holds, the operator is planned as an absorbing operator, one
that the fill value annihilates, and loops visit stored entries only. If it does not hold, loops visit all coordinates,
and the reason is kept.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..analysis.coordinate_sets import has_every_value, visits
from ..analysis.implicit_values import application_dtypes, literal_dtype, typed_implicit_value
from ..analysis.iteration_graph import Types
from ..analysis.terms import dtype_of
from ..concrete_notation.transformations import factors, product
from ..concrete_notation.values import UNKNOWN, typed
from ..dtypes import same_scalar
from ..formats import TensorType
from ..formats.format import dtypes_of
from ..index_notation import (
    accesses,
    explicit_sums,
    expression_text,
    free_variables,
    use_computation_dtype,
    variables,
)
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from ..index_notation.operator_table import ABSORBING, OPERATORS, Near
from ..index_notation.traversal import (
    bound_variables,
    outermost_reductions,
    renamed,
    replaced,
    rewrite,
    rewrite_outermost,
    tensors,
)
from ..optimiser.statements import Statements
from ..records import cached, record, replace
from ..storage import Storage
from .absorbed import Absorbed, might_absorb
from .value_ranges import Range, range_of

Evaluate: TypeAlias = Callable[[Assignment, Mapping[str, Storage]], Storage]
_Decide: TypeAlias = Callable[["Absorption"], bool]
_T = TypeVar("_T")
_Asking: TypeAlias = Generator["Absorption", bool, _T]


@record
class Absorption:
    """An operator, and one of its operands whose fill value may decide the result alone."""

    expr: Apply  # the operator with its operands
    near: Near  # the row of the operator table that names the operand and the result
    fill: Any  # Fill value of the operand, in the dtype in which the operator takes it
    dtype: str  # Dtype in which the operator takes the other operand

    @property
    def position(self) -> int:
        """Index of the operand that may decide."""
        return self.near.position

    @property
    def result(self) -> Any:
        """Result that the fill value would decide."""
        return self.fill if self.near.result is None else self.near.result

    @cached
    def other(self) -> Expr:
        """Return the operand whose values are looked at: as it is where the one that may decide has no entry."""
        operand, other = self.expr.args[self.position], self.expr.args[1 - self.position]
        return rewrite_outermost(other, partial(_filled, _standard(operand), Literal(_plain(self.fill))))

    def beside(self, other: Any, fill: Any) -> tuple[Any, Any]:
        """Return the two operands in their order: ``fill`` for the one that may decide, and ``other``."""
        return (fill, other) if self.position == 0 else (other, fill)

    def makes(self, values: Any) -> Any:
        """Return the results of the operator for the fill value beside the given values of the other operand."""
        with np.errstate(all="ignore"):
            return OPERATORS[self.expr.op].ufunc(*self.beside(values, self.fill))

    def decides(self, values: Any) -> bool:
        """Return whether the fill value beside each value makes that result; zeros of either sign count as equal."""
        return not np.any(self._differs(self.makes(values)))

    def has_other_sign(self, beside: Any) -> bool:
        """Return whether the operator makes the other zero beside a number, so that this is the fill value."""
        made, result = self.makes(typed(beside, self.dtype)), self.result
        return bool(made == result == 0) and not same_scalar(made, type(made)(result))

    def _differs(self, results: Any) -> Any:
        """Return where results are another than that which the fill value would decide."""
        # A result of NaN is not equal to itself.
        return results != self.result if self.result == self.result else results == results

    @property
    def subject(self) -> str:
        """Text of the operator with the fill value in place of the operand."""
        return expression_text(Apply(self.expr.op, self.beside(self.other, Literal(_plain(self.fill)))))

    @property
    def reason(self) -> str:
        """Clause that says which value the operator may have instead."""
        # Zero, a negative number and infinity are the values that refute the rules of the operator table.
        values = (typed(v, np.asarray(self.fill).dtype.name) for v in (0.0, -1.0, math.inf))
        others = [found for v in values if not self.decides(v) for found in [self.makes(v)]]
        return f"{self.subject} may be {others[0] if others else f'other than {_plain(self.result)}'}"

    def refutation(self, operands: Mapping[str, Storage]) -> str:
        """Return the clause that says where an array refutes the rule; for operands of other kinds, ``reason``."""
        other = self.other
        if not isinstance(other, Access) or len(other.indices) != 1 or not operands[other.tensor].format.is_dense:
            return self.reason
        results = self.makes(operands[other.tensor].values_read().astype(self.dtype))
        where = np.flatnonzero(self._differs(results))
        if not where.size:
            return self.reason
        more = f" and {where.size - 3:,} more" if where.size > 3 else ""
        places = ", ".join(map(str, where[:3].tolist()))
        return f"{self.subject} is {_plain(results[where[0]])} at {other.indices[0]} = {places}{more}"

    @property
    def advice(self) -> str:
        """Clause that says what to write instead, to end a sentence; empty if there is no such expression."""
        instead = OPERATORS[self.expr.op].instead
        if not instead or self.fill != 0:
            return ""
        ends = [expression_text(a) if not isinstance(a, Apply) else f"({expression_text(a)})" for a in self.expr.args]
        return f"; write {instead.format(*ends)}, which is 0 there"


def _filled(part: Expr, fill: Literal, node: Expr) -> Expr | None:
    """Return the fill value of a part in its place, and what is left of a sum if that is zero."""
    if node.__class__ is part.__class__ and _standard(node) == part:
        return fill
    match node:
        case Apply(op="add" | "subtract", args=(rest, last)) if fill.value == 0 and _standard(last) == part:
            return rewrite_outermost(rest, partial(_filled, part, fill))
    return None


def _standard(expr: Expr) -> Expr:
    """Return an expression with standard names for the variables that it binds, and factors in order of their text."""
    named = renamed(expr, variables={v: f"#{k}" for k, v in enumerate(bound_variables(expr))})
    return rewrite(
        named, lambda node: product(sorted(parts, key=expression_text)) if len(parts := factors(node)) > 1 else None
    )


def _plain(fill: Any) -> Any:
    """Return a fill value as a Python number, a whole one as an int."""
    value = fill.item() if isinstance(fill, np.generic) else fill
    return int(value) if isinstance(value, float) and value.is_integer() else value


def notes(absorbed: Absorbed, assumed: bool) -> str:
    """Return the lines of ``Absorbed.notes``."""
    lines = []
    for a in absorbed.holding:
        kept = f"{a.subject} is {_plain(a.result)} for every value of {expression_text(a.other)}"
        how = "assumed, and looked up at each call" if assumed else "looked up at this call"
        lines.append(f"{kept} ({how}): only what {expression_text(a.expr.args[a.position])} stores is visited")
    for a in absorbed.refused:
        lines.append(f"{expression_text(a.expr)} has values at all of {_variables(a)} because {a.reason}{a.advice}")
    return "\n".join(lines)


def _variables(absorption: Absorption) -> str:
    return ", ".join(free_variables(absorption.expr)) or "its operands"


def apply_data_annihilators(
    assignment: Assignment,
    operands: Mapping[str, Storage],
    evaluate: Evaluate,
    dtype: str | None = None,
    *,
    usual: bool = False,
) -> Absorbed:
    """Replace operators by absorbing ones, as far as the values of the operands allow."""
    if not might_absorb(assignment):
        return Absorbed(assignment)
    types = {access.tensor: operands[access.tensor].type for access in assignment.value.distinct_accesses}
    look = _Look(assignment, operands, types, evaluate)
    return _answered(assignment, tuple(types.items()), dtype, lambda a: (a.near.usual or not usual) and look(a))


def assumed(
    assignment: Assignment, types: Mapping[str, TensorType], dtype: str | None = None, *, every: bool = False
) -> Absorbed:
    """Replace operators by those that are expected to absorb, before there are values to be looked at."""
    if not might_absorb(assignment):
        return Absorbed(assignment)
    return _answered(assignment, tuple(types.items()), dtype, lambda a: (every or a.near.usual) and _is_open(a, types))


def beside_arrays(
    assignment: Assignment, absorbed: Absorbed, types: Mapping[str, TensorType], dtype: str | None
) -> Absorbed:
    """Return the assignment without operators that are decided beside a sparse operand with the same axes."""
    kept = {
        a for a in absorbed.holding
        if outermost_reductions(a.other)
        or has_every_value(a.other, types)
        or len({frozenset(free_variables(x)) for x in a.expr.args}) > 1
    }  # fmt: skip
    if len(kept) == len(absorbed.holding):
        return absorbed
    found = _answered(assignment, tuple(types.items()), dtype, kept.__contains__)
    return replace(found, refused=absorbed.refused, undecided=absorbed.undecided)


def _answered(assignment: Assignment, kinds: Types, dtype: str | None, answer: _Decide) -> Absorbed:
    """Return the assignment with the absorbing operators that follow from the answers to one question after another."""
    questions = _questions(assignment, kinds, dtype)
    answers: tuple[bool, ...] = ()
    while not isinstance(found := questions.after(answers), Absorbed):
        answers += (answer(found),)
    return found


class _Questions:
    """Questions about an assignment for operands of certain types.

    The questions are kept for later calls, since they depend on types and earlier answers, not on values.
    """

    def __init__(self, assignment: Assignment, kinds: Types, dtype: str | None):
        self.assignment, self.types, self.dtype = assignment, dict(kinds), dtype
        self._known: dict[tuple[bool, ...], Absorption | Absorbed] = {}

    def after(self, answers: tuple[bool, ...]) -> Absorption | Absorbed:
        """Return the next question after some answers, or the assignment that follows from them."""
        outcome = self._known.get(answers)
        if outcome is None:
            # A generator cannot be resumed at an earlier question: it is started anew, and the answers are replayed.
            asking = _asking(self.assignment, self.types, self.dtype)
            try:
                outcome = next(asking)
                for answer in answers:
                    outcome = asking.send(answer)
            except StopIteration as done:
                outcome = done.value
            self._known[answers] = outcome
        return outcome


_questions = lru_cache(maxsize=1024)(_Questions)


def _asking(assignment: Assignment, types: Mapping[str, TensorType], dtype: str | None) -> _Asking[Absorbed]:
    explicit = explicit_sums(assignment)
    if dtype is not None:
        explicit = use_computation_dtype(explicit, tuple((name, type.dtype) for name, type in types.items()), dtype)
    answers: dict[Absorption, bool] = {}
    value = yield from _rewritten(explicit.value, types, answers)
    holding = tuple(a for a, holds in answers.items() if holds)
    refused = tuple(a for a, holds in answers.items() if a.near.usual and not holds)
    undecided = tuple(a for a, holds in answers.items() if not (a.near.usual or holds))
    return Absorbed(replace(explicit, value=value) if holding else assignment, holding, refused, undecided)


def _rewritten(expr: Expr, types: Mapping[str, TensorType], answers: dict[Absorption, bool]) -> _Asking[Expr]:
    """Rewrite an expression with absorbing operators, from the inside out, yielding each question on the way.

    Inner operators come first, since the implicit value of an operand depends on them.
    """
    match expr:
        case Reduce(op=op, vars=vars, body=body):
            return Reduce(op, vars, (yield from _rewritten(body, types, answers)))
        case Apply(op=op, args=args):
            new = []
            for arg in args:
                new.append((yield from _rewritten(arg, types, answers)))
            decided: dict[Any, list[int]] = {}
            for absorption in _absorptions(expr, new, types):
                # An operator that occurs twice is asked about once.
                if absorption not in answers:
                    answers[absorption] = yield absorption
                if answers[absorption]:
                    decided.setdefault(absorption.near.result, []).append(absorption.position)
            if decided:
                # One operator has one result: of several, the first that was decided is taken.
                result, positions = next(iter(decided.items()))
                op = ABSORBING[op][tuple(positions), result]
            return Apply(op, tuple(new))
    return expr


def _absorptions(expr: Apply, args: Sequence[Expr], types: Mapping[str, TensorType]) -> Iterator[Absorption]:
    """Yield the ways in which operands may decide an operator, but for operands that always do."""
    row = OPERATORS[expr.op]
    if not row.near_annihilators:
        return
    for position, operand in enumerate(args):
        fill: Any = typed_implicit_value(operand, types)
        # What has a value everywhere has no implicit entries; annihilators need no look at values.
        if fill is UNKNOWN or has_every_value(operand, types) or row.annihilates(position, fill):
            continue
        wanted, other = _loop(expr, types), args[1 - position]
        number = UNKNOWN if free_variables(other) else typed_implicit_value(other, types)
        fill = typed(fill, wanted[position])
        for near in row.near(position, fill):
            found = Absorption(expr, near, fill, wanted[1 - position])
            if number is UNKNOWN or not found.has_other_sign(number):
                yield found


def _is_open(absorption: Absorption, types: Mapping[str, TensorType]) -> bool:
    """Return whether the implicit entries of the other operand leave a question open.

    The implicit entries of a sparse divisor, for example, answer it: zero divided by zero is NaN.
    """
    other = absorption.other
    if not isinstance(other, Access) or not other.indices or types[other.tensor].format.is_dense:
        return True
    return absorption.decides(typed(types[other.tensor].fill, absorption.dtype))


def _loop(expr: Apply, types: Mapping[str, TensorType]) -> tuple[str, ...]:
    """Return the dtypes in which an operator takes its operands, and the dtype of its result."""
    dtypes = dtypes_of(types)
    own = [literal_dtype(a.value) if isinstance(a, Literal) else dtype_of(a, dtypes) for a in expr.args]
    return application_dtypes(expr, tuple(own))


class _Look:
    """Decision of questions by the values of operands."""

    def __init__(
        self,
        assignment: Assignment,
        operands: Mapping[str, Storage],
        types: Mapping[str, TensorType],
        evaluate: Evaluate,
    ):
        self.assignment, self.operands, self.types, self.evaluate = assignment, operands, types, evaluate

    def __call__(self, absorption: Absorption) -> bool:
        """Return whether the fill value decides beside all values of the other operand."""
        other = absorption.other
        if isinstance(other, Access) and not _is_open(absorption, self.types):
            # The fill value of the other operand refutes the rule, unless all its elements are stored.
            held = self.operands[other.tensor]
            if held.vals.size < math.prod(held.shape):
                return False
        # The range is cheap, since it needs no more than the least and the largest value of each operand.
        rough = range_of(other, self.operands)
        if rough is not None and self._holds(absorption, rough):
            return True
        if not absorption.near.usual:
            return False
        if self._is_cheap(absorption, other):
            return self._everywhere(absorption)
        closer = self._range_with_sums(absorption)
        return closer is not None and self._holds(absorption, closer)

    def _range_with_sums(self, absorption: Absorption) -> Range | None:
        """Return the range of the other operand by the values of its reductions; None if these are not cheap."""
        other, target = absorption.other, Access("", ())
        parts = Statements(Assignment(target, other), self.operands)
        for total in outermost_reductions(other):
            if not self._is_cheap(absorption, total):
                return None
            part = parts.known(total) or parts.add(Access(parts.fresh(), free_variables(total)), total, "")
            other = replaced(other, total, part)
        computed = {s.target.tensor: self.evaluate(s, self._read(s.value)) for s in parts.statements}
        return range_of(other, {**self.operands, **computed}) if computed else None

    def _read(self, expr: Expr) -> dict[str, Storage]:
        return {name: self.operands[name] for name in tensors(expr)}

    def _holds(self, absorption: Absorption, values: Range) -> bool:
        """Return whether the fill value decides beside the ends of a range, and so beside all numbers between them."""
        wanted: np.dtype[Any] = np.dtype(absorption.dtype)
        if wanted.kind == "c":  # complex numbers have no order
            return False
        with np.errstate(all="ignore"):
            ends = np.asarray([end for ends in values.ends(wanted) for end in ends]).astype(wanted)
        return absorption.decides(ends)

    def _is_cheap(self, absorption: Absorption, part: Expr) -> bool:
        """Return whether computing a part of the other operand visits no more elements than all operands store."""
        extents = extents_of(absorption.expr, self.operands)
        if extents is None:
            return False
        held = sum(self.operands[access.tensor].nnz for access in accesses(absorption.expr))
        return visits(part, _entries(self.operands), self.types, extents) <= held

    def _everywhere(self, absorption: Absorption) -> bool:
        """Return whether the fill value decides beside each value of the other operand, all of which are computed."""
        names = (f"Z{k}" for k in itertools.count())
        # The fill value and the answer are tensors of no axes, under names that are not taken.
        name, target = itertools.islice((n for n in names if n not in {*self.operands, *variables(self.assignment)}), 2)
        fill = Access(name, ())
        result = Apply(absorption.expr.op, absorption.beside(absorption.other, fill))
        wanted = fill if absorption.near.result is None else Literal(absorption.near.result)
        same = Apply("isnan", (result,)) if absorption.result != absorption.result else Apply("equal", (result, wanted))
        # The question is an expression itself: "is the result the wanted one, at all coordinates?"
        free = tuple(free_variables(absorption.other))
        question = Assignment(Access(target, ()), Reduce("logical_and", free, same) if free else same)
        given = {name: Storage.dense(np.asarray(absorption.fill)), **self.operands}
        return bool(self.evaluate(question, given).values_read()[0])


def extents_of(expr: Expr, operands: Mapping[str, Storage]) -> dict[str, int] | None:
    """Return the size of each index variable; None if shapes contradict each other, which the kernel reports."""
    extents: dict[str, int] = {}
    for access in expr.distinct_accesses:
        shape = operands[access.tensor].shape
        if len(shape) != len(access.indices):
            return None
        for v, n in zip(access.indices, shape, strict=True):
            if extents.setdefault(v, n) != n:
                return None
    return extents


def _entries(operands: Mapping[str, Storage]) -> dict[str, int]:
    """Return the number of stored values of each operand, padding included."""
    return {name: int(storage.vals.size) for name, storage in operands.items()}
