"""Hints of the parser's errors: index notation in place of spellings of other notations.

Users first try Python's operators, NumPy's names and the arrows of einsum. Each of these has its own spelling in index
notation.
"""

from __future__ import annotations

import re

from ..hints import nearest
from .operator_table import ALIASES, OPERATORS, REDUCTIONS

_COMPARISONS = {
    ">=": "greater_equal", "<=": "less_equal", "==": "equal", "!=": "not_equal", "<>": "not_equal", ">": "greater",
    "<": "less",
}  # fmt: skip
_TRANSPOSED = "write the indices in the order in which the axes are to be: A(j,i) is the transpose of A(i,j)"
_SYMBOLS = {
    "->": "write the result on the left, y(i) = A(i,j)*x(j); weft.einsum takes 'ij,j->i'",
    "**": "write power(a, 2)",
    "//": "write floor_divide(a, b)",
    ":=": "write =",
    "-=": "write y(i) += -a",
    "*=": "write the result of the product into another tensor: y(i) = x(i)*a",
    "/=": "write the result of the quotient into another tensor: y(i) = x(i)/a",
    **{symbol: f"write {name}(a, b)" for symbol, name in _COMPARISONS.items()},
    "@": "write the product of matrices as C(i,k) = A(i,j)*B(j,k): what is not on the left is summed over",
    "%": "write remainder(a, b)",
    "&": "write logical_and(a, b), or bitwise_and(a, b) of integers",
    "|": "write logical_or(a, b), or bitwise_or(a, b) of integers",
    "^": "write power(a, 2), or bitwise_xor(a, b) of integers",
    "~": "write logical_not(a), or invert(a) of integers",
    "!": "write logical_not(a)",
    "[": "write indices in parentheses: y(i)",
    "]": "write indices in parentheses: y(i)",
    ":": "write a variable for each axis, A(i,j); for a part of A, slice it before: A[1:3]",
    ".": _TRANSPOSED,
    "'": _TRANSPOSED,
    "?": "write where(condition, a, b)",
}  # fmt: skip
_SYMBOL = re.compile("|".join(map(re.escape, sorted(_SYMBOLS, key=len, reverse=True))))
_MODULE = re.compile(r"(np|numpy|weft|math|xp)\s*$")

_WITHOUT = {
    "mean": "write sum(j, A(i,j))/n for a number n, or call weft.mean",
    "average": "write sum(j, A(i,j)*w(j))/n for a number n, or call weft.average",
    "dot": "write the product itself, A(i,j)*x(j)",
    "matmul": "write the product itself, A(i,j)*B(j,k)",
    "transpose": _TRANSPOSED,
    "trace": "write t = A(i,i)",
    "diag": "write d(i) = A(i,i)",
    "norm": "write sqrt(sum(i, x(i)*x(i)))",
    "clip": "write minimum(maximum(a, low), high)",
    "sigmoid": "write 1/(1 + exp(-a))",
    "relu": "write maximum(a, 0)",
}
"""Hints for functions that are no single elementwise operator."""


def symbol_at(text: str, position: int) -> tuple[str, str] | None:
    """Return the symbol of another notation at a position, and what to write instead; None if there is none.

    Examples
    --------
    >>> symbol_at("y(i) = x(i)**2", 11)
    ('**', 'write power(a, 2)')
    >>> symbol_at("y(i) = x(i)*2", 11) is None
    True
    """
    match = _SYMBOL.match(text, position)
    if match is None:
        return None
    # A dot after the name of a module, as in np.exp, is no transpose.
    if match[0] == "." and (module := _MODULE.search(text, 0, position)):
        return ".", f"write functions without {module[1]}: exp(x(i))"
    return match[0], _SYMBOLS[match[0]]


def about_function(name: str) -> str:
    """Return the error message for a function that does not exist.

    Examples
    --------
    >>> about_function("Sum")
    "there is no function 'Sum'; did you mean 'sum'?"
    >>> about_function("trace")
    "there is no function 'trace'; write t = A(i,i)"
    """
    # Operators for internal use are not suggested.
    functions = [f for f in (*OPERATORS, *ALIASES) if f.isidentifier() and not f.startswith(("repeat_", "nan_as_"))]
    meant = nearest(name, (*functions, *REDUCTIONS))
    if name in _WITHOUT:
        hint = _WITHOUT[name]
    elif meant is not None:
        hint = f"did you mean {meant!r}?"
    else:
        hint = f"there are NumPy's ufuncs by name, as exp, power and greater, and {', '.join(REDUCTIONS)}"
    return f"there is no function {name!r}; {hint}"


def about_index(tensor: str, in_result: bool) -> str:
    """Return the error message for an index that is a number or an expression.

    Examples
    --------
    >>> about_index("A", False)
    'an index is a variable alone; for one coordinate or a shift, slice A before: A[0], A[:, 0], A[1:]'
    """
    if in_result:
        return f"an index of the result is a variable alone; compute all of {tensor} and take a part of it"
    return f"an index is a variable alone; for one coordinate or a shift, slice {tensor} before: " + ", ".join(
        f"{tensor}[{key}]" for key in ("0", ":, 0", "1:")
    )
