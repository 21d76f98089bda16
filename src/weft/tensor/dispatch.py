"""What NumPy and scipy.sparse ask of a foreign operand.

``np.asarray(T)`` must fail, since an implicit dense copy is what sparse code cannot afford, and without ``__array__``
it would silently give an object array. But scipy's operators call ``np.asanyarray(other)`` on every operand they do
not know, and defer to its reflected method only when the answer is a 0-d object array (scipy/sparse/_base.py,
``_matmul_dispatch``); an exception there would end ``scipy_csr @ T``.

NumPy calls ``__array__`` with the same arguments in both cases, and its result goes through no hook that could still
raise; scipy consults neither ``__array_priority__`` nor ``__array_ufunc__`` before. So the only thing that tells the
two apart is who asks: ``__array__`` looks at its caller, and answers as scipy wants when that is a method of
scipy.sparse that holds this tensor as its operand ``other``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..errors import DensifyError
from .operands import Tensor, adopt
from .operators import Operators, elementwise, matmul, unary

__all__ = ["Dispatch"]

_BINARY = {np.add: "add", np.subtract: "subtract", np.multiply: "multiply", np.true_divide: "divide"}
_UNARY = {np.negative: "negative", np.absolute: "absolute"}


def _scipy_defers(tensor: Tensor) -> bool:
    """Whether the caller of ``__array__`` is a binary operator of scipy.sparse with ``tensor`` on its right."""
    frame = sys._getframe(2)
    return str(frame.f_globals.get("__name__")).startswith("scipy.sparse") and frame.f_locals.get("other") is tensor


class Dispatch(Operators):
    """The protocols by which other packages' operators and functions find weft's."""

    __slots__ = ()
    __array_priority__ = 1000.0  # scipy's is 10.1
    __iter__ = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if _scipy_defers(self):
            deferred = np.empty((), dtype=object)
            deferred[()] = self
            return deferred
        raise DensifyError(
            f"a {type(self).__name__} of shape {self._storage.shape} does not become an ndarray by itself; "
            "call its todense() if you mean that"
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        outs = kwargs.pop("out", ())
        if any(adopt(x) is None for x in inputs):
            return NotImplemented
        if method != "__call__" or kwargs or len(outs) > 1:
            what = f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else "")
            raise TypeError(f"{what}({', '.join(kwargs)}) does not take SparseTensors; use their todense()")
        if ufunc in _BINARY:
            result = elementwise(_BINARY[ufunc], inputs[0], inputs[1], type(self))
        elif ufunc is np.matmul:
            result = matmul(inputs[0], inputs[1], type(self))
        elif ufunc in _UNARY:
            result = unary(_UNARY[ufunc], self)
        else:
            raise TypeError(f"np.{ufunc.__name__} does not take SparseTensors; use their todense()")
        return result if not outs else _store(result, outs[0], ufunc)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_no_")]


def _store(result: Any, out: Any, ufunc: np.ufunc) -> Any:
    """The result in the ndarray that the caller gave for it, as ``x += T`` does."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"np.{ufunc.__name__} cannot write into a {type(out).__name__}")
    value = result.todense() if isinstance(result, Tensor) else result  # type: ignore[attr-defined]
    if np.shape(value) != out.shape:
        raise ValueError(f"np.{ufunc.__name__}: a result of shape {np.shape(value)} does not fit out of {out.shape}")
    np.copyto(out, value, casting="same_kind")
    return out
