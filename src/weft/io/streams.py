"""Paths and streams, plain and gzipped, as one thing."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, TypeAlias

__all__ = ["PathOrStream", "reading", "writing"]

PathOrStream: TypeAlias = "str | os.PathLike[str] | IO[Any] | io.TextIOBase"

_GZIP = b"\x1f\x8b"


@contextmanager
def reading(source: PathOrStream) -> Iterator[IO[bytes]]:
    """A binary stream over a file or a stream, unpacked where it is gzipped."""
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as raw:
            packed = raw.peek(2)[:2] == _GZIP
            stream: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            yield stream
        return
    if isinstance(source, io.TextIOBase):
        yield io.BytesIO(source.read().encode())
        return
    yield source


@contextmanager
def writing(target: PathOrStream) -> Iterator[IO[bytes]]:
    """A binary stream that writes to a file, gzipped where its name ends in ``.gz``, or to a stream."""
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
