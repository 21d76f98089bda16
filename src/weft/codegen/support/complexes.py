"""Arithmetic functions of complex numbers, by the formulas of NumPy where those of C give other results."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..types import complex_of, constant
from .floats import LIBM
from .snippet import Snippet, of_dtype

_LEXICOGRAPHIC = (
    "(__real__ a {strict} __real__ b && !__builtin_isnan(__imag__ a) && !__builtin_isnan(__imag__ b)) || "
    "(__real__ a == __real__ b && __imag__ a {op} __imag__ b)"
)
_BY_REAL = "__builtin_complex(__real__ {x} * {factor}, __imag__ {x} * {factor})"


def define(ty: str, add: Callable[..., None]) -> None:
    """Add the functions of the complex type ``ty`` that are formulas."""
    part = complex_of(ty)
    f = "f" if ty == "complex64" else ""
    for name, op in (("less", "<"), ("less_equal", "<="), ("greater", ">"), ("greater_equal", ">=")):
        add(name, ty, 2, _LEXICOGRAPHIC.format(strict=op[0], op=op), "bool")
    for name, c in LIBM.items():
        add(name, ty, 1, f"__builtin_c{c}{f}(a)")
    add("absolute", ty, 1, f"__builtin_hypot{f}(__real__ a, __imag__ a)", part)
    add("square", ty, 1, f"weft_multiply_{ty}(a, a)", needs=(f"weft_multiply_{ty}",))
    add("rint", ty, 1, f"__builtin_complex(__builtin_rint{f}(__real__ a), __builtin_rint{f}(__imag__ a))")
    # Logarithms to other bases are natural ones times a factor.
    scaled = {"log2": 1 / math.log(2), "log10": 1 / math.log(10)}
    for name, factor in scaled.items():
        value = _BY_REAL.format(x="a", factor=constant(factor, part))
        add(name, ty, 1, f"{{\n  a = __builtin_clog{f}(a);\n  return {value};\n}}\n")
    value = _BY_REAL.format(x="a", factor=constant(math.log(2), part))
    add("exp2", ty, 1, f"__builtin_cexp{f}({value})")
    if ty == "complex128":
        add("float_power", ty, 2, "weft_power_complex128(a, b)", needs=("weft_power_complex128",))


def bodies(ty: str) -> dict[str, Snippet]:
    """Return the functions of ``ty`` that are more than a formula."""
    return of_dtype("complexes", ty)
