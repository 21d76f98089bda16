"""Tensors of other packages as weft's storage and back.

Each file serves one package and registers itself with ``tensor.foreign``; none imports the package it serves before
it is given, or asked for, one of its tensors.
"""

from typing import TYPE_CHECKING, Any

from ..tensor import asarray
from . import pydata_sparse, scipy_sparse

if TYPE_CHECKING:
    from scipy.sparse import sparray

__all__ = ["pydata_sparse", "scipy_sparse", "to_scipy"]


def to_scipy(A: Any, format: str | None = None) -> "sparray":
    """Return a tensor as a scipy.sparse array, which SciPy, scikit-learn and networkx take.

    Parameters
    ----------
    A : array_like
        A tensor, or what :func:`asarray` takes.
    format : str, optional
        One of SciPy's formats. By default the tensor's own where SciPy has it, else ``"coo"``.

    Returns
    -------
    scipy.sparse.sparray
        It shares memory with csr, csc, coo, dia and bsr tensors.

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
