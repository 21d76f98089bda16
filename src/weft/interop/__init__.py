"""Conversion of other packages' tensors to weft's storage and back.

Each file serves one package and registers itself with ``operations.foreign_tensors``. No file imports the package that
it serves before one of this package's tensors is given or asked for.
"""

from typing import TYPE_CHECKING, Any

from ..tensor import asarray
from . import pydata_sparse, scipy_sparse

if TYPE_CHECKING:
    from scipy.sparse import sparray

__all__ = ["pydata_sparse", "scipy_sparse", "to_scipy"]


def to_scipy(A: Any, format: str | None = None) -> "sparray":
    """Convert a tensor to a scipy.sparse array, for SciPy, scikit-learn and networkx.

    Parameters
    ----------
    A : array_like
        A tensor, or any argument of :func:`asarray`.
    format : str, optional
        One of SciPy's formats. By default the format of the tensor if SciPy has it, else ``"coo"``.

    Returns
    -------
    scipy.sparse.sparray
        An array that shares its memory with csr, csc, coo, dia and bsr tensors.

    Raises
    ------
    FormatError
        For fill values other than 0, and formats that SciPy does not have.

    Examples
    --------
    >>> import weft
    >>> weft.to_scipy(weft.eye(3, format="csr")).format
    'csr'
    """
    return asarray(A).to_scipy_sparse(format)
