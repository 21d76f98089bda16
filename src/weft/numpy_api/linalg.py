"""Compiled linear algebra: the products, norms, diagonals and traces of ``weft.linalg``.

Every function is an ``einsum``, an operator or a reduction.

Examples
--------
>>> import weft
>>> A = weft.asarray([[3.0, 0.0], [4.0, 0.0]], format="csr")
>>> float(weft.linalg.matrix_norm(A)), weft.linalg.vector_norm(A, axis=0).todense()
(5.0, array([5., 0.]))
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import DTypeLike

from ..errors import ShapeError, UnsupportedError
from ..operations.axes import normalize_axis_index, normalize_axis_tuple
from ..operations.operands import any_storage_of, storage_of
from ..tensor.einsum import einsum
from ..tensor.lazy import fused, is_lazy, record
from ..tensor.operators import matmul as product
from ..tensor.out_argument import put_into, write_out
from ..tensor.sparse_tensor import SparseTensor
from .creation import eye
from .diagonals import diagonal as numpy_diagonal
from .diagonals import trace as numpy_trace
from .manipulation import broadcast_arrays, expand_dims, moveaxis
from .manipulation import matrix_transpose as matrix_transpose
from .reductions import Axes, as_tensor
from .reductions import max as largest
from .reductions import min as smallest
from .reductions import sum as total
from .stacking import stack
from .ufuncs import apply, as_dtype

if TYPE_CHECKING:
    from ..tensor.types import Array, Scalar


def _given(x: Any) -> SparseTensor:
    return x if isinstance(x, SparseTensor) else SparseTensor(storage_of(x))


def _ndim(x: Any) -> int:
    return x.ndim if isinstance(x, (SparseTensor, np.ndarray)) else len(any_storage_of(x).shape)


# -- products ------------------------------------------------------------------------------------------------------
@overload
def matmul(x1: SparseTensor, x2: SparseTensor, /) -> SparseTensor: ...
@overload
def matmul(x1: SparseTensor, x2: Array, /) -> Array: ...
@overload
def matmul(x1: Any, x2: Any, /) -> SparseTensor | Any: ...
def matmul(x1: Any, x2: Any, /) -> Any:
    """Return the matrix product, broadcast over batch axes.

    Unlike NumPy's, the function takes sparse tensors and has no arguments of ufuncs.

    Parameters
    ----------
    x1, x2 : array_like
        Matrices or vectors; axes before the last two broadcast.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        The product.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.matmul(A, np.ones(2))
    array([1., 2.])
    """
    return record("matmul", x1, x2) if is_lazy(x1, x2) else product(x1, x2, SparseTensor)


def tensordot(x1: Any, x2: Any, /, axes: Any = 2, *, out: Any = None) -> SparseTensor | Any:
    """Return the sum of products over some axes of two tensors.

    Parameters
    ----------
    x1, x2 : array_like
        The operands.
    axes : int or pair of int or of sequences of int
        A number ``n`` for the last ``n`` axes of ``x1`` and the first ``n`` axes of ``x2``, or the axes of each.
    out : ndarray or SparseTensor, optional
        The array or tensor into which the result is written.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        A tensor with the other axes of ``x1``, then those of ``x2``.

    Raises
    ------
    ValueError
        If the axes differ in number or length.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> T = weft.ones((2, 3, 4), format="csf")
    >>> weft.tensordot(T, np.ones((3, 4)), axes=2)
    array([12., 12.])
    """
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
    # Axes that are summed have the same index variable in both operands.
    left, right = list(range(n)), list(range(n, n + m))
    for a, b in zip(first, second, strict=True):
        if any_storage_of(x1).shape[a] != any_storage_of(x2).shape[b]:
            raise ValueError("shape-mismatch for sum")
        right[b] = a
    free = [v for v in left if v not in first] + [v for v in right if v >= n]
    return put_into(out, einsum(x1, left, x2, right, free), "tensordot")


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> SparseTensor | Any:
    """Return the sum of products over one axis, with the first operand conjugated.

    Parameters
    ----------
    x1, x2 : array_like
        The operands, of which the other axes broadcast.
    axis : int
        The axis over which products are summed.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        The sums, in the dtype of the products.

    Raises
    ------
    ValueError
        If the axis has different lengths in the operands.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.vecdot(A, A).todense()
    array([1., 4.])
    """
    a, b = any_storage_of(x1), any_storage_of(x2)
    sizes = {x.shape[normalize_axis_index(axis, len(x.shape))] for x in (a, b)}
    if len(sizes) > 1:
        raise ValueError(f"vecdot over axis {axis} of shapes {a.shape} and {b.shape}")
    left = apply("conjugate", (x1,)) if a.dtype.kind == "c" else x1
    # NumPy's vecdot does not widen small integers, as sum() would.
    products = apply("multiply", (left, x2))
    sums = total(products, axis=axis, dtype=products.dtype)
    has_array = isinstance(x1, np.ndarray) or isinstance(x2, np.ndarray)
    return (
        sums.todense()
        if has_array and isinstance(sums, SparseTensor) and any_storage_of(sums).format.is_dense
        else sums
    )


@overload
def outer(x1: SparseTensor, x2: SparseTensor, /, out: Any = None) -> SparseTensor: ...
@overload
def outer(x1: Any, x2: Any, /, out: Any = None) -> SparseTensor | Any: ...
def outer(x1: Any, x2: Any, /, out: Any = None) -> Any:
    """Return the products of every element of one vector with every element of another.

    Operands of other numbers of axes are flattened, as in NumPy.

    Parameters
    ----------
    x1, x2 : array_like
        The operands.
    out : ndarray or SparseTensor, optional
        The array or tensor into which the result is written.

    Returns
    -------
    SparseTensor or ndarray
        A matrix with a row for each element of ``x1``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0], format="coo")
    >>> weft.outer(x, x).todense()
    array([[0., 0.],
           [0., 9.]])
    """
    return put_into(out, einsum("i,j->ij", _flat(x1), _flat(x2)), "outer")


def _flat(x: Any) -> Any:
    return x if len(any_storage_of(x).shape) == 1 else _given(x).ravel()


def _strong(*operands: Any) -> tuple[Any, ...]:
    """Return operands of products with Python's numbers as arrays, whose dtype takes part in promotion as in NumPy."""
    return tuple(np.asarray(x) if type(x) in (bool, int, float, complex) else x for x in operands)


