"""Whether tensors have the same elements, or nearly, as NumPy names it.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 1.0]], format="csr")
>>> weft.allclose(A, A * (1 + 1e-9)), weft.array_equal(A, A.tocoo()), weft.array_equal(A, A.T)
(True, True, False)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShapeError
from ..operations.operands import storage_of
from .manipulation import broadcast_shapes
from .reductions import all
from .ufuncs import apply, as_dtype

__all__ = ["allclose", "array_equal", "array_equiv", "isclose"]


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether each element of ``a`` is within ``atol + rtol * abs(b)`` of that of ``b``.

    Parameters
    ----------
    a, b : array_like
        Broadcast.
    rtol, atol : float
        How far they may be apart, relative to ``b`` and absolutely.
    equal_nan : bool
        Whether two NaN are close.

    Returns
    -------
    SparseTensor or ndarray
        Where neither is stored, the answer is the fill value.
    """
    if type(b) is int or storage_of(b).dtype.kind in "biu":  # whose lowest has no absolute value
        b = float(b) if type(b) is int else as_dtype(b, np.dtype(np.float64))
    size = apply("absolute", (b,))
    apart = apply("absolute", (apply("subtract", (a, b)),))
    near = apply("less_equal", (apart, apply("add", (apply("multiply", (size, rtol)), atol))))
    near = apply("logical_and", (near, apply("isfinite", (b,))))
    near = apply("logical_or", (near, apply("equal", (a, b))))
    if equal_nan:
        near = apply("logical_or", (near, apply("logical_and", (apply("isnan", (a,)), apply("isnan", (b,))))))
    return near


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Whether every element of ``a`` is close to that of ``b``, see :func:`isclose`."""
    return bool(all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether two tensors have one shape and the same elements, however they are stored."""
    return storage_of(a1).shape == storage_of(a2).shape and _equal(a1, a2, equal_nan)


def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether two tensors have the same elements once they are broadcast."""
    try:
        broadcast_shapes(storage_of(a1).shape, storage_of(a2).shape)
    except (ShapeError, ValueError):
        return False
    return _equal(a1, a2, False)


def _equal(a: Any, b: Any, equal_nan: bool) -> bool:
    same = apply("equal", (a, b))
    if equal_nan:
        same = apply("logical_or", (same, apply("logical_and", (apply("isnan", (a,)), apply("isnan", (b,))))))
    return bool(all(same) if not isinstance(same, np.bool_) else same)
