"""Shipped kernels, which are installed with weft: one shared object for each level of instructions.

A kernel is looked up by its C text alone. The names of its functions contain a digest of the text: another text has
other names, so that no kernel can be out of date. If a kernel is shipped, nothing is compiled, and no compiler is
searched for.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import BinaryIO

from .. import abi
from ..config import SETTINGS, config
from ..records import cached, record, replace
from . import log
from ._ffi import ffi
from .levels import levels_here, machine_level
from .objects import Library, listening, open_object

DIRECTORY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_kernels")


@record
class Shipped:
    """Library of shipped kernels for this machine."""

    library: Library | None  # the shared object; None if no object is used
    level: str | None  # the level of instructions for which it was compiled
    reason: str  # Reason why no object is used

    @cached
    def served(self) -> Served | None:
        """Return how many of the ordinary expressions the kernels serve; None if it is not known."""
        if self.library is None:
            return None
        try:
            with open(f"{self.library.path.removesuffix('.so')}.json", encoding="utf-8") as file:
                counts = json.load(file)
                return Served(int(counts["served"]), int(counts["of"]))
        except (OSError, ValueError, TypeError, KeyError):
            return None


@record
class Served:
    """Number of the ordinary expressions that shipped kernels serve, and of all ordinary expressions."""

    expressions: int
    of: int

    def __str__(self) -> str:
        rest = "" if self.expressions == self.of else "; `weft warm` compiles the rest"
        return f"{self.expressions} of {self.of} ordinary expressions need no compiler{rest}"


@lru_cache(maxsize=1)
def shipped() -> Shipped:
    """Open the library of the highest level that the machine has and whose file opens."""
    reason = f"there is none for {machine_level() or 'this machine'} in {DIRECTORY}"
    for level in levels_here():
        path = os.path.join(DIRECTORY, f"{level}.so")
        if not os.path.isfile(path):
            continue
        # To load a truncated file would end the process.
        handle, said = open_object(path) if _is_whole(path) else (ffi.NULL, "the file is not whole")
        if handle != ffi.NULL:
            return Shipped(listening(path, handle), level, "")
        reason = f"{path} does not open: {said}"
        log.info("the kernels that are installed with weft are not used: %s", reason)
    return Shipped(None, None, reason)


def find(digest: str, names: Sequence[str]) -> Library | None:
    """Return the shipped library that has the functions of a text, if there is one and settings allow it."""
    if not names or not _settings_allow():
        return None
    library = shipped().library
    found = None if library is None else replace(library, suffix=abi.suffix(digest))
    return found if found is not None and all(map(found.has, names)) else None


def _is_whole(path: str) -> bool:
    """Return whether a file has all parts of a shared object of which its headers speak.

    Tools that repair wheels (auditwheel, delocate) write these files anew, after which nothing that weft appended, and
    no digest, would be right. The headers are.
    """
    try:
        with open(path, "rb") as file:
            ends = [*_ends(file)]
            return bool(ends) and max(ends) <= file.seek(0, os.SEEK_END)
    except (OSError, struct.error):  # it ends within a header
        return False


def _ends(file: BinaryIO) -> Iterator[int]:
    """Return where the parts of a 64-bit shared object end, of ELF or Mach-O; nothing for other files."""
    # The layouts are those of the structures Elf64_Ehdr, Elf64_Phdr, mach_header_64 and segment_command_64.
    start = file.read(64)
    if start[:6] == b"\x7fELF\x02\x01":
        segments, sections = struct.unpack_from("<QQ", start, 32)
        segment_size, segment_count, section_size, section_count = struct.unpack_from("<4H", start, 54)
        yield sections + section_size * section_count
        yield segments + segment_size * segment_count
        file.seek(segments)
        for _ in range(segment_count):
            offset, _, _, size = struct.unpack_from("<4Q", file.read(segment_size), 8)
            yield offset + size
    elif start[:4] == b"\xcf\xfa\xed\xfe":
        count, size = struct.unpack_from("<2I", start, 16)
        yield 32 + size
        file.seek(32)
        commands, at = file.read(size), 0
        for _ in range(count):
            kind, length = struct.unpack_from("<2I", commands, at)
            if kind == 0x19:  # LC_SEGMENT_64
                offset, size = struct.unpack_from("<2Q", commands, at + 40)
                yield offset + size
            at += max(length, 8)


def _settings_allow() -> bool:
    """Return whether the settings allow kernels that are compiled with the usual flags, by whatever compiler."""
    if not config.shipped or config.sanitize or config.cflags:
        return False
    # Tests compile other kernels without optimization.
    return bool(os.environ.get("WEFT_TEST_SHIPPED")) or config.optimization == SETTINGS["optimization"].default()
