"""Compiling many C texts to one shared object for each level of instructions."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..codegen import CText, emit_bundle, suffix
from ..config import available_cpus
from ..errors import CompilerError
from ..runtime import toolchain
from ..runtime.levels import LEVELS, machine_level
from ..runtime.objects import Library, listening, open_object
from ..runtime.shipped import footer
from .expressions import operands
from .record import record_all

__all__ = ["LEVELS_BUILT", "Builder", "build"]

LEVELS_BUILT = tuple(LEVELS)
_TOGETHER = 40  # kernels in a file


class Builder:
    """Compiles texts for one level of instructions, as many files at once as there are CPUs.

    Parameters
    ----------
    level : str
        The level.
    scratch : str
        A directory for object files.
    optimization : int
        The -O level.
    deadline : float, optional
        A time of ``time.monotonic`` after which nothing more is compiled.
    """

    def __init__(self, level: str, scratch: str, optimization: int = 3, deadline: float | None = None) -> None:
        self.level, self.scratch, self.optimization, self.deadline = level, Path(scratch), optimization, deadline
        self.objects: dict[Path, tuple[CText, ...]] = {}
        self._libraries = 0

    def compile(self, texts: Iterable[CText]) -> list[CText]:
        """Compile texts; those that failed to, or came too late, are left out of what is returned."""
        bundles = _bundles(texts)
        with ThreadPoolExecutor(available_cpus()) as pool:
            compiled = list(pool.map(self._object, range(len(self.objects), len(self.objects) + len(bundles)), bundles))
        made = {path: tuple(bundle) for path, bundle in zip(compiled, bundles, strict=True) if path is not None}
        self.objects |= made
        return [text for bundle in made.values() for text in bundle]

    def link(self, output: str, objects: Iterable[Path] | None = None) -> None:
        """Link object files, all by default, to a shared object."""
        chosen = self.objects if objects is None else objects
        # Each bundle has the variable that asks whether to stop: together they have one (-fcommon).
        self._run([*self._flags(), "-s", "-o", output, *map(str, chosen), "-lm"])

    def libraries(self, texts: Sequence[CText]) -> Mapping[CText, Library]:
        """Compile texts and open them: the library of each that did not fail, or come too late."""
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
        return dict.fromkeys(compiled, listening(path, handle))

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
        tool = toolchain.current(self.optimization)
        wanted = [flag for flag in tool.flags if not flag.startswith("-march=")]
        return [*tool.command, f"-march={self.level}", *wanted]

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(
            [part for part in command if "-c" not in command or part != "-shared"], capture_output=True, text=True
        )
        if done.returncode:
            raise CompilerError(f"the C compiler failed\n  command: {' '.join(command)}\n{done.stderr.strip()}")


def _bundles(texts: Iterable[CText]) -> list[list[CText]]:
    """Put texts together that have kernels; those that export support functions stay alone."""
    kernels = [text for text in texts if text.functions]
    whole = [kernels[at : at + _TOGETHER] for at in range(0, len(kernels), _TOGETHER)]
    return [*whole, *([text] for text in texts if not text.functions)]


def _text(bundle: Sequence[CText]) -> str:
    if bundle[0].functions:
        return emit_bundle(bundle)
    (text,) = bundle
    renamed = [f"#define {name} {name}{suffix(text)}\n" for name in text.exported]
    return "".join(renamed) + text


def build(
    directory: str, levels: Sequence[str] | None = None, *, machine: bool = False, seconds: float | None = None
) -> Mapping[CText, str]:
    """Build the libraries of shipped kernels.

    Parameters
    ----------
    directory : str
        Where to put them.
    levels : sequence of str, optional
        For which levels of instructions; by default that of this machine. The machine must have the first.
    machine : bool
        True for fewer kernels, in less time.
    seconds : float, optional
        After how long to stop compiling: what is not there by then is left out.

    Returns
    -------
    mapping
        What the kernels compute, by their texts.

    Raises
    ------
    CompilerError
        When there is no compiler, or no level.
    """
    own = machine_level()
    chosen = [own] if levels is None and own is not None else [*(levels or ())]
    if not chosen:
        raise CompilerError("there are no levels of instructions for this machine")
    deadline = None if seconds is None else time.monotonic() + seconds
    os.makedirs(directory, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        first = Builder(chosen[0], scratch, deadline=deadline)
        texts = record_all(operands(machine), first.libraries)
        for level in chosen:
            builder = first if level == chosen[0] else Builder(level, scratch, deadline=deadline)
            if builder is not first:
                builder.compile(texts)
            if builder.objects:
                _publish(builder, os.path.join(directory, f"{level}.so"))
    return texts


def _publish(builder: Builder, path: str) -> None:
    builder.link(path)
    with open(path, "ab") as file:
        file.write(footer(file.tell()))
