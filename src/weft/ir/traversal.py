"""Traversal of the IR, written once, so that each pass states only its rule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from operator import attrgetter, is_
from typing import Any, TypeVar

from ..records import fields_getter, replace
from . import nodes as ir

Node = ir.Expr | ir.Stmt
_Fact = TypeVar("_Fact")

# The fields of each class that hold nodes, in the order of evaluation. Call and Block hold tuples instead: see _SLOTS.
_FIELDS: dict[type, tuple[str, ...]] = {
    ir.Var: (), ir.Const: (), ir.Comment: (),
    ir.Unary: ("a",), ir.Binary: ("a", "b"), ir.Cast: ("a",), ir.Select: ("cond", "a", "b"),
    ir.Load: ("array", "index"), ir.Declare: ("var", "value"), ir.Set: ("var", "value"),
    ir.Store: ("array", "index", "value"), ir.Update: ("target", "value"),
    ir.If: ("cond", "then", "orelse"), ir.While: ("cond", "body"), ir.For: ("var", "start", "stop", "body", "step"),
    ir.Parallel: ("threads", "prologue", "loop", "epilogue"), ir.Allocate: ("var", "size"), ir.Array: ("var",),
    ir.Free: ("var",), ir.Evaluate: ("call",), ir.Return: ("value",), ir.Poll: ("watch",),
    ir.Scan: ("var", "array", "start", "stop", "first"),
}  # fmt: skip

# A constructor of each class, from a node and its new children; other fields are taken from the node.
_MAKE: dict[type, Callable[[Any, tuple[Any, ...]], Any]] = {
    ir.Unary: lambda n, c: ir.Unary(n.op, *c),
    ir.Binary: lambda n, c: ir.Binary(n.op, *c),
    ir.Cast: lambda n, c: ir.Cast(c[0], n.ty),
    ir.Select: lambda n, c: ir.Select(*c),
    ir.Load: lambda n, c: ir.Load(*c),
    ir.Call: lambda n, c: ir.Call(n.name, c, n.ty),
    ir.Block: lambda n, c: ir.Block(c),
    ir.Declare: lambda n, c: ir.Declare(*c),
    ir.Set: lambda n, c: ir.Set(*c),
    ir.Store: lambda n, c: ir.Store(*c),
    ir.Update: lambda n, c: ir.Update(n.op, *c),
    ir.If: lambda n, c: ir.If(*c),
    ir.While: lambda n, c: ir.While(*c),
    ir.For: lambda n, c: ir.For(c[0], c[1], c[2], c[3], n.simd, n.unroll, c[4]),
    ir.Parallel: lambda n, c: ir.Parallel(c[0], c[1], c[2], c[3]),
    ir.Allocate: lambda n, c: ir.Allocate(c[0], c[1], n.zero),
    ir.Array: lambda n, c: ir.Array(c[0], n.size),
    ir.Free: lambda n, c: ir.Free(*c),
    ir.Evaluate: lambda n, c: ir.Evaluate(*c),
    ir.Return: lambda n, c: ir.Return(*c),
    ir.Poll: lambda n, c: ir.Poll(c[0], n.asks),
    ir.Scan: lambda n, c: ir.Scan(c[0], c[1], c[2], c[3], n.op, c[4]),
}


# A getter of the children of each class, absent ones as None.
_SLOTS = {cls: fields_getter(fields) for cls, fields in _FIELDS.items()}
_SLOTS |= {ir.Call: attrgetter("args"), ir.Block: attrgetter("stmts")}
_LEAVES = frozenset(cls for cls, fields in _FIELDS.items() if not fields)

# A getter of the statements in each class that has any, absent ones as None.
_INNER: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    ir.Block: attrgetter("stmts"),
    ir.If: fields_getter(("then", "orelse")),
    ir.While: fields_getter(("body",)),
    ir.For: fields_getter(("body",)),
    ir.Parallel: fields_getter(("prologue", "loop", "epilogue")),
}
# A getter of the children of each other class that has any.
_BELOW = {cls: getter for cls, getter in _SLOTS.items() if cls not in _LEAVES and cls not in _INNER}
_DECLARING = (ir.Declare, ir.For, ir.Scan, ir.Allocate, ir.Array)
_DECLARING_HERE = (ir.Declare, ir.Allocate, ir.Array)  # in no scope of their own
_CHANGING = (ir.Set, ir.Update, ir.Free)


def fact(compute: Callable[[Node], _Fact]) -> Callable[[Node], _Fact]:
    """Let a node keep what a function returns for it, since many passes ask the same of a tree that never changes."""
    name = f"_{compute.__name__}"

    @wraps(compute)
    def kept(node: Node) -> _Fact:
        facts = node.__dict__
        if name not in facts:
            facts[name] = compute(node)
        return facts[name]  # type: ignore[no-any-return]

    return kept


def _slots(node: Any) -> tuple[Any, ...]:
    """Return the children of ``node``, with None for each absent one."""
    return _SLOTS[type(node)](node)


def children(node: Node) -> tuple[Node, ...]:
    """Return the children of ``node`` in the order of evaluation, declared variables included."""
    return tuple([child for child in _slots(node) if child is not None])


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return ``node`` with ``change`` applied to each child, or ``node`` itself if no child changes."""
    old = _slots(node)
    new = tuple([None if child is None else change(child) for child in old])
    return node if all(map(is_, old, new)) else _MAKE[type(node)](node, new)


