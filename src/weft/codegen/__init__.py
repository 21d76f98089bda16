"""IR to C: the tensor ABI, names, the printer and the prelude; the last two are imported when C is first printed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..config import config
from ..ir import Function, in_batches, read_ahead, with_fused_sums, with_polls, with_reciprocals
from .abi import ASK, INTERRUPTED, OK, OUT_OF_MEMORY, STRUCT, declaration, signature, symbol
from .names import NameMaker, mangle

__all__ = [
    "ASK",
    "INTERRUPTED",
    "OK",
    "OUT_OF_MEMORY",
    "STRUCT",
    "NameMaker",
    "declaration",
    "emit_library",
    "emit_module",
    "mangle",
    "signature",
    "symbol",
]


def emit_module(functions: Sequence[Function], *, fuse: bool = True) -> str:
    """C text that stands alone and exports one kernel for each function, called ``abi.symbol(function.name)``.

    It compiles with ``cc -O3 -march=native -ffp-contract=off -fopenmp -fwrapv -std=gnu11 -shared -fPIC``, linked with
    ``-lm``; without ``-fopenmp`` it means the same on one thread. Products that are added to a sum are rounded with it
    if ``fuse``, else before.
    """
    from .c_printer import print_function
    from .prelude import INCLUDES, LONG, PRELUDE, prelude_text
    from .support.vectors import MANY

    many = MANY if config.vector_functions else {}
    last = [with_polls(read_ahead(in_batches(with_reciprocals(function), many)), LONG) for function in functions]
    last = [with_fused_sums(function) for function in last] if fuse else last
    printed = [print_function(function) for function in last]
    calls = {name: None for one in printed for name in one.calls}
    headers = "" if all(name in PRELUDE for name in calls) else "#include <math.h>\n"
    support = prelude_text(name for name in calls if name in PRELUDE)
    parts = [
        INCLUDES + headers,
        STRUCT,
        *([support] if support else []),
        *(one.text for one in printed),
    ]
    return "\n".join(parts)


def emit_library(names: Iterable[str]) -> str:
    """C text that stands alone and exports the prelude functions ``names``, for calling them from Python."""
    from .prelude import INCLUDES, PRELUDE, required

    exported = list(names)
    parts = [INCLUDES]
    for name in required(exported):
        text = PRELUDE[name].text
        if name in exported:
            text = re.sub(rf"^static (inline )?(?=[^\n]*\b{name}\()", "", text, count=1, flags=re.MULTILINE)
        parts.append(text)
    return "\n".join(parts)
