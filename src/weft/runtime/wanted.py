"""Texts of kernels that are wanted, and the file to which ``WEFT_RECORD`` appends them.

The loader needs few facts about a text to open its library: ``TextFacts``. If the index of plans has them, the text
itself is only made if the library is not there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import abi
from ..config import config
from ..doors import Door
from ..records import record, replace

if TYPE_CHECKING:
    from .. import codegen
else:
    codegen = Door("weft.codegen")


@record
class TextFacts:
    """Facts about a C text, by which its library is found."""

    digest: str  # the ``abi.digest`` of the text
    names: tuple[str, ...]  # names of the C functions that are wanted of it
    parallel: bool  # True if its kernels have loops that threads share
    shared: tuple[str, ...]  # names of the support functions that it reaches through pointers
    # The key of its entry in the cache on disk, if it has one, and a hash of the toolchain that the key is for.
    entry: str = ""
    toolchain: str = ""

    @classmethod
    def of(cls, text: str, names: tuple[str, ...]) -> TextFacts:
        """Return the facts about a text."""
        return cls(abi.digest(text), names, codegen.is_parallel(text), tuple(codegen.shared_by(text)))


class Wanted:
    """C text of which a shared object is wanted."""

    __slots__ = ("_facts", "_known", "_learn", "_source", "names", "what")

    def __init__(
        self,
        source: str | Callable[[], str],
        names: tuple[str, ...],
        what: str,
        facts: TextFacts | None = None,
        learn: Callable[[TextFacts], Any] | None = None,
    ):
        self._source, self.names, self.what, self._learn = source, names, what, learn
        self._facts = self._known = facts

    @property
    def source(self) -> str:
        """The text."""
        if callable(self._source):
            self._source = text = self._source()
            if self._facts is not None and self._facts.digest != abi.digest(text):
                self._facts = None  # they are those of another text
        return self._source

    def and_names(self, names: tuple[str, ...]) -> Wanted:
        """Return the same text, of which more functions are wanted."""
        return Wanted(self.source, (*self.names, *names), self.what)

    @property
    def facts(self) -> TextFacts:
        """The facts about the text."""
        if self._facts is None:
            self._facts = TextFacts.of(self.source, self.names)
        return self._facts

    @property
    def learns(self) -> bool:
        """True if someone waits for the facts."""
        return self._learn is not None

    def opened(self, entry: str, toolchain: str) -> None:
        """Tell who asked that the text has a library, with the key of its entry on disk; empty if it is shipped."""
        if self._learn is None:
            return
        facts = replace(self.facts, entry=entry, toolchain=toolchain) if entry else self.facts
        if facts != self._known:
            self._known = self._facts = facts
            self._learn(facts)


_noted: set[str] = set()


def note(kernel: Wanted) -> None:
    """Append a kernel to the file that ``config.record`` (``WEFT_RECORD``) names, once in a process."""
    if kernel.source in _noted:
        return
    _noted.add(kernel.source)
    found = {"abi": abi.VERSION, "what": kernel.what, "names": [*kernel.names], "source": kernel.source}
    line = json.dumps(found)
    with open(config.record, "a", encoding="utf-8") as file:
        file.write(line + "\n")
