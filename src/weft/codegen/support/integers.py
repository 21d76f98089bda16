"""Arithmetic functions of integers and bool, as in NumPy: they wrap around, and a quotient by zero is zero."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.types import INTEGERS
from .snippet import Snippet, of_dtype, parts


def define(ty: str, add: Callable[..., None]) -> None:
    """Add the functions of ``ty``, an integer type or bool, that are formulas."""
    for name in ("floor", "ceil", "trunc"):
        add(name, ty, 1, "a")
    if ty == "bool":
        add("absolute", ty, 1, "a")
        add("invert", ty, 1, "!a")
        return
    bits, signed = INTEGERS[ty]
    add("invert", ty, 1, f"({ty}_t)~a")
    squared = f"({ty}_t)((uint64_t)a * (uint64_t)a)"
    add("square", ty, 1, squared)
    add("sign", ty, 1, "(a > 0) - (a < 0)" if signed else "a > 0")
    # NumPy converts 1.0 / 0 to the integer type, with a result that depends on its width.
    of_zero = f"INT{bits}_MIN" if signed and bits >= 32 else "0"
    of_one = "a == 1 || a == -1 ? a" if signed else "a == 1 ? a"
    add("reciprocal", ty, 1, f"a == 0 ? {of_zero} : {of_one} : 0")
    if ty != "uint64":  # whose functions the others call
        a, b = _sizes(ty)
        add("power", ty, 2, f"({ty}_t)weft_power_uint64((uint64_t)a, (uint64_t)b)", needs=("weft_power_uint64",))
        add("gcd", ty, 2, f"({ty}_t)weft_gcd_uint64({a}, {b})", needs=("weft_gcd_uint64",))
    add("scalar_power", ty, 2, f"b == 2 ? {squared} : weft_power_{ty}(a, b)", needs=(f"weft_power_{ty}",))
    # Shifts by the width or more are undefined in C. In NumPy they shift out all bits but copies of the sign.
    negative = " : a < 0 ? -1 : 0" if signed else " : 0"
    add("left_shift", ty, 2, f"(uint{bits}_t)b < {bits} ? ({ty}_t)((uint64_t)a << b) : 0")
    add("right_shift", ty, 2, f"(uint{bits}_t)b < {bits} ? ({ty}_t)(a >> b){negative}")
    _divisions(ty, signed, add)


def _divisions(ty: str, signed: bool, add: Callable[..., None]) -> None:
    if not signed:
        add("absolute", ty, 1, "a")
        add("floor_divide", ty, 2, "b == 0 ? 0 : a / b")
        for name in ("remainder", "fmod"):
            add(name, ty, 2, "b == 0 ? 0 : a % b")
        return
    # Negations are computed on unsigned integers, where they cannot overflow. Divisions by -1 are negations, since the
    # quotient of the least integer overflows.
    negated = f"({ty}_t)(0 - (u{ty}_t)a)"
    add("absolute", ty, 1, f"a < 0 ? {negated} : a")
    rounded_up = "(a % b != 0 && (a < 0) != (b < 0))"
    add("floor_divide", ty, 2, f"b == 0 ? 0 : b == -1 ? {negated} : ({ty}_t)(a / b - {rounded_up})")
    add("remainder", ty, 2, f"b == 0 || b == -1 ? 0 : ({ty}_t)(a % b + ({rounded_up} ? b : 0))")
    add("fmod", ty, 2, f"b == 0 || b == -1 ? 0 : ({ty}_t)(a % b)")


def bodies(ty: str) -> dict[str, Snippet]:
    """Return the functions of ``ty`` that are more than a formula."""
    if ty == "bool":
        return {}
    a, b = _sizes(ty)
    return of_dtype("integers", ty) | parts("integers")["weft_lcm_TYPE"].filled(ty, {"SIZE_A": a, "SIZE_B": b})


def _sizes(ty: str) -> list[str]:
    """Return the absolute values of ``a`` and ``b``, as unsigned integers, which hold that of the least integer."""
    signed = INTEGERS[ty][1]
    return [f"({x} < 0 ? 0 - (uint64_t){x} : (uint64_t){x})" if signed else f"(uint64_t){x}" for x in "ab"]
