"""Lists of kernels: one process writes the kernels that it needs to a file, and others compile them beforehand.

A line of such a file is a JSON object with the C text, the names of its functions, and a description of what the text
computes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from .. import abi
from ..config import available_cpus
from ..errors import FileFormatError
from . import loader
from .wanted import Wanted


def read(path: str) -> Iterator[Wanted]:
    """Yield the kernels of a file, each once."""
    seen: set[str] = set()
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                record = json.loads(line)
                version, source, names = record["abi"], record["source"], tuple(map(str, record["names"]))
            except (ValueError, TypeError, KeyError):
                raise FileFormatError(f"{path}, line {number}: this is no line that WEFT_RECORD wrote") from None
            if version != abi.VERSION:
                raise FileFormatError(f"{path} was written by another version of weft; record it again")
            if source not in seen:
                seen.add(source)
                yield Wanted(str(source), names, str(record.get("what")))


def compile_all(kernels: Iterable[Wanted]) -> int:
    """Compile kernels that are neither shipped nor in the cache, as many at the same time as there are CPUs."""
    with ThreadPoolExecutor(available_cpus()) as pool:
        return len(list(pool.map(lambda kernel: loader.open_all([kernel]), kernels)))
