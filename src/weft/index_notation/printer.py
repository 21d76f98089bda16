"""Index notation as text, with as few parentheses as precedence allows: ``parse(to_text(a)) == a``."""

from __future__ import annotations

from math import copysign, isfinite
from typing import Any

from .nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from .operator_table import OPERATORS, REDUCTIONS

_REDUCTION_NAMES = {op: name for name, op in REDUCTIONS.items()}
_UNARY = OPERATORS["negative"].precedence
_ATOM = 100
_SPACED = OPERATORS["add"].precedence


def to_text(assignment: Assignment) -> str:
    """Return the assignment in the notation that :func:`~weft.index_notation.parser.parse` reads.

    Examples
    --------
    >>> from weft.index_notation import parse
    >>> to_text(parse("y(i)=(A(i,j)*x(j))+((b))*(z(i)-1)"))
    'y(i) = A(i,j)*x(j) + b*(z(i) - 1)'
    """
    sign = "=" if assignment.op is None else f"{OPERATORS[assignment.op].symbol}="
    return f"{expression_text(assignment.target)} {sign} {expression_text(assignment.value)}"


def expression_text(expr: Expr) -> str:
    """Return the expression in index notation."""
    return _text(expr)[0]


def _text(expr: Expr) -> tuple[str, int]:
    """Return the text of an expression, and the binding strength of its outermost operator."""
    match expr:
        case Access(tensor=tensor, indices=indices):
            return (f"{tensor}({','.join(indices)})" if indices else tensor), _ATOM
        case Literal(value=value):
            text = _number(value)
            return text, _UNARY if text.startswith("-") else _ATOM
        case Reduce(op=op, vars=vars, body=body):
            return f"{_REDUCTION_NAMES[op]}({', '.join(vars)}, {expression_text(body)})", _ATOM
        case Apply(op=op, args=args):
            row = OPERATORS[op]
            if row.symbol is None:
                return f"{op}({', '.join(map(expression_text, args))})", _ATOM
            if row.arity == 1:
                # A minus sign directly before a number would be read as a part of the number.
                unsigned = isinstance(args[0], Literal) and not isinstance(args[0].value, bool)
                inner = _within(args[0], row.precedence)
                bare = not unsigned or inner.startswith(("-", "complex"))
                return row.symbol + (inner if bare else f"({inner})"), row.precedence
            # Operators group to the left: a right operand of the same precedence needs parentheses.
            left, right = _within(args[0], row.precedence), _within(args[1], row.precedence + 1)
            space = " " * (row.precedence <= _SPACED)
            return f"{left}{space}{row.symbol}{space}{right}", row.precedence
    raise TypeError(f"not an index expression: {expr!r}")


def _within(expr: Expr, least: int) -> str:
    text, strength = _text(expr)
    return text if strength >= least else f"({text})"


def _number(value: Any) -> str:
    if not isinstance(value, complex):
        return repr(value)
    # A number like 2j is printed as such, if its real part is 0.0 and reading it gives the same signs of zeros.
    for sign, number in (("", value), ("-", -value)):
        if repr(number.real) == "0.0" and isfinite(number.imag) and copysign(1, number.imag) > 0:
            return sign + repr(number)
    return f"complex({value.real!r}, {value.imag!r})"
