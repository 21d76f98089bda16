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
_BELOW = {cls: getter for cls, getter in _SLOTS.items() if cls not in _LEAVES}

# A getter of the statements in each class that has any, absent ones as None.
_INNER: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    ir.Block: attrgetter("stmts"),
    ir.If: fields_getter(("then", "orelse")),
    ir.While: fields_getter(("body",)),
    ir.For: fields_getter(("body",)),
    ir.Parallel: fields_getter(("prologue", "loop", "epilogue")),
}
_INNER_OF_ONE_THREAD = {cls: getter for cls, getter in _INNER.items() if cls is not ir.Parallel}
_DECLARING = (ir.Declare, ir.For, ir.Scan, ir.Allocate, ir.Array)
_CHANGING = (ir.Set, ir.Update, ir.Free)
_WITH_SCOPES = frozenset((*_INNER, *_DECLARING))  # which declare, or have statements


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
    # A list, since a generator would cost a call for each node.
    nodes: list[Node] = []
    stack: list[Node | None] = [node]
    below_of = _BELOW.get
    while stack:
        inner = stack.pop()
        if inner is not None:
            nodes.append(inner)
            if (below := below_of(type(inner))) is not None:
                stack += below(inner)[::-1]
    return nodes


def statements(node: Node, *, regions: bool = True) -> Sequence[Node]:
    """Return ``node`` and all statements under it, parents first, in order.

    Expressions are not entered, nor parallel regions if ``regions`` is false.
    """
    return _all_statements(node) if regions else _statements_in(node, _INNER_OF_ONE_THREAD)


@fact
def _all_statements(node: Node) -> Sequence[Node]:
    return _statements_in(node, _INNER)


def _statements_in(node: Node, inner_statements: Mapping[type, Callable[[Any], tuple[Any, ...]]]) -> Sequence[Node]:
    nodes: list[Node] = []
    stack: list[Node | None] = [node]
    inner_of = inner_statements.get
    while stack:
        stmt = stack.pop()
        if stmt is not None:
            nodes.append(stmt)
            if (inner := inner_of(type(stmt))) is not None:
                stack += inner(stmt)[::-1]
    return nodes


@fact
def variables(node: Node) -> Sequence[ir.Var]:
    """Return the variables under ``node`` as often as they are used or declared, in the order of evaluation."""
    variables: list[ir.Var] = []
    stack: list[Node | None] = [node]
    below_of = _BELOW.get
    while stack:
        inner = stack.pop()
        if type(inner) is ir.Var:
            variables.append(inner)
        elif (below := below_of(type(inner))) is not None:
            stack += below(inner)[::-1]
    return variables


def used_names(node: Node) -> set[str]:
    """Return the names of all variables under ``node``, including those that are declared there."""
    return {var.name for var in variables(node)}


def fresh_variables(node: Node, taken: Collection[str] = ()) -> Callable[..., ir.Var]:
    """Return a function that makes variables whose names are not taken, under ``node`` or by each other."""
    used = used_names(node).union(taken)

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
    changes = [n for n in statements(node) if type(n) in _CHANGING]
    places = [n.target if isinstance(n, ir.Update) else n.var for n in changes]  # type: ignore[union-attr]
    return frozenset([place.name for place in places if isinstance(place, ir.Var)])


def free_variables(node: Node | ir.Function) -> dict[str, ir.Var]:
    """Return the variables that are used but not declared under ``node``, by name, in the order of first use."""
    free: dict[str, ir.Var] = {}
    _free(node.body if isinstance(node, ir.Function) else node, set(), free)
    return free


def _free(node: Node, bound: set[str], free: dict[str, ir.Var]) -> None:
    """Add the free variables of ``node`` to ``free``, and its declarations to ``bound``, the names of the scope."""
    if type(node) not in _WITH_SCOPES:  # an expression, or a statement without statements
        for var in variables(node):
            if var.name not in bound:
                free.setdefault(var.name, var)
        return
    # Nodes with a scope of their own pass a copy of ``bound``, so that their declarations end with them.
    match node:
        case ir.Block(stmts):
            for stmt in stmts:
                _free(stmt, bound, free)
        case ir.Declare(var) | ir.Allocate(var) | ir.Array(var):
            for used in children(node)[1:]:
                _free(used, bound, free)
            bound.add(var.name)
        case ir.For(var, start, stop, body):
            _free(start, bound, free)
            _free(stop, bound, free)
            _free(node.step or start, bound, free)
            _free(body, bound | {var.name}, free)
        case ir.If(cond=cond) | ir.While(cond=cond):
            _free(cond, bound, free)
            for branch in children(node)[1:]:
                _free(branch, set(bound), free)
        case ir.Parallel(threads, prologue, loop, epilogue):
            _free(threads, bound, free)
            inner = set(bound)  # the loop and the epilogue see the declarations of the prologue
            for part in (prologue, loop, epilogue):
                _free(part, inner, free)
        case ir.Scan():  # whose first child is a variable of its own
            for used in children(node)[1:]:
                _free(used, bound, free)
