"""Traversal of the IR, written once, so that each pass states only its rule."""

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
    "statements",
    "used_names",
    "walk",
]

Node = Expr | Stmt

# The fields of each class that hold nodes, in the order of evaluation. Call and Block hold tuples instead: see _SLOTS.
_FIELDS: dict[type, tuple[str, ...]] = {
    Var: (), Const: (), Comment: (),
    Unary: ("a",), Binary: ("a", "b"), Cast: ("a",), Select: ("cond", "a", "b"), Load: ("array", "index"),
    Declare: ("var", "value"), Set: ("var", "value"), Store: ("array", "index", "value"), Update: ("target", "value"),
    If: ("cond", "then", "orelse"), While: ("cond", "body"), For: ("var", "start", "stop", "body"),
    Parallel: ("threads", "prologue", "loop", "epilogue"), Allocate: ("var", "size"), Array: ("var",), Free: ("var",),
    Evaluate: ("call",), Return: ("value",), Poll: ("watch",),
}  # fmt: skip

# A constructor of each class, from a node and its new children; other fields are taken from the node.
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
    Parallel: lambda n, c: Parallel(c[0], c[1], c[2], c[3]),
    Allocate: lambda n, c: Allocate(c[0], c[1], n.zero),
    Array: lambda n, c: Array(c[0], n.size),
    Free: lambda n, c: Free(*c),
    Evaluate: lambda n, c: Evaluate(*c),
    Return: lambda n, c: Return(*c),
    Poll: lambda n, c: Poll(c[0], n.asks),
}


# A getter of the children of each class, absent ones as None.
_SLOTS = {cls: fields_getter(fields) for cls, fields in _FIELDS.items()}
_SLOTS |= {Call: attrgetter("args"), Block: attrgetter("stmts")}
_LEAVES = frozenset(cls for cls, fields in _FIELDS.items() if not fields)

# A getter of the statements in each class that has any, absent ones as None.
_INNER: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Block: attrgetter("stmts"),
    If: fields_getter(("then", "orelse")),
    While: fields_getter(("body",)),
    For: fields_getter(("body",)),
    Parallel: fields_getter(("prologue", "loop", "epilogue")),
}


def _slots(node: Any) -> tuple[Any, ...]:
    """Return the children of ``node``, with None for each absent one."""
    return _SLOTS[type(node)](node)


def children(node: Node) -> tuple[Node, ...]:
    """Return the children of ``node`` in the order of evaluation, declared variables included.

    Parameters
    ----------
    node : Node
        An expression or a statement.
    """
    return tuple([child for child in _slots(node) if child is not None])


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return ``node`` with ``change`` applied to each child, or ``node`` itself if no child changes.

    Parameters
    ----------
    node : Node
        An expression or a statement.
    change : callable
        Takes a child; returns its replacement, or the same object for an unchanged child.
    """
    old = _slots(node)
    if not old:
        return node
    new = tuple([None if child is None else change(child) for child in old])
    for a, b in zip(old, new, strict=True):
        if a is not b:
            return _MAKE[type(node)](node, new)  # type: ignore[no-any-return]
    return node


def rewrite(node: Node, rule: Callable[[Node], Node | None]) -> Node:
    """Return ``node`` with ``rule`` applied to all nodes under it and then to it, children first.

    Parameters
    ----------
    node : Node
        An expression or a statement.
    rule : callable
        Takes a node whose children are already rewritten; returns its replacement, or None for an unchanged node.
    """
    node = rebuild(node, lambda child: rewrite(child, rule))
    new = rule(node)
    return node if new is None else new


def walk(node: Node) -> Iterator[Node]:
    """Yield ``node`` and all nodes under it, parents first, in the order of evaluation.

    Parameters
    ----------
    node : Node
        An expression or a statement.
    """
    # A stack, since nested generators would cost a call per level for each node.
    stack: list[Any] = [node]
    while stack:
        found = stack.pop()
        if found is not None:
            yield found
            kind = type(found)
            if kind not in _LEAVES:
                stack += _SLOTS[kind](found)[::-1]


def statements(node: Node) -> Iterator[Node]:
    """Yield ``node`` and all statements under it, parents first, in order; expressions are not entered.

    Parameters
    ----------
    node : Node
        A statement, or an expression, which contains no statements.
    """
    stack: list[Any] = [node]
    while stack:
        found = stack.pop()
        if found is not None:
            yield found
            if (inner := _INNER.get(type(found))) is not None:
                stack += inner(found)[::-1]


def used_names(node: Node) -> set[str]:
    """Return the names of all variables under ``node``, including those that are declared there.

    Parameters
    ----------
    node : Node
        An expression or a statement.
    """
    return {n.name for n in walk(node) if type(n) is Var}


def declared_names(node: Node) -> list[str]:
    """Return the names that declarations, loops and allocations under ``node`` declare, in order, with repetitions.

    Parameters
    ----------
    node : Node
        An expression or a statement.
    """
    return [n.var.name for n in statements(node) if type(n) in (Declare, For, Allocate, Array)]  # type: ignore[union-attr]


def assigned_names(node: Node) -> set[str]:
    """Return the names of the variables that a Set, an Update or a Free under ``node`` changes.

    Parameters
    ----------
    node : Node
        An expression or a statement.
    """
    names = set()
    for n in statements(node):
        match n:
            case Set(var=Var(name)) | Update(target=Var(name)) | Free(var=Var(name)):
                names.add(name)
    return names


def free_variables(node: Node | Function) -> dict[str, Var]:
    """Return the variables that are used but not declared under ``node``, by name, in the order of first use.

    Parameters
    ----------
    node : Node or Function
        An expression, a statement, or a function, whose body is searched.
    """
    free: dict[str, Var] = {}
    _free(node.body if isinstance(node, Function) else node, set(), free)
    return free


def _free(node: Node, bound: set[str], free: dict[str, Var]) -> None:
    """Add the free variables of ``node`` to ``free``, and its declarations to ``bound``, the names of the scope."""
    # Nodes with a scope of their own pass a copy of ``bound``, so that their declarations end with them.
    match node:
        case Expr():
            for n in walk(node):
                if type(n) is Var and n.name not in bound:
                    free.setdefault(n.name, n)
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
            inner = set(bound)  # the loop and the epilogue see the declarations of the prologue
            for part in (prologue, loop, epilogue):
                _free(part, inner, free)
        case _:
            for child in children(node):
                _free(child, bound, free)
