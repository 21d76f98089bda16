"""Programs: the statements of a backward or forward pass, and the values that it keeps from the value's computation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import NotationError, UnsupportedError
from ..hints import did_you_mean
from ..index_notation import explicit_sums, free_variables, tensors, to_text, variables
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Literal
from ..index_notation.operator_table import OPERATORS
from ..index_notation.traversal import has_reduction, rewrite_outermost
from ..records import record
from ..trees import walk
from .pullback import Gradient, Pullback, push_forward, unused_name
from .rules import ZERO


@record
class BackwardPass:
    """Statements that compute the gradients of operands from that of the result."""

    assignment: Assignment  # the value's, with explicit sums
    cotangent: str  # the name of the gradient of the result
    kept: tuple[Assignment, ...]  # statements whose results the value's computation keeps
    gradients: tuple[Gradient, ...]

    @property
    def value(self) -> Assignment:
        """The statement that computes the value from the operands and from what is kept."""
        target = self.assignment.target
        return Assignment(target, with_kept(self.assignment.value, self.kept))

    def statement(self, gradient: Gradient, stored: bool) -> Assignment:
        """Return the statement of one gradient; ``stored`` samples it where the operand has entries."""
        taken = {*tensors(self.assignment), *variables(self.assignment), *gradient.identities, self.cotangent}
        target = Access(unused_name(f"{gradient.tensor}_bar", taken), gradient.indices)
        value = gradient.value
        if stored:
            pattern = Access(unused_name(f"{gradient.tensor}_stored", taken), gradient.indices)
            return Assignment(target, Apply("select", (pattern, value)))
        operand = Access(gradient.tensor, gradient.indices)
        if value == ZERO:
            value = Apply("select", (Literal(False), operand))
        elif not set(gradient.indices) <= set(free_variables(value)):
            value = Apply("left", (value, operand))
        return Assignment(target, value)


def backward_pass(
    assignment: Assignment,
    wrt: Sequence[str],
    keeps: Callable[[Assignment], bool] | None = None,
    conjugate: bool = False,
) -> BackwardPass:
    """Return the backward pass of an assignment.

    ``keeps`` decides which intermediate values the forward pass keeps. Without it, the statements read operands alone.
    """
    explicit = differentiable(assignment, wrt)
    names = {*tensors(explicit), *variables(explicit)}
    cotangent = unused_name(f"{explicit.target.tensor}_bar", names)
    kept: list[Assignment] = []
    decided: dict[Expr, Expr] = {}

    def value(expr: Expr) -> Expr:
        """Return how the backward pass reads the value of a part of the expression."""
        if keeps is None or not has_reduction(expr):
            return expr
        if expr == explicit.value:
            return explicit.target
        if expr not in decided:
            name = unused_name("kept", {*names, cotangent, *(a.target.tensor for a in kept)})
            part = Assignment(Access(name, free_variables(expr)), expr)
            decided[expr] = part.target if keeps(part) else with_kept(expr, kept)
            if decided[expr] is part.target:
                kept.append(part)
        return decided[expr]

    pullback = Pullback(explicit, wrt, cotangent, value, conjugate)
    return BackwardPass(explicit, cotangent, tuple(kept), pullback.gradients())


def tangent(assignment: Assignment, wrt: Iterable[str]) -> tuple[Assignment, Mapping[str, str]]:
    """Return the statement of the tangent of a result, and the names of the operands' tangents in it, by operand."""
    wrt = tuple(wrt)
    explicit = differentiable(assignment, wrt)
    taken = {*tensors(explicit), *variables(explicit)}
    names = {name: unused_name(f"{name}_dot", taken) for name in wrt}
    target = Access(unused_name(f"{explicit.target.tensor}_dot", taken), explicit.target.indices)
    value = push_forward(explicit, names)
    if value == ZERO:
        value = Apply("select", (Literal(False), explicit.value))
    elif not set(target.indices) <= set(free_variables(value)):
        value = Apply("left", (value, explicit.value))
    return Assignment(target, value), names


def differentiable(assignment: Assignment, wrt: Iterable[str]) -> Assignment:
    """Return an assignment with explicit sums; raise if it has no derivative by these operands."""
    text = to_text(assignment)
    if assignment.op is not None:
        old = assignment.target
        new = Access(unused_name(f"{old.tensor}_new", tensors(assignment)), old.indices)
        instead = Assignment(new, Apply(assignment.op, (old, assignment.value)))
        raise UnsupportedError(
            f"{OPERATORS[assignment.op].symbol}= has no derivative, in {text}; write the sum with the old value as an "
            f"operand: {to_text(instead)}"
        )
    names = tensors(assignment.value)
    for name in wrt:
        if name not in names:
            raise NotationError(
                f"{text} has no operand {name}{did_you_mean(name, names)}; its operands are {', '.join(names)}"
            )
    return explicit_sums(assignment)


def has_complex_parts(assignment: Assignment, dtypes: Mapping[str, np.dtype[Any]]) -> bool:
    """Return whether any part of an expression is complex: other operators are if their operands are."""

    def brings(part: Expr) -> bool:
        match part:
            case Access(tensor=name):
                return name in dtypes and dtypes[name].kind == "c"
            case Literal(value=value):
                return isinstance(value, complex)
            case Apply(op=op):
                return op in ("complex64", "complex128", "imag")  # the gradient of imag has a factor of 1j
        return False

    return any(map(brings, walk(assignment.value)))


def gradient_statement(assignment: Assignment, name: str, stored: bool, conjugate: bool = False) -> Assignment:
    """Return the statement of the gradient by one operand, which reads operands and the gradient of the result alone.

    Examples
    --------
    >>> from weft.index_notation import parse, to_text
    >>> to_text(gradient_statement(parse("y(i) = A(i,j)*x(j)"), "A", stored=True))
    'A_bar(i,j) = select(A_stored(i,j), y_bar(i)*x(j))'
    """
    whole = backward_pass(assignment, [name], conjugate=conjugate)
    return explicit_sums(whole.statement(whole.gradients[0], stored))


def pattern_of(statement: Assignment) -> str:
    """Return the name of the operand that says where a sampled gradient has entries."""
    value = statement.value
    assert isinstance(value, Apply)
    (pattern, _) = value.args
    assert isinstance(pattern, Access)
    return pattern.tensor


def with_kept(expr: Expr, kept: Sequence[Assignment]) -> Expr:
    """Return an expression that reads the kept values of its parts."""
    known = {part.value: part.target for part in kept}
    return rewrite_outermost(expr, known.get) if known else expr
