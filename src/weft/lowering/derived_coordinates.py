"""Coordinates of variables that follow from those of the loops, and conditions that they lie inside the tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..analysis.derived_variables import DerivedVariable
from ..ir import nodes as ir
from ..ir.builder import ge, land, lit, lor, lt, sub
from ..records import replace
from ..remapping.emit_ir import emit
from ..remapping.inverse import linear
from .context import LoweringContext
from .environment import Environment
from .function_state import FunctionState


def derive(f: FunctionState, env: Environment) -> tuple[Environment, list[ir.Stmt], list[ir.Expr]]:
    """Return ``env`` with derived variables, their declarations, and conditions that they lie in the tensor."""
    context = f.context
    coords, inside = dict(env.coords), dict(env.inside)
    decls: list[ir.Stmt] = []
    guards: list[ir.Expr] = []
    more = True
    while more:
        more = False
        for d in context.derived:
            if d.var in coords or not all(v in coords for v in d.needs):
                continue
            more = True
            operands = {n: coords[v] for n, v in enumerate(d.of) if v in coords}
            value, name = emit(d.value, operands, sizes(context, d)), f.name(context.names[d.var])
            decls.append(ir.Declare(name, value))
            coords[d.var] = name
            # A block may reach beyond the edge of the tensor; a diagonal may begin below 0.
            if not d.inside:
                fits = lt(name, context.extents[d.var])
                if not d.natural:
                    fits = land(ge(name, lit(0)), fits)
                guards.append(lor(inside[d.var], fits) if d.var in inside else fits)
    for d in context.derived:
        if not d.inside and d.var not in coords and d.var not in inside and d.needs & coords.keys():
            fits_all = _fits_all(context, d, coords)
            if fits_all is not None and context.options.enabled("whole-blocks"):
                # This is known outside the loop over the coordinate. Inner loops are emitted with and without the
                # condition on each coordinate.
                inside[d.var] = condition = ir.Var(f.name(f"{context.names[d.var]}_whole").name, "bool")
                decls.append(ir.Declare(condition, fits_all))
    return replace(env, coords=coords, inside=inside), decls, guards


def is_settled(context: LoweringContext, env: Environment) -> bool:
    """Return whether derived variables that may leave the tensor are pending, all with a condition in ``inside``."""
    pending = {d.var for d in context.derived if not d.inside and d.var not in env.coords}
    return bool(pending) and pending <= env.inside.keys()


def sizes(context: LoweringContext, d: DerivedVariable) -> list[ir.Expr]:
    """Return the dimensions of the axes that the value of a derived variable may need."""
    return [context.extents[v] for v in d.axes]


def _fits_all(context: LoweringContext, d: DerivedVariable, coords: Mapping[str, ir.Expr]) -> ir.Expr | None:
    """Return the condition that all values a variable can still take lie inside the tensor, or None if unknown."""
    factors = linear(d.value)
    if factors is None or any(k is not None and n < 0 for k, n in factors.items()):
        return None
    if not d.natural and any(context.types[t].format.is_signed for t in context.types):
        return None  # variables that are not known yet may be negative

    # A linear value with positive factors is least and greatest at the ends of its variables' ranges.
    def at(end: Callable[[str], ir.Expr]) -> ir.Expr:
        ends = {v: coords[v] if v in coords else end(v) for v in d.needs}
        return emit(d.value, {n: ends[v] for n, v in enumerate(d.of) if v in ends}, sizes(context, d))

    below_end = lt(at(lambda v: sub(context.extents[v], lit(1))), context.extents[d.var])
    return below_end if d.natural else land(ge(at(lambda v: lit(0)), lit(0)), below_end)
