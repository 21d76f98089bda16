"""Reasons why threads share nothing of a kernel, for ``explain``."""

from __future__ import annotations

from ..analysis.insertion_plan import InsertionPlan
from ..concrete_notation.nodes import Fill, Forall, Stmt, Where
from ..concrete_notation.nodes import Sequence as Seq
from ..concrete_notation.traversal import result_of
from ..module import Module


def why_serial(module: Module) -> str:
    """Return why threads share nothing of a kernel.

    Examples
    --------
    >>> import weft
    >>> report = weft.explain("C(i,j) = 2*A(i,j)", A="banded", C="banded")
    >>> print(*[line for line in report.splitlines() if line.startswith("parallel")])
    parallel: nothing, since banded asks for several counts of entries
    """
    plan, loop = module.schedule.insertion, module.schedule.program.shared_loop
    if plan is not None and (reason := _not_inserted(module, plan)) is not None:
        return reason
    return _not_marked(module) if loop is None else _not_cut(module, loop)


def _not_inserted(module: Module, plan: InsertionPlan) -> str | None:
    if module.loops.skip_fill:
        return "values that equal the fill value are left out as they come"
    return plan.why_serial


def _not_marked(module: Module) -> str:
    """Return why iterations of the outermost loop may write the same elements."""
    schedule = module.schedule
    name, loop = schedule.target.tensor, _outermost(schedule.program.stmt)
    if loop is None:
        return f"several nests of loops, one after the other, list the entries of {name}"
    v = loop.var.partition("@")[0]
    if v in schedule.problem.view.free_loops:
        return f"the loop over {v} does not follow the order in which {name} is stored"
    if not schedule.result.format.is_dense:
        return f"iterations of the loop over {v} append to the same parts of {name}"
    return f"iterations of the loop over {v} add to the same elements of {name}"


def _outermost(stmt: Stmt) -> Forall | None:
    """Return the outermost loop that writes the result, or that sums for it; None if there are several."""
    sums: Stmt | None = None
    while not isinstance(stmt, Forall):
        match stmt:
            case Seq(stmts=(*fills, last)) if all(isinstance(s, Fill) for s in fills):
                stmt = last
            case Where(consumer=consumer, producer=producer) if not result_of(producer).target.indices:
                stmt, sums = consumer, producer
            case _:
                return sums if isinstance(sums, Forall) else None
    return stmt


def _not_cut(module: Module, loop: Forall) -> str:
    """Return why a loop whose iterations write different elements cannot be cut into chunks."""
    v = loop.var.partition("@")[0]
    iterators = dict.fromkeys(it for point in module.context.lattice(loop) for it in point.coiterate)
    names = list(dict.fromkeys(it.access.tensor for it in iterators if it.access is not None))
    if len(iterators) > 1:
        return f"the loop over {v} merges {' and '.join(names)}"
    if any(not it.format.unique for it in iterators):
        return f"entries of {names[0]} with the same {v} might come to different threads"
    return f"the loop over {v} is not cut into chunks"
