"""Tensor index notation (2017 paper, section 2): what to compute, element by element.

Grammar::

    assignment ::= Assignment(target: Access, value: expr, op)     op None for '=', 'add' for '+='
    expr       ::= Access(tensor, indices) | Literal(value) | Apply(operator, expr*) | Reduce(operator, vars, expr)

Tensors and index variables are plain names. Formats, dtypes and shapes are bound later, so that one expression
serves any operands. Operators are given by their names in
``operator_table.OPERATORS``.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from ..records import cached, keeps_hash, record
from ..trees import Node, walk


class Expr(Node):
    """Index expression."""

    @cached
    def distinct_accesses(self) -> tuple[Access, ...]:
        """Return the distinct accesses, in the order in which they first occur."""
        return tuple(dict.fromkeys([node for node in walk(self) if isinstance(node, Access)]))

    @cached
    def reductions(self) -> tuple[Reduce, ...]:
        """Return all reductions, outer ones first."""
        return tuple([node for node in walk(self) if isinstance(node, Reduce)])


@keeps_hash
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


@keeps_hash
@record
class Apply(Expr):
    """Operator of the table, applied to its operands element by element."""

    op: str
    args: tuple[Expr, ...]

    children = property(attrgetter("args"))

    def with_children(self, children: tuple[Any, ...]) -> Apply:
        return Apply(self.op, children)


@keeps_hash
@record
class Reduce(Expr):
    """Reduction of ``body`` with ``op`` over all values of ``vars``."""

    op: str
    vars: tuple[str, ...]
    body: Expr

    children = property(lambda self: (self.body,))

    def with_children(self, children: tuple[Any, ...]) -> Reduce:
        return Reduce(self.op, self.vars, children[0])


@keeps_hash
@record
class Assignment:
    """Assignment ``target = value``, or ``target op= value``.

    In a parsed assignment, sums over variables absent from the target are implied. ``checks.explicit_sums`` turns these
    sums into ``Reduce`` nodes around each additive term, according to the meaning of the notation.
    """

    target: Access
    value: Expr
    op: str | None = None
