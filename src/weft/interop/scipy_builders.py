"""Functions that scipy.sparse has for making matrices from diagonals, from blocks and at random.

Examples
--------
>>> import weft
>>> A = weft.diags_array([[1.0, 2.0, 3.0], [4.0, 5.0]], offsets=[0, 1])
>>> A
<SparseTensor: shape=(3, 3), dtype=float64, format=dia, nnz=5, fill_value=0>
>>> weft.find(weft.block_diag([A, [[7.0]]]).tocsr())[1]
array([0, 1, 1, 2, 2, 3], dtype=int32)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..dtypes import index_dtype, value_dtype
from ..errors import ShapeError
from ..formats import FormatLike
from ..numpy_api.creation import eye, zeros
from ..numpy_api.manipulation import atleast_2d
from ..numpy_api.stacking import as_asked, block, kron
from ..operations import foreign_tensors
from ..operations.fill_change import change_fill
from ..operations.operands import storage_of
from ..runtime import memory
from ..storage import checked_shape, coordinate_storage
from ..tensor.construction import as_shape, asarray
from ..tensor.random import random
from ..tensor.sparse_tensor import SparseTensor


def issparse(x: Any) -> bool:
    """Return whether an object is a tensor, or a sparse array of SciPy or of the package ``sparse``.

    Parameters
    ----------
    x : object
        The object.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.issparse(A), weft.issparse(A.todense())
    (True, False)
    """
    return isinstance(x, SparseTensor) or (not isinstance(x, np.ndarray) and foreign_tensors.read(x) is not None)


def find(x: Any) -> tuple[np.ndarray[Any, Any], ...]:
    """Return the coordinates and the values of the elements that are not zero.

    Parameters
    ----------
    x : array_like
        The tensor.

    Returns
    -------
    tuple of ndarray
        An array of coordinates for each axis, and the values, in lexicographic order. For a matrix they are rows,
        columns and values.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> rows, columns, values = weft.find(A)
    >>> rows.tolist(), columns.tolist(), values.tolist()
    ([0, 1], [1, 0], [1.0, 2.0])
    """
    coords, values = SparseTensor(change_fill(storage_of(asarray(x)), 0)).to_coo()
    kept = values != 0
    return (*(row[kept] for row in coords), values[kept])


@memory.guarded
def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Sequence[int] | None = None, format: FormatLike | None = None,
    dtype: DTypeLike | None = None,
) -> SparseTensor:  # fmt: skip
    """Make a matrix from its diagonals.

    Parameters
    ----------
    diagonals : sequence of array_like
        The elements of each diagonal, from its top. A single element fills a diagonal. Surplus elements are ignored.
    offsets : int or sequence of int
        The diagonals: 0 is the main one, and those above it are positive.
    shape : tuple of int, optional
        The shape of the matrix. By default it is square, and the first diagonal fits.
    format : str or Format, optional
        The format of the result; dia by default.
    dtype : dtype, optional
        The dtype of the result. By default the common dtype of the elements.

    Raises
    ------
    ValueError
        For diagonals that are too short or outside the shape, and for offsets that repeat.

    Examples
    --------
    >>> import weft
    >>> weft.diags_array([[1.0, 2.0], [5.0]], offsets=[0, 1]).todense()
    array([[1., 5.],
           [0., 2.]])
    """
    # With a single offset, the diagonal need not be in a list.
    if np.ndim(offsets) == 0:
        one = len(diagonals) == 0 or np.ndim(diagonals[0]) == 0
        vectors = [np.atleast_1d(_ndarray(d)) for d in ([diagonals] if one else diagonals)]
    else:
        vectors = [np.atleast_1d(_ndarray(d)) for d in diagonals]
    places = [int(k) for k in np.atleast_1d(offsets)]
    if len(vectors) != len(places):
        raise ValueError(f"{len(vectors)} diagonals do not go with {len(places)} offsets")
    if len(set(places)) < len(places):
        raise ValueError(f"an offset repeats: {places}")
    side = len(vectors[0]) + abs(places[0]) if vectors else 0
    rows, columns = as_shape((side, side) if shape is None else shape)
    result_dtype = value_dtype(np.result_type(*vectors) if dtype is None else dtype)
    what = f"a matrix of shape {(rows, columns)} with {len(places)} diagonals"
    memory.require(len(places) * columns * result_dtype.itemsize, what)
    # SciPy's dia stores an element in the column that it has in the matrix.
    data = np.zeros((len(places), columns), result_dtype)
    for line, elements, k in zip(data, vectors, places, strict=True):
        count = min(rows + min(k, 0), columns - max(k, 0))
        if count < 0 or (len(elements) < count != 0 and len(elements) != 1):
            raise ValueError(
                f"a diagonal of {len(elements)} elements is not diagonal {k} of a matrix of shape {(rows, columns)}"
            )
        line[max(k, 0) : max(k, 0) + count] = elements[:count]
    return _of_diagonals(data, places, (rows, columns), format)


def _ndarray(x: Any) -> np.ndarray[Any, Any]:
    return x.todense() if isinstance(x, SparseTensor) else np.asarray(x)


def _of_diagonals(data: Any, offsets: Any, shape: tuple[int, int], format: FormatLike | None) -> SparseTensor:
    import scipy.sparse

    return as_asked(asarray(scipy.sparse.dia_array((data, offsets), shape=shape)), format)


def diags(
    diagonals: Any, offsets: Any = 0, shape: Sequence[int] | None = None, format: FormatLike | None = None,
    dtype: DTypeLike | None = None,
) -> SparseTensor:  # fmt: skip
    """Make a matrix from its diagonals: :func:`diags_array`, with all arguments by position.

    Parameters
    ----------
    diagonals, offsets, shape, format, dtype
        The arguments of :func:`diags_array`.

    Examples
    --------
    >>> import weft
    >>> weft.diags([[1.0, 2.0], [5.0]], [0, 1]).todense()
    array([[1., 5.],
           [0., 2.]])
    """
    return diags_array(diagonals, offsets=offsets, shape=shape, format=format, dtype=dtype)


@memory.guarded
def spdiags(
    data: Any, diags: Any, m: Any = None, n: int | None = None, format: FormatLike | None = None
) -> SparseTensor:
    """Make a matrix from diagonals whose elements are placed by columns, as in format dia.

    Parameters
    ----------
    data : array_like
        The diagonals, one in each row; an element is in the column of the matrix that it has here.
    diags : int or sequence of int
        The diagonals: 0 is the main one, and those above it are positive.
    m, n : int, optional
        The shape of the matrix; ``m`` may be a tuple of both. By default it is square, with the columns of ``data``.
    format : str or Format, optional
        The format of the result; dia by default.

    Examples
    --------
    >>> import weft
    >>> weft.spdiags([[1.0, 2.0, 3.0]], [1], 3, 3).todense()
    array([[0., 2., 0.],
           [0., 0., 3.],
           [0., 0., 0.]])
    """
    rows = np.atleast_2d(_ndarray(data))
    # As in SciPy, m without n is a tuple of both.
    size = (rows.shape[1],) * 2 if m is None and n is None else m if n is None else (m, n)
    if not isinstance(size, tuple) or len(size) != 2:
        raise TypeError(f"spdiags() takes m and n, or a tuple of both as m; given were m={m!r} and n={n!r}")
    shape = as_shape(size)
    return _of_diagonals(rows, np.atleast_1d(diags), (shape[0], shape[1]), format)


def eye_array(
    m: int, n: int | None = None, *, k: int = 0, dtype: DTypeLike = float, format: FormatLike | None = "dia"
) -> SparseTensor:
    """Make a matrix with ones on a diagonal.

    Parameters
    ----------
    m, n : int
        The numbers of rows and columns; by default the matrix is square.
    k : int, optional
        The diagonal: 0 is the main one, and those above it are positive.
    dtype : dtype, optional
        The dtype of the result.
    format : str or Format, optional
        The format of the result; dia by default.

    Raises
    ------
    ValueError
        When there is no such diagonal.

    Examples
    --------
    >>> import weft
    >>> weft.eye_array(2, 3, format="csr").todense()
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    if not -m <= k <= (m if n is None else n):
        raise ValueError(f"k={k} is no diagonal of a matrix of shape {(m, m if n is None else n)}")
    return eye(m, n, k=k, dtype=dtype, format="dia" if format is None else format)


