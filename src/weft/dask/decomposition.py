"""Singular values and vectors over chunks, by random projections (Halko, Martinsson and Tropp, 2011)."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from ..errors import ShapeError
from .chunks import again, tasks
from .statement import evaluate


def svd(
    X: Any, /, k: int, *, n_oversamples: int = 10, n_power_iter: int = 2, seed: int | None = None
) -> tuple[Any, Any, Any]:
    """Return the ``k`` largest singular values of a matrix in chunks, and their vectors.

    Parameters
    ----------
    X : dask.array.Array
        The matrix, of tensors or ndarrays. Each pass over it reads it anew if it comes from a file.
    k : int
        The number of singular values.
    n_oversamples : int, optional
        Number of further directions that are computed beside them, for accuracy.
    n_power_iter : int, optional
        Number of times that the directions are improved, each by two passes over the matrix. More are needed where
        singular values are close to each other.
    seed : int, optional
        The seed of the random directions; without one, they differ from call to call.

    Returns
    -------
    u, s, v : dask.array.Array
        Left vectors, which are cut like the rows of ``X``, values and right vectors, as by ``numpy.linalg.svd``. They
        are best computed together: ``dask.compute(u, s, v)``.

    Raises
    ------
    ShapeError
        If ``X`` is no matrix, sizes of chunks are unknown, or ``k`` is larger than its sides.

    Examples
    --------
    >>> import dask, numpy as np, weft
    >>> A = weft.diags([np.append([9.0, 5.0, 2.0], np.full(97, 0.1))])
    >>> X = weft.dask.from_tensor(A, entries=40)
    >>> u, s, v = dask.compute(*weft.dask.svd(X, 2, seed=0))
    >>> u.shape, s.round(2), v.shape
    ((100, 2), array([9., 5.]), (2, 100))
    """
    if X.ndim != 2 or any(n != n for n in X.shape):
        raise ShapeError(f"svd takes a matrix of known shape, not one of shape {X.shape}")
    rows, columns = X.shape
    if not 0 < k <= min(rows, columns):
        raise ShapeError(f"k is between 1 and {min(rows, columns)} for shape {X.shape}, not {k}")
    width = min(k + n_oversamples, rows, columns)
    dtype = np.result_type(X.dtype, np.float32 if X.dtype == np.float32 else np.float64)
    directions = np.random.default_rng(seed).standard_normal((columns, width)).astype(dtype)
    passes = 2 * n_power_iter + 2
    basis = _orthogonal(_times(again(X, 0), directions))
    for number in range(1, passes - 1, 2):
        dual = _orthogonal(_transposed_times(again(X, number), basis))
        basis = _orthogonal(_times(again(X, number + 1), dual))
    small = _transposed_times(again(X, passes - 1), basis)  # of X^H Q, which is as tall as X is wide
    v, s, u = da.linalg.svd(tasks(small, ((columns,), (width,))))
    return _product(basis, u.T.conj())[:, :k], s[:k], v.T.conj()[:k]


def _times(X: Any, right: Any) -> Any:
    return evaluate("Y(i,r) = X(i,j)*R(j,r)", X=X, R=right, format="dense")


def _transposed_times(X: Any, left: Any) -> Any:
    text = "Z(j,r) = conj(X(i,j))*L(i,r)" if X.dtype.kind == "c" else "Z(j,r) = X(i,j)*L(i,r)"
    return evaluate(text, X=X, L=left, format="dense")


def _product(left: Any, right: Any) -> Any:
    return evaluate("Y(i,r) = L(i,q)*R(q,r)", L=left, R=right)


def _orthogonal(Y: Any) -> Any:
    """Return an orthonormal basis of the columns of a tall matrix of ndarrays."""
    whole = Y.rechunk({1: -1}, method="tasks")
    arrays = whole.map_blocks(np.asarray, dtype=Y.dtype, meta=np.empty((0, 0), Y.dtype))
    return da.linalg.qr(arrays)[0]
