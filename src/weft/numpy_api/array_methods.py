"""Methods of ``SparseTensor`` whose arguments differ from those of the function of the same name.

The methods take NumPy's arguments in NumPy's order. ``weft._api`` lists the methods. All other methods are the
functions themselves.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 4.0], [2.0, 0.0]], format="csr")
>>> A.sum(0, "float32").todense()
array([2., 4.], dtype=float32)
>>> A.reshape(4).nonzero()
(array([1, 2]),)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike

from ..operations.fill_change import other_fill
from ..operations.operands import replace_storage, storage_of
from ..tensor.operators import unary
from ..tensor.out_argument import put_into
from ..tensor.sparse_tensor import SparseTensor
from . import (
    cumulative,
    diagonals,
    insert_delete,
    linalg,
    manipulation,
    moments,
    reductions,
    searching,
    sorting,
    ufuncs,
)

if TYPE_CHECKING:
    from ..tensor.types import Axis, Scalar


# -- reductions -----------------------------------------------------------------------------------------------------
@overload
def sum(
    self: SparseTensor, axis: None = None, dtype: DTypeLike | None = None, out: None = None,
    keepdims: Literal[False] = False, initial: Any = None, where: Any = True,
) -> Scalar: ...  # fmt: skip
@overload
def sum(
    self: SparseTensor, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> SparseTensor | Any: ...  # fmt: skip
def sum(
    self: SparseTensor, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """Return the sum over some axes; see :func:`weft.sum`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.sum(), A.sum(axis=1).todense()
    (np.float64(3.0), array([1., 2.]))
    """
    return reductions.sum(self, axis, dtype=dtype, keepdims=keepdims, initial=initial, out=out, where=where)


@overload
def prod(
    self: SparseTensor, axis: None = None, dtype: DTypeLike | None = None, out: None = None,
    keepdims: Literal[False] = False, initial: Any = None, where: Any = True,
) -> Scalar: ...  # fmt: skip
@overload
def prod(
    self: SparseTensor, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> SparseTensor | Any: ...  # fmt: skip
def prod(
    self: SparseTensor, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """Return the product over some axes; see :func:`weft.prod`.

    Examples
    --------
    >>> import weft
    >>> (weft.eye(2, format="csr") + 1).prod()
    np.float64(4.0)
    """
    return reductions.prod(self, axis, dtype=dtype, keepdims=keepdims, initial=initial, out=out, where=where)


@overload
def min(
    self: SparseTensor, axis: None = None, out: None = None, keepdims: Literal[False] = False, initial: Any = None,
    where: Any = True, *, explicit: bool = False,
) -> Scalar | Any: ...  # fmt: skip
@overload
def min(
    self: SparseTensor, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True, *, explicit: bool = False,
) -> SparseTensor | Any: ...  # fmt: skip
def min(
    self: SparseTensor, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True, *, explicit: bool = False,
) -> Any:  # fmt: skip
    """Return the minimum over some axes; see :func:`weft.min`.

    If ``explicit`` is true, only stored entries count, as in ``min(explicit=True)`` of scipy.sparse.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.min(), A.min(axis=0, explicit=True).todense()
    (np.float64(0.0), array([2., 1.]))
    """
    return reductions.min(self, axis, keepdims=keepdims, initial=initial, out=out, where=where, explicit=explicit)


@overload
def max(
    self: SparseTensor, axis: None = None, out: None = None, keepdims: Literal[False] = False, initial: Any = None,
    where: Any = True, *, explicit: bool = False,
) -> Scalar | Any: ...  # fmt: skip
@overload
def max(
    self: SparseTensor, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True, *, explicit: bool = False,
) -> SparseTensor | Any: ...  # fmt: skip
def max(
    self: SparseTensor, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True, *, explicit: bool = False,
) -> Any:  # fmt: skip
    """Return the maximum over some axes; see :func:`weft.max`.

    If ``explicit`` is true, only stored entries count, as in ``max(explicit=True)`` of scipy.sparse.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.max(), A.max(axis=1).todense()
    (np.float64(2.0), array([1., 2.]))
    """
    return reductions.max(self, axis, keepdims=keepdims, initial=initial, out=out, where=where, explicit=explicit)


@overload
def any(
    self: SparseTensor, axis: None = None, out: None = None, keepdims: Literal[False] = False, *, where: Any = True
) -> np.bool_: ...
@overload
def any(
    self: SparseTensor, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> SparseTensor | Any: ...
def any(self: SparseTensor, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Return whether any element over some axes is nonzero; see :func:`weft.any`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.any(), A.any(axis=1).todense()
    (np.True_, array([ True,  True]))
    """
    return reductions.any(self, axis, keepdims=keepdims, out=out, where=where)


