"""Tables of pyarrow with a column of coordinates for each axis and a column of values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..doors import optional
from ..dtypes import value_dtype
from ..errors import DTypeError, FormatError, ShapeError, StorageError
from ..formats import FormatLike
from ..records import record
from ..tensor import SparseTensor, asarray, from_coords
from ..tensor.construction import as_shape
from ..tracebacks import ends_at_caller

_KEY = b"weft"


def arrow() -> Any:
    """Return the package pyarrow; raise ``MissingPackageError`` if it is not installed."""
    with optional("tables are made with pyarrow", "files"):
        import pyarrow
    return pyarrow


@record
class Columns:
    """The columns of a table that make a tensor."""

    coords: tuple[str, ...]  # the column of each axis
    values: str  # the column of values
    shape: tuple[int, ...] | None  # the shape, if the table says it
    fill: Any


def columns_of(
    schema: Any, coords: Sequence[str] | None = None, values: str | None = None, shape: Sequence[int] | None = None
) -> Columns:
    """Return the columns of a table that make a tensor."""
    names, said = list(schema.names), {}
    if coords is None and values is None and _KEY in (schema.metadata or {}):
        try:
            said = json.loads(schema.metadata[_KEY])
            coords, values = [str(name) for name in said["coords"]], str(said["values"])
            shape = as_shape(said["shape"]) if shape is None else shape
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(f"the table's description of a tensor cannot be read: {error}") from None
    if values is None:
        rest = [name for name in names if name not in (coords or ())]
        if not rest or (coords is not None and len(rest) > 1):
            raise StorageError(f"which column has the values? give values=, one of {', '.join(map(repr, rest))}")
        values = rest[-1]
    coords = tuple(name for name in names if name != values) if coords is None else tuple(coords)
    if not coords and shape is None:
        raise StorageError(
            f"the table has no columns of coordinates, one for each axis, beside that of values, {values!r}"
        )
    missing = [name for name in (*coords, values) if names.count(name) != 1]
    if missing:
        raise StorageError(f"the table has no column {missing[0]!r}, or two; its columns are {', '.join(names)}")
    size = None if shape is None else as_shape(shape)
    if size is not None and len(size) != len(coords):
        raise ShapeError(f"shape {size} has {len(size)} axes; there are {len(coords)} columns of coordinates: {coords}")
    return Columns(coords, values, size, said.get("fill_value", 0))


def numbers_of(table: Any, name: str, *, integers: bool = False) -> np.ndarray[Any, Any]:
    """Return a column of numbers; raises ``DTypeError`` for other columns, and ``StorageError`` for nulls."""
    column = table.column(name)
    types = arrow().types
    is_integer = types.is_integer(column.type)
    if not (is_integer or (not integers and (types.is_floating(column.type) or types.is_boolean(column.type)))):
        hint = "; labels become integers by pandas.factorize or dictionary_encode" if integers else ""
        raise DTypeError(f"column {name!r} has type {column.type}, no {'integers' if integers else 'numbers'}{hint}")
    if column.null_count:
        raise StorageError(f"column {name!r} has {column.null_count} nulls; leave these rows out")
    numbers = column.to_numpy()
    if integers:
        if numbers.dtype == np.uint64 and len(numbers) and numbers.max() > np.iinfo(np.int64).max:
            raise StorageError(f"column {name!r} has coordinate {numbers.max()}, which int64 does not hold")
        return numbers.astype(np.int64, copy=False)  # type: ignore[no-any-return]
    return numbers.astype(value_dtype(numbers.dtype), copy=False)  # type: ignore[no-any-return]


@ends_at_caller
def from_table(
    table: Any,
    *,
    coords: Sequence[str] | None = None,
    values: str | None = None,
    shape: Sequence[int] | None = None,
    format: FormatLike = "coo",
) -> SparseTensor:
    """Make a tensor of a table with a column of coordinates for each axis and a column of values.

    Parameters
    ----------
    table : pyarrow.Table or pyarrow.RecordBatch
        The table. Rows with equal coordinates are summed.
    coords : sequence of str, optional
        The columns of coordinates, one for each axis. By default those that :func:`to_table` has written, or all but
        the column of values.
    values : str, optional
        The column of values. By default the one that :func:`to_table` has written, or the last.
    shape : sequence of int, optional
        The shape. By default the one that the table says, or the smallest that holds the coordinates.
    format : str or Format, optional
        The format of the result.

    Returns
    -------
    SparseTensor
        The tensor.

    Raises
    ------
    StorageError
        When there are no such columns, for nulls in them, and for coordinates outside the shape.
    DTypeError
        When columns do not hold numbers, or coordinates no integers.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> import pyarrow
    >>> columns = {"user": [0, 2, 2], "item": [1, 0, 0], "n": [1.0, 2.0, 3.0]}
    >>> table = pyarrow.table(columns)
    >>> weft.from_table(table, shape=(3, 2)).todense()
    array([[0., 1.],
           [0., 0.],
           [5., 0.]])
    """
    if not hasattr(table, "schema") or not hasattr(table, "column"):
        raise DTypeError(f"from_table takes a table of pyarrow, not a {type(table).__name__}")
    columns = columns_of(table.schema, coords, values, shape)
    rows = [numbers_of(table, name, integers=True) for name in columns.coords]
    vals = numbers_of(table, columns.values)
    return from_coords(rows, vals, columns.shape, format=format, fill_value=columns.fill)


@ends_at_caller
def to_table(A: SparseTensor, *, coords: Sequence[str] | None = None, values: str = "value") -> Any:
    """Return a table of the entries of a tensor: a column of coordinates for each axis, and a column of values.

    Parameters
    ----------
    A : SparseTensor
        The tensor. The table remembers its shape and fill value.
    coords : sequence of str, optional
        The names of the columns of coordinates. By default "axis_0", "axis_1", and so on.
    values : str, optional
        The name of the column of values.

    Returns
    -------
    pyarrow.Table
        The table, with a row for each entry.

    Raises
    ------
    FormatError
        For complex values, which tables do not have.
    ShapeError
        When there is no name for an axis.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.to_table(A, coords=["user", "item"]).column_names
    ['user', 'item', 'value']
    """
    A = asarray(A)
    names = [f"axis_{axis}" for axis in range(A.ndim)] if coords is None else [*coords]
    if len(names) != A.ndim or len({*names, values}) != len(names) + 1:
        raise ShapeError(f"a table of {A!r} has a column for each axis, and one of values: not {names} and {values!r}")
    if A.dtype.kind == "c":
        raise FormatError(f"tables have no complex values: take A.real and A.imag of {A!r}")
    crds, vals = A.to_coo()
    about = {"coords": names, "values": values, "shape": [*A.shape], "fill_value": A.fill_value.item()}
    arrays = [*crds, vals]
    return arrow().table(arrays, [*names, values], metadata={_KEY: json.dumps(about).encode()})
