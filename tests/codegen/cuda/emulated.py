"""Programs for a device on the emulator: many in one C++ file, each with its own prefix."""

from __future__ import annotations

import ctypes
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from weft.codegen.support.snippet import resource
from weft.device_program import DeviceProgram, Fill, Launch
from weft.storage import Storage

EMULATOR = resource("emulator.h")
BLOCK = 64  # threads in a block; few make many blocks


def compiled(programs: Mapping[str, DeviceProgram], folder: Path | None = None) -> ctypes.CDLL:
    """The library of programs, whose kernels have the names of programs before theirs."""
    texts = [EMULATOR]
    for name, program in programs.items():
        texts.append(f"#undef WEFT_PREFIX\n#define WEFT_PREFIX {name}_\nnamespace {name} {{\n{program.source}}}\n")
    return library("".join(texts), folder)


def library(text: str, folder: Path | None = None) -> ctypes.CDLL:
    """The library of a C++ text. Each has a path of its own: a path that is loaded again gives the old library."""
    folder = Path(tempfile.mkdtemp(dir=folder))
    source, target = folder / "kernels.cpp", folder / "kernels.so"
    source.write_text(text)
    flags = ["-std=c++17", "-O0", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-fwrapv"]
    done = subprocess.run(["g++", *flags, source, "-o", target], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(target))


class EmulatorError(Exception):
    """What the emulator found wrong."""


def run(
    library: ctypes.CDLL,
    name: str,
    program: DeviceProgram,
    result: Storage,
    operands: Sequence[Storage],
    *,
    seed: int = 1,
    blocks: int = 3,
) -> np.ndarray:
    """The values of a result after all steps of a program."""
    storages = dict(zip(program.tensors, (result, *operands), strict=True))
    known: dict[str, int] = {}
    arrays: dict[str, np.ndarray] = {}
    for b in program.bindings:
        storage = storages[b.tensor]
        if b.part == "dimension":
            known[b.name] = storage.shape[b.index]
            continue
        array = storage.vals if b.index < 0 else storage.arrays[b.index]
        if b.part == "array":
            assert array.dtype == b.dtype, (b, array.dtype)
            arrays[b.name] = array
        known[b.name] = len(array)
    for memory in program.scratch:
        size = memory.size.value(known)
        arrays[memory.name] = np.full(size, 77, memory.dtype)  # what was there before
        known[memory.name] = size
    for number, step in enumerate(program.steps):
        if isinstance(step, Fill):
            arrays[step.array].fill(step.value)
            continue
        assert isinstance(step, Launch)
        launch(library, f"{name}_{step.kernel}", step, arrays, known, seed + number, blocks)
    return result.vals


def launch(
    library: ctypes.CDLL, symbol: str, step: Launch, arrays: Mapping[str, np.ndarray], known: Mapping[str, int],
    seed: int, blocks: int,
) -> None:  # fmt: skip
    held = [ctypes.c_void_p(arrays[n].ctypes.data) if n in arrays else ctypes.c_int64(known[n]) for n in step.arguments]
    pointers = (ctypes.c_void_p * max(1, len(held)))(*[ctypes.addressof(h) for h in held])
    entry = library[symbol]
    entry.restype = ctypes.c_char_p
    error = entry(min(blocks, step.blocks(known)), BLOCK, seed, pointers)
    if error is not None:
        raise EmulatorError(error.decode())


def kernels_of(source: str) -> list[str]:
    """The names of the kernels in a text."""
    return re.findall(r"^WEFT_EMULATED\((\w+)\)", source, re.MULTILINE)
