"""Fibres of one entry skip the workspace in which the products of longer ones are summed.

A factor that is multiplied once for each fibre needs the sum over the fibre first, in a workspace that is filled,
added to and read again. If the fibre has one entry, one loop does all three, with the same operations on each element.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...records import record, replace
from ..builder import block, eq, lit, parts, sub
from ..nodes import (
    Allocate,
    Binary,
    Block,
    Const,
    Declare,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Load,
    Stmt,
    Store,
    Update,
    Var,
)
from ..traversal import Node, declared_names, rewrite, rewrite_statements, statements, used_names, walk, with_body


def single_entries(function: Function) -> Function:
    """Return the function with a loop for fibres of one entry wherever a workspace collects those of a fibre.

    Examples
    --------
    >>> from weft.ir.nodes import Free
    >>> from weft.ir.printer import function_text
    >>> q, p, r, n = (Var(name) for name in "qprn")
    >>> pos, w, x, y = Var("pos", "int64*"), *(Var(name, "float64*") for name in "wxy")
    >>> collect = For(r, lit(0), n, Update("+", Load(w, r), Load(x, r)))
    >>> fibre = (
    ...     For(q, lit(0), n, Store(w, q, lit(0, "float64"))),
    ...     For(p, Load(pos, lit(0)), Load(pos, lit(1)), collect),
    ...     For(q, lit(0), n, Update("+", Load(y, q), Load(w, q))),
    ... )
    >>> print(function_text(single_entries(Function("f", (), block(Allocate(w, n), *fibre, Free(w))))), end="")
    function f()
      w: float64* = empty(n)
      if pos[1] - pos[0] == 1:
        p: int64 = pos[0]
        for q in 0 .. n:
          y[q] += 0.0 + x[q]
      else:
        for q in 0 .. n:
          w[q] = 0.0
        for p in pos[0] .. pos[1]:
          for r in 0 .. n:
            w[r] += x[r]
        for q in 0 .. n:
          y[q] += w[q]
      free w
    """
    workspaces = {n.var.name for n in statements(function.body) if isinstance(n, Allocate)}

    def change(node: Node) -> Node | None:
        if not isinstance(node, Block):
            return None
        for n, (fill, collect, read) in enumerate(zip(node.stmts, node.stmts[1:], node.stmts[2:], strict=False)):
            if (once := _at_once(fill, collect, read, workspaces)) is not None:
                assert isinstance(collect, For)
                single = eq(sub(collect.stop, collect.start), lit(1))
                return block(*node.stmts[:n], If(single, once, block(fill, collect, read)), *node.stmts[n + 3 :])
        return None

    if not workspaces:
        return function
    return with_body(function, rewrite_statements(function.body, change))


@record
class _Collection:
    """Loop over a fibre that combines a value of each entry with each element of a workspace."""

    entry: tuple[Stmt, ...]  # the declarations of what belongs to an entry, and prefetches
    loop: For  # the loop over the elements
    before: tuple[Stmt, ...]  # the declarations inside it
    value: Expr  # what an element becomes


def _at_once(fill: Stmt, collect: Stmt, read: Stmt, workspaces: set[str]) -> Stmt | None:
    """Return what does the work of three loops if the fibre has one entry; None if they are no such loops."""
    match fill, collect, read:
        case (
            For(var=q, start=Const(value=0), body=Store(array=Var() as array, index=index, value=Const() as none)),
            For(),
            For(start=Const(value=0)),
        ) if index == q and array.name in workspaces:
            pass
        case _:
            return None
    entry = _collection(collect, array)
    if entry is None or not entry.loop.stop == read.stop == fill.stop or read.simd != entry.loop.simd:
        return None
    written = {n.array for n in walk(read) if isinstance(n, Store)}
    written |= {n.target.array for n in walk(read) if isinstance(n, Update) and isinstance(n.target, Load)}
    fibre = used_names(block(*entry.entry, *entry.before)) | used_names(entry.value)
    element = Load(array, read.var)
    uses = [n for n in walk(read) if isinstance(n, Load | Store) and n.array == array]
    if any(n != element for n in uses) or array in written or any(used_names(a) & fibre for a in written):
        return None
    # The workspace itself is only read at the place of the loop.
    if sum(n == array for n in walk(read)) != len(uses):
        return None
    if {*declared_names(read.body)} & {*declared_names(collect)}:
        return None
    first, at_r = {Load(array, entry.loop.var): none}, {entry.loop.var: read.var}
    value = _put(_put(entry.value, first), at_r)
    if array.name in used_names(value):
        return None
    body = block(*[_put(s, at_r) for s in entry.before], _put(read.body, {element: value}))
    return block(Declare(collect.var, collect.start), *entry.entry, replace(read, body=body))


def _put(node: Any, values: Mapping[Any, Node]) -> Any:
    """Return a node in which values replace other nodes."""
    return rewrite(node, values.get)


def _collection(loop: For, array: Var) -> _Collection | None:
    """Return the parts of a loop over a fibre that collects in an array; None of any other loop."""
    *entry, inner = parts(loop.body)
    if not isinstance(inner, For) or inner.start != lit(0):
        return None
    *before, last = parts(inner.body)
    declared = [s for s in (*entry, *before) if not _prefetches(s)]
    if not all(isinstance(s, Declare) and s.value is not None for s in declared):
        return None
    match last:
        case Update(op=op, target=Load(array=target, index=index) as old, value=value):
            value = Binary(op, old, value)
        case Store(array=target, index=index, value=value):
            pass
        case _:
            return None
    return _Collection(tuple(entry), inner, tuple(before), value) if (target, index) == (array, inner.var) else None


def _prefetches(stmt: Stmt) -> bool:
    return isinstance(stmt, If) and all(isinstance(n, Evaluate) for n in parts(stmt.then)) and stmt.orelse is None
