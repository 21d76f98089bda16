"""Printing of the IR as C: the tensor ABI, names, the printer and the prelude."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..abi import ASK, INTERRUPTED, OK, OUT_OF_MEMORY, POINTERS, STRUCT, signature
from ..ir import Function
from .c_printer import print_function
from .names import NameMaker, mangle
from .prelude import INCLUDES, PRELUDE, SHARED, pool_text, prelude_text, required
from .symbols import declaration, suffix, symbol

__all__ = [
    "ASK",
    "INTERRUPTED",
    "OK",
    "OUT_OF_MEMORY",
    "POINTERS",
    "STRUCT",
    "CText",
    "NameMaker",
    "declaration",
    "emit_bundle",
    "emit_library",
    "emit_pool",
    "is_parallel",
    "mangle",
    "print_module",
    "shared_by",
    "signature",
    "suffix",
    "symbol",
]


class CText(str):
    """C text of a complete file with the IR that it was printed from, so that several can be printed into one file."""

    __slots__ = ("exported", "functions")
    functions: tuple[Function, ...]  # the IR of its kernels after the last pass
    exported: tuple[str, ...]  # the names of the support functions that it exports, if it has no kernels

    @classmethod
    def of(cls, text: str, functions: Sequence[Function] = (), exported: Sequence[str] = ()) -> CText:
        made = cls(text)
        made.functions, made.exported = tuple(functions), tuple(exported)
        return made


def print_module(functions: Sequence[Function], *, shared: bool = False) -> CText:
    """Return C text that exports one kernel for each function, called ``abi.symbol(function.name)``.

    The text compiles with ``cc -O3 -march=... -ffp-contract=off -fopenmp-simd -fwrapv -std=gnu11 -shared -fPIC``,
    linked with ``-lm``. The kernels run on one thread until their pointers to a pool of threads are set. If ``shared``,
    support functions that take long to compile are pointers, too.
    """
    return CText.of(_file([(function, "") for function in functions], shared), functions)


def emit_bundle(texts: Iterable[CText]) -> str:
    """Return several texts as one text, in which the support functions that they have in common are there once."""
    return _file([(function, suffix(text)) for text in texts for function in text.functions])


def shared_by(source: str) -> list[str]:
    """Return the names of the support functions to which the loader must set pointers in the library of a C text."""
    return [name for name in SHARED if f"(*{name})(" in source]


def is_parallel(source: str) -> bool:
    """Return whether kernels of a C text have loops that threads share, which need a pool of threads."""
    return "weft_parallel(" in source


def _file(functions: Sequence[tuple[Function, str]], shared: bool = False) -> str:
    """Return the C text of a file with functions, each given with the suffix of its names, and all that they need."""
    printed = [print_function(function, end) for function, end in functions]
    calls = {name: None for one in printed for name in one.calls}
    # math.h is included only for functions of libm that are called by name, since it takes long to compile.
    headers = "" if all(name in PRELUDE for name in calls) else "#include <math.h>\n"
    support = prelude_text((name for name in calls if name in PRELUDE), shared)
    parts = [INCLUDES + headers, STRUCT, *([support] if support else []), *(one.text for one in printed)]
    return "\n".join(parts)


def emit_library(names: Iterable[str]) -> CText:
    """Return C text of a complete file that exports prelude functions, which Python can then call."""
    exported = list(names)
    parts = [INCLUDES]
    for name in required(exported):
        text = PRELUDE[name].text
        if name in exported:  # without ``static`` the function is visible in the library
            text = re.sub(rf"^static (inline )?(?=[^\n]*\b{name}\()", "", text, count=1, flags=re.MULTILINE)
        parts.append(text)
    return CText.of("\n".join(parts), exported=exported)


def emit_pool() -> CText:
    """Return C text of a complete file that exports the functions of the pool of threads."""
    return CText.of(f"#define _GNU_SOURCE\n{INCLUDES}\n{pool_text()}", exported=tuple(POINTERS.values()))
