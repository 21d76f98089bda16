"""Precedence of the IR's operators, as a table that both printers read.

Each binary operator has its own binding strength and the strength that its left and right operand must have to
stand without parentheses. The right operand's is one tighter, so that ``x + (y - z)`` never prints as
``x + y - z``. C's rules would let more operands stand bare (``a & b == c``); where a reader would have to think,
or a compiler warns, the table asks for parentheses.
"""

from __future__ import annotations

__all__ = ["ATOM", "BINARY", "POSTFIX", "SELECT", "UNARY", "needs_parentheses"]

ATOM = 20
POSTFIX = 19
UNARY = 14
SELECT = 3

# op: (own strength, least strength on the left, least strength on the right)
BINARY: dict[str, tuple[int, int, int]] = {
    "*": (13, 13, 14), "/": (13, 13, 14), "%": (13, 13, 14),
    "+": (12, 12, 13), "-": (12, 12, 13),
    "<<": (11, 14, 14), ">>": (11, 14, 14),
    "<": (10, 12, 12), "<=": (10, 12, 12), ">": (10, 12, 12), ">=": (10, 12, 12),
    "==": (9, 12, 12), "!=": (9, 12, 12),
    "&": (8, 14, 14), "^": (7, 14, 14), "|": (6, 14, 14),
    "&&": (5, 5, 6), "||": (4, 6, 6),
}  # fmt: skip


def needs_parentheses(strength: int, least: int) -> bool:
    """Whether text of ``strength`` needs parentheses where at least ``least`` is asked for."""
    return strength < least
