"""Triangles and diagonals, as NumPy and the array API standard name them.

Examples
--------
>>> import weft
>>> A = weft.asarray([[1.0, 2.0], [0.0, 4.0]], format="csr")
>>> weft.diagonal(A).todense(), weft.triu(A, k=1).nnz
(array([1., 4.]), 1)
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index
from numpy.typing import DTypeLike

from .. import execution
from ..dtypes import shifted
from ..errors import ShapeError
from ..formats import Format, FormatLike, TensorType
from ..index_notation.nodes import Access, Assignment
from ..operations.elementwise import ElementwisePlan
from ..operations.fill_change import change_fill, relabel_fill, require_dense
from ..operations.indexing import coordinates, format_for_axes, getitem, has_long_array
from ..operations.operands import storage_of
from ..runtime import memory
from ..storage import Storage, checked_shape, coordinate_storage
from ..tensor.construction import as_shape
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import ravel

__all__ = [
    "diag", "diag_indices_from", "diagflat", "diagonal", "tri", "tril", "tril_indices_from", "triu",
    "triu_indices_from",
]  # fmt: skip


def tril(x: Any, /, k: int = 0, format: FormatLike | None = None) -> SparseTensor:
    """The elements on and below diagonal ``k`` of the last two axes; above it is zero."""
    return _triangle(x, lambda i, j: j.astype(np.int64) - i <= k, "tril").asformat(format)


def triu(x: Any, /, k: int = 0, format: FormatLike | None = None) -> SparseTensor:
    """The elements on and above diagonal ``k`` of the last two axes; below it is zero."""
    return _triangle(x, lambda i, j: j.astype(np.int64) - i >= k, "triu").asformat(format)


def _triangle(x: Any, inside: Any, name: str) -> SparseTensor:
    storage = change_fill(storage_of(x), 0)
    n = len(storage.shape)
    if n < 2:
        raise ShapeError(f"{name} needs two axes; this tensor has shape {storage.shape}")
    # In the order in which entries are stored, so that none is sorted.
    modes = range(n) if storage.format.is_structured else storage.format.mode_order
    turned = SparseTensor(storage).transpose(modes)._storage
    coo = execution.convert(turned, coordinates(n))
    rows = dict(zip(modes, coo.arrays[1:], strict=True))
    keep = inside(rows[n - 2], rows[n - 1])
    found = coordinate_storage(turned.shape, [row[keep] for row in coo.arrays[1:]], coo.vals[keep], 0)
    back = [list(modes).index(axis) for axis in range(n)]
    return SparseTensor(execution.convert(found, turned.format)).transpose(back)


def diagonal(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> SparseTensor:
    """The elements whose coordinates in two axes differ by ``offset``, along a last axis.

    Those of a matrix are a dense vector where its format has an array as long, as csr has.
    """
    tensor = SparseTensor(storage_of(x))
    if tensor.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    a, b = normalize_axis_index(axis1, tensor.ndim), normalize_axis_index(axis2, tensor.ndim)
    if a == b:
        raise ValueError("axis1 and axis2 cannot be the same")
    rows, columns = tensor.shape[a], tensor.shape[b]
    first, second = max(0, -offset), max(0, offset)
    count = max(0, min(rows - first, columns - second))
    square = tensor._storage
    if count < rows or count < columns:
        key = [slice(None)] * tensor.ndim
        key[a], key[b] = slice(first, first + count), slice(second, second + count)
        square = getitem(square, tuple(key))
    dense = tensor.ndim == 2 and has_long_array(tensor._storage.format)
    found = _along(square.type, a, b, dense).run((square,))
    return SparseTensor(relabel_fill(found, tensor._storage.type.fill))


@lru_cache(maxsize=1024)
def _along(type: TensorType, a: int, b: int, dense: bool) -> ElementwisePlan:
    """What takes the elements whose coordinates in two axes are equal."""
    n = type.format.order
    names = [f"i{axis if axis != b else a}" for axis in range(n)]
    target = (*(f"i{axis}" for axis in range(n) if axis not in (a, b)), f"i{a}")
    format = Format.dense(1) if dense else format_for_axes(type.format, n - 1)
    return ElementwisePlan(Assignment(Access("B", target), Access("A", tuple(names))), (type,), format)


def diag(x: Any, k: int = 0) -> SparseTensor:
    """A matrix with a vector on one of its diagonals, in format coo, or that diagonal of a matrix."""
    storage = storage_of(x)
    if len(storage.shape) == 2:
        return diagonal(x, k)
    if len(storage.shape) != 1:
        raise ValueError("Input must be 1- or 2-d.")
    (n,) = storage.shape
    size = n + abs(k)
    checked_shape((size, size), f"diagonal {k} of {n} elements")
    coo = execution.convert(change_fill(storage, 0), coordinates(1))
    rows = [shifted(coo.arrays[1], max(0, by), size) for by in (-k, k)]
    return SparseTensor(coordinate_storage((size, size), rows, coo.vals, 0))


def diagflat(v: Any, k: int = 0) -> SparseTensor:
    """A matrix with all elements of a tensor on one of its diagonals, in format coo."""
    return diag(ravel(v), k)


@memory.guarded
def tri(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float, *, format: FormatLike | None = None
) -> SparseTensor:  # NumPy's names
    """A matrix of ones on and below diagonal ``k``, in format coo; zeros are not stored."""
    shape = as_shape((N, N if M is None else M))
    each = np.dtype(dtype).itemsize + 2 * 4
    memory.require(math.prod(shape) * each, f"a triangle of shape {shape}")
    return tril(SparseTensor(Storage.dense(np.ones(shape, dtype))), k, format or "coo").pruned()


@memory.guarded
def tril_indices_from(arr: Any, k: int = 0) -> tuple[np.ndarray[Any, Any], ...]:
    """Rows and columns of the elements on and below diagonal ``k`` of a matrix: all of them, stored or not."""
    return np.tril_indices(*_sizes(arr, k))


@memory.guarded
def triu_indices_from(arr: Any, k: int = 0) -> tuple[np.ndarray[Any, Any], ...]:
    """Rows and columns of the elements on and above diagonal ``k`` of a matrix: all of them, stored or not."""
    return np.triu_indices(*_sizes(arr, k))


def _sizes(x: Any, k: int) -> tuple[int, int, int]:
    shape = storage_of(x).shape
    if len(shape) != 2:
        raise ValueError("input array must be 2-d")
    require_dense(shape, np.dtype(np.int64), "the coordinates of a triangle")
    return shape[0], k, shape[1]


@memory.guarded
def diag_indices_from(arr: Any) -> tuple[np.ndarray[Any, Any], ...]:
    """The coordinates of the main diagonal of a tensor whose axes are all as long."""
    shape = storage_of(arr).shape
    if len(shape) < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    memory.require(8 * shape[0], f"the coordinates of a diagonal of {shape[0]} elements")
    return (np.arange(shape[0]),) * len(shape)
