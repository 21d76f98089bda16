"""Summation order: the order in which the terms of each element of a result are added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..concrete_notation.nodes import Assign, Fill, Forall, Program, Split, Stmt, Where
from ..concrete_notation.nodes import Sequence as Seq
from ..formats import TensorType
from ..index_notation.nodes import Access
from ..index_notation.traversal import accesses


def order_of_sums(
    program: Program, target: Access, types: Mapping[str, TensorType], reassociates: bool
) -> tuple[tuple[str, ...], ...] | None:
    """Return the variables over which each term of a result is summed, in the order of their loops.

    Two programs with the same answer give the same result to the last bit, as every loop over one of these variables
    visits its coordinates in order, each once.
    """
    dtype = types[target.tensor].dtype
    if np.dtype(dtype).kind not in "fc":
        return ()
    # A workspace in another dtype rounds differently. A scalar whose sum may be reassociated has no fixed order.
    if any(w.dtype != dtype or (w.kind == "scalar" and reassociates) for w in program.workspaces):
        return None
    # Loops over tiles of the result do not divide the sum of an element.
    bases = {s.inner: s.var for s in program.splits}
    pieces = {
        s.outer for s in program.splits if (s.tiles or s.var if isinstance(s, Split) else s.var) in target.indices
    }
    orders, begun = [], False
    for assign, loops in _sums(program.stmt):
        summed = tuple(v for u in loops if (v := bases.get(u, u)) not in target.indices and v not in pieces)
        read = accesses(assign.value)
        if assign.target != target or begun or any(a.tensor in types for a in read):
            if not all(_in_order(a, summed, types) for a in read):
                return None
            orders.append(summed)
        # Otherwise the statement adds a complete sum from a workspace to zero, which does not change that sum.
        begun |= assign.target == target
    return tuple(orders)


def _sums(stmt: Stmt, loops: Sequence[str] = ()) -> Iterator[tuple[Assign, Sequence[str]]]:
    """Yield each accumulation of a statement, with the variables of the loops around it."""
    match stmt:
        case Assign(op=op) if op is not None:
            yield stmt, loops
        case Forall(var=var, body=body):
            yield from _sums(body, (*loops, var))
        case Where(consumer=consumer, producer=producer):
            yield from _sums(producer, loops)
            yield from _sums(consumer, loops)
        case Seq(stmts=stmts):
            for each in stmts:
                yield from _sums(each, loops)
        case Assign() | Fill():
            return


def _in_order(access: Access, summed: Sequence[str], types: Mapping[str, TensorType]) -> bool:
    """Return whether the loops visit an operand's coordinates over the variables ``summed`` in order, each once."""
    if access.tensor not in types:
        return True
    format = types[access.tensor].format
    mine = [level for v, level in types[access.tensor].levels_of(access) if v in summed]
    return format.is_unique and all(level.ordered for level in mine)
