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
from . import foreign
from .operands import Tensor, adopt
from .operators import Operators, matmul

__all__ = ["Dispatch"]


def _scipy_defers(tensor: Tensor) -> bool:
    """Tell whether the caller of ``__array__`` is a binary operator of scipy.sparse with ``tensor`` on its right.

    A method that an operator calls, as ``multiply``, gives ``NotImplemented`` back. Called by name it must not do that:
    nobody would try the tensor's method then.
    """
    frame, outermost = sys._getframe(2), ""
    while str(frame.f_globals.get("__name__")).startswith("scipy.sparse") and frame.f_locals.get("other") is tensor:
        outermost = frame.f_code.co_name
        if frame.f_back is None:
            break
        frame = frame.f_back
    return outermost.startswith("__")


class Dispatch(Operators):
    """The protocols by which other packages' operators and functions find weft's."""

    __slots__ = ()
    __array_priority__ = 1000.0  # scipy's is 10.1

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if _scipy_defers(self):
            deferred = np.empty((), dtype=object)
            deferred[()] = self
            return deferred
        if self._storage.format.is_dense:  # nothing becomes dense that is not
            array = self.todense()  # type: ignore[attr-defined]
            return np.array(array, dtype, copy=copy)
        raise DensifyError(f"{self!r} does not become an ndarray by itself: {foreign.instead_of_dense(self._storage)}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .array_function import call, concerns

        return call(function, args, kwargs) if concerns(types) else NotImplemented

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the array API standard's namespace, ``weft.array_api``."""
        from .array_function import namespace

        weft = namespace()
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise ValueError(f"weft follows version {weft.__array_api_version__} of the standard, not {api_version!r}")
        return weft.array_api

    def __dlpack__(self, **options: Any) -> Any:
        """The memory of a dense tensor, for other libraries."""
        if not self._storage.format.is_dense:
            raise BufferError(f"a tensor of format {self._storage.format} has no dense memory; call todense()")
        return self._storage.to_dense_array().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def to_device(self, device: str, /, *, stream: Any = None) -> Any:
        """The tensor itself, which is on the only device there is."""
        if device != "cpu" or stream is not None:
            raise ValueError(f"tensors are on device 'cpu', not {device!r}")
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        keyed = method in ("at", "reduceat")  # whose second input says where
        if any(adopt(x) is None for k, x in enumerate(inputs) if not (keyed and k == 1)):
            return NotImplemented
        if ufunc is np.matmul and method == "__call__" and set(kwargs) <= {"out"}:
            result = matmul(inputs[0], inputs[1], type(self))
            if "out" not in kwargs:
                return result
            from .ufuncs import store

            return store(result, kwargs["out"], "np.matmul")
        from .ufuncs import call

        return call(ufunc, method, inputs, kwargs)
