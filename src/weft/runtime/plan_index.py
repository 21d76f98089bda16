"""The index of plans: answers of the compiler that are kept beside kernels, so that a process need not ask it again.

A question is a text that has everything on which the answer depends, and an answer is a JSON value. The index that is
installed with shipped kernels is one file; answers for other kernels are records in the cache on disk. The build stamp
is part of every key, so that an answer of other sources is never found, and a checksum joins each answer to its key.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..config import config
from . import cache, log, shipped
from .build_stamp import build_stamp

FILE = "plans.txt"
_HEAD = b"weft plans "

recorded: list[dict[str, str]] = []
"""The answers, by their keys, of a process that records them for shipping; nothing in other processes."""


def key_of(kind: str, question: str) -> str:
    """Return the key of a question."""
    return hashlib.sha256(f"{build_stamp()}:{kind}:{question}".encode()).hexdigest()[:40]


def answer(key: str) -> Any:
    """Return the answer to a question; None if it is not known."""
    if recorded:  # nothing but what this process has found out itself
        return _parsed(recorded[-1].get(key, "null"))
    found = shipped_answers().get(key)
    if found is not None:
        return found
    directory = cache.quiet()
    text = None if directory is None else directory.read_checked(f"plan-{key}.json")
    return None if text is None else _parsed(text)


def keep(key: str, value: Any) -> None:
    """Keep the answer to a question, in place of an earlier one."""
    text = json.dumps(value, separators=(",", ":"))
    if recorded:
        recorded[-1][key] = text
    elif (directory := cache.quiet(make=True)) is not None:
        directory.write_checked(f"plan-{key}.json", text)


class _Shipped:
    """Answers in the file that is installed with shipped kernels. A line is parsed when it is asked for."""

    def __init__(self, lines: bytes):
        self._lines = lines

    def get(self, key: str) -> Any:
        """Return an answer, or None."""
        start = self._lines.find(f"\n{key} ".encode())
        if start < 0:
            return None
        end = self._lines.find(b"\n", start + 1)
        sum, _, text = self._lines[start + len(key) + 2 : end].decode("utf-8", "replace").partition(" ")
        return _parsed(text) if end > 0 and sum == cache.checksum(f"{key} {text}") else None


@lru_cache(maxsize=1)
def shipped_answers() -> _Shipped:
    """Return the answers that are installed with shipped kernels, if they are those of these sources."""
    path = os.path.join(shipped.DIRECTORY, FILE)
    try:
        with open(path, "rb") as file:
            lines = file.read()
    except OSError:
        return _Shipped(b"")
    if not lines.startswith(_HEAD + build_stamp().encode() + b"\n"):
        log.info("%s is not used: it was made from other sources", path)
        return _Shipped(b"")
    return _Shipped(lines)


def write(path: str, answers: Mapping[str, str]) -> None:
    """Write answers to the file that is installed with shipped kernels."""
    with open(path, "wb") as file:
        file.write(_HEAD + build_stamp().encode() + b"\n")
        for key, text in sorted(answers.items()):
            file.write(f"{key} {cache.checksum(f'{key} {text}')} {text}\n".encode())


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_used() -> bool:
    """Return whether answers are looked up and kept: not where each pass of the compiler is to be checked."""
    return not config.code.verify
