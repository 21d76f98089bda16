"""Cuts of loops that threads share, by the number of entries before each iteration."""

from __future__ import annotations

from collections.abc import Callable

from ..ir import nodes as ir
from ..ir.builder import add, block, lit
from ..records import record


@record
class Cut:
    """A loop that is cut between its iterations, by the number of entries before each."""

    share: ir.Var  # the number of a share
    shares: ir.Var  # how many there are
    entries: ir.Var  # the number of all entries
    edges: tuple[ir.Var, ir.Var]  # the bounds of a share
    counted: ir.Stmt  # declares ``entries``
    edge: Callable[[ir.Var, ir.Expr], ir.Stmt]  # declares a variable: the iteration before which there are so many
    moved: Callable[[ir.Var], ir.Stmt]  # moves such an edge behind a run of duplicates that is not cut

    def bounds(self, goal: Callable[[ir.Expr], ir.Expr]) -> ir.Stmt:
        """Return the declarations of the edges of a share, given the number of entries before each share."""
        # Edges that move are other variables than those of the loops, which later passes know to be fixed.
        cuts = [ir.Var(f"{edge.name}_cut") for edge in self.edges]
        numbers = self.share, add(self.share, lit(1))
        edges = [self.edge(cut, goal(number)) for cut, number in zip(cuts, numbers, strict=True)]
        return block(*edges, *map(self.moved, cuts), *map(ir.Declare, self.edges, cuts))
