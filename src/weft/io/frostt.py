"""FROSTT ``.tns`` files: a line for each entry, coordinates from 1 and the value, separated by blanks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike

from ..dtypes import value_dtype
from ..errors import FileFormatError
from ..formats import FormatLike
from ..tensor import SparseTensor, asarray, from_coords
from .streams import PathOrStream, reading, writing

__all__ = ["read_tns", "write_tns"]

_BLOCK = 1 << 24


def read_tns(
    source: PathOrStream,
    *,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    format: FormatLike = "coo",
    progress: bool | None = None,
) -> SparseTensor:
    r"""Read a FROSTT file.

    Parameters
    ----------
    source : path or stream
        Plain or gzipped; lines that begin with ``#`` or ``%`` are comments.
    shape : sequence of int, optional
        By default the smallest that holds the coordinates.
    dtype : dtype, optional
        Of the values; float64 where not given.
    format : str or Format, optional
        Of the result; entries with equal coordinates are summed.
    progress : bool, optional
        Whether to show a bar (with tqdm, where it is installed); by default for long files.

    Raises
    ------
    FileFormatError
        For lines of another length, text that is no number, and coordinates below 1 or beyond the shape; the message
        has the line's number.

    Examples
    --------
    >>> import io
    >>> read_tns(io.StringIO("1 1 2 5.0\n2 3 1 1.5\n")).shape
    (2, 3, 2)
    """
    with reading(source) as stream:
        rows = np.concatenate([*_rows(stream, progress)] or [np.empty((0, len(shape or ()) + 1))])
    order = rows.shape[1] - 1
    coords = rows[:, :order].astype(np.int64) - 1
    if shape is not None and len(shape) != order:
        raise FileFormatError(f"lines have {order} coordinates; shape {tuple(shape)} has {len(shape)} axes")
    values = rows[:, order].astype(value_dtype(dtype or np.float64))
    size = None if shape is None else tuple(shape)
    if size is not None and len(coords) and (coords >= np.array(size)).any():
        n = int(np.flatnonzero((coords >= np.array(size)).any(axis=1))[0])
        raise FileFormatError(f"entry {n + 1}: coordinates {(coords[n] + 1).tolist()} are outside shape {size}")
    return from_coords(list(coords.T.copy()), values, size, format=format)


def _rows(stream: IO[bytes], progress: bool | None) -> Iterator[np.ndarray[Any, Any]]:
    """The numbers of each block of lines."""
    bar = None
    line, width, rest = 1, 0, b""
    while block := stream.read(_BLOCK):
        if bar is None and (progress or (progress is None and len(block) == _BLOCK)):
            bar = _bar()
        if bar is not None:
            bar.update(len(block))
        text, newline, rest = (rest + block).rpartition(b"\n")
        if newline:
            rows = _parse(text, line, width)
            line += text.count(b"\n") + 1
            width = rows.shape[1] or width
            if len(rows):
                yield rows
    if rest.strip():
        rows = _parse(rest, line, width)
        if len(rows):
            yield rows
    if bar is not None:
        bar.close()


def _bar() -> Any:
    try:
        from tqdm import tqdm  # type: ignore[import-untyped]
    except ImportError:
        return None
    return tqdm(unit="B", unit_scale=True, desc="reading", mininterval=0.5)


def _parse(text: bytes, line: int, width: int) -> np.ndarray[Any, Any]:
    """The lines as a table of numbers; ``line`` is the number of the first."""
    if b"#" in text or b"%" in text:
        kept = [one for one in text.split(b"\n") if not one.lstrip().startswith((b"#", b"%"))]
        data = b"\n".join(kept)
    else:
        data = text
    if not data.strip():
        return np.empty((0, 0))
    width = width or len(data.lstrip().partition(b"\n")[0].split())
    try:
        table = np.loadtxt(BytesIO(data), comments=None, ndmin=2)
    except ValueError:
        raise _complaint(text, line, width) from None
    coords = table[:, :-1]
    if width < 2 or table.shape[1] != width:
        raise _complaint(text, line, width)
    if (coords < 1).any() or (coords != np.floor(coords)).any() or (coords > 2**53).any():
        raise _complaint(text, line, width)
    return table


def _complaint(text: bytes, line: int, width: int) -> FileFormatError:
    """What is wrong with the first bad line."""
    for n, raw in enumerate(text.split(b"\n"), line):
        words = raw.split()
        if not words or raw.lstrip().startswith((b"#", b"%")):
            continue
        shown = raw.decode(errors="replace").strip()[:80]
        if len(words) != width or width < 2:
            return FileFormatError(f"line {n} has {len(words)} numbers instead of {max(width, 2)}: {shown!r}")
        for place, word in enumerate(words):
            try:
                number = float(word)
            except ValueError:
                return FileFormatError(
                    f"line {n} holds {word.decode(errors='replace')!r}, which is no number: {shown!r}"
                )
            if place < width - 1 and number < 1:
                return FileFormatError(f"line {n} has coordinate {number:g}; coordinates count from 1: {shown!r}")
            if place < width - 1 and (number != int(number) or number > 2**53):
                return FileFormatError(f"line {n} has {number!r} for a coordinate: {shown!r}")
    return FileFormatError(f"the lines from {line} on cannot be read")


def write_tns(target: PathOrStream, A: SparseTensor) -> None:
    """Write a tensor as a FROSTT file; gzipped where the name ends in ``.gz``.

    Parameters
    ----------
    target : path or stream
        Where to.
    A : SparseTensor
        With fill value 0 and real values.

    Raises
    ------
    FileFormatError
        For complex values, other fill values and tensors without axes.
    """
    A = asarray(A)
    if A.fill_value != 0 or A.dtype.kind == "c" or A.ndim == 0:
        raise FileFormatError(
            f"a .tns file cannot hold a tensor of {A.dtype}, fill value {A.fill_value}, {A.ndim} axes"
        )
    coords, values = A.to_coo()
    kind = "%d" if A.dtype.kind in "iub" else "%.17g"
    with writing(target) as stream:
        for begin in range(0, len(values), 1 << 16):
            end = begin + (1 << 16)
            lines = zip(*(coords[:, begin:end] + 1).tolist(), values[begin:end].tolist(), strict=True)
            pattern = " ".join(["%d"] * A.ndim) + f" {kind}\n"
            stream.write("".join([pattern % entry for entry in lines]).encode())
