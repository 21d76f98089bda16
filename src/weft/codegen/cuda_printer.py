"""Printing of kernels of the IR as CUDA C++, which NVRTC compiles without any header.

The text is also C++ for a CPU below the text of ``codegen/support/emulator.h``, which runs threads in turns.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Mapping
from functools import cache

from ..ir import For, Stmt, Var, free_variables
from ..ir.types import is_pointer
from .c_expressions import Expressions
from .names import NameMaker
from .prelude import PRELUDE, required
from .statements import Statements, filled
from .support.snippet import Snippet, fixed, parts
from .types import type_name

BLOCK = 256
"""Threads in a block."""

_HEAD = """\
#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define WEFT_KERNEL(NAME) extern "C" __global__ void __launch_bounds__(256) NAME
#define WEFT_EMULATED(NAME)
#define WEFT_NAN __longlong_as_double(0x7ff8000000000000ll)
#define WEFT_INFINITY __longlong_as_double(0x7ff0000000000000ll)
#endif
"""
_BUILT_IN = {"clzll": "__clzll"}
_LIMITS = {
    "INT32_MIN": "(-2147483647 - 1)",
    "INT32_MAX": "2147483647",
    "INT64_MIN": "(-9223372036854775807ll - 1)",
    "INT64_MAX": "9223372036854775807ll",
}
_WORDS = """
    lane team teams threadIdx blockIdx blockDim gridDim warpSize class template typename this new delete private public
    protected namespace using virtual operator friend mutable try catch throw explicit export and or not xor bitand
    bitor compl and_eq or_eq xor_eq not_eq wchar_t char8_t char16_t char32_t concept requires decltype noexcept typeid
    dynamic_cast static_cast reinterpret_cast const_cast half emulated
"""
_TAKEN = frozenset(_WORDS.split())


@cache
def _device_functions() -> Mapping[str, Snippet]:
    words = {"int32": "unsigned", "int64": "unsigned long long", "float32": "unsigned", "float64": "unsigned long long"}
    part = parts("device")["weft_scatter_NAME_TYPE"]
    extremes: dict[str, Snippet] = {}
    for dtype, word in words.items():
        for name in ("minimum", "maximum"):
            extremes |= part.filled(dtype, {"NAME": name, "WORD": word})
    return fixed("device") | extremes


class CudaKernel(Statements):
    """CUDA text of one kernel, in ``text``, and the variables that it takes, in ``arguments``."""

    def __init__(self, name: str, body: Stmt, lanes: int):
        self.name = name
        names = NameMaker(_TAKEN)
        for number in ("lane", "team", "teams"):
            names.keep(number)
        functions = ChainMap(dict(_device_functions()), PRELUDE)  # type: ignore[arg-type]
        super().__init__(body, names, Expressions(names.name, functions))
        free = free_variables(body)
        special = [n for n in ("lane", "team", "teams") if free.pop(n, None) is not None]
        self.arguments = tuple(free.values())
        params = [self._parameter(v) for v in self.arguments]
        share = f" / {lanes}" if lanes > 1 else ""
        values = {
            "lane": f"threadIdx.x % {lanes}",
            "team": f"((int64_t)blockIdx.x * blockDim.x + threadIdx.x){share}",
            "teams": f"(int64_t)gridDim.x * (blockDim.x{share})" if share else "(int64_t)gridDim.x * blockDim.x",
        }
        lines = [f"  const int64_t {n} = {values[n]};" for n in special]
        head = filled("", f"WEFT_KERNEL({name})(", params, ") {")
        self.text = "\n".join([head, *lines, *self._stmt(body, 1), "}", f"WEFT_EMULATED({name})", ""])

    def _parameter(self, var: Var) -> str:
        name = self.names.name(var.name)
        if not is_pointer(var.ty):
            return f"{type_name(var.ty)} {name}"
        return f"{'' if self._writable(var) else 'const '}{type_name(var.ty)}__restrict__ {name}"

    def _loop(self, stmt: For, depth: int) -> list[str]:
        # Elements of an array that is spread stay in registers if the loop over them is unrolled.
        return ["#pragma unroll", *super()._loop(stmt, depth)] if stmt.unroll else super()._loop(stmt, depth)


def cuda_text(kernels: Iterable[CudaKernel]) -> str:
    """Return the complete text of kernels, with the functions that they call."""
    kernels = list(kernels)
    functions = ChainMap(dict(_device_functions()), PRELUDE)  # type: ignore[arg-type]
    names = required((name for kernel in kernels for name in kernel.calls if name in functions), functions=functions)
    parts = [_HEAD, *(_for_device(functions[name].text) for name in names), *(_spelled(k.text) for k in kernels)]
    return "\n".join(parts)


def _for_device(text: str) -> str:
    """Return the text of a support function of C as one of a device."""
    text = re.sub(r"^#pragma omp .*\n", "", text, flags=re.MULTILINE)
    return _spelled(re.sub(r"^static (inline )?", "static __device__ inline ", text, flags=re.MULTILINE))


def _spelled(text: str) -> str:
    """Return a text in which functions that compilers for CPUs know have the names that CUDA has for them."""
    text = re.sub(r'__builtin_nan(f?)\(""\)', lambda m: "(float)WEFT_NAN" if m[1] else "WEFT_NAN", text)
    text = re.sub(r"__builtin_inf(f?)\(\)", lambda m: "(float)WEFT_INFINITY" if m[1] else "WEFT_INFINITY", text)
    text = re.sub(r"\bINT(32|64)_(MIN|MAX)\b", lambda m: _LIMITS[m[0]], text)
    return re.sub(r"\b__builtin_(\w+)\(", lambda m: f"{_BUILT_IN.get(m[1], m[1])}(", text)
