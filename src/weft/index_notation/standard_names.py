"""Standard names, so that assignments that differ only in names share a kernel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache

from .nodes import Access, Assignment, Expr, Reduce
from .traversal import free_variables, outermost_reductions, renamed, variables, walk

_LETTERS = "ijklmnopqrstuvw"


@lru_cache(maxsize=4096)
def anonymous(assignment: Assignment) -> Assignment:
    """Return an assignment with standard names, so that assignments that differ only in names share a kernel."""
    return standard(assignment)[0]


def standard(assignment: Assignment) -> tuple[Assignment, dict[str, str]]:
    """Return an assignment with standard names, and these by the names of its operands."""
    target = assignment.target
    in_order = dict.fromkeys((*target.indices, *_variables(assignment.value)))
    letters = itertools.chain(_LETTERS, (f"i{n}" for n in itertools.count(1)))
    operands = itertools.chain("ABDEFGH", (f"A{n}" for n in itertools.count(1)))
    tensors = dict(zip(dict.fromkeys(a.tensor for a in assignment.value.distinct_accesses), operands, strict=False))
    names = dict(zip(in_order, letters, strict=False))

    result = Access("C", tuple(names[v] for v in target.indices))
    return Assignment(result, renamed(assignment.value, tensors, names), assignment.op), tensors


@lru_cache(maxsize=64)
def copy_of(order: int) -> Assignment:
    """Return the assignment that copies a tensor with a number of axes."""
    indices = tuple(f"i{axis}" for axis in range(order))
    return Assignment(Access("B", indices), Access("A", indices))


def canonical(expr: Expr) -> tuple[Expr, tuple[str, ...]]:
    """Return an expression with standard variables, so that equal parts are equal, and its free variables in order."""
    free = free_variables(expr)
    names = {v: f"f{k}" for k, v in enumerate(free)}
    bound = [v for node in outermost_reductions(expr) for v in node.vars]
    every = [v for v in dict.fromkeys([*bound, *variables(expr)]) if v not in names]
    return renamed(expr, variables={**names, **{v: f"b{k}" for k, v in enumerate(every)}}), free


def _variables(expr: Expr) -> Iterator[str]:
    """Yield the variables in order of appearance, bound ones where they are bound."""
    for node in walk(expr):
        match node:
            case Access(indices=names) | Reduce(vars=names):
                yield from names
