"""Methods of ``SparseTensor`` whose arguments or results are not those of a function of ``weft``.

They work as the methods of ndarrays and of scipy.sparse do. All other methods are functions themselves; ``weft._api``
lists both.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 4.0], [2.0, 0.0]], format="csr")
>>> A.reshape(4).nonzero()
(array([1, 2]),)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..operations.fill_change import other_fill
from ..operations.operands import replace_storage, storage_of
from ..tensor.lazy import is_lazy, record
from ..tensor.operators import unary
from ..tensor.sparse_tensor import SparseTensor
from . import insert_delete, manipulation, searching, sorting


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
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return manipulation.reshape(self, sizes, order, copy=copy)


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
    vector = manipulation.ravel(self, order)
    # Raveling any other tensor computes new coordinates, and thus is a copy already.
    return vector.copy() if self.ndim < 2 or self.layout.is_dense else vector


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
    return record("conjugate", self) if is_lazy(self) else unary("conjugate", self)  # type: ignore[no-any-return]


def sort(
    self: SparseTensor, axis: int = -1, kind: Any = None, order: Any = None, *, descending: bool = False,
    stable: bool = True,
) -> None:  # fmt: skip
    """Sort the elements along an axis in place; see :func:`weft.sort`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([4.0, 0.0, 3.0, 1.0], format="coo")
    >>> x.sort()
    >>> x.todense()
    array([0., 1., 3., 4.])
    """
    replace_storage(self, storage_of(sorting.sort(self, axis, kind, order, descending=descending, stable=stable)))


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
    places = np.where(places < 0, places + size, places)
    values = np.resize(values, len(places))
    if self.shape:
        self[np.unravel_index(places, self.shape)] = values
    elif len(places):  # all of them are the only element, and the last value stays
        self[()] = values[-1]


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
    transposed = self.T
    if self.dtype.kind != "c":
        return transposed @ x  # type: ignore[no-any-return]
    # A^H x is the conjugate of A^T conj(x), so that A itself is not conjugated.
    return np.conj(transposed @ np.conj(x))  # type: ignore[no-any-return]


conjugate = conj
matmat = matvec
rmatmat = rmatvec
