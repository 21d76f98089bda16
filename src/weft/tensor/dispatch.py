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
from .operators import Operators, matmul

__all__ = ["Dispatch"]


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
        if any(adopt(x) is None for x in inputs):
            return NotImplemented
        if ufunc is np.matmul and method == "__call__" and set(kwargs) <= {"out"}:
            result = matmul(inputs[0], inputs[1], type(self))
            if "out" not in kwargs:
                return result
            from .ufuncs import store

            return store(result, kwargs["out"], "np.matmul")
        from .ufuncs import call

        return call(ufunc, method, inputs, kwargs)
