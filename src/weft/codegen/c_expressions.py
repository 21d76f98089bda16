"""IR expressions to C, from the precedence table of ``ir.precedence``.

C computes small integers as ``int`` and has its own ideas of complex products; the text printed here computes in the
IR's types, as NumPy does: results of small integers are cast back, sums and products of bool are ``|`` and ``&``,
and complex products, quotients and comparisons are functions of the prelude.
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import LoweringError
from ..ir import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var
from ..ir.precedence import ATOM, BINARY, POSTFIX, SELECT, UNARY, needs_parentheses
from ..ir.types import is_complex, is_integer
from .prelude import PRELUDE
from .types import constant, type_name

__all__ = ["Expressions"]

_SMALL = ("int8", "int16", "uint8", "uint16")
_ARITHMETIC = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^")
_WIDE = ("int64", "uint32", "uint64")
_BOOL_OPS = {"+": "|", "*": "&"}
_COMPLEX_OPS = {
    "*": "multiply", "/": "divide", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
}  # fmt: skip


class Expressions:
    """Prints expressions; collects the functions they call in ``calls``.

    Parameters
    ----------
    name : callable
        The C name of a variable.
    """

    def __init__(self, name: Callable[[str], str]):
        self.name = name
        self.calls: dict[str, None] = {}

    def text(self, expr: Expr, least: int = 0) -> str:
        """The C text of ``expr``, in parentheses when it binds less than ``least``."""
        text, strength = self.strong(expr)
        return f"({text})" if needs_parentheses(strength, least) else text

    def call(self, name: str, *args: str) -> str:
        """A call of the C function ``name``."""
        if name.startswith("weft_") and name not in PRELUDE:
            raise LoweringError(f"the prelude has no function {name}")
        self.calls[name] = None
        return f"{name}({', '.join(args)})"

    def strong(self, expr: Expr) -> tuple[str, int]:
        """The C text of ``expr`` and how strongly it binds."""
        match expr:
            case Var(name):
                return self.name(name), ATOM
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
        """A unary operator: wrapped around when C would compute in a wider type."""
        text = self.text(a, UNARY)
        if text[0] == op:
            text = f"({text})"
        return (f"({type_name(a.ty)}){op}{text}" if a.ty in _SMALL and op != "!" else op + text), UNARY

    def binary(self, expr: Binary) -> tuple[str, int]:
        """A binary operator in the type of its operands."""
        op, a, b, ty = expr.op, expr.a, expr.b, expr.a.ty
        if ty == "bool":
            op = _BOOL_OPS.get(op, op)
        elif is_complex(ty) and op in _COMPLEX_OPS:
            return self.call(f"weft_{_COMPLEX_OPS[op]}_{ty}", self.text(a), self.text(b)), POSTFIX
        own, left, right = BINARY[op]
        if ty in _WIDE and op in _ARITHMETIC and self.narrow(a) and (self.narrow(b) or op in ("<<", ">>")):
            a = Cast(a, ty)
        text = f"{self.text(a, left)} {op} {self.text(b, right)}"
        return (f"({type_name(ty)})({text})", UNARY) if ty in _SMALL and is_integer(expr.ty) else (text, own)

    def narrow(self, expr: Expr) -> bool:
        """Whether C would compute ``expr``, a 64-bit or unsigned integer of the IR, as an ``int``."""
        match expr:
            case Const(value):
                return -0x80000000 <= value <= 0x7FFFFFFF  # type: ignore[operator]
            case Unary(_, a):
                return self.narrow(a)
            case Select(_, a, b):
                return self.narrow(a) and self.narrow(b)
        return False
