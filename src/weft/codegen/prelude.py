"""C prelude: the headers that each module includes, and support functions, of which a module has those that it uses.

Support functions are static. Large headers are avoided, because they take most of the time to compile a small kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from ..ir.passes.polling import LongCalls
from .support import arithmetic, hashing, vectors
from .support.snippet import Snippet, fixed, resource

_SUBJECTS = ("division", "hashing", "masks", "memory", "polling", "search", "sorting", "threads", "vectors")
INCLUDES = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"


class _Prelude(Mapping[str, Snippet]):
    """Mapping of names to support functions. The arithmetic functions of a dtype are made on the first use of one."""

    structure: Mapping[str, Snippet] = {
        **{name: snippet for subject in _SUBJECTS for name, snippet in fixed(subject).items()},
        **hashing.functions(),
        **vectors.functions(),
    }

    def __getitem__(self, name: str) -> Snippet:
        # Names of arithmetic functions end in a dtype; so do some names of structure functions, which come first.
        dtype = name.rpartition("_")[2]
        known = arithmetic.of(dtype) if name not in self.structure and dtype in arithmetic.DTYPES else self.structure
        return known[name]

    def __iter__(self) -> Iterator[str]:
        return chain(self.structure, *map(arithmetic.of, arithmetic.DTYPES))

    def __len__(self) -> int:
        return sum(1 for _ in self)


PRELUDE = _Prelude()

LONG = LongCalls(
    frozenset({"weft_order_int32", "weft_sort_int32", "weft_sort_int64"}),
    {"weft_find_int32": (1, 3), "weft_find_int64": (1, 3)},
)
"""Support functions whose calls may take long."""


SHARED = tuple(name for name, snippet in PRELUDE.structure.items() if snippet.shared)
"""Support functions that are compiled once, and that kernels which are compiled one by one call through pointers."""


def required(names: Iterable[str], shared: bool = False, functions: Mapping[str, Snippet] = PRELUDE) -> list[str]:
    """Return the names of functions and of all that they need; if ``shared``, not what only shared ones need."""
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in order:
            if not (shared and functions[name].shared):
                for needed in functions[name].needs:
                    visit(needed)
            order[name] = None

    for name in names:
        visit(name)
    return list(order)


def prelude_text(names: Iterable[str], shared: bool = False) -> str:
    """Return the C text of prelude functions and of all that they need, with pointers to shared ones if ``shared``."""
    return "\n".join(
        _pointer(name) if shared and PRELUDE[name].shared else PRELUDE[name].text for name in required(names, shared)
    )


def pool_text() -> str:
    """Return the C text of the pool of threads, after the headers that every file includes."""
    return f"{PRELUDE['weft_take'].text}\n{resource('thread_pool.c')}"


def _pointer(name: str) -> str:
    """Return the C declaration of a pointer that has the name and the type of a function of the prelude."""
    head = re.search(rf"^static (?:inline )?(.*?){name}(\([^)]*\))", PRELUDE[name].text, re.MULTILINE)
    assert head is not None, name
    return f"{head[1]}(*{name}){' '.join(head[2].split())};\n"
