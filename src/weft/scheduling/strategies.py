"""The table of strategies, and the choice among what they propose.

A statement can be nested by these strategies:

* *gather*: free variables outside, each reduction into a scalar workspace inside;
* *scatter*: each additive term, or a lone reduction by another operator, has its own nest that accumulates into a
  result with random access, or into the dense blocks of an appended one;
* *result workspace*: the result's last level is collected in a workspace (sparse times sparse), or all of the result,
  for variants that know it to have few gaps;
* *coordinate list*: coordinates and values are appended, and a conversion sorts and sums them afterwards.
"""

from __future__ import annotations

from math import inf

from ..errors import FormatError
from ..index_notation import sum_with_target, to_text
from .coordinate_list import CoordinateList
from .gather import Gather
from .loop_problem import LoopProblem
from .scatter import BlockScatter, Scatter
from .strategy import Candidate, Strategy
from .workspace import ResultWorkspace

STRATEGIES: tuple[Strategy, ...] = (Gather(), Scatter(), BlockScatter(), ResultWorkspace(), CoordinateList())
DENSE_RESULT = ResultWorkspace("all")
"""The strategy that is taken wherever it is possible, by variants that ask for it, and not at all by others."""


def cheapest(problem: LoopProblem, most: float = inf) -> Candidate | None:
    """Return the cheapest candidate of all strategies; None if none is possible that costs no more than ``most``."""
    if problem.accumulating and not problem.dense:
        raise FormatError(
            f"'+=' adds in place to a dense result, not to one in {problem.result.format}; write "
            f"{to_text(sum_with_target(problem.view.assignment))}, in which {problem.target.tensor} is an operand"
        )
    if problem.variant.accumulator == "dense" and (whole := DENSE_RESULT.propose(problem)) is not None:
        return whole
    if most < 0:
        return None
    best: Candidate | None = None
    for strategy in STRATEGIES:  # by rank
        c = strategy.propose(problem, most)
        # A conversion must not ask for another conversion.
        possible = c is not None and c.cost < inf and (problem.variant.stores_again or not c.converts)
        if c is not None and possible and (best is None or c.cost < best.cost):
            best, most = c, min(most, c.cost)
    return best
