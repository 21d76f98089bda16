"""Interpret the IR in Python, on arrays and numbers by name: what level functions mean, without a compiler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import nodes as ir

__all__ = ["run", "value_of"]

_OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b if b > 0 else -(-a // b),
    "%": lambda a, b: a % b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&&": lambda a, b: a and b,
    "||": lambda a, b: a or b,
}


def value_of(expr: ir.Expr, names: Mapping[str, Any]) -> int:
    """The value of an index expression, given arrays, numbers and functions by name.

    Raises
    ------
    NotImplementedError
        For calls of functions that are not given: what a level is walked by has none.
    """
    match expr:
        case ir.Const(value=value):
            return int(value)  # type: ignore[arg-type]
        case ir.Var(name=name):
            return int(names[name])
        case ir.Load(array=ir.Var(name=name), index=index):
            return int(names[name][value_of(index, names)])
        case ir.Cast(a=a):
            return value_of(a, names)
        case ir.Unary(op="-", a=a):
            return -value_of(a, names)
        case ir.Unary(op="!", a=a):
            return int(not value_of(a, names))
        case ir.Binary(op=op, a=a, b=b):
            return int(_OPERATORS[op](value_of(a, names), value_of(b, names)))
        case ir.Select(cond=cond, a=a, b=b):
            return value_of(a if value_of(cond, names) else b, names)
        case ir.Call(name=name, args=args) if name in names:
            return int(names[name](*(_argument(a, names) for a in args)))
        case ir.Call(name=name):
            raise NotImplementedError(f"{name} cannot be evaluated here")
    raise NotImplementedError(f"no value of {expr!r}")


def _argument(expr: ir.Expr, names: Mapping[str, Any]) -> Any:
    return names[expr.name] if isinstance(expr, ir.Var) and expr.ty.endswith("*") else value_of(expr, names)


def run(stmt: ir.Stmt, names: dict[str, Any]) -> dict[str, Any]:
    """Carry out a statement on ``names``, which changes, and return it.

    Raises
    ------
    NotImplementedError
        For allocations, parallel loops and returns.
    """
    match stmt:
        case ir.Block(stmts=stmts):
            for s in stmts:
                run(s, names)
        case ir.Declare(var=var, value=value) | ir.Set(var=var, value=value) if value is not None:
            names[var.name] = value_of(value, names)
        case ir.Store(array=ir.Var(name=name), index=index, value=value):
            names[name][value_of(index, names)] = value_of(value, names)
        case ir.Update(op=op, target=target, value=value):
            new = ir.Const(value_of(ir.Binary(op, target, ir.Cast(value, target.ty)), names))
            run(ir.Set(target, new) if isinstance(target, ir.Var) else ir.Store(target.array, target.index, new), names)
        case ir.If(cond=cond, then=then, orelse=orelse):
            if value_of(cond, names):
                run(then, names)
            elif orelse is not None:
                run(orelse, names)
        case ir.For(var=var, start=start, stop=stop, body=body):
            for n in range(value_of(start, names), value_of(stop, names)):
                names[var.name] = n
                run(body, names)
        case ir.While(cond=cond, body=body):
            while value_of(cond, names):
                run(body, names)
        case _:
            raise NotImplementedError(stmt)
    return names
