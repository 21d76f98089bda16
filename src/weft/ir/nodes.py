"""The imperative IR: a small typed language of loops and arrays, one step above C.

It knows nothing of tensors. Grammar::

    type  ::= 'bool' | 'int8'.. 'int64' | 'uint8'..'uint64' | 'float32' | 'float64'
            | 'complex64' | 'complex128' | type '*'
    expr  ::= Var | Const | Unary(op, expr) | Binary(op, expr, expr) | Call(name, expr*)
            | Cast(expr) | Select(cond, expr, expr) | Load(array, index)
    stmt  ::= Declare(var, expr?) | Set(var, expr) | Store(array, index, expr)
            | Update(op, var-or-load, expr) | Block(stmt*) | If(cond, stmt, stmt?)
            | While(cond, stmt) | For(var, start, stop, stmt) | Allocate(var, size, zero)
            | Array(var, size) | Free(var) | Evaluate(call) | Comment(text) | Return(expr)
            | Parallel(prologue, For, epilogue) | Poll(watch)
    function ::= Function(name, params, body)

Types are plain strings: NumPy's dtype names, with a trailing ``*`` for a pointer. Nodes are frozen, hash, and
have tuple children.
"""

from __future__ import annotations

from ..records import record

__all__ = [
    "Allocate", "Array", "Binary", "Block", "Call", "Cast", "Comment", "Const", "Declare", "Evaluate", "Expr", "For",
    "Free", "Function", "If", "Load", "Parallel", "Param", "Poll", "Return", "Select", "Set", "Stmt", "Store", "Unary",
    "Update", "Var", "While",
]  # fmt: skip


class Expr:
    """An IR expression; every one has a type ``ty``."""

    ty: str


class Stmt:
    """An IR statement."""


@record
class Var(Expr):
    """A variable: a scalar, or a pointer when its type ends in ``*``."""

    name: str
    ty: str = "int64"


@record
class Const(Expr):
    """A constant of Python type bool, int, float or complex. Compare with care: ``-0.0 == 0.0``, ``nan != nan``."""

    value: bool | int | float | complex
    ty: str = "int64"


@record
class Unary(Expr):
    """``op`` is one of ``- ! ~``."""

    op: str
    a: Expr

    @property
    def ty(self) -> str:  # type: ignore[override]
        return "bool" if self.op == "!" else self.a.ty


@record
class Binary(Expr):
    """``op`` is one of ``+ - * / % & | ^ << >> && || == != < <= > >=``; both sides have one type.

    The one exception is ``pointer + integer``, a pointer. The result has that type, or ``bool`` for comparisons
    and logic. Integer ``/`` and ``%`` are C's (truncating): operators with other rules are calls into the prelude.
    """

    op: str
    a: Expr
    b: Expr

    @property
    def ty(self) -> str:  # type: ignore[override]
        return "bool" if self.op in ("&&", "||", "==", "!=", "<", "<=", ">", ">=") else self.a.ty


@record
class Call(Expr):
    """A call of a C or prelude function without side effects, unless inside ``Evaluate``."""

    name: str
    args: tuple[Expr, ...]
    ty: str


@record
class Cast(Expr):
    a: Expr
    ty: str


@record
class Select(Expr):
    """``cond ? a : b``."""

    cond: Expr
    a: Expr
    b: Expr

    @property
    def ty(self) -> str:  # type: ignore[override]
        return self.a.ty


@record
class Load(Expr):
    """``array[index]``; ``array`` has a pointer type."""

    array: Expr
    index: Expr

    @property
    def ty(self) -> str:  # type: ignore[override]
        return self.array.ty[:-1]


@record
class Declare(Stmt):
    """Declare a local variable, with an initial value where there is one."""

    var: Var
    value: Expr | None = None


@record
class Set(Stmt):
    """``var = value``."""

    var: Var
    value: Expr


@record
class Store(Stmt):
    """``array[index] = value``."""

    array: Expr
    index: Expr
    value: Expr


@record
class Update(Stmt):
    """``target op= value`` for ``op`` in ``+ - * & | ^``; the target is a Var or a Load."""

    op: str
    target: Var | Load
    value: Expr


@record
class Block(Stmt):
    """Statements in order, in the enclosing scope (no braces of its own)."""

    stmts: tuple[Stmt, ...] = ()


@record
class If(Stmt):
    cond: Expr
    then: Stmt
    orelse: Stmt | None = None


@record
class While(Stmt):
    cond: Expr
    body: Stmt


@record
class For(Stmt):
    """``for (var = start; var < stop; var++)``; ``stop`` is evaluated once.

    ``simd`` names the scalar variables that the body only accumulates into, as ``(op, name)`` pairs: the loop may
    be vectorised by reassociating them. ``None`` says nothing; ``()`` says that the iterations are independent.
    ``unroll`` asks for a copy of the body for each iteration, whose number is known.
    """

    var: Var
    start: Expr
    stop: Expr
    body: Stmt
    simd: tuple[tuple[str, str], ...] | None = None
    unroll: bool = False


@record
class Parallel(Stmt):
    """A parallel region: each thread runs ``prologue``, shares the iterations of ``loop``, runs ``epilogue``.

    ``threads`` is the number of threads (an int64 expression; 1 runs serially without starting a team).
    ``schedule`` is OpenMP's, e.g. ``dynamic, 1``.
    """

    threads: Expr
    prologue: Stmt
    loop: For
    epilogue: Stmt
    schedule: str = "dynamic, 1"


@record
class Allocate(Stmt):
    """Declare ``var`` (a pointer) and point it at ``size`` elements of scratch memory, zeroed when ``zero``.

    On failure the function releases what it holds and returns the out-of-memory code.
    """

    var: Var
    size: Expr
    zero: bool = False


@record
class Array(Stmt):
    """Declare ``var`` (a pointer) as a few elements that belong to the enclosing block: registers, if all goes well."""

    var: Var
    size: int


@record
class Free(Stmt):
    var: Var


@record
class Evaluate(Stmt):
    """A call for its side effects."""

    call: Call


@record
class Comment(Stmt):
    text: str


@record
class Return(Stmt):
    value: Expr


@record
class Poll(Stmt):
    """Leave the function where it has been told to stop, as a failed allocation leaves it.

    ``watch``, an array of two int64, says whether it has; where ``asks``, that is asked now if it was not of late.
    """

    watch: Var
    asks: bool = True


@record
class Function:
    """A function returning an int64 status: 0, or one of the codes in ``codegen.abi``.

    ``params`` are the tensors, by name; ``body`` starts from the locals that ``codegen.abi`` unpacks.
    """

    name: str
    params: tuple[Param, ...]
    body: Stmt


@record
class Param:
    """One tensor parameter and the locals unpacked from it (only those that the body uses are emitted).

    ``dimensions`` are int64 variables, one a dimension; ``arrays`` are the level arrays in storage order
    (pointers); ``vals`` is the value array. ``output`` says that the arrays are written.
    """

    name: str
    dimensions: tuple[Var, ...]
    arrays: tuple[Var, ...]
    vals: Var
    output: bool = False
