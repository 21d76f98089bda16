"""Concrete index notation: index notation with its loops, temporaries and order of evaluation made explicit.

Grammar::

    stmt ::= Assign(target, value, op)        one element: target = value, or target op= value
           | Fill(target, value)              every element of target not yet fixed by enclosing loops = value
           | Forall(var, stmt, parallel)      for every value of var, in order unless parallel
           | Where(consumer, producer)        producer makes the workspace that consumer reads
           | Sequence(stmt*)                  one after the other

Expressions are those of index notation without ``Reduce``. A workspace is a tensor that lives inside one ``Where``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal as OneOf

from ..index_notation.nodes import Access, Apply, Expr, Literal
from ..index_notation.operator_table import OPERATORS
from ..records import record

__all__ = [
    "SMALL_WORKSPACE",
    "Assign",
    "Fill",
    "Forall",
    "Program",
    "RegisterStrips",
    "Sequence",
    "Split",
    "Stmt",
    "TileSweep",
    "Where",
    "Workspace",
    "accesses",
    "assignments",
    "foralls_of",
    "result_of",
    "rewrite",
    "statements",
    "to_text",
    "wheres_of",
]

SMALL_WORKSPACE = 64
"""Elements of a workspace that may stand in registers, or at least on the stack."""


class Stmt:
    """A statement of concrete index notation."""


@record
class Assign(Stmt):
    """``target = value`` or ``target op= value`` for one element."""

    target: Access
    value: Expr
    op: str | None = None


@record
class Fill(Stmt):
    """Set the part of ``target`` that the enclosing loops have not fixed to ``value``."""

    target: Access
    value: bool | int | float | complex


@record
class Forall(Stmt):
    """Run ``body`` for every value of ``var`` that can matter."""

    var: str
    body: Stmt
    parallel: bool = False


@record
class Where(Stmt):
    """Run ``producer``, which writes a workspace, then ``consumer``, which reads it."""

    consumer: Stmt
    producer: Stmt


@record
class Sequence(Stmt):
    """Run each statement in turn."""

    stmts: tuple[Stmt, ...]


@record
class Workspace:
    """A temporary tensor.

    Parameters
    ----------
    name : str
        Its name in accesses.
    indices : tuple of str
        Variables it is indexed by; none for a scalar.
    kind : {'scalar', 'dense', 'listed', 'hashed', 'marked', 'paired'}
        One number; an array that is filled before use; an array with a list of the coordinates that were set; a
        hash table from coordinates to values, for dimensions too large for an array; an array with marks; a list of
        coordinates as they come with a list of values, which the consumer sees in order.
    dtype : str
        Value dtype.
    op : str
        The operator that reduces into it.
    repeats : bool
        Whether a paired one may list a coordinate more than once.
    """

    name: str
    indices: tuple[str, ...]
    kind: OneOf["scalar", "dense", "list", "hash", "flags", "pairs"]
    dtype: str
    op: str = "add"
    repeats: bool = False


@record
class TileSweep:
    """What goes round above the loops over tiles, and how large these are therefore.

    Where the loop over ``var`` has more than ``few`` iterations a tile has ``room`` elements of what is written, all of
    the variables ``across`` included.
    """

    var: str
    few: int
    room: int
    across: tuple[str, ...] = ()


@record
class Split:
    """The loop over ``var`` is two: over blocks of ``factor`` iterations (``outer``) and inside one (``inner``).

    With ``tiles`` the blocks are of that variable's coordinates, over its whole dimension, and the outer loop can stand
    anywhere above: the inner one is over what of its range lies in the block. ``tiles`` is ``var``, or follows from it
    and outer loops by adding. A ``sweep`` makes them larger where it is long.
    """

    var: str
    outer: str
    inner: str
    factor: int
    tiles: str | None = None
    sweep: TileSweep | None = None


@record
class RegisterStrips:
    """The loop over ``var`` is cut into strips: ``outer``, anywhere above, is over these, and ``inner`` inside one.

    There are as many strips of the first of ``widths`` as fit, then of the next in what is left; the last width is 1.
    ``inner`` counts from 0, so that a workspace over it is as small as a strip, and can stand in registers.
    """

    var: str
    outer: str
    inner: str
    widths: tuple[int, ...]


@record
class Program:
    """A statement with the workspaces it uses and the loops that are cut into blocks."""

    stmt: Stmt
    workspaces: tuple[Workspace, ...] = ()
    splits: tuple[Split | RegisterStrips, ...] = ()


def rewrite(stmt: Stmt, rule: Callable[[Stmt], Stmt | None]) -> Stmt:
    """``stmt`` with ``rule`` applied from the top; where it answers None, its parts are rewritten."""
    new = rule(stmt)
    if new is not None:
        return new
    match stmt:
        case Forall(var=var, body=body, parallel=parallel):
            return Forall(var, rewrite(body, rule), parallel)
        case Where(consumer=consumer, producer=producer):
            return Where(rewrite(consumer, rule), rewrite(producer, rule))
        case Sequence(stmts=stmts):
            return Sequence(tuple(rewrite(s, rule) for s in stmts))
    return stmt


def statements(stmt: Stmt) -> Iterator[Stmt]:
    """``stmt`` and every statement below it: those around others first, producers before consumers."""
    yield stmt
    match stmt:
        case Forall(body=body):
            yield from statements(body)
        case Where(consumer=consumer, producer=producer):
            yield from statements(producer)
            yield from statements(consumer)
        case Sequence(stmts=stmts):
            for each in stmts:
                yield from statements(each)


def assignments(stmt: Stmt) -> Iterator[Assign]:
    """Every Assign below ``stmt``, in program order."""
    return (s for s in statements(stmt) if isinstance(s, Assign))


def result_of(stmt: Stmt) -> Assign:
    """The assignment that a statement is there for: its last, which those before it lead up to."""
    return list(assignments(stmt))[-1]


def foralls_of(stmt: Stmt) -> Iterator[Forall]:
    """Every Forall of ``stmt``, outermost first."""
    return (s for s in statements(stmt) if isinstance(s, Forall))


def wheres_of(stmt: Stmt) -> Iterator[Where]:
    """Every Where of ``stmt``, outermost first."""
    return (s for s in statements(stmt) if isinstance(s, Where))


def accesses(expr: Expr) -> Iterator[Access]:
    """Every access in an expression, in order, repeats included."""
    match expr:
        case Access():
            yield expr
        case Apply(args=args):
            for arg in args:
                yield from accesses(arg)
        case _:
            inner = getattr(expr, "expr", None)
            if inner is not None:
                yield from accesses(inner)


def _expr_text(expr: Expr, strength: int = 0) -> str:
    match expr:
        case Access(tensor=tensor, indices=indices):
            return f"{tensor}({','.join(indices)})" if indices else tensor
        case Literal(value=value):
            return repr(value)
        case Apply(op=op, args=args):
            row = OPERATORS[op]
            if row.symbol is None:
                return f"{op}({', '.join(_expr_text(a) for a in args)})"
            if row.arity == 1:
                return f"{row.symbol}{_expr_text(args[0], row.precedence)}"
            a = _expr_text(args[0], row.precedence)
            b = _expr_text(args[1], row.precedence + 1)
            text = f"{a} {row.symbol} {b}" if row.precedence < 2 else f"{a}{row.symbol}{b}"
            return f"({text})" if row.precedence < strength else text
        case _:
            inner = getattr(expr, "expr", None)
            return str(expr) if inner is None else _expr_text(inner, strength)


def to_text(stmt: Stmt, indent: int = 0) -> str:
    """Readable, deterministic text of a statement."""
    pad = "  " * indent
    match stmt:
        case Assign(target=target, value=value, op=op):
            sign = "=" if op is None else f"{OPERATORS[op].symbol or op}="
            return f"{pad}{_expr_text(target)} {sign} {_expr_text(value)}"
        case Fill(target=target, value=value):
            return f"{pad}fill {_expr_text(target)} = {value!r}"
        case Forall(var=var, body=body, parallel=parallel):
            mark = " parallel" if parallel else ""
            return f"{pad}forall {var}{mark}\n{to_text(body, indent + 1)}"
        case Where(consumer=consumer, producer=producer):
            return f"{to_text(consumer, indent)}\n{pad}where\n{to_text(producer, indent + 1)}"
        case Sequence(stmts=stmts):
            return f"\n{pad};\n".join(to_text(each, indent) for each in stmts)
    raise TypeError(f"not a statement: {stmt!r}")
