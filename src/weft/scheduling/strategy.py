"""Strategies: the interface of the ways to nest a statement, and the candidates that these propose."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from typing import ClassVar

from ..concrete_notation.nodes import Stmt
from ..formats import TensorType
from ..records import cached, record
from .draft import Draft
from .loop_problem import LoopOrder, LoopProblem


class Strategy(ABC):
    """One way to nest a statement, without data: facts are in the problem, and decisions in the candidate."""

    # The place among strategies: of candidates with equal cost, the one with the lowest rank is chosen.
    rank: ClassVar[int]
    # True if values of equal coordinates may come one after the other, and are to be added.
    adds_up: ClassVar[bool] = False

    @abstractmethod
    def propose(self, problem: LoopProblem, most: float = inf) -> Candidate | None:
        """Return the cheapest loops of this strategy for a problem; None if there are none, or if they cost too much.

        Loops that cost more than ``most`` are not looked for.
        """

    @abstractmethod
    def write(self, candidate: Candidate, draft: Draft) -> Stmt:
        """Return the statement of a candidate of this strategy. Its workspaces and conversions go to the draft."""

    def accumulates(self, problem: LoopProblem) -> bool:
        """Return whether the loops are not those of the result, and add to elements of it one after the other."""
        return False

    def sorts(self, problem: LoopProblem) -> bool:
        """Return whether all coordinates of the result are sorted in one workspace."""
        return False

    def writes(self, problem: LoopProblem) -> TensorType:
        """Return the type of the result that the loops write."""
        return problem.result


@record
class Candidate:
    """A strategy for a problem, with its loops."""

    problem: LoopProblem
    strategy: Strategy
    cost: float  # Estimated cost of the loops
    nests: tuple[LoopOrder, ...]  # the loops: one nest for the whole expression, or one for each term

    @property
    def converts(self) -> bool:
        """True if an operand is stored another way for these loops."""
        return any(nest.converts for nest in self.nests)

    @cached
    def writes(self) -> TensorType:
        """Return the type of the result that the loops write."""
        return self.strategy.writes(self.problem)

    @property
    def price(self) -> float:
        """The cost of the loops, and of the conversions before and after them."""
        return self.cost * self.problem.density + self.problem.price_of_result + self.problem.price_of_operands
