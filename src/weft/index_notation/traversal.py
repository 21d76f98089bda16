"""Traversal of index expressions: their tensors and variables, and bottom-up rewriting."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .nodes import Access, Apply, Assignment, Expr, Reduce


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the expressions directly below ``expr``."""
    match expr:
        case Apply(args=args):
            return args
        case Reduce(body=body):
            return (body,)
    return ()


def rebuild(expr: Expr, function: Callable[[Expr], Expr]) -> Expr:
    """Return ``expr`` with ``function`` applied to its children; the same object if that changes nothing."""
    match expr:
        case Apply(op=op, args=args):
            new = tuple(function(arg) for arg in args)
            return expr if all(a is b for a, b in zip(args, new, strict=True)) else Apply(op, new)
        case Reduce(op=op, vars=vars, body=body):
            inner = function(body)
            return expr if inner is body else Reduce(op, vars, inner)
    return expr


def replaced(expr: Expr, part: Expr, by: Expr) -> Expr:
    """Return ``expr`` with ``by`` wherever it has ``part``."""
    return by if expr == part else rebuild(expr, lambda e: replaced(e, part, by))


def depth(expr: Expr) -> int:
    """Return the number of nodes on the longest path from ``expr`` to a leaf.

    The function does not recurse, since it protects recursive functions from trees that are too deep.
    """
    deepest, pending = 0, [(expr, 1)]
    while pending:
        node, level = pending.pop()
        deepest = max(deepest, level)
        pending += [(child, level + 1) for child in children(node)]
    return deepest


def accesses(expr: Expr | Assignment) -> Iterator[Access]:
    """Yield each access in order of appearance; those of an assignment begin with its target."""
    match expr:
        case Assignment(target=target, value=value):
            yield target
            yield from accesses(value)
        case Access():
            yield expr
        case Expr():
            for child in children(expr):
                yield from accesses(child)


def tensors(expr: Expr | Assignment) -> tuple[str, ...]:
    """Return the names of the tensors in order of appearance; those of an assignment begin with its result.

    Examples
    --------
    >>> from weft.index_notation import parse
    >>> tensors(parse("y(i) = A(i,j)*x(j) + A(i,i)"))
    ('y', 'A', 'x')
    """
    return tuple(dict.fromkeys(access.tensor for access in accesses(expr)))


def variables(expr: Expr | Assignment) -> tuple[str, ...]:
    """Return the index variables, including bound ones, in order of appearance in an access.

    Examples
    --------
    >>> from weft.index_notation import parse
    >>> variables(parse("y(i) = sum(k, A(i,j,k))"))
    ('i', 'j', 'k')
    """
    return tuple(dict.fromkeys(index for access in accesses(expr) for index in access.indices))


def free_variables(expr: Expr) -> tuple[str, ...]:
    """Return the variables that no reduction inside ``expr`` binds, in order of appearance.

    Examples
    --------
    >>> from weft.index_notation import parse
    >>> free_variables(parse("y(i) = sum(k, A(i,j,k))").value)
    ('i', 'j')
    """
    match expr:
        case Access(indices=indices):
            return tuple(dict.fromkeys(indices))
        case Reduce(vars=bound, body=body):
            return tuple(v for v in free_variables(body) if v not in bound)
        case Apply(args=args):
            return tuple(dict.fromkeys(v for arg in args for v in free_variables(arg)))
    return ()


def rename_variables(expr: Expr, names: dict[str, str]) -> Expr:
    """Return ``expr`` with free variables renamed; the new names must not occur in ``expr``."""
    match expr:
        case Access(tensor=tensor, indices=indices):
            new = tuple(names.get(v, v) for v in indices)
            return expr if new == indices else Access(tensor, new)
        case Reduce(vars=bound):
            # A bound variable hides the free variable of its name.
            names = {old: new for old, new in names.items() if old not in bound}
    return rebuild(expr, lambda child: rename_variables(child, names)) if names else expr
