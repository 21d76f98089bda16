"""Parquet files with a column of coordinates for each axis and a column of values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..dtypes import value_dtype
from ..errors import FileFormatError, WeftError
from ..interop.arrow_tables import columns_of, from_table, numbers_of, to_table
from ..tensor import SparseTensor
from ..tensor.construction import as_shape
from .blocked_files import BlockedFile
from .containers import parquet, replaced
from .streams import opened
from .tensor_files import Array, broken_files_raise


class ParquetFile(BlockedFile):
    """A table in a parquet file, of which row groups are read."""

    def __init__(
        self,
        path: str,
        coords: Sequence[str] | None = None,
        values: str | None = None,
        shape: Sequence[int] | None = None,
    ) -> None:
        super().__init__(path)
        package = parquet()
        with broken_files_raise(path), opened(path), package.ParquetFile(path) as file, self._table_expected():
            self._columns = columns_of(file.schema_arrow, coords, values, shape)
            empty = file.schema_arrow.empty_table()
            self.dtype = value_dtype(numbers_of(empty, self._columns.values).dtype)
            for name in self._columns.coords:
                numbers_of(empty, name, integers=True)
        self.fill_value = self.dtype.type(self._columns.fill)
        if self._columns.shape is not None:
            self.shape = self._columns.shape
        else:
            largest = self._indexed().largest
            self.shape = as_shape((largest + 1).tolist()) if len(largest) else (0,) * len(self._columns.coords)

    def _load(self) -> SparseTensor:
        self._require_same()
        about = self._columns
        with broken_files_raise(self.path), self._table_expected(), opened(self.path):
            table = parquet().read_table(self.path, columns=[*about.coords, about.values])
            found = from_table(table, coords=about.coords, values=about.values, shape=self.shape)
        return found.with_fill(self.fill_value)

    @contextmanager
    def _table_expected(self) -> Iterator[None]:
        """Raise ``FileFormatError`` for columns that do not make a tensor."""
        try:
            yield
        except FileFormatError:
            raise
        except WeftError as error:
            raise FileFormatError(f"{self.path!r} is no table of a tensor: {error}") from None

    def _blocks(self) -> Iterator[tuple[Any, Sequence[Array], Array]]:
        # Statistics of row groups would say the same without reading a column, if they can be trusted.
        with opened(self.path), parquet().ParquetFile(self.path) as file:
            for place in range(file.metadata.num_row_groups):
                coords = self._coords(file.read_row_group(place, columns=[*self._columns.coords]))
                yield place, coords, coords[0]

    def _block(self, places: list[Any]) -> Iterator[tuple[Sequence[Array], Array]]:
        about = self._columns
        with opened(self.path), parquet().ParquetFile(self.path) as file:
            for place in places:
                table = file.read_row_group(place, columns=[*about.coords, about.values])
                with self._table_expected():
                    values = numbers_of(table, about.values)
                yield self._coords(table), values

    def _coords(self, table: Any) -> list[Array]:
        about = self._columns
        with self._table_expected():
            coords = [numbers_of(table, name, integers=True) for name in about.coords]
        for axis, crd in enumerate(coords):
            size = None if about.shape is None else about.shape[axis]
            if len(crd) and (crd.min() < 0 or (size is not None and crd.max() >= size)):
                raise FileFormatError(
                    f"{self.path!r}: column {about.coords[axis]!r} has coordinates from {crd.min()} to {crd.max()}, "
                    f"outside axis {axis} of shape {about.shape}"
                )
        return coords


def save(path: str, A: SparseTensor) -> None:
    """Write the table of a tensor."""
    package = parquet()
    with replaced(path) as new:
        package.write_table(to_table(A), new)
