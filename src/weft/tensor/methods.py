"""The methods that an ndarray has for reductions and the like: the functions of their names, with NumPy's arguments."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .operands import Tensor

__all__ = ["Methods", "function"]

_Axis = int | tuple[int, ...] | None


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

    def sum(
        self,
        axis: _Axis = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """The sum over some axes."""
        return _reductions().sum(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)

    def prod(
        self,
        axis: _Axis = None,
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

    def min(
        self, axis: _Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True,
        *, explicit: bool = False,
    ) -> Any:  # fmt: skip
        """The smallest element over some axes; with ``explicit`` that of the stored ones."""
        given = {"initial": initial, "where": where, "explicit": explicit}
        return _reductions().min(self, axis=axis, out=out, keepdims=keepdims, **given)

    def max(
        self, axis: _Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True,
        *, explicit: bool = False,
    ) -> Any:  # fmt: skip
        """The largest element over some axes; with ``explicit`` that of the stored ones."""
        given = {"initial": initial, "where": where, "explicit": explicit}
        return _reductions().max(self, axis=axis, out=out, keepdims=keepdims, **given)

    def any(self, axis: _Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
        """Whether an element is not zero."""
        return _reductions().any(self, axis=axis, out=out, keepdims=keepdims, where=where)

    def all(self, axis: _Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
        """Whether no element is zero."""
        return _reductions().all(self, axis=axis, out=out, keepdims=keepdims, where=where)

    def count_nonzero(self, axis: _Axis = None, keepdims: bool = False) -> Any:
        """How many elements are not zero."""
        return _reductions().count_nonzero(self, axis=axis, keepdims=keepdims)

    def mean(
        self, axis: _Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False, *,
        where: Any = True,
    ) -> Any:  # fmt: skip
        """The mean over some axes."""
        return _moments().mean(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where)

    def var(
        self, axis: _Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
        keepdims: bool = False, *, correction: float | None = None, where: Any = True,
    ) -> Any:  # fmt: skip
        """The variance over some axes."""
        given = {"ddof": ddof, "correction": correction, "where": where}
        return _moments().var(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **given)

    def std(
        self, axis: _Axis = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
        keepdims: bool = False, *, correction: float | None = None, where: Any = True,
    ) -> Any:  # fmt: skip
        """The standard deviation over some axes."""
        given = {"ddof": ddof, "correction": correction, "where": where}
        return _moments().std(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **given)

    def reshape(self, *shape: Any, order: str | None = "C", copy: bool | None = None) -> Any:
        """The same elements in their order, in another shape."""
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return _manipulation().reshape(self, given, order=order, copy=copy)

    def ravel(self, order: str | None = "C") -> Any:
        """All elements along one axis."""
        return _manipulation().ravel(self, order)

    def flatten(self: Any, order: str | None = "C") -> Any:
        """All elements along one axis, in a tensor that shares nothing with this one."""
        found = self.ravel(order)
        return found.copy() if self.ndim < 2 or self.format.is_dense else found

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Two axes exchanged."""
        return _manipulation().swapaxes(self, axis1, axis2)

    def squeeze(self, axis: _Axis = None) -> Any:
        """Without axes of size 1."""
        return _manipulation().squeeze(self, axis)

    def repeat(self, repeats: Any, axis: int | None = None) -> Any:
        """Each element several times in a row."""
        return _manipulation().repeat(self, repeats, axis=axis)

    def take(self, indices: Any, axis: int | None = None) -> Any:
        """The elements at some coordinates of an axis."""
        return _manipulation().take(self, indices, axis=axis)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1, *, k: int | None = None) -> Any:
        """The elements whose coordinates in two axes differ by ``offset``, which scipy.sparse calls ``k``."""
        from .diagonals import diagonal

        return diagonal(self, offset if k is None else k, axis1, axis2)

    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: Any = None
    ) -> Any:
        """The sum of a diagonal."""
        return self.diagonal(offset, axis1, axis2).sum(axis=-1, dtype=dtype, out=out)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Any:
        """The elements kept between two bounds."""
        from .ufuncs import clip

        return clip(self, min, max, out=out)

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """The elements rounded to a number of decimals."""
        from .ufuncs import round

        return round(self, decimals, out=out)

    dot = function("linalg", "dot")
    argmax = function("searching", "argmax")
    argmin = function("searching", "argmin")
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

    def conj(self, copy: bool = True) -> Any:
        """The complex conjugate."""
        from .operators import unary

        return unary("conjugate", self)

    conjugate = conj
