"""Whether a program is concrete index notation: the reason why not, or None."""

from __future__ import annotations

from ..index_notation.nodes import Access
from .nodes import Assign, Fill, Forall, Program, Sequence, Stmt, Where, accesses, assignments

__all__ = ["why_not_concrete"]


def why_not_concrete(program: Program, target: Access) -> str | None:
    """A reason why ``program`` does not compute ``target``, or None.

    Every variable is bound once by the loops around its use; a workspace is read only where a ``where`` makes it;
    what is reduced into something accumulates; the target is written.
    """
    if not any(a.target.tensor == target.tensor for a in assignments(program.stmt)):
        return f"{target.tensor} is never assigned"
    bases = {s.inner: s.var for s in program.splits}
    return _check(program.stmt, program, target, (), frozenset(), bases)


def _check(
    stmt: Stmt,
    program: Program,
    target: Access,
    bound: tuple[str, ...],
    made: frozenset[str],
    bases: dict[str, str],
) -> str | None:
    workspaces = {w.name: w for w in program.workspaces}
    match stmt:
        case Assign(target=written, value=value):
            for access in (written, *accesses(value)):
                loose = [v for v in access.indices if v not in bound]
                if loose:
                    return f"{loose[0]} in {access.tensor}({','.join(access.indices)}) is not bound by a loop"
            for access in accesses(value):
                if access.tensor in workspaces and access.tensor not in made:
                    return f"workspace {access.tensor} is read where nothing makes it"
            if written.tensor not in workspaces and written.tensor != target.tensor:
                return f"{written.tensor} is assigned, which is neither {target.tensor} nor a workspace"
            return None
        case Fill(target=written):
            return None if written.tensor == target.tensor else f"{written.tensor} is filled, not {target.tensor}"
        case Forall(var=var, body=body):
            name = bases.get(var, var)
            if name in bound or var in bound:
                return f"{name} is bound by two loops, one in the other"
            return _check(body, program, target, (*bound, var, name), made, bases)
        case Where(consumer=consumer, producer=producer):
            names = {a.target.tensor for a in assignments(producer)} & set(workspaces)
            if not names:
                return "a producer makes no workspace"
            return _check(producer, program, target, bound, made, bases) or _check(
                consumer, program, target, bound, made | names, bases
            )
        case Sequence(stmts=stmts):
            reasons = (_check(s, program, target, bound, made, bases) for s in stmts)
            return next((r for r in reasons if r is not None), None)
    return f"{stmt!r} is not a statement"
