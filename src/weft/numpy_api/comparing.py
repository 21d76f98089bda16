"""Comparisons of whole tensors, exact and approximate, under NumPy's names.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 1.0]], format="csr")
>>> weft.allclose(A, A * (1 + 1e-9)), weft.array_equal(A, A.tocoo()), weft.array_equal(A, A.T)
(True, True, False)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ShapeError
from ..operations.operands import storage_of
from .manipulation import broadcast_shapes
from .reductions import all
from .ufuncs import apply, as_dtype

if TYPE_CHECKING:
    from ..tensor.sparse_tensor import SparseTensor


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> SparseTensor | Any:
    """Return whether each element of ``a`` is within ``atol + rtol * abs(b)`` of the element of ``b``.

    Parameters
    ----------
    a, b : array_like
        The operands, which are broadcast.
    rtol, atol : float
        The relative and the absolute tolerance.
    equal_nan : bool
        True if two NaN are close.

    Returns
    -------
    SparseTensor, ndarray or NumPy bool
        The answers. The fill value of a tensor is the answer for two implicit entries.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([1.0, 2.0], format="coo")
    >>> weft.isclose(x, [1.0 + 1e-9, 2.5])
    array([ True, False])
    """
    if type(b) is int or storage_of(b).dtype.kind in "biu":  # abs() of the lowest integer overflows
        b = float(b) if type(b) is int else as_dtype(b, np.dtype(np.float64))
    size = apply("absolute", (b,))
    apart = apply("absolute", (apply("subtract", (a, b)),))
    near = apply("less_equal", (apart, apply("add", (apply("multiply", (size, rtol)), atol))))
    # An infinite tolerance would accept everything. Infinities are close only if they are equal.
    near = apply("logical_and", (near, apply("isfinite", (b,))))
    near = apply("logical_or", (near, apply("equal", (a, b))))
    if equal_nan:
        near = apply("logical_or", (near, apply("logical_and", (apply("isnan", (a,)), apply("isnan", (b,))))))
    return near


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Return whether every element of ``a`` is close to the element of ``b``.

    The arguments are those of :func:`isclose`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.allclose(A, A + 1e-12)
    True
    """
    return bool(all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Return whether two tensors have the same shape and equal elements.

    The formats of the tensors do not matter: a stored entry may equal an implicit one.

    Parameters
    ----------
    a1, a2 : array_like
        The operands.
    equal_nan : bool
        True if two NaN are equal.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.array_equal(A, A.tocoo())
    True
    """
    return storage_of(a1).shape == storage_of(a2).shape and _equal(a1, a2, equal_nan)


def array_equiv(a1: Any, a2: Any) -> bool:
    """Return whether two tensors broadcast to one shape and have equal elements then.

    Parameters
    ----------
    a1, a2 : array_like
        The operands.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.array_equiv(A, [A.todense(), A.todense()])
    True
    """
    try:
        # Shapes that do not broadcast raise.
        broadcast_shapes(storage_of(a1).shape, storage_of(a2).shape)
    except (ShapeError, ValueError):
        return False
    return _equal(a1, a2, False)


def _equal(a: Any, b: Any, equal_nan: bool) -> bool:
    same = apply("equal", (a, b))
    if equal_nan:
        same = apply("logical_or", (same, apply("logical_and", (apply("isnan", (a,)), apply("isnan", (b,))))))
    return bool(all(same) if not isinstance(same, np.bool_) else same)
