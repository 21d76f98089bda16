"""Runs of expressions without compiling, which record the kernels that they need."""

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
    """Exception for a kernel that is not compiled yet."""


class Recorder:
    """A replacement of the loader, which records missing kernels instead of compiling them.

    Attributes
    ----------
    texts : dict
        The description of each requested text.
    libraries : dict
        The library of each text that is compiled.
    """

    def __init__(self) -> None:
        self.texts: dict[CText, str] = {}
        self.libraries: dict[CText, Library] = {}

    def open_all(self, texts: Sequence[Wanted]) -> list[Library]:
        """Return the libraries of texts, and record the texts.

        Parameters
        ----------
        texts : sequence of Wanted
            The requested texts, with their descriptions.

        Raises
        ------
        Missing
            When a text is not compiled.
        """
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
        """Texts that were requested and are not compiled."""
        return [text for text in self.texts if text not in self.libraries]

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Replace the loader's function for opening libraries by this recorder's inside a ``with`` block."""
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
        The properties of the tensors that the expressions are run for.
    compile : callable
        A function that compiles texts and returns the library of each. Expressions that need a text without a library
        are left out.
    rounds : int
        The largest number of runs of an expression.

    Returns
    -------
    dict
        A description of the computation of each compiled text.
    """
    recorder, pending = Recorder(), [(kind, line) for kind in kinds for line in EXPRESSIONS.splitlines() if line]
    spaces: dict[Operands, Any] = {}
    with recorder.installed(), warnings.catch_warnings(), config.override(memory_pool=0):
        warnings.simplefilter("ignore")
        for _ in range(rounds):
            # Making the operands may need kernels itself.
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
            # All kernels that the expressions stopped at are compiled together, and only these expressions run again.
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
    # An expression that is invalid for these tensors needs no kernel: subtraction of booleans, or a matrix that is too
    # large for an array.
    with contextlib.suppress(WeftError, TypeError, ValueError, IndexError, AttributeError, MemoryError):
        eval(line, dict(space))
