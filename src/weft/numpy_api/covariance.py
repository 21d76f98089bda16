"""Covariance and correlation of rows, computed from products of stored entries.

The variance of a row with few stored entries is about as large as the mean of its squares. The product of means can
thus be subtracted at the end without a loss of digits. Other rows are made dense, which costs less than twice their
memory.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 3.0, 0.0], [0.0, 0.0, 6.0]], format="csr")
>>> weft.cov(A).todense()
array([[ 3., -3.],
       [-3., 12.]])
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..operations.fill_change import require_dense
from ..operations.operands import storage_of
from ..storage import Storage
from ..tensor.lazy import fused, node_of
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import atleast_2d, transpose
from .stacking import concat


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
    aweights: Any = None, *, dtype: DTypeLike | None = None,
) -> SparseTensor:  # fmt: skip
    """Return the covariance matrix of variables, a dense tensor.

    Parameters
    ----------
    m : array_like
        A matrix with one row for each variable, or the vector of one variable.
    y : array_like, optional
        More variables.
    rowvar : bool
        False if the columns are the variables.
    bias : bool
        True to divide by the number of observations, and not by one less.
    ddof : int, optional
        The number that is subtracted from the number of observations. It overrides ``bias``.
    fweights, aweights : array_like, optional
        Frequency weights and observation weights.
    dtype : dtype, optional
        The dtype of the result, by default at least float64.

    Returns
    -------
    SparseTensor
        The covariance matrix, dense; for one variable a tensor without axes.

    Raises
    ------
    ValueError
        If ``m`` or ``y`` has more than two axes, or ``ddof`` is not an integer.
    DensifyError
        If the result, or rows that are not sparse enough, exceed ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([[0.0, 1.0, 2.0], [0.0, 2.0, 4.0]], format="csr")
    >>> weft.cov(x).todense()
    array([[1., 2.],
           [2., 4.]])
    """
    variables = _variables(m, rowvar)
    if y is not None:
        variables = concat([variables, _variables(y, rowvar)], axis=0)
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    result_dtype = np.result_type(variables.dtype, np.float64) if dtype is None else np.dtype(dtype)
    rows, count = variables.shape
    left = count - (int(ddof) if ddof is not None else 0 if bias else 1)
    if fweights is not None or aweights is not None or left <= 0 or not _is_thin(variables):
        require_dense(variables.shape, result_dtype, "observations of crowded rows")
        weights = {"fweights": fweights, "aweights": aweights}
        dense = np.cov(variables.todense(), bias=bias, ddof=ddof, dtype=result_dtype, **weights)
        return SparseTensor(Storage.dense(np.asarray(dense)))
    require_dense((rows, rows), result_dtype, "covariances of all rows")
    found = _covariances(variables, result_dtype, count, left).todense()
    return SparseTensor(Storage.dense(found if rows != 1 else found.reshape(())))


@fused(static=True)
def _covariances(x: Any, dtype: np.dtype[Any], count: int, left: int) -> Any:
    """Return E[XY] - E[X] E[Y] of rows, scaled."""
    x = x.astype(dtype, copy=False)
    if fill := node_of(x).fill:  # a constant shift leaves covariances as they are
        x = x - fill
    sums = x.sum(axis=1)
    return (x @ x.conj().T - sums[:, None] * (sums.conj() / count)) / left


def _variables(m: Any, rowvar: bool) -> SparseTensor:
    variables = SparseTensor(storage_of(m))
    if variables.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if variables.ndim == 2 and not rowvar:
        return transpose(variables)
    return atleast_2d(variables)


def _is_thin(variables: SparseTensor) -> bool:
    """Return whether every row of a sparse tensor stores at most half of its elements, and all values are finite."""
    storage = storage_of(variables)
    if storage.format.is_dense or not storage.format.is_unique or not np.isfinite(storage.vals).all():
        return False
    entries = SparseTensor(storage.with_values(np.ones(len(storage.vals), np.int64), 0))
    most = int(entries.sum(axis=1).max()) if variables.shape[0] else 0
    return bool(np.isfinite(storage.type.fill)) and 2 * most <= variables.shape[1]


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: DTypeLike | None = None) -> SparseTensor:
    """Return the correlation coefficients of variables, a dense tensor.

    Parameters
    ----------
    x : array_like
        A matrix with one row for each variable, or the vector of one variable.
    y : array_like, optional
        More variables.
    rowvar : bool
        False if the columns are the variables.
    dtype : dtype, optional
        The dtype of the result, by default at least float64.

    Returns
    -------
    SparseTensor
        The correlation matrix, dense. A constant variable has NaN, with a ``RuntimeWarning``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([[0.0, 1.0, 2.0], [0.0, 2.0, 4.0]], format="csr")
    >>> weft.corrcoef(x).todense()
    array([[1., 1.],
           [1., 1.]])
    """
    c = cov(x, y, rowvar, dtype=dtype).todense()
    if not np.ndim(c):
        return SparseTensor(Storage.dense(np.asarray(c / c)))
    deviation = np.sqrt(np.diag(c).real)
    with np.errstate(all="ignore"):
        coefficients = c / deviation[:, None] / deviation[None, :]
    if not deviation.all():
        warnings.warn("invalid value encountered in divide", RuntimeWarning, stacklevel=2)
    # Rounding errors may leave [-1, 1]. NumPy clips them, too.
    np.clip(coefficients.real, -1, 1, out=coefficients.real)
    if np.iscomplexobj(coefficients):
        np.clip(coefficients.imag, -1, 1, out=coefficients.imag)
    return SparseTensor(Storage.dense(coefficients))
