"""The methods of an ndarray whose arguments differ from those of the function of the same name.

They are methods of ``SparseTensor`` (``weft._api`` lists them), and take NumPy's arguments in NumPy's order. Others are
the functions themselves.

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

from ..tensor.operators import unary
from ..tensor.out_argument import write_out
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

__all__ = [
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "broadcast_to", "clip", "compress", "conj",
    "count_nonzero", "cumprod", "cumsum", "diagonal", "fill", "flatten", "matvec", "max", "mean", "min", "nonzero",
    "partition", "prod", "put", "reshape", "rmatvec", "round", "searchsorted", "sort", "std", "sum", "take",
    "tensordot", "tolist", "trace", "var",
]  # fmt: skip


def _put_into(out: Any, found: Any, name: str) -> Any:
    """Return a result, or ``out`` with the result in it, for functions that take no ``out``."""
    return found if out is None else write_out(found, out, name)


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
    """Return the sum over some axes."""
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
    """Return the product over some axes."""
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
    """Return the smallest element over some axes; with ``explicit`` that of the stored ones."""
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
    """Return the largest element over some axes; with ``explicit`` that of the stored ones."""
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
    """Tell whether an element over some axes is not zero."""
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
    """Tell whether no element over some axes is zero."""
    return reductions.all(self, axis, keepdims=keepdims, out=out, where=where)


@overload
def count_nonzero(self: SparseTensor, axis: None = None, keepdims: Literal[False] = False) -> np.int64: ...
@overload
def count_nonzero(self: SparseTensor, axis: Axis = None, keepdims: bool = False) -> SparseTensor | Any: ...
def count_nonzero(self: SparseTensor, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return how many elements over some axes are not zero."""
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
    """Return the mean over some axes."""
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
    """Return the variance over some axes."""
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
    """Return the standard deviation over some axes."""
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
    """Return the first position of the largest element along an axis; with ``explicit`` of the stored ones."""
    return _put_into(out, searching.argmax(self, axis, keepdims=keepdims, explicit=explicit), "argmax")


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
    """Return the first position of the smallest element along an axis; with ``explicit`` of the stored ones."""
    return _put_into(out, searching.argmin(self, axis, keepdims=keepdims, explicit=explicit), "argmin")


# -- shapes and places ----------------------------------------------------------------------------------------------
def reshape(self: SparseTensor, *shape: Any, order: str | None = "C", copy: bool | None = None) -> SparseTensor:
    """Return the same elements in their order, in another shape."""
    given = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return manipulation.reshape(self, given, order=order, copy=copy)


def flatten(self: SparseTensor, order: str | None = "C") -> SparseTensor:
    """Return all elements along one axis, in a tensor that shares nothing with this one."""
    found = manipulation.ravel(self, order)
    return found.copy() if self.ndim < 2 or self.layout.is_dense else found


def broadcast_to(self: SparseTensor, /, shape: int | Sequence[int], *, out: Any = None) -> SparseTensor | Any:
    """Return the tensor with its axes of size 1, and those before its axes, stretched to a shape."""
    return _put_into(out, manipulation.broadcast_to(self, shape), "broadcast_to")


def take(self: SparseTensor, indices: Any, axis: int | None = None) -> SparseTensor:
    """Return the elements at some coordinates of an axis."""
    return manipulation.take(self, indices, axis=axis)


def compress(self: SparseTensor, condition: Any, axis: int | None = None, out: Any = None) -> Any:
    """Return the elements along an axis where a condition, one for each, holds."""
    return insert_delete.compress(condition, self, axis, out)


def diagonal(
    self: SparseTensor, offset: int = 0, axis1: int = 0, axis2: int = 1, *, k: int | None = None
) -> SparseTensor:
    """Return the elements whose coordinates in two axes differ by ``offset``, which scipy.sparse calls ``k``."""
    return diagonals.diagonal(self, offset if k is None else k, axis1, axis2)


def trace(
    self: SparseTensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: Any = None
) -> SparseTensor | Any:
    """Return the sum of a diagonal."""
    return reductions.sum(diagonals.diagonal(self, offset, axis1, axis2), -1, dtype=dtype, out=out)


def nonzero(self: SparseTensor) -> tuple[np.ndarray[Any, Any], ...]:
    """Return the coordinates of the elements that are not zero: an ndarray for each axis, in lexicographic order."""
    return tuple(rows.todense() for rows in searching.nonzero(self))


def tolist(self: SparseTensor) -> Any:
    """Return all elements as nested lists of Python scalars."""
    return self.todense().tolist()