@memory.guarded
def block_diag(mats: Sequence[Any], format: FormatLike | None = None, dtype: DTypeLike | None = None) -> SparseTensor:
    """Make a matrix with other matrices along its diagonal, and zeros around them.

    Parameters
    ----------
    mats : sequence of array_like
        The matrices; vectors are rows.
    format : str or Format, optional
        The format of the result; coo by default.
    dtype : dtype, optional
        The dtype of the result.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.block_diag([A, [[7.0]]]).todense()
    array([[0., 1., 0.],
           [2., 0., 0.],
           [0., 0., 7.]])
    """
    blocks = [SparseTensor(change_fill(storage_of(atleast_2d(x)), 0)) for x in mats]
    heights, widths = ([x.shape[axis] for x in blocks] for axis in (0, 1))
    shape = (sum(heights), sum(widths))
    checked_shape(tuple(shape), "block_diag")
    index = index_dtype(max((*shape, 1)))
    parts = [foreign_tensors.convert(storage_of(x), "coo", sort=False) for x in blocks]
    # The coordinates of each block are shifted by the sizes of the blocks before it.
    rows = []
    for axis, sizes in enumerate((heights, widths)):
        starts = accumulate(sizes, initial=0)
        moved = [part.arrays[1 + axis] + index.type(start) for part, start in zip(parts, starts, strict=False)]
        rows.append(np.concatenate([np.empty(0, index), *moved], dtype=index))
    vals = np.concatenate([part.vals for part in parts]) if parts else np.empty(0)
    storage = coordinate_storage(shape, rows, vals)
    return as_asked(SparseTensor(storage), format, dtype)


