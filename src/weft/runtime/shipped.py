"""Shipped kernels, which are installed with weft: one shared object for each level of instructions.

A kernel is looked up by its C text alone. The names of its functions contain a digest of the text: another text has
other names, so that no kernel can be out of date. If a kernel is shipped, nothing is compiled, and no compiler is
searched for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import lru_cache

from ..codegen import abi
from ..config import SETTINGS, config
from ..records import cached, record, replace
from . import log
from ._ffi import ffi
from .levels import levels_here, machine_level
from .objects import Library, listening, open_object

__all__ = ["DIRECTORY", "FOOTER", "Served", "Shipped", "find", "footer", "shipped"]

DIRECTORY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_kernels")
_MAGIC = b"\nweft-kernels-1"
FOOTER = len(_MAGIC) + 8


@record
class Shipped:
    """Library of shipped kernels for this machine.

    Parameters
    ----------
    library : Library or None
        The shared object; None if no object is used.
    level : str or None
        The level of instructions for which it was compiled.
    reason : str
        Reason why no object is used.
    """

    library: Library | None
    level: str | None
    reason: str

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


def footer(size: int) -> bytes:
    """Return the bytes at the end of the file of a shared object, without which the file is truncated.

    Parameters
    ----------
    size : int
        Size of the shared object in bytes.
    """
    return _MAGIC + size.to_bytes(8, "little")


@lru_cache(maxsize=1)
def shipped() -> Shipped:
    """Open the library of the highest level that the machine has and whose file opens.

    Returns
    -------
    Shipped
        The library, or the reason why there is none.
    """
    reason = f"there is none for {machine_level() or 'this machine'} in {DIRECTORY}"
    for level in levels_here():
        path = os.path.join(DIRECTORY, f"{level}.so")
        if not os.path.isfile(path):
            continue
        # To load a truncated file would end the process, so that the footer is checked first.
        handle, said = open_object(path) if _is_whole(path) else (ffi.NULL, "the file is not whole")
        if handle != ffi.NULL:
            return Shipped(listening(path, handle), level, "")
        reason = f"{path} does not open: {said}"
        log.info("the kernels that are installed with weft are not used: %s", reason)
    return Shipped(None, None, reason)


def find(text: str, names: Sequence[str]) -> Library | None:
    """Return the shipped library that has the functions of a text; None if there is none, or settings do not allow it.

    Parameters
    ----------
    text : str
        The C text.
    names : sequence of str
        Names of the functions in C.
    """
    if not names or not _settings_allow():
        return None
    library = shipped().library
    found = None if library is None else replace(library, suffix=abi.suffix(text))
    return found if found is not None and all(map(found.has, names)) else None


def _is_whole(path: str) -> bool:
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END) - FOOTER
        if size < 0:
            return False
        file.seek(size)
        return file.read() == footer(size)


def _settings_allow() -> bool:
    """Return whether the settings allow kernels that are compiled with the usual flags, by whatever compiler."""
    if not config.shipped or config.sanitize or config.cflags:
        return False
    # Tests compile other kernels without optimization.
    return bool(os.environ.get("WEFT_TEST_SHIPPED")) or config.optimization == SETTINGS["optimization"].default()
