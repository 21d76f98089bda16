"""Conversion of other packages' tensors to weft's storage and back.

Each file serves one package and registers itself with ``operations.foreign_tensors``. No file imports the package that
it serves before one of this package's tensors is given or asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from ..tensor import asarray
from . import dask_arrays, device_matrices, pydata_sparse, scipy_sparse, sparse_groups

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix

    from ..tensor.types import SciPyFormat

__all__ = ["dask_arrays", "device_matrices", "pydata_sparse", "scipy_sparse", "sparse_groups", "to_scipy"]


@overload
def to_scipy(A: Any, /, format: SciPyFormat | None = None, *, matrix: Literal[False] = False) -> sparray: ...
@overload
def to_scipy(A: Any, /, format: SciPyFormat | None = None, *, matrix: Literal[True]) -> spmatrix: ...
def to_scipy(A: Any, /, format: SciPyFormat | None = None, *, matrix: bool = False) -> Any:
    """Convert a tensor to a scipy.sparse array, for SciPy, scikit-learn and networkx.

    Parameters
    ----------
    A : array_like
        A tensor, or any argument of :func:`asarray`.
    format : {'bsr', 'coo', 'csc', 'csr', 'dia', 'dok', 'lil'}, optional
        One of SciPy's formats. By default the format of the tensor if SciPy has it, else ``"coo"``.
    matrix : bool, optional
        True for an ``spmatrix``, for code in which ``*`` is the matrix product.

    Returns
    -------
    scipy.sparse.sparray or scipy.sparse.spmatrix
        An array that shares its memory with csr, csc, coo, dia and bsr tensors.

    Raises
    ------
    FormatError
        For fill values other than 0, and formats that SciPy does not have.

    Examples
    --------
    >>> import weft
    >>> A = weft.eye(3, format="csr")
    >>> weft.to_scipy(A).format, type(A.to_scipy(matrix=True)).__name__
    ('csr', 'csr_matrix')
    """
    array = asarray(A).to_scipy_sparse(format)
    return scipy_sparse.as_matrix(array) if matrix else array
