"""The C prelude: what every module includes, and the support functions of which a module gets those it uses.

Every function is static; heavy headers are avoided, because a small kernel's compile time is mostly theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from ..ir import LongCalls
from .support import arithmetic, division, hashing, memory, polling, search, sorting, vectors
from .support.snippet import Snippet

__all__ = ["INCLUDES", "LONG", "PRELUDE", "prelude_text", "required"]

INCLUDES = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"


class _Prelude(Mapping[str, Snippet]):
    """Every support function by its name; those of arithmetic are written when one of their dtype is asked for."""

    _structure: Mapping[str, Snippet] = {
        name: snippet
        for subject in (division, hashing, memory, polling, search, sorting, vectors)
        for name, snippet in subject.SNIPPETS.items()
    }

    def __getitem__(self, name: str) -> Snippet:
        dtype = name.rpartition("_")[2]
        known = arithmetic.of(dtype) if name not in self._structure and dtype in arithmetic.DTYPES else self._structure
        return known[name]

    def __iter__(self) -> Iterator[str]:
        return chain(self._structure, *map(arithmetic.of, arithmetic.DTYPES))

    def __len__(self) -> int:
        return sum(1 for _ in self)


PRELUDE = _Prelude()

LONG = LongCalls(
    frozenset({"weft_in_turn", "weft_order_int32", "weft_sort_int32", "weft_sort_int64"}),
    {"weft_find_int32": (1, 3), "weft_find_int64": (1, 3)},
)
"""The support functions that take long."""


def required(names: Iterable[str]) -> list[str]:
    """The prelude functions ``names`` and all they depend on, dependencies first, without repetition."""
    done: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in done:
            for needed in PRELUDE[name].needs:
                visit(needed)
            done[name] = None

    for name in names:
        visit(name)
    return list(done)


def prelude_text(names: Iterable[str]) -> str:
    """The C text of the prelude functions ``names`` with all they depend on."""
    return "\n".join(PRELUDE[name].text for name in required(names))
