"""IR to C: the tensor ABI, names, the printer and the prelude."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..config import config
from ..ir import Function
from ..ir.passes.fused_sums import with_fused_sums
from ..ir.passes.polling import with_polls
from ..ir.passes.prefetch_streams import prefetch_memory
from ..ir.passes.reciprocals import divide_by_reciprocals
from ..ir.passes.vector_math import batch_math_calls
from .abi import ASK, INTERRUPTED, OK, OUT_OF_MEMORY, STRUCT, declaration, signature, suffix, symbol
from .c_printer import print_function
from .names import NameMaker, mangle
from .prelude import INCLUDES, LONG, PRELUDE, SHARED, prelude_text, required
from .support.vectors import MANY

__all__ = [
    "ASK",
    "INTERRUPTED",
    "OK",
    "OUT_OF_MEMORY",
    "STRUCT",
    "CText",
    "NameMaker",
    "declaration",
    "emit_bundle",
    "emit_library",
    "mangle",
    "print_module",
    "shared_by",
    "signature",
    "suffix",
    "symbol",
]


class CText(str):
    """C text that stands alone, with what it was printed from: several can be printed into one file.

    Attributes
    ----------
    functions : tuple of Function
        The IR of its kernels, as it is printed.
    exported : tuple of str
        The support functions that it exports, where it has no kernels.
    """

    __slots__ = ("exported", "functions")
    functions: tuple[Function, ...]
    exported: tuple[str, ...]

    @classmethod
    def of(cls, text: str, functions: Sequence[Function] = (), exported: Sequence[str] = ()) -> CText:
        made = cls(text)
        made.functions, made.exported = tuple(functions), tuple(exported)
        return made


def print_module(functions: Sequence[Function], *, fuse: bool = True, shared: bool = False) -> CText:
    """Return C text that exports one kernel for each function, called ``abi.symbol(function.name)``.

    It compiles with ``cc -O3 -march=... -ffp-contract=off -fopenmp -fwrapv -std=gnu11 -shared -fPIC``, linked with
    ``-lm``; without ``-fopenmp`` it means the same on one thread.

    Parameters
    ----------
    functions : sequence of Function
        The IR.
    fuse : bool
        Whether products that are added to a sum are rounded with it, else before.
    shared : bool
        True for pointers in place of the support functions that take long to compile, for the loader to set
        (``shared_by``); else the text stands alone.
    """
    many = MANY if config.vector_functions else {}
    last = [
        with_polls(prefetch_memory(batch_math_calls(divide_by_reciprocals(function), many)), LONG)
        for function in functions
    ]
    last = [with_fused_sums(function) for function in last] if fuse else last
    return CText.of(_file([(function, "") for function in last], shared), last)


def emit_bundle(texts: Iterable[CText]) -> str:
    """Print several texts into one, whose kernels have ``abi.suffix`` of their texts behind their names.

    What they share of the prelude is there once.
    """
    return _file([(function, suffix(text)) for text in texts for function in text.functions])


def shared_by(source: str) -> list[str]:
    """Return the names of the support functions to which pointers are to be set in the library of a C text."""
    return [name for name in SHARED if f"(*{name})(" in source]


def _file(functions: Sequence[tuple[Function, str]], shared: bool = False) -> str:
    """Print functions, with what is put behind the names of each, and all that they need."""
    printed = [print_function(function, end) for function, end in functions]
    calls = {name: None for one in printed for name in one.calls}
    headers = "" if all(name in PRELUDE for name in calls) else "#include <math.h>\n"
    support = prelude_text((name for name in calls if name in PRELUDE), shared)
    parts = [INCLUDES + headers, STRUCT, *([support] if support else []), *(one.text for one in printed)]
    return "\n".join(parts)


def emit_library(names: Iterable[str]) -> CText:
    """C text that stands alone and exports the prelude functions ``names``, for calling them from Python."""
    exported = list(names)
    parts = [INCLUDES]
    for name in required(exported):
        text = PRELUDE[name].text
        if name in exported:
            text = re.sub(rf"^static (inline )?(?=[^\n]*\b{name}\()", "", text, count=1, flags=re.MULTILINE)
        parts.append(text)
    return CText.of("\n".join(parts), exported=exported)
