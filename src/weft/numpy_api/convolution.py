"""Convolution and correlation of sparse vectors.

Examples
--------
>>> import weft
>>> a = weft.asarray([0.0, 1.0, 0.0, 2.0], format="coo")
>>> weft.convolve(a, [1.0, -1.0]).todense()
array([ 0.,  1., -1.,  2., -2.])
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..operations.fill_change import require_dense
from ..operations.operands import storage_of
from ..storage import Storage
from ..tensor.construction import from_coords
from ..tensor.sparse_tensor import SparseTensor
from .manipulation import atleast_1d


def convolve(a: Any, v: Any, mode: Literal["full", "same", "valid"] = "full") -> SparseTensor:
    """Return the discrete convolution of two vectors.

    The products of all pairs of stored entries are computed, and products with the same sum of coordinates are added.

    Parameters
    ----------
    a, v : array_like
        Vectors, or scalars, which are vectors of one element.
    mode : {'full', 'same', 'valid'}
        The part of the result: every overlap, the middle part as long as the longer vector, or complete overlaps only.

    Returns
    -------
    SparseTensor
        The vector of the convolution. It is dense if a fill value is not zero.

    Raises
    ------
    ValueError
        If an operand has more than one axis or is empty, or the mode is unknown.
    DensifyError
        If the products of all pairs, or the dense vectors, exceed ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 0.0, 1.0], format="coo")
    >>> weft.convolve(x, [1.0, 1.0]).todense()
    array([0., 3., 3., 1., 1.])
    """
    first, second = SparseTensor(storage_of(a)), SparseTensor(storage_of(v))
    if first.ndim > 1 or second.ndim > 1:
        raise ValueError("object too deep for desired array")
    first, second = atleast_1d(first), atleast_1d(second)
    for name, one in (("a", first), ("v", second)):
        if not one.size:
            raise ValueError(f"{name} cannot be empty")
    if mode not in ("full", "same", "valid"):
        raise ValueError("mode must be one of 'valid', 'same', or 'full'")
    n, m = max(first.size, second.size), min(first.size, second.size)
    dtype = np.result_type(first.dtype, second.dtype)
    # Every element of the result has a share of a fill value that is not zero.
    if storage_of(first).type.fill or storage_of(second).type.fill:
        require_dense((n + m - 1,), dtype, "convolutions of fill values")
        return SparseTensor(Storage.dense(np.convolve(first.todense(), second.todense(), mode)))
    (i,), left = first.to_coo()
    (j,), right = second.to_coo()
    require_dense((len(i), len(j)), dtype, "products of all pairs of entries")
    # The result is a coordinate list with one entry for each pair. Duplicate coordinates are summed.
    place = np.add.outer(i.astype(np.int64), j.astype(np.int64)).ravel()
    whole = from_coords(place[None], np.multiply.outer(left, right).ravel(), (n + m - 1,))
    begin, end = {"full": (0, n + m - 1), "same": ((m - 1) // 2, (m - 1) // 2 + n), "valid": (m - 1, n)}[mode]
    return SparseTensor(storage_of(whole[begin:end]))


def correlate(a: Any, v: Any, mode: Literal["full", "same", "valid"] = "valid") -> SparseTensor:
    """Return the cross-correlation of two vectors: the convolution of ``a`` with the reversed conjugate of ``v``.

    The arguments and errors are those of :func:`convolve`; the default mode is 'valid', as in NumPy.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 3.0, 0.0, 1.0], format="coo")
    >>> weft.correlate(x, [1.0, 2.0]).todense()
    array([6., 3., 2.])
    """
    if len(storage_of(v).shape) == 1:
        turned = SparseTensor(storage_of(v))[::-1]
        v = turned.conj() if turned.dtype.kind == "c" else turned
    first, second = storage_of(a).shape, storage_of(v).shape
    if mode == "same" and len(first) == len(second) == 1 and second > first and first[0] % 2 == 0:
        m, n = first[0], second[0]  # numpy.correlate swaps the operands: an odd overlap is at the other end
        return convolve(a, v, "full")[m // 2 : m // 2 + n]
    return convolve(a, v, mode)
