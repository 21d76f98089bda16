"""Prefetch gathers: elements at the places that a list of coordinates names, prefetched some entries ahead.

If the coordinates are scattered over an array, each entry waits for memory, and the processor has few requests under
way at a time. Only the data say whether coordinates are scattered. So the kernel samples them before the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...records import record, replace
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
from ..nodes import (
    Call,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    Load,
    Select,
    Stmt,
    Store,
    Update,
    Var,
    While,
)
from ..traversal import declared_names, rewrite, statements, used_names, walk
from ..types import size_of
from .adjacent_ranges import put

__all__ = ["Leaps", "ask", "elements", "expanded", "kept", "leaps", "nests"]

BY = 64
"""Entries between the prefetch of the element that a coordinate names and its use."""
_COORDINATES = ("int32", "int64")
_NOTHING = block()


@record
class Leaps:
    """Prefetch gathers of one loop over positions.

    Parameters
    ----------
    until : Var
        The position up to which the loop prefetches.
    lists : tuple of (Expr, Expr)
        The arrays of coordinates, each with the number of bytes from the element of one coordinate to the next one.
    asks : tuple of Stmt
        The prefetch instructions of one entry.
    """

    until: Var
    lists: tuple[tuple[Expr, Expr], ...]
    asks: tuple[Stmt, ...]

    @property
    def names(self) -> set[str]:
        """Names of the variables that must be declared before the loop."""
        return {name for _, size in self.lists for name in used_names(size)}

    def declared(self, first: Expr, last: Expr) -> Stmt:
        """Return the declaration of ``until``, which samples the coordinates from ``first`` up to ``last``."""
        far = (Call(f"weft_scattered_{a.ty[:-1]}", (a, first, last, size), "bool") for a, size in self.lists)
        return Declare(self.until, Select(lor(*far), sub(last, lit(BY)), first))

    def taken(self, loop: For, whole: bool, before: Stmt = _NOTHING) -> Stmt:
        """Return the loop with prefetch instructions in the iterations before ``until``.

        A short loop is duplicated, so that the copy without prefetch instructions costs no more than the old loop.

        Parameters
        ----------
        loop : For
            The loop.
        whole : bool
            True if the loop is over all entries, False if it is over one row of them.
        before : Stmt
            The statement with which each iteration begins.
        """
        # A body with branches counts as long and is not duplicated: each iteration tests whether to prefetch.
        if any(isinstance(n, If) for n in statements(loop.body)):
            sometimes = if_(lt(loop.var, self.until), block(*self.asks))
            return replace(loop, body=block(before, sometimes, loop.body))
        asking = replace(loop, body=block(before, *self.asks, loop.body))
        loop = replace(loop, body=block(before, loop.body))
        if whole:
            return block(replace(asking, stop=self.until), replace(loop, start=self.until))
        return if_(le(loop.stop, self.until), asking, loop)


def leaps(loop: For, until: Var, assigned: set[str]) -> Leaps | None:
    """Return the prefetch gathers of the elements whose coordinates a loop reads in order, or None without any.

    Parameters
    ----------
    loop : For
        A loop over positions.
    until : Var
        A new variable, for the position up to which the loop prefetches.
    assigned : set of str
        The names of variables that are assigned after their declaration.
    """
    # The bounds are used before the loop and inside it, so that they must not change; and the loop is innermost.
    changed = {name for array, _, write in elements(loop.body) if write for name in used_names(array)}
    edges = used_names(loop.start) | used_names(loop.stop)
    if edges & (changed | assigned) or nests(loop):
        return None
    hidden = {*declared_names(loop.body)}
    values = kept(loop.body, assigned)
    lists: dict[tuple[Expr, Expr], None] = {}
    asks: dict[Stmt, None] = {}
    seen: set[tuple[Expr, Expr]] = set()
    for array, index, write in elements(loop.body):
        # The index must depend on memory through one coordinate only, that of the current position.
        place = expanded(index, values)
        found = {n for n in walk(place) if isinstance(n, Load | Call)}
        if len(found) != 1 or used_names(array) & hidden or (array, place) in seen:
            continue
        seen.add((array, place))
        coordinate = found.pop()
        if not isinstance(coordinate, Load) or coordinate.index != loop.var or coordinate.ty not in _COORDINATES:
            continue
        # The bytes between the elements of two coordinates follow from the index at 1 and at 0.
        name = Var("coordinate", coordinate.ty)
        of = rewrite(place, lambda n, c=coordinate, name=name: name if n == c else None)  # type: ignore[misc]
        assert isinstance(of, Expr)
        if used_names(of) & {loop.var.name, *hidden, *assigned}:
            continue
        one, none = (put(of, name, lit(n, name.ty)) for n in (1, 0))
        lists[coordinate.array, mul(sub(one, none), lit(size_of(array.ty[:-1])))] = None
        asks[ask(array, put(place, loop.var, add(loop.var, lit(BY))), write)] = None
    return Leaps(until, tuple(lists), tuple(asks)) if asks else None


def nests(loop: For) -> bool:
    """Return whether a loop contains other loops.

    Parameters
    ----------
    loop : For
        The loop.
    """
    return any(isinstance(n, For | While) for n in statements(loop.body))


def expanded(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Return an expression in which values replace the variables that a body declares.

    Parameters
    ----------
    expr : Expr
        The expression.
    values : mapping
        The values by the names of the variables. A value may use other variables of the mapping.
    """
    while found := used_names(expr) & values.keys():
        for name in found:
            expr = put(expr, Var(name, values[name].ty), values[name])
    return expr


def kept(stmt: Stmt, assigned: set[str]) -> dict[str, Expr]:
    """Return the values of the variables that a statement declares and that do not change, by name.

    Parameters
    ----------
    stmt : Stmt
        The statement.
    assigned : set of str
        The names of variables that are assigned after their declaration.
    """
    found = [n for n in statements(stmt) if isinstance(n, Declare)]
    return {n.var.name: n.value for n in found if n.value is not None and n.var.name not in assigned}


def elements(stmt: Stmt) -> Iterator[tuple[Expr, Expr, bool]]:
    """Yield the array and the index of each element that a statement uses, and whether the statement writes it.

    Parameters
    ----------
    stmt : Stmt
        The statement.
    """
    for n in walk(stmt):
        match n:
            case Store(array=array, index=index) | Update(target=Load(array=array, index=index)):
                yield array, index, True
            case Load(array=array, index=index):
                yield array, index, False


def ask(array: Expr, index: Expr, write: bool = False) -> Stmt:
    """Return the prefetch instruction for an element of an array.

    Parameters
    ----------
    array : Expr
        The array.
    index : Expr
        The index of the element.
    write : bool
        True if the element will be written, False if it will be read.
    """
    return Evaluate(Call("weft_prefetch_write" if write else "weft_prefetch_read", (add(array, index),), "int64"))
