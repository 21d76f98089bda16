"""Functions that build nodes of the IR.

The arithmetic functions are for index arithmetic. They cast the narrower of two integer types to the wider one, and
fold trivial operations (``x + 0``, ``x * 1``, ``x * 0``, constants). They fold no operation on floats.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, reduce

from .nodes import Binary, Block, Cast, Const, Declare, Expr, If, Load, Select, Stmt, Unary, Update, Var
from .types import INTEGERS, is_integer, promote, wrap

_TRUE, _FALSE = Const(True, "bool"), Const(False, "bool")


def var(name: str, ty: str = "int64") -> Var:
    """Return the variable ``name`` of the type ``ty``."""
    return Var(name, ty)


def lit(value: bool | int | float | complex, ty: str = "int64") -> Const:
    """Return a constant of the type ``ty``."""
    if ty in INTEGERS:
        return _integer_constant(int(value), ty)  # type: ignore[arg-type]
    if ty == "bool":
        return Const(bool(value), ty)
    if ty.startswith("float"):
        return Const(float(value), ty)  # type: ignore[arg-type]
    if ty.startswith("complex"):
        return Const(complex(value), ty)
    return Const(int(value), ty)  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def _integer_constant(value: int, ty: str) -> Const:
    return Const(value, ty)


def cast(e: Expr, ty: str) -> Expr:
    """Return ``e`` converted to the type ``ty``."""
    if e.ty == ty:
        return e
    if isinstance(e, Const) and is_integer(e.ty) and is_integer(ty):
        return Const(wrap(int(e.value), ty), ty)  # type: ignore[arg-type]
    return Cast(e, ty)


def _same(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Cast two integer operands to the wider of their types; return other operands unchanged."""
    if a.ty != b.ty and is_integer(a.ty) and is_integer(b.ty):
        ty = promote(a.ty, b.ty)
        return cast(a, ty), cast(b, ty)
    return a, b


def _integer(e: Expr) -> int | None:
    """Return the value of an integer constant, or None for any other expression."""
    return int(e.value) if isinstance(e, Const) and is_integer(e.ty) else None  # type: ignore[arg-type]


def add(a: Expr, b: Expr) -> Expr:
    """Return ``a + b``; if ``a`` is a pointer, the address of the element ``b`` places after it."""
    if a.ty.endswith("*"):
        return a if _integer(b) == 0 else Binary("+", a, b)
    a, b = _same(a, b)
    x, y = _integer(a), _integer(b)
    if x is not None and y is not None:
        return Const(wrap(x + y, a.ty), a.ty)
    if x == 0:
        return b
    match a:
        # (whole - c) + c is whole.
        case Binary(op="-", a=whole, b=Const() as less) if y is not None and y == _integer(less):
            return whole
    return a if y == 0 else Binary("+", a, b)


def sub(a: Expr, b: Expr) -> Expr:
    """Return ``a - b``."""
    a, b = _same(a, b)
    x, y = _integer(a), _integer(b)
    if x is not None and y is not None:
        return Const(wrap(x - y, a.ty), a.ty)
    if is_integer(a.ty) and a == b:
        return Const(0, a.ty)
    return a if y == 0 else Binary("-", a, b)


def mul(a: Expr, b: Expr) -> Expr:
    """Return ``a * b``."""
    a, b = _same(a, b)
    x, y = _integer(a), _integer(b)
    if x is not None and y is not None:
        return Const(wrap(x * y, a.ty), a.ty)
    if x == 0 or y == 0:
        return Const(0, a.ty)
    if x == 1:
        return b
    return a if y == 1 else Binary("*", a, b)


def product(factors: Iterable[Expr]) -> Expr:
    """Return the product of all factors, which is 1 if there are none."""
    one: Expr = lit(1)
    return reduce(mul, factors, one)


def total(terms: Iterable[Expr]) -> Expr:
    """Return the sum of all terms, which is 0 if there are none."""
    none: Expr = lit(0)
    return reduce(add, terms, none)


def _compare(op: str, a: Expr, b: Expr) -> Expr:
    return Binary(op, *_same(a, b))


def lt(a: Expr, b: Expr) -> Expr:
    """Return ``a < b``."""
    return _compare("<", a, b)


