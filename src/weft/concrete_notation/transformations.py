"""Transformations of concrete index notation, for scheduling by hand.

Each transformation has a check (``can_...``) that returns the reason why the transformation does not apply, or None.
The transformation itself raises ``ScheduleError`` with that reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..errors import ScheduleError
from ..index_notation.nodes import Access, Apply, Expr
from ..index_notation.traversal import accesses
from ..records import record, replace
from ..trees import outermost
from .nodes import Assign, Forall, Program, Split, Stmt, Where, Workspace
from .traversal import assignments, rewrite, rewrite_outermost

Fits = Callable[[Access, Sequence[str]], str | None]
"""Function that returns the reason why loops over variables in the given order cannot traverse an access, or None."""


@record
class _Nest:
    """Directly nested loops and the statement inside them."""

    stmt: Stmt  # the outermost loop
    variables: tuple[str, ...]
    body: Stmt


def _nest(stmt: Stmt) -> _Nest:
    variables, body = list[str](), stmt
    while isinstance(body, Forall):
        variables.append(body.var)
        body = body.body
    return _Nest(stmt, tuple(variables), body)


def _nests(stmt: Stmt) -> list[_Nest]:
    """Return every maximal nest of loops, outermost first and consumers before producers."""
    nest = _nest(stmt)
    parts = nest.body.children[::-1] if isinstance(nest.body, Where) else nest.body.children
    return [*([nest] if nest.variables else []), *(inner for part in parts for inner in _nests(part))]


def _holding(program: Program, variables: Sequence[str]) -> _Nest | None:
    return next((n for n in _nests(program.stmt) if set(variables) <= set(n.variables)), None)


def can_reorder(program: Program, order: Sequence[str], fits: Fits | None = None) -> str | None:
    """Return the reason why the loops over ``order`` cannot be put in that order, or None."""
    if len(set(order)) < len(order) or not order:
        return f"an order names each loop once, not {', '.join(order)}"
    nest = _holding(program, order)
    if nest is None:
        return f"the loops over {', '.join(order)} are not directly nested in one another"
    reordered = _reordered(nest.variables, order)
    # Accesses name the variable of a split loop, not that of its inner loop.
    bases = {s.inner: s.var for s in program.splits}
    named = [bases.get(v, v) for v in reordered]
    for assign in assignments(nest.body):
        if fits is not None:
            for access in (*accesses(assign.value), assign.target):
                if reason := fits(access, named):
                    return reason
    return None


def _reordered(variables: Sequence[str], order: Sequence[str]) -> tuple[str, ...]:
    # Loops that ``order`` does not name keep their places.
    turns = iter(order)
    return tuple(next(turns) if v in order else v for v in variables)


def reorder(program: Program, order: Sequence[str], fits: Fits | None = None) -> Program:
    """Return the program with the directly nested loops over ``order`` in that order; other loops stay in place."""
    _require(can_reorder(program, order, fits))
    nest = _holding(program, order)
    assert nest is not None
    stmt = nest.body
    for v in reversed(_reordered(nest.variables, order)):
        stmt = Forall(v, stmt)
    assert isinstance(stmt, Forall)
    assert isinstance(nest.stmt, Forall)
    # Iterations of another loop need not be independent, so the nest stays parallel only if the outermost loop stays.
    same = stmt.var == nest.stmt.var
    loops = replace(stmt, parallel=nest.stmt.parallel and same, positions=nest.stmt.positions if same else None)
    return replace(program, stmt=rewrite_outermost(program.stmt, lambda s: loops if s is nest.stmt else None))


def factors(expr: Expr) -> list[Expr]:
    """Return the factors of a product, from left to right; any other expression is its own single factor."""
    return list(outermost(expr, lambda node: not (isinstance(node, Apply) and node.op == "multiply")))


def product(parts: Sequence[Expr]) -> Expr:
    """Return the product of factors, multiplied from left to right."""
    value = parts[0]
    for f in parts[1:]:
        value = Apply("multiply", (value, f))
    return value


def _without(value: Expr, part: Expr) -> list[Expr] | None:
    """Return the factors of ``value`` without those of ``part``, or None if ``value`` lacks one of them."""
    rest = factors(value)
    for factor in factors(part):
        if factor not in rest:
            return None
        rest.remove(factor)
    return rest


def can_precompute(program: Program, part: Expr, over: Sequence[str], name: str, kind: str = "dense") -> str | None:
    """Return the reason why ``part`` cannot be computed into a workspace over ``over`` first, or None."""
    if kind not in ("scalar", "dense"):
        return f"a workspace to precompute into is scalar or dense, not {kind}"
    if (kind == "scalar") != (not over):
        return "a scalar workspace is over no variables, a dense one over some"
    if any(w.name == name for w in program.workspaces):
        return f"there is a workspace {name} already"
    for nest in _nests(program.stmt):
        body = nest.body
        if isinstance(body, Assign) and _without(body.value, part) is not None:
            # The workspace is computed just outside the loops over ``over``, so these must be the innermost.
            inner = nest.variables[len(nest.variables) - len(over) :]
            if set(inner) == set(over):
                return None
            return f"the innermost loops around it are over {', '.join(inner) or 'nothing'}, not {', '.join(over)}"
    return "no assignment multiplies exactly these operands"


def precompute(
    program: Program, part: Expr, over: Sequence[str], name: str, dtype: str, kind: str = "dense"
) -> Program:
    """Return the program with ``part`` computed into a workspace before the innermost loops use it."""
    _require(can_precompute(program, part, over, name, kind))
    w = Access(name, tuple(over))

    def make(nest: _Nest, body: Assign) -> Stmt:
        # target = part * rest becomes target = w * rest where w = part.
        rest = _without(body.value, part)
        assert rest is not None
        # Loops over ``over`` are repeated in the consumer and in the producer; loops above enclose both.
        depth = len(nest.variables) - len(over)
        consumer: Stmt = Assign(body.target, product([w, *rest]), body.op)
        producer: Stmt = Assign(w, part)
        for v in reversed(nest.variables[depth:]):
            consumer, producer = Forall(v, consumer), Forall(v, producer)
        stmt: Stmt = Where(consumer, producer)
        for v in reversed(nest.variables[:depth]):
            stmt = Forall(v, stmt)
        return stmt

    def visit(s: Stmt) -> Stmt | None:
        nest = _nest(s)
        if not nest.variables or not isinstance(nest.body, Assign) or _without(nest.body.value, part) is None:
            return None
        new = make(nest, nest.body)
        if not (isinstance(new, Forall) and isinstance(s, Forall)):
            return new
        return replace(new, parallel=s.parallel, positions=s.positions)

    workspace = Workspace(name, tuple(over), "scalar" if kind == "scalar" else "dense", dtype)
    return replace(program, stmt=rewrite_outermost(program.stmt, visit), workspaces=(*program.workspaces, workspace))


def can_split(program: Program, var: str, outer: str, inner: str, factor: int) -> str | None:
    """Return the reason why the loop over ``var`` cannot be split into blocks of ``factor`` iterations, or None."""
    if factor < 1:
        return f"a block holds at least one iteration, not {factor}"
    # A split loop no longer occurs under its own name, but the inner loop still binds its variable.
    names = {v for n in _nests(program.stmt) for v in n.variables} | {s.var for s in program.splits}
    if var not in names or any(s.var == var for s in program.splits):
        return f"there is no loop over {var}"
    used = [v for v in (outer, inner) if v in names]
    if used or outer == inner:
        return f"{(used or [outer])[0]} is the name of another loop"
    return None


def split(program: Program, var: str, outer: str, inner: str, factor: int) -> Program:
    """Return the program with a loop over ``var`` split into a loop over blocks and a loop inside one block."""
    _require(can_split(program, var, outer, inner, factor))

    def visit(s: Stmt) -> Stmt | None:
        if isinstance(s, Forall) and s.var == var:
            return Forall(outer, Forall(inner, s.body), s.parallel)
        return None

    return replace(
        program, stmt=rewrite(program.stmt, visit), splits=(*program.splits, Split(var, outer, inner, factor))
    )


def can_parallelize(program: Program, var: str, target: Access) -> str | None:
    """Return the reason why threads cannot share the iterations over ``var``, or None."""
    outermost = [n.variables[0] for n in _nests(program.stmt)[:1]]
    if outermost != [var]:
        return f"the outermost loop is over {', '.join(outermost) or 'nothing'}, not {var}"
    # Blocks of a variable of the result are disjoint like its coordinates.
    base = next((s.var for s in program.splits if s.outer == var), var)
    if base not in target.indices:
        return f"iterations over {var} add into the same elements of {target.tensor}"
    return None


def parallelize(program: Program, var: str, target: Access) -> Program:
    """Return the program with the iterations of the outermost loop shared among threads."""
    _require(can_parallelize(program, var, target))

    def visit(s: Stmt) -> Stmt | None:
        return replace(s, parallel=True) if isinstance(s, Forall) and s.var == var else None

    return replace(program, stmt=rewrite_outermost(program.stmt, visit))


def _require(reason: str | None) -> None:
    if reason is not None:
        raise ScheduleError(reason)
