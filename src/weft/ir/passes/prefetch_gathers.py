"""Prefetch gathers: elements at the places that a list of coordinates names, prefetched some entries ahead.

If the coordinates are scattered over an array, each entry waits for memory, and the processor has few requests under
way at a time. Only the data say whether coordinates are scattered. So the kernel samples them before the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from ...records import record, replace
from .. import nodes as ir
from ..builder import (
    add,
    block,
    if_,
    le,
    lit,
    lor,
    lt,
    mul,
    sub,
)
from ..traversal import declared_names, rewrite, statements, used_names, walk
from ..types import size_of
from .adjacent_ranges import put

BY = 64
"""Entries between the prefetch of the element that a coordinate names and its use."""
_COORDINATES = ("int32", "int64")
_NOTHING = block()


@record
class Leaps:
    """Prefetch gathers of one loop over positions."""

    until: ir.Var  # the position up to which the loop prefetches
    # The arrays of coordinates, each with the number of bytes from the element of one coordinate to the next one.
    lists: tuple[tuple[ir.Expr, ir.Expr], ...]
    asks: tuple[ir.Stmt, ...]  # the prefetch instructions of one entry

    @property
    def names(self) -> set[str]:
        """Names of the variables that must be declared before the loop."""
        return {name for _, size in self.lists for name in used_names(size)}

    def declared(self, first: ir.Expr, last: ir.Expr) -> ir.Declare:
        """Return the declaration of ``until``, which samples the coordinates from ``first`` up to ``last``."""
        far = (ir.Call(f"weft_scattered_{a.ty[:-1]}", (a, first, last, size), "bool") for a, size in self.lists)
        return ir.Declare(self.until, ir.Select(lor(*far), sub(last, lit(BY)), first))

    def taken(self, loop: ir.For, over_list: bool, before: ir.Stmt = _NOTHING) -> ir.Stmt:
        """Return the loop with prefetch instructions in the iterations before ``until``.

        A short loop is duplicated, so that the copy without prefetch instructions costs no more than the old loop.
        """
        # A body with branches counts as long and is not duplicated: each iteration tests whether to prefetch.
        if any(isinstance(n, ir.If) for n in statements(loop.body)):
            sometimes = if_(lt(loop.var, self.until), block(*self.asks))
            return replace(loop, body=block(before, sometimes, loop.body))
        asking = replace(loop, body=block(before, *self.asks, loop.body))
        loop = replace(loop, body=block(before, loop.body))
        if over_list:
            return block(replace(asking, stop=self.until), replace(loop, start=self.until))
        return if_(le(loop.stop, self.until), asking, loop)


def leaps(loop: ir.For, until: ir.Var, assigned: Set[str]) -> Leaps | None:
    """Return the prefetch gathers of the elements whose coordinates a loop reads in order, or None without any."""
    # The bounds are used before the loop and inside it, so that they must not change; and the loop is innermost.
    changed = {name for array, _, write in elements(loop.body) if write for name in used_names(array)}
    edges = used_names(loop.start) | used_names(loop.stop)
    if edges & (changed | assigned) or nests(loop):
        return None
    hidden = {*declared_names(loop.body)}
    values = kept(loop.body, assigned)
    lists: dict[tuple[ir.Expr, ir.Expr], None] = {}
    asks: dict[ir.Stmt, None] = {}
    seen: set[tuple[ir.Expr, ir.Expr]] = set()
    for array, index, write in elements(loop.body):
        # The index must depend on memory through one coordinate only, that of the current position.
        place = expanded(index, values)
        reads = {n for n in walk(place) if isinstance(n, ir.Load | ir.Call)}
        if len(reads) != 1 or used_names(array) & hidden or (array, place) in seen:
            continue
        seen.add((array, place))
        coordinate = reads.pop()
        if not isinstance(coordinate, ir.Load) or coordinate.index != loop.var or coordinate.ty not in _COORDINATES:
            continue
        # The bytes between the elements of two coordinates follow from the index at 1 and at 0.
        name = ir.Var("coordinate", coordinate.ty)
        of = rewrite(place, lambda n, c=coordinate, name=name: name if n == c else None)  # type: ignore[misc]
        assert isinstance(of, ir.Expr)
        if used_names(of) & {loop.var.name, *hidden, *assigned}:
            continue
        one, none = (put(of, name, lit(n, name.ty)) for n in (1, 0))
        lists[coordinate.array, mul(sub(one, none), lit(size_of(array.ty[:-1])))] = None
        asks[ask(array, put(place, loop.var, add(loop.var, lit(BY))), write)] = None
    return Leaps(until, tuple(lists), tuple(asks)) if asks else None


def nests(loop: ir.For) -> bool:
    """Return whether a loop contains other loops."""
    return any(isinstance(n, ir.For | ir.While) for n in statements(loop.body))


def expanded(expr: ir.Expr, values: Mapping[str, ir.Expr]) -> ir.Expr:
    """Return an expression in which values replace the variables that a body declares."""
    while found := used_names(expr) & values.keys():
        for name in found:
            expr = put(expr, ir.Var(name, values[name].ty), values[name])
    return expr


def kept(stmt: ir.Stmt, assigned: Set[str]) -> dict[str, ir.Expr]:
    """Return the values of the variables that a statement declares and that do not change, by name."""
    found = [n for n in statements(stmt) if isinstance(n, ir.Declare)]
    return {n.var.name: n.value for n in found if n.value is not None and n.var.name not in assigned}


def elements(stmt: ir.Stmt) -> Iterator[tuple[ir.Expr, ir.Expr, bool]]:
    """Yield the array and the index of each element that a statement uses, and whether the statement writes it."""
    for n in walk(stmt):
        match n:
            case ir.Store(array=array, index=index) | ir.Update(target=ir.Load(array=array, index=index)):
                yield array, index, True
            case ir.Load(array=array, index=index):
                yield array, index, False


def ask(array: ir.Expr, index: ir.Expr, write: bool = False) -> ir.Stmt:
    """Return the prefetch instruction for an element of an array."""
    return ir.Evaluate(ir.Call("weft_prefetch_write" if write else "weft_prefetch_read", (add(array, index),), "int64"))