# -- elements -------------------------------------------------------------------------------------------------------
def clip(self: SparseTensor, min: Any = None, max: Any = None, out: Any = None) -> SparseTensor:
    """Return the elements kept between two bounds."""
    return ufuncs.clip(self, min, max, out=out)  # type: ignore[no-any-return]


def round(self: SparseTensor, decimals: int = 0, out: Any = None) -> SparseTensor:
    """Return the elements rounded to a number of decimals."""
    return ufuncs.round(self, decimals, out=out)  # type: ignore[no-any-return]


def conj(self: SparseTensor, copy: bool = True) -> SparseTensor:
    """Return the complex conjugate."""
    return unary("conjugate", self)  # type: ignore[no-any-return]


def cumsum(
    self: SparseTensor, axis: int | None = None, dtype: DTypeLike | None = None, *, out: Any = None
) -> SparseTensor | Any:
    """Return the sums of the elements up to each along an axis."""
    return _put_into(out, cumulative.cumsum(self, axis, dtype), "cumsum")


def cumprod(
    self: SparseTensor, axis: int | None = None, dtype: DTypeLike | None = None, *, out: Any = None
) -> SparseTensor | Any:
    """Return the products of the elements up to each along an axis."""
    return _put_into(out, cumulative.cumprod(self, axis, dtype), "cumprod")


# -- order ----------------------------------------------------------------------------------------------------------
def searchsorted(self: SparseTensor, x2: Any, /, *, side: Any = "left", sorter: Any = None, out: Any = None) -> Any:
    """Return where values are to be inserted into this sorted vector."""
    return _put_into(out, searching.searchsorted(self, x2, side=side, sorter=sorter), "searchsorted")


def argsort(
    self: SparseTensor, /, axis: int | None = -1, *, descending: bool = False, stable: bool = True, out: Any = None
) -> SparseTensor | Any:
    """Return the positions of the elements along an axis in the order of the elements."""
    return _put_into(out, sorting.argsort(self, axis, descending=descending, stable=stable), "argsort")


def argpartition(
    self: SparseTensor, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None, *,
    out: Any = None,
) -> SparseTensor | Any:  # fmt: skip
    """Return the positions of the elements along an axis, the ``kth`` smallest where sorting puts them."""
    return _put_into(out, sorting.argpartition(self, kth, axis, kind, order), "argpartition")


def sort(self: SparseTensor, axis: int = -1, *, descending: bool = False, stable: bool = True) -> None:
    """Sort the elements along an axis, here."""
    self._become(sorting.sort(self, axis, descending=descending, stable=stable)._storage)


def partition(self: SparseTensor, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
    """Put the ``kth`` smallest elements along an axis where sorting puts them, here."""
    self._become(sorting.partition(self, kth, axis, kind, order)._storage)


# -- assignment -----------------------------------------------------------------------------------------------------
def fill(self: SparseTensor, value: Any) -> None:
    """Assign one value to every element."""
    self[...] = value


def put(self: SparseTensor, indices: Any, values: Any, mode: Any = "raise") -> None:
    """Assign the elements at some places of the flattened tensor."""
    places = np.asarray(indices).ravel()
    if mode != "raise":
        places = np.arange(self.size).take(places, mode=mode)
    size = self.size
    if len(outside := places[(places < -size) | (places >= size)]):
        raise IndexError(f"index {outside[0]} is out of bounds for axis 0 with size {size}")
    if places.dtype.kind in "iu":
        places = places.astype(np.int64)
    at = np.unravel_index(np.where(places < 0, places + size, places), self.shape)
    self[at] = np.resize(values, len(places))


# -- products; scipy.sparse.linalg asks the last two of a linear operator -------------------------------------------
def tensordot(self: SparseTensor, x2: Any, /, axes: Any = 2, *, out: Any = None) -> Any:
    """Return the sum of products over some axes of both operands."""
    return _put_into(out, linalg.tensordot(self, x2, axes), "tensordot")


def matvec(self: SparseTensor, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return ``A @ x``, which lets ``cg``, ``gmres``, ``eigsh`` and ``svds`` of scipy.sparse.linalg take a tensor.

    Examples
    --------
    >>> import numpy as np, scipy.sparse.linalg, weft
    >>> A = weft.asarray(np.diag([2.0, 4.0]), format="dia")
    >>> scipy.sparse.linalg.cg(A, np.array([2.0, 8.0]))[0]
    array([1., 2.])
    """
    return self @ x  # type: ignore[no-any-return]


def rmatvec(self: SparseTensor, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the product of the conjugate transpose with ``x``."""
    turned = self.T
    if self.dtype.kind != "c":
        return turned @ x  # type: ignore[no-any-return]
    return np.conj(turned @ np.conj(x))  # type: ignore[no-any-return]
