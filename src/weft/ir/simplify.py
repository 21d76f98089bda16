"""A value-safe simplifier: one pass down, one pass back up.

The pass down folds integer index arithmetic and conditions, takes the live side of decided branches, drops loops
that run zero times, and replaces variables that are only another name of a constant or of a variable. The pass up
drops declarations, assignments and loops without an effect.

Floats keep their meaning: no rule touches floating arithmetic, because ``x * 0.0`` may be NaN or ``-0.0``,
``-0.0 + 0.0`` is ``0.0``, ``x - x`` may be NaN and so on. Integers wrap around, as they do in the printed C.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .nodes import (
    Allocate,
    Binary,
    Block,
    Call,
    Cast,
    Comment,
    Const,
    Declare,
    Evaluate,
    Expr,
    For,
    Free,
    Function,
    If,
    Load,
    Parallel,
    Return,
    Select,
    Set,
    Stmt,
    Store,
    Unary,
    Update,
    Var,
    While,
)  # fmt: skip
from .traversal import children
from .types import INTEGERS, wrap

__all__ = ["simplify", "simplify_expression"]

_TRUE, _FALSE = Const(True, "bool"), Const(False, "bool")
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip


def simplify(function: Function) -> Function:
    """``function`` with the same effects and fewer nodes."""
    down = _Down(function)
    out: list[Stmt] = []
    down.stmt(function.body, out)
    body = _up(Block(tuple(out)), set(), down.reads)
    return replace(function, body=body or Block())


def simplify_expression(expr: Expr) -> Expr:
    """``expr`` with integer arithmetic and conditions folded."""
    return _Down(None).expr(expr)


class _Down:
    """The pass down: folding, copies, branches. ``names`` maps a variable to what it is another name of."""

    def __init__(self, function: Function | None):
        self.names: dict[str, Expr] = {}
        self.changed: set[str] = set()
        self.declared: dict[str, int] = {}
        self.reads: set[str] = set()
        if function is not None:
            self._survey(function.body)

    def _survey(self, stmt: Stmt) -> None:
        """Count the declarations of each name, and note the names that are assigned to."""
        match stmt:
            case Block(stmts):
                for s in stmts:
                    self._survey(s)
            case Declare(var) | Allocate(var):
                self.declared[var.name] = self.declared.get(var.name, 0) + 1
            case Set(Var(name)) | Update(_, Var(name)) | Free(Var(name)):
                self.changed.add(name)
            case For(var, _, _, body):
                self.declared[var.name] = self.declared.get(var.name, 0) + 1
                self._survey(body)
            case If(_, then, orelse):
                self._survey(then)
                if orelse is not None:
                    self._survey(orelse)
            case While(_, body):
                self._survey(body)
            case Parallel(_, prologue, loop, epilogue):
                for s in (prologue, loop, epilogue):
                    self._survey(s)

    # Expressions

    def expr(self, e: Expr) -> Expr:
        """``e`` folded, with other names replaced."""
        cls = type(e)
        if cls is Var:
            e = self.names.get(e.name, e)  # type: ignore[attr-defined]
            if type(e) is Var:
                self.reads.add(e.name)
            return e
        if cls is Const:
            return e
        match e:
            case Load(array, index):
                x, y = self.expr(array), self.expr(index)
                return e if x is array and y is index else Load(x, y)
            case Binary(op, a, b):
                x, y = self.expr(a), self.expr(b)
                return _binary(op, x, y) or (e if x is a and y is b else Binary(op, x, y))
            case Cast(a, ty):
                x = self.expr(a)
                if x.ty == ty:
                    return x
                if type(x) is Const and x.ty in INTEGERS and ty in INTEGERS:
                    return Const(wrap(int(x.value), ty), ty)  # type: ignore[arg-type]
                return e if x is a else Cast(x, ty)
            case Unary(op, a):
                x = self.expr(a)
                return _unary(op, x) or (e if x is a else Unary(op, x))
            case Select(cond, a, b):
                c = self.expr(cond)
                if type(c) is Const:
                    return self.expr(a if c.value else b)
                return Select(c, self.expr(a), self.expr(b))
            case Call(name, args, ty):
                return Call(name, tuple([self.expr(a) for a in args]), ty)
        raise TypeError(f"not an expression: {e!r}")

    # Statements

    def scope(self, *stmts: Stmt) -> list[Block]:
        """The statements rewritten one after the other in a scope of their own."""
        names, self.names = self.names, dict(self.names)
        blocks = []
        for s in stmts:
            out: list[Stmt] = []
            self.stmt(s, out)
            blocks.append(Block(tuple(out)))
        self.names = names
        return blocks

    def bind(self, name: str) -> None:
        """Enter a declaration of ``name``: what was known of an outer variable of that name does not hold here."""
        if self.names and self.declared.get(name) != 1:
            self.names = {
                k: v for k, v in self.names.items() if k != name and not (type(v) is Var and v.name == name)
            }  # fmt: skip

    def loop(self, loop: For, start: Expr, stop: Expr) -> For:
        """A loop with its body rewritten."""
        self.bind(loop.var.name)
        (body,) = self.scope(loop.body)
        return For(loop.var, start, stop, body, loop.simd)

    def stmt(self, s: Stmt, out: list[Stmt]) -> None:
        """Append ``s`` rewritten to ``out``."""
        match s:
            case Block(stmts):
                for inner in stmts:
                    self.stmt(inner, out)
            case Declare(var, value):
                if value is not None:
                    value = self.expr(value)
                self.bind(var.name)
                if var.name not in self.changed and (
                    type(value) is Const or (type(value) is Var and value.name not in self.changed)
                ):
                    self.names[var.name] = value
                    return
                out.append(Declare(var, value))
            case Set(var, value):
                out.append(Set(var, self.expr(value)))
            case Store(array, index, value):
                out.append(Store(self.expr(array), self.expr(index), self.expr(value)))
            case Update(op, target, value):
                value = self.expr(value)
                if type(target) is Load:
                    target = self.expr(target)  # type: ignore[assignment]
                if not (value.ty in INTEGERS and type(value) is Const and value.value == 0 and op in "+-|^"):
                    out.append(Update(op, target, value))
            case For(var, start, stop):
                first, last = self.expr(start), self.expr(stop)
                if _binary("<", first, last) == _FALSE:
                    return
                before_loop = self.names
                out.append(self.loop(s, first, last))
                self.names = before_loop
            case If(cond, then, orelse):
                self.branch(self.expr(cond), then, orelse, out)
            case While(cond, body):
                cond = self.expr(cond)
                if cond != _FALSE:
                    out.append(While(cond, *self.scope(body)))
            case Parallel(threads, prologue, loop, epilogue, schedule):
                threads = self.expr(threads)
                outside, self.names = self.names, dict(self.names)
                before: list[Stmt] = []
                after: list[Stmt] = []
                self.stmt(prologue, before)
                first, last = self.expr(loop.start), self.expr(loop.stop)
                prologue_names, self.names = self.names, dict(self.names)
                loop = self.loop(loop, first, last)
                self.names = prologue_names
                self.stmt(epilogue, after)
                self.names = outside
                out.append(Parallel(threads, Block(tuple(before)), loop, Block(tuple(after)), schedule))
            case Allocate(var, size, zero):
                size = self.expr(size)
                self.bind(var.name)
                out.append(Allocate(var, size, zero))
            case Evaluate(call):
                out.append(Evaluate(self.expr(call)))  # type: ignore[arg-type]
            case Return(value):
                out.append(Return(self.expr(value)))
            case _:
                out.append(s)

    def branch(self, cond: Expr, then: Stmt, orelse: Stmt | None, out: list[Stmt]) -> None:
        """Append an If, or its live side."""
        if type(cond) is Const:
            live = then if cond.value else orelse
            if live is None:
                return
            (inner,) = self.scope(live)
            if all(self.declared.get(name) == 1 for name in _top_level_names(inner)):
                out.extend(inner.stmts)
            else:
                out.append(If(_TRUE, inner))
            return
        (yes,) = self.scope(then)
        no = self.scope(orelse)[0] if orelse is not None else None
        out.append(If(cond, yes, no))


def _top_level_names(block: Block) -> list[str]:
    """The names that would move to the enclosing scope if ``block`` were unwrapped."""
    return [s.var.name for s in block.stmts if type(s) in (Declare, Allocate)]  # type: ignore[attr-defined]


def _unary(op: str, a: Expr) -> Expr | None:
    if op == "!":
        if type(a) is Const:
            return _FALSE if a.value else _TRUE
        if type(a) is Unary and a.op == "!":
            return a.a
        if type(a) is Binary and a.op in _NEGATED and a.a.ty in INTEGERS:
            return Binary(_NEGATED[a.op], a.a, a.b)
    elif op == "-" and type(a) is Const and a.ty in INTEGERS:
        return Const(wrap(-a.value, a.ty), a.ty)  # type: ignore[arg-type]
    return None


def _binary(op: str, a: Expr, b: Expr) -> Expr | None:
    """What ``a op b`` folds to, or None. Only integers and conditions fold."""
    if op == "&&" or op == "||":
        stop, neutral = (_FALSE, _TRUE) if op == "&&" else (_TRUE, _FALSE)
        if type(a) is Const:
            return b if a == neutral else stop
        return a if b == neutral else None
    ty = a.ty
    if ty not in INTEGERS:
        return None
    x: Any = a.value if type(a) is Const else None
    y: Any = b.value if type(b) is Const else None
    if op in _COMPARE:
        if x is not None and y is not None:
            return _TRUE if _COMPARE[op](x, y) else _FALSE
        if a == b:
            return _TRUE if op in ("==", "<=", ">=") else _FALSE
        return None
    if x is not None and y is not None and op in _ARITHMETIC:
        return Const(wrap(_ARITHMETIC[op](x, y), ty), ty)
    match op:
        case "+":
            if x == 0:
                return b
            if y == 0:
                return a
            if y is not None and type(a) is Binary and a.op == "+" and type(a.b) is Const:
                return Binary("+", a.a, Const(wrap(y + a.b.value, ty), ty))
        case "-":
            if y == 0:
                return a
            if a == b:
                return Const(0, ty)
        case "*":
            if x == 0 or y == 0:
                return Const(0, ty)
            if x == 1:
                return b
            if y == 1:
                return a
        case "/" if y == 1:
            return a
        case "%" if y == 1:
            return Const(0, ty)
        case "/" | "%" if x is not None and y:
            quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
            return Const(wrap(quotient if op == "/" else x - quotient * y, ty), ty)
    return None


def _note(e: Expr, used: set[str]) -> None:
    """Add the names that ``e`` reads to ``used``."""
    if type(e) is Var:
        used.add(e.name)
    else:
        for child in children(e):
            _note(child, used)  # type: ignore[arg-type]


def _up(s: Stmt, used: set[str], reads: set[str]) -> Stmt | None:
    """``s`` without what has no effect; None when nothing is left.

    ``used`` holds the names read by what runs after ``s`` and grows by those that ``s`` reads. ``reads`` holds every
    name read anywhere: assignments to others are dropped.
    """
    match s:
        case Block(stmts):
            kept = [new for old in reversed(stmts) if (new := _up(old, used, reads)) is not None]
            if all(type(k) is Comment for k in kept):
                return None
            return kept[0] if len(kept) == 1 else Block(tuple(reversed(kept)))
        case Declare(var, value):
            if var.name not in used:
                return None
            if value is not None:
                _note(value, used)
        case Set(Var(name), value) | Update(_, Var(name), value):
            if name not in reads:
                return None
            used.add(name)
            _note(value, used)
        case If(cond, then, orelse):
            no = _up(orelse, used, reads) if orelse is not None else None
            yes = _up(then, used, reads)
            if yes is None and no is None:
                return None
            _note(cond, used)
            if yes is None:
                cond, yes, no = _unary("!", cond) or Unary("!", cond), no or Block(), None
            return If(cond, yes, no)
        case While(cond, body):
            inner = _up(body, used, reads)
            if inner is None:
                return None
            _note(cond, used)
            return While(cond, inner)
        case For(var, start, stop, body, simd):
            inner = _up(body, used, reads)
            if inner is None:
                return None
            _note(start, used)
            _note(stop, used)
            if simd:
                simd = tuple([(op, name) for op, name in simd if name in reads])
            return For(var, start, stop, inner, simd)
        case Parallel(threads, prologue, loop, epilogue, schedule):
            after = _up(epilogue, used, reads) or Block()
            work = _up(loop.body, used, reads) or Block()
            _note(loop.start, used)
            _note(loop.stop, used)
            before = _up(prologue, used, reads) or Block()
            if (before, work, after) == (Block(), Block(), Block()):
                return None
            loop = For(loop.var, loop.start, loop.stop, work, loop.simd)
            _note(threads, used)
            return Parallel(threads, before, loop, after, schedule)
        case Allocate(var, size):
            if var.name not in reads:
                return None
            _note(size, used)
        case Free(var):
            return s if var.name in reads else None
        case Store() | Update() | Evaluate() | Return():
            for child in children(s):
                _note(child, used)  # type: ignore[arg-type]
    return s
