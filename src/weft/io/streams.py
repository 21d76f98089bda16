"""Binary streams over paths and streams, plain and gzipped."""

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
    """Open a file for reading.

    Opening a named pipe does not wait for a writer. A pipe without a writer is an empty file.

    Parameters
    ----------
    path : path
        The file.

    Raises
    ------
    FileFormatError
        When the path is a directory.
    """

    # Opening a pipe without a writer blocks unless O_NONBLOCK is set. It is cleared below, since reads are to block.
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
    """Open a binary stream over a file or a stream for reading; gzipped files are decompressed.

    Parameters
    ----------
    source : path or stream
        The file, or a binary or text stream.

    Raises
    ------
    FileFormatError
        When gzipped data is broken or ends too early, and when text cannot be decoded.
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
    """Open a binary stream over a file or a stream for writing; files whose names end in ``.gz`` are gzipped.

    Parameters
    ----------
    target : path or stream
        The file, or a binary or text stream.
    """
    if isinstance(target, str | os.PathLike):
        name = os.fspath(target)
        packed = name.endswith(".gz")
        with open(name, "wb") as raw:
            stream: Any = gzip.GzipFile(fileobj=raw, mode="wb") if packed else raw
            yield stream
            if packed:  # closing writes the end of the gzip stream, before the file is closed
                stream.close()
        return
    if isinstance(target, io.TextIOBase):  # the writers write bytes, which are decoded at the end
        buffer = io.BytesIO()
        yield buffer
        target.write(buffer.getvalue().decode())
        return
    yield target
