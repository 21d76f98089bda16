"""Lists of kernels: what a process asks for is written to a file, and compiled from it elsewhere beforehand.

A line of such a file is a JSON object: the C text, the names of its functions, and the words for what it computes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from ..codegen import abi
from ..config import available_cpus
from ..errors import FileFormatError
from . import loader
from .wanted import Wanted

__all__ = ["compile_all", "read"]


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
        return len(list(pool.map(lambda kernel: loader.open_all([kernel]), kernels)))
