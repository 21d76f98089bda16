"""Tensors of given shapes and values, as the array API standard names them.

What is the same everywhere is a fill value and takes no memory; ``arange``, ``linspace`` and ``meshgrid`` are dense.

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

__all__ = [
    "arange", "array", "copy", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "geomspace",
    "identity", "linspace", "logspace", "meshgrid", "ones", "ones_like", "zeros", "zeros_like",
]  # fmt: skip


def full(
    shape: Any, fill_value: Any, dtype: DTypeLike | None = None, *, format: FormatLike = "coo", device: Any = None
) -> SparseTensor:
    """A tensor of one value everywhere, which is its fill value: nothing is stored.

    Parameters
    ----------
    shape : int or sequence of int
        Sizes of the axes.
    fill_value : scalar
        The value.
    dtype : dtype, optional
        By default that of the value.
    format : str or Format
        Of the tensor; in a dense one every element is stored.
    device : {"cpu", None}
        Where it is.
    """
    require_cpu(device)
    whole = as_shape(shape)
    value = np.asarray(fill_value) if dtype is None else np.asarray(fill_value, value_dtype(dtype))
    value = value.astype(value_dtype(value.dtype), copy=False)
    if not whole:
        return SparseTensor(Storage.dense(value))
    rows = [np.empty(0, index_dtype(n)) for n in whole]
    empty = coordinate_storage(whole, rows, np.empty(0, value.dtype), value[()])
    return SparseTensor(foreign_tensors.convert(empty, format)).called(format)


def zeros(
    shape: Any, dtype: DTypeLike | None = None, *, format: FormatLike = "coo", device: Any = None
) -> SparseTensor:
    """A tensor of zeros: without entries."""
    return full(shape, 0, dtype=np.float64 if dtype is None else dtype, format=format, device=device)


def ones(shape: Any, dtype: DTypeLike | None = None, *, format: FormatLike = "coo", device: Any = None) -> SparseTensor:
    """A tensor of ones: without entries, its fill value one."""
    return full(shape, 1, dtype=np.float64 if dtype is None else dtype, format=format, device=device)


def empty(
    shape: Any, dtype: DTypeLike | None = None, *, format: FormatLike = "coo", device: Any = None
) -> SparseTensor:
    """A tensor to be filled: without entries, its fill value zero."""
    return zeros(shape, dtype=dtype, format=format, device=device)


def full_like(
    x: Any, /, fill_value: Any, dtype: DTypeLike | None = None, order: Any = None, subok: bool = True,
    shape: Any = None, *, format: FormatLike | None = None, device: Any = None,
) -> SparseTensor:  # fmt: skip
    """A tensor of one value everywhere in the shape, and by default the dtype and format, of another.

    ``order`` and ``subok`` are NumPy's, and change nothing.
    """
    storage = storage_of(x)
    whole = storage.shape if shape is None else as_shape(shape)
    if format is None:
        format = storage.format if len(whole) == len(storage.shape) else format_for_axes(storage.format, len(whole))
    return full(whole, fill_value, dtype=storage.dtype if dtype is None else dtype, format=format, device=device)


def _like(name: str, value: int) -> Any:
    def like(
        x: Any, /, dtype: DTypeLike | None = None, order: Any = None, subok: bool = True, shape: Any = None, *,
        format: FormatLike | None = None, device: Any = None,
    ) -> SparseTensor:  # fmt: skip
        return full_like(x, value, dtype, shape=shape, format=format, device=device)

    like.__name__ = like.__qualname__ = name
    like.__doc__ = f"""A tensor of {(value and "ones") or "zeros"} in the shape of another; see :func:`full_like`."""
    return like


zeros_like = _like("zeros_like", 0)
ones_like = _like("ones_like", 1)
empty_like = zeros_like


@memory.guarded
def eye(
    n_rows: int, n_cols: int | None = None, /, k: int = 0, dtype: DTypeLike | None = None,
    format: FormatLike | None = None, *, device: Any = None,
) -> SparseTensor:  # fmt: skip
    """A matrix with ones on diagonal ``k``, above the main one where that is positive; by default in format coo."""
    require_cpu(device)
    shape = as_shape((n_rows, n_rows if n_cols is None else n_cols))
    count = max(0, min(shape[0] - max(0, -k), shape[1] - max(0, k)))
    wanted = np.dtype(np.float64) if dtype is None else value_dtype(dtype)
    each = 3 * index_dtype(max(shape)).itemsize + wanted.itemsize  # two coordinates, and the range both come from
    memory.require(count * each, f"a matrix of shape {shape} with {count} ones")
    first = [[min(max(0, -k), shape[0])], [min(max(0, k), shape[1])]]  # where there are none, k may be any number
    rows = np.arange(count, dtype=index_dtype(max(shape))) + np.array(first, index_dtype(max(shape)))
    vals = np.ones(count, wanted)
    return SparseTensor(coordinate_storage(shape, list(rows), vals)).asformat(format)


def identity(n: int, dtype: DTypeLike | None = None, format: FormatLike | None = None) -> SparseTensor:
    """The identity matrix."""
    return eye(n, dtype=dtype, format=format)


@memory.guarded
def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: DTypeLike | None = None, device: Any = None
) -> SparseTensor:
    """Evenly spaced values, as a dense vector."""
    require_cpu(device)
    between = (0, start) if stop is None else (start, stop)
    memory.require(_steps(between[0], between[1], step) * 8, f"arange{(*between, step)}")
    numpy: Any = np
    return asarray(numpy.arange(*between, step, dtype=dtype))


def _steps(start: Any, stop: Any, step: Any) -> int:
    """About how many values there are from one to another; 0 where that is no number."""
    try:
        return max(0, int((stop - start) / step))
    except (TypeError, ValueError, ArithmeticError):
        return 0  # NumPy says what is wrong


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
    """A number of evenly spaced values between two, as a dense vector."""
    require_cpu(device)
    return asarray(np.linspace(start, stop, num, dtype=dtype, endpoint=endpoint))


@memory.guarded
def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: DTypeLike | None = None
) -> SparseTensor:
    """Powers whose exponents are evenly spaced, as a dense vector."""
    return asarray(np.logspace(start, stop, num, endpoint, base, dtype))


@memory.guarded
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: DTypeLike | None = None
) -> SparseTensor:
    """Values of which each is the one before times the same, as a dense vector."""
    return asarray(np.geomspace(start, stop, num, endpoint, dtype))


def array(
    object: Any, dtype: DTypeLike | None = None, *, copy: bool = True, ndmin: int = 0, format: FormatLike | None = None
) -> SparseTensor:
    """:func:`weft.asarray`, which copies unless it is told not to."""
    found = asarray(object, dtype=dtype, format=format, copy=True if copy else None)
    return reshape(found, (1,) * (ndmin - found.ndim) + found.shape) if ndmin > found.ndim else found


def copy(a: Any) -> SparseTensor:
    """A tensor that shares no memory with another."""
    return asarray(a, copy=True)


@memory.guarded
def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[SparseTensor, ...]:
    """Vectors as the coordinates of a grid: for each a tensor of all axes."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(arrays)
    turn = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else list(range(n))
    sizes = [storage_of(x).vals.size if storage_of(x).format.is_dense else storage_of(x).shape[0] for x in arrays]
    shape = tuple(sizes[k] for k in turn)
    found = []
    for k, x in enumerate(arrays):
        own = [1] * n
        own[turn.index(k)] = sizes[k]
        found.append(broadcast_to(reshape(x, tuple(own)), shape))
    return tuple(found)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> SparseTensor:
    """A dense tensor over the memory of another library's array."""
    require_cpu(device)
    return asarray(np.from_dlpack(x), copy=copy)
