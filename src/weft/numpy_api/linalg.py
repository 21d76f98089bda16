"""Linear algebra that is compiled: the products, norms, diagonals and traces of ``weft.linalg``.

Everything is an ``einsum``, an operator or a reduction.

Examples
--------
>>> import weft
>>> A = weft.asarray([[3.0, 0.0], [4.0, 0.0]], format="csr")
>>> float(weft.linalg.matrix_norm(A)), weft.linalg.vector_norm(A, axis=0).todense()
(5.0, array([5., 0.]))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple
from numpy.typing import DTypeLike

from ..errors import ShapeError, UnsupportedError
from ..operations.operands import storage_of
from ..tensor.einsum import einsum
from ..tensor.operators import matmul as product
from ..tensor.out_argument import write_out
from ..tensor.sparse_tensor import SparseTensor
from .creation import eye
from .diagonals import diagonal as numpy_diagonal
from .manipulation import broadcast_arrays, expand_dims, matrix_transpose, moveaxis
from .reductions import max as largest
from .reductions import min as smallest
from .reductions import sum as total
from .stacking import stack
from .ufuncs import apply, as_dtype

if TYPE_CHECKING:
    from ..tensor.types import Array

__all__ = [
    "cross", "diagonal", "dot", "inner", "matmul", "matrix_norm", "matrix_power", "matrix_transpose", "matvec",
    "multi_dot", "norm", "outer", "tensordot", "trace", "vdot", "vecdot", "vecmat", "vector_norm",
]  # fmt: skip


def _given(x: Any) -> SparseTensor:
    return x if isinstance(x, SparseTensor) else SparseTensor(storage_of(x))


def _ndim(x: Any) -> int:
    return x.ndim if isinstance(x, (SparseTensor, np.ndarray)) else len(storage_of(x).shape)


# -- products ------------------------------------------------------------------------------------------------------
def matmul(x1: Any, x2: Any, /) -> Any:
    """The matrix product, over the batch axes of both."""
    return product(x1, x2, SparseTensor)


def tensordot(x1: Any, x2: Any, /, axes: Any = 2) -> Any:
    """The sum of products over some axes: the last of one and the first of the other, or pairs of axes."""
    n, m = _ndim(x1), _ndim(x2)
    if isinstance(axes, (int, np.integer)):
        if axes > min(n, m):
            raise ValueError("shape-mismatch for sum")
        first, second = tuple(range(n - axes, n)), tuple(range(axes))
    else:
        first, second = (
            normalize_axis_tuple(a if isinstance(a, Sequence) else (a,), k) for a, k in zip(axes, (n, m), strict=True)
        )
    if len(first) != len(second):
        raise ValueError("shape-mismatch for sum")
    left, right = list(range(n)), list(range(n, n + m))
    for a, b in zip(first, second, strict=True):
        if storage_of(x1).shape[a] != storage_of(x2).shape[b]:
            raise ValueError("shape-mismatch for sum")
        right[b] = a
    out = [v for v in left if v not in first] + [v for v in right if v >= n]
    return einsum(x1, left, x2, right, out)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The sum of products over one axis, the first operand conjugated, in the dtype of the products."""
    a, b = storage_of(x1), storage_of(x2)
    sizes = {x.shape[normalize_axis_index(axis, len(x.shape))] for x in (a, b)}
    if len(sizes) > 1:
        raise ValueError(f"vecdot over axis {axis} of shapes {a.shape} and {b.shape}")
    left = apply("conjugate", (x1,)) if a.dtype.kind == "c" else x1
    products = apply("multiply", (left, x2))
    return total(products, axis=axis, dtype=products.dtype)


def outer(x1: Any, x2: Any, /) -> Any:
    """Every element of one vector with every element of another."""
    return einsum("i,j->ij", _flat(x1), _flat(x2))


def _flat(x: Any) -> Any:
    return x if len(storage_of(x).shape) == 1 else _given(x).ravel()


def _strong(*operands: Any) -> tuple[Any, ...]:
    """Operands of products, in which Python's numbers have a dtype of their own, as NumPy's have."""
    return tuple(np.asarray(x) if type(x) in (bool, int, float, complex) else x for x in operands)


@overload
def dot(a: SparseTensor, b: SparseTensor, out: None = None) -> SparseTensor: ...
@overload
def dot(a: SparseTensor, b: Array, out: None = None) -> Array: ...
@overload
def dot(a: Any, b: Any, out: Any = None) -> Any: ...
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """NumPy's product: of scalars, of vectors, of matrices, else over the last axis and the last but one."""
    n, m = _ndim(a), _ndim(b)
    if not n or not m:
        return apply("multiply", _strong(a, b), out=out)
    if n <= 2 and m <= 2:
        found = matmul(a, b)
    else:
        found = tensordot(a, b, axes=((n - 1,), (max(m - 2, 0),)))
    if out is None:
        return found
    return write_out(found, out, "dot")


