"""Loops over positions: sums to which every iteration of the outermost loop adds, cut into shares for threads.

No loop of a sum over all elements, or of a scatter, is one of the result. Threads share the positions of an operand
instead: each share is summed apart, and the sums are joined in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..concrete_notation.nodes import Assign, Fill, Forall, Positions, Program, Stmt, Where, Workspace
from ..concrete_notation.nodes import Sequence as Seq
from ..concrete_notation.traversal import assignments, result_of, rewrite, statements
from ..concrete_notation.values import same_value
from ..formats import TensorType
from ..formats.adjoining import adjoins_to, last_adjoining
from ..formats.format import level_variables
from ..formats.tensor_vars import TensorVars
from ..index_notation.nodes import Access
from ..index_notation.operator_table import OPERATORS
from ..index_notation.traversal import accesses
from ..records import replace
from .long_rows import rows_to_cut, with_rows_cut
from .loop_problem import fresh_name
from .schedule import Schedule

ELEMENTS = 1 << 15
"""Number of elements of an array in a share."""
ENTRIES = 3 << 15
"""Number of entries of a sparse operand in a share. Shares of fewer than 65536 would not be sampled for prefetches."""
ITERATIONS = 1 << 9
"""Number of iterations in a share, where the number of entries in each is not known."""


def share_positions(schedule: Schedule) -> Schedule:
    """Return the schedule with sums cut into shares, if they may be reassociated."""
    options = schedule.problem.variant.options
    if not (options.reassociate and options.enabled("positions") and schedule.candidate.writes.format.is_dense):
        return schedule
    # Other loops may reach the elements of a result with several axes in the order of one thread.
    scatters = len(schedule.target.indices) <= 1

    def positions_of(loop: Forall) -> Positions | None:
        return _positions_of(loop, schedule.types) if scatters or result_of(loop).target != schedule.target else None

    program = _in_scalar(schedule)
    stmt = rewrite(program.stmt, lambda s: _serial_if_it_comes_again(s, schedule.types))
    cut = replace(program, stmt=cut_sums(stmt, schedule.target, positions_of))
    if cut.shares:
        return replace(schedule, program=cut)
    return _with_long_rows(schedule) if options.target == "c" else schedule


def _with_long_rows(schedule: Schedule) -> Schedule:
    """Return the schedule with the positions by which long rows can be cut, and cut if it is planned for such rows."""
    program, converted = schedule.program, {c.name for c in schedule.conversions}
    types = {name: type for name, type in schedule.types.items() if name not in converted}
    rows = None if schedule.problem.view.derived else rows_to_cut(program, schedule.target, types)
    if rows is None:
        return schedule
    cuts = schedule.problem.variant.long_rows
    return replace(schedule, rows=rows, program=with_rows_cut(program, rows) if cuts else program)


def _in_scalar(schedule: Schedule) -> Program:
    """Return the program with a sum that goes to a result without axes gathered in a scalar first."""
    program, target, dtype = schedule.program, schedule.target, schedule.result.dtype
    match program.stmt:
        case Seq(stmts=(Fill(value=fill), Forall() as loop)) if not target.indices:
            ops = {a.op for a in assignments(loop) if a.target == target}
            op = ops.pop()
            if ops or op is None or not same_value(OPERATORS[op].start(dtype), fill):
                return program
            total = Workspace(fresh_name("t", schedule.names), (), "scalar", dtype, op)
            read = Access(total.name)
            summed = rewrite(
                loop, lambda s: replace(s, target=read) if isinstance(s, Assign) and s.target == target else None
            )
            stmt = Where(Assign(target, read), summed)
            return replace(program, stmt=stmt, workspaces=(*program.workspaces, total))
    return program


def cut_sums(stmt: Stmt, target: Access, positions_of: Callable[[Forall], Positions | None]) -> Stmt:
    """Return a statement in which loops are cut into shares, if all their iterations add to one scalar or scatter."""
    producers = list[Stmt]()
    while isinstance(stmt, Where) and not result_of(stmt.producer).target.indices:
        loop = stmt.producer
        producers.append(replace(loop, positions=positions_of(loop)) if isinstance(loop, Forall) else loop)
        stmt = stmt.consumer
    match stmt:
        case Seq(stmts=(*first, Forall() as loop)):
            early = any(isinstance(s, Where) for each in first for s in statements(each))
            if not early and why_no_scatter(loop, target) is None:
                stmt = Seq((*first, replace(loop, positions=positions_of(loop))))
    for producer in reversed(producers):
        stmt = Where(stmt, producer)
    return stmt


def why_no_scatter(loop: Forall, target: Access) -> str | None:
    """Return the reason why iterations of a loop do not add to any elements of the result by one operator, or None."""
    ops = {a.op for a in assignments(loop) if a.target == target}
    if loop.parallel:
        return f"each iteration over {loop.var} has elements of {target.tensor} of its own"
    if any(isinstance(s, Fill) for s in statements(loop)):
        return f"elements of {target.tensor} are filled inside the loop over {loop.var}"
    return None if len(ops) == 1 and None not in ops else f"the iterations over {loop.var} do not all add to one sum"


def _serial_if_it_comes_again(stmt: Stmt, types: Mapping[str, TensorType]) -> Stmt | None:
    """Return a parallel loop as a serial one if a coordinate may come again anywhere, so that iterations clash."""
    if not (isinstance(stmt, Forall) and stmt.parallel):
        return None
    read = {a for s in assignments(stmt) for a in accesses(s.value) if a.tensor in types}
    levels = [level for a in read for v, level in types[a.tensor].levels_of(a) if v == stmt.var]
    clash = any(level.iteration == "position" and not (level.unique or level.merges) for level in levels)
    return replace(stmt, parallel=False) if clash else None


def _positions_of(loop: Forall, types: Mapping[str, TensorType]) -> Positions | None:
    """Return the positions by which a loop is cut into shares, or None if no operand is stored by its variable."""
    read = dict.fromkeys(a for s in assignments(loop) for a in accesses(s.value) if a.tensor in types)
    outermost = [a for a in read if level_variables(a, types[a.tensor].format)[:1] == (loop.var,)]
    # A sparse operand says where the entries are, a dense one only how many there are.
    access = max(outermost, key=lambda a: not types[a.tensor].format.is_dense, default=None)
    if access is None:
        return next((Positions(a, k, ITERATIONS) for a in read for k in _counted_levels(a, loop.var, types)), None)
    type = types[access.tensor]
    variables = level_variables(access, type.format)
    # Of a diagonal one entry is visited for each iteration.
    level = last_adjoining(TensorVars.of(access.tensor, type, str)) if loop.var not in variables[1:] else 0
    counted = all(below.branchless for below in type.format.levels[level + 1 :]) or loop.var in variables[1:]
    return Positions(access, level, (ELEMENTS if type.format.is_dense else ENTRIES) if counted else ITERATIONS)


def _counted_levels(access: Access, v: str, types: Mapping[str, TensorType]) -> Iterator[int]:
    """Yield the levels over a variable that have every coordinate below every parent, so that loops count them."""
    for k, (w, level) in enumerate(types[access.tensor].levels_of(access)):
        if w == v and level.has_every and level.iteration == "value":
            yield k


def why_not_cut(access: Access, types: Mapping[str, TensorType], target: Access, level: int, share: int) -> str | None:
    """Return the reason why a loop cannot be cut by the positions of a level, counted from 1; None if it can be."""
    format = types[access.tensor].format
    if share < 1:
        return f"a share holds at least one position, not {share}"
    if not 1 <= level <= len(format.levels):
        return f"{access.tensor} has levels 1 to {len(format.levels)}, not {level}"
    if not types[target.tensor].format.is_dense:
        return f"sums go to {target.tensor} by shares only if it is dense"
    if level > 1 and not adjoins_to(TensorVars.of(access.tensor, types[access.tensor], str), level - 1):
        return f"positions of level {level} of {access.tensor} do not follow one another"
    return None
