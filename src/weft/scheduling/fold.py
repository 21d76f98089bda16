"""Folding: entries are reduced into the elements of the result by another operator than addition, as they come."""

from __future__ import annotations

from itertools import takewhile

from ..analysis.coordinate_sets import is_full
from ..analysis.terms import foralls
from ..concrete_notation.nodes import Assign, Fill, Stmt
from ..concrete_notation.nodes import Sequence as Seq
from ..index_notation.nodes import Expr, Reduce
from ..index_notation.operator_table import OPERATORS
from ..records import replace
from .accumulate import in_registers, register_loops
from .draft import Draft
from .fills import filled
from .loop_orders import best_scatter, loop_orders, weigh_scatter
from .loop_problem import LoopOrder, LoopProblem
from .strategy import Candidate, Strategy


class Fold(Strategy):
    """The strategy that reduces entries into elements of a dense result, which start with a value that is neutral."""

    rank = 1

    def propose(self, problem: LoopProblem) -> Candidate | None:
        negative, term = problem.terms[0]
        single = problem.dense and not problem.accumulating and problem.only is not None
        if not (single and problem.folds(negative, term, counting=True)):
            return None
        # Implicit entries that matter are counted, which needs loops that treat all elements of a workspace alike.
        nest = best_scatter(problem, term) if problem.folds(negative, term) else _best_in_step(problem, term)
        return None if nest is None else Candidate(problem, self, nest.cost + 1, (nest,))

    def write(self, candidate: Candidate, draft: Draft) -> Stmt:
        problem, (nest,) = candidate.problem, candidate.nests
        term = draft.stored_for(problem.terms[0][1], nest.order, nest.converts)
        assert isinstance(term, Reduce)
        target = problem.target
        draft.notes.append(f"loop order {', '.join(nest.order)}; {term.op} into {target.tensor}")
        # In registers, implicit entries are counted. Then only outer loops over free variables can leave elements out.
        if (stmt := in_registers(False, term, replace(nest, converts={}), None, draft)) is not None:
            return filled(stmt, list(takewhile(lambda v: v in problem.free, nest.order)), term, draft)
        assert problem.folds(False, problem.terms[0][1]), "what is absent is counted in registers alone"
        value = draft.converted(term.body, problem.result.dtype)
        start = OPERATORS[term.op].start(problem.result.dtype)
        return Seq((Fill(target, start), foralls(nest.order, Assign(target, value, term.op))))


def _best_in_step(problem: LoopProblem, term: Expr) -> LoopOrder | None:
    """Return the cheapest nest that reduces all elements of a workspace at a time; None if there is none.

    In such a nest each element has had as many values as the others, so that implicit entries can be counted.
    """
    nests: list[LoopOrder] = []
    bound = term.vars if isinstance(term, Reduce) else ()
    for order in loop_orders(problem, problem.free, bound):
        if (loops := register_loops(problem, problem.types, term, order)) is not None:
            nest = weigh_scatter(problem, term, order)
            moved = {v for a in nest.converts for v in a.indices}
            whole = moved.isdisjoint(loops.inner) and all(is_full(term, v, problem.types) for v in loops.inner)
            if whole and tuple(order) == (*loops.outer, *(v for v in order if v in bound), *loops.inner):
                nests.append(nest)
    return min(nests, key=lambda n: n.cost, default=None)
