"""Long rows: iterations of the shared loop that hold a large part of an operand, cut into pieces.

Threads share the rows of a result. A row that has many of the entries keeps one thread busy while others wait. It is
cut by the positions of the operand: each piece is summed apart, and the sums are joined in order.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..analysis.linearity import adds_in_place, adds_nothing, is_linear
from ..concrete_notation.nodes import Assign, Fill, Forall, Positions, Program, Stmt, Where
from ..concrete_notation.traversal import assignments, foralls_of, result_of, rewrite, wheres_of
from ..concrete_notation.values import without_conversions
from ..formats import TensorType
from ..formats.adjoining import adjoins_to, arrays_of_rows, counts_coordinates, last_adjoining, lists_entries
from ..formats.format import level_variables
from ..formats.tensor_vars import TensorVars
from ..index_notation.nodes import Access
from ..index_notation.traversal import accesses
from ..records import replace
from ..trees import fold

ENTRIES = 1 << 16
"""Number of entries in a piece of a row. Pieces of fewer would not be sampled for prefetches."""
PARTS = 16
"""A row is long if it has more entries than a piece, and than all entries divided by this number."""


def rows_to_cut(program: Program, target: Access, types: Mapping[str, TensorType]) -> Positions | None:
    """Return the positions by which long rows can be cut, or None if there are none."""
    read = dict.fromkeys(a for s in assignments(program.stmt) for a in accesses(s.value) if a.tensor in types)
    for access in read:
        if types[access.tensor].format.is_dense:
            continue
        tensor = TensorVars.of(access.tensor, types[access.tensor], str)
        level = 0 if lists_entries(tensor) else last_adjoining(tensor)
        cuts = why_rows_stay_whole(program, target, types, access, level) is None
        if cuts and arrays_of_rows(tensor, level):
            return Positions(access, level, ENTRIES)
    return None


def with_rows_cut(program: Program, positions: Positions) -> Program:
    """Return a program whose shared loop cuts long rows."""
    loop = program.shared_loop
    stmt = rewrite(program.stmt, lambda s: replace(s, positions=positions) if s is loop else None)
    return replace(program, stmt=stmt)


def why_rows_stay_whole(
    program: Program, target: Access, types: Mapping[str, TensorType], access: Access, level: int
) -> str | None:
    """Return the reason why rows cannot be cut by the positions of a level, counted from 0; None if they can be."""
    loop, type = program.shared_loop, types[access.tensor]
    if loop is None or any(split.outer == loop.var for split in program.splits):
        return "threads share no rows, but tiles of them"
    v, variables = loop.var, level_variables(access, type.format)
    if level_variables(target, types[target.tensor].format)[:1] != (v,):
        return f"{target.tensor} is not stored by {v}"
    if variables[:1] != (v,) or len(set(variables)) < max(2, len(variables)):
        return f"threads share the loop over {v}, and {access.tensor} is not stored by {v} and then by another axis"
    if (reason := _why_no_pieces(TensorVars.of(access.tensor, type, str), level)) is not None:
        return reason
    others = {a for s in assignments(loop.body) for a in accesses(s.value) if a != access and a.tensor in types}
    if merged := [
        a for a in others for w, below in types[a.tensor].levels_of(a) if w in variables[:2] and not below.has_every
    ]:
        return f"{access.tensor} is merged with {merged[0].tensor}"
    dtypes = {name: t.dtype for name, t in types.items()} | {w.name: w.dtype for w in program.workspaces}
    if not (_adds_apart(loop.body, variables[1], dtypes) and _skips(loop.body, access, types)):
        return f"a row of {target.tensor} is not a sum over {variables[1]}"
    return None


def _why_no_pieces(tensor: TensorVars, level: int) -> str | None:
    """Return the reason why a row of a tensor has no pieces that are ranges of positions of a level; None if it has."""
    levels = tensor.type.format.levels
    if lists_entries(tensor):
        return None if level == 0 else f"entries of {tensor.name} are listed by level 1, not by level {level + 1}"
    if level == 0:
        return f"level 1 of {tensor.name} has one position for each row"
    if not adjoins_to(tensor, level):
        return f"positions of level {level + 1} of {tensor.name} do not follow one another"
    if not (levels[0].unique and (levels[0].iteration == "position" or counts_coordinates(tensor))):
        return f"rows of {tensor.name} are not in one place each"
    if levels[1].iteration != "position" or not (levels[1].unique or levels[1].ordered):
        return f"level 2 of {tensor.name} has no order by which rows can be cut"
    return None


def _adds_apart(stmt: Stmt, v: str, dtypes: Mapping[str, str]) -> bool:
    """Return whether a statement computes the sum of what it computes for parts of the range of a variable."""

    def value(node: Stmt, below: list[bool]) -> bool:
        match node:
            case Forall(var=var, body=body) if var == v:
                inside = {result_of(w.producer).target.tensor for w in wheres_of(body)}
                return all(a.op == "add" for a in assignments(body) if a.target.tensor not in inside)
            case Where(consumer=consumer, producer=producer):
                apart, consumes_apart = below
                if v not in {loop.var for loop in foralls_of(producer)}:
                    return consumes_apart
                part = result_of(producer).target
                return apart and all(_passes_on(a, part, dtypes) for a in assignments(consumer))
            case Fill(value=fill):
                return bool(fill == 0)
        return bool(below) and all(below)

    return fold(stmt, value)


def _passes_on(last: Assign, part: Access, dtypes: Mapping[str, str]) -> bool:
    """Return whether an assignment adds a multiple of a sum, or is the sum."""
    read = next((a for a in accesses(last.value) if a.tensor == part.tensor), None)
    if read is None or last.op is None:
        return last.value == read
    return (
        last.op == "add"
        and is_linear(without_conversions(last.value), read)
        and adds_in_place(last.value, read, dtypes[part.tensor])
    )


def _skips(stmt: Stmt, access: Access, types: Mapping[str, TensorType]) -> bool:
    """Return whether implicit entries of an operand add nothing."""
    values = [a.value for a in assignments(stmt) if access in a.value.distinct_accesses]
    absent = types[access.tensor].fill == 0
    return all((absent and is_linear(without_conversions(e), access)) or adds_nothing(e, access, types) for e in values)
