"""Printing of expressions of the IR as C, with the parentheses that ``ir.precedence`` requires.

The printed text computes in the types of the IR, as NumPy does. C computes small integers as ``int``, so their results
are cast back. Sums and products of bool are printed as ``|`` and ``&``. Complex products and quotients have other rules
in C, so they and complex comparisons are functions of the prelude.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..errors import LoweringError
from ..ir import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var
from ..ir.precedence import ATOM, BINARY, POSTFIX, SELECT, UNARY, needs_parentheses
from ..ir.types import is_complex, is_integer
from .prelude import PRELUDE
from .support.snippet import Snippet
from .types import constant, type_name

_SMALL = ("int8", "int16", "uint8", "uint16")
_ARITHMETIC = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^")
_WIDE = ("int64", "uint32", "uint64")
# C has other operators for bool, and functions of the prelude for complex numbers.
_BOOL_OPS = {"+": "|", "*": "&"}
_COMPLEX_OPS = {
    "*": "multiply", "/": "divide", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
}  # fmt: skip


class Expressions:
    """Printer of expressions, which collects the C functions that they call in ``calls``."""

    def __init__(self, name: Callable[[str], str], functions: Mapping[str, Snippet] = PRELUDE):
        self.name, self.functions = name, functions
        self.calls: dict[str, None] = {}

    def text(self, expr: Expr, least: int = 0) -> str:
        """Return the C text of ``expr``, in parentheses if its binding strength is less than ``least``."""
        if type(expr) is Var:
            return self.name(expr.name)
        text, strength = self.strong(expr)
        return f"({text})" if needs_parentheses(strength, least) else text

    def call(self, name: str, *args: str) -> str:
        """Return the C text of a call of the function ``name``, and add the function to ``calls``."""
        return f"{self.use(name)}({', '.join(args)})"

    def use(self, name: str) -> str:
        """Return the name of a function, and add it to ``calls``."""
        if name.startswith("weft_") and name not in self.functions:
            raise LoweringError(f"the prelude has no function {name}")
        self.calls[name] = None
        return name

    def strong(self, expr: Expr) -> tuple[str, int]:
        """Return the C text of ``expr``, and its binding strength."""
        if type(expr) is Var:
            return self.name(expr.name), ATOM
        match expr:
            case Const(value, ty):
                text = constant(value, ty)
                return text, UNARY if text[0] == "-" else ATOM
            case Load(array, index):
                return f"{self.text(array, POSTFIX)}[{self.text(index)}]", POSTFIX
            case Binary():
                return self.binary(expr)
            case Cast(a, ty):
                return f"({type_name(ty)}){self.text(a, UNARY)}", UNARY
            case Unary(op, a):
                return self.unary(op, a)
            case Call(name, args):
                return self.call(name, *[self.text(a) for a in args]), POSTFIX
            case Select(cond, a, b):
                return f"{self.text(cond, SELECT + 1)} ? {self.text(a, SELECT + 1)} : {self.text(b, SELECT)}", SELECT
        raise TypeError(f"not an expression: {expr!r}")

    def unary(self, op: str, a: Expr) -> tuple[str, int]:
        """Return the C text of a unary operation, cast back to a small type if need be, and its binding strength."""
        text = self.text(a, UNARY)
        if text[0] == op:  # two minus signs would be a decrement
            text = f"({text})"
        return (f"({type_name(a.ty)}){op}{text}" if a.ty in _SMALL and op != "!" else op + text), UNARY

    def binary(self, expr: Binary) -> tuple[str, int]:
        """Return the C text of a binary operation in the type of its operands, and its binding strength."""
        op, a, b, ty = expr.op, expr.a, expr.b, expr.a.ty
        if ty == "bool":
            op = _BOOL_OPS.get(op, op)
        elif is_complex(ty) and op in _COMPLEX_OPS:
            return self.call(f"weft_{_COMPLEX_OPS[op]}_{ty}", self.text(a), self.text(b)), POSTFIX
        strength, left_strength, right_strength = BINARY[op]
        # Two constants that C takes for int would be computed as int; one cast makes the type right.
        if ty in _WIDE and op in _ARITHMETIC and self.narrow(a) and (self.narrow(b) or op in ("<<", ">>")):
            a = Cast(a, ty)
        text = f"{self.text(a, left_strength)} {op} {self.text(b, right_strength)}"
        return (f"({type_name(ty)})({text})", UNARY) if ty in _SMALL and is_integer(expr.ty) else (text, strength)

    def narrow(self, expr: Expr) -> bool:
        """Return whether C would compute ``expr``, a 64-bit or unsigned integer of the IR, as an ``int``."""
        match expr:
            case Const(value):
                return -0x80000000 <= value <= 0x7FFFFFFF  # type: ignore[operator]
            case Unary(_, a):
                return self.narrow(a)
            case Select(_, a, b):
                return self.narrow(a) and self.narrow(b)
        return False
