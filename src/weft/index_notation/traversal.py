"""Traversal of index expressions, conversions of dtypes included: their tensors and variables, and changes of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from .. import trees
from .nodes import Access, Assignment, Expr, Reduce

walk: Callable[[Expr], list[Expr]] = trees.walk
rebuild: Callable[[Expr, Callable[[Expr], Expr]], Expr] = trees.rebuild
rewrite: Callable[[Expr, Callable[[Expr], Expr | None]], Expr] = trees.rewrite
rewrite_outermost: Callable[[Expr, Callable[[Expr], Expr | None]], Expr] = trees.rewrite_outermost
replaced: Callable[[Expr, Expr, Expr], Expr] = trees.replaced

_NONE: Mapping[str, str] = MappingProxyType({})


def accesses(expr: Expr | Assignment) -> list[Access]:
    """Return each access in order of appearance; those of an assignment begin with its target."""
    if isinstance(expr, Assignment):
        return [expr.target, *accesses(expr.value)]
    return [node for node in walk(expr) if isinstance(node, Access)]


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
    names: dict[str, None] = trees.fold(expr, _free)
    return tuple(names)


def _free(node: Expr, below: list[dict[str, None]]) -> dict[str, None]:
    match node:
        case Access(indices=indices):
            return dict.fromkeys(indices)
        case Reduce(vars=bound):
            return {v: None for v in below[0] if v not in bound}
    return {v: None for part in below for v in part}


def outermost_reductions(expr: Expr) -> list[Reduce]:
    """Return the reductions that are not inside another."""
    every = expr.reductions
    outermost = trees.outermost(expr, lambda node: isinstance(node, Reduce)) if len(every) > 1 else every
    return [node for node in outermost if isinstance(node, Reduce)]


def reductions(expr: Expr) -> tuple[Reduce, ...]:
    """Return all reductions, outer ones first."""
    return expr.reductions


def bound_variables(expr: Expr) -> tuple[str, ...]:
    """Return the variables of all reductions, those of outer ones first."""
    return tuple([v for reduction in reductions(expr) for v in reduction.vars])


def has_reduction(expr: Expr) -> bool:
    """Return whether an expression is a reduction or has one inside."""
    return bool(expr.reductions)


def without_reductions(expr: Expr) -> Expr:
    """Return an expression with each reduction replaced by its body."""
    return rewrite(expr, lambda node: node.body if isinstance(node, Reduce) else None) if expr.reductions else expr


def renamed(expr: Expr, tensors: Mapping[str, str] = _NONE, variables: Mapping[str, str] = _NONE) -> Expr:
    """Return an expression with other names for tensors and for variables, wherever these are bound."""

    def rule(node: Expr) -> Expr | None:
        match node:
            case Access(tensor=tensor, indices=indices):
                new = Access(tensors.get(tensor, tensor), tuple([variables.get(v, v) for v in indices]))
                return None if new == node else new
            case Reduce(op=op, vars=vars, body=body) if not variables.keys().isdisjoint(vars):
                return Reduce(op, tuple([variables.get(v, v) for v in vars]), body)
        return None

    return rewrite(expr, rule)


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
