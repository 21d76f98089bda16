"""The methods that an ndarray has for reductions and the like: the functions of their names, with NumPy's arguments."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike

from .operands import Tensor

if TYPE_CHECKING:
    from .sparse_tensor import SparseTensor
    from .types import ArgMethod, Axis, MatMul, Scalar

__all__ = ["Methods", "function"]


def function(module: str, name: str) -> Any:
    """A method that is the function of its name in a module of this package, which is imported when it is called."""

    @cache
    def own() -> Any:
        return getattr(import_module(f".{module}", __package__), name)

    def method(self: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        found = own()(self, *args, **kwargs)
        if out is None:
            return found
        from .ufuncs import store

        return store(found, out, name)

    method.__name__ = name
    method.__doc__ = f"``weft.{name}`` of the tensor."
    return method


@cache
def _reductions() -> Any:
    """The module of the reductions, which imports the compiler: when it is used."""
    from . import reductions

    return reductions


@cache
def _moments() -> Any:
    from . import moments

    return moments


@cache
def _manipulation() -> Any:
    from . import manipulation

    return manipulation


class Methods(Tensor):
    """Reductions and elementwise functions as methods; :mod:`weft.tensor.reductions` says what they do."""

    __slots__ = ()

    @overload
    def sum(
        self, axis: None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: Literal[False] = False,
        initial: Any = None, where: Any = True,
    ) -> Scalar: ...  # fmt: skip
    @overload
    def sum(
        self, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
        initial: Any = None, where: Any = True,
    ) -> SparseTensor | Any: ...  # fmt: skip
    def sum(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """The sum over some axes."""
        return _reductions().sum(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)

    @overload
    def prod(
        self, axis: None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: Literal[False] = False,
        initial: Any = None, where: Any = True,
    ) -> Scalar: ...  # fmt: skip
    @overload
    def prod(
        self, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
        initial: Any = None, where: Any = True,
    ) -> SparseTensor | Any: ...  # fmt: skip
    def prod(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """The product over some axes."""
        return _reductions().prod(
            self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where
        )

    @overload
    def min(
        self, axis: None = None, out: None = None, keepdims: Literal[False] = False, initial: Any = None,
        where: Any = True, *, explicit: bool = False,
    ) -> Scalar | Any: ...  # fmt: skip
    @overload
    def min(
        self, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True,
        *, explicit: bool = False,
    ) -> SparseTensor | Any: ...  # fmt: skip
    def min(
        self, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True,
        *, explicit: bool = False,
    ) -> Any:  # fmt: skip
        """The smallest element over some axes; with ``explicit`` that of the stored ones."""
        given = {"initial": initial, "where": where, "explicit": explicit}
        return _reductions().min(self, axis=axis, out=out, keepdims=keepdims, **given)

    @overload
    def max(
        self, axis: None = None, out: None = None, keepdims: Literal[False] = False, initial: Any = None,
        where: Any = True, *, explicit: bool = False,
    ) -> Scalar | Any: ...  # fmt: skip
    @overload
    def max(
        self, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True,
        *, explicit: bool = False,
    ) -> SparseTensor | Any: ...  # fmt: skip
    def max(
        self, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True,
        *, explicit: bool = False,
    ) -> Any:  # fmt: skip
        """The largest element over some axes; with ``explicit`` that of the stored ones."""
        given = {"initial": initial, "where": where, "explicit": explicit}
        return _reductions().max(self, axis=axis, out=out, keepdims=keepdims, **given)

    @overload
    def any(
        self, axis: None = None, out: None = None, keepdims: Literal[False] = False, *, where: Any = True
    ) -> np.bool_: ...
    @overload
    def any(
        self, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True
    ) -> SparseTensor | Any: ...
    def any(self, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
        """Whether an element is not zero."""
        return _reductions().any(self, axis=axis, out=out, keepdims=keepdims, where=where)

    @overload
    def all(
        self, axis: None = None, out: None = None, keepdims: Literal[False] = False, *, where: Any = True
    ) -> np.bool_: ...
    @overload
    def all(
        self, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True
    ) -> SparseTensor | Any: ...
    def all(self, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
        """Whether no element is zero."""
        return _reductions().all(self, axis=axis, out=out, keepdims=keepdims, where=where)

    @overload
    def count_nonzero(self, axis: None = None, keepdims: Literal[False] = False) -> np.int64: ...
    @overload
    def count_nonzero(self, axis: Axis = None, keepdims: bool = False) -> SparseTensor | Any: ...
    def count_nonzero(self, axis: Axis = None, keepdims: bool = False) -> Any:
        """How many elements are not zero."""
        return _reductions().count_nonzero(self, axis=axis, keepdims=keepdims)

    @overload
    def mean(
        self, axis: None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: Literal[False] = False, *,
        where: Any = True,
    ) -> Scalar: ...  # fmt: skip
    @overload
    def mean(
        self, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False, *,
        where: Any = True,
    ) -> SparseTensor | Any: ...  # fmt: skip
    def mean(
        self, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False, *,
        where: Any = True,
    ) -> Any:  # fmt: skip
        """The mean over some axes."""
        return _moments().mean(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where)

    @overload
    def var(
        self, axis: None = None, dtype: DTypeLike | None = None, out: None = None, ddof: float = 0,
        keepdims: Literal[False] = False, *, correction: float | None = None, where: Any = True,
    ) -> Scalar: ...  # fmt: skip
    @overload
    def var(
        self, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
        keepdims: bool = False, *, correction: float | None = None, where: Any = True,
    ) -> SparseTensor | Any: ...  # fmt: skip
    def var(
        self, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
        keepdims: bool = False, *, correction: float | None = None, where: Any = True,
    ) -> Any:  # fmt: skip
        """The variance over some axes."""
        given = {"ddof": ddof, "correction": correction, "where": where}
        return _moments().var(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **given)

    @overload
    def std(
        self, axis: None = None, dtype: DTypeLike | None = None, out: None = None, ddof: float = 0,
        keepdims: Literal[False] = False, *, correction: float | None = None, where: Any = True,
    ) -> Scalar: ...  # fmt: skip
    @overload
    def std(
        self, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
        keepdims: bool = False, *, correction: float | None = None, where: Any = True,
    ) -> SparseTensor | Any: ...  # fmt: skip
    def std(
        self, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
        keepdims: bool = False, *, correction: float | None = None, where: Any = True,
    ) -> Any:  # fmt: skip
        """The standard deviation over some axes."""
        given = {"ddof": ddof, "correction": correction, "where": where}
        return _moments().std(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **given)

    def reshape(self, *shape: Any, order: str | None = "C", copy: bool | None = None) -> SparseTensor:
        """The same elements in their order, in another shape."""
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return _manipulation().reshape(self, given, order=order, copy=copy)  # type: ignore[no-any-return]

    def ravel(self, order: str | None = "C") -> SparseTensor:
        """All elements along one axis."""
        return _manipulation().ravel(self, order)  # type: ignore[no-any-return]

    def flatten(self: Any, order: str | None = "C") -> SparseTensor:
        """All elements along one axis, in a tensor that shares nothing with this one."""
        found = self.ravel(order)
        return found.copy() if self.ndim < 2 or self.layout.is_dense else found  # type: ignore[no-any-return]

    def swapaxes(self, axis1: int, axis2: int) -> SparseTensor:
        """Two axes exchanged."""
        return _manipulation().swapaxes(self, axis1, axis2)  # type: ignore[no-any-return]

    def squeeze(self, axis: Axis = None) -> SparseTensor:
        """Without axes of size 1."""
        return _manipulation().squeeze(self, axis)  # type: ignore[no-any-return]

    def repeat(self, repeats: Any, axis: int | None = None) -> SparseTensor:
        """Each element several times in a row."""
        return _manipulation().repeat(self, repeats, axis=axis)  # type: ignore[no-any-return]

    def take(self, indices: Any, axis: int | None = None) -> SparseTensor:
        """The elements at some coordinates of an axis."""
        return _manipulation().take(self, indices, axis=axis)  # type: ignore[no-any-return]

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1, *, k: int | None = None) -> SparseTensor:
        """The elements whose coordinates in two axes differ by ``offset``, which scipy.sparse calls ``k``."""
        from .diagonals import diagonal

        return diagonal(self, offset if k is None else k, axis1, axis2)

    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: Any = None
    ) -> SparseTensor | Any:
        """The sum of a diagonal."""
        return self.diagonal(offset, axis1, axis2).sum(axis=-1, dtype=dtype, out=out)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> SparseTensor:
        """The elements kept between two bounds."""
        from .ufuncs import clip

        return clip(self, min, max, out=out)  # type: ignore[no-any-return]

    def round(self, decimals: int = 0, out: Any = None) -> SparseTensor:
        """The elements rounded to a number of decimals."""
        from .ufuncs import round

        return round(self, decimals, out=out)  # type: ignore[no-any-return]

    dot: MatMul = function("linalg", "dot")
    argmax: ArgMethod = function("searching", "argmax")
    argmin: ArgMethod = function("searching", "argmin")
    searchsorted = function("searching", "searchsorted")
    argsort = function("sorting", "argsort")
    argpartition = function("sorting", "argpartition")
    cumsum = function("cumulative", "cumsum")
    cumprod = function("cumulative", "cumprod")
    choose = function("choosing", "choose")

    def nonzero(self: Any) -> tuple[np.ndarray[Any, Any], ...]:
        """The coordinates of the elements that are not zero: an ndarray for each axis, in lexicographic order."""
        from .searching import nonzero

        return tuple(rows.todense() for rows in nonzero(self))

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        """The elements along an axis where a condition, one for each, holds."""
        from .editing import compress

        return compress(condition, self, axis, out)

    def sort(self: Any, axis: int = -1, *, descending: bool = False, stable: bool = True) -> None:
        """Sort the elements along an axis, here."""
        from .sorting import sort

        self._become(sort(self, axis, descending=descending, stable=stable)._storage)

    def partition(self: Any, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
        """Put the ``kth`` smallest elements along an axis where sorting puts them, here."""
        from .sorting import partition

        self._become(partition(self, kth, axis, kind, order)._storage)

    def fill(self: Any, value: Any) -> None:
        """Assign one value to every element."""
        self[...] = value

    def put(self: Any, indices: Any, values: Any, mode: Any = "raise") -> None:
        """Assign the elements at some places of the flattened tensor."""
        places = np.asarray(indices).ravel()
        if mode != "raise":
            places = np.arange(self.size).take(places, mode=mode)
        size = self.size
        if len(outside := places[(places < -size) | (places >= size)]):
            raise IndexError(f"index {outside[0]} is out of bounds for axis 0 with size {size}")
        if places.dtype.kind in "iu":
            places = places.astype(np.int64)
        at = np.unravel_index(np.where(places < 0, places + size, places), self._storage.shape)
        self[at] = np.resize(values, len(places))

    def tolist(self: Any) -> Any:
        """All elements as nested lists of Python scalars."""
        return self.todense().tolist()

    @property
    def itemsize(self: Any) -> int:
        """Bytes of an element."""
        return self._storage.dtype.itemsize  # type: ignore[no-any-return]

    def conj(self, copy: bool = True) -> SparseTensor:
        """The complex conjugate."""
        from .operators import unary

        return unary("conjugate", self)  # type: ignore[no-any-return]

    conjugate = conj

    # -- what scipy.sparse.linalg asks of a linear operator -----------------------------------------------------
    def matvec(self: Any, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """``A @ x``, which lets ``cg``, ``gmres``, ``eigsh`` and ``svds`` of scipy.sparse.linalg take a tensor.

        Examples
        --------
        >>> import numpy as np, scipy.sparse.linalg, weft
        >>> A = weft.asarray(np.diag([2.0, 4.0]), format="dia")
        >>> scipy.sparse.linalg.cg(A, np.array([2.0, 8.0]))[0]
        array([1., 2.])
        """
        return self @ x  # type: ignore[no-any-return]

    matmat = matvec

    def rmatvec(self: Any, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The product of the conjugate transpose with ``x``."""
        turned = self.T
        if self.dtype.kind != "c":
            return turned @ x  # type: ignore[no-any-return]
        return np.conj(turned @ np.conj(x))  # type: ignore[no-any-return]

    rmatmat = rmatvec
