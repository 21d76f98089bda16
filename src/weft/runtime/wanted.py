"""Kernels that are asked for, and the file in which ``WEFT_RECORD`` has them noted."""

from __future__ import annotations

import json

from ..codegen import abi
from ..config import config
from ..records import record

__all__ = ["Wanted", "note"]


@record
class Wanted:
    """A C text of which a shared object is wanted.

    Parameters
    ----------
    source : str
        The text.
    names : tuple of str
        The C functions that are wanted of it.
    what : str
        The words for what it computes, for the log and for errors.
    """

    source: str
    names: tuple[str, ...]
    what: str


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
