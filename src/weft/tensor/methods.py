"""The methods that an ndarray has for reductions and the like: the functions of their names, with NumPy's arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike

from ..operations.operands import Tensor
from .lazy import resolve
from .operators import unary
from .out_argument import store

if TYPE_CHECKING:
    from .sparse_tensor import SparseTensor
    from .types import ArgMethod, Axis, MatMul, Scalar

__all__ = ["Methods", "function"]


def function(module: str, name: str) -> Any:
    """Return a method that is the function of its name in a module of weft, which is imported when it is called."""

    def method(self: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        found = resolve(module, name)(self, *args, **kwargs)
        return found if out is None else store(found, out, name)

    method.__name__ = name
    method.__doc__ = f"``weft.{name}`` of the tensor."
    return method


class Methods(Tensor):
    """Reductions and elementwise functions as methods; :mod:`weft.numpy_api.reductions` says what they do."""

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
        given = {"out": out, "keepdims": keepdims, "initial": initial, "where": where}
        return resolve("numpy_api.reductions", "sum")(self, axis=axis, dtype=dtype, **given)

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
        return resolve("numpy_api.reductions", "prod")(
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
        return resolve("numpy_api.reductions", "min")(self, axis=axis, out=out, keepdims=keepdims, **given)

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
        return resolve("numpy_api.reductions", "max")(self, axis=axis, out=out, keepdims=keepdims, **given)

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
        return resolve("numpy_api.reductions", "any")(self, axis=axis, out=out, keepdims=keepdims, where=where)

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
        return resolve("numpy_api.reductions", "all")(self, axis=axis, out=out, keepdims=keepdims, where=where)

    @overload
    def count_nonzero(self, axis: None = None, keepdims: Literal[False] = False) -> np.int64: ...
    @overload
    def count_nonzero(self, axis: Axis = None, keepdims: bool = False) -> SparseTensor | Any: ...
    def count_nonzero(self, axis: Axis = None, keepdims: bool = False) -> Any:
        """How many elements are not zero."""
        return resolve("numpy_api.reductions", "count_nonzero")(self, axis=axis, keepdims=keepdims)

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
        return resolve("numpy_api.moments", "mean")(
            self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where
        )

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
        return resolve("numpy_api.moments", "var")(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **given)

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
        return resolve("numpy_api.moments", "std")(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **given)

    def reshape(self, *shape: Any, order: str | None = "C", copy: bool | None = None) -> SparseTensor:
        """The same elements in their order, in another shape."""
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return resolve("numpy_api.manipulation", "reshape")(self, given, order=order, copy=copy)  # type: ignore[no-any-return]

    def ravel(self, order: str | None = "C") -> SparseTensor:
        """All elements along one axis."""
        return resolve("numpy_api.manipulation", "ravel")(self, order)  # type: ignore[no-any-return]

    def flatten(self: Any, order: str | None = "C") -> SparseTensor:
        """All elements along one axis, in a tensor that shares nothing with this one."""
        found = self.ravel(order)
        return found.copy() if self.ndim < 2 or self.layout.is_dense else found  # type: ignore[no-any-return]

    def swapaxes(self, axis1: int, axis2: int) -> SparseTensor:
        """Two axes exchanged."""
        return resolve("numpy_api.manipulation", "swapaxes")(self, axis1, axis2)  # type: ignore[no-any-return]

    def squeeze(self, axis: Axis = None) -> SparseTensor:
        """Without axes of size 1."""
        return resolve("numpy_api.manipulation", "squeeze")(self, axis)  # type: ignore[no-any-return]

    def repeat(self, repeats: Any, axis: int | None = None) -> SparseTensor:
        """Each element several times in a row."""
        return resolve("numpy_api.manipulation", "repeat")(self, repeats, axis=axis)  # type: ignore[no-any-return]

    def take(self, indices: Any, axis: int | None = None) -> SparseTensor:
        """The elements at some coordinates of an axis."""
        return resolve("numpy_api.manipulation", "take")(self, indices, axis=axis)  # type: ignore[no-any-return]

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1, *, k: int | None = None) -> SparseTensor:
        """The elements whose coordinates in two axes differ by ``offset``, which scipy.sparse calls ``k``."""
        return resolve("numpy_api.diagonals", "diagonal")(  # type: ignore[no-any-return]
            self, offset if k is None else k, axis1, axis2
        )

    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: Any = None
    ) -> SparseTensor | Any:
        """The sum of a diagonal."""
        return self.diagonal(offset, axis1, axis2).sum(axis=-1, dtype=dtype, out=out)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> SparseTensor:
        """The elements kept between two bounds."""
        return resolve("numpy_api.ufuncs", "clip")(self, min, max, out=out)  # type: ignore[no-any-return]

    def round(self, decimals: int = 0, out: Any = None) -> SparseTensor:
        """The elements rounded to a number of decimals."""
        return resolve("numpy_api.ufuncs", "round")(self, decimals, out=out)  # type: ignore[no-any-return]

    dot: MatMul = function("numpy_api.linalg", "dot")
    argmax: ArgMethod = function("numpy_api.searching", "argmax")
    argmin: ArgMethod = function("numpy_api.searching", "argmin")
    searchsorted = function("numpy_api.searching", "searchsorted")
    argsort = function("numpy_api.sorting", "argsort")
    argpartition = function("numpy_api.sorting", "argpartition")
    cumsum = function("numpy_api.cumulative", "cumsum")
    cumprod = function("numpy_api.cumulative", "cumprod")
    choose = function("numpy_api.select_list", "choose")

    def nonzero(self: Any) -> tuple[np.ndarray[Any, Any], ...]:
        """The coordinates of the elements that are not zero: an ndarray for each axis, in lexicographic order."""
        return tuple(rows.todense() for rows in resolve("numpy_api.searching", "nonzero")(self))

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        """The elements along an axis where a condition, one for each, holds."""
        return resolve("numpy_api.insert_delete", "compress")(condition, self, axis, out)

    def sort(self: Any, axis: int = -1, *, descending: bool = False, stable: bool = True) -> None:
        """Sort the elements along an axis, here."""
        self._become(resolve("numpy_api.sorting", "sort")(self, axis, descending=descending, stable=stable)._storage)

    def partition(self: Any, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
        """Put the ``kth`` smallest elements along an axis where sorting puts them, here."""
        self._become(resolve("numpy_api.sorting", "partition")(self, kth, axis, kind, order)._storage)

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
