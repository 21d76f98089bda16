"""Tensors of given shapes and values, under the names of the array API standard.

A value that all elements share is a fill value and takes no memory. ``arange``, ``linspace`` and ``meshgrid`` are
dense.

Examples
--------
>>> import weft
>>> weft.full((1000, 1000), 7)
<SparseTensor: shape=(1000, 1000), dtype=int64, format=coo, nnz=0, fill_value=7>
>>> weft.eye(3, k=1).todense()
array([[0., 1., 0.],
       [0., 0., 1.],
       [0., 0., 0.]])
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..dtypes import index_dtype, value_dtype
from ..formats import FormatLike
from ..operations import foreign_tensors
from ..operations.indexing import format_for_axes
from ..operations.operands import storage_of
from ..runtime import memory
from ..storage import Storage, coordinate_storage
from ..tensor.construction import as_shape, asarray
from ..tensor.devices import require_cpu
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import broadcast_to, reshape


def full(
    shape: Any, fill_value: Any, dtype: DTypeLike | None = None, *, format: FormatLike = "coo", device: Any = None
) -> SparseTensor:
    """Return a tensor whose fill value is ``fill_value`` and which has no stored entries.

    Parameters
    ----------
    shape : int or sequence of int
        The sizes of the axes.
    fill_value : scalar
        The value of all elements.
    dtype : dtype, optional
        The dtype, by default that of the value.
    format : str or Format
        The format. In a dense format every element is stored.
    device : {"cpu", None}
        The device of the tensor.

    Returns
    -------
    SparseTensor
        The tensor. Without axes it is dense.

    Raises
    ------
    ShapeError
        If the shape is not of integers, or has a negative size.
    ValueError
        If the device is another one than the CPU.

    Examples
    --------
    >>> import weft
    >>> weft.full((2, 3), 1.5, format="csr")
    <SparseTensor: shape=(2, 3), dtype=float64, format=csr, nnz=0, fill_value=1.5>
    """
    require_cpu(device)
    sizes = as_shape(shape)
    value = np.asarray(fill_value) if dtype is None else np.asarray(fill_value, value_dtype(dtype))
    value = value.astype(value_dtype(value.dtype), copy=False)
    if not sizes:
        return SparseTensor(Storage.dense(value))
    # A coordinate list without entries, which is converted to the format.
    rows = [np.empty(0, index_dtype(n)) for n in sizes]
    empty = coordinate_storage(sizes, rows, np.empty(0, value.dtype), value[()])
    return SparseTensor(foreign_tensors.convert(empty, format)).called(format)


def zeros(
    shape: Any, dtype: DTypeLike | None = None, *, format: FormatLike = "coo", device: Any = None
) -> SparseTensor:
    """Return a tensor of zeros, which has no stored entries.

    Unlike NumPy's, the function takes a format, by default coo. The other arguments are those of :func:`full`; the
    default dtype is float64.

    Examples
    --------
    >>> import weft
    >>> A = weft.zeros((2, 3), format="csr")
    >>> A[0, 2] = 5.0
    >>> A.todense()
    array([[0., 0., 5.],
           [0., 0., 0.]])
    """
    return full(shape, 0, dtype=np.float64 if dtype is None else dtype, format=format, device=device)


def ones(shape: Any, dtype: DTypeLike | None = None, *, format: FormatLike = "coo", device: Any = None) -> SparseTensor:
    """Return a tensor of ones: its fill value is one, and it has no stored entries.

    Unlike NumPy's, the function takes a format, by default coo. The other arguments are those of :func:`full`; the
    default dtype is float64.

    Examples
    --------
    >>> import weft
    >>> weft.ones((2, 3), format="csr")
    <SparseTensor: shape=(2, 3), dtype=float64, format=csr, nnz=0, fill_value=1.0>
    """
    return full(shape, 1, dtype=np.float64 if dtype is None else dtype, format=format, device=device)


def empty(
    shape: Any, dtype: DTypeLike | None = None, *, format: FormatLike = "coo", device: Any = None
) -> SparseTensor:
    """Return a tensor of zeros, which has no stored entries.

    Unlike NumPy's, the elements are always zero. The arguments are those of :func:`zeros`.

    Examples
    --------
    >>> import weft
    >>> weft.empty((2, 3), format="csr")
    <SparseTensor: shape=(2, 3), dtype=float64, format=csr, nnz=0, fill_value=0>
    """
    return zeros(shape, dtype=dtype, format=format, device=device)


def full_like(
    x: Any, /, fill_value: Any, dtype: DTypeLike | None = None, order: Any = None, subok: bool = True,
    shape: Any = None, *, format: FormatLike | None = None, device: Any = None,
) -> SparseTensor:  # fmt: skip
    """Return a tensor of one value with the shape, dtype and format of another tensor.

    Parameters
    ----------
    x : array_like
        The other tensor.
    fill_value : scalar
        The value of all elements.
    dtype : dtype, optional
        The dtype, by default that of ``x``.
    order, subok : object
        Arguments of NumPy's function, which have no effect.
    shape : int or sequence of int, optional
        The shape, by default that of ``x``.
    format : str or Format, optional
        The format, by default that of ``x`` or, for another number of axes, a similar one.
    device : {"cpu", None}
        The device of the tensor.

    Returns
    -------
    SparseTensor
        The tensor. Unless its format is dense, it has no stored entries.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.full_like(A, 1.5)
    <SparseTensor: shape=(2, 2), dtype=float64, format=csr, nnz=0, fill_value=1.5>
    """
    storage = storage_of(x)
    sizes = storage.shape if shape is None else as_shape(shape)
    if format is None:
        format = storage.format if len(sizes) == len(storage.shape) else format_for_axes(storage.format, len(sizes))
    return full(sizes, fill_value, dtype=storage.dtype if dtype is None else dtype, format=format, device=device)


def _like(name: str, value: int) -> Any:
    def like(
        x: Any, /, dtype: DTypeLike | None = None, order: Any = None, subok: bool = True, shape: Any = None, *,
        format: FormatLike | None = None, device: Any = None,
    ) -> SparseTensor:  # fmt: skip
        return full_like(x, value, dtype, shape=shape, format=format, device=device)

    like.__name__ = like.__qualname__ = name
    values = "ones" if value else "zeros"
    like.__doc__ = f"""Return a tensor of {values} in the shape of another; see :func:`full_like`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 5.0], [7.0, 0.0]], format="csr")
    >>> weft.{name}(A).todense()
    array([[{value}., {value}.],
           [{value}., {value}.]])
    """
    return like


zeros_like = _like("zeros_like", 0)
ones_like = _like("ones_like", 1)
empty_like = zeros_like


@memory.guarded
def eye(
    n_rows: int, n_cols: int | None = None, /, k: int = 0, dtype: DTypeLike | None = None,
    format: FormatLike | None = None, *, device: Any = None,
) -> SparseTensor:  # fmt: skip
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n_rows, n_cols : int
        The numbers of rows and columns. By default the matrix is square.
    k : int
        The diagonal: positive above the main one, negative below it.
    dtype : dtype, optional
        The dtype, by default float64.
    format : str or Format, optional
        The format, by default coo.
    device : {"cpu", None}
        The device of the tensor.

    Returns
    -------
    SparseTensor
        The matrix, which stores the ones.

    Raises
    ------
    ResultTooLargeError
        If the ones do not fit in memory.

    Examples
    --------
    >>> import weft
    >>> weft.eye(2, 3, k=1, format="csr").todense()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    require_cpu(device)
    shape = as_shape((n_rows, n_rows if n_cols is None else n_cols))
    count = max(0, min(shape[0] - max(0, -k), shape[1] - max(0, k)))
    result_dtype = np.dtype(np.float64) if dtype is None else value_dtype(dtype)
    each = 3 * index_dtype(max(shape)).itemsize + result_dtype.itemsize  # two coordinates, and the range both come from
    memory.require(count * each, f"a matrix of shape {shape} with {count} ones")
    first = [[min(max(0, -k), shape[0])], [min(max(0, k), shape[1])]]  # an empty diagonal may have any k
    rows = np.arange(count, dtype=index_dtype(max(shape))) + np.array(first, index_dtype(max(shape)))
    vals = np.ones(count, result_dtype)
    return SparseTensor(coordinate_storage(shape, list(rows), vals)).asformat(format)


def identity(n: int, dtype: DTypeLike | None = None, format: FormatLike | None = None) -> SparseTensor:
    """Return the identity matrix, which stores its ones.

    Unlike NumPy's, the function takes a format, by default coo.

    Examples
    --------
    >>> import weft
    >>> weft.identity(3, format="dia")
    <SparseTensor: shape=(3, 3), dtype=float64, format=dia, nnz=3, fill_value=0>
    """
    return eye(n, dtype=dtype, format=format)


@memory.guarded
def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: DTypeLike | None = None, device: Any = None
) -> SparseTensor:
    """Return evenly spaced values as a dense vector.

    The arguments are NumPy's.

    Raises
    ------
    ResultTooLargeError
        If the values do not fit in memory.

    Examples
    --------
    >>> import weft
    >>> weft.arange(2, 8, 3).todense()
    array([2, 5])
    """
    require_cpu(device)
    between = (0, start) if stop is None else (start, stop)
    memory.require(_steps(between[0], between[1], step) * 8, f"arange{(*between, step)}")
    numpy: Any = np
    return asarray(numpy.arange(*between, step, dtype=dtype))


def _steps(start: Any, stop: Any, step: Any) -> int:
    """Return the approximate number of values of ``arange``, or 0 for arguments without one."""
    try:
        return max(0, int((stop - start) / step))
    except (TypeError, ValueError, ArithmeticError):
        return 0  # NumPy raises the error


@memory.guarded
def linspace(
    start: Any,
    stop: Any,
    /,
    num: int = 50,
    *,
    dtype: DTypeLike | None = None,
    device: Any = None,
    endpoint: bool = True,
) -> SparseTensor:
    """Return ``num`` evenly spaced values of an interval as a dense vector.

    Unlike NumPy's, the function does not return the step, and has no ``axis``.

    Examples
    --------
    >>> import weft
    >>> weft.linspace(0, 1, 5).todense()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    require_cpu(device)
    return asarray(np.linspace(start, stop, num, dtype=dtype, endpoint=endpoint))


