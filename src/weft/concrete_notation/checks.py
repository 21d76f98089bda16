"""Check of programs in concrete index notation."""

from __future__ import annotations

from collections.abc import Iterable

from ..index_notation.nodes import Access
from ..index_notation.traversal import accesses
from .nodes import Assign, Fill, Forall, Program, Sequence, Stmt, Where
from .traversal import assignments

Derived = tuple[tuple[str, frozenset[str]], ...]


def why_not_concrete(program: Program, target: Access, derived: Derived = ()) -> str | None:
    """Return the reason why ``program`` does not compute ``target``, or None.

    A valid program assigns the target. The loops around a use of a variable bind the variable exactly once. A workspace
    is read only in the consumer of a ``where`` whose producer writes it. Only the target and workspaces are assigned,
    and only the target is filled.
    """
    if not any(a.target.tensor == target.tensor for a in assignments(program.stmt)):
        return f"{target.tensor} is never assigned"
    # The inner loop of a split also binds the variable of the loop that was split.
    bases = {s.inner: s.var for s in program.splits}
    return _check(program.stmt, program, target, (), frozenset(), bases, derived)


def _check(
    stmt: Stmt,
    program: Program,
    target: Access,
    bound: tuple[str, ...],
    filled: frozenset[str],
    bases: dict[str, str],
    derived: Derived,
) -> str | None:
    # ``bound``: variables of the enclosing loops; ``filled``: workspaces whose producers have run before ``stmt``.
    workspaces = {w.name: w for w in program.workspaces}
    match stmt:
        case Assign(target=assigned, value=value):
            known = _with_derived(bound, derived)
            for access in (assigned, *accesses(value)):
                loose = [v for v in access.indices if v not in known]
                if loose:
                    return f"{loose[0]} in {access.tensor}({','.join(access.indices)}) is not bound by a loop"
            for access in accesses(value):
                if access.tensor in workspaces and access.tensor not in filled:
                    return f"workspace {access.tensor} is read where nothing makes it"
            if assigned.tensor not in workspaces and assigned.tensor != target.tensor:
                return f"{assigned.tensor} is assigned, which is neither {target.tensor} nor a workspace"
            return None
        case Fill(target=assigned):
            return None if assigned.tensor == target.tensor else f"{assigned.tensor} is filled, not {target.tensor}"
        case Forall(var=var, body=body):
            name = bases.get(var, var)
            if name in bound or var in bound:
                return f"{name} is bound by two loops, one in the other"
            return _check(body, program, target, (*bound, var, name), filled, bases, derived)
        case Where(consumer=consumer, producer=producer):
            # The producer must not read its own workspace, which exists only for the consumer.
            names = {a.target.tensor for a in assignments(producer)} & set(workspaces)
            if not names:
                return "a producer makes no workspace"
            return _check(producer, program, target, bound, filled, bases, derived) or _check(
                consumer, program, target, bound, filled | names, bases, derived
            )
        case Sequence(stmts=stmts):
            reasons = (_check(s, program, target, bound, filled, bases, derived) for s in stmts)
            return next((r for r in reasons if r is not None), None)
    return f"{stmt!r} is not a statement"


def _with_derived(bound: Iterable[str], derived: Derived) -> set[str]:
    """Return the bound variables with all that follow from them, however indirectly."""
    variables = set(bound)
    while new := {v for v, needs in derived if v not in variables and variables.issuperset(needs)}:
        variables |= new
    return variables
