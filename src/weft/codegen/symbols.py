"""C names of kernels and of the arrays of their tensors (see ``abi.py`` for what callers agree on with them).

A kernel is an exported function that unpacks its tensors and passes the arrays to a static function, whose pointer
parameters are ``restrict``. Compilers make use of ``restrict`` on parameters and mostly ignore it on local variables.
So no array that a kernel writes may overlap another array of the same call.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import abi
from ..abi import ASK, POINTERS
from ..ir import Function, Param, Var
from .names import NameMaker, mangle
from .prelude import PRELUDE

COUNTS = Var("counts", "int64*")
THREADS = Var("threads", "int64")


def declaration(name: str, arity: int) -> str:
    """Return the C declaration of a kernel, as ``cdef`` of cffi takes it."""
    return f"int64_t {symbol(name)}({'weft_tensor *, ' * arity}int64_t *, int64_t);"


def symbol(name: str) -> str:
    """Return the exported C name of a kernel."""
    # Kernels must not have the names of support functions.
    text = f"weft_{mangle(name)}"
    return f"{text}_" if text in PRELUDE or text in ("weft_tensor", ASK) or text in POINTERS else text


def suffix(text: str) -> str:
    """Return the suffix of the names of a kernel's functions in a library of many kernels, given its C text."""
    return abi.suffix(abi.digest(text))


def parameters(function: Function) -> list[str]:
    """Return the C names of the tensor parameters of a function, in order."""
    names = NameMaker()
    return [names.fresh(param.name) for param in function.params]


def unpacked(param: Param, c_name: str) -> Iterator[tuple[Var, str, bool]]:
    """Yield each local variable of ``param``, the C expression of its value, and whether its array is written."""
    for position, dimension in enumerate(param.dimensions):
        yield dimension, f"{c_name}->dimensions[{position}]", False
    for position, array in enumerate(param.arrays):
        yield array, f"{c_name}->arrays[{position}]", param.output
    yield param.vals, f"{c_name}->vals", param.output
