"""Build of the shipped kernels: compilation of many C texts to one shared object for each level of instructions."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

from ..codegen import CText, emit_bundle, suffix, symbol
from ..codegen.prelude import SHARED
from ..config import available_cpus
from ..errors import CompilerError
from ..records import record, replace
from ..runtime import loader, plan_index, toolchain
from ..runtime.levels import family, machine_level
from ..runtime.loader import Wanted, pool_of_threads, support_function
from ..runtime.objects import Library, listening, open_object
from ..runtime.shipped import Served
from .expressions import CORE, MORE, USUAL, core, others
from .record import Recorder, record_all

_TOGETHER = 40  # largest number of kernels in a C file


class Builder:
    """A compiler of C texts for one level of instructions, which runs one process for each CPU."""

    def __init__(self, level: str, scratch: str, optimization: int = 3) -> None:
        self.level, self.scratch, self.optimization = level, Path(scratch), optimization
        self.deadline: float | None = None
        self.objects: dict[Path, tuple[CText, ...]] = {}
        self._libraries = 0

    def compile(self, texts: Iterable[CText]) -> list[CText]:
        """Compile texts and return those that were compiled, without those that failed or came after the deadline."""
        bundles = _bundles(texts)
        with ThreadPoolExecutor(available_cpus()) as pool:
            compiled = list(pool.map(self._object, range(len(self.objects), len(self.objects) + len(bundles)), bundles))
        made = {path: tuple(bundle) for path, bundle in zip(compiled, bundles, strict=True) if path is not None}
        self.objects |= made
        return [text for bundle in made.values() for text in bundle]

    def support(self, wanted: Iterable[Wanted]) -> dict[CText, str]:
        """Compile texts that export support functions, and return the descriptions of those that were compiled."""
        what = {cast("CText", text.source): text.what for text in wanted}
        return {text: what[text] for text in self.compile(what)}

    def link(self, output: str, objects: Iterable[Path] | None = None) -> None:
        """Link object files to a shared object."""
        chosen = self.objects if objects is None else objects
        # Each bundle defines the variable that tells kernels to stop. With -fcommon, the linker merges them to one.
        self._run([*self._flags(), "-s", "-o", output, *map(str, chosen), "-pthread", "-lm"])

    def libraries(self, texts: Sequence[CText]) -> Mapping[CText, Library]:
        """Return the opened library of each text that compiled before the deadline."""
        before = {*self.objects}
        compiled = self.compile(texts)
        if not compiled:
            return {}
        self._libraries += 1
        path = str(self.scratch / f"{self.level}-{self._libraries}.so")
        self.link(path, [path for path in self.objects if path not in before])
        handle, reason = open_object(path)
        if reason:
            raise CompilerError(f"{path} does not open: {reason}")
        library = listening(path, handle)
        return {text: replace(library, suffix=suffix(text)) for text in compiled}

    def _object(self, number: int, bundle: Sequence[CText]) -> Path | None:
        if self.deadline is not None and time.monotonic() > self.deadline:
            return None
        path = self.scratch / f"{self.level}-{number}.o"
        source = path.with_suffix(".c")
        source.write_text(_text(bundle), encoding="utf-8")
        try:
            self._run([*self._flags(), "-fcommon", "-c", "-o", str(path), str(source)])
        except CompilerError:
            return None
        return path

    def _flags(self) -> list[str]:
        # The level of instructions takes the place of the flag for this machine.
        tool = toolchain.current(self.optimization)
        wanted = [flag for flag in tool.flags if not flag.startswith("-march=")]
        # Tables by which a stack is unwound are a tenth of a wheel; kernels that are compiled here have them.
        return [*tool.command, tool.level(self.level), *wanted, "-fno-asynchronous-unwind-tables"]

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CompilerError(f"the C compiler failed\n  command: {' '.join(command)}\n{done.stderr.strip()}")


def _bundles(texts: Iterable[CText]) -> list[list[CText]]:
    """Group texts with kernels to files; each text that exports support functions is a file of its own."""
    kernels = [text for text in texts if text.functions]
    size = min(_TOGETHER, -(-len(kernels) // available_cpus())) or 1  # a few kernels are spread over the CPUs, too
    whole = [kernels[at : at + size] for at in range(0, len(kernels), size)]
    return [*whole, *([text] for text in texts if not text.functions)]


def _text(bundle: Sequence[CText]) -> str:
    if bundle[0].functions:
        return emit_bundle(bundle)
    # Support functions of several texts are in one library, so that suffixes make their names distinct.
    (text,) = bundle
    renamed = [f"#define {name} {name}{suffix(text)}\n" for name in text.exported]
    return "".join(renamed) + text


def build(
    directory: str,
    *,
    every_level: bool = False,
    machine: bool = False,
    seconds: float | None = None,
    optimization: int = 3,
) -> Build:
    """Build the libraries of shipped kernels."""
    level_here = machine_level()
    if level_here is None:
        raise CompilerError(
            "weft has no level of instructions for this kind of processor, so that no kernels are built for it"
        )
    levels = [level_here, *(level for level in family() if every_level and level != level_here)]
    end = None if seconds is None else time.monotonic() + seconds
    os.makedirs(directory, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        # Only this machine's own level can run, so that its builder finds out which texts are necessary.
        builders = [Builder(level, scratch, optimization) for level in levels]
        # Kernels that are not shipped use these functions, too, so that they are there in any case.
        support = [pool_of_threads(), *map(support_function, SHARED)]
        texts = builders[0].support(support)
        recorder = _recorded(builders[0], machine, end)
        with recorder.installed():
            for text in support:
                text.opened("", "")
        texts |= recorder.compiled
        for builder in builders[1:]:
            builder.compile(texts)
        served = _served(recorder)
        for builder in builders:
            _publish(builder, directory, served)
        plan_index.write(os.path.join(directory, plan_index.FILE), recorder.answers)
    return Build(texts, served)


@record
class Build:
    """Result of a build."""

    texts: Mapping[CText, str]  # Descriptions of the computations, by the texts of the kernels
    served: Served  # How many expressions need no compiler


def _recorded(builder: Builder, machine: bool, end: float | None) -> Recorder:
    """Compile the core, whatever time it takes, and then as much of the rest as is compiled by a time."""
    recorder = Recorder()
    record_all(recorder, core(), builder.libraries)
    builder.deadline = end
    for runs in others(machine):
        record_all(recorder, runs, builder.libraries)
    return recorder


def _served(recorder: Recorder) -> Served:
    expressions = {*CORE, *MORE}
    lacking = {line for kind, line in recorder.pending if kind in USUAL}
    return Served(len(expressions - lacking), len(expressions))


def _publish(builder: Builder, directory: str, served: Served) -> None:
    path = os.path.join(directory, f"{builder.level}.so")
    builder.link(path)
    with open(f"{path.removesuffix('.so')}.json", "w", encoding="utf-8") as file:
        json.dump({"served": served.expressions, "of": served.of}, file)


def warm() -> int:
    """Compile the kernels of ordinary expressions into the cache, except shipped ones, and return their number."""
    opened = loader.open_all

    def one(text: CText) -> tuple[CText, Library]:
        names = tuple(symbol(function.name) for function in text.functions) or text.exported
        (library,) = opened([Wanted(text, names, "an ordinary expression")])
        return text, library

    def libraries(texts: Sequence[CText]) -> Mapping[CText, Library]:
        with ThreadPoolExecutor(available_cpus()) as pool:
            return dict(pool.map(one, texts))

    recorder = Recorder()
    for runs in (core(), *others(machine=True)):
        record_all(recorder, runs, libraries)
    return len(recorder.compiled)
