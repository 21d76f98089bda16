"""Trees: one walk, one rewriting and one fold for the expressions and statements of every notation.

A class of nodes states its children in one line. A function that treats only a few kinds of node is then a rule of two
or three lines. Functions that treat every kind in its own way, such as printers, match on the classes themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import is_
from typing import Any, TypeVar

_Node = TypeVar("_Node", bound="Node")
_Value = TypeVar("_Value")


class Node:
    """A node of a tree, by itself a leaf."""

    children: Any = ()  # the nodes directly below, in the order of evaluation

    def with_children(self, children: tuple[Any, ...]) -> Any:
        """Return the node with other children."""
        return self


def walk(node: _Node) -> list[_Node]:
    """Return a node and all nodes below it, parents first, in the order of evaluation."""
    # No recursion, since sums may have very many terms; and a list, since a generator would cost a call for each node.
    nodes, stack = [], [node]
    while stack:
        node = stack.pop()
        nodes.append(node)
        if below := node.children:
            stack += below[::-1]
    return nodes


def outermost(node: _Node, accepts: Callable[[_Node], bool]) -> Iterator[_Node]:
    """Yield the accepted nodes that are not below another accepted one, in the order of evaluation."""
    stack = [node]
    while stack:
        node = stack.pop()
        if accepts(node):
            yield node
        elif below := node.children:
            stack += below[::-1]


def rebuild(node: _Node, change: Callable[[_Node], _Node]) -> _Node:
    """Return a node with its children changed; the same object if no child changes."""
    old = node.children
    new = tuple([change(child) for child in old])
    return node if all(map(is_, old, new)) else node.with_children(new)


def rewrite(node: _Node, rule: Callable[[_Node], _Node | None]) -> _Node:
    """Return a tree with a rule applied to each node, children first; None leaves a node as it is."""
    old = node.children
    if old:
        new = tuple([rewrite(child, rule) for child in old])
        if not all(map(is_, old, new)):
            node = node.with_children(new)
    result = rule(node)
    return node if result is None else result


def rewrite_outermost(node: _Node, rule: Callable[[_Node], _Node | None]) -> _Node:
    """Return a tree with a rule applied to each node, parents first; what the rule returns is not entered."""
    result = rule(node)
    if result is not None:
        return result
    return rebuild(node, lambda child: rewrite_outermost(child, rule)) if node.children else node


def replaced(node: _Node, part: _Node, by: _Node) -> _Node:
    """Return a tree with ``by`` wherever it has ``part``."""
    return rewrite_outermost(node, lambda each: by if each == part else None)


def fold(node: _Node, combine: Callable[[_Node, list[_Value]], _Value]) -> _Value:
    """Return the value of a tree, where ``combine`` returns that of a node from those of its children."""
    return combine(node, [fold(child, combine) for child in node.children])


def depth(node: Node) -> int:
    """Return the number of nodes on the longest path from a node to a leaf.

    There is no recursion, since the depth protects recursive functions from trees that are too deep.
    """
    deepest, pending = 0, [(node, 1)]
    while pending:
        node, level = pending.pop()
        deepest = max(deepest, level)
        pending += [(child, level + 1) for child in node.children]
    return deepest
