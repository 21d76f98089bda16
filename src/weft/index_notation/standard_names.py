"""Standard names, so that assignments that differ only in names share a kernel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache

from .nodes import Access, Apply, Assignment, Expr, Reduce
from .traversal import accesses, rebuild

_LETTERS = "ijklmnopqrstuvw"


@lru_cache(maxsize=4096)
def anonymous(assignment: Assignment) -> Assignment:
    """Return an assignment with standard names, so that assignments that differ only in names share a kernel."""
    target = assignment.target
    read = accesses(assignment.value)
    variables = dict.fromkeys((*target.indices, *_variables(assignment.value)))
    letters = itertools.chain(_LETTERS, (f"i{n}" for n in itertools.count(1)))
    operands = itertools.chain("ABDEFGH", (f"A{n}" for n in itertools.count(1)))
    tensors = dict(zip(dict.fromkeys(a.tensor for a in read), operands, strict=False))
    names = dict(zip(variables, letters, strict=False))

    def renamed(expr: Expr) -> Expr:
        match expr:
            case Access(tensor=tensor, indices=indices):
                return Access(tensors[tensor], tuple(names[v] for v in indices))
            case Reduce(op=op, vars=vars, body=body):
                return Reduce(op, tuple(names[v] for v in vars), renamed(body))
        return rebuild(expr, renamed)

    made = Access("C", tuple(names[v] for v in target.indices))
    return Assignment(made, renamed(assignment.value), assignment.op)


def _variables(expr: Expr) -> Iterator[str]:
    """Yield the variables in order of appearance, bound ones where they are bound."""
    match expr:
        case Access(indices=indices):
            yield from indices
        case Reduce(vars=vars, body=body):
            yield from vars
            yield from _variables(body)
        case Apply(args=args):
            for arg in args:
                yield from _variables(arg)
