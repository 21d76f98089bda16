"""FROSTT ``.tns`` files, which have a line for each entry: its coordinates and its value, separated by blanks."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from io import BytesIO
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from ..dtypes import INT64_MAX, value_dtype
from ..errors import FileFormatError
from ..formats import FormatLike
from ..records import cached, record
from ..tensor import SparseTensor, asarray, from_coords
from ..tensor.construction import as_shape
from ..tracebacks import ends_at_caller
from .streams import PathOrStream, reading, writing

Array: TypeAlias = np.ndarray[Any, Any]

_BLOCK = 1 << 24  # characters that are read at once
_AXES = 64  # the limit of NumPy's arrays, too
_EXTREME = 2**62  # larger integers may be wrong, since old versions of NumPy did not refuse integers beyond int64
_INTEGER = re.compile(rb"[+-]?\d+")
_REAL = rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|infinity|inf|nan)"
_NUMBER = re.compile(_REAL, re.IGNORECASE)
_COMPLEX = re.compile(rb"\(?(" + _REAL + rb")(?:([+-]" + _REAL[5:] + rb")[ij])?\)?", re.IGNORECASE)
_BLANKS, _BREAK = b" \t\v\f", b"\n"
_KINDS = bytes(ord(" ") if c in _BLANKS else c if c in _BREAK else ord("x") for c in range(256))
"""Translation of characters to kinds: blanks to a space, line breaks to themselves, and any other to ``x``."""


@ends_at_caller
def read_tns(
    source: PathOrStream,
    *,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    start: int = 1,
    format: FormatLike = "coo",
    progress: bool | None = None,
) -> SparseTensor:
    r"""Read a FROSTT file.

    Parameters
    ----------
    source : path or stream
        The file, plain or compressed by gzip or bzip2. Lines that begin with ``#`` or ``%`` are comments.
    shape : sequence of int, optional
        The shape of the tensor. By default the smallest that holds the coordinates.
    dtype : dtype, optional
        The dtype of the values; float64 by default. Integers are read exactly. Complex values are written as Python
        prints them, ``(0.5-2j)`` or ``0.5-2j``, and need a complex dtype.
    start : {1, 0}
        The first coordinate of each axis in the file.
    format : str or Format, optional
        The format of the result. Entries with equal coordinates are summed.
    progress : bool, optional
        True to show a progress bar, if tqdm is installed. By default it is shown for long files.

    Returns
    -------
    SparseTensor
        A tensor of ``shape``, with fill value 0.

    Raises
    ------
    FileFormatError
        For lines of another length, text that is no number, coordinates that are no integers, below ``start`` or beyond
        the shape, and values that ``dtype`` cannot hold; the message has the number of the line. For a file without
        entries if no shape is given, and for more than 64 axes.
    ValueError
        For another ``start``.

    Examples
    --------
    >>> import io
    >>> read_tns(io.StringIO("1 1 2 5.0\n2 3 1 1.5\n")).shape
    (2, 3, 2)
    """
    size = None if shape is None else as_shape(shape)
    kind = value_dtype(np.float64 if dtype is None else dtype)
    require_start(start)
    with reading(source) as stream:
        blocks = [part[:2] for part in entries(stream, size, kind, start, progress=progress)]
    if blocks:
        coords, values = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    elif size is None:
        raise FileFormatError("the file has no entries, which would say how many axes there are; give shape=")
    else:
        coords, values = np.empty((0, len(size)), np.int64), np.empty(0, kind)
    return from_coords(list(coords.T.copy() - start), values, size, format=format)


def require_start(start: int) -> None:
    """Raise ``ValueError`` for another first coordinate than 0 and 1."""
    if start not in (0, 1):
        raise ValueError(f"coordinates in a file count from 0 or 1: start={start!r}")


def entries(
    stream: IO[bytes],
    shape: tuple[int, ...] | None,
    dtype: np.dtype[Any],
    start: int,
    *,
    progress: bool | None = False,
    size: int | None = None,
    line: int = 1,
) -> Iterator[tuple[Array, Array, tuple[int, int, int]]]:
    """Yield the coordinates and the values of each block of lines, and where it is."""
    table = None
    for text, number, offset in blocks(stream, progress, size):
        first = number + line - 1
        if b"\0" in text:
            first += text[: text.index(b"\0")].count(b"\n")
            raise FileFormatError(f"line {first} holds a NUL byte, which text does not")
        if table is None:  # all lines so far were comments
            table = _table(text, first, shape, dtype, start)
        if table is not None:
            yield *table.parsed(text, first), (offset, len(text), first)


def blocks(stream: IO[bytes], progress: bool | None, size: int | None = None) -> Iterator[tuple[bytes, int, int]]:
    """Yield blocks of whole lines, each with the number of its first line and its offset in the stream."""
    size = _BLOCK if size is None else size
    bar, line, rest, offset = None, 1, b"", 0
    try:
        while block := stream.read(size):
            # A full block means that the file is long enough for a progress bar.
            if bar is None and (progress or (progress is None and len(block) == size)):
                bar = _bar()
            if bar is not None:
                bar.update(len(block))
            if not offset and (rest + block).startswith(codecs.BOM_UTF8):
                rest, block, offset = b"", (rest + block).removeprefix(codecs.BOM_UTF8), len(codecs.BOM_UTF8)
            # The part after the last line break is kept for the next block.
            text, newline, rest = (rest + block).rpartition(b"\n")
            if newline:
                yield text, line, offset
                line += text.count(b"\n") + 1
                offset += len(text) + 1
            if len(rest) > size:
                raise FileFormatError(f"line {line} has more than {size:,} characters")
        if rest.strip():
            yield rest, line, offset
    finally:
        if bar is not None:
            bar.close()


def _bar() -> Any:
    try:
        from tqdm import tqdm  # type: ignore[import-untyped]
    except ImportError:
        return None
    return tqdm(unit="B", unit_scale=True, desc="reading", mininterval=0.5)


def _lines(text: bytes, first: int) -> Iterator[tuple[int, bytes, list[bytes]]]:
    """Yield the number, the text and the words of each line that is neither blank nor a comment."""
    for n, raw in enumerate(text.split(b"\n"), first):
        words = raw.split()
        if words and not words[0].startswith((b"#", b"%")):
            yield n, raw, words


def _shown(raw: bytes) -> str:
    return repr(raw[:400].decode(errors="replace").strip()[:80])


def _table(text: bytes, first: int, shape: tuple[int, ...] | None, dtype: np.dtype[Any], start: int) -> _Table | None:
    """Return the form of the lines, by the first line that is no comment; None if all lines are comments."""
    n, raw, words = next(_lines(text, first), (0, b"", []))
    if not words:
        return None
    order = len(words) - 1
    if order < 1:
        raise FileFormatError(f"line {n} has 1 numbers instead of 2: {_shown(raw)}")
    if order > _AXES:
        raise FileFormatError(f"line {n} has {order} coordinates; tensors have up to {_AXES} axes: {_shown(raw)}")
    if shape is not None and len(shape) != order:
        raise FileFormatError(f"lines have {order} coordinates; shape {shape} has {len(shape)} axes: line {n}")
    return _Table(order, shape, dtype, start)


@record
class _Table:
    """Form that all lines of a file share."""

    order: int  # the number of coordinates in a line
    shape: tuple[int, ...] | None  # the shape of the tensor, if it is given
    dtype: np.dtype[Any]  # the dtype of the values
    start: int  # the first coordinate of each axis

    @cached
    def limits(self) -> tuple[int, int] | None:
        """Least and greatest integer that the dtype holds; None for floats."""
        if self.dtype.kind == "b":
            return 0, 1
        return (int(np.iinfo(self.dtype).min), int(np.iinfo(self.dtype).max)) if self.dtype.kind in "iu" else None

    # Valid lines are read fast by NumPy. Slow code finds the first invalid line, with its number.
    def parsed(self, text: bytes, line: int) -> tuple[Array, Array]:
        """Return the coordinates and values of some lines, of which ``line`` is the number of the first."""
        return self._at_once(text) or self._one_by_one(text, line)

    def _at_once(self, text: bytes) -> tuple[Array, Array] | None:
        """Return the coordinates and values that NumPy reads; None for lines that are invalid or may be read wrong."""
        data = text
        if b"#" in text or b"%" in text:
            data = b"\n".join([one for one in text.split(b"\n") if not one.lstrip().startswith((b"#", b"%"))])
        # Digits and signs are deleted. A remaining x within coordinates, or in values that are to be integers, is
        # something that is not written as an integer, such as 1.5 or 1e3.
        kinds = data.translate(_KINDS, b"0123456789+-\r")
        if self.dtype == np.uint64 or not data.strip() or (b"x" if self.limits else b"x ") in kinds:
            return None  # NumPy before 2.3 reads such integers as floats first, which is inexact
        value = np.int64 if self.limits else np.complex128 if self.dtype.kind == "c" else np.float64
        entry = [("coords", np.int64, (self.order,)), ("value", value)]
        try:
            rows = np.loadtxt(BytesIO(data), dtype=entry, comments=None, ndmin=1)
        except ValueError:
            return None
        coords, values = rows["coords"], rows["value"]
        # Coordinates outside the shape and values that the dtype cannot hold are left to the code with messages.
        largest = coords.max(axis=0)
        beyond = self.shape is not None and (largest - self.start >= self.shape).any()
        if beyond or coords.min() < self.start or largest.max() > _EXTREME or not self._holds(values):
            return None
        return coords, values.astype(self.dtype)

    def _holds(self, values: Array) -> bool:
        """Return whether the dtype certainly holds all values."""
        if self.limits:
            low, high = self.limits
            return bool(values.min() >= max(low, -_EXTREME) and values.max() <= min(high, _EXTREME))
        with np.errstate(over="ignore"):
            return not np.isinf(values.astype(self.dtype)).any()

    def _one_by_one(self, text: bytes, line: int) -> tuple[Array, Array]:
        """Return the coordinates and values of lines that NumPy does not read, exactly and slowly."""
        coords, values = [], []
        for n, raw, words in _lines(text, line):
            try:
                if len(words) != self.order + 1:
                    raise ValueError(f"has {len(words)} numbers instead of {self.order + 1}")
                place = [self._coordinate(word) for word in words[:-1]]
                values.append(self._value(words[-1]))
                if self.shape is not None and any(
                    c - self.start >= size for c, size in zip(place, self.shape, strict=True)
                ):
                    raise ValueError(f"has coordinates {place}, which are outside shape {self.shape}")
                coords.append(place)
            except ValueError as error:
                raise FileFormatError(f"line {n} {error}: {_shown(raw)}") from None
        return np.array(coords, np.int64).reshape(-1, self.order), np.array(values, self.dtype)

    def _value(self, word: bytes) -> complex:
        parts = _COMPLEX.fullmatch(word)
        if parts is None or (parts[2] is None and b"(" in word):
            raise ValueError(f"holds {_word(word)!r}, which is no number")
        if parts[2] is None:
            return self._real(word, word)
        if self.dtype.kind != "c":
            raise ValueError(f"has value {_word(word)}, which {self.dtype} does not hold; give dtype='complex128'")
        return complex(self._real(parts[1], word), self._real(parts[2], word))

    def _real(self, word: bytes, text: bytes) -> int | float:
        number = _number(word)
        if self.limits:
            low, high = self.limits
            if not number.is_finite() or number != number.to_integral_value() or not low <= number <= high:
                raise ValueError(f"has value {_word(text)}, which {self.dtype} does not hold")
            return int(number)
        value = float(word)
        with np.errstate(over="ignore"):
            if number.is_finite() and np.isinf(self.dtype.type(value).real):
                raise ValueError(f"has value {_word(text)}, which {self.dtype} does not hold")
        return value

    def _coordinate(self, word: bytes) -> int:
        number = _number(word)
        if not _INTEGER.fullmatch(word):
            raise ValueError(f"has {_word(word)} for a coordinate; coordinates are written as integers")
        if number < self.start:
            hint = "; start=0 reads files that count from 0" if number == 0 else ""
            raise ValueError(f"has coordinate {_word(word)}; coordinates count from {self.start}{hint}")
        if number > INT64_MAX:
            raise ValueError(f"has coordinate {_word(word)}, which int64 does not hold")
        return int(number)


def _number(word: bytes) -> Decimal:
    """Return the exact number that a word is; raise ``ValueError`` if it is none."""
    if not _NUMBER.fullmatch(word):
        raise ValueError(f"holds {_word(word)!r}, which is no number")
    return Decimal(word.decode())


def _word(word: bytes) -> str:
    return word[:40].decode(errors="replace")


@ends_at_caller
def write_tns(target: PathOrStream, A: SparseTensor, *, start: int = 1) -> None:
    """Write a tensor as a FROSTT file, compressed if the name ends in ``.gz`` or ``.bz2``.

    Parameters
    ----------
    target : path or stream
        The file to write.
    A : SparseTensor
        A tensor with fill value 0. Complex values are written as Python prints them, such as ``(0.5-2j)``.
    start : {1, 0}
        The first coordinate of each axis in the file.

    Raises
    ------
    FileFormatError
        For other fill values and tensors without axes.
    ValueError
        For another ``start``.

    Examples
    --------
    >>> import weft
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> with TemporaryDirectory() as folder:
    ...     weft.write_tns(f"{folder}/a.tns", A)
    ...     print(Path(folder, "a.tns").read_text())
    1 2 1
    2 1 2
    """
    A = asarray(A)
    require_start(start)
    if A.ndim == 0 or (A.fill_value != 0 and not A.layout.is_dense):
        raise FileFormatError(
            f"a .tns file has at least one axis and no fill value; this tensor has shape {A.shape} and fill value "
            f"{A.fill_value}. Save it in a file ending in .npz"
        )
    coords, values = A.to_coo()
    kind = "%d" if A.dtype.kind in "iub" else "%s" if A.dtype.kind == "c" else "%.17g"
    with writing(target) as stream:
        # Blocks of entries bound the memory of the text.
        for begin in range(0, len(values), 1 << 16):
            end = begin + (1 << 16)
            places = coords[:, begin:end].astype(np.int64) + start
            lines = zip(*places.tolist(), values[begin:end].tolist(), strict=True)
            pattern = " ".join(["%d"] * A.ndim) + f" {kind}\n"
            stream.write("".join([pattern % entry for entry in lines]).encode())
