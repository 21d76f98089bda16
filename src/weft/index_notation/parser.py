"""Parser of index notation: taco's notation (2017 paper, section 7), with literals, named operators and reductions.

Grammar::

    assignment ::= target ("=" | "+=") expr
    target     ::= NAME | NAME "(" [variable {"," variable}] ")"
    expr       ::= operands joined by the infix operators of the table, by precedence, grouping to the left
    operand    ::= "-" operand | "+" operand | "(" expr ")" | NUMBER | "inf" | "nan" | "True" | "False"
                 | "complex" "(" real "," real ")" | NAME | NAME "(" [variable {"," variable}] ")"
                 | OPERATOR "(" expr {"," expr} ")" | REDUCTION "(" variable "," {variable ","} expr ")"

A minus sign directly before a number belongs to the number. Names are Python's identifiers. A name followed by a
parenthesis is an operator or a reduction if the tables have one of that name, else a tensor.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from typing import NoReturn

from ..errors import NotationError
from ..records import record
from ..trees import depth
from .nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from .operator_table import ALIASES, OPERATORS, REDUCTIONS
from .spelling_hints import about_function, about_index, symbol_at
from .traversal import free_variables

_INFIX = {row.symbol: row for row in OPERATORS.values() if row.symbol and row.arity == 2}
_PREFIX = {row.symbol: row for row in OPERATORS.values() if row.symbol and row.arity == 1}
_FUNCTIONS = {**{name: name for name in OPERATORS}, **ALIASES}
_CONSTANTS: dict[str, bool | float] = {"inf": float("inf"), "nan": float("nan"), "True": True, "False": False}
_ASSIGN = {"=": None, "+=": "add"}
_SYMBOLS = sorted({*_INFIX, *_PREFIX, *_ASSIGN, "(", ")", ",", "+"}, key=len, reverse=True)
_TOKEN = re.compile(
    r"(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[jJ]?)|(?P<name>[^\W\d]\w*)|(?P<symbol>"
    + "|".join(map(re.escape, _SYMBOLS))
    + ")",
    re.UNICODE,
)
# Bounds of recursion: nested operands in the parser, and the depth of the tree in all that traverses it.
_NESTING = 60
_DEPTH = 200


def parse(text: str) -> Assignment:
    """Parse an assignment in index notation.

    Examples
    --------
    >>> parse("y(i) = -A(i,j)")
    Assignment(target=Access(tensor='y', indices=('i',)), value=Apply(op='negative',
    args=(Access(tensor='A', indices=('i', 'j')),)), op=None)
    >>> parse("alpha = max(i, x(i)) + 2").target
    Access(tensor='alpha', indices=())
    >>> parse("y(i) = A(i,")
    Traceback (most recent call last):
    weft.errors.NotationError: expected an index variable, not the end
      y(i) = A(i,
                 ^
    """
    if not isinstance(text, str):
        raise TypeError(f"index notation is text, not {type(text).__name__}")
    return _Parser(text).assignment()


@record
class _Token:
    kind: str  # number, name, symbol or end
    text: str
    position: int

    def __str__(self) -> str:
        return f"{self.text!r}" if self.kind != "end" else "the end"


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup == "symbol":
            # Symbols of other notations get a hint: some of them begin with a symbol of this notation.
            other = symbol_at(text, position)
            if other is not None:
                raise NotationError(f"there is no {other[0]!r} here; {other[1]}", _one_line(text), position)
        if match is None or (match["name"] and not match["name"].isidentifier()):
            raise NotationError(f"unexpected character {text[position]!r}", _one_line(text), position)
        token, kind = match[0], str(match.lastgroup)
        if kind == "name" and not token.isascii():
            token = unicodedata.normalize("NFKC", token)  # as Python does with the names of keyword arguments
        yield _Token(kind, token, position)
        position = match.end()
    yield _Token("end", "", len(text.rstrip()))


def _one_line(text: str) -> str:
    return re.sub(r"\s", " ", text)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))
        self.next = 0
        self.nesting = 0
        self.ranks: dict[str, int] = {}
        self.tensors: dict[str, _Token] = {}
        self.variables: dict[str, _Token] = {}

    # -- tokens -------------------------------------------------------------------------------------------------
    @property
    def token(self) -> _Token:
        return self.tokens[self.next]

    def fail(self, message: str, token: _Token | None = None) -> NoReturn:
        raise NotationError(message, _one_line(self.text), (token or self.token).position)

    def at(self, *symbols: str) -> bool:
        return self.token.kind == "symbol" and self.token.text in symbols

    def follows(self, symbol: str) -> bool:
        """Return whether ``symbol`` follows the current token."""
        if self.token.kind == "end":
            return False
        after = self.tokens[self.next + 1]
        return after.kind == "symbol" and after.text == symbol

    def advance(self) -> _Token:
        token = self.token
        self.next += token.kind != "end"
        return token

    def expect(self, symbol: str, expected: str | None = None) -> _Token:
        if not self.at(symbol):
            self.fail(f"expected {expected or repr(symbol)}, not {self.token}")
        return self.advance()

    # -- grammar ------------------------------------------------------------------------------------------------
    def assignment(self) -> Assignment:
        if self.token.kind == "end":
            self.fail("expected an assignment such as 'y(i) = A(i,j)*x(j)'")
        if self.token.kind != "name" or self.token.text in _CONSTANTS:
            self.fail(f"expected the name of the result, not {self.token}")
        name = self.advance()
        # A tensor may have the name of an operator, but not before a parenthesis.
        if self.at("(") and (name.text in _FUNCTIONS or name.text in REDUCTIONS):
            self.fail(f"{name.text} is a function, and cannot be the result", name)
        target = self.access(name, target=True)
        if not self.at(*_ASSIGN):
            self.fail(f"expected '=' or '+=' after the result, not {self.token}")
        op = _ASSIGN[self.advance().text]
        value = self.expr(0)
        if self.at(")"):
            self.fail("')' closes nothing")
        if self.token.kind != "end":
            self.fail(f"expected an operator or the end, not {self.token}")
        # Names are checked at the end, since a variable may occur before the tensor of the same name or after it.
        for variable in self.variables.values():
            if variable.text in self.tensors:
                # The caret marks the later of the two uses.
                later = max(variable, self.tensors[variable.text], key=lambda token: token.position)
                self.fail(f"{variable.text} is an index variable and cannot be a tensor too", later)
        if depth(value) > _DEPTH:
            self.fail("the expression is nested too deeply", self.tokens[0])
        return Assignment(target, value, op)

    def expr(self, least: int) -> Expr:
        """Parse operands joined by infix operators that bind at least as strongly as ``least``."""
        left = self.operand()
        while self.token.kind == "symbol" and self.token.text in _INFIX:
            row = _INFIX[self.token.text]
            if row.precedence < least:
                break
            self.advance()
            # The right operand binds more strongly, so that operators of one precedence group to the left.
            left = Apply(row.name, (left, self.expr(row.precedence + 1)))
        return left

    def operand(self) -> Expr:
        self.nesting += 1
        if self.nesting > _NESTING:
            self.fail("the expression is nested too deeply")
        found = self._operand()
        self.nesting -= 1
        return found

    def _operand(self) -> Expr:
        token = self.token
        if self.at("("):
            self.advance()
            inner = self.expr(0)
            self.expect(")", f"an operator or the ')' for the '(' at column {token.position + 1}")
            return inner
        if self.at(*_PREFIX, "+"):
            sign = self.advance()
            # A minus sign directly before a number belongs to the number.
            number = self.literal() if sign.text == "-" else None
            if number is not None:
                return Literal(-number)
            inner = self.operand()
            return inner if sign.text not in _PREFIX else Apply(_PREFIX[sign.text].name, (inner,))
        if token.kind == "name" and token.text in ("True", "False"):
            self.advance()
            return Literal(_CONSTANTS[token.text])
        number = self.literal()
        if number is not None:
            return Literal(number)
        if token.kind != "name":
            self.fail(f"expected a tensor, a number or '(', not {token}")
        self.advance()
        if not self.at("("):
            return self.access(token)
        if token.text == "complex":
            return self.complex()
        # A name before a parenthesis: a reduction, an operator, or else a tensor.
        if token.text in REDUCTIONS:
            return self.reduction(token)
        if token.text in _FUNCTIONS:
            return self.call(token)
        return self.access(token)

    def literal(self) -> int | float | complex | None:
        """Parse a number without a sign; return None if there is none."""
        token = self.token
        if token.kind == "name" and token.text in ("inf", "nan") and not self.follows("("):
            self.advance()
            return _CONSTANTS[token.text]
        if token.kind != "number":
            return None
        self.advance()
        try:
            if token.text[-1] in "jJ":
                return complex(token.text)
            number = int(token.text) if token.text.isdecimal() else float(token.text)
            if isinstance(number, int) and number > sys.float_info.max:
                self.fail(
                    f"this number of {len(token.text)} digits is beyond {sys.float_info.max:.2g}; inf is infinity",
                    token,
                )
            return number
        except ValueError as error:
            self.fail(str(error), token)

    def complex(self) -> Expr:
        self.expect("(")
        parts = []
        for end in (",", ")"):
            # Both parts may have a sign.
            negative = self.at("-") and self.advance()
            part = self.literal()
            if part is None or isinstance(part, complex):
                self.fail("expected a real number: complex(real, imaginary) is a literal")
            parts.append(-part if negative else part)
            self.expect(end)
        return Literal(complex(*parts))

    def call(self, name: _Token) -> Expr:
        row = OPERATORS[_FUNCTIONS[name.text]]
        opening = self.expect("(")
        args = [] if self.at(")") else [self.expr(0)]
        while self.at(","):
            self.advance()
            args.append(self.expr(0))
        self.expect(")", f"',' or the ')' for the '(' at column {opening.position + 1}")
        if len(args) != row.arity:
            self.fail(f"{name.text} takes {row.arity} operand{'s' * (row.arity > 1)}, not {len(args)}", name)
        return Apply(row.name, tuple(args))

    def reduction(self, name: _Token) -> Expr:
        opening = self.expect("(")
        variables: dict[str, _Token] = {}
        # A name is a variable of the reduction if a comma follows it. The first other token begins the expression.
        while self.token.kind == "name" and self.follows(","):
            variable = self.variable()
            if variable.text in variables:
                self.fail(f"{variable.text} is listed twice in {name.text}", variable)
            variables[variable.text] = variable
            self.advance()
        if not variables:
            self.fail(f"{name.text} needs variables before its expression, as in {name.text}(j, A(i,j))")
        body = self.expr(0)
        self.expect(")", f"an operator or the ')' for the '(' at column {opening.position + 1}")
        # A variable without an occurrence has no extent.
        free = free_variables(body)
        for variable in variables.values():
            if variable.text not in free:
                self.fail(f"{variable.text} does not occur in the expression that {name.text} reduces", variable)
        return Reduce(REDUCTIONS[name.text], tuple(variables), body)

    # -- accesses -----------------------------------------------------------------------------------------------
    def access(self, name: _Token, target: bool = False) -> Access:
        """Parse the indices of the tensor ``name``; the current token is the one after the name."""
        if name.text in _CONSTANTS:
            self.fail(f"{name.text} is a number, and cannot be a tensor", name)
        indices: list[str] = []
        if self.at("("):
            opening = self.advance()
            # ``f()`` has no indices; after a comma, an index must follow.
            while not self.at(")") or indices:
                if self.token.kind == "name" and self.follows("("):
                    self.fail(about_function(name.text), name)
                if self.token.kind == "number" or self.at(*_PREFIX, "+"):
                    self.fail(about_index(name.text, target))
                variable = self.variable()
                if target and variable.text in indices:
                    self.fail(f"{variable.text} is repeated in the result", variable)
                indices.append(variable.text)
                if self.at(")"):
                    break
                if self.at(*_INFIX):
                    self.fail(about_index(name.text, target))
                self.expect(",", f"',' or the ')' for the '(' at column {opening.position + 1}")
            self.advance()
        # The first name in ranks is that of the result.
        if not target and name.text == next(iter(self.ranks)):
            self.fail(f"the result {name.text} is used on the right-hand side", name)
        # All accesses to a tensor have the same number of indices.
        known = self.ranks.setdefault(name.text, len(indices))
        if known != len(indices):
            self.fail(f"{name.text} has {_indices(known)} elsewhere and {_indices(len(indices))} here", name)
        self.tensors.setdefault(name.text, name)
        return Access(name.text, tuple(indices))

    def variable(self) -> _Token:
        token = self.token
        if token.kind != "name" or token.text in _CONSTANTS:
            self.fail(f"expected an index variable, not {token}")
        self.variables.setdefault(token.text, token)
        return self.advance()


def _indices(count: int) -> str:
    return f"{count} {'index' if count == 1 else 'indices'}"
