"""The C prelude: what every module includes, and the support functions of which a module gets those it uses.

Every function is static; heavy headers are avoided, because a small kernel's compile time is mostly theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from ..ir.passes.polling import LongCalls
from .support import arithmetic, division, hashing, memory, polling, search, sorting, vectors
from .support.snippet import Snippet

__all__ = ["INCLUDES", "LONG", "PRELUDE", "SHARED", "prelude_text", "required"]

INCLUDES = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"


class _Prelude(Mapping[str, Snippet]):
    """Every support function by its name; those of arithmetic are written when one of their dtype is asked for."""

    structure: Mapping[str, Snippet] = {
        name: snippet
        for subject in (division, hashing, memory, polling, search, sorting, vectors)
        for name, snippet in subject.SNIPPETS.items()
    }

    def __getitem__(self, name: str) -> Snippet:
        dtype = name.rpartition("_")[2]
        known = arithmetic.of(dtype) if name not in self.structure and dtype in arithmetic.DTYPES else self.structure
        return known[name]

    def __iter__(self) -> Iterator[str]:
        return chain(self.structure, *map(arithmetic.of, arithmetic.DTYPES))

    def __len__(self) -> int:
        return sum(1 for _ in self)


PRELUDE = _Prelude()

LONG = LongCalls(
    frozenset({"weft_in_turn", "weft_order_int32", "weft_sort_int32", "weft_sort_int64"}),
    {"weft_find_int32": (1, 3), "weft_find_int64": (1, 3)},
)
"""The support functions that take long."""


SHARED = tuple(name for name, snippet in PRELUDE.structure.items() if snippet.shared)
"""The support functions of which kernels that are compiled one by one call a copy that is compiled once."""


def required(names: Iterable[str], shared: bool = False) -> list[str]:
    """Return the prelude functions ``names`` and all they depend on, dependencies first, without repetition.

    With ``shared``, what only shared functions depend on is left out.
    """
    done: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in done:
            if not (shared and PRELUDE[name].shared):
                for needed in PRELUDE[name].needs:
                    visit(needed)
            done[name] = None

    for name in names:
        visit(name)
    return list(done)


def prelude_text(names: Iterable[str], shared: bool = False) -> str:
    """Return the C text of the prelude functions ``names`` with all they depend on.

    With ``shared``, shared functions are pointers, which the loader sets.
    """
    return "\n".join(
        _pointer(name) if shared and PRELUDE[name].shared else PRELUDE[name].text for name in required(names, shared)
    )


def _pointer(name: str) -> str:
    """Return the C declaration of a pointer that is called like a function of the prelude."""
    head = re.search(rf"^static (?:inline )?(.*?){name}(\([^)]*\))", PRELUDE[name].text, re.MULTILINE)
    assert head is not None, name
    return f"{head[1]}(*{name}){' '.join(head[2].split())};\n"
