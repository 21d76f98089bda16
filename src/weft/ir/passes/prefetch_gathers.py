"""Where the coordinates of a list lead, asked for some entries before it is needed.

Where they go all over an array, each entry waits for memory, and few are under way at a time. Whether they do is a
matter of the numbers, not of the program: before the loop some of them are looked at.
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
from ..traversal import declared_names, rewrite, used_names, walk
from ..types import size_of
from .adjacent_ranges import put

__all__ = ["Leaps", "ask", "elements", "expanded", "kept", "leaps", "nests"]

BY = 64
"""Entries between asking for what one leads to and using it."""
_COORDINATES = ("int32", "int64")
_NOTHING = block()


@record
class Leaps:
    """What the coordinates of a list lead to.

    Parameters
    ----------
    until : Var
        The position until which it is asked for.
    lists : tuple of (Expr, Expr)
        The arrays of coordinates, and how many bytes elsewhere there are to one.
    asks : tuple of Stmt
        What is done for one entry.
    """

    until: Var
    lists: tuple[tuple[Expr, Expr], ...]
    asks: tuple[Stmt, ...]

    @property
    def names(self) -> set[str]:
        """The variables that must be known before the loop."""
        return {name for _, size in self.lists for name in used_names(size)}

    def declared(self, first: Expr, last: Expr) -> Stmt:
        """Look at some of the coordinates from ``first`` up to ``last``."""
        far = (Call(f"weft_scattered_{a.ty[:-1]}", (a, first, last, size), "bool") for a, size in self.lists)
        return Declare(self.until, Select(lor(*far), sub(last, lit(BY)), first))

    def taken(self, loop: For, whole: bool, before: Stmt = _NOTHING) -> Stmt:
        """The loop, over all entries or over a row of them, asking as long as there is something to ask for.

        Each iteration begins with ``before``. Short loops are there twice: nothing is added to those that need not ask.
        """
        if any(isinstance(n, If) for n in walk(loop.body)):
            sometimes = if_(lt(loop.var, self.until), block(*self.asks))
            return replace(loop, body=block(before, sometimes, loop.body))
        asking = replace(loop, body=block(before, *self.asks, loop.body))
        loop = replace(loop, body=block(before, loop.body))
        if whole:
            return block(replace(asking, stop=self.until), replace(loop, start=self.until))
        return if_(le(loop.stop, self.until), asking, loop)


def leaps(loop: For, until: Var, assigned: set[str]) -> Leaps | None:
    """The elements to which the coordinates that a loop reads one by one lead; None where there are none.

    Parameters
    ----------
    loop : For
        Over positions.
    until : Var
        A fresh variable.
    assigned : set of str
        The names of variables that change.
    """
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
        place = expanded(index, values)
        found = {n for n in walk(place) if isinstance(n, Load | Call)}
        if len(found) != 1 or used_names(array) & hidden or (array, place) in seen:
            continue
        seen.add((array, place))
        coordinate = found.pop()
        if not isinstance(coordinate, Load) or coordinate.index != loop.var or coordinate.ty not in _COORDINATES:
            continue
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
    """Whether loops are inside."""
    return any(isinstance(n, For | While) for n in walk(loop.body))


def expanded(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """An expression in terms of what is known outside the body that declares these values."""
    while found := used_names(expr) & values.keys():
        for name in found:
            expr = put(expr, Var(name, values[name].ty), values[name])
    return expr


def kept(stmt: Stmt, assigned: set[str]) -> dict[str, Expr]:
    """The values of the variables that a statement declares, and that nothing changes."""
    found = [n for n in walk(stmt) if isinstance(n, Declare)]
    return {n.var.name: n.value for n in found if n.value is not None and n.var.name not in assigned}


def elements(stmt: Stmt) -> Iterator[tuple[Expr, Expr, bool]]:
    """The elements of arrays that a statement uses, and whether it changes them."""
    for n in walk(stmt):
        match n:
            case Store(array=array, index=index) | Update(target=Load(array=array, index=index)):
                yield array, index, True
            case Load(array=array, index=index):
                yield array, index, False


def ask(array: Expr, index: Expr, write: bool = False) -> Stmt:
    """Ask for an element of an array."""
    return Evaluate(Call("weft_fetch" if write else "weft_fetch_to_read", (add(array, index),), "int64"))
