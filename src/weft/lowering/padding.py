"""Padding without branches: positions without an entry add a number that changes no sum.

Loops over the slots of many rows meet padding in no order that a processor learns. If each position adds a number, a
loop has no branches, and compilers vectorize it. Padding reads elements at coordinate 0, and its value is then replaced
by -0.0, or by 0 if it is an integer: NaN and infinity at coordinate 0 reach no sum, and each sum keeps its bits.
"""

from __future__ import annotations

from ..ir import nodes as ir
from ..ir import used_names, walk
from ..ir.builder import block, ge, gt, if_, lit, maximum
from ..ir.passes.adjacent_ranges import put
from ..ir.traversal import rewrite
from ..ir.types import is_integer
from ..records import replace
from .function_state import FunctionState


def without_branches(f: FunctionState, loop: ir.For, vals: ir.Expr) -> ir.Stmt:
    """Return a loop whose iterations add to different elements of ``vals``, without a branch for padding.

    It stays as it is if it does anything else, or reads what may not exist at coordinate 0.
    """
    match _statements(loop.body):
        case [*before, ir.If(cond=ir.Binary(a=ir.Var(name=name) as coord) as cond, then=then, orelse=None)]:
            *inside, last = _statements(then) or (then,)
        case _:
            return loop
    declarations = [s for s in (*before, *inside) if isinstance(s, ir.Declare)]
    values = [s.value for s in declarations if s in inside]
    if cond != ge(coord, lit(0)) or name not in f.padded or len(declarations) < len(before) + len(inside):
        return loop
    match last:
        case ir.Update("+", ir.Load(array=array, index=index) as target, value) if array == vals and value.ty != "bool":
            within = {name, *(s.var.name for s in declarations if s in inside)}
        case _:
            return loop
    reads = any(isinstance(n, ir.Load) for declared in values if declared is not None for n in walk(declared))
    if used_names(index) & within or reads or not all(_exists(v) for v in (*values, value) if v is not None):
        return loop
    near = f.name(f"{name}_near")
    present = ir.Call(f"weft_present_{value.ty}", (put(value, coord, near), coord), value.ty)
    body = block(
        *before,
        ir.Declare(near, maximum(coord, lit(0))),
        *(rewrite(s, lambda n: near if n == coord else None) for s in inside),  # type: ignore[arg-type]
        ir.Update("+", target, present),
    )
    return if_(gt(f.padded[name], lit(0)), replace(loop, body=body, simd=()))


def _statements(body: ir.Stmt) -> tuple[ir.Stmt, ...]:
    return body.stmts if isinstance(body, ir.Block) else (body,)


def _exists(value: ir.Expr) -> bool:
    """Return whether a value can be computed at any coordinates inside the tensors."""
    return all(
        isinstance(n, ir.Var | ir.Const)
        or (isinstance(n, ir.Load) and not any(isinstance(m, ir.Load) for m in walk(n.index)))
        or (isinstance(n, ir.Cast) and (is_integer(n.a.ty) or not is_integer(n.ty)))
        or (isinstance(n, ir.Unary) and n.op == "-")
        or (isinstance(n, ir.Binary) and n.op in "+-*")
        for n in walk(value)
    )
