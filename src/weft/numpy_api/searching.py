"""Searches for elements, under the names of NumPy and the array API standard, in time proportional to stored entries.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 3.0, 1.0], [-1.0, 0.0, -2.0]], format="csr")
>>> weft.argmax(A, axis=1).todense(), weft.nonzero(A)[0].todense()
(array([1, 1]), array([0, 0, 1, 1]))
>>> weft.where(A > 0, A, 7.0).fill_value
np.float64(7.0)
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from .. import execution
from ..operations import select
from ..operations.axes import normalize_axis_index
from ..operations.axis_lines import Lines, lines
from ..operations.canonical import drop_explicit_fill
from ..operations.elementwise import with_axes
from ..operations.fill_change import as_array, change_fill, require_dense
from ..operations.indexing import coordinates
from ..operations.operands import makes_array, operand_of, storage_of
from ..storage import Storage
from ..tensor.lazy import chosen, is_lazy
from ..tensor.operators import wrap_result
from ..tensor.out_argument import put_into
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import ravel


# -- extremes ------------------------------------------------------------------------------------------------------
@overload
def argmax(
    x: Any, /, axis: None = None, out: None = None, *, keepdims: Literal[False] = False, explicit: bool = False
) -> np.int64: ...
@overload
def argmax(
    x: Any, /, axis: int | None = None, out: Any = None, *, keepdims: bool = False, explicit: bool = False
) -> SparseTensor | Any: ...
def argmax(
    x: Any, /, axis: int | None = None, out: Any = None, *, keepdims: bool = False, explicit: bool = False
) -> Any:
    """Return the index of the first maximum along an axis; NaN counts as the maximum.

    Parameters
    ----------
    x : array_like
        The tensor.
    axis : int, optional
        The axis. If it is None, the index is that of the flattened tensor.
    out : ndarray or SparseTensor, optional
        The array or tensor into which the result is written.
    keepdims : bool
        True to keep the axis with size 1.
    explicit : bool
        True to compare stored entries only. A line without any has index 0, as in scipy.sparse.

    Returns
    -------
    SparseTensor or NumPy integer
        The indices, a dense tensor; an integer if no axis is left.

    Raises
    ------
    ValueError
        If there are no elements.
    DensifyError
        If the result exceeds ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.argmax(A), weft.argmax(A, axis=1).todense()
    (np.int64(2), array([1, 0]))
    """
    return put_into(out, _extreme(x, axis, keepdims, np.maximum, "argmax", explicit), "argmax")


@overload
def argmin(
    x: Any, /, axis: None = None, out: None = None, *, keepdims: Literal[False] = False, explicit: bool = False
) -> np.int64: ...
@overload
def argmin(
    x: Any, /, axis: int | None = None, out: Any = None, *, keepdims: bool = False, explicit: bool = False
) -> SparseTensor | Any: ...
def argmin(
    x: Any, /, axis: int | None = None, out: Any = None, *, keepdims: bool = False, explicit: bool = False
) -> Any:
    """Return the index of the first minimum along an axis; NaN counts as the minimum.

    The arguments, results and errors are those of :func:`argmax`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.argmin(A), weft.argmin(A, axis=1).todense()
    (np.int64(0), array([0, 1]))
    """
    return put_into(out, _extreme(x, axis, keepdims, np.minimum, "argmin", explicit), "argmin")


def _extreme(x: Any, axis: int | None, keepdims: bool, best: np.ufunc, name: str, explicit: bool) -> Any:
    storage = storage_of(x)
    n = len(storage.shape)
    along = None if axis is None else normalize_axis_index(axis, max(n, 1))
    along = along if n else None  # a tensor without axes is a line of one element
    if storage.format.is_dense:
        # A dense tensor has no implicit entries, and NumPy searches it.
        array = execution.convert(storage, storage.format.dense(n)).to_dense_array()
        indices = getattr(np, name)(array, axis=along, keepdims=keepdims)
        return indices if not np.ndim(indices) else SparseTensor(Storage.dense(indices))
    seen = lines(storage, along)
    if not seen.length:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    indices = _first_extremes(seen, best, explicit).reshape(seen.shape)
    if not seen.shape and not (keepdims and n):
        return indices[()]
    result = Storage.dense(indices)
    gone = tuple(range(n)) if along is None else (along,)
    return SparseTensor(with_axes(result, gone) if keepdims else result)


def _first_extremes(seen: Lines, best: np.ufunc, explicit: bool) -> np.ndarray[Any, Any]:
    """Return the column of the first extreme of each line; with ``explicit`` of stored entries alone, 0 without any."""
    require_dense((seen.count,), np.dtype(np.int64), "positions in every line")
    edges, column, values = seen.edges, seen.column, seen.values
    stored = np.diff(edges)
    # The first implicit column of a line is the least rank of an entry whose rank differs from its column.
    gap = stored.copy()
    behind = seen.rank != column
    np.minimum.at(gap, seen.row[behind], seen.rank[behind])
    held = np.flatnonzero(stored)
    answer = gap  # column 0 of a line without stored entries
    if len(held):
        starts = edges[held]
        # The extreme of the stored entries of each line, and the first column that has it. NaN equals NaN here.
        top = best.reduceat(values, starts)
        spread = np.repeat(top, stored[held])
        is_top = (values == spread) | ((values != values) & (spread != spread))
        first = np.minimum.reduceat(np.where(is_top, column, seen.length), starts)
        if explicit:
            answer[:] = 0
            answer[held] = first
            return answer.astype(np.int64)
        # The fill value competes in lines with implicit entries. The first column decides between equal values.
        is_full = stored[held] == seen.length
        with np.errstate(invalid="ignore"):
            both = best(top, seen.fill)
        top_wins = (both == top) | ((both != both) & (top != top))
        fill_wins = (both == seen.fill) | ((both != both) & (seen.fill != seen.fill))
        either = np.where(top_wins & fill_wins, np.minimum(first, gap[held]), np.where(top_wins, first, gap[held]))
        answer[held] = np.where(is_full, first, either)
    return answer.astype(np.int64)


# -- where something is --------------------------------------------------------------------------------------------
def _nonzero_rows(x: Any) -> list[np.ndarray[Any, Any]]:
    storage = storage_of(x)
    if not storage.shape:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    coo = drop_explicit_fill(execution.convert(change_fill(storage, 0), coordinates(len(storage.shape))))
    return [row.astype(np.int64) for row in coo.arrays[1:]]


def nonzero(x: Any, /) -> tuple[SparseTensor, ...]:
    """Return the coordinates of the nonzero elements: one dense vector for each axis.

    Unlike NumPy's, the vectors are tensors. :meth:`weft.SparseTensor.nonzero` returns ndarrays.

    Parameters
    ----------
    x : array_like
        A tensor with at least one axis.

    Returns
    -------
    tuple of SparseTensor
        The coordinates in lexicographic order.

    Raises
    ------
    ValueError
        If the tensor has no axis.
    DensifyError
        If the fill value is nonzero and the tensor exceeds ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> rows, columns = weft.nonzero(A)
    >>> rows.todense(), columns.todense()
    (array([0, 1]), array([1, 0]))
    """
    return tuple(SparseTensor(Storage.dense(row)) for row in _nonzero_rows(x))


def argwhere(x: Any) -> SparseTensor:
    """Return the coordinates of the nonzero elements as the rows of a dense matrix.

    Unlike NumPy's, the matrix is a tensor.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.argwhere(A).todense()
    array([[0, 1],
           [1, 0]])
    """
    storage = storage_of(x)
    if not storage.shape:  # one empty row if the element is nonzero
        count = np.count_nonzero(SparseTensor(storage).todense())
        return SparseTensor(Storage.dense(np.empty((count, 0), np.int64)))
    rows = _nonzero_rows(x)
    return SparseTensor(Storage.dense(np.ascontiguousarray(np.stack(rows, axis=1))))


def flatnonzero(x: Any) -> SparseTensor:
    """Return the indices of the nonzero elements of the flattened tensor, as a dense vector.

    Unlike NumPy's, the vector is a tensor.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.flatnonzero(A).todense()
    array([1, 2])
    """
    return nonzero(ravel(x))[0]


def searchsorted(x1: Any, x2: Any, /, side: Any = "left", sorter: Any = None, *, out: Any = None) -> SparseTensor | Any:
    """Return the indices at which values are to be inserted into a sorted vector.

    The operands are made dense.

    Parameters
    ----------
    x1 : array_like
        The sorted vector.
    x2 : array_like
        The values.
    side : {'left', 'right'}
        The index among equal elements: the first or the one behind the last.
    sorter : array_like of int, optional
        Indices that sort ``x1``.
    out : ndarray or SparseTensor, optional
        The array or tensor into which the result is written.

    Returns
    -------
    SparseTensor or NumPy integer
        The indices, a dense tensor of the shape of ``x2``.

    Raises
    ------
    DensifyError
        If an operand exceeds ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 0.0, 3.0, 5.0], format="coo")
    >>> weft.searchsorted(x, [1.0, 4.0]).todense()
    array([2, 3])
    """
    first, second, order = (as_array(x) for x in (x1, x2, sorter))
    positions = np.searchsorted(first, second, side=side, sorter=order)
    return put_into(out, SparseTensor(Storage.dense(positions)) if np.ndim(positions) else positions, "searchsorted")


def isin(
    x1: Any, x2: Any, /, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> SparseTensor | Any:
    """Return whether each element of a tensor equals any element of another.

    Parameters
    ----------
    x1 : array_like
        The tensor.
    x2 : array_like
        The elements that are searched for. Implicit entries count.
    assume_unique : bool
        NumPy's hint that neither has equal elements, which changes nothing.
    invert : bool
        True to return the negation.
    kind : str, optional
        NumPy's choice of an algorithm, which changes nothing.

    Returns
    -------
    SparseTensor
        A tensor of bool in the format of ``x1``. Its fill value is the answer for implicit entries.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.isin(A, [0.0, 2.0]).todense()
    array([[ True, False],
           [ True,  True]])
    """
    storage = storage_of(x1)
    if not storage.format.is_unique:
        storage = execution.convert(storage, storage.format.canonical())
    among = _values(x2)
    fill = storage.dtype.type(storage.type.fill)
    vals = np.isin(storage.vals, among, invert=invert)
    return SparseTensor(storage.with_values(vals, bool(np.isin(fill, among, invert=invert))))


def _values(x: Any) -> np.ndarray[Any, Any]:
    """Return the different values of a tensor, with the fill value if there are implicit entries."""
    storage = storage_of(x)
    if storage.format.is_dense:
        return np.unique(storage.vals)
    seen = lines(storage, None)
    absent = [seen.fill] if len(seen.values) < seen.length else []
    return np.unique(np.concatenate([seen.values, np.array(absent, storage.dtype)]))


# -- choice --------------------------------------------------------------------------------------------------------
@overload
def where(condition: Any, /) -> tuple[SparseTensor, ...]: ...
@overload
def where(condition: SparseTensor, x1: SparseTensor | complex, x2: SparseTensor | complex, /) -> SparseTensor: ...
@overload
def where(condition: Any, x1: Any, x2: Any, /) -> SparseTensor | Any: ...
def where(condition: Any, x1: Any = None, x2: Any = None, /) -> Any:
    """Return the elements of ``x1`` where a condition holds, and those of ``x2`` elsewhere.

    Parameters
    ----------
    condition : array_like
        The condition, nonzero where it holds. Given alone, its nonzero coordinates are returned; see :func:`nonzero`.
    x1, x2 : array_like, optional
        The tensors, which broadcast with the condition.

    Returns
    -------
    SparseTensor, ndarray, NumPy scalar or tuple of SparseTensor
        An entry of the result is stored if one of the three operands stores one that matters there. A dense result is
        an ndarray if an operand is one.

    Raises
    ------
    ValueError
        If only one of ``x1`` and ``x2`` is given.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.where(A > 1, A, 0.0).todense()
    array([[0., 0.],
           [2., 0.]])
    """
    if x1 is None and x2 is None:
        return nonzero(condition)
    if x1 is None or x2 is None:
        raise ValueError("either both or neither of x and y should be given")
    if is_lazy(condition, x1, x2):
        return chosen(condition, x1, x2)
    operands = [operand_of(x) for x in (condition, x1, x2)]
    result = select.where([o.storage for o in operands], _result_type(x1, x2))
    return wrap_result(SparseTensor, result, makes_array([(len(o.storage.shape), o.is_array) for o in operands]))


def _result_type(*operands: Any) -> np.dtype[Any]:
    weak = [x if type(x) in (int, float, complex, bool) else storage_of(x).dtype for x in operands]
    return np.result_type(*weak)
