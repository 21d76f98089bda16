"""Standard names, so that assignments that differ only in names share a kernel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache

from .nodes import Access, Assignment, Expr, Reduce
from .traversal import renamed, walk

_LETTERS = "ijklmnopqrstuvw"


@lru_cache(maxsize=4096)
def anonymous(assignment: Assignment) -> Assignment:
    """Return an assignment with standard names, so that assignments that differ only in names share a kernel."""
    target = assignment.target
    variables = dict.fromkeys((*target.indices, *_variables(assignment.value)))
    letters = itertools.chain(_LETTERS, (f"i{n}" for n in itertools.count(1)))
    operands = itertools.chain("ABDEFGH", (f"A{n}" for n in itertools.count(1)))
    tensors = dict(zip(dict.fromkeys(a.tensor for a in assignment.value.distinct_accesses), operands, strict=False))
    names = dict(zip(variables, letters, strict=False))

    result = Access("C", tuple(names[v] for v in target.indices))
    return Assignment(result, renamed(assignment.value, tensors, names), assignment.op)


def _variables(expr: Expr) -> Iterator[str]:
    """Yield the variables in order of appearance, bound ones where they are bound."""
    for node in walk(expr):
        match node:
            case Access(indices=names) | Reduce(vars=names):
                yield from names