@overload
def all(
    self: SparseTensor, axis: None = None, out: None = None, keepdims: Literal[False] = False, *, where: Any = True
) -> np.bool_: ...
@overload
def all(
    self: SparseTensor, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> SparseTensor | Any: ...
def all(self: SparseTensor, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Return whether all elements over some axes are nonzero; see :func:`weft.all`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.all(), A.all(axis=1).todense()
    (np.False_, array([False, False]))
    """
    return reductions.all(self, axis, keepdims=keepdims, out=out, where=where)


@overload
def count_nonzero(self: SparseTensor, axis: None = None, keepdims: Literal[False] = False) -> np.int64: ...
@overload
def count_nonzero(self: SparseTensor, axis: Axis = None, keepdims: bool = False) -> SparseTensor | Any: ...
def count_nonzero(self: SparseTensor, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the number of nonzero elements over some axes; see :func:`weft.count_nonzero`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.count_nonzero(), A.count_nonzero(axis=0).todense()
    (np.int64(2), array([1, 1]))
    """
    return reductions.count_nonzero(self, axis, keepdims=keepdims)


@overload
def mean(
    self: SparseTensor, axis: None = None, dtype: DTypeLike | None = None, out: None = None,
    keepdims: Literal[False] = False, *, where: Any = True,
) -> Scalar: ...  # fmt: skip
@overload
def mean(
    self: SparseTensor, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False, *,
    where: Any = True,
) -> SparseTensor | Any: ...  # fmt: skip
def mean(
    self: SparseTensor, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False, *,
    where: Any = True,
) -> Any:  # fmt: skip
    """Return the mean over some axes; see :func:`weft.mean`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.mean(), A.mean(axis=0).todense()
    (np.float64(0.75), array([1. , 0.5]))
    """
    return moments.mean(self, axis, dtype=dtype, keepdims=keepdims, out=out, where=where)


@overload
def var(
    self: SparseTensor, axis: None = None, dtype: DTypeLike | None = None, out: None = None, ddof: float = 0,
    keepdims: Literal[False] = False, *, correction: float | None = None, where: Any = True,
) -> Scalar: ...  # fmt: skip
@overload
def var(
    self: SparseTensor, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, correction: float | None = None, where: Any = True,
) -> SparseTensor | Any: ...  # fmt: skip
def var(
    self: SparseTensor, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, correction: float | None = None, where: Any = True,
) -> Any:  # fmt: skip
    """Return the variance over some axes; see :func:`weft.var`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.var(), A.var(axis=0).todense()
    (np.float64(0.6875), array([1.  , 0.25]))
    """
    return moments.var(
        self, axis, dtype=dtype, ddof=ddof, correction=correction, keepdims=keepdims, out=out, where=where
    )


@overload
def std(
    self: SparseTensor, axis: None = None, dtype: DTypeLike | None = None, out: None = None, ddof: float = 0,
    keepdims: Literal[False] = False, *, correction: float | None = None, where: Any = True,
) -> Scalar: ...  # fmt: skip
@overload
def std(
    self: SparseTensor, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, correction: float | None = None, where: Any = True,
) -> SparseTensor | Any: ...  # fmt: skip
def std(
    self: SparseTensor, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, correction: float | None = None, where: Any = True,
) -> Any:  # fmt: skip
    """Return the standard deviation over some axes; see :func:`weft.std`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.std(), A.std(axis=0).todense()
    (np.float64(0.82915619758885), array([1. , 0.5]))
    """
    return moments.std(
        self, axis, dtype=dtype, ddof=ddof, correction=correction, keepdims=keepdims, out=out, where=where
    )


@overload
def argmax(
    self: SparseTensor, axis: None = None, *, keepdims: Literal[False] = False, explicit: bool = False, out: None = None
) -> np.int64: ...
@overload
def argmax(
    self: SparseTensor, axis: int | None = None, *, keepdims: bool = False, explicit: bool = False, out: Any = None
) -> SparseTensor | Any: ...
def argmax(
    self: SparseTensor, axis: int | None = None, *, keepdims: bool = False, explicit: bool = False, out: Any = None
) -> Any:
    """Return the index of the first maximum along an axis; see :func:`weft.argmax`.

    If ``explicit`` is true, only stored entries count, as in ``argmax(explicit=True)`` of scipy.sparse.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.argmax(), A.argmax(axis=1).todense()
    (np.int64(2), array([1, 0]))
    """
    return put_into(out, searching.argmax(self, axis, keepdims=keepdims, explicit=explicit), "argmax")


@overload
def argmin(
    self: SparseTensor, axis: None = None, *, keepdims: Literal[False] = False, explicit: bool = False, out: None = None
) -> np.int64: ...
@overload
def argmin(
    self: SparseTensor, axis: int | None = None, *, keepdims: bool = False, explicit: bool = False, out: Any = None
) -> SparseTensor | Any: ...
def argmin(
    self: SparseTensor, axis: int | None = None, *, keepdims: bool = False, explicit: bool = False, out: Any = None
) -> Any:
    """Return the index of the first minimum along an axis; see :func:`weft.argmin`.

    If ``explicit`` is true, only stored entries count, as in ``argmin(explicit=True)`` of scipy.sparse.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.argmin(), A.argmin(axis=1).todense()
    (np.int64(0), array([0, 1]))
    """
    return put_into(out, searching.argmin(self, axis, keepdims=keepdims, explicit=explicit), "argmin")


# -- shapes and places ----------------------------------------------------------------------------------------------
def reshape(self: SparseTensor, *shape: Any, order: str | None = "C", copy: bool | None = None) -> SparseTensor:
    """Return the same elements in another shape; see :func:`weft.reshape`.

    The shape is one tuple or several integers.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.reshape(4).todense()
    array([0., 1., 2., 0.])
    """
    # A.reshape(2, 3) and A.reshape((2, 3)) are the same.
    given = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return manipulation.reshape(self, given, order=order, copy=copy)


def flatten(self: SparseTensor, order: str | None = "C") -> SparseTensor:
    """Return a vector of all elements, which shares no memory with the tensor.

    Parameters
    ----------
    order : {'C', 'F', 'A', None}
        The order of the elements. With 'F' the first axis changes fastest; otherwise the last axis does.

    Returns
    -------
    SparseTensor
        A tensor with one axis.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.flatten().todense()
    array([0., 1., 2., 0.])
    """
    found = manipulation.ravel(self, order)
    # Raveling any other tensor computes new coordinates, and thus is a copy already.
    return found.copy() if self.ndim < 2 or self.layout.is_dense else found


def broadcast_to(self: SparseTensor, /, shape: int | Sequence[int], *, out: Any = None) -> SparseTensor | Any:
    """Return the tensor broadcast to a shape; see :func:`weft.broadcast_to`.

    Unlike NumPy's, the result is a copy: broadcast entries are stored.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0], format="coo")
    >>> x.broadcast_to((2, 2)).todense()
    array([[0., 3.],
           [0., 3.]])
    """
    return put_into(out, manipulation.broadcast_to(self, shape), "broadcast_to")


def take(
    self: SparseTensor, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> SparseTensor:
    """Return the elements at some indices along an axis; see :func:`weft.take`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.take([1, 1], axis=0).todense()
    array([[2., 0.],
           [2., 0.]])
    """
    return manipulation.take(self, indices, axis, out, mode)


def compress(self: SparseTensor, condition: Any, axis: int | None = None, out: Any = None) -> SparseTensor | Any:
    """Return the slices along an axis that a boolean vector selects; see :func:`weft.compress`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.compress([False, True], axis=0).todense()
    array([[2., 0.]])
    """
    return insert_delete.compress(condition, self, axis, out)


def diagonal(
    self: SparseTensor, offset: int = 0, axis1: int = 0, axis2: int = 1, *, k: int | None = None
) -> SparseTensor:
    """Return a diagonal of two axes; see :func:`weft.diagonal`.

    ``k`` is the name that scipy.sparse has for ``offset``.

    Examples
    --------
    >>> import weft
    >>> weft.eye(3, format="csr").diagonal().todense()
    array([1., 1., 1.])
    """
    return diagonals.diagonal(self, offset if k is None else k, axis1, axis2)


def trace(
    self: SparseTensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: Any = None
) -> SparseTensor | Any:
    """Return the sum of a diagonal of two axes.

    Parameters
    ----------
    offset : int
        The diagonal: its elements are at columns that are greater than the rows by ``offset``.
    axis1, axis2 : int
        The axes of the rows and of the columns.
    dtype : dtype, optional
        The dtype of the sum.
    out : ndarray or SparseTensor, optional
        The array into which the result is written.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        A scalar for a matrix.

    Examples
    --------
    >>> import weft
    >>> weft.eye(3, format="csr").trace()
    np.float64(3.0)
    """
    return linalg.trace(self, offset, axis1, axis2, dtype, out)


def nonzero(self: SparseTensor) -> tuple[np.ndarray[Any, Any], ...]:
    """Return the coordinates of the nonzero elements: one ndarray for each axis, in lexicographic order.

    Unlike :func:`weft.nonzero`, the method returns ndarrays, as scipy.sparse does.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.nonzero()
    (array([0, 1]), array([1, 0]))
    """
    return tuple(rows.todense() for rows in searching.nonzero(self))


def tolist(self: SparseTensor) -> Any:
    """Return all elements, implicit entries included, as nested lists of Python scalars.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """
    return self.todense().tolist()


# -- elements -------------------------------------------------------------------------------------------------------
def clip(self: SparseTensor, min: Any = None, max: Any = None, out: Any = None) -> SparseTensor:
    """Return the elements limited to an interval; see :func:`weft.clip`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.clip(0.0, 1.5).todense()
    array([[0. , 1. ],
           [1.5, 0. ]])
    """
    return ufuncs.clip(self, min, max, out=out)


def round(self: SparseTensor, decimals: int = 0, out: Any = None) -> SparseTensor:
    """Return the elements rounded to a number of decimals; see :func:`weft.round`.

    Examples
    --------
    >>> import weft
    >>> weft.asarray([0.0, 1.26], format="coo").round(1).todense()
    array([0. , 1.3])
    """
    return ufuncs.round(self, decimals, out=out)


def conj(self: SparseTensor, copy: bool = True) -> SparseTensor:
    """Return the complex conjugate.

    ``copy`` is an argument of scipy.sparse and has no effect.

    Examples
    --------
    >>> import weft
    >>> (1j * weft.eye(2, format="csr")).conj().todense()
    array([[0.-1.j, 0.+0.j],
           [0.+0.j, 0.-1.j]])
    """
    return unary("conjugate", self)  # type: ignore[no-any-return]


def cumsum(
    self: SparseTensor, axis: int | None = None, dtype: DTypeLike | None = None, out: Any = None
) -> SparseTensor | Any:
    """Return the cumulative sum along an axis, a dense tensor; see :func:`weft.cumsum`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 0.0, 1.0], format="coo")
    >>> x.cumsum().todense()
    array([0., 3., 3., 4.])
    """
    return put_into(out, cumulative.cumsum(self, axis, dtype), "cumsum")


def cumprod(
    self: SparseTensor, axis: int | None = None, dtype: DTypeLike | None = None, out: Any = None
) -> SparseTensor | Any:
    """Return the cumulative product along an axis, a dense tensor; see :func:`weft.cumprod`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([1.0, 3.0, 2.0], format="coo")
    >>> x.cumprod().todense()
    array([1., 3., 6.])
    """
    return put_into(out, cumulative.cumprod(self, axis, dtype), "cumprod")


# -- order ----------------------------------------------------------------------------------------------------------
def searchsorted(
    self: SparseTensor, x2: Any, /, *, side: Any = "left", sorter: Any = None, out: Any = None
) -> SparseTensor | Any:
    """Return the indices at which values are to be inserted into this sorted vector; see :func:`weft.searchsorted`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 0.0, 3.0, 5.0], format="coo")
    >>> x.searchsorted([1.0, 4.0]).todense()
    array([2, 3])
    """
    return put_into(out, searching.searchsorted(self, x2, side=side, sorter=sorter), "searchsorted")


def argsort(
    self: SparseTensor, /, axis: int | None = -1, *, descending: bool = False, stable: bool = True, out: Any = None
) -> SparseTensor | Any:
    """Return the indices that sort the elements along an axis; see :func:`weft.argsort`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([4.0, 0.0, 3.0, 1.0], format="coo")
    >>> x.argsort().todense()
    array([1, 3, 2, 0])
    """
    return put_into(out, sorting.argsort(self, axis, descending=descending, stable=stable), "argsort")


def argpartition(
    self: SparseTensor, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None, *,
    out: Any = None,
) -> SparseTensor | Any:  # fmt: skip
    """Return the indices that partition the elements along an axis; see :func:`weft.argpartition`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([4.0, 0.0, 3.0, 1.0], format="coo")
    >>> sorted(x.argpartition(1).todense()[:2].tolist())
    [1, 3]
    """
    return put_into(out, sorting.argpartition(self, kth, axis, kind, order), "argpartition")


def sort(self: SparseTensor, axis: int = -1, *, descending: bool = False, stable: bool = True) -> None:
    """Sort the elements along an axis in place; see :func:`weft.sort`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([4.0, 0.0, 3.0, 1.0], format="coo")
    >>> x.sort()
    >>> x.todense()
    array([0., 1., 3., 4.])
    """
    replace_storage(self, storage_of(sorting.sort(self, axis, descending=descending, stable=stable)))


def partition(self: SparseTensor, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
    """Partition the elements along an axis in place; see :func:`weft.partition`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([4.0, 0.0, 3.0, 1.0], format="coo")
    >>> x.partition(1)
    >>> sorted(x.todense()[:2].tolist())
    [0.0, 1.0]
    """
    replace_storage(self, storage_of(sorting.partition(self, kth, axis, kind, order)))


# -- fill value -----------------------------------------------------------------------------------------------------
def with_fill(self: SparseTensor, fill_value: Any) -> SparseTensor:
    """Return a tensor with the same entries, whose other elements have another fill value.

    Index arrays are shared. Formats such as bsr, dia, ell and dense hold elements beside the entries, too: those that
    equal the old fill value get the new one. A tensor without explicit zeros therefore gives the same result in every
    format.

    Parameters
    ----------
    fill_value : scalar
        The value of the elements that are not stored, such as infinity for "no edge" in a minimum-plus product.

    Raises
    ------
    DTypeError
        If the dtype of the tensor does not hold the value.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> W = weft.asarray([[0.0, 4.0], [2.0, 0.0]], format="csr").with_fill(np.inf)
    >>> weft.evaluate("D(i,j) = min(k, W(i,k) + W(k,j))", W=W).todense()
    array([[ 6., inf],
           [inf,  6.]])
    """
    return type(self)(other_fill(storage_of(self), fill_value)).called(self.format)


# -- assignment -----------------------------------------------------------------------------------------------------
def fill(self: SparseTensor, value: Any) -> None:
    """Assign one value to every element.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.fill(1.5)
    >>> A.todense()
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """
    self[...] = value


def put(self: SparseTensor, indices: Any, values: Any, mode: Any = "raise") -> None:
    """Assign values to elements of the flattened tensor.

    Parameters
    ----------
    indices : array_like of int
        The indices of the elements in the flattened tensor.
    values : array_like
        The values. If there are fewer values than indices, the values are repeated.
    mode : {'raise', 'wrap', 'clip'}
        The treatment of indices out of bounds.

    Raises
    ------
    IndexError
        If an index is out of bounds and ``mode`` is 'raise'.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.put([0, 3], [8.0, 9.0])
    >>> A.todense()
    array([[8., 1.],
           [2., 9.]])
    """
    places = np.asarray(indices).ravel()
    if mode != "raise":
        # NumPy wraps or clips the indices.
        places = np.arange(self.size).take(places, mode=mode)
    size = self.size
    if len(outside := places[(places < -size) | (places >= size)]):
        raise IndexError(f"index {outside[0]} is out of bounds for axis 0 with size {size}")
    if places.dtype.kind in "iu":
        places = places.astype(np.int64)
    # Indices of the flattened tensor become coordinates. Values that are too few are repeated.
    found = np.where(places < 0, places + size, places)
    given = np.resize(values, len(places))
    if self.shape:
        self[np.unravel_index(found, self.shape)] = given
    elif len(places):  # all of them are the only element, and the last value stays
        self[()] = given[-1]


# -- products; scipy.sparse.linalg needs matvec and rmatvec of a linear operator ------------------------------------
def tensordot(self: SparseTensor, x2: Any, /, axes: Any = 2, *, out: Any = None) -> SparseTensor | Any:
    """Return the sum of products over some axes of both operands; see :func:`weft.tensordot`.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.tensordot(np.ones((2, 2)), axes=1)
    array([[1., 1.],
           [2., 2.]])
    """
    return put_into(out, linalg.tensordot(self, x2, axes), "tensordot")


def matvec(self: SparseTensor, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return ``A @ x`` for an ndarray.

    ``cg``, ``gmres``, ``eigsh`` and ``svds`` of scipy.sparse.linalg accept a tensor because of this method.

    Examples
    --------
    >>> import numpy as np, scipy.sparse.linalg, weft
    >>> A = weft.asarray(np.diag([2.0, 4.0]), format="dia")
    >>> scipy.sparse.linalg.cg(A, np.array([2.0, 8.0]))[0]
    array([1., 2.])
    """
    return self @ x  # type: ignore[no-any-return]


def rmatvec(self: SparseTensor, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the product of the conjugate transpose with an ndarray.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.rmatvec(np.array([1.0, 0.0]))
    array([0., 1.])
    """
    turned = self.T
    if self.dtype.kind != "c":
        return turned @ x  # type: ignore[no-any-return]
    # A^H x is the conjugate of A^T conj(x), so that A itself is not conjugated.
    return np.conj(turned @ np.conj(x))  # type: ignore[no-any-return]
