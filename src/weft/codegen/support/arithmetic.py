"""Arithmetic functions ``weft_NAME_DTYPE``, one for each operator of the operator table that C has no symbol for.

They mean what the NumPy ufunc of that name means: minimum and maximum give NaN when an operand is NaN, complex
numbers are ordered by real part, then by imaginary part, and integers wrap around. ``DTYPE`` is the operands' dtype.
"""

from __future__ import annotations

from ...ir.types import INTEGERS, is_complex, is_float
from ..types import complex_of, type_name
from .snippet import Snippet

__all__ = ["SNIPPETS"]

SNIPPETS: dict[str, Snippet] = {}

# NumPy's name of a function of libm, with C's.
_LIBM_1 = {
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "exp": "exp", "log": "log", "sqrt": "sqrt",
}  # fmt: skip
_LIBM_1_REAL = {
    "exp2": "exp2", "expm1": "expm1", "log2": "log2", "log10": "log10", "log1p": "log1p", "cbrt": "cbrt",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint",
}  # fmt: skip
_LIBM_2_REAL = {"arctan2": "atan2", "hypot": "hypot", "copysign": "copysign", "fmod": "fmod", "power": "pow"}

_NAN = "(__builtin_isnan(__real__ {0}) || __builtin_isnan(__imag__ {0}))"
_LEXICOGRAPHIC = (
    "(__real__ a {strict} __real__ b && !__builtin_isnan(__imag__ a) && !__builtin_isnan(__imag__ b)) || "
    "(__real__ a == __real__ b && __imag__ a {op} __imag__ b)"
)


def _define(name: str, ty: str, arity: int, value: str, result: str = "", needs: tuple[str, ...] = ()) -> None:
    """Add the function ``weft_{name}_{ty}`` that returns ``value``, over ``a`` and ``b``."""
    params = ", ".join(f"{type_name(ty)} {x}" for x in "ab"[:arity])
    body = value if value.endswith("}\n") else f"{{ return {value}; }}\n"
    text = f"static inline {type_name(result or ty)} weft_{name}_{ty}({params}) {body}"
    SNIPPETS[f"weft_{name}_{ty}"] = Snippet(text, needs)


def _complex(ty: str) -> None:
    real = type_name(complex_of(ty))
    f = "f" if ty == "complex64" else ""
    for name, op in (("less", "<"), ("less_equal", "<="), ("greater", ">"), ("greater_equal", ">=")):
        _define(name, ty, 2, _LEXICOGRAPHIC.format(strict=op[0], op=op), "bool")
    for name, order in (("minimum", "less_equal"), ("maximum", "greater_equal")):
        function = f"weft_{order}_{ty}"
        _define(name, ty, 2, f"{_NAN.format('a')} || {function}(a, b) ? a : b", needs=(function,))
    _define("absolute", ty, 1, f"__builtin_hypot{f}(__real__ a, __imag__ a)", complex_of(ty))
    _define("conjugate", ty, 1, "__builtin_complex(__real__ a, -__imag__ a)")
    _define("multiply", ty, 2, f"""{{
  const {real} ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;
  return __builtin_complex(ar * br - ai * bi, ar * bi + ai * br);
}}
""")  # fmt: skip
    _define("divide", ty, 2, f"""{{
  const {real} ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;
  if (__builtin_fabs{f}(br) >= __builtin_fabs{f}(bi)) {{
    if (br == 0 && bi == 0) return __builtin_complex(ar / __builtin_fabs{f}(br), ai / __builtin_fabs{f}(br));
    const {real} ratio = bi / br, scale = 1 / (br + bi * ratio);
    return __builtin_complex((ar + ai * ratio) * scale, (ai - ar * ratio) * scale);
  }}
  const {real} ratio = br / bi, scale = 1 / (bi + br * ratio);
  return __builtin_complex((ar * ratio + ai) * scale, (ai * ratio - ar) * scale);
}}
""")  # fmt: skip
    for name, c in _LIBM_1.items():
        _define(name, ty, 1, f"__builtin_c{c}{f}(a)")


def _real(ty: str) -> None:
    nan = " || a != a" if is_float(ty) else ""
    _define("minimum", ty, 2, f"a < b{nan} ? a : b")
    _define("maximum", ty, 2, f"a > b{nan} ? a : b")
    _define("conjugate", ty, 1, "a")
    if is_float(ty):
        f = "f" if ty == "float32" else ""
        _define("absolute", ty, 1, f"__builtin_fabs{f}(a)")
        for name, c in (_LIBM_1 | _LIBM_1_REAL).items():
            _define(name, ty, 1, f"__builtin_{c}{f}(a)")
        for name, c in _LIBM_2_REAL.items():
            _define(name, ty, 2, f"__builtin_{c}{f}(a, b)")
    elif ty in INTEGERS and INTEGERS[ty][1]:
        # The negation is made on unsigned integers, where it cannot overflow.
        _define("absolute", ty, 1, f"a < 0 ? ({ty}_t)(0 - (u{ty}_t)a) : a")
    else:
        _define("absolute", ty, 1, "a")


for _ty in ("bool", *INTEGERS, "float32", "float64", "complex64", "complex128"):
    _define("logical_and", _ty, 2, "a != 0 && b != 0", "bool")
    _define("logical_or", _ty, 2, "a != 0 || b != 0", "bool")
    (_complex if is_complex(_ty) else _real)(_ty)
