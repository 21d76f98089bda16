"""Interpreter of the IR in Python, which evaluates level functions without a compiler.

Variables are looked up by name in a mapping to arrays, numbers and functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import nodes as ir
from .scans import serial


# Operators on Python integers, which do not wrap around: index arithmetic stays in the range of int64.
def _quotient(a: int, b: int) -> int:
    """Return a quotient of integers rounded towards zero, as in C."""
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "%": lambda a, b: a - b * _quotient(a, b),
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
    """Return the value of an index expression."""
    match expr:
        case ir.Const(value=value):
            return int(value)  # type: ignore[arg-type]
        case ir.Var(name=name):
            return int(names[name])
        case ir.Load(array=ir.Var(name=name), index=index):
            return int(names[name][value_of(index, names)])
        case ir.Cast(a=a):  # casts of index arithmetic do not change the value
            return value_of(a, names)
        case ir.Unary(op="-", a=a):
            return -value_of(a, names)
        case ir.Unary(op="!", a=a):
            return int(not value_of(a, names))
        case ir.Binary(op=op, a=a, b=b):
            return int(_OPERATORS[op](value_of(a, names), value_of(b, names)))
        case ir.Select(cond=cond, a=a, b=b):  # the other side may be out of bounds
            return value_of(a if value_of(cond, names) else b, names)
        case ir.Call(name=name, args=args) if name in names:
            return int(names[name](*(_argument(a, names) for a in args)))
        case ir.Call(name=name):
            raise NotImplementedError(f"{name} cannot be evaluated here")
    raise NotImplementedError(f"no value of {expr!r}")


def _argument(expr: ir.Expr, names: Mapping[str, Any]) -> Any:
    # Arrays are passed whole to functions, which index them.
    return names[expr.name] if isinstance(expr, ir.Var) and expr.ty.endswith("*") else value_of(expr, names)


def run(stmt: ir.Stmt, names: dict[str, Any]) -> dict[str, Any]:
    """Execute a statement, change ``names`` accordingly, and return ``names``."""
    match stmt:
        case ir.Block(stmts=stmts):
            for s in stmts:
                run(s, names)
        case ir.Declare(var=var, value=value) | ir.Set(var=var, value=value) if value is not None:
            names[var.name] = value_of(value, names)
        case ir.Store(array=ir.Var(name=name), index=index, value=value):
            names[name][value_of(index, names)] = value_of(value, names)
        case ir.Update(op=op, target=target, value=value):
            # The new value is a constant, so that the assignment can be executed as a Set or a Store.
            new = ir.Const(value_of(ir.Binary(op, target, ir.Cast(value, target.ty)), names))
            run(ir.Set(target, new) if isinstance(target, ir.Var) else ir.Store(target.array, target.index, new), names)
        case ir.If(cond=cond, then=then, orelse=orelse):
            if value_of(cond, names):
                run(then, names)
            elif orelse is not None:
                run(orelse, names)
        case ir.For(var=var, start=start, stop=stop, body=body, step=step):
            for n in range(value_of(start, names), value_of(stop, names), value_of(step or ir.Const(1), names)):
                names[var.name] = n
                run(body, names)
        case ir.Scan():
            run(serial(stmt), names)
        case ir.While(cond=cond, body=body):
            while value_of(cond, names):
                run(body, names)
        case _:
            raise NotImplementedError(stmt)
    return names
