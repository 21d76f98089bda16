"""C identifiers of the names of the IR. Equal input gives equal identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

# Words of C, macros of its headers, macros of compilers, and the parameters that each kernel has (counts, threads).
_KEYWORDS = """
    alignas alignof auto bool break case char const constexpr continue default do double else enum extern false
    float for goto if inline int long nullptr register restrict return short signed sizeof static static_assert
    struct switch thread_local true typedef typeof typeof_unqual union unsigned void volatile while asm complex
    imaginary I NULL EOF INFINITY NAN HUGE_VAL HUGE_VALF HUGE_VALL errno offsetof size_t ssize_t ptrdiff_t
    wchar_t max_align_t va_list linux unix i386 main stdin stdout stderr math_errhandling signgam counts threads
"""
_MATH = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 exp10 expm1 fabs fdim
    floor fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2
    logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn
    significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn drem finite isinf isnan isfinite isnormal
    signbit fpclassify isgreater isless isunordered cabs cacos cacosh carg casin casinh catan catanh ccos ccosh
    cexp cimag clog conj cpow cproj creal csin csinh csqrt ctan ctanh CMPLX CMPLXF
"""
_LIBRARY = """
    abort abs alloca assert atexit bcmp bcopy bsearch bzero calloc div exit ffs free getenv index labs llabs
    ldiv lldiv malloc memchr memcmp memcpy memmove memset mmap munmap madvise printf putchar puts qsort rand
    random realloc rindex scanf signal sprintf snprintf srand strcat strchr strcmp strcpy strlen strncmp strstr
    system time
"""
_RESERVED = frozenset(f"{_KEYWORDS}{_LIBRARY}{_MATH}".split()) | {
    name + suffix for name in _MATH.split() for suffix in "fl"
}
# Forms of names that C, its headers, OpenMP or weft reserve.
_PATTERNS = re.compile(
    r"_|weft_|u?int(_least|_fast)?\d+_t$|u?int(ptr|max)_t$|U?INT\w*_(MIN|MAX|C|WIDTH)$|M_|(omp|GOMP|FP|FE|MADV|PROT|MAP)_"
)
_ILLEGAL = re.compile(r"[^A-Za-z0-9_]")


@lru_cache(maxsize=4096)
def mangle(name: str) -> str:
    """Return a legal C identifier for a name: the name itself if it is an identifier and not reserved.

    Examples
    --------
    >>> mangle("B2_pos"), mangle("α"), mangle("int"), mangle("_x"), mangle("2nd")
    ('B2_pos', 'u3b1', 'int_', 'v_x', 'v2nd')
    """
    # Characters that C does not allow become their code points; a prefix avoids digits and underscores at the start.
    text = _ILLEGAL.sub(lambda m: f"u{ord(m[0]):x}", name)
    if not text or text[0] == "_" or text[0].isdigit():
        text = "v" + text
    if _PATTERNS.match(text):
        text = "v_" + text
    return text + "_" if text in _RESERVED else text


class NameMaker:
    """Maker of unique legal C identifiers.

    Examples
    --------
    >>> names = NameMaker(taken=["x"])
    >>> names.fresh("x"), names.fresh("x"), names.name("exp"), names.name("exp")
    ('x_1', 'x_2', 'exp_', 'exp_')
    """

    def __init__(self, taken: Iterable[str] = ()):
        self._taken = set(taken)
        self._given: dict[str, str] = {}

    def fresh(self, name: str) -> str:
        """Return a new identifier that resembles ``name``."""
        base = text = mangle(name)
        count = 0
        while text in self._taken:
            count += 1
            text = f"{base}_{count}"
        self._taken.add(text)
        return text

    def name(self, key: str, like: str | None = None) -> str:
        """Return the identifier of ``key``, which the first call makes from ``like``, by default from ``key``."""
        identifier = self._given.get(key)
        if identifier is None:
            identifier = self._given[key] = self.fresh(like or key)
        return identifier

    def keep(self, name: str) -> None:
        """Make ``name`` its own identifier, even if it is reserved."""
        self._given[name] = name
        self._taken.add(name)
