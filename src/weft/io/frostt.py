"""FROSTT ``.tns`` files: a line for each entry, coordinates from 1 and the value, separated by blanks."""

from __future__ import annotations

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
from .streams import PathOrStream, reading, writing

__all__ = ["read_tns", "write_tns"]

Array: TypeAlias = np.ndarray[Any, Any]

_BLOCK = 1 << 24
_AXES = 64  # of NumPy's arrays, too
_EXTREME = 2**62  # what NumPy may have read wrong, before it refused integers beyond int64
_INTEGER = re.compile(rb"[+-]?\d+")
_NUMBER = re.compile(rb"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE)
_BLANKS, _BREAK = b" \t\v\f", b"\n"
_KINDS = bytes(ord(" ") if c in _BLANKS else c if c in _BREAK else ord("x") for c in range(256))
"""Blanks as one of them and line breaks as they are; anything else is ``x``, where digits and signs are left out."""


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
        Of the values; float64 where not given. Integers are read exactly.
    format : str or Format, optional
        Of the result; entries with equal coordinates are summed.
    progress : bool, optional
        Whether to show a bar (with tqdm, where it is installed); by default for long files.

    Returns
    -------
    SparseTensor
        A tensor of ``shape``, with fill value 0.

    Raises
    ------
    FileFormatError
        For lines of another length, text that is no number, coordinates that are no integers, below 1 or beyond the
        shape, and values that ``dtype`` does not hold; the message has the line's number. For a file without entries
        where no shape is given, and for more than 64 axes.

    Examples
    --------
    >>> import io
    >>> read_tns(io.StringIO("1 1 2 5.0\n2 3 1 1.5\n")).shape
    (2, 3, 2)
    """
    size = None if shape is None else as_shape(shape)
    wanted = value_dtype(np.float64 if dtype is None else dtype)
    with reading(source) as stream:
        found = [*_entries(stream, size, wanted, progress)]
    if found:
        coords, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
    elif size is None:
        raise FileFormatError("the file has no entries, which would say how many axes there are; give shape=")
    else:
        coords, values = np.empty((0, len(size)), np.int64), np.empty(0, wanted)
    return from_coords(list(coords.T.copy() - 1), values, size, format=format)


def _entries(
    stream: IO[bytes], shape: tuple[int, ...] | None, dtype: np.dtype[Any], progress: bool | None
) -> Iterator[tuple[Array, Array]]:
    """Give the coordinates and the values of each block of lines."""
    table = None
    for text, line in _blocks(stream, progress):
        if b"\0" in text:
            line += text[: text.index(b"\0")].count(b"\n")
            raise FileFormatError(f"line {line} holds a NUL byte, which text does not")
        if table is None:
            table = _table(text, line, shape, dtype)
        if table is not None:
            yield table.parsed(text, line)


def _blocks(stream: IO[bytes], progress: bool | None) -> Iterator[tuple[bytes, int]]:
    """Give whole lines, block by block, with the number of the first."""
    bar, line, rest = None, 1, b""
    try:
        while block := stream.read(_BLOCK):
            if bar is None and (progress or (progress is None and len(block) == _BLOCK)):
                bar = _bar()
            if bar is not None:
                bar.update(len(block))
            text, newline, rest = (rest + block).rpartition(b"\n")
            if newline:
                yield text, line
                line += text.count(b"\n") + 1
            if len(rest) > _BLOCK:
                raise FileFormatError(f"line {line} has more than {_BLOCK:,} characters")
        if rest.strip():
            yield rest, line
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
    """Give the number, the text and the words of each line that is neither blank nor a comment."""
    for n, raw in enumerate(text.split(b"\n"), first):
        words = raw.split()
        if words and not words[0].startswith((b"#", b"%")):
            yield n, raw, words


def _shown(raw: bytes) -> str:
    return repr(raw[:400].decode(errors="replace").strip()[:80])


def _table(text: bytes, first: int, shape: tuple[int, ...] | None, dtype: np.dtype[Any]) -> _Table | None:
    """Return what the lines are like, from the first that is no comment; None where all are."""
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
    return _Table(order, shape, dtype)


@record
class _Table:
    """The form that all lines share.

    Parameters
    ----------
    order : int
        How many coordinates each has.
    shape : tuple of int or None
        What they are to be within.
    dtype : dtype
        Of the values.
    """

    order: int
    shape: tuple[int, ...] | None
    dtype: np.dtype[Any]

    @cached
    def limits(self) -> tuple[int, int] | None:
        """The least and the greatest integer that the dtype holds; None for floats."""
        if self.dtype.kind == "b":
            return 0, 1
        return (int(np.iinfo(self.dtype).min), int(np.iinfo(self.dtype).max)) if self.dtype.kind in "iu" else None

    def parsed(self, text: bytes, line: int) -> tuple[Array, Array]:
        """The coordinates and values of some lines, of which ``line`` is the number of the first."""
        return self._at_once(text) or self._one_by_one(text, line)

    def _at_once(self, text: bytes) -> tuple[Array, Array] | None:
        """Return what NumPy reads; None for what it may read wrong, and for what is to be complained of."""
        data = text
        if b"#" in text or b"%" in text:
            data = b"\n".join([one for one in text.split(b"\n") if not one.lstrip().startswith((b"#", b"%"))])
        kinds = data.translate(_KINDS, b"0123456789+-\r")
        if self.dtype == np.uint64 or not data.strip() or (b"x" if self.limits else b"x ") in kinds:
            return None  # NumPy before 2.3 reads integers by way of floats where it must
        entry = [("coords", np.int64, (self.order,)), ("value", np.int64 if self.limits else np.float64)]
        try:
            rows = np.loadtxt(BytesIO(data), dtype=entry, comments=None, ndmin=1)
        except ValueError:
            return None
        coords, values = rows["coords"], rows["value"]
        largest = coords.max(axis=0)
        beyond = self.shape is not None and (largest > self.shape).any()
        if beyond or coords.min() < 1 or largest.max() > _EXTREME or not self._holds(values):
            return None
        return coords, values.astype(self.dtype)

    def _holds(self, values: Array) -> bool:
        """Tell whether the dtype holds all values for sure."""
        if self.limits:
            low, high = self.limits
            return bool(values.min() >= max(low, -_EXTREME) and values.max() <= min(high, _EXTREME))
        with np.errstate(over="ignore"):
            return not np.isinf(values.astype(self.dtype)).any()

    def _one_by_one(self, text: bytes, line: int) -> tuple[Array, Array]:
        """Return what NumPy does not read, exactly and slowly.

        Raises
        ------
        FileFormatError
            Says what is wrong with the first line that is not as it should be.
        """
        coords, values = [], []
        for n, raw, words in _lines(text, line):
            try:
                if len(words) != self.order + 1:
                    raise ValueError(f"has {len(words)} numbers instead of {self.order + 1}")
                place = [_coordinate(word) for word in words[:-1]]
                values.append(self._value(words[-1]))
                if self.shape is not None and any(c > size for c, size in zip(place, self.shape, strict=True)):
                    raise ValueError(f"has coordinates {place}, which are outside shape {self.shape}")
                coords.append(place)
            except ValueError as error:
                raise FileFormatError(f"line {n} {error}: {_shown(raw)}") from None
        return np.array(coords, np.int64).reshape(-1, self.order), np.array(values, self.dtype)

    def _value(self, word: bytes) -> int | float:
        number = _number(word)
        if self.limits:
            low, high = self.limits
            if not number.is_finite() or number != number.to_integral_value() or not low <= number <= high:
                raise ValueError(f"has value {_word(word)}, which {self.dtype} does not hold")
            return int(number)
        value = float(word)
        with np.errstate(over="ignore"):
            if number.is_finite() and np.isinf(self.dtype.type(value)):
                raise ValueError(f"has value {_word(word)}, which {self.dtype} does not hold")
        return value


def _coordinate(word: bytes) -> int:
    number = _number(word)
    if not _INTEGER.fullmatch(word):
        raise ValueError(f"has {_word(word)} for a coordinate; coordinates are written as integers")
    if number < 1:
        raise ValueError(f"has coordinate {_word(word)}; coordinates count from 1")
    if number > INT64_MAX:
        raise ValueError(f"has coordinate {_word(word)}, which int64 does not hold")
    return int(number)


def _number(word: bytes) -> Decimal:
    """The number that is written, exactly."""
    if not _NUMBER.fullmatch(word):
        raise ValueError(f"holds {_word(word)!r}, which is no number")
    return Decimal(word.decode())


def _word(word: bytes) -> str:
    return word[:40].decode(errors="replace")


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
            places = coords[:, begin:end].astype(np.int64) + 1
            lines = zip(*places.tolist(), values[begin:end].tolist(), strict=True)
            pattern = " ".join(["%d"] * A.ndim) + f" {kind}\n"
            stream.write("".join([pattern % entry for entry in lines]).encode())
