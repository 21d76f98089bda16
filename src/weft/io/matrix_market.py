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
        The file, plain or gzipped.
    format : str or Format, optional
        The format of the result. By default ``coo`` for coordinate files and ``dense`` for array files.

    Raises
    ------
    FileFormatError
        When the file is not a valid Matrix Market file; the message has SciPy's reason.
    ResultTooLargeError
        When the matrix that the header describes does not fit in memory.

    Examples
    --------
    >>> import weft
    >>> from tempfile import TemporaryDirectory
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> with TemporaryDirectory() as folder:
    ...     weft.write_mtx(f"{folder}/a.mtx", A)
    ...     B = weft.read_mtx(f"{folder}/a.mtx")
    >>> B.todense()
    array([[0., 1.],
           [2., 0.]])
    """
    import scipy.io

    with reading(source) as given:
        stream = given if given.seekable() else BytesIO(given.read())  # the header is read twice
        _require(stream)
        try:
            found = scipy.io.mmread(stream, spmatrix=False)
        except (ValueError, OverflowError, EOFError, OSError) as error:
            raise _unreadable(error) from None
        except MemoryError:
            raise memory.exhausted("what the header of the Matrix Market file says") from None
    return asarray(found, format=format)


def _require(stream: IO[bytes]) -> None:
    """Raise an error for a file of another kind, and for a header of a matrix that does not fit in memory.

    The stream is left at the place where it was.
    """
    import scipy.io

    # The header ends with the first line that is neither a comment nor blank, which has the sizes.
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
    # An entry has a value and two coordinates, and symmetric matrices are stored with both halves.
    each = 16 if field == "complex" else 8
    if kind == "coordinate":
        each = (each + 2 * index_dtype(max(rows, columns)).itemsize) * (1 if symmetry == "general" else 2)
    what = f"the {rows} x {columns} {kind} matrix of {entries} entries that the Matrix Market header speaks of"
    memory.require(entries * each, what)


def _unreadable(error: Exception) -> FileFormatError:
    return FileFormatError(f"not a Matrix Market file that can be read: {error}")


def write_mtx(target: PathOrStream, A: SparseTensor) -> None:
    """Write a matrix as a Matrix Market file, gzipped if the name ends in ``.gz``.

    Parameters
    ----------
    target : path or stream
        The file to write.
    A : SparseTensor
        A matrix with fill value 0.

    Raises
    ------
    ShapeError
        For tensors that do not have two axes.

    Examples
    --------
    >>> import weft
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> with TemporaryDirectory() as folder:
    ...     weft.write_mtx(f"{folder}/a.mtx", A)
    ...     print(Path(folder, "a.mtx").read_text())
    %%MatrixMarket matrix coordinate real general
    %
    2 2 2
    1 2 1
    2 1 2
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
