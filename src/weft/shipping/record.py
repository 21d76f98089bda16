"""Runs of expressions without compiling, which record the kernels that they need."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..codegen import CText
from ..config import config
from ..errors import WeftError
from ..execution.plan_cache import plans
from ..records import replace
from ..runtime import loader, plan_index
from ..runtime.loader import Wanted
from ..runtime.objects import Library
from .expressions import Operands, Run, names


class Missing(Exception):
    """Exception for a kernel that is not compiled yet."""


class Recorder:
    """A replacement of the loader, which records missing kernels instead of compiling them."""

    def __init__(self) -> None:
        self.texts: dict[CText, str] = {}
        self.libraries: dict[CText, Library] = {}
        self.pending: list[Run] = []
        self.answers: dict[str, str] = {}
        self._sources: dict[str, CText] = {}  # by their digests

    def open_all(self, texts: Sequence[Wanted]) -> list[Library]:
        """Return the libraries of texts, and record the texts."""
        sources = [self._source(text) for text in texts]
        if any(source not in self.libraries for source in sources):
            for text in texts:  # their facts are in the index from now on, so that no loops are planned again for them
                text.opened("", "")
            raise Missing(", ".join(text.what for text in texts))
        return [self.libraries[source] for source in sources]

    def _source(self, wanted: Wanted) -> CText:
        """Return a text, which is made only if no equal one was."""
        digest = wanted.facts.digest
        source = self._sources.get(digest)
        if source is None:
            assert isinstance(wanted.source, CText)
            source = self._sources[digest] = wanted.source
            self.texts[source] = wanted.what
        return source

    @property
    def compiled(self) -> dict[CText, str]:
        """The texts that are compiled, with their descriptions."""
        return {text: what for text, what in self.texts.items() if text in self.libraries}

    @property
    def missing(self) -> list[CText]:
        """Texts that were requested and are not compiled."""
        return [text for text in self.texts if text not in self.libraries]

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Replace the loader's function for opening libraries by this recorder's inside a ``with`` block."""
        usual, loader.open_all = loader.open_all, self.open_all
        loader.forget()
        plan_index.recorded.append(self.answers)
        try:
            yield
        finally:
            plan_index.recorded.pop()
            loader.open_all = usual
            loader.forget()


Compile = Callable[[Sequence[CText]], Mapping[CText, Library]]
"""Compiles texts and returns the library of each. Expressions that need a text without a library are left out."""


def record_all(recorder: Recorder, runs: Sequence[Run], compile: Compile, rounds: int = 40) -> None:
    """Run expressions until no kernel is missing, or as many are left out as cannot be compiled."""
    pending, spaces = list(runs), dict[Operands, Mapping[str, Any]]()
    with recorder.installed(), warnings.catch_warnings(), config.override(memory_pool=0, compile="wait"):
        warnings.simplefilter("ignore")
        for _ in range(rounds):
            # To make the operands may need kernels itself.
            for kind in {replace(kind, threads=1) for kind, _ in pending} - spaces.keys():
                with contextlib.suppress(Missing), config.override(num_threads=1):
                    spaces[kind] = names(kind)
            pending = [(kind, line) for kind, line in pending if not _runs(kind, line, spaces)]
            # All kernels that the expressions stopped at are compiled together, and only these expressions run again.
            compiled = compile(recorder.missing) if recorder.missing else {}
            if not compiled:
                break
            recorder.libraries |= compiled
    recorder.pending += pending


def _runs(kind: Operands, line: str, spaces: Mapping[Operands, Mapping[str, Any]]) -> bool:
    """Return whether an expression runs, or is invalid for these operands, so that it needs no kernel."""
    space = spaces.get(replace(kind, threads=1))
    if space is None:
        return False
    # Work for several threads is small here, so that the threshold does not count.
    threshold = config.parallel_threshold if kind.threads == 1 else 0
    plans.clear()
    try:
        with config.override(num_threads=kind.threads, parallel_threshold=threshold), contextlib.suppress(*_INVALID):
            for _ in range(2):  # the first call of a process may take another way than those that follow
                eval(line, dict(space))
    except Missing:
        return False
    return True


_INVALID = (WeftError, TypeError, ValueError, IndexError, AttributeError, MemoryError)
"""Errors of subtractions of booleans, of matrices that are too large for an array, and the like."""