@memory.guarded
def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: DTypeLike | None = None
) -> SparseTensor:
    """Return powers of ``base`` with evenly spaced exponents as a dense vector.

    Unlike NumPy's, the function has no ``axis``.

    Examples
    --------
    >>> import weft
    >>> weft.logspace(0, 2, 3).todense()
    array([  1.,  10., 100.])
    """
    return asarray(np.logspace(start, stop, num, endpoint, base, dtype))


@memory.guarded
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: DTypeLike | None = None
) -> SparseTensor:
    """Return a geometric progression as a dense vector.

    Unlike NumPy's, the function has no ``axis``.

    Examples
    --------
    >>> import weft
    >>> weft.geomspace(1, 100, 3).todense()
    array([  1.,  10., 100.])
    """
    return asarray(np.geomspace(start, stop, num, endpoint, dtype))


def array(
    object: Any, dtype: DTypeLike | None = None, *, copy: bool = True, ndmin: int = 0, format: FormatLike | None = None
) -> SparseTensor:
    """Return :func:`weft.asarray` of an object, a copy by default.

    Parameters
    ----------
    object : array_like
        An ndarray, nested list, scipy.sparse array or matrix, ``sparse`` array, or tensor.
    dtype : dtype, optional
        The dtype, by default that of the object.
    copy : bool
        False to copy only if a copy is needed.
    ndmin : int
        The least number of axes. Missing axes are added in front, with size 1.
    format : str or Format, optional
        The format, by default that of the object; dense for ndarrays.

    Returns
    -------
    SparseTensor
        The tensor.

    Examples
    --------
    >>> import weft
    >>> weft.array([[0, 1], [2, 0]], format="csr")
    <SparseTensor: shape=(2, 2), dtype=int64, format=csr, nnz=2, fill_value=0>
    """
    found = asarray(object, dtype=dtype, format=format, copy=True if copy else None)
    return reshape(found, (1,) * (ndmin - found.ndim) + found.shape) if ndmin > found.ndim else found


