"""Lowering of index expressions to IR expressions, by the C spellings of the operator table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..analysis.implicit_values import loop_dtypes
from ..concrete_notation.values import CastExpr, ImplicitValue, RuntimeValue, TypedLiteral
from ..index_notation.nodes import Access, Apply, Expr, Literal
from ..index_notation.operator_table import OPERATORS, REPETITIONS
from ..ir import nodes as ir
from ..ir.builder import cast, lit
from ..trees import fold

_BY_LAST = frozenset({"kept", "select", *REPETITIONS.values()})


def lower_expr(expr: Expr, load: Callable[[Access], ir.Expr]) -> ir.Expr:
    """Return the value of ``expr`` in IR, where ``load`` returns the value of each access."""

    def value(node: Expr, below: list[ir.Expr]) -> ir.Expr:
        match node:
            case Access():
                return load(node)
            case TypedLiteral(value=value, dtype=dtype) | ImplicitValue(value=value, dtype=dtype):
                return lower_value(value, dtype, load)
            case Literal(value=value):
                return lit(value, {bool: "bool", int: "int64", float: "float64", complex: "complex128"}[type(value)])
            case CastExpr(dtype=dtype):
                return cast(below[0], dtype)
            case Apply(op=op):
                return combine(op, *below)
        raise TypeError(f"cannot lower {node!r}")

    return fold(expr, value)


def lower_value(value: Any, dtype: str, load: Callable[[Access], ir.Expr]) -> ir.Expr:
    """Return a fill value, or an implicit value, in IR."""
    return cast(lower_expr(value.expr, load), dtype) if isinstance(value, RuntimeValue) else lit(value, dtype)


def combine(op: str, *args: ir.Expr) -> ir.Expr:
    """Return an operator applied to IR values, which have the dtypes that the operator computes in."""
    row = OPERATORS[op]
    if row.c.startswith("call:"):
        result = loop_dtypes(op, tuple(a.ty for a in args))[-1]
        return ir.Call(f"weft_{row.c[5:]}_{args[-1 if row.name in _BY_LAST else 0].ty}", args, result)
    if row.c == "cast":
        return cast(args[0], loop_dtypes(op, (args[0].ty,))[-1])
    if row.c == "?:":
        return ir.Select(*args)
    if row.arity == 1:
        return ir.Unary(row.c, args[0])
    if args[0].ty == "bool" and row.c in ("+", "*"):
        return ir.Binary("||" if row.c == "+" else "&&", *args)
    if {a.ty for a in args} == {"int64", "uint64"}:  # NumPy compares such integers by value
        return ir.Call(f"weft_{row.ufunc.__name__}_{args[0].ty}_{args[1].ty}", args, "bool")
    return ir.Binary(row.c, *args)


def update(op: str, target: ir.Var | ir.Load, value: ir.Expr) -> ir.Stmt:
    """Return the statement ``target = target op value``."""
    row = OPERATORS[op]
    # Sums of booleans are logical, so they have no compound assignment.
    if row.c in ("+", "-", "*") and target.ty != "bool":
        return ir.Update(row.c, target, value)
    new = combine(op, target, value)
    return ir.Set(target, new) if isinstance(target, ir.Var) else ir.Store(target.array, target.index, new)
