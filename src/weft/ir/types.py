"""Types of the IR, which are plain strings: their kinds, sizes and integer ranges."""

from __future__ import annotations

# name: (bits, signed)
INTEGERS: dict[str, tuple[int, bool]] = {
    f"{u}int{bits}": (bits, not u) for u in ("", "u") for bits in (8, 16, 32, 64)
}  # fmt: skip
SCALARS: tuple[str, ...] = ("bool", *INTEGERS, "float32", "float64", "complex64", "complex128")
_SIZES = {"bool": 1, **{ty: bits // 8 for ty, (bits, _) in INTEGERS.items()},
          "float32": 4, "float64": 8, "complex64": 8, "complex128": 16}  # fmt: skip


def is_integer(ty: str) -> bool:
    """Return whether ``ty`` is an integer type; bool is none."""
    return ty in INTEGERS


def is_float(ty: str) -> bool:
    """Return whether ``ty`` is a real floating-point type."""
    return ty in ("float32", "float64")


def is_complex(ty: str) -> bool:
    """Return whether ``ty`` is a complex type."""
    return ty in ("complex64", "complex128")


def is_pointer(ty: str) -> bool:
    """Return whether ``ty`` is a pointer type."""
    return ty.endswith("*")


def size_of(ty: str) -> int:
    """Return the size of an element of a scalar type in bytes."""
    return _SIZES[ty]


def wrap(value: int, ty: str) -> int:
    """Return an integer wrapped around to the range of an integer type, in two's complement."""
    bits, signed = INTEGERS[ty]
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def promote(a: str, b: str) -> str:
    """Return the wider of two integer types, or int64 if neither holds all values of the other."""
    if a == b:
        return a
    (bits_a, signed_a), (bits_b, signed_b) = INTEGERS[a], INTEGERS[b]
    if signed_a == signed_b:
        return a if bits_a > bits_b else b
    # A signed type holds an unsigned one of fewer bits.
    signed, bits = (a, bits_b) if signed_a else (b, bits_a)
    return signed if INTEGERS[signed][0] > bits else "int64"
