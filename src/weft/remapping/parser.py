"""A parser of remappings, whose grammar is that of the 2020 paper's Fig. 8.

Grammar::

    remapping ::= "(" [NAME {"," NAME}] ")" "->" "(" [let {"," let}] ")"
    let       ::= {NAME "=" expr "in"} expr
    expr      ::= operands joined by | ^ & << >> + - * / %, with C's precedences, grouping to the left
    operand   ::= "(" expr ")" | "#" {NAME} | NAME | "size" "(" NAME ")" | INTEGER | "-" INTEGER

A let is an abbreviation: its name means its expression up to the next comma. Any other name is an axis or a parameter.
``size(i)``, which the paper does not have, is the size of an axis.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

from ..dtypes import INT64_MAX
from ..errors import NotationError
from .nodes import OPERATIONS, PRECEDENCE, Axis, Binary, Constant, Counter, Extent, IndexExpr

_TOKEN = re.compile(r"\s*(?:(?P<number>\d+)|(?P<name>[^\W\d]\w*)|(?P<symbol>->|<<|>>|[()#,=|^&+\-*/%]))")
_NESTING = 60  # of parentheses: the parser recurses for each
_DEPTH, _SIZE = 200, 4000  # of one coordinate: all functions on index expressions recurse


def parse(text: str, parameters: Mapping[str, int]) -> tuple[tuple[IndexExpr, ...], int]:
    """Return the coordinates that a remapping makes, and the number of its axes."""
    return Parser(text, parameters).remapping()


class Parser:
    """Recursive-descent parser of remappings and index expressions, from which that of attribute queries derives."""

    token = _TOKEN
    what = "a remapping"

    def __init__(self, text: str, parameters: Mapping[str, int]):
        self.text, self.parameters = text, parameters
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while text[at:].strip():
            match = self.token.match(text, at)
            if match is None:  # point at the first character that is not a space
                self.fail(f"no part of {self.what}", at + len(text[at:]) - len(text[at:].lstrip()))
            assert match.lastgroup is not None
            self.tokens.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
            at = match.end()
        self.tokens.append(("end", "", len(text.rstrip())))
        self.at = 0
        self.depth = 0
        self.measures: dict[int, tuple[int, int, IndexExpr]] = {}  # by id: depth, size, and the node to keep the id
        self.names: dict[str, IndexExpr] = {}

    def fail(self, message: str, position: int | None = None) -> NoReturn:
        raise NotationError(message, self.text, self.tokens[self.at][2] if position is None else position)

    def next(self) -> tuple[str, str, int]:
        token = self.tokens[self.at]
        self.at += token[0] != "end"
        return token

    def accept(self, symbol: str) -> bool:
        found = self.tokens[self.at][:2] in (("symbol", symbol), ("name", symbol))
        self.at += found
        return found

    def expect(self, symbol: str) -> None:
        if not self.accept(symbol):
            self.fail(f"{symbol!r} is expected here")

    def remapping(self) -> tuple[tuple[IndexExpr, ...], int]:
        self.expect("(")
        axes: list[str] = []
        while not self.accept(")"):
            if axes:
                self.expect(",")
            kind, name, place = self.next()
            if kind != "name" or name == "in":
                self.fail("the left of a remapping names each axis", place)
            if name in axes:
                self.fail(f"{name} names two axes", place)
            axes.append(name)
        # The left side is complete: from here on, names mean axes.
        self.names = {name: Axis(number) for number, name in enumerate(axes)}
        self.expect("->")
        self.expect("(")
        coordinates: list[IndexExpr] = []
        while not self.accept(")"):
            if coordinates:
                self.expect(",")
            coordinates.append(self.let())
        if self.tokens[self.at][0] != "end":
            self.fail("nothing may follow a remapping")
        return tuple(coordinates), len(axes)

    def let(self) -> IndexExpr:
        outer = dict(self.names)
        while self.tokens[self.at][0] == "name" and self.tokens[self.at + 1][1] == "=":
            _, name, place = self.next()
            # A let may hide an earlier let of the same coordinate, but no axis and no parameter.
            if name in self.parameters or isinstance(outer.get(name), Axis) or name == "in":
                self.fail(f"{name} already has a meaning", place)
            self.expect("=")
            value = self.expression(1)
            self.expect("in")
            self.names[name] = value
        found = self.expression(1)
        self.names = outer  # names bound by a let end with the coordinate
        return found

    def expression(self, strength: int) -> IndexExpr:
        # Precedence climbing: take operators that bind at least as strongly as ``strength``.
        left = self.operand()
        while (op := self.tokens[self.at])[0] == "symbol" and PRECEDENCE.get(op[1], 0) >= strength:
            self.next()
            place = self.tokens[self.at][2]
            right = self.expression(PRECEDENCE[op[1]] + 1)
            # Intervals and generated code need positive divisors, and shifts within the bits of int64.
            if isinstance(right, Constant):
                if op[1] in "/%" and right.value <= 0:
                    self.fail(f"{op[1]} by {right.value}; block sizes are 1 or more", place)
                if op[1] in ("<<", ">>") and not 0 <= right.value < 63:
                    self.fail(f"a shift by {right.value}", place)
            elif op[1] in ("<<", ">>") or (op[1] in "/%" and not isinstance(right, Extent)):
                self.fail(f"what is right of {op[1]} must be a constant", place)
            # Constants are folded, so that divisors such as ``2*M`` are constants, too.
            left = self.measured(_fold(Binary(op[1], left, right)), left, right, place)
        return left

    def measured(self, expr: IndexExpr, left: IndexExpr, right: IndexExpr, place: int) -> IndexExpr:
        """Return an expression, unless it is too deep or too large for the recursive functions that visit it.

        Every let may double the size of an expression, so the length of the text is no bound.
        """
        (above, size), (depth, rest) = (self.measures.get(id(e), (0, 1))[:2] for e in (left, right))
        depth, size = 1 + max(above, depth), 1 + size + rest
        if depth > _DEPTH or size > _SIZE:
            self.fail(f"a coordinate is made of more than {_SIZE} operations, or of {_DEPTH} inside each other", place)
        self.measures[id(expr)] = depth, size, expr
        return expr

    def constant(self, value: int, place: int) -> Constant:
        if abs(value) > INT64_MAX:
            self.fail(f"{value} is not a number that 64-bit integers hold", place)
        return Constant(value)

    def operand(self) -> IndexExpr:
        kind, text, place = self.next()
        if kind == "number":
            return self.constant(int(text), place)
        if text == "size" and self.accept("("):
            _, name, where = self.next()
            axis = self.names.get(name)
            if not isinstance(axis, Axis):
                self.fail(f"size is of an axis, and {name} is none", where)
            self.expect(")")
            return Extent(axis.number)
        if kind == "name" and text != "in":
            if text in self.names:
                return self.names[text]
            if text in self.parameters:
                return self.constant(int(self.parameters[text]), place)
            self.fail(f"{text} is no axis, parameter or let", place)
        if text == "(":
            self.depth += 1
            if self.depth > _NESTING:
                self.fail(f"parentheses nest more than {_NESTING} deep", place)
            expr = self.expression(1)
            self.expect(")")
            self.depth -= 1
            return expr
        if text == "-" and self.tokens[self.at][0] == "number":  # unary minus is for numbers only
            return self.constant(-int(self.next()[1]), place)
        if text == "#":
            over: list[IndexExpr] = []
            while self.tokens[self.at][0] == "name" and self.tokens[self.at][1] != "in":
                _, name, where = self.next()
                if not isinstance(self.names.get(name), Axis):
                    self.fail(f"a counter is over axes, and {name} is none", where)
                over.append(self.names[name])
            return Counter(tuple(over))
        return self.fail("an axis, a number, a counter or a parenthesis is expected here", place)


def _fold(expr: Binary) -> IndexExpr:
    match expr:
        case Binary(op=op, left=Constant(value=a), right=Constant(value=b)):
            return Constant(OPERATIONS[op](a, b))
    return expr
