"""Arithmetic functions ``weft_NAME_DTYPE``, one for each operator of the operator table for which C has no symbol.

Each function computes what the NumPy ufunc of that name computes. Minimum and maximum give NaN if an operand is NaN,
complex numbers are ordered by the real part, then by the imaginary part, and integers wrap around. ``DTYPE`` is the
dtype of the operands. This module has the functions that are alike for all dtypes; ``integers``, ``floats`` and
``complexes`` have the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from ...index_notation.operator_table import OPERATORS, REPETITIONS
from ...ir.types import INTEGERS, is_complex, is_float, is_integer
from ..types import complex_of, constant, type_name
from . import complexes, floats, integers
from .snippet import Snippet, function, in_lanes

DTYPES = ("bool", *INTEGERS, "float32", "float64", "complex64", "complex128")

SCALAR_POWERS = {
    f"weft_{name}_{ty}": (f"weft_scalar_power_{ty}", f"weft_square_{ty}")
    for ty in DTYPES
    for name in ("power", "float_power")
    if not (ty == "bool" or is_complex(ty)) and (name == "power" or ty == "float64")
}
"""Functions that compute powers by name, each with the one for an exponent that all elements have, and with squares."""


@cache
def of(ty: str) -> Mapping[str, Snippet]:
    """Return the arithmetic functions of a dtype by name; the first call for a dtype makes them."""
    functions: dict[str, Snippet] = {}

    def add(
        name: str, ty: str, params: int | dict[str, str], value: str, result: str = "", needs: tuple[str, ...] = (),
        reduces: bool = False,
    ) -> None:  # fmt: skip
        """Add the function ``weft_{name}_{ty}``, which returns ``value``.

        Its parameters are ``a`` and ``b``, as many as ``params``, or those of the mapping ``params``. If ``reduces``, a
        vectorized loop may reduce with the function.
        """
        full = f"weft_{name}_{ty}"
        named = dict.fromkeys("ab"[:params], ty) if isinstance(params, int) else params
        functions[full] = function(full, named, value, result or ty, needs)
        if reduces:  # the text gets a declaration for OpenMP
            functions[full] = in_lanes(full, ty, functions[full])

    _logic(ty, add)
    _parts(ty, add)
    kind = complexes if is_complex(ty) else floats if is_float(ty) else integers
    kind.define(ty, add)
    functions |= kind.bodies(ty)
    _smaller_and_larger(ty, add)
    _repetitions(ty, add)
    # Smaller integers are compared in a type that holds both operands.
    if ty in ("int64", "uint64"):
        _by_value(ty, add)
    return functions


def _logic(ty: str, add: Callable[..., None]) -> None:
    # Truth is a comparison with zero, so that NaN is true, as in NumPy.
    add("logical_and", ty, 2, "a != 0 && b != 0", "bool")
    add("logical_or", ty, 2, "a != 0 || b != 0", "bool")
    add("logical_xor", ty, 2, "(a != 0) != (b != 0)", "bool")
    add("logical_not", ty, 1, "a == 0", "bool")
    for name in ("isfinite", "isinf", "isnan"):
        # Integers are always finite; the operand is named, so that compilers do not warn.
        value = f"(void)a, {'true' if name == 'isfinite' else 'false'}"
        if is_float(ty):
            value = f"__builtin_{name}(a) != 0"
        elif is_complex(ty):
            word = "&&" if name == "isfinite" else "||"
            value = f"__builtin_{name}(__real__ a) {word} __builtin_{name}(__imag__ a)"
        add(name, ty, 1, value, "bool")


def _parts(ty: str, add: Callable[..., None]) -> None:
    """Add functions that return the operand, a part of it, or a constant in its place."""
    compound = is_complex(ty)
    part = complex_of(ty) if compound else ty
    add("real", ty, 1, "__real__ a" if compound else "a", part)
    add("imag", ty, 1, "__imag__ a" if compound else "(void)a, 0", part)
    add("conjugate", ty, 1, "__builtin_complex(__real__ a, -__imag__ a)" if compound else "a")
    if ty != "bool":
        add("positive", ty, 1, "a")
    add("left", ty, {"a": ty, "other": "bool"}, "(void)other, a")
    parts = (f"weft_present_{part}",) if compound else ()
    add("present", ty, {"a": ty, "coordinate": "int64"}, _present(ty), needs=parts)
    add("select", ty, {"chosen": "bool", "a": ty}, f"chosen ? a : {constant(0, ty)}")
    isnan = f"weft_isnan_{ty}"
    for name, other in (("nan_as_zero", 0), ("nan_as_one", 1)):
        add(name, ty, 1, f"{isnan}(a) ? {constant(other, ty)} : a", needs=(isnan,))


def _present(ty: str) -> str:
    """Return the body of a function that returns a number, or what adds nothing if a coordinate marks padding.

    It has bits in place of a choice, which GCC 12 would turn into a branch.
    """
    if is_complex(ty):
        part = f"weft_present_{complex_of(ty)}"
        return f"__builtin_complex({part}(__real__ a, coordinate), {part}(__imag__ a, coordinate))"
    if not is_float(ty):
        return f"({type_name(ty)})(a & ~(coordinate >> 63))"
    bits = "int32_t" if ty == "float32" else "int64_t"
    lines = (
        f"const {bits} absent = ({bits})(coordinate >> 63);",
        f"{bits} bits;",
        "__builtin_memcpy(&bits, &a, sizeof bits);",
        f"bits = (bits & ~absent) | ({'INT32_MIN' if ty == 'float32' else 'INT64_MIN'} & absent);  /* -0.0 */",
        "__builtin_memcpy(&a, &bits, sizeof bits);",
        "return a;",
    )
    return "".join(["{\n", *(f"  {line}\n" for line in lines), "}\n"])


def _smaller_and_larger(ty: str, add: Callable[..., None]) -> None:
    isnan = f"weft_isnan_{ty}"
    for first, second, op in (("minimum", "fmin", "<"), ("maximum", "fmax", ">")):
        if is_complex(ty):
            # The ufuncs whose names begin with f prefer numbers to NaN, the others NaN to numbers.
            order = "weft_less_equal" if op == "<" else "weft_greater_equal"
            wins, needs = f"{order}_{ty}(a, b)", (isnan, f"{order}_{ty}")
            add(first, ty, 2, f"{isnan}(a) || {wins} ? a : b", needs=needs)
            add(second, ty, 2, f"{isnan}(b) || {wins} ? a : b", needs=needs)
        else:
            nan = is_float(ty)
            add(first, ty, 2, _chosen(ty, op, "a != a ? a : best") if nan else f"a {op} b ? a : b", reduces=nan)
            add(second, ty, 2, _chosen(ty, f"{op}=", "b != b ? a : best") if nan else f"a {op} b ? a : b", reduces=nan)


def _chosen(ty: str, op: str, value: str) -> str:
    """Return the body of a function that compares two numbers, and then looks for NaN.

    These are two selections and no branch, so that compilers vectorize loops with several calls inside each other.
    """
    return f"{{\n  {type_name(ty)} best = a {op} b ? a : b;\n  return {value};\n}}\n"


def _repetitions(ty: str, add: Callable[..., None]) -> None:
    """Add functions that apply an operator to ``k`` operands, all of which are ``a``."""
    # A sum is a product with k, except for k = 0, since 0 times an infinity is NaN. A product is a power. Complex sums
    # multiply the parts, since a complex product with an infinity has NaN parts.
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
        else:  # applying the operator to equal operands gives the operand, as for minimum
            value = f"k == 0 ? {constant(OPERATORS[op].start(ty), ty)} : a"
        needs = tuple(n for n in ("weft_power_uint64", f"weft_power_{ty}") if f"{n}(" in value)
        add(name, ty, {"k": "int64", "a": ty}, value, needs=needs)


def _by_value(ty: str, add: Callable[..., None]) -> None:
    """Add comparisons of signed with unsigned 64-bit integers by value."""
    # A negative integer is less than each unsigned one; C would convert it to a large unsigned one.
    first, signed = ("int64", "a") if ty == "uint64" else ("uint64", "b")
    smaller = ("!=", "<", "<=") if signed == "a" else ("!=", ">", ">=")
    operands = {"a": f"{'(uint64_t)' if signed == 'a' else ''}a", "b": f"{'(uint64_t)' if signed == 'b' else ''}b"}
    for name, op in (
        ("equal", "=="), ("not_equal", "!="), ("less", "<"), ("less_equal", "<="), ("greater", ">"),
        ("greater_equal", ">="),
    ):  # fmt: skip
        value = f"{signed} < 0 ? {'true' if op in smaller else 'false'} : {operands['a']} {op} {operands['b']}"
        add(f"{name}_{first}", ty, {"a": first, "b": ty}, value, "bool")
