"""Lists of kernels: what a process asks for is written to a file, and compiled from it elsewhere beforehand.

A line of such a file is a JSON object: the C text, the names of its functions, and the words for what it computes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from ..codegen import abi
from ..config import available_cpus, config
from ..errors import FileFormatError
from ..records import record
from . import loader

__all__ = ["Wanted", "compile_all", "note", "read"]


@record
class Wanted:
    """A kernel that a process has asked for.

    Parameters
    ----------
    source : str
        The C text.
    names : tuple of str
        The C functions that are wanted of it.
    what : str
        The words for what it computes.
    """

    source: str
    names: tuple[str, ...]
    what: str


_noted: set[str] = set()


def note(source: str, names: Sequence[str], what: str) -> None:
    """Append a kernel to the file that ``config.record`` (``WEFT_RECORD``) names, once in a process."""
    if source in _noted:
        return
    _noted.add(source)
    line = json.dumps({"abi": abi.VERSION, "what": what, "names": [*names], "source": source})
    with open(config.record, "a", encoding="utf-8") as file:
        file.write(line + "\n")


def read(path: str) -> Iterator[Wanted]:
    """Yield the kernels of a file, each once.

    Raises
    ------
    FileFormatError
        For other files, and those that another version of weft has written.
    """
    seen: set[str] = set()
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                found = json.loads(line)
                version, source, names = found["abi"], found["source"], tuple(map(str, found["names"]))
            except (ValueError, TypeError, KeyError):
                raise FileFormatError(f"{path}, line {number}: no kernel as WEFT_RECORD writes them") from None
            if version != abi.VERSION:
                raise FileFormatError(f"{path} was written by another version of weft; record it again")
            if source not in seen:
                seen.add(source)
                yield Wanted(str(source), names, str(found.get("what")))


def compile_all(kernels: Iterable[Wanted]) -> int:
    """Have kernels compiled that are neither shipped nor in the cache, as many at once as there are CPUs.

    Returns
    -------
    int
        How many there are.

    Raises
    ------
    CompilerError
        When there is no compiler, or it failed.
    """
    with ThreadPoolExecutor(available_cpus()) as pool:
        return len(list(pool.map(lambda k: loader.open_source(k.source, k.names, k.what), kernels)))
