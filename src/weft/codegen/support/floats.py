"""Arithmetic functions of real floating-point numbers, by libm or by the formulas of NumPy where these differ."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..types import constant
from .snippet import Snippet, of_dtype, parts

LIBM = {
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "exp": "exp", "log": "log", "sqrt": "sqrt",
}  # fmt: skip
"""Functions of libm that exist for complex numbers too: the name of NumPy, and the name of C."""

REAL_1 = {
    "exp2": "exp2", "expm1": "expm1", "log2": "log2", "log10": "log10", "log1p": "log1p", "cbrt": "cbrt",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint", "absolute": "fabs",
}  # fmt: skip
REAL_2 = {
    "arctan2": "atan2", "hypot": "hypot", "copysign": "copysign", "fmod": "fmod", "power": "pow",
    "nextafter": "nextafter",
}  # fmt: skip


def define(ty: str, add: Callable[..., None]) -> None:
    """Add the functions of the real floating-point type ``ty`` that are formulas."""
    f = "f" if ty == "float32" else ""
    for name, c in (LIBM | REAL_1).items():
        add(name, ty, 1, f"__builtin_{c}{f}(a)")
    for name, c in REAL_2.items():
        add(name, ty, 2, f"__builtin_{c}{f}(a, b)")
    # The ldexp of NumPy takes an integer of 32 or 64 bits, that of C an int.
    exponent = "b > INT32_MAX ? INT32_MAX : b < INT32_MIN ? INT32_MIN : (int)b"
    add("ldexp", ty, {"a": ty, "b": "int64"}, f"__builtin_ldexp{f}(a, {exponent})")
    if ty == "float64":
        add("float_power", ty, 2, "__builtin_pow(a, b)")
    add("heaviside", ty, 2, "a != a ? a : a == 0 ? b : a < 0 ? 0 : 1")
    add("reciprocal", ty, 1, "1 / a")
    add("square", ty, 1, "a * a")
    add("sign", ty, 1, "a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a")
    add("signbit", ty, 1, "__builtin_signbit(a) != 0", "bool")
    number = np.dtype(ty).type
    for name, factor in (
        ("deg2rad", number(math.pi) / number(180)),
        ("rad2deg", number(180) / number(math.pi)),
    ):
        add(name, ty, 1, f"a * {constant(factor.item(), ty)}")


def bodies(ty: str) -> dict[str, Snippet]:
    """Return the functions of ``ty`` that are more than a formula."""
    f = "f" if ty == "float32" else ""
    natural = {
        "LOG_2": constant(math.log(2), ty),
        "LOG_1_P": f"__builtin_log1p{f}(__builtin_exp{f}(-difference))",
        "LOG_1_P_OTHER": f"__builtin_log1p{f}(__builtin_exp{f}(difference))",
    }
    to_base_2 = f"{constant(1 / math.log(2), ty)} * __builtin_log1p{f}(__builtin_exp2{f}("
    binary = {"LOG_2": "1", "LOG_1_P": f"{to_base_2}-difference))", "LOG_1_P_OTHER": f"{to_base_2}difference))"}
    sums = parts("floats")["weft_NAME_TYPE"]
    return {
        **of_dtype("floats", ty),
        **sums.filled(ty, {"NAME": "logaddexp"} | natural),
        **sums.filled(ty, {"NAME": "logaddexp2"} | binary),
    }
