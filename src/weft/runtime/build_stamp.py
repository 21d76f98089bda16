"""The build stamp: a hash of weft's sources, which tells whether an answer of the compiler is that of this compiler."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from . import cache

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_ENDINGS = (".py", ".c", ".h")
_ABOVE = frozenset(
    {"operations", "tensor", "drawing", "numpy_api", "array_api", "interop", "io", "shipping", "playground", "_kernels",
     "__pycache__"}
)  # fmt: skip
"""Folders whose files no answer of the compiler depends on."""


@lru_cache(maxsize=1)
def build_stamp() -> str:
    """Return a hash of the sources on which answers depend, and of NumPy's major version, whose promotion they follow.

    It is kept on disk, and found again as long as all files have the size and the time of their last change that they
    had, as Python finds its bytecode.
    """
    files = sorted(_files(_ROOT))
    numpy = np.__version__.partition(".")[0]
    seen = hashlib.sha256(repr([numpy, *[(path, *stat) for path, stat in files]]).encode()).hexdigest()
    directory, name = cache.quiet(), f"plan-sources-{seen[:40]}.json"
    known = None if directory is None else directory.read_checked(name)
    if known is not None:
        return known
    digest = hashlib.sha256(numpy.encode())
    for path, _ in files:
        with open(path, "rb") as file:
            text = file.read()
        digest.update(f"{os.path.relpath(path, _ROOT)}:{len(text)}:".encode())
        digest.update(text)
    stamp = digest.hexdigest()
    if directory is not None:
        directory.write_checked(name, stamp)
    return stamp


def _files(folder: str) -> Iterator[tuple[str, tuple[int, int]]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(_ENDINGS):
                found = entry.stat()
                yield entry.path, (found.st_size, found.st_mtime_ns)
            elif entry.name not in _ABOVE and entry.is_dir():
                yield from _files(entry.path)
