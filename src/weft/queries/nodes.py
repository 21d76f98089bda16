"""Attribute queries as objects (2020 paper, section 5.1)."""

from __future__ import annotations

from typing import Literal

from ..errors import NotationError
from ..records import record
from ..remapping.nodes import IndexExpr, to_text

NAMES = "ijklmnopqrstuvwxyzabcdefgh"
"""The names of a tensor's axes, in their order."""


@record
class Aggregate:
    """One statistic of the entries that share some coordinates."""

    # The statistic: the number of distinct coordinates, the largest or the smallest coordinate, or a flag that tells if
    # there is an entry.
    op: Literal["count", "max", "min", "id"]
    # The coordinates: one or more for ``count``, one for ``max`` and ``min``, none for ``id``.
    args: tuple[IndexExpr, ...]
    label: str  # the name of the result

    def __post_init__(self) -> None:
        wanted = {"count": len(self.args) >= 1, "id": not self.args}.get(self.op, len(self.args) == 1)
        if not wanted:
            many = {"count": "one coordinate or more", "id": "none"}.get(self.op, "one coordinate")
            raise NotationError(f"{self.op} is of {many}, not of {len(self.args)}")

    def __str__(self) -> str:
        return f"{self.op}({','.join(to_text(a, NAMES) for a in self.args)}) as {self.label}"


@record
class Query:
    """An attribute query: statistics for every combination of some coordinates.

    Examples
    --------
    >>> from weft.queries.parser import parse
    >>> str(parse("select [j - i] -> id() as ne, count(i) as n"))
    'select [j-i] -> id() as ne, count(i) as n'
    """

    over: tuple[IndexExpr, ...]  # the coordinates; empty for statistics of the whole tensor
    aggregates: tuple[Aggregate, ...]

    def __str__(self) -> str:
        over = ",".join(to_text(e, NAMES) for e in self.over)
        return f"select [{over}] -> {', '.join(map(str, self.aggregates))}"
