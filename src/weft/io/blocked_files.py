"""Files of coordinates and values in blocks, of which those are read that may have entries in some rows.

Blocks are lines of text of about as many bytes, or row groups of parquet.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ..dtypes import value_dtype
from ..errors import FileFormatError
from ..tensor import SparseTensor, from_coords
from ..tensor.construction import as_shape
from . import frostt, matrix_market
from .frostt import read_tns
from .matrix_market import read_mtx
from .streams import reading
from .tensor_files import Array, TensorFile, broken_files_raise

_BINS = 1 << 16  # ranges of rows in which entries are counted
_BLOCK = 1 << 22  # characters of a block of text
_LINE = re.compile(r"Line (\d+)")


class Block(NamedTuple):
    """A block of a file: where it is, its rows from ``low`` to ``high``, and its number of entries, the size."""

    place: Any
    low: int
    high: int
    size: int


class Index:
    """The blocks of a file, the largest coordinate of each axis, and the numbers of entries in ranges of rows."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.bin, self.counts, self.largest = 1, np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, place: Any, coords: Sequence[Array]) -> None:
        """Add a block of a file with entries."""
        tops = np.array([int(crd.max()) for crd in coords])
        self.largest = np.maximum(self.largest, tops) if len(self.largest) else tops
        self.blocks.append(Block(place, int(coords[0].min()), int(tops[0]), len(coords[0])))
        while int(tops[0]) // self.bin >= _BINS:
            self.counts = np.pad(self.counts, (0, len(self.counts) % 2)).reshape(-1, 2).sum(axis=1)
            self.bin *= 2
        here = np.bincount(coords[0] // self.bin)
        size = max(len(here), len(self.counts))
        self.counts = np.pad(self.counts, (0, size - len(self.counts))) + np.pad(here, (0, size - len(here)))


class BlockedFile(TensorFile):
    """A tensor of coordinates and values in blocks.

    The first part that is read, and ``nnz`` and ``cuts``, take a pass over the file, which notes the rows in each
    block. If the entries are sorted by rows, a part is then read alone; else each block that may have entries of it.
    """

    format = "coo"
    _index: Index | None = None

    @abstractmethod
    def _blocks(self) -> Iterator[tuple[Any, Sequence[Array], Array]]:
        """Yield each block of the file: where it is, its coordinates and its values."""

    @abstractmethod
    def _block(self, places: list[Any]) -> Iterator[tuple[Sequence[Array], Array]]:
        """Yield the coordinates and values of some blocks."""

    def _indexed(self) -> Index:
        if self._index is None:
            self._require_same()
            index = Index()
            with broken_files_raise(self.path):
                for place, coords, values in self._blocks():
                    if len(values):
                        index.add(place, coords)
            self._index = index
        return self._index

    @property
    def nnz(self) -> int:
        return sum(block.size for block in self._indexed().blocks)

    def _counts(self) -> tuple[Array, Array]:
        index = self._indexed()
        ends = np.cumsum([0, *index.counts.tolist()])
        places = np.minimum(np.arange(len(ends)) * index.bin, self.shape[0])
        if places[-1] < self.shape[0]:  # there are no entries in the last rows
            places, ends = np.append(places, self.shape[0]), np.append(ends, ends[-1])
        return places, ends

    def _read(self, start: int, stop: int) -> SparseTensor:
        blocks = [block for block in self._indexed().blocks if block.low < stop and block.high >= start]
        coords, values = [[np.empty(0, np.int64)] for _ in self.shape], [np.empty(0, self.dtype)]
        with broken_files_raise(self.path):
            for found, vals in self._block([block.place for block in blocks]):
                inside = (found[0] >= start) & (found[0] < stop)
                for part, crd in zip(coords, found, strict=True):
                    part.append(crd[inside])
                values.append(vals[inside].astype(self.dtype, copy=False))
        rows, *rest = map(np.concatenate, coords)
        shape = (stop - start, *self.shape[1:])
        return from_coords([rows - start, *rest], np.concatenate(values), shape, fill_value=self.fill_value)


class TnsFile(BlockedFile):
    """A FROSTT file, of which blocks of lines are read."""

    def __init__(
        self, path: str, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, start: int = 1
    ) -> None:
        super().__init__(path)
        self.dtype, self._start = value_dtype(np.float64 if dtype is None else dtype), start
        frostt.require_start(start)
        self._size = None if shape is None else as_shape(shape)
        if self._size is not None:
            self.shape = self._size
            return
        largest = self._indexed().largest
        if not len(largest):
            raise FileFormatError(f"{path!r} has no entries, which would say how many axes there are; give shape=")
        self.shape = as_shape((largest + 1).tolist())

    def _load(self) -> SparseTensor:
        self._require_same()
        return read_tns(self.path, shape=self.shape, dtype=self.dtype, start=self._start)

    def _blocks(self) -> Iterator[tuple[Any, Sequence[Array], Array]]:
        with reading(self.path) as stream:
            for coords, values, place in frostt.entries(stream, self._size, self.dtype, self._start, size=_BLOCK):
                yield place, [*(coords.T - self._start)], values

    def _block(self, places: list[Any]) -> Iterator[tuple[Sequence[Array], Array]]:
        with reading(self.path) as stream:
            for offset, length, line in places:
                stream.seek(offset)
                text = BytesIO(stream.read(length))
                for coords, values, _ in frostt.entries(text, self.shape, self.dtype, self._start, line=line):
                    yield [*(coords.T - self._start)], values


class MatrixMarketFile(BlockedFile):
    """A Matrix Market file of coordinates, of which blocks of lines are read."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        with reading(path) as stream:
            self._header = header = matrix_market.header(stream)
        self._rows, self._columns, self._count, field = matrix_market.sizes(header)
        self.shape = (self._rows,) if header.is_vector else (self._rows, self._columns)
        self.dtype = np.dtype(matrix_market.DTYPES.get(field, "float64"))

    def _load(self) -> SparseTensor:
        self._require_same()
        return read_mtx(self.path)

    def _blocks(self) -> Iterator[tuple[Any, Sequence[Array], Array]]:
        lines = 0
        with reading(self.path) as stream:
            first = len(matrix_market.header(stream).text.split(b"\n"))
            begin = stream.tell()
            for text, line, offset in frostt.blocks(stream, False, _BLOCK):
                here, coords, values = self._parsed(text, first + line - 1)
                lines += here
                yield (begin + offset, len(text), first + line - 1), coords, values
        if lines != self._count:
            raise FileFormatError(f"{self.path!r} has {lines} entries; its header says {self._count}")

    def _block(self, places: list[Any]) -> Iterator[tuple[Sequence[Array], Array]]:
        with reading(self.path) as stream:
            for offset, length, line in places:
                stream.seek(offset)
                yield self._parsed(stream.read(length), line)[1:]

    def _parsed(self, text: bytes, line: int) -> tuple[int, Sequence[Array], Array]:
        """Return the number of lines with an entry, and the entries of both halves, from some lines of the file."""
        count = sum(1 for row in text.split(b"\n") if row.strip())
        header = self._header.resized(f"{self._rows} {self._columns} {count}")
        first = header.text.count(b"\n")
        try:
            matrix = matrix_market.parsed(header, BytesIO(text))
        except FileFormatError as error:
            raise FileFormatError(_LINE.sub(lambda n: f"Line {int(n[1]) - first + line - 1}", str(error))) from None
        return count, matrix.coords[: len(self.shape)], matrix.data
