"""Binary streams over paths and streams, plain and compressed."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple, TypeAlias

from ..errors import FileFormatError

PathOrStream: TypeAlias = "str | os.PathLike[str] | IO[Any] | io.TextIOBase"


def _gzip(stream: IO[bytes], mode: Any) -> gzip.GzipFile:
    return gzip.GzipFile(fileobj=stream, mode=mode)


class Compression(NamedTuple):
    """A way to compress files: its name, the ending of files, their first bytes, and the stream over another stream."""

    name: str
    ending: str
    begins: bytes
    stream: Callable[[IO[bytes], Any], Any]


COMPRESSIONS = (Compression("gzip", ".gz", b"\x1f\x8b", _gzip), Compression("bzip2", ".bz2", b"BZh", bz2.BZ2File))
_LONGEST = max(len(c.begins) for c in COMPRESSIONS)


def without_compression(name: str) -> tuple[str, Compression | None]:
    """Return a name without the ending of compressed files, in any case, and the compression that the ending says."""
    for compression in COMPRESSIONS:
        if name.lower().endswith(compression.ending):
            return name[: -len(compression.ending)], compression
    return name, None


def opened(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a file for reading.

    Opening a named pipe does not wait for a writer. A pipe without a writer is an empty file.
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
    """Open a binary stream over a file or a stream for reading; compressed data is decompressed."""
    if isinstance(source, str | os.PathLike):
        with opened(source) as raw, _unpacked(raw, raw.peek(_LONGEST), repr(os.fspath(source))) as stream:
            compression = without_compression(os.fspath(source))[1]
            if compression and not raw.peek(1):
                raise FileFormatError(f"{os.fspath(source)!r} is empty, which is no {compression.name} file")
            yield stream
        return
    if isinstance(source, io.TextIOBase):
        try:
            data = source.read().encode()
        except UnicodeError as error:
            raise FileFormatError(f"the text cannot be decoded: {error}") from None
        yield io.BytesIO(data)
        return
    if not hasattr(source, "read"):
        raise TypeError(f"a file is read from a path or a stream, not from a {type(source).__name__}")
    if not (hasattr(source, "seekable") and source.seekable()):
        yield source
        return
    start = source.tell()
    begin = source.read(_LONGEST)
    source.seek(start)
    with _unpacked(source, begin, "the stream") as stream:
        yield stream


@contextmanager
def _unpacked(raw: IO[bytes], begin: bytes, name: str) -> Iterator[IO[bytes]]:
    """Yield a stream over the decompressed data of another stream, or that stream itself, by its first bytes."""
    compression = next((c for c in COMPRESSIONS if begin.startswith(c.begins)), None)
    if compression is None:
        yield raw
        return
    try:
        yield compression.stream(raw, "rb")
    except (EOFError, OSError, zlib.error) as error:
        if getattr(error, "errno", None) is not None:  # the file cannot be read, whatever it holds
            raise
        raise FileFormatError(f"{name} is a broken {compression.name} file: {error}") from None


@contextmanager
def writing(target: PathOrStream) -> Iterator[IO[bytes]]:
    """Open a binary stream over a file or a stream for writing; the ending of a file's name says how to compress it."""
    if isinstance(target, str | os.PathLike):
        name = os.fspath(target)
        compression = without_compression(name)[1]
        with open(name, "wb") as raw:
            if compression is None:
                yield raw
            else:  # closing writes the end of the compressed data, before the file is closed
                with compression.stream(raw, "wb") as stream:
                    yield stream
        return
    if isinstance(target, io.TextIOBase):  # the writers write bytes, which are decoded at the end
        buffer = io.BytesIO()
        yield buffer
        target.write(buffer.getvalue().decode())
        return
    if not hasattr(target, "write"):
        raise TypeError(f"a file is written to a path or a stream, not to a {type(target).__name__}")
    yield target
