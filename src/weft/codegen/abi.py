"""The tensor ABI, defined once: generated C and the cffi loader both read it here.

``docs/architecture.md`` says what the fields mean. A kernel is an exported function that unpacks its tensors and
hands the arrays to a static function, whose pointer parameters are ``restrict``: compilers believe the word on
parameters, and mostly ignore it on local variables. So no array that a kernel writes may overlap another array that
the same call names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from ..ir import Function, Param, Var
from .names import NameMaker, mangle
from .prelude import PRELUDE

__all__ = [
    "ASK", "COUNTS", "INTERRUPTED", "OK", "OUT_OF_MEMORY", "STRUCT", "THREADS", "VERSION", "declaration", "parameters",
    "signature", "suffix", "symbol", "unpacked",
]  # fmt: skip

VERSION = "4"
"""The version of what Python and generated C agree on; kernels of another one are not found."""

OK = 0
OUT_OF_MEMORY = 1
INTERRUPTED = 4  # threads put their codes together with a bitwise or

ASK = "weft_to_stop"
"""The exported variable of a library that asks whether to stop: a function without arguments, which the loader sets."""

STRUCT = """\
typedef struct weft_tensor {
  const int64_t *dimensions;  /* logical dimensions, in the order of the tensor's axes */
  void *const *arrays;        /* level arrays in storage order: level 1's, then level 2's, ... */
  void *vals;                 /* values */
} weft_tensor;
"""

COUNTS = Var("counts", "int64*")
THREADS = Var("threads", "int64")


def signature(arity: int) -> str:
    """The C type of a pointer to a kernel with ``arity`` tensors, as cffi's ``cast`` takes it."""
    return f"int64_t (*)({'weft_tensor *, ' * arity}int64_t *, int64_t)"


def declaration(name: str, arity: int) -> str:
    """The C declaration of the kernel called ``name`` in the IR, as cffi's ``cdef`` takes it."""
    return f"int64_t {symbol(name)}({'weft_tensor *, ' * arity}int64_t *, int64_t);"


def symbol(name: str) -> str:
    """The exported C name of the kernel called ``name`` in the IR."""
    text = f"weft_{mangle(name)}"
    return f"{text}_" if text in PRELUDE or text in ("weft_tensor", ASK) else text


def suffix(text: str) -> str:
    """Return what is put behind the names of a kernel's functions in a library of many: it tells the text.

    Examples
    --------
    >>> len(suffix("int64_t weft_evaluate(void);"))
    18
    """
    return f"_k{hashlib.sha256(f'{VERSION}:{text}'.encode()).hexdigest()[:16]}"


def parameters(function: Function) -> list[str]:
    """The C names of the tensor parameters, in order."""
    names = NameMaker()
    return [names.fresh(param.name) for param in function.params]


def unpacked(param: Param, c_name: str) -> Iterator[tuple[Var, str, bool]]:
    """Each local of ``param`` with the C expression it comes from, and whether it is written through.

    The expression lacks the cast from ``void *``.
    """
    for position, dimension in enumerate(param.dimensions):
        yield dimension, f"{c_name}->dimensions[{position}]", False
    for position, array in enumerate(param.arrays):
        yield array, f"{c_name}->arrays[{position}]", param.output
    yield param.vals, f"{c_name}->vals", param.output
