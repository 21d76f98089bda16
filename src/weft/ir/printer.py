"""Printer of the IR as readable text, for ``explain`` and for golden tests. Equal input gives equal text."""

from __future__ import annotations

from . import nodes as ir
from .precedence import ATOM, BINARY, POSTFIX, SELECT, UNARY, needs_parentheses

_WORDS = {"&&": "and", "||": "or"}


def function_text(function: ir.Function) -> str:
    """Return a function as text that ends in a newline."""
    params = [f"{p.name} out" if p.output else p.name for p in function.params]
    return f"function {function.name}({', '.join(params)})\n{statement_text(function.body, 1)}"


def statement_text(stmt: ir.Stmt, depth: int = 0) -> str:
    """Return a statement as indented lines, each of which ends in a newline."""
    return "".join(f"{'  ' * d}{line}\n" for d, line in _lines(stmt, depth))


def expression_text(expr: ir.Expr) -> str:
    """Return an expression as text."""
    return _expr(expr)[0]


def _at_least(expr: ir.Expr, least: int) -> str:
    text, strength = _expr(expr)
    return f"({text})" if needs_parentheses(strength, least) else text


def _expr(expr: ir.Expr) -> tuple[str, int]:
    """Return the text of an expression, and its binding strength."""
    match expr:
        case ir.Var(name):
            return name, ATOM
        case ir.Const(value):
            text = str(value).lower() if isinstance(value, bool) else repr(value)
            return text, UNARY if text.startswith("-") else ATOM
        case ir.Unary(op, a):
            return ("not " if op == "!" else op) + _at_least(a, UNARY + 1), UNARY
        case ir.Binary(op, a, b):
            own, left, right = BINARY[op]
            return f"{_at_least(a, left)} {_WORDS.get(op, op)} {_at_least(b, right)}", own
        case ir.Call(name, args):
            return f"{name}({', '.join(expression_text(a) for a in args)})", POSTFIX
        case ir.Cast(a, ty):
            return f"{ty}({expression_text(a)})", POSTFIX
        case ir.Select(cond, a, b):
            return f"{_at_least(a, SELECT + 1)} if {_at_least(cond, SELECT + 1)} else {_at_least(b, SELECT)}", SELECT
        case ir.Load(array, index):
            return f"{_at_least(array, POSTFIX)}[{expression_text(index)}]", POSTFIX
    raise TypeError(f"not an expression: {expr!r}")


def _body(stmt: ir.Stmt, depth: int) -> list[tuple[int, str]]:
    return _lines(stmt, depth + 1) or [(depth + 1, "pass")]


def _loop(loop: ir.For, depth: int) -> list[tuple[int, str]]:
    note = " unroll" if loop.unroll else ""
    if loop.step is not None:
        note = f" by {expression_text(loop.step)}{note}"
    if loop.simd is not None:
        note = f" simd({', '.join(f'{op}: {name}' for op, name in loop.simd)}){note}"
    head = f"for {loop.var.name} in {expression_text(loop.start)} .. {expression_text(loop.stop)}{note}:"
    return [(depth, head), *_body(loop.body, depth)]


def _lines(stmt: ir.Stmt, depth: int) -> list[tuple[int, str]]:
    """Return the lines of a statement, each after its depth."""
    # Blocks are not indented, since they have no scope of their own.
    match stmt:
        case ir.Block(stmts):
            return [line for s in stmts for line in _lines(s, depth)]
        case ir.If(cond, then, orelse):
            lines = [(depth, f"if {expression_text(cond)}:"), *_body(then, depth)]
            while isinstance(orelse, ir.If):  # a chain of branches is printed flat
                lines += [(depth, f"elif {expression_text(orelse.cond)}:"), *_body(orelse.then, depth)]
                orelse = orelse.orelse
            return lines if orelse is None else [*lines, (depth, "else:"), *_body(orelse, depth)]
        case ir.While(cond, body):
            return [(depth, f"while {expression_text(cond)}:"), *_body(body, depth)]
        case ir.For():
            return _loop(stmt, depth)
        case ir.Parallel(threads, prologue, loop, epilogue):
            head = f"parallel threads({expression_text(threads)}):"
            parts = [*_lines(prologue, depth + 1), *_loop(loop, depth + 1), *_lines(epilogue, depth + 1)]
            return [(depth, head), *parts]
        case ir.Comment(text):
            return [(depth, f"# {line}") for line in text.splitlines()]
    return [(depth, _line(stmt))]


def _line(stmt: ir.Stmt) -> str:
    """Return the line of a statement that contains no other statement."""
    match stmt:
        case ir.Declare(var, value):
            start = "" if value is None else f" = {expression_text(value)}"
            return f"{var.name}: {var.ty}{start}"
        case ir.Set(var, value):
            return f"{var.name} = {expression_text(value)}"
        case ir.Store(array, index, value):
            return f"{expression_text(ir.Load(array, index))} = {expression_text(value)}"
        case ir.Update(op, target, value):
            return f"{expression_text(target)} {op}= {expression_text(value)}"
        case ir.Allocate(var, size, zero):
            kind = "zeros" if zero else "empty"
            return f"{var.name}: {var.ty} = {kind}({expression_text(size)})"
        case ir.Array(var, size):
            return f"{var.name}: {var.ty[:-1]}[{size}]"
        case ir.Free(var):
            return f"free {var.name}"
        case ir.Evaluate(call):
            return expression_text(call)
        case ir.Poll(watch, asks):
            return f"{'poll' if asks else 'heed'} {watch.name}"
        case ir.Scan(_, array, start, stop, op, first):
            after = "" if first is None else f" after {expression_text(first)}"
            return f"scan {op} {array.name}[{expression_text(start)} .. {expression_text(stop)}]{after}"
        case ir.Return(value):
            return f"return {expression_text(value)}"
    raise TypeError(f"not a statement: {stmt!r}")
