"""Triangles and diagonals, under the names of NumPy and the array API standard.

Examples
--------
>>> import weft
>>> A = weft.asarray([[1.0, 2.0], [0.0, 4.0]], format="csr")
>>> weft.diagonal(A).todense(), weft.triu(A, k=1).nnz
(array([1., 4.]), 1)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .. import execution
from ..dtypes import shifted
from ..errors import ShapeError
from ..execution.plan_cache import kept
from ..formats import FormatLike, TensorType
from ..index_notation.nodes import Access, Assignment
from ..operations.axes import normalize_axis_index
from ..operations.elementwise import plan_operation
from ..operations.fill_change import change_fill, relabel_fill, require_dense
from ..operations.indexing import coordinates, format_for_axes, getitem
from ..operations.operands import storage_of
from ..runtime import memory
from ..storage import Storage, checked_shape, coordinate_storage
from ..tensor.construction import as_shape
from ..tensor.lazy import is_lazy
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import ravel
from .reductions import sum as total


def tril(x: Any, /, k: int = 0, format: FormatLike | None = None) -> SparseTensor:
    """Return the lower triangle of the last two axes.

    Parameters
    ----------
    x : array_like
        A tensor of at least two axes.
    k : int
        The diagonal above which all elements are zero.
    format : str or Format, optional
        The format, by default that of ``x``.

    Returns
    -------
    SparseTensor
        A tensor with fill value zero.

    Raises
    ------
    ShapeError
        If the tensor has fewer than two axes.
    DensifyError
        If the fill value is nonzero and the tensor exceeds ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> weft.tril(weft.ones((2, 2), format="csr")).todense()
    array([[1., 0.],
           [1., 1.]])
    """
    return _triangle(x, lambda i, j: j.astype(np.int64) - i <= k, "tril").asformat(format)


def triu(x: Any, /, k: int = 0, format: FormatLike | None = None) -> SparseTensor:
    """Return the upper triangle of the last two axes.

    Parameters
    ----------
    x : array_like
        A tensor of at least two axes.
    k : int
        The diagonal below which all elements are zero.
    format : str or Format, optional
        The format, by default that of ``x``.

    Returns
    -------
    SparseTensor
        A tensor with fill value zero.

    Raises
    ------
    ShapeError
        If the tensor has fewer than two axes.
    DensifyError
        If the fill value is nonzero and the tensor exceeds ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> weft.triu(weft.ones((2, 2), format="csr")).todense()
    array([[1., 1.],
           [0., 1.]])
    """
    return _triangle(x, lambda i, j: j.astype(np.int64) - i >= k, "triu").asformat(format)


def _triangle(x: Any, inside: Any, name: str) -> SparseTensor:
    storage = change_fill(storage_of(x), 0)
    n = len(storage.shape)
    if n < 2:
        raise ShapeError(f"{name} needs two axes; this tensor has shape {storage.shape}")
    # Coordinates are listed in the order in which entries are stored, so that nothing is sorted.
    modes = range(n) if storage.format.is_structured else storage.format.mode_order
    turned = storage_of(SparseTensor(storage).transpose(modes))
    coo = execution.convert(turned, coordinates(n))
    rows = dict(zip(modes, coo.arrays[1:], strict=True))
    keep = inside(rows[n - 2], rows[n - 1])
    found = coordinate_storage(turned.shape, [row[keep] for row in coo.arrays[1:]], coo.vals[keep], 0)
    back = [list(modes).index(axis) for axis in range(n)]
    return SparseTensor(execution.convert(found, turned.format)).transpose(back)


def diagonal(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1, *, k: int | None = None) -> SparseTensor:
    """Return a diagonal of two axes: elements whose coordinates differ by ``offset``.

    Unlike NumPy's, the result is a copy.

    Parameters
    ----------
    x : array_like
        A tensor of at least two axes.
    offset : int
        The diagonal: positive above the main one, negative below it.
    axis1, axis2 : int
        The axes of the rows and of the columns.
    k : int, optional
        The name that scipy.sparse has for ``offset``.

    Returns
    -------
    SparseTensor
        A tensor whose last axis is the diagonal: a dense vector for a matrix.

    Raises
    ------
    ValueError
        If there are fewer than two axes, or ``axis1`` and ``axis2`` are the same.

    Examples
    --------
    >>> import weft
    >>> weft.diagonal(weft.eye(3, format="csr")).todense()
    array([1., 1., 1.])
    """
    tensor: Any = x if is_lazy(x) else SparseTensor(storage_of(x))
    offset = offset if k is None else k
    if tensor.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    a, b = normalize_axis_index(axis1, tensor.ndim), normalize_axis_index(axis2, tensor.ndim)
    if a == b:
        raise ValueError("axis1 and axis2 cannot be the same")
    rows, columns = tensor.shape[a], tensor.shape[b]
    if is_lazy(x) and rows == columns and not offset and tensor.ndim == 2:
        return tensor.main_diagonal()  # type: ignore[no-any-return]
    first, second = max(0, -offset), max(0, offset)
    count = max(0, min(rows - first, columns - second))
    square = storage_of(tensor)
    # The part that begins with the diagonal has equal coordinates on it.
    if count < rows or count < columns:
        key = [slice(None)] * tensor.ndim
        key[a], key[b] = slice(first, first + count), slice(second, second + count)
        square = getitem(square, tuple(key))
    # Implicit entries stay implicit on the diagonal, so that the fill value is the same.
    found = _along(square.type, a, b).run((square,))
    return SparseTensor(relabel_fill(found, storage_of(tensor).type.fill))


def trace(
    x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: Any = None
) -> SparseTensor | Any:
    """Return the sum of a diagonal of two axes.

    Parameters
    ----------
    x : array_like
        A tensor of at least two axes.
    offset : int
        The diagonal: positive above the main one, negative below it.
    axis1, axis2 : int
        The axes of the rows and of the columns.
    dtype : dtype, optional
        The dtype of the sum.
    out : ndarray or SparseTensor, optional
        The array or tensor into which the result is written.

    Returns
    -------
    SparseTensor or NumPy scalar
        The sums, a scalar for a matrix.

    Examples
    --------
    >>> import weft
    >>> weft.trace(weft.eye(3, format="csr"))
    np.float64(3.0)
    """
    return total(diagonal(x, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


@kept
def _along(type: TensorType, a: int, b: int) -> execution.Plan:
    """Return the plan that selects the elements whose coordinates in two axes are equal."""
    n = type.format.order
    names = [f"i{axis if axis != b else a}" for axis in range(n)]
    target = (*(f"i{axis}" for axis in range(n) if axis not in (a, b)), f"i{a}")
    format = None if n == 2 else format_for_axes(type.format, n - 1)
    return plan_operation(Assignment(Access("B", target), Access("A", tuple(names))), (type,), format)


def diag(x: Any, k: int = 0) -> SparseTensor:
    """Return a matrix with a vector on one diagonal, or a diagonal of a matrix.

    Parameters
    ----------
    x : array_like
        A vector or a matrix.
    k : int
        The diagonal: positive above the main one, negative below it.

    Returns
    -------
    SparseTensor
        A matrix in format coo with fill value zero, or the vector of :func:`diagonal`.

    Raises
    ------
    ValueError
        If ``x`` has neither one nor two axes.
    DensifyError
        If a vector with a nonzero fill value exceeds ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> weft.diag([1.0, 2.0]).todense()
    array([[1., 0.],
           [0., 2.]])
    """
    storage = storage_of(x)
    if len(storage.shape) == 2:
        return diagonal(x, k)
    if len(storage.shape) != 1:
        raise ValueError("Input must be 1- or 2-d.")
    (n,) = storage.shape
    size = n + abs(k)
    checked_shape((size, size), f"diagonal {k} of {n} elements")
    coo = execution.convert(change_fill(storage, 0), coordinates(1))
    # Diagonal k begins at column k, or at row -k.
    rows = [shifted(coo.arrays[1], max(0, by), size) for by in (-k, k)]
    return SparseTensor(coordinate_storage((size, size), rows, coo.vals, 0))


def diagflat(v: Any, k: int = 0) -> SparseTensor:
    """Return a matrix in format coo with all elements of a tensor on one diagonal.

    The arguments are those of :func:`diag`; a tensor of several axes is flattened first.

    Examples
    --------
    >>> import weft
    >>> weft.diagflat([[1.0, 2.0]], k=1).todense()
    array([[0., 1., 0.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """
    return diag(ravel(v), k)


@memory.guarded
def tri(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float, *, format: FormatLike | None = None
) -> SparseTensor:  # NumPy's names
    """Return a matrix of ones on and below a diagonal; its zeros are not stored.

    Unlike NumPy's, the function takes a format, by default coo.

    Raises
    ------
    ResultTooLargeError
        If the matrix does not fit in memory.

    Examples
    --------
    >>> import weft
    >>> weft.tri(2, 3).todense()
    array([[1., 0., 0.],
           [1., 1., 0.]])
    """
    shape = as_shape((N, N if M is None else M))
    each = np.dtype(dtype).itemsize + 2 * 4
    memory.require(math.prod(shape) * each, f"a triangle of shape {shape}")
    return tril(SparseTensor(Storage.dense(np.ones(shape, dtype))), k, format or "coo").pruned()


@memory.guarded
def tril_indices_from(arr: Any, k: int = 0) -> tuple[np.ndarray[Any, Any], ...]:
    """Return the rows and columns of all elements on and below diagonal ``k`` of a matrix, stored or not.

    Unlike NumPy's, the function refuses coordinates that exceed ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> rows, columns = weft.tril_indices_from(weft.eye(2, format="csr"))
    >>> rows.tolist(), columns.tolist()
    ([0, 1, 1], [0, 0, 1])
    """
    return np.tril_indices(*_sizes(arr, k))


@memory.guarded
def triu_indices_from(arr: Any, k: int = 0) -> tuple[np.ndarray[Any, Any], ...]:
    """Return the rows and columns of all elements on and above diagonal ``k`` of a matrix, stored or not.

    Unlike NumPy's, the function refuses coordinates that exceed ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> rows, columns = weft.triu_indices_from(weft.eye(2, format="csr"))
    >>> rows.tolist(), columns.tolist()
    ([0, 0, 1], [0, 1, 1])
    """
    return np.triu_indices(*_sizes(arr, k))


def _sizes(x: Any, k: int) -> tuple[int, int, int]:
    shape = storage_of(x).shape
    if len(shape) != 2:
        raise ValueError("input array must be 2-d")
    require_dense(shape, np.dtype(np.int64), "the coordinates of a triangle")
    return shape[0], k, shape[1]


@memory.guarded
def diag_indices_from(arr: Any) -> tuple[np.ndarray[Any, Any], ...]:
    """Return the coordinates of the main diagonal of a tensor whose axes have equal lengths.

    Parameters
    ----------
    arr : array_like
        A tensor of at least two axes.

    Returns
    -------
    tuple of ndarray
        One vector of coordinates for each axis.

    Raises
    ------
    ValueError
        If there are fewer than two axes, or axes of different lengths.
    ResultTooLargeError
        If the coordinates do not fit in memory.

    Examples
    --------
    >>> import weft
    >>> weft.diag_indices_from(weft.eye(3, format="csr"))
    (array([0, 1, 2]), array([0, 1, 2]))
    """
    shape = storage_of(arr).shape
    if len(shape) < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    memory.require(8 * shape[0], f"the coordinates of a diagonal of {shape[0]} elements")
    return (np.arange(shape[0]),) * len(shape)
