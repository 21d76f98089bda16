"""Nodes of the imperative IR: a small typed language of loops and arrays, one step above C.

The language knows nothing of tensors. Its grammar is::

    type  ::= 'bool' | 'int8'.. 'int64' | 'uint8'..'uint64' | 'float32' | 'float64'
            | 'complex64' | 'complex128' | type '*'
    expr  ::= Var | Const | Unary(op, expr) | Binary(op, expr, expr) | Call(name, expr*)
            | Cast(expr) | Select(cond, expr, expr) | Load(array, index)
    stmt  ::= Declare(var, expr?) | Set(var, expr) | Store(array, index, expr)
            | Update(op, var-or-load, expr) | Block(stmt*) | If(cond, stmt, stmt?)
            | While(cond, stmt) | For(var, start, stop, stmt) | Allocate(var, size, zero)
            | Array(var, size) | Free(var) | Evaluate(call) | Comment(text) | Return(expr)
            | Parallel(prologue, For, epilogue) | Poll(watch) | Scan(var, array, start, stop, op, expr?)
    function ::= Function(name, params, body)

Types are plain strings: NumPy's names of dtypes, with a trailing ``*`` for a pointer. Nodes are immutable and hashable.
Their children are nodes and tuples of nodes.
"""

from __future__ import annotations

from ..records import record


class Expr:
    """An expression of the IR. Each expression has a type ``ty``."""

    ty: str


class Stmt:
    """A statement of the IR."""


@record
class Var(Expr):
    """A variable: a scalar, or a pointer when its type ends in ``*``."""

    name: str
    ty: str = "int64"


@record
class Const(Expr):
    """A constant of Python type bool, int, float or complex.

    Constants compare as their values do: ``-0.0 == 0.0`` and ``nan != nan``.
    """

    value: bool | int | float | complex
    ty: str = "int64"


@record
class Unary(Expr):
    """An operation on one operand; ``op`` is one of ``- ! ~``."""

    op: str
    a: Expr

    @property
    def ty(self) -> str:  # type: ignore[override]
        return "bool" if self.op == "!" else self.a.ty


@record
class Binary(Expr):
    """An operation on two operands of one type; ``op`` is one of ``+ - * / % & | ^ << >> && || == != < <= > >=``.

    The result has the type of the operands, or ``bool`` for comparisons and logic. The one exception to the rule of
    one type is ``pointer + integer``, which is a pointer. Integer ``/`` and ``%`` truncate, as in C. Operators with
    other rules are calls of functions of the prelude.
    """

    op: str
    a: Expr
    b: Expr

    @property
    def ty(self) -> str:  # type: ignore[override]
        return "bool" if self.op in ("&&", "||", "==", "!=", "<", "<=", ">", ">=") else self.a.ty


@record
class Call(Expr):
    """A call of a C function or a prelude function. Only a call inside ``Evaluate`` may have side effects."""

    name: str
    args: tuple[Expr, ...]
    ty: str


@record
class Cast(Expr):
    a: Expr
    ty: str


@record
class Select(Expr):
    """The expression ``cond ? a : b``."""

    cond: Expr
    a: Expr
    b: Expr

    @property
    def ty(self) -> str:  # type: ignore[override]
        return self.a.ty


@record
class Load(Expr):
    """The element ``array[index]``; ``array`` has a pointer type."""

    array: Expr
    index: Expr

    @property
    def ty(self) -> str:  # type: ignore[override]
        return self.array.ty[:-1]


@record
class Declare(Stmt):
    """Declaration of a local variable, with its initial value or None."""

    var: Var
    value: Expr | None = None


@record
class Set(Stmt):
    """The assignment ``var = value``."""

    var: Var
    value: Expr


@record
class Store(Stmt):
    """The assignment ``array[index] = value``."""

    array: Expr
    index: Expr
    value: Expr


@record
class Update(Stmt):
    """The assignment ``target op= value`` for ``op`` in ``+ - * & | ^``; the target is a Var or a Load."""

    op: str
    target: Var | Load
    value: Expr


@record
class Block(Stmt):
    """Statements in order. A block has no scope of its own: its declarations belong to the enclosing scope."""

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
    """The loop ``for (var = start; var < stop; var++)``; ``stop`` is evaluated once.

    ``simd`` lists the scalar variables that the body reduces with an operator, as ``(op, name)`` pairs. The loop may be
    vectorized with these reductions in another order. ``()`` promises independent iterations, ``None`` nothing.
    ``unroll`` asks for a copy of the body for each iteration; start and stop must then be constants. ``step`` is what
    is added to the variable after each iteration; None for 1.
    """

    var: Var
    start: Expr
    stop: Expr
    body: Stmt
    simd: tuple[tuple[str, str], ...] | None = None
    unroll: bool = False
    step: Expr | None = None


@record
class Parallel(Stmt):
    """A parallel region: each thread runs ``prologue``, some of the iterations of ``loop``, and ``epilogue``.

    ``threads`` is the largest number of threads, an int64 expression. Threads take iterations in order, one by one, and
    any of them may take any number, even all. The bounds of the loop are evaluated once, before the prologue.
    """

    threads: Expr
    prologue: Stmt
    loop: For
    epilogue: Stmt


@record
class Scan(Stmt):
    """Running totals: the elements from ``start`` up to ``stop`` become their totals up to each of them, by ``op``.

    ``op`` is ``+`` or ``maximum``; ``array`` holds integers. ``first`` counts as one more element before all others, if
    it is there. ``var`` is the variable of the loop that a CPU runs.
    """

    var: Var
    array: Var
    start: Expr
    stop: Expr
    op: str
    first: Expr | None = None


@record
class Allocate(Stmt):
    """Declaration of ``var``, a pointer to ``size`` new elements of scratch memory, zeroed if ``zero``.

    If the allocation fails, the function frees its scratch memory and returns the out-of-memory code.
    """

    var: Var
    size: Expr
    zero: bool = False


@record
class Array(Stmt):
    """Declaration of ``var``, a pointer to a few elements in the scope of the block; the compiler may use registers."""

    var: Var
    size: int


@record
class Free(Stmt):
    var: Var


@record
class Evaluate(Stmt):
    """A call as a statement, for its side effects."""

    call: Call


@record
class Comment(Stmt):
    text: str


@record
class Return(Stmt):
    value: Expr


@record
class Poll(Stmt):
    """Exit from the function if it was told to stop; the exit is that of a failed allocation.

    ``watch`` is an array of two int64, which holds whether the function was told to stop. If ``asks``, the calling
    thread first asks whether to stop, unless it asked a short time ago.
    """

    watch: Var
    asks: bool = True


@record
class Function:
    """A function that returns an int64 status: 0, or one of the codes of ``abi``.

    ``params`` are the tensors. ``body`` may use the local variables that ``codegen.symbols`` unpacks from these.
    """

    name: str
    params: tuple[Param, ...]
    body: Stmt


@record
class Param:
    """A tensor parameter and the local variables that are unpacked from it, of which only those in use are printed.

    ``dimensions`` are int64 variables, one for each dimension. ``arrays`` are pointers to the level arrays in storage
    order. ``vals`` is a pointer to the values. ``output`` is true if the function writes the arrays.
    """

    name: str
    dimensions: tuple[Var, ...]
    arrays: tuple[Var, ...]
    vals: Var
    output: bool = False
