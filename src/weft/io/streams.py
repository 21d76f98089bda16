"""Paths and streams, plain and gzipped, as one thing."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, TypeAlias

from ..errors import FileFormatError

__all__ = ["PathOrStream", "opened", "reading", "writing"]

PathOrStream: TypeAlias = "str | os.PathLike[str] | IO[Any] | io.TextIOBase"

_GZIP = b"\x1f\x8b"


def opened(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a file to be read. A named pipe that nobody writes to is empty, instead of waited for.

    Raises
    ------
    FileFormatError
        When it is a directory.
    """

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    try:
        raw = open(path, "rb", opener=opener)  # noqa: SIM115
    except IsADirectoryError:
        raise FileFormatError(f"{os.fspath(path)!r} is a directory, not a file") from None
    if hasattr(os, "set_blocking"):
        os.set_blocking(raw.fileno(), True)
    return raw


@contextmanager
def reading(source: PathOrStream) -> Iterator[IO[bytes]]:
    """Open a binary stream over a file or a stream, unpacked where it is gzipped.

    Raises
    ------
    FileFormatError
        When packed data is broken or ends too early, and when text cannot be decoded.
    """
    if isinstance(source, str | os.PathLike):
        with opened(source) as raw:
            packed = raw.peek(2)[:2] == _GZIP
            stream: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            try:
                yield stream
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise FileFormatError(f"{os.fspath(source)!r} is a broken gzip file: {error}") from None
        return
    if isinstance(source, io.TextIOBase):
        try:
            data = source.read().encode()
        except UnicodeError as error:
            raise FileFormatError(f"the text cannot be decoded: {error}") from None
        yield io.BytesIO(data)
        return
    yield source


@contextmanager
def writing(target: PathOrStream) -> Iterator[IO[bytes]]:
    """Open a binary stream that writes to a file, gzipped where its name ends in ``.gz``, or to a stream."""
    if isinstance(target, str | os.PathLike):
        name = os.fspath(target)
        packed = name.endswith(".gz")
        with open(name, "wb") as raw:
            stream: Any = gzip.GzipFile(fileobj=raw, mode="wb") if packed else raw
            yield stream
            if packed:
                stream.close()
        return
    if isinstance(target, io.TextIOBase):
        buffer = io.BytesIO()
        yield buffer
        target.write(buffer.getvalue().decode())
        return
    yield target