@overload
def dot(a: SparseTensor, b: SparseTensor, out: None = None) -> SparseTensor: ...
@overload
def dot(a: SparseTensor, b: Array, out: None = None) -> Array: ...
@overload
def dot(a: Any, b: Any, out: Any = None) -> Any: ...
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Return NumPy's ``dot`` product of two operands.

    Operands without axes are multiplied. Vectors and matrices have the matrix product. Otherwise the products are
    summed over the last axis of ``a`` and the last axis but one of ``b``.

    Parameters
    ----------
    a, b : array_like
        The operands.
    out : ndarray or SparseTensor, optional
        The array into which the result is written.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        The product, or ``out``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.dot(A, A).todense()
    array([[2., 0.],
           [0., 2.]])
    """
    n, m = _ndim(a), _ndim(b)
    if not n or not m:
        # A scalar multiplies every element.
        return apply("multiply", _strong(a, b), out=out)
    if n <= 2 and m <= 2:
        result = matmul(a, b)
    else:
        result = tensordot(a, b, axes=((n - 1,), (max(m - 2, 0),)))
    if out is None:
        return result
    return write_out(result, out, "dot")


def vdot(a: Any, b: Any) -> Scalar | Any:
    """Return the sum of products of all elements, with the first operand conjugated.

    Operands of several axes are flattened, as in NumPy.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0], format="coo")
    >>> weft.vdot(x, x)
    np.float64(9.0)
    """
    return vecdot(_flat(a), _flat(b))


def inner(a: Any, b: Any) -> SparseTensor | Any:
    """Return the sum of products over the last axes of two operands; operands without axes are multiplied.

    Unlike NumPy's, the function takes sparse tensors.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.inner(A, A).todense()
    array([[1., 0.],
           [0., 4.]])
    """
    n, m = _ndim(a), _ndim(b)
    return apply("multiply", _strong(a, b)) if not n or not m else tensordot(a, b, axes=((n - 1,), (m - 1,)))


def cross(
    x1: Any, x2: Any, /, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> SparseTensor:
    """Return the cross product of vectors of three elements.

    Unlike NumPy's, vectors of two elements are refused.

    Parameters
    ----------
    x1, x2 : array_like
        The operands, of which the other axes broadcast.
    axisa, axisb, axisc : int
        The axis of the vectors in ``x1``, in ``x2`` and in the result.
    axis : int, optional
        One axis for all three.

    Returns
    -------
    SparseTensor
        The vectors.

    Raises
    ------
    ShapeError
        If the vectors do not have three elements.

    Examples
    --------
    >>> import weft
    >>> weft.cross(weft.asarray([1.0, 0, 0], format="coo"), [0.0, 1.0, 0.0]).tolist()
    [0.0, 0.0, 1.0]
    """
    axes = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    moved = [moveaxis(x, k, -1) for x, k in zip((x1, x2), axes, strict=False)]
    if any(x.shape[-1] != 3 for x in moved):  # an axis of size 1 does not broadcast here
        raise ShapeError(f"cross needs axes of size 3, not {moved[0].shape[-1]} and {moved[1].shape[-1]}")
    a, b = broadcast_arrays(*moved)
    p, q = ([x[..., k] for k in range(3)] for x in (a, b))
    parts = [p[i] * q[j] - p[j] * q[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return stack(parts, axis=axes[2])


@overload
def matvec(x1: SparseTensor, x2: SparseTensor, /) -> SparseTensor: ...
@overload
def matvec(x1: SparseTensor, x2: Array, /) -> Array: ...
@overload
def matvec(x1: Any, x2: Any, /) -> SparseTensor | Any: ...
def matvec(x1: Any, x2: Any, /) -> Any:
    """Multiply matrices and vectors over the batch axes of both.

    Parameters
    ----------
    x1, x2 : array_like
        Operands of shapes ``(..., m, n)`` and ``(..., n)``; leading axes broadcast.

    Returns
    -------
    SparseTensor or ndarray
        The products, of shape ``(..., m)``.

    Raises
    ------
    ShapeError
        If there are too few axes, or ``n`` is not the same in both operands: that axis does not broadcast.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.matvec(A, np.ones(2))
    array([1., 2.])
    """
    _require_core("matvec", "(m,n),(n)->(m)", (x1, 2, -1), (x2, 1, -1))
    return einsum("...ij,...j->...i", x1, x2)


@overload
def vecmat(x1: SparseTensor, x2: SparseTensor, /) -> SparseTensor: ...
@overload
def vecmat(x1: Any, x2: Any, /) -> SparseTensor | Any: ...
def vecmat(x1: Any, x2: Any, /) -> Any:
    """Multiply conjugated vectors and matrices over the batch axes of both.

    Parameters
    ----------
    x1, x2 : array_like
        Operands of shapes ``(..., n)`` and ``(..., n, m)``; leading axes broadcast.

    Returns
    -------
    SparseTensor or ndarray
        The products, of shape ``(..., m)``.

    Raises
    ------
    ShapeError
        If there are too few axes, or ``n`` is not the same in both operands: that axis does not broadcast.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.vecmat(np.ones(2), A)
    array([2., 1.])
    """
    _require_core("vecmat", "(n),(n,m)->(m)", (x1, 1, -1), (x2, 2, -2))
    left = apply("conjugate", (x1,)) if any_storage_of(x1).dtype.kind == "c" else x1
    return einsum("...i,...ij->...j", left, x2)


def _require_core(name: str, signature: str, *operands: tuple[Any, int, int]) -> None:
    """Raise ``ShapeError`` unless operands have enough axes, and their multiplied axes have equal lengths.

    Each operand comes with its least number of axes and the axis that is multiplied.
    """
    shapes = [any_storage_of(x).shape for x, _, _ in operands]
    short = any(len(shape) < least for shape, (_, least, _) in zip(shapes, operands, strict=True))
    if short or len({shape[axis] for shape, (_, _, axis) in zip(shapes, operands, strict=True)}) > 1:
        shown = " and ".join(map(str, shapes))
        why = "has too few axes" if short else "multiplies axes of different lengths"
        raise ShapeError(f"{name} of shapes {shown} {why}; its signature is {signature}")


def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> SparseTensor | Any:
    """Return the product of several matrices, in the order that opt_einsum finds.

    Parameters
    ----------
    arrays : sequence of array_like
        Two matrices or more. The first and the last may be vectors.
    out : ndarray or SparseTensor, optional
        The array into which the result is written.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        The product, or ``out``.

    Raises
    ------
    ValueError
        If there are fewer than two arrays.
    numpy.linalg.LinAlgError
        If an array has another number of axes.
    ShapeError
        If neighbors do not fit together.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.linalg.multi_dot([A, A, np.ones(2)])
    array([2., 2.])
    """
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
    # Neighbors share an index variable: the columns of one are the rows of the next.
    operands: list[Any] = []
    for k, (x, n) in enumerate(zip(arrays, orders, strict=True)):
        axes = [k, k + 1] if n == 2 else [1] if k == 0 else [k]
        operands += [x, axes]
    # A vector at an end leaves no axis there.
    ends = ([0] if orders[0] == 2 else []) + ([len(arrays)] if orders[-1] == 2 else [])
    result = einsum(*operands, ends)
    if out is None:
        return result
    return write_out(result, out, "multi_dot")


def matrix_power(x: Any, n: int, /) -> SparseTensor | Any:
    """Return square matrices multiplied by themselves ``n`` times.

    Parameters
    ----------
    x : array_like
        Matrices in the last two axes.
    n : int
        The power, at least 0.

    Returns
    -------
    SparseTensor
        The power; for ``n = 0`` the identity matrix.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square.
    TypeError
        If ``n`` is no integer.
    UnsupportedError
        If ``n`` is negative, unlike NumPy: an inverse is dense.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.linalg.matrix_power(A, 2).todense()
    array([[2., 0.],
           [0., 2.]])
    """
    tensor = _given(x)
    if tensor.ndim < 2 or tensor.shape[-1] != tensor.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(f"the exponent of matrix_power is an integer, not {n!r}") from None
    if n < 0:
        raise UnsupportedError("matrix_power of a negative power needs an inverse, which is dense; solve instead")
    if n == 0:
        one = eye(tensor.shape[-1], dtype=tensor.dtype, format=tensor.format if tensor.ndim == 2 else "coo")
        return one if tensor.ndim == 2 else broadcast_arrays(one, tensor)[0]
    # Exponentiation by squaring.
    result: Any = None
    while n:
        if n & 1:
            result = tensor if result is None else result @ tensor
        n >>= 1
        tensor = tensor @ tensor if n else tensor
    return result


# -- diagonals -----------------------------------------------------------------------------------------------------
def diagonal(x: Any, /, *, offset: int = 0) -> SparseTensor:
    """Return a diagonal of the last two axes.

    Parameters
    ----------
    x : array_like
        Matrices in the last two axes.
    offset : int
        The diagonal: positive above the main one, negative below it.

    Returns
    -------
    SparseTensor
        A copy of the diagonal, along the last axis.

    Examples
    --------
    >>> import weft
    >>> weft.linalg.diagonal(weft.eye(2, format="csr")).todense()
    array([1., 1.])
    """
    return numpy_diagonal(x, offset, -2, -1)


def trace(
    x: Any, /, offset: int = 0, axis1: int = -2, axis2: int = -1, dtype: DTypeLike | None = None, out: Any = None
) -> SparseTensor | Any:
    """Return the sum of a diagonal of two axes, by default the last two.

    The arguments and results are those of :func:`weft.trace`.

    Examples
    --------
    >>> import weft
    >>> weft.linalg.trace(weft.eye(3, format="csr"))
    np.float64(3.0)
    """
    return numpy_trace(x, offset, axis1, axis2, dtype, out)


# -- norms ---------------------------------------------------------------------------------------------------------
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> SparseTensor | Any:
    """Return the vector norm of the elements over some axes.

    Parameters
    ----------
    x : array_like
        The tensor.
    axis : int or tuple of int, optional
        The axes, by default all.
    keepdims : bool
        True to keep the axes with size 1.
    ord : float
        The order: inf, -inf, 0 for the number of nonzero elements, or any other number.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        The norms, a scalar if no axis is left.

    Examples
    --------
    >>> import weft
    >>> weft.linalg.vector_norm(weft.asarray([0.0, 3.0, 4.0], format="coo"))
    np.float64(5.0)
    """
    x = as_tensor(x, "vector_norm")
    return _vector_norm(x, Axes.of(axis, x.shape).over, keepdims, ord)


@fused(static=True)
def _vector_norm(x: Any, axis: tuple[int, ...], keepdims: bool, ord: float) -> Any:
    whole = x.dtype.kind in "biu"  # abs() of the lowest integer overflows
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


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> SparseTensor | Any:
    """Return the norm of the matrices in the last two axes.

    Parameters
    ----------
    x : array_like
        Matrices of shape ``(..., m, n)``.
    keepdims : bool, optional
        True to keep the last two axes with size 1.
    ord : {"fro", 1, -1, inf, -inf, 2, -2, "nuc"}, optional
        The norm. NumPy computes those of singular values (2, -2, "nuc") for a dense format. For a sparse matrix 2 is
        computed by :func:`scipy.sparse.linalg.svds`.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        The norms, a scalar for one matrix.

    Raises
    ------
    UnsupportedError
        If a norm needs all singular values of a sparse matrix.
    ValueError
        If ``ord`` is unknown.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.linalg.matrix_norm(A)
    np.float64(2.23606797749979)
    """
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord not in (1, -1, math.inf, -math.inf):
        if ord in ("nuc", 2, -2):
            return _of_singular_values(_given(x), ord, keepdims)
        raise ValueError("Invalid norm order for matrices.")
    # The greatest or least sum of a column (1, -1) or of a row (inf, -inf).
    sums = vector_norm(x, axis=-2 if abs(ord) == 1 else -1, keepdims=keepdims, ord=1)
    reduce = largest if ord > 0 else smallest
    if keepdims:
        return reduce(sums, axis=-1 if abs(ord) == 1 else -2, keepdims=True)
    return reduce(sums, axis=-1)


def _of_singular_values(x: SparseTensor, ord: Any, keepdims: bool) -> Any:
    if x.layout.is_dense:
        norms = np.linalg.matrix_norm(x.todense(), ord=ord, keepdims=keepdims)
        return SparseTensor(storage_of(norms)) if np.ndim(norms) else norms
    if ord != 2 or x.ndim > 2:
        raise UnsupportedError(
            f"the norm {ord!r} needs all singular values of {x!r}, which is sparse; use weft.linalg.svds(A) for some"
        )
    from scipy.sparse.linalg import svds

    if not x.nnz:  # svds iterates on products, which are all 0
        (norms,) = np.zeros(1, np.result_type(x.dtype, np.float32))
    elif min(x.shape) == 1:  # the only singular value is the norm of the vector
        norms = vector_norm(x)
    else:
        whole = x.dtype.kind in "biu"
        (norms,) = svds(as_dtype(x, np.dtype(np.float64)) if whole else x, k=1, return_singular_vectors=False)
    return norms.reshape((1, 1)) if keepdims else norms


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> SparseTensor | Any:
    """Return NumPy's ``linalg.norm``: the norm of vectors, or of matrices if there are two axes.

    Parameters
    ----------
    x : array_like
        The tensor.
    ord : {"fro", "nuc", inf, -inf} or float, optional
        The order; see :func:`vector_norm` and :func:`matrix_norm`. By default the 2-norm of all elements.
    axis : int or pair of int, optional
        One axis for vectors, two for matrices.
    keepdims : bool
        True to keep the axes with size 1.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        The norms, a scalar if no axis is left.

    Raises
    ------
    ValueError
        If there are more than two axes.
    UnsupportedError
        If a norm needs all singular values of a sparse matrix.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.linalg.norm(A), weft.linalg.norm(A, 1)
    (np.float64(2.23606797749979), np.float64(2.0))
    """
    n = _ndim(x)
    if axis is None and ord is None:
        return vector_norm(x, keepdims=keepdims)
    axes = tuple(range(n)) if axis is None else normalize_axis_tuple(axis, n)
    if len(axes) == 1:
        return vector_norm(x, axis=axes, keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    # matrix_norm takes the last two axes. Kept axes are put back at their old places.
    found = matrix_norm(moveaxis(x, axes, (-2, -1)), ord="fro" if ord in (None, "f") else ord)
    return expand_dims(found, tuple(sorted(axes))) if keepdims else found