def block_array(blocks: Any, *, format: FormatLike | None = None, dtype: DTypeLike | None = None) -> SparseTensor:
    """Make a matrix from a grid of matrices.

    Parameters
    ----------
    blocks : sequence of sequences
        Rows of matrices. None is a matrix of zeros, whose size the other matrices in its row and column determine. A
        row or column of None alone has size 0.
    format : str or Format, optional
        The format of the result. By default the format of the first matrix that is not dense, else coo.
    dtype : dtype, optional
        The dtype of the result.

    Raises
    ------
    ShapeError
        When the sizes in a row or column differ; a ``ValueError``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.block_array([[A, None], [None, A]], format="csr").todense()
    array([[0., 1., 0., 0.],
           [2., 0., 0., 0.],
           [0., 0., 0., 1.],
           [0., 0., 2., 0.]])
    """
    grid = [[None if x is None else atleast_2d(asarray(x)) for x in row] for row in blocks]
    if not grid or len({len(row) for row in grid}) != 1:
        raise ShapeError("blocks are rows of as many matrices each")
    # Blocks that are None get their sizes from the others in the same row and column.
    heights = [_size([x.shape[0] for x in row if x is not None], f"row {k}") for k, row in enumerate(grid)]
    columns = list(zip(*grid, strict=True))
    widths = [_size([x.shape[1] for x in c if x is not None], f"column {k}") for k, c in enumerate(columns)]
    known = [x for row in grid for x in row if x is not None]
    like = next((x.layout for x in known if not x.layout.is_dense), "coo")
    wanted = np.result_type(*(x.dtype for x in known)) if known else np.dtype(np.float64)
    full = [
        [zeros((h, w), dtype=wanted, format=like) if x is None else x for x, w in zip(row, widths, strict=True)]
        for row, h in zip(grid, heights, strict=True)
    ]
    return as_asked(block(full), like if format is None else format, dtype)


def _size(sizes: list[int], where: str) -> int:
    if len(set(sizes)) > 1:
        raise ShapeError(f"{where} of blocks has sizes {sizes}")
    return sizes[0] if sizes else 0


def bmat(blocks: Any, format: FormatLike | None = None, dtype: DTypeLike | None = None) -> SparseTensor:
    """Make a matrix from a grid of matrices: :func:`block_array`, with all arguments by position.

    Parameters
    ----------
    blocks, format, dtype
        The arguments of :func:`block_array`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.bmat([[A, None], [None, A]]).shape
    (4, 4)
    """
    return block_array(blocks, format=format, dtype=dtype)


def kronsum(a: Any, b: Any, format: FormatLike | None = None) -> SparseTensor:
    """Compute the Kronecker sum ``kron(eye(n), a) + kron(b, eye(m))`` of square matrices of sizes m and n.

    Parameters
    ----------
    a, b : array_like
        The matrices.
    format : str or Format, optional
        The format of the result.

    Raises
    ------
    ValueError
        When a matrix is not square.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.kronsum(A, weft.eye(2, format="csr")).shape
    (4, 4)
    """
    first, second = asarray(a), asarray(b)
    for x in (first, second):
        if x.ndim != 2 or x.shape[0] != x.shape[1]:
            raise ValueError(f"kronsum takes square matrices, not one of shape {x.shape}")
    m, n = len(first), len(second)
    left = kron(eye(n, dtype=first.dtype, format="csr"), first.tocsr())
    right = kron(second.tocsr(), eye(m, dtype=second.dtype, format="csr"))
    return as_asked(left + right, format)


def random_array(
    shape: Sequence[int], *, density: float = 0.01, format: FormatLike = "coo", dtype: DTypeLike | None = None,
    rng: Any = None, data_sampler: Any = None, random_state: Any = None,
) -> SparseTensor:  # fmt: skip
    """Make a tensor with random values at random coordinates, with the arguments of SciPy's function of this name.

    Parameters
    ----------
    shape, density, format, dtype, rng, random_state
        The arguments of :func:`weft.random`.
    data_sampler : callable, optional
        A function that returns random values; its argument ``size`` is their number.

    Examples
    --------
    >>> import weft
    >>> weft.random_array((100, 50), density=0.01, format="csr", random_state=0).nnz
    50
    """
    values = None if data_sampler is None else lambda n: data_sampler(size=n)
    return random(
        shape, density=density, format=format, dtype=dtype, rng=rng, data_rvs=values, random_state=random_state
    )


def rand(
    m: int, n: int, density: float = 0.01, format: FormatLike = "coo", dtype: DTypeLike | None = None, rng: Any = None,
    random_state: Any = None,
) -> SparseTensor:  # fmt: skip
    """Make a matrix with random values at random coordinates.

    Parameters
    ----------
    m, n : int
        The numbers of rows and columns.
    density, format, dtype, rng, random_state
        The arguments of :func:`weft.random`.

    Examples
    --------
    >>> import weft
    >>> weft.rand(100, 50, density=0.01, format="csr", random_state=0).nnz
    50
    """
    return random((m, n), density=density, format=format, dtype=dtype, rng=rng, random_state=random_state)
