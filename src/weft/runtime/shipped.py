"""The kernels that are installed with weft: one shared object for each level of instructions.

A kernel is found by its C text alone, of which the names of its functions have a digest: another text has other names,
so that no kernel can be out of date. Nothing is compiled, and no compiler is searched for, where a kernel is here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache

from ..codegen import abi
from ..config import SETTINGS, config
from ..records import record, replace
from . import log
from ._ffi import ffi
from .levels import levels_here, machine_level
from .objects import Library, listening, open_object

__all__ = ["DIRECTORY", "FOOTER", "Shipped", "find", "footer", "shipped"]

DIRECTORY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_kernels")
_MAGIC = b"\nweft-kernels-1"
FOOTER = len(_MAGIC) + 8


@record
class Shipped:
    """The library of kernels for this machine.

    Parameters
    ----------
    library : Library or None
        The shared object, where one is used.
    level : str or None
        The level of instructions that it is for.
    reason : str
        Why none is used.
    """

    library: Library | None
    level: str | None
    reason: str


def footer(size: int) -> bytes:
    """Return what follows a shared object of so many bytes: without it a file is not whole."""
    return _MAGIC + size.to_bytes(8, "little")


@lru_cache(maxsize=1)
def shipped() -> Shipped:
    """Open the library of the highest level that the machine has, and that opens; the reason why there is none else."""
    reason = f"there is none for {machine_level() or 'this machine'} in {DIRECTORY}"
    for level in levels_here():
        path = os.path.join(DIRECTORY, f"{level}.so")
        if not os.path.isfile(path):
            continue
        handle, said = open_object(path) if _is_whole(path) else (ffi.NULL, "the file is not whole")
        if handle != ffi.NULL:
            return Shipped(listening(path, handle), level, "")
        reason = f"{path} does not open: {said}"
        log.info("the kernels that are installed with weft are not used: %s", reason)
    return Shipped(None, None, reason)


def find(text: str, names: Sequence[str]) -> Library | None:
    """Return the library with the functions ``names`` (in C) of a text; None where it has them not, or must not."""
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
    """Tell whether kernels may come from elsewhere than the compiler that the settings name, and its flags.

    Conda sets ``CC`` in every environment, so that one does not count.
    """
    if config.sanitize or config.cflags:
        return False
    if os.environ.get("WEFT_TEST_SHIPPED"):
        return True
    own = config.cc is None or ("WEFT_CC" not in os.environ and config.cc == os.environ.get("CC"))
    return own and config.optimization == SETTINGS["optimization"].default()
