"""Prefetch gathers: elements at the places that a list of coordinates names, prefetched some entries ahead.

If the coordinates are scattered over an array, each entry waits for memory, and the processor has few requests under
way at a time. Only the data say whether coordinates are scattered. So the kernel samples them before the loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from ...records import record, replace
from .. import nodes as ir
from ..builder import add, block, if_, le, lit, lor, lt, mul, sub
from ..traversal import Node, assigned_names, declared_names, fact, rewrite, statements, used_names, walk
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
    by: int = BY  # entries between a prefetch and its use
    rows: bool = False  # whether whole rows are prefetched

    @property
    def names(self) -> set[str]:
        """Names of the variables that must be declared before the loop."""
        return {name for _, size in self.lists for name in used_names(size)}

    def declared(self, first: ir.Expr, last: ir.Expr) -> ir.Declare:
        """Return the declaration of ``until``, which samples the coordinates from ``first`` up to ``last``."""
        scattered = "weft_scattered_rows" if self.rows else "weft_scattered"
        far = (ir.Call(f"{scattered}_{a.ty[:-1]}", (a, first, last, size), "bool") for a, size in self.lists)
        return ir.Declare(self.until, ir.Select(lor(*far), sub(last, lit(self.by)), first))

    def taken(self, loop: ir.For | ir.While, over_list: bool, before: ir.Stmt = _NOTHING) -> ir.Stmt:
        """Return the loop with prefetch instructions in the iterations before ``until``.

        A short loop is duplicated, so that the copy without prefetch instructions costs no more than the old loop.
        """
        # A body with branches or loops counts as long and is not duplicated: each iteration tests whether to prefetch.
        if any(isinstance(n, ir.If | ir.For | ir.While) for n in statements(loop.body)):
            position = loop.var if isinstance(loop, ir.For) else loop.cond.a  # type: ignore[attr-defined]
            sometimes = if_(lt(position, self.until), block(*self.asks))
            return replace(loop, body=block(before, sometimes, loop.body))
        assert isinstance(loop, ir.For)
        asking = replace(loop, body=block(before, *self.asks, loop.body))
        loop = replace(loop, body=block(before, loop.body))
        if over_list:
            return block(replace(asking, stop=self.until), replace(loop, start=self.until))
        return if_(le(loop.stop, self.until), asking, loop)


def leaps(loop: ir.For, until: ir.Var, assigned: Set[str]) -> Leaps | None:
    """Return the prefetch gathers of the elements whose coordinates a loop reads in order, or None without any."""
    if nests(loop) or not has_fixed_bounds(loop):
        return None
    lists: dict[tuple[ir.Expr, ir.Expr], None] = {}
    asks: dict[ir.Stmt, None] = {}
    seen: set[tuple[ir.Expr, ir.Expr]] = set()
    values, hidden = kept(loop.body, assigned), {*declared_names(loop.body)}
    for array, index, write in elements(loop.body):
        place = expanded(index, values)
        if used_names(array) & hidden or (array, place) in seen:
            continue
        seen.add((array, place))
        if (found := reached(array, place, loop, {*hidden, *assigned})) is not None:
            lists[found] = None
            asks[ask(array, put(place, loop.var, add(loop.var, lit(BY))), write)] = None
    return Leaps(until, tuple(lists), tuple(asks)) if asks else None


def computed_leaps(loop: ir.For, until: ir.Var, assigned: Set[str]) -> Leaps | None:
    """Return the prefetches of elements that a loop over a list writes to places which it computes from several loads.

    Each iteration computes its places, from arrays that the loop does not write: so an earlier one can do it as well.
    """
    uses = list(elements(loop.body))
    written = {name for array, _, write in uses if write for name in used_names(array)}
    values, hidden = kept(loop.body, assigned), {*declared_names(loop.body), *assigned}
    branches = (ir.If, ir.For, ir.While, ir.Call)
    if not has_fixed_bounds(loop) or any(isinstance(n, branches) for n in walk(loop.body)):
        return None
    lists: dict[tuple[ir.Expr, ir.Expr], None] = {}
    asks: dict[ir.Stmt, None] = {}
    for array, index, write in uses:
        place = expanded(index, values)
        loads = [n for n in walk(place) if isinstance(n, ir.Load)]
        coordinates = [n for n in loads if n.index == loop.var and n.ty in _COORDINATES]
        if not write or len(loads) < 2 or not coordinates or (used_names(place) | used_names(array)) & hidden:
            continue
        if not {name for load in loads for name in used_names(load.array)} & written:
            lists |= {(n.array, lit(size_of(array.ty[:-1]))): None for n in coordinates}
            asks[ask(array, put(place, loop.var, add(loop.var, lit(BY))), write)] = None
    return Leaps(until, tuple(lists), tuple(asks)) if asks else None


def has_fixed_bounds(loop: ir.For) -> bool:
    """Return whether the bounds of a loop can be used both before it and inside it, since nothing changes them."""
    changed = {name for array, _, write in elements(loop.body) if write for name in used_names(array)}
    return not (used_names(loop.start) | used_names(loop.stop)) & (changed | assigned_names(loop.body))


def reached(array: ir.Expr, place: ir.Expr, loop: ir.For, hidden: Set[str]) -> tuple[ir.Expr, ir.Expr] | None:
    """Return the list whose coordinate at the position of a loop leads to an element, and the bytes between elements.

    The result is None if the place depends on other memory or on ``hidden`` variables.
    """
    reads = {n for n in walk(place) if isinstance(n, ir.Load | ir.Call)}
    coordinate = reads.pop() if len(reads) == 1 else None
    if not isinstance(coordinate, ir.Load) or coordinate.index != loop.var or coordinate.ty not in _COORDINATES:
        return None
    # The bytes between the elements of two coordinates follow from the index at 1 and at 0.
    name = ir.Var("coordinate", coordinate.ty)
    of = rewrite(place, lambda n: name if n == coordinate else None)
    assert isinstance(of, ir.Expr)
    if used_names(of) & {loop.var.name, *hidden}:
        return None
    one, none = (put(of, name, lit(n, name.ty)) for n in (1, 0))
    return coordinate.array, mul(sub(one, none), lit(size_of(array.ty[:-1])))


def nests(loop: ir.For | ir.While) -> bool:
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


@fact
def elements(stmt: Node) -> Sequence[tuple[ir.Expr, ir.Expr, bool]]:
    """Return the array and the index of each element that a statement uses, and whether the statement writes it."""
    used: list[tuple[ir.Expr, ir.Expr, bool]] = []
    for n in walk(stmt):
        kind = type(n)
        element = n.target if kind is ir.Update else n  # type: ignore[union-attr]
        if kind is ir.Load or kind is ir.Store or (kind is ir.Update and type(element) is ir.Load):
            used.append((element.array, element.index, kind is not ir.Load))  # type: ignore[union-attr]
    return used


def ask(array: ir.Expr, index: ir.Expr, write: bool = False) -> ir.Stmt:
    """Return the prefetch instruction for an element of an array."""
    return ir.Evaluate(ir.Call("weft_prefetch_write" if write else "weft_prefetch_read", (add(array, index),), "int64"))
