"""IR evaluated in Python on arrays and numbers by name: what a level function means, without a compiler."""

from __future__ import annotations

from typing import Any

from weft.ir import nodes as ir
from weft.storage.walk import value_of

__all__ = ["run"]


def run(stmt: ir.Stmt, names: dict[str, Any]) -> dict[str, Any]:
    """Carry a statement out on ``names``, which it changes."""
    match stmt:
        case ir.Block(stmts=stmts):
            for s in stmts:
                run(s, names)
        case ir.Declare(var=var, value=value) | ir.Set(var=var, value=value):
            names[var.name] = value_of(value, names)
        case ir.Store(array=array, index=index, value=value):
            names[array.name][value_of(index, names)] = value_of(value, names)
        case ir.Update(op=op, target=target, value=value):
            new = value_of(ir.Binary(op, target, ir.Cast(value, target.ty)), names)
            run(ir.Set(target, ir.Const(new)) if isinstance(target, ir.Var) else store(target, new), names)
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


def store(target: ir.Load, value: int) -> ir.Store:
    return ir.Store(target.array, target.index, ir.Const(value))