def copy(a: Any, order: Any = "K", subok: bool = False) -> SparseTensor:
    """Return a copy of a tensor, which shares no memory with the tensor.

    Parameters
    ----------
    a : array_like
        The tensor.
    order, subok : optional
        NumPy's parameters for the order of memory and for subclasses, which change nothing.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> B = weft.copy(A)
    >>> B[0, 1] = 9.0
    >>> A[0, 1], B[0, 1]
    (np.float64(1.0), np.float64(9.0))
    """
    return asarray(a, copy=True)


@memory.guarded
def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[SparseTensor, ...]:
    """Return the coordinates of a grid: one tensor with all axes for each vector.

    Unlike NumPy's, the result is a tuple and always dense for dense vectors; there is no ``sparse`` and no ``copy``.

    Parameters
    ----------
    *arrays : array_like
        The vectors of coordinates.
    indexing : {'xy', 'ij'}
        The order of the first two axes: 'xy' exchanges them.

    Returns
    -------
    tuple of SparseTensor
        One tensor for each vector.

    Raises
    ------
    ValueError
        If ``indexing`` is unknown.

    Examples
    --------
    >>> import weft
    >>> columns, rows = weft.meshgrid([1, 2], [3, 4])
    >>> columns.todense()
    array([[1, 2],
           [1, 2]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(arrays)
    turn = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else list(range(n))
    sizes = [prod(storage_of(x).shape) for x in arrays]  # NumPy flattens matrices, too
    shape = tuple(sizes[k] for k in turn)
    grids = []
    for k, x in enumerate(arrays):
        # Each vector lies along its own axis and is broadcast along the others.
        lengths = [1] * n
        lengths[turn.index(k)] = sizes[k]
        grids.append(broadcast_to(reshape(x, tuple(lengths)), shape))
    return tuple(grids)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> SparseTensor:
    """Return a dense tensor over the memory of an array of another library.

    Parameters
    ----------
    x : object
        An array with ``__dlpack__`` and ``__dlpack_device__``.
    device : {"cpu", None}
        The device of the tensor.
    copy : bool, optional
        True for a tensor with its own memory. False raises if a copy is needed.

    Returns
    -------
    SparseTensor
        The tensor, in a dense format.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> weft.from_dlpack(np.array([1.0, 2.0]))
    SparseTensor([1., 2.], format='dense')
    """
    require_cpu(device)
    return asarray(np.from_dlpack(x), copy=copy)
