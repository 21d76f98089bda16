"""Orders of contraction as paths, in the notation of NumPy and opt_einsum: of programs, and as programs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from ..index_notation import Einsum, accesses
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Reduce
from ..index_notation.program import Program
from ..index_notation.traversal import free_variables


def plain_subscripts(notation: Einsum) -> str:
    """Return explicit subscripts of single letters, without ellipses, for opt_einsum."""
    return _subscripts(_indices(notation), notation.assignment.target, {})


def _indices(notation: Einsum) -> list[tuple[str, ...]]:
    """Return the indices of each operand."""
    indices_of = {access.tensor: access.indices for access in accesses(notation.assignment.value)}
    return [indices_of[name] for name in notation.names]


def _subscripts(inputs: Sequence[tuple[str, ...]], target: Access, names: dict[str, str]) -> str:
    """Return subscripts; ``names`` are the letters of variables, to which others are added."""
    import opt_einsum

    indices = (*inputs, target.indices)
    texts = ["".join(names.setdefault(v, opt_einsum.get_symbol(len(names))) for v in own) for own in indices]
    return f"{','.join(texts[:-1])}->{texts[-1]}"


def program_of_path(notation: Einsum, shapes: Sequence[tuple[int, ...]], optimize: Any) -> Program:
    """Return the program of a path that is given, or that a strategy of opt_einsum chooses."""
    import opt_einsum

    # NumPy's paths begin with the word "einsum_path", which opt_einsum does not take.
    chosen = optimize if isinstance(optimize, str) else [step for step in optimize if step != "einsum_path"]
    path, _ = opt_einsum.contract_path(plain_subscripts(notation), *shapes, shapes=True, optimize=chosen)
    accessed = {access.tensor: access for access in accesses(notation.assignment.value)}
    pending: list[Access] = [accessed[name] for name in notation.names]
    names = (name for k in count(1) if (name := f"T{k}") not in accessed)
    statements, target = [], notation.assignment.target
    for number, places in enumerate(path, 1):
        group = [pending.pop(place) for place in sorted(places, reverse=True)]
        later = {v for access in (*pending, target) for v in access.indices}
        value: Expr = group[0]
        for factor in group[1:]:
            value = Apply("multiply", (value, factor))
        keep = tuple([v for v in free_variables(value) if v in later])
        over = tuple([v for v in free_variables(value) if v not in later])
        made = target if number == len(path) else Access(next(names), keep)
        pending.append(made)
        statements.append(Assignment(made, Reduce("add", over, value) if over else value))
    return Program(tuple(statements), notation.assignment, ("the path",) * (len(statements) - 1))


def steps_of(program: Program, notation: Einsum) -> list[tuple[tuple[int, ...], str]]:
    """Return the contractions of an einsum: the places of operands, and subscripts for the operands in reverse."""
    letters: dict[str, str] = {}
    _subscripts(_indices(notation), notation.assignment.target, letters)
    pending, steps = list(notation.names), []
    for statement in program.statements:
        read = {access.tensor: access for access in accesses(statement.value)}
        places = tuple(sorted(pending.index(name) for name in read))
        inputs = [read[pending[place]].indices for place in reversed(places)]
        steps.append((places, _subscripts(inputs, statement.target, letters)))
        for place in reversed(places):
            pending.pop(place)
        pending.append(statement.target.tensor)
    return steps


def is_path(optimize: Any) -> bool:
    """Return whether the argument ``optimize`` of ``einsum`` is a path, or names a strategy of opt_einsum."""
    return not isinstance(optimize, bool) and optimize != "auto"
