"""Traversal of the IR, written once: every pass states only its rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

from ..records import fields_getter
from .nodes import (
    Allocate,
    Array,
    Binary,
    Block,
    Call,
    Cast,
    Comment,
    Const,
    Declare,
    Evaluate,
    Expr,
    For,
    Free,
    Function,
    If,
    Load,
    Parallel,
    Poll,
    Return,
    Select,
    Set,
    Stmt,
    Store,
    Unary,
    Update,
    Var,
    While,
)  # fmt: skip

__all__ = [
    "Node",
    "assigned_names",
    "children",
    "declared_names",
    "free_variables",
    "rebuild",
    "rewrite",
    "used_names",
    "walk",
]

Node = Expr | Stmt

# Each class with its fields that hold nodes, in the order of evaluation, and a constructor from (node, new children).
_FIELDS: dict[type, tuple[str, ...]] = {
    Var: (), Const: (), Comment: (),
    Unary: ("a",), Binary: ("a", "b"), Cast: ("a",), Select: ("cond", "a", "b"), Load: ("array", "index"),
    Declare: ("var", "value"), Set: ("var", "value"), Store: ("array", "index", "value"), Update: ("target", "value"),
    If: ("cond", "then", "orelse"), While: ("cond", "body"), For: ("var", "start", "stop", "body"),
    Parallel: ("threads", "prologue", "loop", "epilogue"), Allocate: ("var", "size"), Array: ("var",), Free: ("var",),
    Evaluate: ("call",), Return: ("value",), Poll: ("watch",),
}  # fmt: skip

_MAKE: dict[type, Callable[[Any, tuple[Any, ...]], Any]] = {
    Unary: lambda n, c: Unary(n.op, *c),
    Binary: lambda n, c: Binary(n.op, *c),
    Cast: lambda n, c: Cast(c[0], n.ty),
    Select: lambda n, c: Select(*c),
    Load: lambda n, c: Load(*c),
    Call: lambda n, c: Call(n.name, c, n.ty),
    Block: lambda n, c: Block(c),
    Declare: lambda n, c: Declare(*c),
    Set: lambda n, c: Set(*c),
    Store: lambda n, c: Store(*c),
    Update: lambda n, c: Update(n.op, *c),
    If: lambda n, c: If(*c),
    While: lambda n, c: While(*c),
    For: lambda n, c: For(c[0], c[1], c[2], c[3], n.simd, n.unroll),
    Parallel: lambda n, c: Parallel(c[0], c[1], c[2], c[3], n.schedule),
    Allocate: lambda n, c: Allocate(c[0], c[1], n.zero),
    Array: lambda n, c: Array(c[0], n.size),
    Free: lambda n, c: Free(*c),
    Evaluate: lambda n, c: Evaluate(*c),
    Return: lambda n, c: Return(*c),
    Poll: lambda n, c: Poll(c[0], n.asks),
}


_SLOTS = {cls: fields_getter(fields) for cls, fields in _FIELDS.items()}
_SLOTS |= {Call: attrgetter("args"), Block: attrgetter("stmts")}


def _slots(node: Any) -> tuple[Any, ...]:
    """The fields of ``node`` that hold nodes, absent ones as None."""
    return _SLOTS[type(node)](node)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly under ``node``, in the order of evaluation; declared variables count."""
    return tuple([child for child in _slots(node) if child is not None])


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """``node`` with ``change`` applied to each child; the same object when no child changes."""
    old = _slots(node)
    if not old:
        return node
    new = tuple([None if child is None else change(child) for child in old])
    for a, b in zip(old, new, strict=True):
        if a is not b:
            return _MAKE[type(node)](node, new)  # type: ignore[no-any-return]
    return node


def rewrite(node: Node, rule: Callable[[Node], Node | None]) -> Node:
    """``node`` with ``rule`` applied from the leaves up.

    Parameters
    ----------
    node : Node
        Where to start.
    rule : callable
        Takes a node whose children are already rewritten; returns its replacement, or None for unchanged.
    """
    node = rebuild(node, lambda child: rewrite(child, rule))
    new = rule(node)
    return node if new is None else new


def walk(node: Node) -> Iterator[Node]:
    """``node`` and everything under it, parents first, in the order of evaluation."""
    stack: list[Node] = [node]
    while stack:
        node = stack.pop()
        yield node
        if under := _slots(node):
            stack.extend([child for child in under[::-1] if child is not None])


def used_names(node: Node) -> set[str]:
    """The names of all variables that occur under ``node``, declared there or not."""
    return {n.name for n in walk(node) if type(n) is Var}


def declared_names(node: Node) -> list[str]:
    """The names declared under ``node``, by declarations, loops and allocations, in order, with repetition."""
    return [n.var.name for n in walk(node) if type(n) in (Declare, For, Allocate, Array)]  # type: ignore[union-attr]


def assigned_names(node: Node) -> set[str]:
    """The names of the variables that a Set, an Update or a Free under ``node`` changes."""
    names = set()
    for n in walk(node):
        match n:
            case Set(var=Var(name)) | Update(target=Var(name)) | Free(var=Var(name)):
                names.add(name)
    return names


def free_variables(node: Node | Function) -> dict[str, Var]:
    """The variables used under ``node`` without being declared there, by name, in order of first use."""
    free: dict[str, Var] = {}
    _free(node.body if isinstance(node, Function) else node, set(), free)
    return free


def _free(node: Node, bound: set[str], free: dict[str, Var]) -> None:
    """Add to ``free``; declarations extend ``bound``, which belongs to the enclosing scope."""
    match node:
        case Var(name):
            if name not in bound:
                free.setdefault(name, node)
        case Declare(var, value):
            if value is not None:
                _free(value, bound, free)
            bound.add(var.name)
        case Allocate(var, size):
            _free(size, bound, free)
            bound.add(var.name)
        case Array(var):
            bound.add(var.name)
        case For(var, start, stop, body):
            _free(start, bound, free)
            _free(stop, bound, free)
            _free(body, bound | {var.name}, free)
        case If(cond, then, orelse):
            _free(cond, bound, free)
            _free(then, set(bound), free)
            if orelse is not None:
                _free(orelse, set(bound), free)
        case While(cond, body):
            _free(cond, bound, free)
            _free(body, set(bound), free)
        case Parallel(threads, prologue, loop, epilogue):
            _free(threads, bound, free)
            inner = set(bound)
            for part in (prologue, loop, epilogue):
                _free(part, inner, free)
        case _:
            for child in children(node):
                _free(child, bound, free)
