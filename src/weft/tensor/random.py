"""Random tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import DTypeLike

from ..dtypes import index_dtype, value_dtype
from ..formats import FormatLike, FormatOptions, check_keywords
from ..operations import foreign_tensors
from ..runtime import memory
from ..storage import coordinate_storage
from .construction import as_shape, called
from .sparse_tensor import SparseTensor


@memory.guarded
def random(  # noqa: PLR0913  # the parameters of SciPy and sparse, and its own
    shape: Any,
    *more: Any,
    density: float | None = None,
    nnz: int | None = None,
    format: FormatLike | None = None,
    dtype: DTypeLike | None = None,
    rng: np.random.Generator | int | None = None,
    fill_value: Any = 0,
    random_state: Any = None,
    data_rvs: Callable[[int], Any] | None = None,
    idx_dtype: DTypeLike | None = None,
    **options: Unpack[FormatOptions],
) -> SparseTensor:
    """Make a tensor with random values at random coordinates.

    Parameters
    ----------
    shape : sequence of int
        The sizes of the axes; or the number of rows, which the number of columns follows, as in scipy.sparse.
    *more
        ``density``, ``format``, ``dtype``, ``rng`` and ``data_rvs``, if they are not given by name, as in scipy.sparse.
    density : float, optional
        The share of elements that are stored. The default is 0.01 if ``nnz`` is not given either.
    nnz : int, optional
        The number of stored entries.
    format : str or Format, optional
        The format of the result; coo by default.
    dtype : dtype, optional
        The dtype of the result; float64 by default. Floats are uniform in [0, 1), and integers are uniform from 1 to
        100.
    rng : Generator or int, optional
        The random generator, or its seed.
    fill_value : scalar, optional
        The value of implicit entries.
    random_state : Generator, RandomState or int, optional
        The name of ``rng`` in the package ``sparse``.
    data_rvs : callable, optional
        A function that returns random values; its argument is their number.
    idx_dtype : dtype, optional
        A dtype that limits the index arrays, as in the package ``sparse``. The index arrays are int32 if it holds no
        larger numbers, else int64.
    **options
        Options of the format, such as ``compressed_axes`` of gcxs.

    Returns
    -------
    SparseTensor
        A tensor of the given shape, dtype and format.

    Raises
    ------
    TypeError
        For arguments that neither ``random`` nor a format takes.
    ValueError
        For a density or a number of entries that does not fit the shape.

    Examples
    --------
    >>> random((100, 50), density=0.1, format="csr", rng=0)
    <SparseTensor: shape=(100, 50), dtype=float64, format=csr, nnz=500, fill_value=0>
    >>> random(100, 50, 0.1).nnz, random((100, 50), 0.2).nnz
    (500, 1000)
    """
    # scipy.sparse.random has the numbers of rows and columns as two arguments.
    if isinstance(shape, int | np.integer) and more and isinstance(more[0], int | np.integer):
        sizes, more = as_shape([int(shape), int(more[0])]), more[1:]
    else:
        sizes = as_shape(shape)
    density, format, dtype, rng, data_rvs = _by_place(
        more, density=density, format=format, dtype=dtype, rng=rng, data_rvs=data_rvs
    )
    wanted_format: FormatLike = "coo" if format is None else format
    if options:
        check_keywords(random, wanted_format, options)
    size = math.prod(sizes)
    if density is not None and nnz is not None:
        raise ValueError("give density or nnz, not both")
    if nnz is None:
        density = 0.01 if density is None else density
        if not 0 <= density <= 1:
            raise ValueError(f"density {density} is not between 0 and 1")
        nnz = round(size * density)
    if not 0 <= nnz <= size:
        raise ValueError(f"nnz {nnz} is not between 0 and the {size} entries of shape {sizes}")
    # A RandomState, which is no Generator, gives a seed.
    seed = rng if rng is not None else random_state
    generator = np.random.default_rng(seed.randint(2**31) if isinstance(seed, np.random.RandomState) else seed)
    result_dtype = value_dtype(np.float64 if dtype is None else dtype)
    drawn = size if nnz * 4 > size else 2 * nnz  # elements of int64 arrays that the drawing of coordinates needs
    each = result_dtype.itemsize + sum(index_dtype(max(n - 1, 0)).itemsize for n in sizes)
    memory.require(8 * drawn + nnz * each, f"a random tensor of shape {sizes} with {nnz} entries")
    crds = _random_coordinates(generator, sizes, size, nnz)
    vals = _random_values(generator, result_dtype, nnz) if data_rvs is None else np.asarray(data_rvs(nnz), dtype)
    if vals.shape != (nnz,):
        raise ValueError(f"data_rvs gave values of shape {vals.shape}, not {(nnz,)}")
    storage = coordinate_storage(sizes, crds, vals, fill_value)
    index: Any = None if idx_dtype is None else index_dtype(np.iinfo(idx_dtype).max).name
    return called(foreign_tensors.convert(storage, wanted_format, options, index_dtype=index), wanted_format)


def _by_place(more: tuple[Any, ...], **named: Any) -> list[Any]:
    """Return the values of arguments, of which the first may be given by position and the others by name."""
    if len(more) > len(named) or any(value is not None for value in list(named.values())[: len(more)]):
        raise TypeError(f"random takes a shape, then {', '.join(named)}, each once; not also {more}")
    return [*more, *list(named.values())[len(more) :]]


def _random_coordinates(
    generator: np.random.Generator, shape: tuple[int, ...], size: int, nnz: int
) -> list[np.ndarray[Any, Any]]:
    """Return ``nnz`` distinct random coordinates in lexicographic order, an array for each axis."""
    dtypes = [index_dtype(max(length - 1, 0)) for length in shape]
    if size > np.iinfo(np.int64).max:
        return _random_rows(generator, shape, nnz)
    # A permutation takes memory for all elements, and repeated drawing takes long if most elements are drawn already.
    if nnz * 4 > size:
        flat = np.sort(generator.permutation(size)[:nnz])
    else:
        flat = _distinct(generator.integers(0, size, nnz, dtype=np.int64))
        while len(flat) < nnz:
            more = generator.integers(0, size, nnz - len(flat), dtype=np.int64)
            flat = _distinct(np.concatenate([flat, more]))
    if not shape:
        return []
    return [np.ascontiguousarray(row, d) for row, d in zip(np.unravel_index(flat, shape), dtypes, strict=True)]


def _distinct(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the distinct numbers in order, as ``numpy.unique`` does in more than ten times the time."""
    numbers.sort()
    first = np.ones(len(numbers), bool)
    first[1:] = numbers[1:] != numbers[:-1]
    return numbers[first]


def _random_rows(generator: np.random.Generator, shape: tuple[int, ...], nnz: int) -> list[np.ndarray[Any, Any]]:
    rows: np.ndarray[Any, Any] = np.empty((0, len(shape)), np.int64)
    while len(rows) < nnz:  # one pass is almost always enough, since a place in so large a shape is rarely drawn twice
        more = np.stack([generator.integers(0, length, nnz - len(rows)) for length in shape], axis=1)
        rows = np.unique(np.concatenate([rows, more]), axis=0)
    return [np.ascontiguousarray(rows[:, k], index_dtype(length - 1)) for k, length in enumerate(shape)]


def _random_values(generator: np.random.Generator, dtype: np.dtype[Any], n: int) -> np.ndarray[Any, Any]:
    if dtype.kind == "b":
        return np.ones(n, dtype)
    if dtype.kind in "iu":
        return generator.integers(1, 100, n, endpoint=True).astype(dtype)
    values = generator.random(n)
    if dtype.kind == "c":
        return (values + 1j * generator.random(n)).astype(dtype)
    return values.astype(dtype)
