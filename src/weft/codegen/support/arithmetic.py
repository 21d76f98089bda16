"""Arithmetic functions ``weft_NAME_DTYPE``, one for each operator of the operator table that C has no symbol for.

They mean what the NumPy ufunc of that name means: minimum and maximum give NaN when an operand is NaN, complex
numbers are ordered by real part, then by imaginary part, and integers wrap around. ``DTYPE`` is the operands' dtype.
What is here is much the same for all dtypes; ``integers``, ``floats`` and ``complexes`` have the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from ...index_notation.operator_table import OPERATORS, REPETITIONS
from ...ir.types import INTEGERS, is_complex, is_float, is_integer
from ..types import complex_of, constant
from . import complexes, floats, integers
from .snippet import Snippet, function, in_lanes

__all__ = ["DTYPES", "of"]

DTYPES = ("bool", *INTEGERS, "float32", "float64", "complex64", "complex128")


@cache
def of(ty: str) -> Mapping[str, Snippet]:
    """The functions of a dtype, which are written when one of them is first asked for."""
    made: dict[str, Snippet] = {}

    def add(
        name: str, ty: str, params: int | dict[str, str], value: str, result: str = "", needs: tuple[str, ...] = (),
        reduces: bool = False,
    ) -> None:  # fmt: skip
        """Add the function ``weft_{name}_{ty}``, which returns ``value``, of ``a`` and ``b`` or of what is given.

        A loop may reduce with those that say so in the lanes of a vector.
        """
        full = f"weft_{name}_{ty}"
        given = dict.fromkeys("ab"[:params], ty) if isinstance(params, int) else params
        made[full] = function(full, given, value, result or ty, needs)
        if reduces:
            made[full] = in_lanes(full, ty, made[full])

    _logic(ty, add)
    _parts(ty, add)
    if is_complex(ty):
        complexes.define(ty, add)
    elif is_float(ty):
        floats.define(ty, add)
    else:
        integers.define(ty, add)
    _smaller_and_larger(ty, add)
    _repetitions(ty, add)
    if ty in ("int64", "uint64"):
        _by_value(ty, add)
    return made


def _logic(ty: str, add: Callable[..., None]) -> None:
    add("logical_and", ty, 2, "a != 0 && b != 0", "bool")
    add("logical_or", ty, 2, "a != 0 || b != 0", "bool")
    add("logical_xor", ty, 2, "(a != 0) != (b != 0)", "bool")
    add("logical_not", ty, 1, "a == 0", "bool")
    for name in ("isfinite", "isinf", "isnan"):
        value = f"(void)a, {'true' if name == 'isfinite' else 'false'}"
        if is_float(ty):
            value = f"__builtin_{name}(a) != 0"
        elif is_complex(ty):
            word = "&&" if name == "isfinite" else "||"
            value = f"__builtin_{name}(__real__ a) {word} __builtin_{name}(__imag__ a)"
        add(name, ty, 1, value, "bool")


def _parts(ty: str, add: Callable[..., None]) -> None:
    """What picks or keeps the operand."""
    compound = is_complex(ty)
    part = complex_of(ty) if compound else ty
    add("real", ty, 1, "__real__ a" if compound else "a", part)
    add("imag", ty, 1, "__imag__ a" if compound else "(void)a, 0", part)
    add("conjugate", ty, 1, "__builtin_complex(__real__ a, -__imag__ a)" if compound else "a")
    if ty != "bool":
        add("positive", ty, 1, "a")
    add("left", ty, {"a": ty, "other": "bool"}, "(void)other, a")
    add("select", ty, {"chosen": "bool", "a": ty}, f"chosen ? a : {constant(0, ty)}")
    isnan = f"weft_isnan_{ty}"
    for name, other in (("nan_as_zero", 0), ("nan_as_one", 1)):
        add(name, ty, 1, f"{isnan}(a) ? {constant(other, ty)} : a", needs=(isnan,))


def _smaller_and_larger(ty: str, add: Callable[..., None]) -> None:
    isnan = f"weft_isnan_{ty}"
    for first, second, op in (("minimum", "fmin", "<"), ("maximum", "fmax", ">")):
        if is_complex(ty):
            order = "weft_less_equal" if op == "<" else "weft_greater_equal"
            wins, needs = f"{order}_{ty}(a, b)", (isnan, f"{order}_{ty}")
            add(first, ty, 2, f"{isnan}(a) || {wins} ? a : b", needs=needs)
            add(second, ty, 2, f"{isnan}(b) || {wins} ? a : b", needs=needs)
        else:
            nan = is_float(ty)  # both sides are asked, without a branch that nothing could predict
            add(first, ty, 2, f"(a {op} b) | (a != a) ? a : b" if nan else f"a {op} b ? a : b", reduces=nan)
            add(second, ty, 2, f"(a {op}= b) | (b != b) ? a : b" if nan else f"a {op} b ? a : b", reduces=nan)


def _repetitions(ty: str, add: Callable[..., None]) -> None:
    """An operator applied to ``k`` operands that all are ``a``; C has no value for a power of an infinity by parts."""
    if ty == "bool":
        values = {"add": "k > 0 && a", "multiply": "k == 0 || a", "logical_and": "k == 0 || a",
                  "logical_or": "k > 0 && a", "logical_xor": "(k & 1) && a", "bitwise_xor": "(k & 1) && a"}  # fmt: skip
    elif is_integer(ty):
        values = {"add": f"({ty}_t)((uint64_t)k * (uint64_t)a)", "multiply": "weft_power_uint64((uint64_t)a, k)",
                  "bitwise_xor": "k & 1 ? a : 0"}  # fmt: skip
    elif is_float(ty):
        f = "f" if ty == "float32" else ""
        values = {"add": "k == 0 ? 0 : k * a", "multiply": f"__builtin_pow{f}(a, k)"}
    else:
        values = {"add": "k == 0 ? 0 : __builtin_complex(k * __real__ a, k * __imag__ a)",
                  "multiply": f"weft_power_{ty}(a, k)"}  # fmt: skip
    for op, name in REPETITIONS.items():
        if op in values:
            value = values[op]
        elif op.startswith("logical") or (op.startswith("bitwise") and not (ty == "bool" or is_integer(ty))):
            continue
        else:
            value = f"k == 0 ? {constant(OPERATORS[op].start(ty), ty)} : a"
        needs = tuple(n for n in ("weft_power_uint64", f"weft_power_{ty}") if f"{n}(" in value)
        add(name, ty, {"k": "int64", "a": ty}, value, needs=needs)


def _by_value(ty: str, add: Callable[..., None]) -> None:
    """Comparisons of signed with unsigned integers."""
    first, signed = ("int64", "a") if ty == "uint64" else ("uint64", "b")
    smaller = ("!=", "<", "<=") if signed == "a" else ("!=", ">", ">=")
    operands = {"a": f"{'(uint64_t)' if signed == 'a' else ''}a", "b": f"{'(uint64_t)' if signed == 'b' else ''}b"}
    for name, op in (
        ("equal", "=="), ("not_equal", "!="), ("less", "<"), ("less_equal", "<="), ("greater", ">"),
        ("greater_equal", ">="),
    ):  # fmt: skip
        value = f"{signed} < 0 ? {'true' if op in smaller else 'false'} : {operands['a']} {op} {operands['b']}"
        add(f"{name}_{first}", ty, {"a": first, "b": ty}, value, "bool")
