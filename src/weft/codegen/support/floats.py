"""Arithmetic functions of real floating-point numbers, by libm or by the formulas of NumPy where these differ."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..types import constant, type_name

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

# Exponents whose powers take few multiplications, within two units in the last place of the power. As in NumPy, an
# exponent of one half gives square roots, also those of -0.0 and of -infinity.
_SCALAR_POWER = """{{
  if (b == 2) return a * a;
  if (b == (float)0.5) return __builtin_sqrt{f}(a);
  if (b == 3) return a * a * a;
  if (b == 4) return (a * a) * (a * a);
  if (b == 1) return a;
  if (b == -1) return 1 / a;
  return __builtin_pow{f}(a, b);
}}
"""
# The quotient is rounded down from the exact remainder, as in NumPy and Python.
_FLOOR_DIVIDE = """{{
  if (b == 0) return a / b;
  const {T} rest = __builtin_fmod{f}(a, b);
  {T} quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return __builtin_copysign{f}(0, a / b);
  const {T} down = __builtin_floor{f}(quotient);
  return quotient - down > ({T})0.5 ? down + 1 : down;
}}
"""
_REMAINDER = """{{
  const {T} rest = __builtin_fmod{f}(a, b);
  if (b == 0) return rest;
  if (rest == 0) return __builtin_copysign{f}(0, b);
  return (b < 0) != (rest < 0) ? rest + b : rest;
}}
"""
# The exponential is of a difference that is not positive, so that it does not overflow.
_LOGADDEXP = """{{
  if (a == b) return a + {log2};
  const {T} difference = a - b;
  if (difference > 0) return a + {log1p};
  return difference <= 0 ? b + {log1p_other} : difference;
}}
"""


def define(ty: str, add: Callable[..., None]) -> None:
    """Add the functions of the real floating-point type ``ty``."""
    f = "f" if ty == "float32" else ""
    T = type_name(ty)
    for name, c in (LIBM | REAL_1).items():
        add(name, ty, 1, f"__builtin_{c}{f}(a)")
    for name, c in REAL_2.items():
        add(name, ty, 2, f"__builtin_{c}{f}(a, b)")
    # The ldexp of NumPy takes an integer of 32 or 64 bits, that of C an int.
    exponent = "b > INT32_MAX ? INT32_MAX : b < INT32_MIN ? INT32_MIN : (int)b"
    add("ldexp", ty, {"a": ty, "b": "int64"}, f"__builtin_ldexp{f}(a, {exponent})")
    add("scalar_power", ty, 2, _SCALAR_POWER.format(f=f))
    if ty == "float64":
        add("float_power", ty, 2, "__builtin_pow(a, b)")
    add("floor_divide", ty, 2, _FLOOR_DIVIDE.format(T=T, f=f))
    add("remainder", ty, 2, _REMAINDER.format(T=T, f=f))
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
    natural = {
        "log2": constant(math.log(2), ty),
        "log1p": f"__builtin_log1p{f}(__builtin_exp{f}(-difference))",
        "log1p_other": f"__builtin_log1p{f}(__builtin_exp{f}(difference))",
    }
    add("logaddexp", ty, 2, _LOGADDEXP.format(T=T, **natural))
    to_base_2 = f"{constant(1 / math.log(2), ty)} * __builtin_log1p{f}(__builtin_exp2{f}("
    binary = {"log2": "1", "log1p": f"{to_base_2}-difference))", "log1p_other": f"{to_base_2}difference))"}
    add("logaddexp2", ty, 2, _LOGADDEXP.format(T=T, **binary))