def vdot(a: Any, b: Any) -> Any:
    """The sum of products of all elements, the first operand conjugated."""
    return vecdot(_flat(a), _flat(b))


def inner(a: Any, b: Any) -> Any:
    """The sum of products over the last axes."""
    n, m = _ndim(a), _ndim(b)
    return apply("multiply", _strong(a, b)) if not n or not m else tensordot(a, b, axes=((n - 1,), (m - 1,)))


def cross(
    x1: Any, x2: Any, /, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> SparseTensor:
    """The vector product of vectors of three elements along an axis, or along another of each operand."""
    axes = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    moved = [moveaxis(x, k, -1) for x, k in zip((x1, x2), axes, strict=False)]
    if any(x.shape[-1] != 3 for x in moved):  # an axis of one element does not stand for three
        raise ShapeError(f"cross needs axes of size 3, not {moved[0].shape[-1]} and {moved[1].shape[-1]}")
    a, b = broadcast_arrays(*moved)
    p, q = ([x[..., k] for k in range(3)] for x in (a, b))
    parts = [p[i] * q[j] - p[j] * q[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return stack(parts, axis=axes[2])


def matvec(x1: Any, x2: Any, /) -> Any:
    """Multiply matrices and vectors, over the batch axes of both.

    Parameters
    ----------
    x1, x2 : array_like
        Of shapes ``(..., m, n)`` and ``(..., n)``; leading axes broadcast.

    Raises
    ------
    ShapeError
        When there are too few axes, or ``n`` is not the same in both: that axis does not broadcast.
    """
    _require_core("matvec", "(m,n),(n)->(m)", (x1, 2, -1), (x2, 1, -1))
    return einsum("...ij,...j->...i", x1, x2)


def vecmat(x1: Any, x2: Any, /) -> Any:
    """Multiply vectors, which are conjugated, and matrices, over the batch axes of both.

    Parameters
    ----------
    x1, x2 : array_like
        Of shapes ``(..., n)`` and ``(..., n, m)``; leading axes broadcast.

    Raises
    ------
    ShapeError
        When there are too few axes, or ``n`` is not the same in both: that axis does not broadcast.
    """
    _require_core("vecmat", "(n),(n,m)->(m)", (x1, 1, -1), (x2, 2, -2))
    left = apply("conjugate", (x1,)) if storage_of(x1).dtype.kind == "c" else x1
    return einsum("...i,...ij->...j", left, x2)


def _require_core(name: str, signature: str, *operands: tuple[Any, int, int]) -> None:
    """Raise unless operands have enough axes, and those that are multiplied together are as long.

    Each operand comes with how many axes it has at least, and which of them is multiplied.
    """
    shapes = [storage_of(x).shape for x, _, _ in operands]
    short = any(len(shape) < least for shape, (_, least, _) in zip(shapes, operands, strict=True))
    if short or len({shape[axis] for shape, (_, _, axis) in zip(shapes, operands, strict=True)}) > 1:
        shown = " and ".join(map(str, shapes))
        why = "has too few axes" if short else "multiplies axes of different lengths"
        raise ShapeError(f"{name} of shapes {shown} {why}; its signature is {signature}")


def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    """The product of several matrices, in the order that opt_einsum finds; the first and last may be vectors."""
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    orders = [len(storage_of(x).shape) for x in arrays]
    if any(n != 2 for n in orders[1:-1]) or any(n not in (1, 2) for n in (orders[0], orders[-1])):
        raise np.linalg.LinAlgError(f"multi_dot takes matrices, and vectors at its ends, not tensors of {orders} axes")
    shapes = [storage_of(x).shape for x in arrays]
    for k, (left, right) in enumerate(pairwise(shapes)):
        if left[-1] != right[0]:
            raise ShapeError(
                f"multi_dot multiplies axes of different lengths: arrays {k} and {k + 1} have shapes {left} and {right}"
            )
    operands: list[Any] = []
    for k, (x, n) in enumerate(zip(arrays, orders, strict=True)):
        axes = [k, k + 1] if n == 2 else [1] if k == 0 else [k]
        operands += [x, axes]
    ends = ([0] if orders[0] == 2 else []) + ([len(arrays)] if orders[-1] == 2 else [])
    found = einsum(*operands, ends)
    if out is None:
        return found
    return write_out(found, out, "multi_dot")


def matrix_power(x: Any, n: int, /) -> Any:
    """A square matrix multiplied by itself ``n`` times."""
    tensor = _given(x)
    if tensor.ndim < 2 or tensor.shape[-1] != tensor.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if n < 0:
        raise UnsupportedError("matrix_power of a negative power needs an inverse, which is dense; solve instead")
    if n == 0:
        one = eye(tensor.shape[-1], dtype=tensor.dtype, format=tensor.format if tensor.ndim == 2 else "coo")
        return one if tensor.ndim == 2 else broadcast_arrays(one, tensor)[0]
    result: Any = None
    while n:
        if n & 1:
            result = tensor if result is None else result @ tensor
        n >>= 1
        tensor = tensor @ tensor if n else tensor
    return result


# -- diagonals -----------------------------------------------------------------------------------------------------
def diagonal(x: Any, /, *, offset: int = 0) -> SparseTensor:
    """The elements of the last two axes whose coordinates differ by ``offset``."""
    return numpy_diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Any:
    """The sum of a diagonal of the last two axes."""
    return total(diagonal(x, offset=offset), axis=-1, dtype=dtype)


# -- norms ---------------------------------------------------------------------------------------------------------
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm of the elements along some axes, all by default."""
    whole = storage_of(x).dtype.kind in "biu"  # whose lowest has no absolute value
    sizes = apply("absolute", (as_dtype(x, np.dtype(np.float64)) if whole else x,))
    if ord == math.inf:
        return largest(sizes, axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return smallest(sizes, axis=axis, keepdims=keepdims)
    if ord == 0:
        return total(apply("not_equal", (sizes, 0)), axis=axis, keepdims=keepdims, dtype=sizes.dtype)
    if ord == 1:
        return total(sizes, axis=axis, keepdims=keepdims)
    if ord == 2:
        return np.sqrt(total(apply("square", (sizes,)), axis=axis, keepdims=keepdims))
    return total(sizes**ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of the matrices in the last two axes.

    Parameters
    ----------
    x : array_like
        Of shape ``(..., m, n)``.
    keepdims : bool, optional
        Whether the last two axes stay, of size 1.
    ord : {"fro", 1, -1, inf, -inf, 2, -2, "nuc"}, optional
        Those that need singular values (2, -2, "nuc") are NumPy's for a dense format; of a sparse matrix 2 is found by
        :func:`scipy.sparse.linalg.svds`.

    Raises
    ------
    UnsupportedError
        For norms that need all singular values of a sparse matrix.
    """
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord not in (1, -1, math.inf, -math.inf):
        if ord in ("nuc", 2, -2):
            return _of_singular_values(_given(x), ord, keepdims)
        raise ValueError("Invalid norm order for matrices.")
    sums = vector_norm(x, axis=-2 if abs(ord) == 1 else -1, keepdims=keepdims, ord=1)
    reduce = largest if ord > 0 else smallest
    if keepdims:
        return reduce(sums, axis=-1 if abs(ord) == 1 else -2, keepdims=True)
    return reduce(sums, axis=-1)


def _of_singular_values(x: SparseTensor, ord: Any, keepdims: bool) -> Any:
    if x.layout.is_dense:
        found = np.linalg.matrix_norm(x.todense(), ord=ord, keepdims=keepdims)
        return SparseTensor(storage_of(found)) if np.ndim(found) else found
    if ord != 2 or x.ndim > 2:
        raise UnsupportedError(
            f"the norm {ord!r} needs all singular values of {x!r}, which is sparse; use weft.linalg.svds(A) for some"
        )
    from scipy.sparse.linalg import svds

    if not x.nnz:  # svds iterates on products, which are all 0
        (found,) = np.zeros(1, np.result_type(x.dtype, np.float32))
    elif min(x.shape) == 1:  # the one singular value is a vector's length
        found = vector_norm(x)
    else:
        whole = x.dtype.kind in "biu"
        (found,) = svds(as_dtype(x, np.dtype(np.float64)) if whole else x, k=1, return_singular_vectors=False)
    return found.reshape((1, 1)) if keepdims else found


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """NumPy's ``linalg.norm``: of a vector, or of a matrix where there are two axes or two are named."""
    n = len(storage_of(x).shape)
    if axis is None and ord is None:
        return vector_norm(x, keepdims=keepdims)
    axes = tuple(range(n)) if axis is None else normalize_axis_tuple(axis, n)
    if len(axes) == 1:
        return vector_norm(x, axis=axes, keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    found = matrix_norm(moveaxis(x, axes, (-2, -1)), ord="fro" if ord in (None, "f") else ord)
    return expand_dims(found, tuple(sorted(axes))) if keepdims else found
