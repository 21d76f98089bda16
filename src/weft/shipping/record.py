"""Running expressions with compiling put off, to learn which kernels they need."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..codegen import CText
from ..config import config
from ..errors import WeftError
from ..runtime import loader
from ..runtime.loader import Wanted
from ..runtime.objects import Library
from .expressions import EXPRESSIONS, Operands, names

__all__ = ["Missing", "Recorder", "record_all"]


class Missing(Exception):
    """A kernel that is not compiled yet."""


class Recorder:
    """Takes the place of the loader: kernels that are not there are noted, and none is compiled.

    Attributes
    ----------
    texts : dict
        The words for each text that was asked for.
    libraries : dict
        The library in which each text is, for those that are compiled.
    """

    def __init__(self) -> None:
        self.texts: dict[CText, str] = {}
        self.libraries: dict[CText, Library] = {}

    def open_all(self, texts: Sequence[Wanted]) -> list[Library]:
        """Return the libraries of texts, or note that some are missing."""
        found = []
        for text in texts:
            assert isinstance(text.source, CText)
            self.texts.setdefault(text.source, text.what)
            if text.source in self.libraries:
                found.append(self.libraries[text.source])
        if len(found) < len(texts):
            raise Missing(", ".join(text.what for text in texts))
        return found

    @property
    def missing(self) -> list[CText]:
        """The texts that were asked for and are not compiled."""
        return [text for text in self.texts if text not in self.libraries]

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Have all kernels asked for here, inside a ``with`` block."""
        own, loader.open_all = loader.open_all, self.open_all
        loader.forget()
        try:
            yield
        finally:
            loader.open_all = own
            loader.forget()


def record_all(
    kinds: Iterable[Operands], compile: Callable[[Sequence[CText]], Mapping[CText, Library]], rounds: int = 40
) -> dict[CText, str]:
    """Run all expressions until no kernel is missing.

    Parameters
    ----------
    kinds : iterable of Operands
        What they are run for.
    compile : callable
        Compiles texts, and gives the library of each. What needs a text without one is left out.
    rounds : int
        How often an expression is run at most.

    Returns
    -------
    dict
        The words for what each text computes.
    """
    recorder, pending = Recorder(), [(kind, line) for kind in kinds for line in EXPRESSIONS.splitlines() if line]
    spaces: dict[Operands, Any] = {}
    with recorder.installed(), warnings.catch_warnings(), config.override(memory_pool=0):
        warnings.simplefilter("ignore")
        for _ in range(rounds):
            for kind in dict.fromkeys(kind for kind, _ in pending if kind not in spaces):
                with contextlib.suppress(Missing):
                    spaces[kind] = names(kind)
            later = []
            for kind, line in pending:
                try:
                    if kind not in spaces:
                        raise Missing
                    _run(line, spaces[kind])
                except Missing:
                    later.append((kind, line))
            wanted = recorder.missing
            if not wanted:
                break
            made = compile(wanted)
            if not made:
                break
            recorder.libraries |= made
            pending = later
    return {text: what for text, what in recorder.texts.items() if text in recorder.libraries}


def _run(line: str, space: Any) -> None:
    # What these tensors cannot do needs no kernel: - of booleans, a matrix that is too large for an array.
    with contextlib.suppress(WeftError, TypeError, ValueError, IndexError, AttributeError, MemoryError):
        eval(line, dict(space))
