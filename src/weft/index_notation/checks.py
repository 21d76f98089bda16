"""Normalization and checks of parsed assignments: explicit sums, and extents inferred from shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import count

import numpy as np

from ..errors import NotationError, ShapeError
from .nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from .operator_table import OPERATORS
from .printer import expression_text, to_text
from .traversal import (
    accesses,
    free_variables,
    rebuild,
    rename_variables,
    rewrite,
    rewrite_outermost,
    tensors,
    variables,
)

_ADDITIVE = ("add", "subtract", "negative")


@lru_cache(maxsize=4096)
def explicit_sums(assignment: Assignment) -> Assignment:
    """Return the form that lowering starts from: each sum is a ``Reduce``, each bound variable has its own name.

    A variable absent from the target is summed around the smallest additive term that has the variable (2017 paper,
    section 2). Additive terms are the operands of the sums, differences and negations at the top. A product, a quotient
    or a call is one term, so that ``a(i) = (b(i,j) + c(i,j))*d(i)`` sums the whole product over ``j``. A variable bound
    by a written ``sum`` or ``max`` is not summed again.

    Bound variables get names that nothing else in the expression has: ``j``, then ``j1``. Operators that have only
    literals as operands are computed. The operands of logical reductions are converted to booleans.

    Examples
    --------
    >>> from weft.index_notation import parse, to_text
    >>> def show(text):
    ...     print(to_text(explicit_sums(parse(text))))
    >>> show("y(i) = A(i,j)*x(j) + b*z(i)")
    y(i) = sum(j, A(i,j)*x(j)) + b*z(i)
    >>> show("y(i) = b(i) - A(i,j)*x(j) - B(i,j)*x(j)")
    y(i) = b(i) - sum(j, A(i,j)*x(j)) - sum(j1, B(i,j1)*x(j1))
    >>> show("y(i) = x(i)/sum(i, x(i))")
    y(i) = x(i)/sum(i1, x(i1))
    """
    target = assignment.target.indices

    def summed(expr: Expr) -> Expr | None:
        if isinstance(expr, Apply) and expr.op in _ADDITIVE:
            return None
        # The smallest additive term: variables that neither the target nor a reduction binds are summed here.
        over = tuple(v for v in free_variables(expr) if v not in target)
        return Reduce("add", over, expr) if over else expr

    value = rewrite(rewrite_outermost(fold_literals(assignment.value), summed), _truth)
    value = _unique(value, set(target), {*target, *variables(value), *tensors(assignment)})
    return Assignment(assignment.target, value, assignment.op)


def _truth(expr: Expr) -> Expr | None:
    """Return a logical reduction of booleans, as NumPy converts its operand: true for a number other than zero."""
    match expr:
        case Reduce(op="logical_and" | "logical_or" | "logical_xor" as op, vars=vars, body=body):
            return expr if isinstance(body, Apply) and body.op == "bool" else Reduce(op, vars, Apply("bool", (body,)))
    return None


def _unique(expr: Expr, bound: set[str], used: set[str]) -> Expr:
    """Rename bound variables that are in ``bound`` already, and add all names to ``bound`` and ``used``."""
    if isinstance(expr, Reduce):
        names = {}
        for v in expr.vars:
            if v in bound:
                # j1, j2, ...: one of these names is unused, since there are more of them than used names.
                names[v] = next(n for k in range(1, len(used) + 2) if (n := f"{v}{k}") not in used)
                used.add(names[v])
            bound.add(names.get(v, v))
        if names:
            renamed = tuple(names.get(v, v) for v in expr.vars)
            expr = Reduce(expr.op, renamed, rename_variables(expr.body, names))
    return rebuild(expr, lambda child: _unique(child, bound, used))


@lru_cache(maxsize=1024)
def sum_with_target(assignment: Assignment) -> Assignment:
    """Return ``y(i) += e`` as an assignment of ``y(i) + e``, in which ``y`` is an operand; others stay as they are.

    Examples
    --------
    >>> from weft.index_notation import parse, to_text
    >>> to_text(sum_with_target(parse("y(i) += A(i,j)*x(j)")))
    'result(i) = y(i) + sum(j, A(i,j)*x(j))'
    """
    if assignment.op is None:
        return assignment
    explicit, names = explicit_sums(assignment), {*tensors(assignment), *variables(assignment)}
    name = next(n for k in count() if (n := f"result{k or ''}") not in names)
    return Assignment(Access(name, explicit.target.indices), Apply(assignment.op, (explicit.target, explicit.value)))


def fold_literals(expr: Expr) -> Expr:
    """Return ``expr`` with operators over literals alone computed, so that ``1/3*A(i)`` keeps the dtype of ``A``.

    Examples
    --------
    >>> from weft.index_notation import parse
    >>> fold_literals(parse("y(i) = 1/2*A(i)").value).args[0]
    Literal(value=0.5)
    """
    return rewrite(expr, _computed)


def _computed(expr: Expr) -> Literal | None:
    """Return the value of an operator over literals; None for other expressions."""
    values = [arg.value for arg in expr.children if isinstance(arg, Literal)]
    if not isinstance(expr, Apply) or len(values) < len(expr.args):
        return None
    with np.errstate(all="ignore"):
        try:
            value = OPERATORS[expr.op].ufunc(*values)
        except TypeError:  # such as the difference of booleans, for which promotion raises an error
            return None
    return Literal(value.item() if isinstance(value, np.generic) else value)


def infer_extents(assignment: Assignment, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """Return the number of values of each index variable.

    A variable has one extent in the whole expression, wherever it is bound.

    Examples
    --------
    >>> from weft.index_notation import parse
    >>> infer_extents(parse("y(i) = A(i,j)*x(j)"), {"A": (3, 4), "x": (4,)})
    {'i': 3, 'j': 4}
    >>> infer_extents(parse("y(i) = A(i,j)*x(j)"), {"A": (3, 4), "x": (5,)})
    Traceback (most recent call last):
    weft.errors.ShapeError: j is 4 in A(i,j) and 5 in x(j)
      y(i) = A(i,j)*x(j)
      A: (3, 4), x: (5,)
    """
    names = tensors(assignment)
    unknown = [name for name in tensors(assignment.value) if name not in shapes]
    if unknown:
        raise NotationError(_report(f"{_listed(unknown)} not given", assignment, shapes))
    unused = [name for name in shapes if name not in names]
    if unused:
        raise NotationError(_report(f"{_listed(unused)} not in the expression", assignment, shapes))
    extents: dict[str, int] = {}
    places: dict[str, Access] = {}  # the first access of each variable, for messages
    for access in accesses(assignment):
        # Only the result may lack a shape. The operands then decide the extents of its variables.
        if access.tensor not in shapes:
            continue
        shape = shapes[access.tensor]
        if len(shape) != len(access.indices):
            axes = f"{len(shape)} {'axis' if len(shape) == 1 else 'axes'}"
            message = f"{access.tensor} has {axes}, not the {len(access.indices)} of {expression_text(access)}"
            raise ShapeError(_report(message, assignment, shapes))
        for v, extent in zip(access.indices, shape, strict=True):
            if extents.setdefault(v, extent) != extent:
                message = _conflict(v, extents[v], places.get(v, access), extent, access)
                raise ShapeError(_report(message, assignment, shapes))
            places.setdefault(v, access)
    for v in assignment.target.indices:
        if v not in extents:
            raise ShapeError(_report(f"nothing says how many values {v} takes", assignment, shapes))
    return {v: extents[v] for v in variables(assignment)}


def _conflict(v: str, first: int, place: Access, extent: int, access: Access) -> str:
    if place == access:
        return f"{v} is both {first} and {extent} in {expression_text(access)}: a diagonal needs equal sizes"
    return f"{v} is {first} in {expression_text(place)} and {extent} in {expression_text(access)}"


def _report(message: str, assignment: Assignment, shapes: Mapping[str, tuple[int, ...]]) -> str:
    given = ", ".join(f"{name}: {tuple(shape)}" for name, shape in shapes.items())
    return f"{message}\n  {to_text(assignment)}\n  {given or 'no operands'}"


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last} are" if first else f"{last} is"
