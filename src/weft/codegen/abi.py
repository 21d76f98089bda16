"""Tensor ABI, defined once for the printer of C and for the loader.

``docs/development/architecture.md`` explains the fields. A kernel is an exported function that unpacks its tensors
and passes the arrays to a static function, whose pointer parameters are ``restrict``. Compilers make use of
``restrict`` on parameters and mostly ignore it on local variables. So no array that a kernel writes may overlap another
array of the same call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from ..ir import Function, Param, Var
from .names import NameMaker, mangle
from .prelude import PRELUDE
from .support.threads import POINTERS

__all__ = [
    "ASK", "COUNTS", "FORKED", "INTERRUPTED", "OK", "OUT_OF_MEMORY", "STRUCT", "THREADS", "VERSION", "declaration",
    "parameters", "signature", "suffix", "symbol", "unpacked",
]  # fmt: skip

VERSION = "5"
"""Version of the interface between Python and generated C. Kernels of another version are not found."""

OK = 0
OUT_OF_MEMORY = 1
INTERRUPTED = 4  # the codes of threads are combined by a bitwise or
FORKED = 8  # the handler of a signal forked this process in the middle of a parallel loop

ASK = "weft_to_stop"
"""Name of a pointer that libraries export and the loader sets: it points to a function that asks whether to stop."""

STRUCT = """\
/* A tensor stores its coordinates level by level. Below, A2_pos and A2_crd are arrays of level 2 of A: the children of
   position p of level 1 are the positions from A2_pos[p] up to A2_pos[p + 1], whose coordinates are in A2_crd. pA2 is a
   position of level 2, A_vals are the values, and A2_dim is the size of axis 2. */
typedef struct weft_tensor {
  const int64_t *dimensions;  /* sizes of the axes */
  void *const *arrays;        /* arrays of the levels: those of level 1, then those of level 2, ... */
  void *vals;                 /* values */
} weft_tensor;
"""

COUNTS = Var("counts", "int64*")
THREADS = Var("threads", "int64")


def signature(arity: int) -> str:
    """Return the C type of a pointer to a kernel, as ``cast`` of cffi takes it.

    Parameters
    ----------
    arity : int
        The number of tensors.
    """
    return f"int64_t (*)({'weft_tensor *, ' * arity}int64_t *, int64_t)"


def declaration(name: str, arity: int) -> str:
    """Return the C declaration of a kernel, as ``cdef`` of cffi takes it.

    Parameters
    ----------
    name : str
        The name of the kernel in the IR.
    arity : int
        The number of tensors.
    """
    return f"int64_t {symbol(name)}({'weft_tensor *, ' * arity}int64_t *, int64_t);"


def symbol(name: str) -> str:
    """Return the exported C name of a kernel.

    Parameters
    ----------
    name : str
        The name of the kernel in the IR.
    """
    # Kernels must not have the names of support functions.
    text = f"weft_{mangle(name)}"
    return f"{text}_" if text in PRELUDE or text in ("weft_tensor", ASK) or text in POINTERS else text


def suffix(text: str) -> str:
    """Return the suffix of the names of a kernel's functions in a library of many kernels.

    The suffix is a hash of the text of the kernel and of ``VERSION``.

    Parameters
    ----------
    text : str
        The C text of the kernel.

    Examples
    --------
    >>> len(suffix("int64_t weft_evaluate(void);"))
    18
    """
    return f"_k{hashlib.sha256(f'{VERSION}:{text}'.encode()).hexdigest()[:16]}"


def parameters(function: Function) -> list[str]:
    """Return the C names of the tensor parameters of a function, in order.

    Parameters
    ----------
    function : Function
        The function.
    """
    names = NameMaker()
    return [names.fresh(param.name) for param in function.params]


def unpacked(param: Param, c_name: str) -> Iterator[tuple[Var, str, bool]]:
    """Yield each local variable of ``param``, the C expression of its value, and whether its array is written.

    Parameters
    ----------
    param : Param
        The tensor parameter.
    c_name : str
        The C name of the parameter.

    Yields
    ------
    tuple of (Var, str, bool)
        The variable, the C expression without the cast from ``void *``, and true if the array is written.
    """
    for position, dimension in enumerate(param.dimensions):
        yield dimension, f"{c_name}->dimensions[{position}]", False
    for position, array in enumerate(param.arrays):
        yield array, f"{c_name}->arrays[{position}]", param.output
    yield param.vals, f"{c_name}->vals", param.output
