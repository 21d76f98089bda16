"""Concrete index notation: index notation with its loops, temporaries and order of evaluation made explicit.

Grammar::

    stmt ::= Assign(target, value, op)        one element: target = value, or target op= value
           | Fill(target, value)              every element of target not yet fixed by enclosing loops = value
           | Forall(var, stmt, parallel)      for every value of var, in order unless parallel
           | Forall(var, stmt, positions)     the same, in shares of the positions of a level of an operand
           | Where(consumer, producer)        producer makes the workspace that consumer reads
           | Sequence(stmt*)                  one after the other

Expressions are those of index notation without ``Reduce``. A workspace is a tensor that lives inside one ``Where``.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, TypeAlias
from typing import Literal as OneOf

from ..index_notation.nodes import Access, Apply, Expr, Literal
from ..index_notation.operator_table import OPERATORS
from ..records import record
from ..trees import Node, walk

SMALL_WORKSPACE = 64
"""Largest number of elements of a workspace that is kept in registers or on the stack."""


class Stmt(Node):
    """Statement of concrete index notation."""


@record
class Assign(Stmt):
    """Assignment ``target = value`` or ``target op= value`` of one element."""

    target: Access
    value: Expr
    op: str | None = None


@record
class Fill(Stmt):
    """Assignment of ``value`` to every element of ``target`` at the coordinates that the enclosing loops fix."""

    target: Access
    value: bool | int | float | complex


@record
class Positions:
    """Positions of a level of an operand, by which a loop is cut into shares of ``share`` entries.

    A share ends where an iteration of the loop does. Each is summed apart, and the sums are joined in order. The ends
    follow from the operand alone, so that the result does not depend on the number of threads.
    """

    access: Access
    level: int
    share: int

    def __str__(self) -> str:
        return f"{self.access.tensor}{self.level + 1}"


@record
class Forall(Stmt):
    """Loop that runs ``body`` for every value of ``var`` that can change the result."""

    var: str
    body: Stmt
    parallel: bool = False
    positions: Positions | None = None

    children = property(lambda self: (self.body,))

    def with_children(self, children: tuple[Any, ...]) -> Forall:
        return Forall(self.var, children[0], self.parallel, self.positions)


@record
class Where(Stmt):
    """Statement that runs ``producer``, which writes a workspace, then ``consumer``, which reads that workspace."""

    consumer: Stmt
    producer: Stmt

    children = property(attrgetter("producer", "consumer"))

    def with_children(self, children: tuple[Any, ...]) -> Where:
        return Where(children[1], children[0])


@record
class Sequence(Stmt):
    """Statements that run one after the other."""

    stmts: tuple[Stmt, ...]

    children = property(attrgetter("stmts"))

    def with_children(self, children: tuple[Any, ...]) -> Sequence:
        return Sequence(children)


WorkspaceKind: TypeAlias = OneOf["scalar", "dense", "list", "hash", "flags", "pairs", "whole"]
"""Data structure of a workspace."""


@record
class Workspace:
    """Temporary tensor inside one ``Where``."""

    name: str  # the name of the workspace in accesses
    indices: tuple[str, ...]  # the index variables of the workspace. A scalar workspace has none.
    # The data structure. ``'scalar'``: one number. ``'dense'``: an array that is filled before use. ``'list'``: an
    # array with a list of the coordinates that were written. ``'hash'``: a hash table from coordinates to values, for
    # dimensions too large for an array. ``'flags'``: an array with one flag for each coordinate. ``'pairs'``: a list of
    # coordinates in the order of writing and a list of their values, both sorted before the consumer runs.
    # ``'whole'``: an array of which all elements are written, or none.
    kind: WorkspaceKind
    dtype: str  # the dtype of the values
    op: str = "add"  # the operator that reduces values into the workspace
    repeats: bool = False  # True if a ``'pairs'`` workspace may list a coordinate more than once
    copies: bool = False  # True if it sorts a segment of an operand, which the consumer reads beside other operands


@record
class TileSweep:
    """Rule for the size of tiles, given a loop that is repeated for each of them.

    The loop over ``var`` runs once for each tile, so fewer tiles are better if that loop is long. If the loop over
    ``var`` has more than ``few`` iterations, a tile covers ``room`` elements of the result, where all elements along
    the variables ``across`` are counted. Otherwise a tile has as many coordinates as the ``factor`` of its ``Split``.
    """

    var: str
    few: int
    room: int
    across: tuple[str, ...] = ()


@record
class Split:
    """Split of the loop over ``var`` into a loop over blocks (``outer``) and a loop inside one block (``inner``).

    A block has ``factor`` iterations. If ``tiles`` is given, the blocks are tiles: ranges of coordinates of the
    variable ``tiles``, which together cover its dimension. Then the outer loop may be placed anywhere above the inner
    loop, and the inner loop covers the part of its range that lies in the tile. ``tiles`` is ``var`` itself, or a
    derived variable that is the sum of ``var`` and a value that the outer loops determine. If ``sweep`` is given, tiles
    are larger where the loop that it names is long.
    """

    var: str
    outer: str
    inner: str
    factor: int
    tiles: str | None = None
    sweep: TileSweep | None = None


@record
class RegisterStrips:
    """Split of the loop over ``var`` into a loop over register strips (``outer``) and a loop inside one (``inner``).

    The outer loop may be placed anywhere above the inner loop. The range is cut into as many strips of the first of
    ``widths`` as fit, the remainder into as many of the next width as fit, and so on. The last width is 1, or the last
    strip may be shorter, so every coordinate is in a strip. ``inner`` counts from 0, so a workspace over ``inner`` has
    as many elements as a strip and fits into registers.
    """

    var: str
    outer: str
    inner: str
    widths: tuple[int, ...]
    ends_short: bool = False  # True if the last strip may have fewer coordinates than its width


@record
class Program:
    """Statement with its workspaces and its split loops."""

    stmt: Stmt
    workspaces: tuple[Workspace, ...] = ()
    splits: tuple[Split | RegisterStrips, ...] = ()

    @property
    def shared_loop(self) -> Forall | None:
        """The loop whose iterations threads share."""
        return next((s for s in walk(self.stmt) if isinstance(s, Forall) and s.parallel), None)

    @property
    def shares(self) -> Positions | None:
        """The positions by which a loop is cut into shares."""
        return next((s.positions for s in walk(self.stmt) if isinstance(s, Forall) and s.positions), None)


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
            # Operators are left associative: the right operand needs parentheses at the same precedence.
            a = _expr_text(args[0], row.precedence)
            b = _expr_text(args[1], row.precedence + 1)
            text = f"{a} {row.symbol} {b}" if row.precedence < 2 else f"{a}{row.symbol}{b}"
            return f"({text})" if row.precedence < strength else text
        case _ if expr.children:  # a conversion
            return _expr_text(expr.children[0], strength)
    return str(expr)


def to_text(stmt: Stmt, indent: int = 0) -> str:
    """Return a readable text of ``stmt``, which is the same for equal statements."""
    pad = "  " * indent
    match stmt:
        case Assign(target=target, value=value, op=op):
            sign = "=" if op is None else f"{OPERATORS[op].symbol or op}="
            return f"{pad}{_expr_text(target)} {sign} {_expr_text(value)}"
        case Fill(target=target, value=value):
            return f"{pad}fill {_expr_text(target)} = {value!r}"
        case Forall(var=var, body=body, parallel=parallel, positions=positions):
            mark = " parallel" if parallel else ""
            mark += f" in shares of {positions.share} positions of {positions}" if positions else ""
            return f"{pad}forall {var}{mark}\n{to_text(body, indent + 1)}"
        case Where(consumer=consumer, producer=producer):
            return f"{to_text(consumer, indent)}\n{pad}where\n{to_text(producer, indent + 1)}"
        case Sequence(stmts=stmts):
            return f"\n{pad};\n".join(to_text(each, indent) for each in stmts)
    raise TypeError(f"not a statement: {stmt!r}")
