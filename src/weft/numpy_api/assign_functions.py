"""NumPy's functions that assign to elements of their first argument, a tensor or an ndarray.

Examples
--------
>>> import weft
>>> A = weft.zeros((2, 3), format="csr")
>>> weft.fill_diagonal(A, 7)
>>> weft.put(A, [1, -1], [2, 3])
>>> A.todense()
array([[7., 2., 0.],
       [0., 7., 3.]])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import as_values
from ..operations.axes import normalize_axis_index
from ..operations.operands import storage_of
from ..tensor.out_argument import write_out
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import broadcast_to, ravel


def _array(x: Any) -> Any:
    return x.todense() if isinstance(x, SparseTensor) else np.asarray(x)


def _values(x: Any, target: Any) -> np.ndarray[Any, Any]:
    """Return values as an ndarray of the dtype of ``target``."""
    return as_values(x.todense() if isinstance(x, SparseTensor) else x, target.dtype)


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Assign the elements of ``src`` to those of ``dst``.

    Parameters
    ----------
    dst : SparseTensor or ndarray
        The target. A tensor keeps its format and dtype.
    src : array_like
        The values, broadcast to the shape of ``dst``.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        The rule by which values may be converted.
    where : array_like of bool
        A mask of the elements that are assigned, broadcast to the shape of ``dst``.

    Raises
    ------
    TypeError
        If the dtype of ``src`` cannot be cast to that of ``dst`` by the rule.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.copyto(A, 5.0, where=A > 1)
    >>> A.todense()
    array([[0., 1.],
           [5., 0.]])
    """
    if not np.can_cast(storage_of(src).dtype if not np.isscalar(src) else type(src), dst.dtype, casting):
        raise TypeError(f"Cannot cast array data from {storage_of(src).dtype} to {dst.dtype} according to {casting!r}")
    mask = where if where is True else broadcast_to(where, dst.shape)
    source = as_values(src, dst.dtype) if np.isscalar(src) else src
    write_out(broadcast_to(source, dst.shape).astype(dst.dtype), dst, "copyto", mask)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Assign values to elements of the flattened tensor; see :meth:`weft.SparseTensor.put`.

    Parameters
    ----------
    a : SparseTensor or ndarray
        The target.
    ind : array_like of int
        The indices of the elements in the flattened target.
    v : array_like
        The values. If there are fewer values than indices, the values are repeated.
    mode : {'raise', 'wrap', 'clip'}
        The treatment of indices out of bounds.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.put(A, [0, 3], [8.0, 9.0])
    >>> A.todense()
    array([[8., 1.],
           [2., 9.]])
    """
    a.put(_array(ind), _values(v, a), mode)


def place(arr: Any, mask: Any, vals: Any) -> None:
    """Assign values, in their order, to the elements at which a mask holds.

    Parameters
    ----------
    arr : SparseTensor or ndarray
        The target.
    mask : array_like of bool
        The mask, of as many elements as ``arr``.
    vals : array_like
        The values. If there are fewer values than selected elements, the values are repeated.

    Raises
    ------
    ValueError
        If ``vals`` is empty and the mask is not.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.place(A, A > 0, [8.0, 9.0])
    >>> A.todense()
    array([[0., 8.],
           [9., 0.]])
    """
    (chosen,) = ravel(mask).nonzero()
    values = np.ravel(_values(vals, arr))
    if len(chosen) and not len(values):
        raise ValueError("Cannot insert from an empty array!")
    if len(chosen):
        arr.put(chosen, np.resize(values, len(chosen)))


def putmask(a: Any, mask: Any, values: Any) -> None:
    """Assign to each element at which a mask holds the value at the same index of the flattened ``values``.

    Parameters
    ----------
    a : SparseTensor or ndarray
        The target.
    mask : array_like of bool
        The mask, of as many elements as ``a``.
    values : array_like
        The values. If there are fewer values than elements of ``a``, the values are repeated.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.putmask(A, A > 1, 9.0)
    >>> A.todense()
    array([[0., 1.],
           [9., 0.]])
    """
    (chosen,) = ravel(mask).nonzero()
    flat_values = np.ravel(_values(values, a))
    if len(chosen) and len(flat_values):
        # The value is chosen by the index in the flattened target, not by the number of selected elements before it.
        a.put(chosen, flat_values[chosen % len(flat_values)])


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Assign one value for each index along an axis, the inverse of :func:`weft.take_along_axis`.

    Parameters
    ----------
    arr : SparseTensor or ndarray
        The target.
    indices : array_like of int
        The indices along the axis, with as many axes as ``arr``.
    values : array_like
        The values, broadcast to the shape of ``indices``.
    axis : int or None
        The axis. If it is None, the indices are those of the flattened target.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.put_along_axis(A, np.array([[0], [1]]), 9.0, axis=1)
    >>> A.todense()
    array([[9., 1.],
           [2., 9.]])
    """
    index = _array(indices)
    if axis is None:
        arr.put(index, _values(values, arr))
        return
    along = normalize_axis_index(axis, arr.ndim)
    # Open grids select all coordinates of the other axes.
    places = [
        np.arange(n).reshape([-1 if k == axis_ else 1 for k in range(arr.ndim)]) for axis_, n in enumerate(arr.shape)
    ]
    arr[(*places[:along], index, *places[along + 1 :])] = values


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Assign values to the main diagonal: the elements whose coordinates are all equal.

    Parameters
    ----------
    a : SparseTensor or ndarray
        The target, with two axes or with more axes of equal length.
    val : scalar or array_like
        The values. If there are too few, the values are repeated.
    wrap : bool
        True if the diagonal of a tall matrix is to start again after its end, one row being left out.

    Raises
    ------
    ValueError
        If ``a`` has fewer than two axes, or more than two axes of different lengths.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.fill_diagonal(A, 7.0)
    >>> A.todense()
    array([[7., 1.],
           [2., 7.]])
    """
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    if a.ndim == 2 and wrap:
        # The diagonal starts again after every ``columns + 1`` rows, and the row between is left out.
        rows = np.arange(a.shape[0])
        rows = rows[rows % (a.shape[1] + 1) < a.shape[1]]
        places = (rows, rows % (a.shape[1] + 1))
    else:
        places = (np.arange(min(a.shape)),) * a.ndim
    if len(places[0]):
        a[places] = np.resize(_values(val, a), len(places[0]))
