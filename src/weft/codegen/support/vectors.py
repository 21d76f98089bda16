"""Mathematical functions of many elements at a time, by the vector functions of the C library.

The vector functions are those of glibc 2.35 and newer on x86-64 with AVX2 or AVX-512. Elsewhere the elements are
computed one by one. The result of an element does not depend on its place in an array. glibc bounds the error of its
vector functions by four units in the last place. The functions of this module were never seen to err by more than two
units in double precision, as the functions of one element do, nor by more than four in single precision, as NumPy does.
``exp``, ``sin`` and others whose vector functions err by more have no function here.
"""

from __future__ import annotations

from .floats import LIBM, REAL_1, REAL_2
from .snippet import Snippet

_ONE = (
    "exp2", "expm1", "log", "log2", "log10", "log1p", "arccos", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh",
    "cbrt",
)  # fmt: skip
_TWO = ("power",)
_AVX512_ALONE = {("expm1", "float64"), ("arccosh", "float64")}  # with AVX2 these err by more than two units

_AVAILABLE = """\
#if defined __AVX2__ && defined __GLIBC__ && defined __GNUC__ && !defined __clang__
#if __GLIBC_PREREQ(2, 35)
#ifdef __AVX512F__
#define WEFT_VECTOR_BYTES 64
#define WEFT_VECTOR_FUNCTION(avx2, avx512) avx512
#else
#define WEFT_VECTOR_BYTES 32
#define WEFT_VECTOR_FUNCTION(avx2, avx512) avx2
#endif
#endif
#endif
"""

# The elements that are left over fill a vector with ones, so that all are computed by the vector function.
_EACH = """\
/* Set y[i] = weft_{name}_{ty}({one}) for i < n. y may be a. */
static void weft_each_{name}_{ty}({params}, {T} *y, int64_t n) {{
#if {condition}
  typedef {T} vector __attribute__((vector_size(WEFT_VECTOR_BYTES)));
  extern vector WEFT_VECTOR_FUNCTION({avx2}, {avx512})({vectors});
  enum {{ LANES = WEFT_VECTOR_BYTES / sizeof({T}) }};
  int64_t i = 0;
  vector {declared};
  for (; i + LANES <= n; i += LANES) {{
{load}
    const vector found = WEFT_VECTOR_FUNCTION({avx2}, {avx512})({passed});
    __builtin_memcpy(y + i, &found, sizeof found);
  }}
  if (i < n) {{ /* the last vector is filled up with ones */
    for (int64_t l = 0; l < LANES; l++) {{
{rest}
    }}
    const vector found = WEFT_VECTOR_FUNCTION({avx2}, {avx512})({passed});
    for (int64_t l = 0; l < n - i; l++) y[i + l] = found[l];
  }}
#else
  for (int64_t i = 0; i < n; i++) y[i] = weft_{name}_{ty}({one});
#endif
}}
"""


def _each(name: str, ty: str, arity: int) -> Snippet:
    T, f = ("double", "") if ty == "float64" else ("float", "f")
    c = (LIBM | REAL_1 | REAL_2)[name]
    letters = "ab"[:arity]
    width = 4 if f else 8
    # The symbols follow the ABI of vector functions: d for AVX2 and e for AVX-512, N for unmasked, the number of lanes,
    # a v for each operand.
    text = _EACH.format(
        condition="WEFT_VECTOR_BYTES == 64" if (name, ty) in _AVX512_ALONE else "defined WEFT_VECTOR_BYTES",
        name=name,
        ty=ty,
        T=T,
        avx2=f"_ZGVdN{32 // width}{'v' * arity}_{c}{f}",
        avx512=f"_ZGVeN{64 // width}{'v' * arity}_{c}{f}",
        one=", ".join(f"{x}[i]" for x in letters),
        params=", ".join(f"const {T} *{x}" for x in letters),
        vectors=", ".join(["vector"] * arity),
        declared=", ".join(f"v{x}" for x in letters),
        load="\n".join(f"    __builtin_memcpy(&v{x}, {x} + i, sizeof v{x});" for x in letters),
        rest="\n".join(f"      v{x}[l] = l < n - i ? {x}[i + l] : 1;" for x in letters),
        passed=", ".join(f"v{x}" for x in letters),
    )
    return Snippet(text, ("weft_vectors", f"weft_{name}_{ty}"))


# All of b is one exponent. Each loop is written apart, so that vector instructions compute it.
_EACH_SCALAR_POWER = """\
static void weft_each_scalar_power_{ty}(const {T} *a, const {T} *b, {T} *y, int64_t n) {{
  const {T} by = n > 0 ? b[0] : 1;
#define WEFT_EACH(exponent) \\
  if (by == exponent) {{ \\
    for (int64_t i = 0; i < n; i++) y[i] = weft_scalar_power_{ty}(a[i], exponent); \\
    return; \\
  }}
{loops}
#undef WEFT_EACH
  weft_each_power_{ty}(a, b, y, n);
}}
"""


def _each_scalar_power(ty: str) -> Snippet:
    T = "double" if ty == "float64" else "float"
    loops = "\n".join(f"  WEFT_EACH({exponent})" for exponent in ("0.5f", 3, 4, 1, -1))
    return Snippet(
        _EACH_SCALAR_POWER.format(ty=ty, T=T, loops=loops), (f"weft_each_power_{ty}", f"weft_scalar_power_{ty}")
    )


_NAMES = [
    (name, ty, arity) for arity, names in enumerate((_ONE, _TWO), 1) for name in names for ty in ("float64", "float32")
]

MANY: dict[str, str] = {f"weft_{name}_{ty}": f"weft_each_{name}_{ty}" for name, ty, _ in _NAMES}
"""Names of functions of one element, each with the name of the function of many elements."""

SNIPPETS: dict[str, Snippet] = {"weft_vectors": Snippet(_AVAILABLE)}
SNIPPETS |= {f"weft_each_{name}_{ty}": _each(name, ty, arity) for name, ty, arity in _NAMES}

MANY |= {f"weft_scalar_power_{ty}": f"weft_each_scalar_power_{ty}" for ty in ("float64", "float32")}
SNIPPETS |= {f"weft_each_scalar_power_{ty}": _each_scalar_power(ty) for ty in ("float64", "float32")}
