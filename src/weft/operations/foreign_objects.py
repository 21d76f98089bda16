"""Objects of other packages that are no tensors: tables of sparse columns, and what to call for objects of other kinds.

Objects are told by what they can do, so that no package is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

import numpy as np

from ..dtypes import index_dtype, name_of, value_dtype
from ..formats import parse_format
from ..storage import Storage, fill_of, tensor_type
from . import foreign_tensors
from .operands import StorageHolder


def sparse_columns(obj: Any) -> Storage | None:
    """Return the columns of a DataFrame as csc, a single one as coo; None unless all are sparse and alike."""
    ndim = getattr(obj, "ndim", 0)
    if ndim == 2 and hasattr(obj, "iloc") and hasattr(obj, "sparse"):
        columns = [obj.iloc[:, k].array for k in range(obj.shape[1])]
    elif ndim == 1 and hasattr(column := getattr(obj, "array", obj), "sp_index"):
        columns = [column]
    else:
        return None
    fills = np.array([column.fill_value for column in columns])
    if not columns or not ((fills == fills[0]) | ((fills != fills) & (fills[0] != fills[0]))).all():
        return None
    places = [column.sp_index.to_int_index().indices for column in columns]
    vals = np.concatenate([column.sp_values for column in columns])
    dtype = value_dtype(vals.dtype)
    pos = np.cumsum([0, *map(len, places)])
    name = index_dtype(max(int(pos[-1]), *obj.shape)).name
    type = tensor_type(
        name_of(dtype), parse_format("csc" if ndim == 2 else "coo", ndim), (name, name), fill_of(dtype, fills[0])
    )
    return Storage(obj.shape, type, (pos.astype(name), np.concatenate(places).astype(name)), vals.astype(dtype))


def why_no_array(obj: Any) -> str | None:
    """Return the words of an error for an object that NumPy must not make an array of: what it is and what to call."""
    kind = type(obj).__name__
    if hasattr(obj, "adjacency") and hasattr(obj, "number_of_edges"):
        return f"{kind} is a graph; weft.from_networkx(x) gives its matrix"
    if getattr(getattr(obj, "index", None), "nlevels", 1) > 1 and getattr(obj, "ndim", 0) == 1:
        return f"{kind} with an index of {obj.index.nlevels} levels is a table; weft.from_series(x) takes it"
    if hasattr(obj, "to_memory"):
        return f"{kind} is not in memory; read it, weft.asarray(x.to_memory())"
    if hasattr(obj, "to_pandas") and hasattr(obj, "column_names"):
        return f"{kind} is a table; with columns of coordinates and of values, weft.from_table(x) takes it"
    if isinstance(obj, Mapping):
        return f"{kind} is no array; with coordinates as keys, weft.from_coords(zip(*x), list(x.values())) takes it"
    if isinstance(obj, Set | Iterator) or (isinstance(obj, Iterable) and not hasattr(obj, "__getitem__")):
        return None if hasattr(obj, "__array__") else f"{kind} has no order or length; make a list, weft.asarray([*x])"
    return None


def holds_tensors(obj: Any) -> bool:
    """Return whether a list, or a list in it, holds tensors or sparse arrays of other packages."""
    first = obj
    while isinstance(first, list | tuple) and first:
        first = first[0]
    return isinstance(first, StorageHolder) or foreign_tensors.is_read(type(first))
