"""Arithmetic functions ``weft_NAME_DTYPE``, one for each operator of the operator table that C has no symbol for.

They mean what the NumPy ufunc of that name means: minimum and maximum give NaN when an operand is NaN, complex
numbers are ordered by real part, then by imaginary part, and integers wrap around. ``DTYPE`` is the operands' dtype.
What is here is much the same for all dtypes; ``integers``, ``floats`` and ``complexes`` have the rest.
"""

from __future__ import annotations

from ...index_notation.operators import OPERATORS, REPETITIONS
from ...ir.types import INTEGERS, is_complex, is_float, is_integer
from ..types import complex_of, constant
from . import complexes, floats, integers
from .snippet import Snippet, function

__all__ = ["SNIPPETS"]

SNIPPETS: dict[str, Snippet] = {}

_DTYPES = ("bool", *INTEGERS, "float32", "float64", "complex64", "complex128")


def _define(name: str, ty: str, arity: int, value: str, result: str = "", needs: tuple[str, ...] = ()) -> None:
    """Add the function ``weft_{name}_{ty}`` that returns ``value``, over ``a`` and ``b``."""
    full = f"weft_{name}_{ty}"
    SNIPPETS[full] = function(full, dict.fromkeys("ab"[:arity], ty), value, result or ty, needs)


def _logic(ty: str) -> None:
    _define("logical_and", ty, 2, "a != 0 && b != 0", "bool")
    _define("logical_or", ty, 2, "a != 0 || b != 0", "bool")
    _define("logical_xor", ty, 2, "(a != 0) != (b != 0)", "bool")
    _define("logical_not", ty, 1, "a == 0", "bool")
    for name in ("isfinite", "isinf", "isnan"):
        value = f"(void)a, {'true' if name == 'isfinite' else 'false'}"
        if is_float(ty):
            value = f"__builtin_{name}(a) != 0"
        elif is_complex(ty):
            word = "&&" if name == "isfinite" else "||"
            value = f"__builtin_{name}(__real__ a) {word} __builtin_{name}(__imag__ a)"
        _define(name, ty, 1, value, "bool")


def _parts(ty: str) -> None:
    """What picks or keeps the operand."""
    compound = is_complex(ty)
    part = complex_of(ty) if compound else ty
    _define("real", ty, 1, "__real__ a" if compound else "a", part)
    _define("imag", ty, 1, "__imag__ a" if compound else "(void)a, 0", part)
    _define("conjugate", ty, 1, "__builtin_complex(__real__ a, -__imag__ a)" if compound else "a")
    if ty != "bool":
        _define("positive", ty, 1, "a")
    SNIPPETS[f"weft_left_{ty}"] = function(f"weft_left_{ty}", {"a": ty, "other": "bool"}, "(void)other, a", ty)
    SNIPPETS[f"weft_select_{ty}"] = function(
        f"weft_select_{ty}", {"chosen": "bool", "a": ty}, f"chosen ? a : {constant(0, ty)}", ty
    )
    isnan = f"weft_isnan_{ty}"
    for name, other in (("nan_as_zero", 0), ("nan_as_one", 1)):
        _define(name, ty, 1, f"{isnan}(a) ? {constant(other, ty)} : a", needs=(isnan,))


def _smaller_and_larger(ty: str) -> None:
    isnan = f"weft_isnan_{ty}"
    for first, second, op in (("minimum", "fmin", "<"), ("maximum", "fmax", ">")):
        if is_complex(ty):
            order = "weft_less_equal" if op == "<" else "weft_greater_equal"
            wins, needs = f"{order}_{ty}(a, b)", (isnan, f"{order}_{ty}")
            _define(first, ty, 2, f"{isnan}(a) || {wins} ? a : b", needs=needs)
            _define(second, ty, 2, f"{isnan}(b) || {wins} ? a : b", needs=needs)
        else:
            nan = is_float(ty)
            _define(first, ty, 2, f"a {op} b || a != a ? a : b" if nan else f"a {op} b ? a : b")
            _define(second, ty, 2, f"a {op}= b || b != b ? a : b" if nan else f"a {op} b ? a : b")


def _repetitions(ty: str) -> None:
    """An operator applied to ``k`` operands that all are ``a``; C has no value for a power of an infinity by parts."""
    if ty == "bool":
        values = {"add": "k > 0 && a", "multiply": "k == 0 || a", "logical_and": "k == 0 || a",
                  "logical_or": "k > 0 && a"}  # fmt: skip
    elif is_integer(ty):
        values = {"add": f"({ty}_t)((uint64_t)k * (uint64_t)a)", "multiply": "weft_power_uint64((uint64_t)a, k)"}
    elif is_float(ty):
        f = "f" if ty == "float32" else ""
        values = {"add": "k == 0 ? 0 : k * a", "multiply": f"__builtin_pow{f}(a, k)"}
    else:
        values = {"add": "k == 0 ? 0 : __builtin_complex(k * __real__ a, k * __imag__ a)",
                  "multiply": f"weft_power_{ty}(a, k)"}  # fmt: skip
    for op, name in REPETITIONS.items():
        if op in values:
            value = values[op]
        elif op.startswith("logical"):
            continue
        else:
            value = f"k == 0 ? {constant(OPERATORS[op].start(ty), ty)} : a"
        needs = tuple(n for n in ("weft_power_uint64", f"weft_power_{ty}") if f"{n}(" in value)
        full = f"weft_{name}_{ty}"
        SNIPPETS[full] = function(full, {"k": "int64", "a": ty}, value, ty, needs)


for _ty in _DTYPES:
    _logic(_ty)
    _parts(_ty)
    if is_complex(_ty):
        complexes.define(_ty, _define)
    elif is_float(_ty):
        floats.define(_ty, _define)
    else:
        integers.define(_ty, _define)
    _smaller_and_larger(_ty)
    _repetitions(_ty)

# ldexp takes an integer of 32 or 64 bits; comparisons of signed with unsigned integers go by value.
for _ty in ("float32", "float64"):
    _f = "f" if _ty == "float32" else ""
    _value = f"__builtin_ldexp{_f}(a, b > INT32_MAX ? INT32_MAX : b < INT32_MIN ? INT32_MIN : (int)b)"
    SNIPPETS[f"weft_ldexp_{_ty}"] = function(f"weft_ldexp_{_ty}", {"a": _ty, "b": "int64"}, _value, _ty)
for _name, _op in (
    ("equal", "=="), ("not_equal", "!="), ("less", "<"), ("less_equal", "<="), ("greater", ">"), ("greater_equal", ">=")
):  # fmt: skip
    _full, _negative = f"weft_{_name}_int64_uint64", "true" if _op in ("!=", "<", "<=") else "false"
    _value = f"a < 0 ? {_negative} : (uint64_t)a {_op} b"
    SNIPPETS[_full] = function(_full, {"a": "int64", "b": "uint64"}, _value, "bool")
    _full, _negative = f"weft_{_name}_uint64_int64", "true" if _op in ("!=", ">", ">=") else "false"
    _value = f"b < 0 ? {_negative} : a {_op} (uint64_t)b"
    SNIPPETS[_full] = function(_full, {"a": "uint64", "b": "int64"}, _value, "bool")
