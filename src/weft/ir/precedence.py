"""Precedence of the operators of the IR, as a table that both printers read.

Each binary operator has its own binding strength, and the strengths that its left and right operands need to be
printed without parentheses. The right operand of ``+`` needs one more than the left one, so that ``x + (y - z)``
is not printed as ``x + y - z``. C would need fewer parentheses (``a & b == c``). The table asks for them where a
reader would have to think, or a compiler warns.
"""

from __future__ import annotations

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
    """Return whether the text of an operand needs parentheses."""
    return strength < least
