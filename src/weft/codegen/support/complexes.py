"""Arithmetic functions of complex numbers, by the formulas of NumPy where those of C give other results."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..types import complex_of, constant, type_name
from .floats import LIBM

_LEXICOGRAPHIC = (
    "(__real__ a {strict} __real__ b && !__builtin_isnan(__imag__ a) && !__builtin_isnan(__imag__ b)) || "
    "(__real__ a == __real__ b && __imag__ a {op} __imag__ b)"
)
_MULTIPLY = """{{
  const {T} ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;
  return __builtin_complex(ar * br - ai * bi, ar * bi + ai * br);
}}
"""
# Smith's algorithm, which scales by the larger part of the divisor and so avoids overflow.
_DIVIDE = """{{
  const {T} ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;
  if (__builtin_fabs{f}(br) >= __builtin_fabs{f}(bi)) {{
    if (br == 0 && bi == 0) return __builtin_complex(ar / __builtin_fabs{f}(br), ai / __builtin_fabs{f}(br));
    const {T} ratio = bi / br, scale = 1 / (br + bi * ratio);
    return __builtin_complex((ar + ai * ratio) * scale, (ai - ar * ratio) * scale);
  }}
  const {T} ratio = br / bi, scale = 1 / (bi + br * ratio);
  return __builtin_complex((ar * ratio + ai) * scale, (ai * ratio - ar) * scale);
}}
"""
_RECIPROCAL = """{{
  const {T} re = __real__ a, im = __imag__ a;
  if (__builtin_fabs{f}(im) <= __builtin_fabs{f}(re)) {{
    const {T} ratio = im / re, scale = re + im * ratio;
    return __builtin_complex(1 / scale, -ratio / scale);
  }}
  const {T} ratio = re / im, scale = re * ratio + im;
  return __builtin_complex(ratio / scale, -1 / scale);
}}
"""
_SIGN = """{{
  const {T} re = __real__ a, im = __imag__ a, size = __builtin_hypot{f}(re, im);
  if (size != size || (__builtin_isinf(re) && __builtin_isinf(im))) {{
    const {T} nan = __builtin_nan{f}("");
    return __builtin_complex(nan, nan);
  }}
  if (size == 0) return 0;
  const {T} zero = 0, one = 1;
  if (__builtin_isinf(re)) return __builtin_complex(__builtin_copysign{f}(one, re), zero);
  if (__builtin_isinf(im)) return __builtin_complex(zero, __builtin_copysign{f}(one, im));
  return __builtin_complex(re / size, im / size);
}}
"""
_EXPM1 = """{{
  const {T} half = __builtin_sin{f}(__imag__ a / 2), one = __builtin_exp{f}(__real__ a);
  return __builtin_complex(
    __builtin_expm1{f}(__real__ a) * __builtin_cos{f}(__imag__ a) - 2 * half * half,
    one * __builtin_sin{f}(__imag__ a));
}}
"""
_LOG1P = """{{
  const {T} re = __real__ a + 1;
  return __builtin_complex(__builtin_log{f}(__builtin_hypot{f}(re, __imag__ a)), __builtin_atan2{f}(__imag__ a, re));
}}
"""
_BY_REAL = "__builtin_complex(__real__ {x} * {factor}, __imag__ {x} * {factor})"
# As in NumPy, small integer exponents are computed by multiplications.
_POWER = """{{
  const {T} br = __real__ b, bi = __imag__ b;
  if (br == 0 && bi == 0) return 1;
  if (__real__ a == 0 && __imag__ a == 0) {{
    const {T} nan = __builtin_nan{f}("");
    return br > 0 ? 0 : __builtin_complex(nan, nan);
  }}
  if (bi != 0 || br != __builtin_trunc{f}(br) || br <= -100 || br >= 100) return __builtin_cpow{f}(a, b);
  int64_t rest = br < 0 ? (int64_t)-br : (int64_t)br;
  {C} result = 1, base = a;
  bool first = true;
  for (; rest; rest >>= 1) {{
    if (rest & 1) {{
      result = first ? base : weft_multiply_{ty}(result, base);
      first = false;
    }}
    if (rest > 1) base = weft_multiply_{ty}(base, base);
  }}
  return br < 0 ? weft_divide_{ty}(1, result) : result;
}}
"""


def define(ty: str, add: Callable[..., None]) -> None:
    """Add the functions of the complex type ``ty``."""
    part = complex_of(ty)
    f = "f" if ty == "complex64" else ""
    words = {"T": type_name(part), "C": type_name(ty), "f": f, "ty": ty}
    for name, op in (("less", "<"), ("less_equal", "<="), ("greater", ">"), ("greater_equal", ">=")):
        add(name, ty, 2, _LEXICOGRAPHIC.format(strict=op[0], op=op), "bool")
    for name, c in LIBM.items():
        add(name, ty, 1, f"__builtin_c{c}{f}(a)")
    add("absolute", ty, 1, f"__builtin_hypot{f}(__real__ a, __imag__ a)", part)
    add("multiply", ty, 2, _MULTIPLY.format(**words))
    add("divide", ty, 2, _DIVIDE.format(**words))
    add("reciprocal", ty, 1, _RECIPROCAL.format(**words))
    add("square", ty, 1, f"weft_multiply_{ty}(a, a)", needs=(f"weft_multiply_{ty}",))
    add("sign", ty, 1, _SIGN.format(**words))
    add("rint", ty, 1, f"__builtin_complex(__builtin_rint{f}(__real__ a), __builtin_rint{f}(__imag__ a))")
    add("expm1", ty, 1, _EXPM1.format(**words))
    add("log1p", ty, 1, _LOG1P.format(**words))
    # Logarithms to other bases are natural ones times a factor.
    scaled = {"log2": 1 / math.log(2), "log10": 1 / math.log(10)}
    for name, factor in scaled.items():
        value = _BY_REAL.format(x="a", factor=constant(factor, part))
        add(name, ty, 1, f"{{\n  a = __builtin_clog{f}(a);\n  return {value};\n}}\n")
    value = _BY_REAL.format(x="a", factor=constant(math.log(2), part))
    add("exp2", ty, 1, f"__builtin_cexp{f}({value})")
    needs = (f"weft_multiply_{ty}", f"weft_divide_{ty}")
    add("power", ty, 2, _POWER.format(**words), needs=needs)
    if ty == "complex128":
        add("float_power", ty, 2, "weft_power_complex128(a, b)", needs=("weft_power_complex128",))
