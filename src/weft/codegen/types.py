"""C types and C constants for those of the IR."""

from __future__ import annotations

import math
import struct

from ..ir.types import INTEGERS, is_complex, wrap

_C_TYPES = {
    "bool": "bool", "float32": "float", "float64": "double",
    "complex64": "float _Complex", "complex128": "double _Complex",
    **{name: f"{name}_t" for name in INTEGERS},
}  # fmt: skip


def type_name(ty: str) -> str:
    """Return the C type of an IR type; a pointer type ends in a space and a star."""
    return f"{_C_TYPES[ty[:-1]]} *" if ty.endswith("*") else _C_TYPES[ty]


def complex_of(ty: str) -> str:
    """Return the type of the real and imaginary parts of a complex type."""
    return "float32" if ty == "complex64" else "float64"


def _float(value: float, ty: str) -> str:
    suffix = "f" if ty == "float32" else ""
    if math.isnan(value):
        return f'__builtin_nan{suffix}("")'
    if ty == "float32":
        # Rounded as NumPy rounds. A value out of range becomes infinite.
        try:
            value = struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            value = math.copysign(math.inf, value)
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
    return repr(value) + suffix


def constant(value: bool | int | float | complex, ty: str) -> str:
    """Return the C text of a constant, exact to the last bit, which may begin with a minus sign."""
    if ty == "bool":
        return "true" if value else "false"
    if is_complex(ty):
        value, part = complex(value), complex_of(ty)
        return f"__builtin_complex({_float(value.real, part)}, {_float(value.imag, part)})"
    if isinstance(value, complex):
        raise TypeError(f"the constant {value!r} cannot be {ty}")
    if ty not in INTEGERS:
        return _float(float(value), ty)
    value = wrap(int(value), ty)
    # C has no literal of the least integer: a minus sign is an operator on a literal that is out of range.
    if ty in ("int32", "int64") and value == -(1 << (INTEGERS[ty][0] - 1)):
        return f"{ty.upper()}_MIN"
    return f"{value}u" if value > 0x7FFFFFFF and ty.startswith("u") else str(value)
