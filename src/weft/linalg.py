"""Linear algebra: the array API standard's ``linalg``, NumPy's products and norms, and scipy.sparse.linalg.

Products, norms, diagonals and traces are compiled for any format. Functions that need every element (``svd``,
``solve``, ``eigh``, ...) are NumPy's, and take tensors that store every element. Solvers, factorizations and
eigenvalues of sparse matrices are SciPy's, under SciPy's names, and take tensors of any format.

Examples
--------
>>> import numpy as np
>>> import weft
>>> A = weft.asarray([[3.0, 0.0], [4.0, 2.0]], format="csr")
>>> weft.linalg.spsolve(A, np.array([3.0, 6.0]))
array([1., 1.])
>>> float(weft.linalg.matrix_norm(A, ord=1)), weft.linalg.vector_norm(A, axis=0).todense()
(7.0, array([5., 2.]))
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .errors import MissingNameError
from .interop.numpy_functions import of_dense_tensors
from .interop.scipy_functions import LINALG, taking_tensors
from .numpy_api.linalg import (
    cross,
    diagonal,
    dot,
    inner,
    matmul,
    matrix_norm,
    matrix_power,
    matrix_transpose,
    matvec,
    multi_dot,
    norm,
    outer,
    tensordot,
    trace,
    vdot,
    vecdot,
    vecmat,
    vector_norm,
)
from .tensor.sparse_tensor import SparseTensor

INSTEAD = {
    "cholesky": "weft.linalg.splu(A), a factorisation of sparse matrices, or A.todense()",
    "cond": "weft.linalg.svds(A), for the largest and the smallest singular values",
    "det": "the diagonals of L and U of weft.linalg.splu(A)",
    "eig": "weft.linalg.eigs(A), for some of the eigenvalues",
    "eigh": "weft.linalg.eigsh(A), for some of the eigenvalues",
    "eigvals": "weft.linalg.eigs(A, return_eigenvectors=False), for some of the eigenvalues",
    "eigvalsh": "weft.linalg.eigsh(A, return_eigenvectors=False), for some of the eigenvalues",
    "lstsq": "weft.linalg.lsqr(A, b) or lsmr",
    "matrix_rank": "A.todense()",
    "pinv": "weft.linalg.lsqr(A, b), which does not make the inverse",
    "qr": "A.todense()",
    "slogdet": "the diagonals of L and U of weft.linalg.splu(A)",
    "solve": "weft.linalg.spsolve(A, b), or cg, gmres and their kin",
    "svd": "weft.linalg.svds(A), for some of the singular values",
    "svdvals": "weft.linalg.svds(A, return_singular_vectors=False), for some of the singular values",
    "tensorinv": "A.todense()",
    "tensorsolve": "weft.linalg.spsolve of a matrix that A is reshaped to",
}
"""Replacements for sparse tensors of the functions that are NumPy's, as words of an error message."""

__all__ = [
    "cross", "diagonal", "dot", "inner", "matmul", "matrix_norm", "matrix_power", "matrix_transpose", "matvec",
    "multi_dot", "norm", "outer", "tensordot", "trace", "vdot", "vecdot", "vecmat", "vector_norm",
]  # fmt: skip
__all__ += sorted({*INSTEAD, *LINALG})

_inverse = of_dense_tensors(np.linalg.inv, "weft.linalg.spsolve")


@cache
def _of_scipy(name: str) -> Any:
    return taking_tensors("scipy.sparse.linalg", name, LINALG[name])


def inv(A: Any) -> Any:
    """Invert a square matrix.

    Parameters
    ----------
    A : array_like
        A matrix of shape ``(n, n)``, or of shape ``(..., n, n)`` if its format is dense.

    Returns
    -------
    SparseTensor
        The inverse. It is dense for a dense ``A``, computed by NumPy; else csc, computed by
        :func:`scipy.sparse.linalg.inv`. The inverse of a sparse matrix usually has few zeros. :func:`spsolve` solves
        systems without it.

    Examples
    --------
    >>> import weft
    >>> weft.linalg.inv(2 * weft.eye(3, format="csr")).todense().diagonal()
    array([0.5, 0.5, 0.5])
    """
    if (isinstance(A, SparseTensor) and A.layout.is_dense) or isinstance(A, (np.ndarray, list)):
        return _inverse(A)
    return _of_scipy("inv")(A)


def __getattr__(name: str) -> Any:  # SciPy is imported when one of its functions is first used
    if name in INSTEAD:
        function = of_dense_tensors(getattr(np.linalg, name), INSTEAD[name])
    elif name in LINALG:
        function = _of_scipy(name)
    else:
        raise MissingNameError(f"module {__name__!r} has no attribute {name!r}", name, __dir__)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return sorted(__all__)
