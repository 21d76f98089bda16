"""Mathematical functions of many elements at a time, by the vector functions of the C library.

The vector functions are those of glibc 2.35 and newer on x86-64 with AVX2 or AVX-512. Elsewhere the elements are
computed one by one. The result of an element does not depend on its place in an array. glibc bounds the error of its
vector functions by four units in the last place. The functions of this module were never seen to err by more than two
units in double precision, as the functions of one element do, nor by more than four in single precision, as NumPy does.
``exp``, ``sin`` and others whose vector functions err by more have no function here.
"""

from __future__ import annotations

from ..types import type_name
from .floats import LIBM, REAL_1, REAL_2
from .snippet import Snippet, parts

_ONE = (
    "exp2", "expm1", "log", "log2", "log10", "log1p", "arccos", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh",
    "cbrt",
)  # fmt: skip
_TWO = ("power",)
_AVX512_ALONE = {("expm1", "float64"), ("arccosh", "float64")}  # with AVX2 these err by more than two units


_NAMES = [
    (name, ty, arity) for arity, names in enumerate((_ONE, _TWO), 1) for name in names for ty in ("float64", "float32")
]

MANY: dict[str, str] = {
    **{f"weft_{name}_{ty}": f"weft_each_{name}_{ty}" for name, ty, _ in _NAMES},
    **{f"weft_scalar_power_{ty}": f"weft_each_scalar_power_{ty}" for ty in ("float64", "float32")},
}
"""Names of functions of one element, each with the name of the function of many elements."""


def _each(name: str, ty: str, arity: int) -> dict[str, Snippet]:
    f = "" if ty == "float64" else "f"
    width = 4 if f else 8
    c = (LIBM | REAL_1 | REAL_2)[name]
    letters = "ab"[:arity]
    # The symbols follow the ABI of vector functions: d for AVX2 and e for AVX-512, N for unmasked, the number of lanes,
    # a v for each operand.
    words = {
        "NAME": name,
        "CONDITION": "WEFT_VECTOR_BYTES == 64" if (name, ty) in _AVX512_ALONE else "defined WEFT_VECTOR_BYTES",
        "AVX2": f"_ZGVdN{32 // width}{'v' * arity}_{c}{f}",
        "AVX512": f"_ZGVeN{64 // width}{'v' * arity}_{c}{f}",
        "ELEMENTS": ", ".join(f"{x}[i]" for x in letters),
        "PARAMETERS": ", ".join(f"const {type_name(ty)} *{x}" for x in letters),
        "VECTORS": ", ".join(["vector"] * arity),
        "OPERANDS": ", ".join(f"v{x}" for x in letters),
        "LOAD": "\n    ".join(f"__builtin_memcpy(&v{x}, {x} + i, sizeof v{x});" for x in letters),
        "FILL": "\n      ".join(f"v{x}[l] = l < n - i ? {x}[i + l] : 1;" for x in letters),
    }
    return parts("vectors")["weft_each_NAME_TYPE"].filled(ty, words)


def functions() -> dict[str, Snippet]:
    """Return the functions of many elements by name, one for each name and dtype."""
    snippets: dict[str, Snippet] = {}
    for name, ty, arity in _NAMES:
        snippets |= _each(name, ty, arity)
    return snippets
