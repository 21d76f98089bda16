"""Tensor index notation (2017 paper, section 2): what to compute, element by element.

Grammar::

    assignment ::= Assignment(target: Access, value: expr, op)     op None for '=', 'add' for '+='
    expr       ::= Access(tensor, indices) | Literal(value) | Apply(operator, expr*) | Reduce(operator, vars, expr)

Tensors and index variables are plain names. Formats, dtypes and shapes are bound later, so that one expression
serves any operands. Operators are given by their names in
``operator_table.OPERATORS``.
"""

from __future__ import annotations

from typing import Any

from ..records import cached, record

__all__ = ["Access", "Apply", "Assignment", "Expr", "Literal", "Reduce"]


class Expr:
    """Index expression."""


@record
class Access(Expr):
    """Access to a tensor, ``tensor(indices...)``; a scalar has no indices.

    A variable may repeat: ``B(i,i)`` is the diagonal.
    """

    tensor: str
    indices: tuple[str, ...] = ()


@record
class Literal(Expr):
    """Number written in the expression; weakly typed, as Python scalars are in NumPy.

    Literals are equal if they mean the same in every expression. ``1``, ``1.0`` and ``True`` differ, as do ``0.0`` and
    ``-0.0``. NaN equals NaN.

    Examples
    --------
    >>> Literal(1) == Literal(1.0), Literal(0.0) == Literal(-0.0), Literal(2) == Literal(2)
    (False, False, True)
    """

    value: bool | int | float | complex

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return type(self.value) is type(other.value) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash((Literal, repr(self.value)))


@record
class Apply(Expr):
    """Operator of the table, applied to its operands element by element."""

    op: str
    args: tuple[Expr, ...]


@record
class Reduce(Expr):
    """Reduction of ``body`` with ``op`` over all values of ``vars``."""

    op: str
    vars: tuple[str, ...]
    body: Expr


@record
class Assignment:
    """Assignment ``target = value``, or ``target op= value``.

    In a parsed assignment, sums over variables absent from the target are implied. ``checks.explicit_sums`` turns these
    sums into ``Reduce`` nodes around each additive term, according to the meaning of the notation.
    """

    target: Access
    value: Expr
    op: str | None = None

    def __hash__(self) -> int:
        return self._hash

    @cached
    def _hash(self) -> int:
        """Hash of the fields, kept since every call looks for the plan of its assignment."""
        return hash((self.target, self.value, self.op))

    def __reduce__(self) -> tuple[Any, ...]:  # without the hash, which differs from process to process
        return Assignment, (self.target, self.value, self.op)
