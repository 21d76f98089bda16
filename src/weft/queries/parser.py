"""A parser of attribute queries (2020 paper, section 5.1).

Grammar::

    query ::= "select" "[" [expr {"," expr}] "]" "->" aggregate {"," aggregate}
    aggregate ::= ("count" | "max" | "min" | "id") "(" [expr {"," expr}] ")" "as" NAME

Expressions are those of coordinate remapping notation over the axes ``i``, ``j``, ``k``, ... of a tensor.
"""

from __future__ import annotations

import re
from typing import Any

from ..errors import NotationError
from ..remapping.nodes import Axis, IndexExpr, counters_of
from ..remapping.parser import Parser
from .nodes import NAMES, Aggregate, Query

_TOKEN = re.compile(r"\s*(?:(?P<number>\d+)|(?P<name>[^\W\d]\w*)|(?P<symbol>->|<<|>>|[\[\]()#,|^&+\-*/%]))")


def parse(text: str, order: int = len(NAMES)) -> Query:
    """Return the attribute query that a text means.

    Examples
    --------
    >>> parse("select [i] -> count(j) as nir, max(j) as last").aggregates[1].label
    'last'
    """
    return _QueryParser(text, {}).query(order)


class _QueryParser(Parser):
    token = _TOKEN
    what = "a query"

    def query(self, order: int) -> Query:
        self.names = {name: Axis(number) for number, name in enumerate(NAMES[:order])}
        self.word("select")
        self.expect("[")
        over = self.expressions("]")
        self.expect("->")
        aggregates = [self.aggregate()]
        while self.accept(","):
            aggregates.append(self.aggregate())
        if self.tokens[self.at][0] != "end":
            self.fail("nothing may follow a query")
        return Query(over, tuple(aggregates))

    def word(self, word: str) -> None:
        kind, text, place = self.next()
        if (kind, text) != ("name", word):
            self.fail(f"{word!r} is expected here", place)

    def expressions(self, closing: str) -> tuple[IndexExpr, ...]:
        exprs: list[IndexExpr] = []
        while not self.accept(closing):
            if exprs:
                self.expect(",")
            place = self.tokens[self.at][2]
            expr = self.expression(1)
            if counters_of(expr) and closing == "]":
                self.fail("a counter is no coordinate to select by", place)
            exprs.append(expr)
        return tuple(exprs)

    def aggregate(self) -> Aggregate:
        kind, op, place = self.next()
        if kind != "name" or op not in ("count", "max", "min", "id"):
            self.fail("count, max, min or id is expected here", place)
        self.expect("(")
        args = self.expressions(")")
        self.word("as")
        kind, label, where = self.next()
        if kind != "name":
            self.fail("a name for the result is expected here", where)
        known: Any = op  # checked above, which type checkers do not see
        try:
            return Aggregate(known, args, label)
        except NotationError as error:
            self.fail(str(error), place)
