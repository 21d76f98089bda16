"""Values of operands in IR: those that are stored, and fill values."""

from __future__ import annotations

from typing import Any

from ..analysis.runtime_fills import fill_name
from ..concrete_notation.nodes import Workspace
from ..concrete_notation.values import CastExpr, same_value
from ..index_notation.nodes import Access, Apply, Expr
from ..index_notation.operator_table import OPERATORS
from ..ir import nodes as ir
from ..ir.builder import block, cast, lit
from .environment import Environment
from .function_state import FunctionState
from .positions import position
from .scalar_expressions import lower_expr, lower_value


def read(f: FunctionState, access: Access, env: Environment) -> ir.Expr:
    """Return the value of an operand or a workspace at its coordinates."""
    context = f.context
    if access in env.values:
        return env.values[access]
    if access.tensor in context.fills:
        return context.fills[access.tensor]
    w = context.workspaces.get(access.tensor)
    if w is not None and w.kind == "scalar":
        return scalar(f, w)
    return ir.Load(f.tensors[access.tensor].vals, position(f, access, env))


def value_of(f: FunctionState, expr: Expr, env: Environment) -> ir.Expr:
    """Return the value of an expression."""
    return lower_expr(expr, lambda a: read(f, a, env))


def scalar(f: FunctionState, w: Workspace) -> ir.Var:
    """Return the variable of a scalar workspace."""
    return ir.Var(f.context.names[w.name], w.dtype)


def fill_expr(f: FunctionState, value: Any, dtype: str) -> ir.Expr:
    """Return a fill value or an implicit value in IR, converted to a dtype."""
    context = f.context
    name, type = context.target.tensor, context.types[context.target.tensor]
    # The fill value of the result is the one that its type has: C may round the same expression otherwise.
    if fill_name(name) in context.fills and same_value(value, type.fill):
        return cast(context.fills[fill_name(name)], dtype)
    return lower_value(value, dtype, lambda a: read(f, a, Environment()))


def read_fills(f: FunctionState) -> ir.Stmt:
    """Return the statements that read the fill values which are known when the kernel runs."""
    return block(*[ir.Declare(v, ir.Load(f.tensors[n].vals, lit(0))) for n, v in f.context.fills.items()])


def is_entry(f: FunctionState, expr: Expr, value: ir.Expr, fill: Any, env: Environment) -> ir.Expr:
    """Return whether a value gets an entry where some do not: those that equal the fill value, or are left out."""
    while isinstance(expr, CastExpr):
        expr = expr.expr
    if isinstance(expr, Apply) and OPERATORS[expr.op].leaves_out:
        return value_of(f, expr.args[0], env)
    if fill != fill:  # only NaN differs from itself, and NaN is the same as NaN
        return ir.Binary("==", value, value)
    return ir.Binary("!=", value, fill_expr(f, fill, value.ty))
