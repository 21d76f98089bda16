"""Running totals as loops: what a statement ``Scan`` is where nothing computes it in another way."""

from __future__ import annotations

from . import nodes as ir
from .builder import add, block, cast, lit, maximum, sub


def serial(scan: ir.Scan) -> ir.Stmt:
    """Return the loop that computes running totals one after the other."""
    q, array, last = scan.var, scan.array, _before(scan.stop)
    here = ir.Load(array, add(q, lit(1)))
    if scan.first is None:
        return ir.For(q, scan.start, last, combined(scan.op, here, ir.Load(array, q)))
    total = ir.Var("end_before", scan.first.ty)
    so_far = combined(scan.op, total, cast(here, total.ty))
    put = ir.Store(array, here.index, cast(total, here.ty))
    return block(ir.Declare(total, scan.first), ir.For(q, _before(scan.start), last, block(so_far, put)))


def combined(op: str, target: ir.Var | ir.Load, value: ir.Expr) -> ir.Stmt:
    """Return the statement that combines a target with a value by the operator of a scan."""
    if op == "+":
        return ir.Update(op, target, value)
    greatest = maximum(target, value)
    return ir.Set(target, greatest) if isinstance(target, ir.Var) else ir.Store(target.array, target.index, greatest)


def _before(number: ir.Expr) -> ir.Expr:
    """Return ``number - 1``; the number ``n`` of ``n + 1``."""
    match number:
        case ir.Binary("+", whole, ir.Const(1)):
            return whole
    return sub(number, lit(1))
