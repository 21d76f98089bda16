"""Blocks of a result in registers, where loops of constant sizes add several values to each element of a block.

An element of an array is loaded and stored for each value, since it might be another one's. A small array of its own is
loaded once, added to in the same order, and stored once, so that no bit changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from math import prod

from ...records import record, replace
from ..builder import add, block, lit, mul, parts, total
from ..nodes import Array, Binary, Cast, Const, Declare, Expr, For, Function, Load, Stmt, Store, Update, Var
from ..traversal import Node, fresh_variables, rebuild, statements, used_names, walk, with_body
from .adjacent_ranges import put
from .prefetch_gathers import expanded

MOST = 16
"""Elements of a block: as many as the least number of vector registers. Larger ones take longer than without."""


@record
class _Nest:
    """Loops of constant sizes around one update of an array."""

    loops: tuple[For, ...]  # from the outermost one
    declared: Mapping[str, Expr]  # the values of the variables that are declared inside
    update: Update


def blocks_in_registers(function: Function) -> Function:
    """Return the function with small blocks of results in arrays of their own, while values are added to them.

    Examples
    --------
    >>> from weft.ir.printer import function_text
    >>> p, q, k, n, C, A = (*(Var(name) for name in "pqkn"), Var("C", "float64*"), Var("A", "float64*"))
    >>> added = Update("+", Load(C, add(mul(n, lit(2)), p)), Load(A, add(mul(k, lit(2)), p)))
    >>> nest = For(k, lit(0), lit(3), For(p, lit(0), lit(2), added))
    >>> print(function_text(blocks_in_registers(Function("f", (), nest))), end="")
    function f()
      block: float64[2]
      first: int64 = n * 2
      for p in 0 .. 2:
        block[p] = C[first + p]
      for k in 0 .. 3:
        for p in 0 .. 2:
          block[p] += A[k * 2 + p]
      for p in 0 .. 2:
        C[first + p] = block[p]
    """
    if not any(isinstance(n, For) and _nest(n) for n in statements(function.body)):
        return function
    name = fresh_variables(function.body)

    def change(node: Node) -> Node:
        nest = _nest(node) if isinstance(node, For) else None
        return rebuild(node, change) if nest is None else _in_registers(nest, name) or node

    return with_body(function, change(function.body))


def _nest(outermost: For) -> _Nest | None:
    """Return the loops of constant sizes that begin with this one; None if there is more in them than one update."""
    loops: list[For] = []
    declared: dict[str, Expr] = {}
    stmt: Stmt = outermost
    while isinstance(stmt, For):
        if stmt.start != lit(0) or not isinstance(stmt.stop, Const) or stmt.step is not None or stmt.simd is not None:
            return None
        loops.append(stmt)
        *before, stmt = parts(stmt.body)
        for s in before:
            if not isinstance(s, Declare) or s.value is None:
                return None
            declared[s.var.name] = s.value
    return _Nest(tuple(loops), declared, stmt) if isinstance(stmt, Update) and isinstance(stmt.target, Load) else None


def _in_registers(nest: _Nest, name: Callable[[str, str], Var]) -> Stmt | None:
    """Return the loops around an array of their own; None if it would be large, or of no use."""
    assert isinstance(nest.update.target, Load)
    array, place = nest.update.target.array, expanded(nest.update.target.index, nest.declared)
    strides = [_stride(place, loop.var) for loop in nest.loops]
    along = [(loop, stride) for loop, stride in zip(nest.loops, strides, strict=True) if stride]
    sizes = [int(loop.stop.value) for loop, _ in along]  # type: ignore[attr-defined]
    if None in strides or 0 not in strides or prod(sizes) > MOST:
        return None
    # The elements must be different ones, and nothing else in the loops may use them.
    offsets = {sum(n * s for n, (_, s) in zip(at, along, strict=True)) for at in product(*map(range, sizes))}
    uses = sum(n == array for n in walk(nest.loops[0]))
    if not 1 < len(offsets) == prod(sizes) or uses > 1:
        return None
    held, first = name("block", array.ty), name("first", place.ty)
    start = place
    for loop in nest.loops:
        start = put(start, loop.var, lit(0, loop.var.ty))
    inner = total(mul(loop.var, lit(prod(sizes[n + 1 :]))) for n, (loop, _) in enumerate(along))
    element = Load(array, add(first, total(mul(loop.var, lit(stride)) for loop, stride in along)))

    def over_block(stmt: Stmt) -> Stmt:
        for loop, _ in reversed(along):
            stmt = replace(loop, body=stmt)
        return stmt

    stmt: Stmt = replace(nest.update, target=Load(held, inner))
    for loop in reversed(nest.loops):
        for s in reversed(parts(loop.body)[:-1]):
            stmt = block(s, stmt) if s.var.name in used_names(stmt) else stmt  # type: ignore[attr-defined]
        stmt = replace(loop, body=stmt)
    return block(
        Array(held, prod(sizes)),
        Declare(first, start),
        over_block(Store(held, inner, element)),
        stmt,
        over_block(Store(element.array, element.index, Load(held, inner))),
    )


def _stride(place: Expr, var: Var) -> int | None:
    """Return how far apart the places of two values of ``var`` one after the other are; None if that is not known."""
    if var.name not in used_names(place):
        return 0
    match place:
        case Var():
            return 1
        case Cast(a=a):
            return _stride(a, var)
        case Binary(op="+", a=a, b=b) if (s := _stride(a, var)) is not None and (t := _stride(b, var)) is not None:
            return s + t
        case Binary(op="*", a=a, b=Const(value=int() as factor)) if (s := _stride(a, var)) is not None:
            return s * factor
    return None