def le(a: Expr, b: Expr) -> Expr:
    """Return ``a <= b``."""
    return _compare("<=", a, b)


def gt(a: Expr, b: Expr) -> Expr:
    """Return ``a > b``."""
    return _compare(">", a, b)


def ge(a: Expr, b: Expr) -> Expr:
    """Return ``a >= b``."""
    return _compare(">=", a, b)


def eq(a: Expr, b: Expr) -> Expr:
    """Return ``a == b``."""
    return _compare("==", a, b)


def ne(a: Expr, b: Expr) -> Expr:
    """Return ``a != b``."""
    return _compare("!=", a, b)


def not_(a: Expr) -> Expr:
    """Return ``!a``: a constant if ``a`` is one, and the operand of ``a`` if ``a`` is a negation."""
    if isinstance(a, Const):
        return Const(not a.value, "bool")
    return a.a if isinstance(a, Unary) and a.op == "!" else Unary("!", a)


def land(*conds: Expr) -> Expr:
    """Return the conjunction of ``conds``, which is true if there are none."""
    result: Expr = _TRUE
    for cond in conds:
        if cond == _FALSE or result == _FALSE:
            return _FALSE
        if cond != _TRUE:
            result = cond if result == _TRUE else Binary("&&", result, cond)
    return result


def lor(*conds: Expr) -> Expr:
    """Return the disjunction of ``conds``, which is false if there are none."""
    result: Expr = _FALSE
    for cond in conds:
        if cond == _TRUE or result == _TRUE:
            return _TRUE
        if cond != _FALSE:
            result = cond if result == _FALSE else Binary("||", result, cond)
    return result


def _extreme(op: str, exprs: tuple[Expr, ...]) -> Expr:
    """Return the least or greatest of some integers, by ``op``: ``<`` or ``>``.

    The integers are split in halves. A ``Select`` repeats its operands, so an expression of n integers grows with n
    squared. It would grow with ``2**n`` if the integers were compared one after the other.
    """
    if len(exprs) == 1:
        return exprs[0]
    half = (len(exprs) + 1) // 2
    a, b = _same(_extreme(op, exprs[:half]), _extreme(op, exprs[half:]))
    x, y = _integer(a), _integer(b)
    if a == b:
        return a
    if x is not None and y is not None:
        return Const(min(x, y) if op == "<" else max(x, y), a.ty)
    return Select(Binary(op, a, b), a, b)


def minimum(*exprs: Expr) -> Expr:
    """Return the least of some integers."""
    return _extreme("<", exprs)


def maximum(*exprs: Expr) -> Expr:
    """Return the greatest of some integers."""
    return _extreme(">", exprs)


def load(array: Expr, index: Expr) -> Load:
    """Return ``array[index]``."""
    return Load(array, index)


def declare(name: str, value: Expr) -> tuple[Var, Declare]:
    """Return a variable of the type of ``value``, and the statement that declares it with this value."""
    v = Var(name, value.ty)
    return v, Declare(v, value)


def increment(target: Var | Load, by: Expr | int = 1) -> Update:
    """Return the statement ``target += by``."""
    return Update("+", target, lit(by, target.ty) if isinstance(by, int) else cast(by, target.ty))


def block(*stmts: Stmt | None) -> Stmt:
    """Return the statements in order as one statement.

    Nested blocks are flattened. None and empty blocks are dropped. A single statement is returned without a block.
    """
    flat: list[Stmt] = []
    for s in stmts:
        if type(s) is Block:
            inner = block(*s.stmts) if Block in map(type, s.stmts) else s
            flat.extend(inner.stmts if isinstance(inner, Block) else (inner,))
        elif s is not None:
            flat.append(s)
    return flat[0] if len(flat) == 1 else Block(tuple(flat))


def parts(body: Stmt) -> tuple[Stmt, ...]:
    """Return the statements of a body, of which there is at least one."""
    return body.stmts if isinstance(body, Block) and body.stmts else (body,)


def if_(cond: Expr, then: Stmt, orelse: Stmt | None = None) -> Stmt:
    """Return ``if (cond) then else orelse``, or only the branch that is taken if the condition is constant."""
    if cond == _TRUE:
        return then
    if cond == _FALSE:
        return orelse if orelse is not None else Block()
    return If(cond, then, orelse)
