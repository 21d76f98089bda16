"""Matrix Market files, through scipy.io."""

from __future__ import annotations

from io import BytesIO
from typing import IO

from ..dtypes import index_dtype
from ..errors import FileFormatError, ShapeError
from ..formats import FormatLike
from ..runtime import memory
from ..tensor import SparseTensor, asarray
from .streams import PathOrStream, reading, writing

__all__ = ["read_mtx", "write_mtx"]

_LONGEST = 1 << 20  # bytes of a line of the header


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
    ResultTooLargeError
        When its header says more than fits in memory.
    """
    import scipy.io

    with reading(source) as given:
        stream = given if given.seekable() else BytesIO(given.read())
        _require(stream)
        try:
            found = scipy.io.mmread(stream, spmatrix=False)
        except (ValueError, OverflowError, EOFError, OSError) as error:
            raise _unreadable(error) from None
        except MemoryError:
            raise memory.exhausted("what the header of the Matrix Market file says") from None
    return asarray(found, format=format)


def _require(stream: IO[bytes]) -> None:
    """Refuse a file that is none of the kind, or whose header says more than fits in memory."""
    import scipy.io

    start, head = stream.tell(), b""
    while True:
        line = stream.readline(_LONGEST)
        if not head and not line.startswith(b"%%MatrixMarket"):
            raise FileFormatError("not a Matrix Market file that can be read: it does not begin with %%MatrixMarket")
        head += line
        if not line or not (line.startswith(b"%") or line.isspace()):
            break
    stream.seek(start)
    try:
        rows, columns, entries, kind, field, symmetry = scipy.io.mminfo(BytesIO(head))
    except (ValueError, OverflowError) as error:
        raise _unreadable(error) from None
    each = 16 if field == "complex" else 8
    if kind == "coordinate":
        each = (each + 2 * index_dtype(max(rows, columns)).itemsize) * (1 if symmetry == "general" else 2)
    what = f"the {rows} x {columns} {kind} matrix of {entries} entries that the Matrix Market header speaks of"
    memory.require(entries * each, what)


def _unreadable(error: Exception) -> FileFormatError:
    return FileFormatError(f"not a Matrix Market file that can be read: {error}")


def write_mtx(target: PathOrStream, A: SparseTensor) -> None:
    """Write a matrix as a Matrix Market file; gzipped where the name ends in ``.gz``.

    Parameters
    ----------
    target : path or stream
        Where to.
    A : SparseTensor
        A matrix with fill value 0.

    Raises
    ------
    ShapeError
        For tensors that do not have two axes.
    """
    import scipy.io

    A = asarray(A)
    if A.ndim != 2:
        kinds = ".npz or .tns" if A.ndim else ".npz"
        raise ShapeError(
            f"a Matrix Market file holds a matrix, which {A!r} is not; save it in a file ending in {kinds}"
        )
    with writing(target) as stream:
        scipy.io.mmwrite(stream, A.todense() if A.layout.is_dense else A.to_scipy_sparse("coo"))
