"""Texts of kernels that are wanted, and the file to which ``WEFT_RECORD`` appends them."""

from __future__ import annotations

import json

from ..codegen import abi
from ..config import config
from ..records import record

__all__ = ["Wanted", "note"]


@record
class Wanted:
    """C text of which a shared object is wanted.

    Parameters
    ----------
    source : str
        The text.
    names : tuple of str
        Names of the C functions that are wanted.
    what : str
        Description of what the text computes, for the log and for errors.
    """

    source: str
    names: tuple[str, ...]
    what: str


_noted: set[str] = set()


def note(kernel: Wanted) -> None:
    """Append a kernel to the file that ``config.record`` (``WEFT_RECORD``) names, once in a process.

    Parameters
    ----------
    kernel : Wanted
        The kernel.
    """
    if kernel.source in _noted:
        return
    _noted.add(kernel.source)
    found = {"abi": abi.VERSION, "what": kernel.what, "names": [*kernel.names], "source": kernel.source}
    line = json.dumps(found)
    with open(config.record, "a", encoding="utf-8") as file:
        file.write(line + "\n")