def rebuild_statements(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return ``node`` with ``change`` applied to each statement directly below, as ``rebuild`` does."""
    if type(node) not in _INNER:
        return node
    old = _slots(node)
    new = tuple([change(child) if isinstance(child, ir.Stmt) else child for child in old])
    return node if all(map(is_, old, new)) else _MAKE[type(node)](node, new)


def rewrite(node: Node, rule: Callable[[Node], Node | None]) -> Node:
    """Return ``node`` with ``rule`` applied to all nodes under it and then to it, children first."""
    kind = type(node)
    if kind not in _LEAVES:
        old = _SLOTS[kind](node)
        below = tuple([None if child is None else rewrite(child, rule) for child in old])
        if not all(map(is_, old, below)):
            node = _MAKE[kind](node, below)
    new = rule(node)
    return node if new is None else new


def rewrite_statements(node: Node, rule: Callable[[Node], Node | None]) -> Node:
    """Return ``node`` with ``rule`` applied to its statements, as ``rewrite`` does, and to no expression."""
    node = rebuild_statements(node, lambda inner: rewrite_statements(inner, rule))
    new = rule(node)
    return node if new is None else new


def with_body(function: ir.Function, body: Node) -> ir.Function:
    """Return a function with another body, or ``function`` itself if that stays the same."""
    return function if body is function.body else replace(function, body=body)  # type: ignore[arg-type]


@fact
def walk(node: Node) -> Sequence[Node]:
    """Return ``node`` and all nodes under it, parents first, in the order of evaluation."""
    # A list, since a generator would cost a call for each node. Statements with others inside keep their own.
    nodes: list[Node] = [node]
    stack: list[Node | None] = [*_slots(node)[::-1]]
    below_of = _BELOW.get
    while stack:
        inner = stack.pop()
        if (below := below_of(type(inner))) is not None:
            nodes.append(inner)  # type: ignore[arg-type]
            stack += below(inner)[::-1]
        elif type(inner) in _INNER:
            nodes += walk(inner)  # type: ignore[arg-type]
        elif inner is not None:
            nodes.append(inner)
    return nodes


@fact
def called(node: Node) -> frozenset[str]:
    """Return the names of the functions that are called under ``node``."""
    return frozenset([n.name for n in walk(node) if type(n) is ir.Call])


def statements(node: Node, *, regions: bool = True) -> Sequence[Node]:
    """Return ``node`` and all statements under it, parents first, in order.

    Expressions are not entered, nor parallel regions if ``regions`` is false.
    """
    if type(node) not in _INNER:
        return [node]
    inside = _all_statements(node)
    if regions or ir.Parallel not in map(type, inside):
        return inside
    outside: list[Node] = []
    place = 0
    while place < len(inside):
        outside.append(inside[place])
        place += len(_all_statements(inside[place])) if type(inside[place]) is ir.Parallel else 1
    return outside


@fact
def _all_statements(node: Node) -> Sequence[Node]:
    nodes = [node]
    for stmt in _INNER[type(node)](node):
        if type(stmt) in _INNER:
            nodes += _all_statements(stmt)
        elif stmt is not None:
            nodes.append(stmt)
    return nodes


@fact
def variables(node: Node) -> Sequence[ir.Var]:
    """Return the variables under ``node`` as often as they are used or declared, in the order of evaluation."""
    if type(node) is ir.Var:
        return [node]
    uses: list[ir.Var] = []
    stack: list[Node | None] = [*_slots(node)[::-1]]
    below_of = _BELOW.get
    while stack:
        inner = stack.pop()
        if type(inner) is ir.Var:
            uses.append(inner)
        elif (below := below_of(type(inner))) is not None:
            stack += below(inner)[::-1]
        elif type(inner) in _INNER:
            uses += variables(inner)  # type: ignore[arg-type]
    return uses


@fact
def used_names(node: Node) -> frozenset[str]:
    """Return the names of all variables under ``node``, including those that are declared there."""
    return frozenset([var.name for var in variables(node)])


def fresh_variables(node: Node, taken: Collection[str] = ()) -> Callable[..., ir.Var]:
    """Return a function that makes variables whose names are not taken, under ``node`` or by each other."""
    used = {*used_names(node), *taken}

    def fresh(stem: str, ty: str = "int64") -> ir.Var:
        while stem in used:
            stem += "_"
        used.add(stem)
        return ir.Var(stem, ty)

    return fresh


def declared_names(node: Node, *, regions: bool = True) -> list[str]:
    """Return the names that declarations, loops and allocations under ``node`` declare, in order, with repetitions.

    Parallel regions are not entered if ``regions`` is false.
    """
    inside = statements(node, regions=regions)
    return [n.var.name for n in inside if type(n) in _DECLARING]  # type: ignore[union-attr]


@fact
def assigned_names(node: Node) -> frozenset[str]:
    """Return the names of the variables that a Set, an Update or a Free under ``node`` changes."""
    names: set[str] = set()
    for stmt in _INNER[type(node)](node) if type(node) in _INNER else (node,):
        if type(stmt) in _INNER:
            names |= assigned_names(stmt)
        elif type(stmt) in _CHANGING:
            place = stmt.target if type(stmt) is ir.Update else stmt.var
            if type(place) is ir.Var:
                names.add(place.name)
    return frozenset(names)


def free_variables(node: Node | ir.Function) -> dict[str, ir.Var]:
    """Return the variables that are used but not declared under ``node``, by name, in the order of first use."""
    return dict(free(node.body if isinstance(node, ir.Function) else node))


@fact
def free(node: Node) -> Mapping[str, ir.Var]:
    """Return what ``free_variables`` returns, which is not to be changed."""
    unbound: dict[str, ir.Var] = {}
    match node:
        case ir.Block(stmts):
            _add_free(unbound, *stmts)
        case ir.Parallel(threads, prologue, loop, epilogue):
            _add_free(unbound, threads, prologue, loop, epilogue)
        case ir.For(var, start, stop, body):
            _add_free(unbound, start, stop, node.step or start, ir.Array(var, 1), body)
        case ir.If() | ir.While():
            for child in children(node):
                _add_free(unbound, child)
        case _:
            _add_free(unbound, node)
    return unbound


def _add_free(unbound: dict[str, ir.Var], *parts: Node) -> None:
    """Add the free variables of parts, each of which is in the scope of what those before it declare."""
    bound: set[str] = set()
    for part in parts:
        kind = type(part)
        used = free(part).values() if kind in _INNER else variables(part)
        for var in used[1:] if kind in _DECLARING and kind is not ir.For else used:  # type: ignore[index]
            if var.name not in bound:
                unbound.setdefault(var.name, var)
        if kind in _DECLARING_HERE:
            bound.add(part.var.name)  # type: ignore[union-attr]
        elif kind is ir.Block:
            bound.update([var.name for var in declared_here(part)])


def declared_here(node: Node) -> Sequence[ir.Var]:
    """Return the variables that a node declares in the scope that it is in."""
    if type(node) is ir.Block:
        return [var for stmt in node.stmts for var in declared_here(stmt)]
    return [node.var] if type(node) in _DECLARING_HERE else []  # type: ignore[union-attr]
