"""Matrix Market files, through scipy.io."""

from __future__ import annotations

from ..errors import FileFormatError
from ..formats import FormatLike
from ..tensor import SparseTensor, asarray
from .streams import PathOrStream, reading, writing

__all__ = ["read_mtx", "write_mtx"]


def read_mtx(source: PathOrStream, *, format: FormatLike | None = None) -> SparseTensor:
    """Read a Matrix Market file.

    Parameters
    ----------
    source : path or stream
        Plain or gzipped.
    format : str or Format, optional
        Of the result; ``coo`` for coordinate files and ``dense`` for array files where not given.

    Raises
    ------
    FileFormatError
        When the file is not a Matrix Market file; the message has the line.
    """
    import scipy.io

    with reading(source) as stream:
        try:
            found = scipy.io.mmread(stream, spmatrix=False)
        except (ValueError, OverflowError, EOFError, OSError) as error:
            raise FileFormatError(f"not a Matrix Market file that can be read: {error}") from None
    return asarray(found, format=format)


def write_mtx(target: PathOrStream, A: SparseTensor) -> None:
    """Write a matrix as a Matrix Market file; gzipped where the name ends in ``.gz``.

    Parameters
    ----------
    target : path or stream
        Where to.
    A : SparseTensor
        A matrix with fill value 0.
    """
    import scipy.io

    A = asarray(A)
    with writing(target) as stream:
        scipy.io.mmwrite(stream, A.todense() if A.format.is_dense else A.to_scipy_sparse("coo"))
