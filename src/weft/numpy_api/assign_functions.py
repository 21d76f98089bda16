"""NumPy's functions that assign to elements of their first argument: a tensor, or an ndarray.

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
from numpy.lib.array_utils import normalize_axis_index

from ..dtypes import as_values
from ..operations.operands import storage_of
from ..tensor.out_argument import write_out
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import broadcast_to, ravel

__all__ = ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"]


def _array(x: Any) -> Any:
    return x.todense() if isinstance(x, SparseTensor) else np.asarray(x)


def _values(x: Any, target: Any) -> np.ndarray[Any, Any]:
    """What is to be assigned to elements of ``target``."""
    return as_values(x.todense() if isinstance(x, SparseTensor) else x, target.dtype)


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Assign the elements of ``src``, broadcast, or those where ``where`` holds."""
    if not np.can_cast(storage_of(src).dtype if not np.isscalar(src) else type(src), dst.dtype, casting):
        raise TypeError(f"Cannot cast array data from {storage_of(src).dtype} to {dst.dtype} according to {casting!r}")
    mask = where if where is True else broadcast_to(where, dst.shape)
    source = as_values(src, dst.dtype) if np.isscalar(src) else src
    write_out(broadcast_to(source, dst.shape).astype(dst.dtype), dst, "copyto", mask)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Assign the elements at some places of the flattened tensor; the values come again where they are too few."""
    a.put(_array(ind), _values(v, a), mode)


def place(arr: Any, mask: Any, vals: Any) -> None:
    """Assign the elements where a mask of the same shape holds; the values come again where they are too few."""
    (chosen,) = ravel(mask).nonzero()
    values = np.ravel(_values(vals, arr))
    if len(chosen) and not len(values):
        raise ValueError("Cannot insert from an empty array!")
    if len(chosen):
        arr.put(chosen, np.resize(values, len(chosen)))


def putmask(a: Any, mask: Any, values: Any) -> None:
    """Assign the elements where a mask holds those at the same place of ``values``, which come again."""
    (chosen,) = ravel(mask).nonzero()
    given = np.ravel(_values(values, a))
    if len(chosen) and len(given):
        a.put(chosen, given[chosen % len(given)])


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Assign one element for each index along an axis, as :func:`weft.take_along_axis` takes them."""
    index = _array(indices)
    if axis is None:
        arr.put(index, _values(values, arr))
        return
    along = normalize_axis_index(axis, arr.ndim)
    places = [
        np.arange(n).reshape([-1 if k == axis_ else 1 for k in range(arr.ndim)]) for axis_, n in enumerate(arr.shape)
    ]
    arr[(*places[:along], index, *places[along + 1 :])] = values


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Assign the elements whose coordinates are all the same.

    Parameters
    ----------
    a : SparseTensor or ndarray
        Of two axes at least; of more, all as long.
    val : scalar or array_like
        Its elements come again where they are too few.
    wrap : bool
        Whether the diagonal of a tall matrix goes on below, after a row.
    """
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    if a.ndim == 2 and wrap:
        rows = np.arange(a.shape[0])
        rows = rows[rows % (a.shape[1] + 1) < a.shape[1]]
        places = (rows, rows % (a.shape[1] + 1))
    else:
        places = (np.arange(min(a.shape)),) * a.ndim
    if len(places[0]):
        a[places] = np.resize(_values(val, a), len(places[0]))
